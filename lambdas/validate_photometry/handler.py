"""Workflow task: read an upload of photometry row by row, unless the nova has it."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.bucket.objects import Objects
from sourcebook.novae.store import NovaStore
from sourcebook.photometry.messages import ValidateUpload
from sourcebook.photometry.upload import UploadValidator

task = Task.connect()
validator = UploadValidator(NovaStore(task.table), Objects.connect())
handler = task.handler(
    ValidateUpload, lambda request, _run: validator.validate(request.nova_id, request.s3_key)
)
