"""Fetch sources now."""

from sourcebook.sources.dispatch import DispatchSources
from statemachines import states as asl
from statemachines.declaration import Workflow
from statemachines.shared import SourcesInput, sources_subject

WORKFLOW = Workflow(
    name="refresh_sources",
    comment="Has sources fetched now: those that are due, or those of source_ids, which are made due. Says "
    "how many were due, how many messages they made, how many were skipped (unknown or disabled), and how "
    "many messages the queue refused. The articles follow a few seconds after: it does not wait for them.",
    input=SourcesInput,
    subject=sources_subject("every source that is due"),
    outcomes=("DISPATCHED",),
    limit=300,
    steps={
        "Dispatch the sources": asl.task(
            DispatchSources,
            asl.optional_members(asl.EXECUTION_INPUT, "source_ids"),
            comment="dispatch_sources puts the sources on the queue of fetch_sources and answers with "
            "counts. No lock: a source that is on the queue twice is fetched once.",
            seconds=60,
            ending=asl.succeeded(
                "DISPATCHED",
                {
                    **asl.members(asl.RESULT, "due messages skipped refused"),
                    "not_sent": f"[{asl.RESULT}.not_sent]",
                },
            ),
        )
    },
)
