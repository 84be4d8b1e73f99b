"""Add an upload of photometry to the table of its nova."""

from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field

from sourcebook.api.workflows import CandidateName
from sourcebook.inputs import Input, NovaId, expected, matching
from sourcebook.novae.messages import FindNova, OneNova
from sourcebook.photometry.messages import RebuildTable, UploadKnown, ValidateUpload
from statemachines import states as asl
from statemachines.declaration import Lock, Workflow
from statemachines.shared import EXAMPLE

_NOVA_ID = "$states.input.nova_id"
_NAME = f"{asl.EXECUTION_INPUT}.name"
_KNOWN = "SKIPPED_DUPLICATE"
_UPLOAD = asl.members(asl.EXECUTION_INPUT, "s3_key")

_STEPS: asl.States = {
    "Find the nova": asl.task(
        FindNova,
        asl.optional_members(asl.EXECUTION_INPUT, "nova_id name"),
        comment="It must be active, and the only one of its name.",
        catches=[
            asl.caught(
                "A name of several novae; the sender knows which one is meant",
                "Quarantine",
                ending=asl.failed(
                    "AmbiguousName", f"{asl.caught_message(longest=400)} & ' Give nova_id in place of name.'"
                ),
                then=asl.DONE,
            )
        ],
    ),
    "Is there one?": asl.choice(
        "An upload makes no nova.", asl.when(asl.equals(OneNova), then="Validate the rows")
    ),
    "No such nova": asl.note(
        "The error says what to do first.",
        ending=asl.failed(
            "NoSuchNova",
            f"'No nova is known as ' & {_NAME} & ': start initialize_nova with that name, then this again.'",
        ),
        then=asl.DONE,
    ),
    "Validate the rows": asl.task(
        ValidateUpload,
        {"nova_id": _NOVA_ID, **_UPLOAD},
        comment="The report has the reason of every row that is no measurement. A known upload is not read "
        "again.",
    ),
    "Is it known?": asl.choice(
        "By the digest of the upload.",
        asl.when(
            asl.equals(UploadKnown),
            ending=asl.succeeded(
                _KNOWN, asl.members("$states.input", "file_id ingested_at"), nova_id=_NOVA_ID
            ),
            then=asl.DONE,
        ),
    ),
    "Rebuild the table": asl.task(
        RebuildTable,
        {
            **asl.members("$states.input", "nova_id file_id"),
            "upload": {**_UPLOAD, **asl.members("$states.input", "etag byte_length")},
        },
        comment="Merges the measurements into the nova's table; again, if the table has changed meanwhile.",
        seconds=190,
        output=asl.INPUT,
        ending=asl.succeeded(
            f"{asl.RESULT}.outcome",
            {
                **asl.members("$states.input", "file_id format rows accepted duplicates rejected report_key"),
                "problems": "[$states.input.problems]",
                **asl.members(asl.RESULT, "added known_before table_rows"),
            },
            nova_id=_NOVA_ID,
        ),
    ),
}


class UploadInput(Input):
    """The upload to add, and the nova that it is of: by its id or by its name."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{**EXAMPLE, "s3_key": "raw/photometry/2f91aa1c/night.csv"}]}
    )

    EITHER: ClassVar[tuple[str, ...]] = ("nova_id", "name")

    nova_id: NovaId | None = Field(None, description="The nova; or else `name`.")
    name: CandidateName | None = Field(
        None, description="Any name of the nova that no other has; or else `nova_id`."
    )
    s3_key: Annotated[
        str,
        matching(r"raw/photometry/[^\s].{0,880}", 900),
        expected("the key of an upload, below raw/photometry/"),
    ] = Field(description="The upload in the bucket; `sourcebook photometry ingest` puts it there.")


WORKFLOW = Workflow(
    name="ingest_photometry",
    comment="Adds an upload of photometry to the table of a nova.",
    input=UploadInput,
    subject="$states.input.s3_key",
    lock=Lock(
        "$states.input.s3_key",
        comment="One run at a time for one upload: of two, the second then finds it ingested. Uploads to one "
        "nova do not wait for each other.",
    ),
    outcomes=("INGESTED", _KNOWN),
    steps=_STEPS,
)
