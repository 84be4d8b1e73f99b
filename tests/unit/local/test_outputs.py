from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from sourcebook_local.cloud import LocalCloud
from sourcebook_local.outputs import Outputs, write_local_json
from sourcebook_local.project import LocalCloudError

if TYPE_CHECKING:
    from pathlib import Path

API_URL = "http://127.0.0.1:4610/_aws/execute-api/abc"
VALUES = {
    "ApiId": "abc",
    "ApiUrl": "https://abc.execute-api.us-east-1.amazonaws.com/",
    "TableName": "Table-1",
    "BucketName": "bucket-1",
    "FetchQueueUrl": "q1",
    "FetchDeadLetterQueueUrl": "q2",
    "AnalyzeQueueUrl": "q3",
    "AnalyzeDeadLetterQueueUrl": "q4",
    "ArticleTopicArn": "arn:aws:sns:us-east-1:000000000000:articles",
    "DispatchFunctionName": "f1",
    "FetchFunctionName": "f2",
    "AnalyzeFunctionName": "f3",
    "ApiFunctionName": "f4",
    "RefreshSourcesArn": "arn:aws:states:us-east-1:000000000000:stateMachine:refresh",
}


def test_each_output_has_its_field_and_state_machines_are_listed_by_name() -> None:
    outputs = Outputs.from_stacks(VALUES, API_URL)
    assert outputs.table_name == "Table-1"
    assert outputs.analyze_dead_letter_queue_url == "q4"
    assert outputs.api_url == API_URL
    assert outputs.state_machines == {"refresh_sources": VALUES["RefreshSourcesArn"]}


def test_a_new_state_machine_needs_no_new_field() -> None:
    arn = "arn:aws:states:us-east-1:000000000000:stateMachine:nova"
    outputs = Outputs.from_stacks(VALUES | {"InitializeNovaArn": arn, "Other": "x"}, API_URL)
    assert outputs.state_machines["initialize_nova"] == arn


def test_missing_outputs_are_all_named() -> None:
    values = {key: value for key, value in VALUES.items() if key not in ("TableName", "BucketName")}
    with pytest.raises(LocalCloudError, match="BucketName, TableName"):
        Outputs.from_stacks(values, API_URL)


def test_local_json_has_what_other_programs_look_for(tmp_path: Path) -> None:
    (tmp_path / "cloud.json").write_text('{"port": 4711}')
    cloud = LocalCloud(tmp_path)
    write_local_json(tmp_path / "local.json", cloud, Outputs.from_stacks(VALUES, API_URL))
    assert json.loads((tmp_path / "local.json").read_text()) == {
        "api_url": API_URL,
        "aws_endpoint_url": "http://127.0.0.1:4711",
        "region": "us-east-1",
        "table_name": "Table-1",
        "bucket_name": "bucket-1",
        "state_machines": {"refresh_sources": VALUES["RefreshSourcesArn"]},
        "log": str(tmp_path / "log" / "cloud.log"),
    }
