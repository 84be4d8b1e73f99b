"""Rebuild the canonical layer of observations."""

from sourcebook.observations.rebuild_messages import RebuildCanonical
from statemachines import states as asl
from statemachines.declaration import Workflow
from statemachines.shared import SourcesInput, sources_subject

_SOURCES = "$states.input.source_ids"

WORKFLOW = Workflow(
    name="rebuild_canonical",
    comment="Makes the canonical layer of observations anew, after a source's priority was changed or a "
    "source was removed: all of it, or only what the sources of source_ids brought. Says how many "
    "bank-series-terms were examined, and how many were not as they should be. Any number of them: each call "
    "does a piece and says where the next goes on.",
    input=SourcesInput,
    subject=sources_subject("everything"),
    variables={"place": f"$exists({_SOURCES}) ? {{'source_ids': {_SOURCES}}} : {{}}"},
    outcomes=("REBUILT",),
    # It goes through everything that a part of the table holds.
    limit=82_800,
    steps={
        "Rebuild a piece": asl.task(
            RebuildCanonical,
            "$place",
            comment="Up to 200 bank-series-terms or 40 seconds. Its answer says where the next piece begins. "
            "No lock: two rebuilds at once do the same twice.",
            assign={"place": asl.RESULT},
            ending=asl.succeeded("REBUILT", asl.members(asl.RESULT, "examined changed")),
            output=asl.members(asl.RESULT, "done"),
        ),
        "Is all done?": asl.choice(
            "If not, the next piece begins where this one has ended.",
            asl.when("$states.input.done = false", then="Rebuild a piece"),
        ),
    },
)
