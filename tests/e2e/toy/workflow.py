"""A word, said twice."""

from typing import Annotated

from pydantic import ConfigDict, Field

from sourcebook.inputs import Input, text
from statemachines import states as asl
from statemachines.declaration import Lock, Workflow

WORD = asl.members(asl.EXECUTION_INPUT, "word")
SAID = asl.succeeded("SAID", asl.members(asl.RESULT, "said"))


class WordInput(Input):
    """The word."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"word": "hello"}]})

    word: Annotated[str, text(20)] = Field(description="What is said.")


WORKFLOW = Workflow(
    name="toy",
    comment="Says a word twice.",
    input=WordInput,
    subject="$states.input.word",
    lock=Lock("$states.input.word"),
    outcomes=("SAID",),
    steps={
        "Say it": asl.task("say_toy", WORD, comment="Once."),
        "Say it again": asl.task("say_toy", WORD, comment="Twice.", ending=SAID),
    },
)
