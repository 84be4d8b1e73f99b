"""Write the next days of an export; the state machine calls until all are written."""

from __future__ import annotations

from sourcebook.runs.handlers import Task

import boto3

from sourcebook.bucket.objects import Objects
from sourcebook.exports.days import Exporter
from sourcebook.exports.messages import ExportDays
from sourcebook.settings import required
from sourcebook.table.client import aws_config

task = Task.connect()
objects = Objects(boto3.client("s3", config=aws_config()), required("BUCKET_NAME"))
exporter = Exporter(task.table, objects)
handler = task.handler(ExportDays, lambda request, _run: exporter.run(request))
