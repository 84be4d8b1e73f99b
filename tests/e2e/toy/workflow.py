"""A word, said twice."""

from sourcebook.api.forms import Form, TextField
from statemachines import states as asl
from statemachines.declaration import Lock, Workflow

WORD = TextField(name="word", description="What is said.", longest=20)

WORKFLOW = Workflow(
    name="toy",
    comment="Says a word twice.",
    input=Form((WORD,), example={"word": "hello"}),
    subject="$states.input.word",
    lock=Lock("$states.input.word"),
    outcomes=("SAID",),
    steps={
        "Say it": asl.task("say_toy", asl.members(asl.GIVEN, "word"), comment="Once."),
        "Say it again": asl.task(
            "say_toy",
            asl.members(asl.GIVEN, "word"),
            comment="Twice.",
            ending=asl.succeeded("SAID", asl.members(asl.ANSWER, "said")),
        ),
    },
)
