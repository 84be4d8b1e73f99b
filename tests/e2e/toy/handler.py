from sourcebook.runs.handlers import Task

import time
from typing import Any

from sourcebook.errors import Retryable, Terminal
from sourcebook.runs.tasks import TaskRun

task = Task.connect()


@task.handles
def handler(event: dict[str, Any], run: TaskRun) -> dict[str, str]:
    match event["word"], run.attempt_no:
        case "slowly", _:
            time.sleep(6)
        case "later", 1:
            raise Retryable("not yet")
        case "never", _:
            raise Terminal("it cannot be said")
    return {"said": event["word"]}
