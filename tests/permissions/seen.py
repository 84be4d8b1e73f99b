"""Which actions the functions have been seen to need, and why they may do others.

`python -m tests.permissions.seen` adds what the end-to-end tests have just done to seen.json. That a policy
allows nothing else, tests/infra holds: so it does not depend on what one run happens to do.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from sourcebook_local.project import HOME
from tests.e2e.calls import FOLDER
from tests.permissions.policies import Made, Templates

FILE: Final = Path(__file__).with_name("seen.json")
LOCAL_ACTIONS: Final = {"sqs:SendMessageBatch", "sns:PublishBatch", "dynamodb:BatchExecuteStatement"}
"""Which the embedded cloud alone knows; tests/infra holds that all else is the same on AWS."""
BY_LAMBDA: Final = frozenset(
    {
        "logs:CreateLogStream",
        "logs:PutLogEvents",
        "sqs:ChangeMessageVisibility",
        "sqs:DeleteMessage",
        "sqs:GetQueueAttributes",
        "sqs:GetQueueUrl",
        "sqs:ReceiveMessage",
    }
)
"""What Lambda itself does in the name of a function: it writes its log and reads its queue."""
_MENTIONS: Final = (
    "An article that is analysed again may have lost mentions, which happens after a change of subjects."
)
UNUSED: Final[dict[tuple[str, str], str]] = {
    ("analyze_sentiment", "dynamodb:DeleteItem"): _MENTIONS,
    ("reanalyze_articles", "dynamodb:DeleteItem"): _MENTIONS,
    (
        "reanalyze_articles",
        "dynamodb:PartiQLInsert",
    ): "The tests analyse few articles again, and few mentions are written one by one.",
    ("api", "sns:Publish"): "Articles that a person joins or splits are announced; integration tests do so.",
    ("api", "sns:Subscribe"): "A rule with a mail address has that asked; the rules of the tests have none.",
    (
        "index_articles",
        "sns:Publish",
    ): "Alerts are mailed where a rule has an address; those of the tests have none.",
    (
        "close_runs",
        "dynamodb:PutItem",
    ): "A run that was started and wrote no record gets one when it is closed.",
    ("close_runs", "states:DescribeExecution"): "The sweep asks about executions whose event was lost.",
    (
        "export_days",
        "dynamodb:GetItem",
    ): "A period that was exported before is compared with what there is now.",
    ("export_days", "s3:ListBucket"): "Without it S3 says forbidden of an object that is not there.",
    (
        "fetch_sources",
        "dynamodb:BatchWriteItem",
    ): "A source adds a ticker to an article that is analysed already.",
    (
        "fetch_sources",
        "dynamodb:Query",
    ): "A page that yields fewer rows is compared with what is stored of it.",
    ("heal_articles", "sns:Publish"): "An article is announced again after its announcement was lost.",
    (
        "refresh_sentiment",
        "dynamodb:BatchGetItem",
    ): "The health of the cache counts the entries of all subjects.",
    (
        "refresh_sentiment",
        "dynamodb:DeleteItem",
    ): "A mark of an hour to be counted again goes when that is done.",
    (
        "refresh_sentiment",
        "dynamodb:UpdateItem",
    ): "A refresh that fails is counted in the metadata of the cache.",
    **{
        (
            "curate_nova",
            action,
        ): "No end-to-end test decides on a nova; tests/integration/curation does, on moto."
        for action in (
            "dynamodb:DeleteItem",
            "dynamodb:GetItem",
            "dynamodb:PutItem",
            "dynamodb:Query",
            "dynamodb:UpdateItem",
            "s3:GetObject",
            "s3:PutObject",
        )
    },
}
"""What a policy allows and no end-to-end test has used, by function and action, with the reason."""


def seen() -> set[tuple[str, str]]:
    """Return each function with an action that it has been seen to need."""
    return {
        (name, action) for name, actions in json.loads(FILE.read_text("utf-8")).items() for action in actions
    }


def recorded(templates: Templates) -> list[Made]:
    """Return the calls that the last run of the end-to-end tests has written down."""
    return [call for file in sorted(FOLDER.glob("*.calls")) for call in _read(file, templates.functions())]


def _read(file: Path, functions: dict[str, str]) -> list[Made]:
    written = file.with_suffix(".names")
    if not written.exists():
        return []
    names = json.loads(written.read_text("utf-8"))
    made = []
    for line in file.read_text("utf-8").splitlines():
        call = json.loads(line)
        if (function := functions.get(names.get(call["role"], ""))) is not None:
            made.append(Made(function, call["action"], _named(call["resource"], names), call["keys"]))
    return made


def _named(arn: str, names: dict[str, str]) -> str:
    """Return an ARN with the name that the template has for its resource."""
    for end in range(len(arn), 0, -1):
        if (end == len(arn) or arn[end] == "/") and arn[:end] in names:
            rest = arn[end:]
            return f"<{names[arn[:end]]}>" + ("/StreamArn" if rest.startswith("/stream/") else rest)
    return arn


def deployed() -> Templates | None:
    """Return the templates that the end-to-end tests deploy, None if there are none."""
    files = [HOME / "assembly" / f"{name}.template.json" for name in ("SourcebookData", "SourcebookPipeline")]
    if not all(file.exists() for file in files):
        return None
    return Templates(*(json.loads(file.read_text("utf-8")) for file in files))


def main() -> None:
    """Add what was written down last to what has been seen."""
    templates = deployed()
    found = seen() if FILE.exists() else set()
    found |= {(call.function, call.action) for call in recorded(templates)} if templates else set()
    names = sorted({name for name, _ in found})
    by_function = {name: sorted(action for one, action in found if one == name) for name in names}
    FILE.write_text(json.dumps(by_function, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
