"""The embedded cloud itself: what it must do as AWS does, and what must outlive it."""

from __future__ import annotations

import io
import json
import signal
import socket
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import botocore.config
import pytest

from sourcebook_local import process
from sourcebook_local.project import LocalCloudError
from tests.e2e.stack import FunctionError, invoke, kill_workers, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourcebook_local.cloud import LocalCloud

HANDLER = """
import os, time
import boto3

class QuotaExhausted(Exception):
    pass

def handler(event, context):
    if "Records" in event:
        event = __import__("json").loads(event["Records"][0]["body"])
    time.sleep(event.get("sleep", 0))
    if event.get("fail"):
        raise QuotaExhausted("come back tomorrow")
    if "put" in event:
        table = boto3.resource("dynamodb").Table("things")
        table.put_item(Item={"PK": event["put"], "pid": os.getpid()})
    return {"pid": os.getpid()}
"""

WAITING = """
import time
import boto3

def handler(event, context):
    table = boto3.resource("dynamodb").Table("things")
    table.put_item(Item={"PK": "begun"})
    while "Item" not in table.get_item(Key={"PK": "updated"}):
        time.sleep(0.2)
    return "as it was"
"""


@pytest.fixture(scope="module")
def cloud(new_cloud: Callable[[str], LocalCloud]) -> LocalCloud:
    """A running cloud with a table, a queue, a function that reads the queue, and one without rights."""
    cloud = new_cloud("cloud")
    cloud.start()
    session = cloud.session()
    session.client("dynamodb").create_table(
        TableName="things",
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "PK", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    queue = session.client("sqs").create_queue(QueueName="work", Attributes={"VisibilityTimeout": "5"})
    make_function(cloud, "worker", ["dynamodb:PutItem"])
    make_function(cloud, "powerless", [])
    session.client("lambda").create_event_source_mapping(
        EventSourceArn="arn:aws:sqs:us-east-1:000000000000:work", FunctionName="worker", BatchSize=1
    )
    assert queue["QueueUrl"]
    return cloud


def make_function(cloud: LocalCloud, name: str, actions: list[str], code: str = HANDLER) -> None:
    session = cloud.session()
    trust = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
    role = session.client("iam").create_role(
        RoleName=f"{name}-role",
        AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [trust]}),
    )["Role"]["Arn"]
    if actions:
        allowed = {"Effect": "Allow", "Action": actions, "Resource": "*"}
        session.client("iam").put_role_policy(
            RoleName=f"{name}-role",
            PolicyName="rights",
            PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [allowed]}),
        )
    session.client("lambda").create_function(
        FunctionName=name,
        Runtime="python3.13",
        Handler="handler.handler",
        Role=role,
        Code={"ZipFile": package_of(code)},
        Timeout=60,
    )


def package_of(code: str) -> bytes:
    package = io.BytesIO()
    with zipfile.ZipFile(package, "w") as archive:
        archive.writestr("handler.py", code)
    return package.getvalue()


def items(cloud: LocalCloud) -> set[str]:
    table = cloud.session().resource("dynamodb").Table("things")
    return {str(item["PK"]) for item in table.scan(ConsistentRead=True)["Items"]}


def send(cloud: LocalCloud, message: dict[str, Any]) -> None:
    client = cloud.session().client("sqs")
    url = client.get_queue_url(QueueName="work")["QueueUrl"]
    client.send_message(QueueUrl=url, MessageBody=json.dumps(message))


@pytest.mark.parametrize("warm", [False, True], ids=["cold", "warm"])
def test_an_exception_is_reported_with_the_name_of_its_class(cloud: LocalCloud, warm: bool) -> None:
    kill_workers(cloud, "worker")
    if warm:
        invoke(cloud.session(), "worker", {})
    with pytest.raises(FunctionError, match="come back tomorrow") as caught:
        invoke(cloud.session(), "worker", {"fail": True})
    assert caught.value.kind == "QuotaExhausted"


