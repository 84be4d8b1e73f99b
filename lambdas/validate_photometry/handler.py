"""Workflow task: read an upload of photometry row by row, unless the nova has it."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

from sourcebook.catalog.photometry_messages import ValidateUpload
from sourcebook.catalog.photometry_upload import UploadValidator
from sourcebook.catalog.replacing import Objects
from sourcebook.catalog.store import NovaStore

task = Task.connect()
validator = UploadValidator(NovaStore(task.table), Objects.connect())
handler = task.handler(ValidateUpload, lambda asked, _run: validator.validate(asked.nova_id, asked.s3_key))
