"""What must outlive every deployment."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import boto3
import pytest
from moto import mock_aws

from sourcebook.search.days import PREFIX
from sourcebook.table import keys
from tests.templates import data_template, table_definition

if TYPE_CHECKING:
    from tests.infra.conftest import Assembly

pytestmark = pytest.mark.infra


def test_the_logical_ids_of_what_holds_data_never_change(aws: Assembly) -> None:
    kept = {key: resource["Type"] for key, resource in aws.data["Resources"].items()}
    # A changed id means to CloudFormation: make another, empty one. Do not adapt this test.
    assert kept["Table"] == "AWS::DynamoDB::Table"
    assert kept["DataBucket"] == "AWS::S3::Bucket"
    assert kept["TiingoKey"] == kept["FinnhubKey"] == kept["AdsKey"] == "AWS::SecretsManager::Secret"
    assert set(kept.values()) == {
        "AWS::DynamoDB::Table",
        "AWS::S3::Bucket",
        "AWS::S3::BucketPolicy",
        "AWS::SecretsManager::Secret",
    }


@pytest.mark.parametrize("logical_id", ["Table", "DataBucket", "TiingoKey", "FinnhubKey", "AdsKey"])
def test_data_is_retained_when_its_stack_or_definition_goes(aws: Assembly, logical_id: str) -> None:
    resource = aws.data["Resources"][logical_id]
    # The table is protected from deletion anyway, so that a first creation that fails leaves it in any case.
    assert resource["DeletionPolicy"] == ("Retain" if logical_id == "Table" else "RetainExceptOnCreate")
    assert resource["UpdateReplacePolicy"] == "Retain"


def test_the_data_stack_on_aws_refuses_to_be_deleted(aws: Assembly) -> None:
    manifest = json.loads((aws.folder / "manifest.json").read_text("utf-8"))
    assert manifest["artifacts"]["SourcebookData"]["properties"]["terminationProtection"] is True


def test_nothing_empties_the_bucket_by_itself(aws: Assembly, local: Assembly) -> None:
    for assembly in (aws, local):
        text = json.dumps([assembly.data, assembly.pipeline])
        assert "aws-cdk:auto-delete-objects" not in text
        assert "Custom::" not in text


def test_the_table_is_on_demand_recoverable_and_protected(aws: Assembly) -> None:
    table = aws.data["Resources"]["Table"]["Properties"]
    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table["DeletionProtectionEnabled"] is True
    assert table["TimeToLiveSpecification"] == {"AttributeName": "ttl_timestamp", "Enabled": True}
    assert table["StreamSpecification"] == {"StreamViewType": "NEW_AND_OLD_IMAGES"}


def test_the_table_has_the_keys_and_the_four_indexes_of_the_design(aws: Assembly) -> None:
    table = aws.data["Resources"]["Table"]["Properties"]

    def key(schema: list[dict[str, str]]) -> tuple[str, ...]:
        return tuple(part["AttributeName"] for part in sorted(schema, key=lambda part: part["KeyType"]))

    assert key(table["KeySchema"]) == ("PK", "SK")
    assert {
        index["IndexName"]: (key(index["KeySchema"]), index["Projection"])
        for index in table["GlobalSecondaryIndexes"]
    } == {
        keys.ELIGIBILITY_INDEX: (
            ("GSI1PK", "GSI1SK"),
            {
                "ProjectionType": "INCLUDE",
                "NonKeyAttributes": [
                    "source_id",
                    "kind",
                    "host",
                    "priority",
                    "next_fetch_time",
                    "last_success_at",
                ],
            },
        ),
        keys.STATUS_INDEX: (("status", "timestamp"), {"ProjectionType": "KEYS_ONLY"}),
        keys.SENTIMENT_INDEX: (("sentiment", "timestamp"), {"ProjectionType": "KEYS_ONLY"}),
        keys.TAG_INDEX: (("tag", "timestamp"), {"ProjectionType": "ALL"}),
    }
    assert {attribute["AttributeType"] for attribute in table["AttributeDefinitions"]} == {"S"}


def test_the_bucket_is_private_encrypted_and_keeps_what_was_overwritten(aws: Assembly) -> None:
    bucket = aws.data["Resources"]["DataBucket"]["Properties"]
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert len(bucket["PublicAccessBlockConfiguration"]) == 4
    assert bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"] == [
        {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
    ]
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    rule, answers, search = bucket["LifecycleConfiguration"]["Rules"]
    assert (answers["Prefix"], answers["ExpirationInDays"]) == ("raw/references/", 30)
    # What can be made again from the table is not kept when it is replaced every few minutes.
    assert (search["Prefix"], search["NoncurrentVersionExpiration"]) == ("search/", {"NoncurrentDays": 1})
    assert PREFIX.startswith("search/")
    assert "Prefix" not in rule
    assert rule["Status"] == "Enabled"
    assert rule["NoncurrentVersionExpiration"] == {"NoncurrentDays": 90}
    assert rule["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 7}
    assert "ExpirationInDays" not in rule


def test_tests_make_the_very_table_that_is_deployed(aws: Assembly) -> None:
    deployed = aws.data["Resources"]["Table"]["Properties"]
    assert data_template()["Resources"]["Table"]["Properties"] == {
        name: value for name, value in deployed.items() if name != "Tags"
    }
    with mock_aws():
        client = boto3.client("dynamodb", region_name="us-east-1")
        made = client.create_table(**table_definition("made-for-a-test"))["TableDescription"]
    assert made["TableName"] == "made-for-a-test"
    assert {index["IndexName"] for index in made["GlobalSecondaryIndexes"]} == {
        keys.ELIGIBILITY_INDEX,
        keys.STATUS_INDEX,
        keys.SENTIMENT_INDEX,
        keys.TAG_INDEX,
    }
    assert made["StreamSpecification"]["StreamViewType"] == "NEW_AND_OLD_IMAGES"


def test_the_definition_handed_to_one_test_cannot_spoil_the_next() -> None:
    table_definition()["GlobalSecondaryIndexes"].clear()
    assert len(table_definition()["GlobalSecondaryIndexes"]) == 4
