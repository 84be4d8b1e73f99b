from sourcebook.runs.handlers import Task

import time
from dataclasses import dataclass

from sourcebook.errors import Retryable, Terminal
from sourcebook.messages import Answer, Asked
from sourcebook.runs.tasks import TaskRun


@dataclass
class Word(Asked):
    word: str


@dataclass
class Said(Answer):
    said: str


def say(asked: Word, run: TaskRun) -> Said:
    time.sleep(6 if asked.word == "slowly" else 0)
    if asked.word == "later" and run.attempt_no == 1:
        raise Retryable("not yet")
    if asked.word == "never":
        raise Terminal("it cannot be said")
    return Said(asked.word)


handler = Task.connect().handler(Word, say)