def test_a_state_machine_retries_and_catches_by_class_name(cloud: LocalCloud) -> None:
    client = cloud.session().client("stepfunctions")
    resource = "arn:aws:lambda:us-east-1:000000000000:function:worker"
    definition = {
        "StartAt": "Work",
        "States": {
            "Work": {
                "Type": "Task",
                "Resource": resource,
                "Retry": [{"ErrorEquals": ["QuotaExhausted"], "IntervalSeconds": 1, "MaxAttempts": 1}],
                "Catch": [{"ErrorEquals": ["QuotaExhausted"], "Next": "Tomorrow"}],
                "End": True,
            },
            "Tomorrow": {"Type": "Pass", "Result": "tomorrow", "End": True},
        },
    }
    machine = client.create_state_machine(
        name="catching",
        definition=json.dumps(definition),
        roleArn="arn:aws:iam::000000000000:role/worker-role",
    )["stateMachineArn"]
    execution = client.start_execution(stateMachineArn=machine, input='{"fail": true}')["executionArn"]
    ended = wait_until(
        lambda: (d := client.describe_execution(executionArn=execution))["status"] != "RUNNING" and d,
        30,
        "the end of the execution",
    )
    assert ended
    assert json.loads(ended["output"]) == "tomorrow"
    history = client.get_execution_history(executionArn=execution)["events"]
    failures = [e for e in history if e["type"] in ("LambdaFunctionFailed", "TaskFailed")]
    assert len(failures) == 2


def test_a_call_is_finished_by_the_process_that_began_it_while_its_function_is_updated(
    cloud: LocalCloud,
) -> None:
    make_function(cloud, "updated", ["dynamodb:PutItem", "dynamodb:GetItem"], WAITING)
    client = cloud.session().client("lambda")
    with ThreadPoolExecutor(1) as threads:
        call = threads.submit(invoke, cloud.session(), "updated", {})
        wait_until(lambda: "begun" in items(cloud), 60, "the beginning of the call")
        client.update_function_code(FunctionName="updated", ZipFile=package_of("import no_layer_has_this"))
        cloud.session().resource("dynamodb").Table("things").put_item(Item={"PK": "updated"})
        assert call.result() == "as it was"
    wait_until(lambda: not cloud.worker_pids("updated"), 60, "the end of the process")
    with pytest.raises(FunctionError, match="no_layer_has_this") as caught:
        invoke(cloud.session(), "updated", {})
    assert caught.value.kind == "Runtime.ImportModuleError"


def test_a_function_may_do_only_what_its_role_allows(cloud: LocalCloud) -> None:
    invoke(cloud.session(), "worker", {"put": "allowed"})
    with pytest.raises(FunctionError, match="not authorized to perform: dynamodb:PutItem"):
        invoke(cloud.session(), "powerless", {"put": "refused"})
    assert "allowed" in items(cloud)
    assert "refused" not in items(cloud)


def test_nothing_listens_beyond_the_one_address(cloud: LocalCloud) -> None:
    def accepts(address: str, port: int) -> bool:
        with socket.socket() as client:
            client.settimeout(2)
            return client.connect_ex((address, port)) == 0

    assert accepts("127.0.0.1", cloud.port)
    # Every address under 127 reaches a server that listens on all interfaces.
    assert not accepts("127.0.0.2", cloud.port)


def test_the_settings_of_the_user_have_no_part(cloud: LocalCloud, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "AWS_PROFILE": "production",
        "AWS_ENDPOINT_URL_STS": "https://sts.example.org",
        "AWS_CA_BUNDLE": "/nonexistent",
        "HTTPS_PROXY": "http://127.0.0.1:1",
    }.items():
        monkeypatch.setenv(name, value)
    assert cloud.session().client("sts").get_caller_identity()["Account"] == "000000000000"


