"""Workflow task: read an upload of photometry row by row, unless the nova has it."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.bucket.objects import Objects
from sourcebook.novae.store import NovaStore
from sourcebook.photometry.messages import ValidateUpload
from sourcebook.photometry.upload import UploadValidator

task = Task.connect()
validator = UploadValidator(NovaStore(task.table), Objects.connect())
handler = task.handler(ValidateUpload, lambda asked, _run: validator.validate(asked.nova_id, asked.s3_key))
