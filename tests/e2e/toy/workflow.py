"""A word, said twice."""

from sourcebook.api.forms import Form, TextField
from statemachines import states as asl
from statemachines.declaration import Lock, Workflow

WORD = asl.members(asl.GIVEN, "word")
SAID = asl.succeeded("SAID", asl.members(asl.ANSWER, "said"))

WORKFLOW = Workflow(
    name="toy",
    comment="Says a word twice.",
    input=Form((TextField(name="word", description="What is said.", longest=20),), example={"word": "hello"}),
    subject="$states.input.word",
    lock=Lock("$states.input.word"),
    outcomes=("SAID",),
    steps={
        "Say it": asl.task("say_toy", WORD, comment="Once."),
        "Say it again": asl.task("say_toy", WORD, comment="Twice.", ending=SAID),
    },
)
