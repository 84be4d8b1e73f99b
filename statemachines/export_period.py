"""Whole days of records, written as files that other programs read."""

from typing import Annotated

from pydantic import ConfigDict, Field

from sourcebook.exports.messages import ExportDays
from sourcebook.exports.period import DAY, LONGEST
from sourcebook.inputs import Input, expected, matching
from statemachines import states as asl
from statemachines.declaration import Workflow

_Day = Annotated[str, matching(DAY, 10), expected("a day such as 2026-11-01")]


class PeriodInput(Input):
    """The days to export."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"since": "2026-11-01", "until": "2026-12-01"}]}
    )

    since: _Day = Field(description="First day, in UTC.")
    until: _Day = Field(description=f"The day after the last, at most {LONGEST} days after since.")


WORKFLOW = Workflow(
    name="export_period",
    comment="Writes the articles and the observations of a period into the bucket, a file for each day as "
    "Parquet and as NDJSON, and a manifest of them. Running it again replaces the files; one of a day whose "
    "articles have begun to expire is kept where it has more. Each call writes some days and says where the "
    "next goes on.",
    input=PeriodInput,
    subject="$states.input.since & ' to ' & $states.input.until",
    variables={"place": "$states.input"},
    outcomes=("EXPORTED",),
    # It goes through everything that a part of the table holds.
    limit=82_800,
    steps={
        "Export some days": asl.task(
            ExportDays,
            "$place",
            comment="As many days as 30 seconds allow. Its answer says where the next call begins. No lock: "
            "two exports at once write the same twice.",
            seconds=630,
            assign={"place": asl.RESULT},
            ending=asl.succeeded(
                "EXPORTED",
                {
                    "export_id": f"{asl.RESULT}.since & '_' & {asl.RESULT}.until",
                    **asl.members(asl.RESULT, "rows kept"),
                },
            ),
            output=asl.members(asl.RESULT, "done"),
        ),
        "Is all exported?": asl.choice(
            "A call that was not the last leaves more to do.",
            asl.when("$states.input.done = false", then="Export some days"),
        ),
    },
)
