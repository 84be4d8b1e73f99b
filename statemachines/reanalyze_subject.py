"""Analyze the articles of a subject anew."""

from typing import Annotated

from pydantic import ConfigDict, Field

from sourcebook.articles.reanalysis_messages import LAST_DAY, DayOfArticles
from sourcebook.inputs import Input, expected, matching, word_of
from sourcebook.sentiment.cache import InvalidateSentiment
from sourcebook.sentiment.subjects import TOOL_ID
from statemachines import states as asl
from statemachines.declaration import Workflow

_COUNTS = ("analyzed", "failed")
_SO_FAR = asl.members("$states.input", " ".join(_COUNTS))
_SUBJECT = {"tool_id": "$tool_id"}

_OF_A_DAY: asl.States = {
    "Analyze a part of the day": asl.task(
        DayOfArticles,
        "$states.input",
        comment="Up to 2,000 articles; the answer has the place where the next call goes on. Repeating a "
        "call is harmless, so there is no lock.",
        seconds=330,
        output={
            **asl.members("$states.input", "tool_id scope started_at days_ago"),
            **asl.members(asl.RESULT, "next done"),
            **{name: f"$states.input.{name} + {asl.RESULT}.{name}" for name in _COUNTS},
        },
    ),
    "Is the day done?": asl.choice(
        "Back to the call until it is.",
        asl.when("$states.input.done", then="Report the day"),
        otherwise="Analyze a part of the day",
    ),
    "Report the day": asl.note(
        "Only the counts: the outputs of all days together must stay small.", output=_SO_FAR
    ),
}

_STEPS: asl.States = {
    "Forget what is cached": asl.task(
        InvalidateSentiment,
        _SUBJECT,
        comment="Fails if there is no such subject. Reads meanwhile are computed from the mentions.",
        seconds=60,
        output={"days": asl.jsonata(f"[0..{LAST_DAY}]")},
    ),
    "Analyze every day": asl.each(
        "$states.input.days",
        _OF_A_DAY,
        comment="Day 0 is the last 24 hours; day 30, the last for which articles are kept, has all that is "
        "older. Two at a time, since the table is shared with new articles.",
        selector={
            **_SUBJECT,
            "scope": "$scope",
            "started_at": "$run.started_at",
            "days_ago": asl.MAP_ITEM,
            "next": {},
            **dict.fromkeys(_COUNTS, 0),
        },
        at_once=2,
        output={name: f"$sum($states.result.{name})" for name in _COUNTS},
    ),
    "Forget what was cached": asl.task(
        InvalidateSentiment,
        _SUBJECT,
        comment="The next read, or the next refresh, computes the subject's sentiment from the new mentions.",
        seconds=60,
        output=asl.INPUT,
        ending=asl.succeeded("REANALYZED", {"tool_id": f"{asl.RESULT}.invalidated", **_SO_FAR}),
    ),
}


class SubjectInput(Input):
    """The subject whose articles are analyzed anew, and which of them."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"tool_id": "AAPL", "scope": "mentions"}]})

    tool_id: Annotated[
        str,
        matching(TOOL_ID.pattern, 80),
        expected("the id of a subject such as AAPL; GET /api/v1/tools lists them"),
    ] = Field(description="The subject, as GET /api/v1/tools has it.")
    scope: Annotated[str, word_of(("mentions", "all"))] | None = Field(
        None,
        description="`all` looks through every article, as a new name asks for; otherwise only "
        "those that mention the subject already.",
    )


WORKFLOW = Workflow(
    name="reanalyze_subject",
    comment="Analyzes the articles of a subject anew and forgets what was cached of it, before and after. "
    "The work is divided by days; each day is done in as many calls as it takes. Says how many articles were "
    "analyzed, and how many could not be.",
    input=SubjectInput,
    subject="$states.input.tool_id",
    variables={
        "tool_id": "$states.input.tool_id",
        "scope": "$exists($states.input.scope) ? $states.input.scope : 'mentions'",
    },
    outcomes=("REANALYZED",),
    # It goes through everything that a part of the table holds.
    limit=82_800,
    steps=_STEPS,
)
