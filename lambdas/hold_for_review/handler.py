"""Workflow task: set aside what the task before could not decide."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.bucket.objects import Objects
from sourcebook.novae.messages import HoldForReview
from sourcebook.novae.quarantine import Quarantiner

task = Task.connect()
quarantiner = Quarantiner.connect(task.table, Objects.connect(), task.logger)
handler = task.handler(
    HoldForReview, lambda request, run: quarantiner.hold_failed_task(run, request.retry_input)
)