def test_a_killed_function_is_a_crash_after_which_the_message_comes_again(cloud: LocalCloud) -> None:
    kill_workers(cloud, "worker")
    send(cloud, {"put": "after-crash", "sleep": 3})
    wait_until(lambda: cloud.worker_pids("worker"), 60, "a process of the function")
    time.sleep(1.5)
    assert kill_workers(cloud, "worker")
    time.sleep(3)
    assert "after-crash" not in items(cloud)
    wait_until(lambda: "after-crash" in items(cloud), 60, "the item of the message delivered again")


def test_another_object_of_the_same_home_finds_the_running_cloud(cloud: LocalCloud) -> None:
    other = type(cloud)(cloud.home, auth=True, tls=True)
    assert other.running()
    other.start()
    assert other.endpoint_url == cloud.endpoint_url
    with pytest.raises(LocalCloudError, match="stop it first"):
        type(cloud)(cloud.home, auth=False, tls=True).start()


def test_state_outlives_a_stop_and_work_in_progress_is_done_later(cloud: LocalCloud) -> None:
    session = cloud.session()
    session.client("s3").create_bucket(Bucket="kept")
    session.client("s3").put_object(Bucket="kept", Key="a/b.txt", Body=b"text")
    invoke(session, "worker", {"put": "kept"})
    send(cloud, {"put": "in-progress", "sleep": 8})
    wait_until(lambda: cloud.worker_pids("worker"), 60, "a process of the function")
    time.sleep(1)
    # A client in the middle of a long poll, as a command that is still open would be.
    client = session.client("sqs", config=botocore.config.Config(retries={"total_max_attempts": 1}))
    url = client.create_queue(QueueName="empty")["QueueUrl"]
    poll = threading.Thread(target=lambda: poll_quietly(client, url))
    poll.start()
    time.sleep(0.5)

    begun = time.monotonic()
    assert cloud.stop()
    assert time.monotonic() - begun < 15
    poll.join(30)
    assert not cloud.running()
    assert not cloud.worker_pids("worker")

    # Its port is taken meanwhile: addresses change, names and deliveries do not.
    with socket.create_server(("127.0.0.1", cloud.port)):
        former = cloud.port
        cloud.start()
    assert cloud.port != former
    assert "kept" in items(cloud)
    assert cloud.session().client("s3").get_object(Bucket="kept", Key="a/b.txt")["Body"].read() == b"text"
    wait_until(lambda: "in-progress" in items(cloud), 45, "the item of the work that the stop broke off")


def poll_quietly(client: Any, url: str) -> None:
    try:
        client.receive_message(QueueUrl=url, WaitTimeSeconds=20)
    except (client.exceptions.ClientError, botocore.exceptions.HTTPClientError):
        return


def test_after_a_kill_the_last_stop_is_what_remains(cloud: LocalCloud) -> None:
    assert cloud.stop()
    cloud.start()
    cloud.session().client("s3").create_bucket(Bucket="lost")
    cloud.session().client("s3").put_object(Bucket="lost", Key="k", Body=b"v")
    invoke(cloud.session(), "worker", {"put": "lost"})
    record = json.loads((cloud.home / "cloud.pid").read_text())
    process.send(record["pid"], signal.SIGKILL)
    wait_until(lambda: not cloud.running(), 60, "the end of the killed cloud")

    said: list[str] = []
    again = type(cloud)(cloud.home, venv=cloud.home.parent / "unused", auth=True, tls=True, say=said.append)
    again._venv = cloud._venv
    again.start()
    assert any("is lost" in line for line in said)
    assert "lost" not in items(again)
    assert {b["Name"] for b in again.session().client("s3").list_buckets()["Buckets"]} == {"kept"}
    invoke(again.session(), "worker", {"put": "new"})


def test_reset_forgets_everything(cloud: LocalCloud) -> None:
    cloud.reset()
    assert not cloud.running()
    cloud.start()
    assert cloud.session().client("dynamodb").list_tables()["TableNames"] == []
    assert cloud.session().client("s3").list_buckets()["Buckets"] == []
