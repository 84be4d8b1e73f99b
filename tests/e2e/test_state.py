"""What the embedded cloud holds outlives a kill, a full disk and damaged files."""

from __future__ import annotations

import json
import resource
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import botocore.config
import botocore.exceptions
import pytest

from sourcebook_local import process
from sourcebook_local.cloud import LocalCloud
from sourcebook_local.project import LocalCloudError
from tests.e2e.conftest import VENV
from tests.e2e.stack import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def cloud(tmp_path: Path) -> Iterator[LocalCloud]:
    """A running cloud with a table, saved every second."""
    made = LocalCloud(tmp_path / "home", venv=VENV, port=0, say=print, save_every=1)
    made.start()
    made.session().client("dynamodb").create_table(
        TableName="things",
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "PK", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    yield made
    made.reset()


def put(cloud: LocalCloud, name: str, size: int = 1) -> None:
    cloud.session().resource("dynamodb").Table("things").put_item(Item={"PK": name, "text": "x" * size})


def names(cloud: LocalCloud) -> set[str]:
    return {str(i["PK"]) for i in cloud.session().resource("dynamodb").Table("things").scan()["Items"]}


def saves(cloud: LocalCloud) -> list[Path]:
    return sorted((cloud.home / "state").glob("saved-*"))


def pid(cloud: LocalCloud) -> int:
    return int(json.loads((cloud.home / "cloud.pid").read_text())["pid"])


def test_a_kill_loses_what_came_since_the_last_save_and_no_more(cloud: LocalCloud) -> None:
    put(cloud, "kept")
    before = saves(cloud)
    wait_until(lambda: len(set(saves(cloud)) - set(before)) >= 2, 60, "two saves")
    process.send(pid(cloud), signal.SIGKILL)
    wait_until(lambda: not cloud.running(), 60, "the end of the killed cloud")
    cloud.start()
    assert names(cloud) == {"kept"}
    assert cloud.stop()
    assert "1 items of the tables and 0 objects" in cloud.saved()


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of another process is set on Linux only")
def test_on_a_full_disk_the_stop_fails_in_a_sentence_and_nothing_is_lost(cloud: LocalCloud) -> None:
    put(cloud, "large", 300_000)
    # The log is larger than that already: only what is saved meets the limit.
    former = resource.prlimit(pid(cloud), resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
    with pytest.raises(LocalCloudError, match=r"cannot be saved .*File too large.* Nothing is lost"):
        cloud.stop()
    assert cloud.running()
    with pytest.raises(LocalCloudError, match="cannot be saved"):
        cloud.start()
    resource.prlimit(pid(cloud), resource.RLIMIT_FSIZE, former)
    # It tries every two seconds by itself.
    wait_until(lambda: not cloud.running(), 60, "the state to be saved")
    cloud.start()
    assert names(cloud) == {"large"}


def test_a_truncated_file_is_noticed_and_never_replaced_by_nothing(cloud: LocalCloud) -> None:
    put(cloud, "kept")
    assert cloud.stop()
    cloud.start()
    assert cloud.stop()
    newest = saves(cloud)[-1]
    (newest / "dynamodb.json").write_text("{")
    said: list[str] = []
    again = LocalCloud(cloud.home, venv=VENV, say=said.append)
    again.start()
    assert names(again) == {"kept"}
    assert any("dynamodb.json has 1 of" in line for line in said), said
    assert again.stop()
    damaged = saves(cloud)
    for snapshot in damaged:
        (snapshot / "dynamodb.json").write_text("{")
    with pytest.raises(LocalCloudError, match="the saved state is damaged"):
        again.start()
    assert saves(cloud) == damaged
    assert all((snapshot / "dynamodb.json").read_text() == "{" for snapshot in damaged)


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of another process is set on Linux only")
def test_an_object_that_cannot_be_written_fails_the_call(cloud: LocalCloud) -> None:
    once = botocore.config.Config(retries={"total_max_attempts": 1})
    s3 = cloud.session().client("s3", config=once)
    s3.create_bucket(Bucket="things")
    s3.put_object(Bucket="things", Key="there/before", Body=b"before")
    former = resource.prlimit(pid(cloud), resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
    for key in ("there/before", "fresh"):
        with pytest.raises(botocore.exceptions.ClientError, match="InternalError"):
            s3.put_object(Bucket="things", Key=key, Body=b"x" * 300_000)
    resource.prlimit(pid(cloud), resource.RLIMIT_FSIZE, former)
    s3.put_object(Bucket="things", Key="after", Body=b"x" * 300_000)
    assert cloud.stop()
    assert "0 items of the tables and 2 objects" in cloud.saved()
    cloud.start()
    s3 = cloud.session().client("s3")
    assert {found["Key"] for found in s3.list_objects_v2(Bucket="things")["Contents"]} == {
        "after",
        "there/before",
    }
    assert s3.get_object(Bucket="things", Key="there/before")["Body"].read() == b"before"
    assert len(s3.get_object(Bucket="things", Key="after")["Body"].read()) == 300_000


@pytest.mark.parametrize("killed", [False, True])
def test_a_damaged_object_is_named_and_not_taken_for_good(cloud: LocalCloud, killed: bool) -> None:
    s3 = cloud.session().client("s3")
    s3.create_bucket(Bucket="things")
    for key in ("whole", "truncated", "gone"):
        s3.put_object(Bucket="things", Key=key, Body=f"content of {key}".encode())
    before = saves(cloud)
    if killed:
        wait_until(lambda: len(set(saves(cloud)) - set(before)) >= 2, 60, "two saves")
        s3.put_object(Bucket="things", Key="whole", Body=b"written after the last save, it may be")
        process.send(pid(cloud), signal.SIGKILL)
        wait_until(lambda: not cloud.running(), 60, "the end of the killed cloud")
    else:
        assert cloud.stop()
    folder = cloud.home / "state" / "s3" / "000000000000" / "things"
    (folder / "truncated").write_bytes(b"cont")
    (folder / "gone").unlink()
    (folder / "gone.meta.json").unlink()
    said: list[str] = []
    again = LocalCloud(cloud.home, venv=VENV, say=said.append, save_every=1)
    again.start()
    lost = [
        line.removeprefix("An object of S3 is lost: 000000000000/things/") for line in said if "lost:" in line
    ]
    # A moment before a kill "gone" may have been deleted.
    expected = ["truncated has 4 of 20 bytes."]
    assert lost == (expected if killed else ["gone is missing.", "gone.meta.json is missing.", *expected])
    s3 = again.session().client("s3")
    assert [found["Key"] for found in s3.list_objects_v2(Bucket="things")["Contents"]] == ["whole"]
    body = s3.get_object(Bucket="things", Key="whole")["Body"].read()
    assert body == (b"written after the last save, it may be" if killed else b"content of whole")


def test_a_running_cloud_of_another_version_is_started_again_with_its_data(cloud: LocalCloud) -> None:
    put(cloud, "kept")
    former, record = pid(cloud), json.loads((cloud.home / "cloud.pid").read_text())
    cloud.start()
    assert pid(cloud) == former
    (cloud.home / "cloud.pid").write_text(json.dumps({k: v for k, v in record.items() if k != "code"}))
    cloud.start()
    assert pid(cloud) != former
    assert names(cloud) == {"kept"}
