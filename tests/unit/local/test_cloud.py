from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import botocore.config
import pytest

from sourcebook_local import process
from sourcebook_local.cloud import LocalCloud
from sourcebook_local.project import LocalCloudError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "cloud.json").write_text('{"port": 4711}')
    return tmp_path


def test_the_environment_has_none_of_the_users_aws_settings(home: Path) -> None:
    users = {
        "AWS_PROFILE": "production",
        "AWS_SESSION_TOKEN": "token",
        "AWS_ENDPOINT_URL_S3": "https://s3.example.org",
        "AWS_CA_BUNDLE": "/etc/company.pem",
        "AWS_REGION": "eu-central-1",
        "PATH": "/usr/bin",
    }
    environment = LocalCloud(home).environment(users)
    assert {"AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_S3", "AWS_CA_BUNDLE"}.isdisjoint(
        environment
    )
    assert environment["AWS_ENDPOINT_URL"] == "http://127.0.0.1:4711"
    assert environment["AWS_REGION"] == environment["AWS_DEFAULT_REGION"] == "us-east-1"
    assert environment["AWS_CONFIG_FILE"] == environment["AWS_SHARED_CREDENTIALS_FILE"] == os.devnull
    assert environment["PATH"] == "/usr/bin"


def test_with_tls_every_kind_of_client_is_told_whom_to_trust(home: Path) -> None:
    cloud = LocalCloud(home, tls=True)
    environment = cloud.environment({"NODE_EXTRA_CA_CERTS": "/etc/company.pem"})
    assert cloud.ca_bundle is not None
    for name in ("AWS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"):
        assert environment[name] == str(cloud.ca_bundle)
    assert environment["AWS_ENDPOINT_URL"].startswith("https://")


def test_a_session_does_not_look_at_the_users_profile(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "production")
    client = LocalCloud(home).session().client("sqs")
    assert client.meta.endpoint_url == "http://127.0.0.1:4711"
    assert client.meta.region_name == "us-east-1"


def test_a_home_without_a_cloud_says_how_to_start_one(tmp_path: Path) -> None:
    with pytest.raises(LocalCloudError, match="make up"):
        _ = LocalCloud(tmp_path).endpoint_url


def test_a_pid_that_now_belongs_to_another_process_is_not_the_cloud_and_is_left_alone(home: Path) -> None:
    pid = os.getpid()
    record = {"pid": pid, "identity": "another start", "auth": False, "tls": False}
    (home / "cloud.pid").write_text(json.dumps(record))
    cloud = LocalCloud(home)
    assert not cloud.running()
    assert cloud.stop()
    assert process.start_identity(pid) is not None
    assert not (home / "cloud.pid").exists()


def test_a_garbled_pid_file_is_no_cloud(home: Path) -> None:
    (home / "cloud.pid").write_text("{")
    assert not LocalCloud(home).running()


@pytest.mark.parametrize("config", [None, botocore.config.Config(retries={"total_max_attempts": 1})])
def test_a_presigned_address_is_signed_as_the_guard_reads_it(
    home: Path, config: botocore.config.Config | None
) -> None:
    (home / "cloud.json").write_text(json.dumps({"port": 4610}))
    session = LocalCloud(home).session()
    for client in (session.client("s3", config=config), session.client(service_name="s3", config=config)):
        address = client.generate_presigned_url("get_object", Params={"Bucket": "bucket", "Key": "key"})
        assert "X-Amz-Algorithm=AWS4-HMAC-SHA256" in address
        assert address.startswith("http://127.0.0.1:4610/bucket/key?")
