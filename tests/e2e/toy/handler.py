from sourcebook.runs.handlers import Task

import time
from dataclasses import dataclass

from sourcebook.errors import Retryable, Terminal
from sourcebook.messages import TaskRequest, TaskResult
from sourcebook.runs.tasks import TaskRun


@dataclass
class Word(TaskRequest):
    word: str


@dataclass
class Said(TaskResult):
    said: str


def say(request: Word, run: TaskRun) -> Said:
    time.sleep(6 if request.word == "slowly" else 0)
    if request.word == "later" and run.attempt_no == 1:
        raise Retryable("not yet")
    if request.word == "never":
        raise Terminal("it cannot be said")
    return Said(request.word)


handler = Task.connect().handler(Word, say)
