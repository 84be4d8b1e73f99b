"""The stack with the data, which outlives every deployment: table, bucket and API keys."""

from __future__ import annotations

from typing import Final, cast

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.api_keys import ApiKeys
from infra.deployment import Deployment
from infra.nag import accept
from sourcebook.records.base import record_fields
from sourcebook.records.source import Source
from sourcebook.table.keys import ELIGIBILITY_INDEX, SENTIMENT_INDEX, STATUS_INDEX, TAG_INDEX

TABLE_LOGICAL_ID: Final = "Table"
BUCKET_LOGICAL_ID: Final = "DataBucket"


class DataStack(cdk.Stack):
    """The table of docs/table.md, the bucket for larger objects, and the providers' API keys.

    All are retained when the stack goes, and their logical ids are fixed: CloudFormation replaces a
    resource whose logical id changes, and a replaced table is an empty one.
    """

    def __init__(self, scope: Construct, construct_id: str, *, deployment: Deployment) -> None:
        super().__init__(
            scope,
            construct_id,
            description="Sourcebook: the table, the bucket and the API keys. Retained on delete.",
            termination_protection=not deployment.is_local,
        )
        self.table = self._build_table()
        self.bucket = self._build_bucket()
        self.api_keys = ApiKeys(self, "ApiKeys")

    def resource_of_objects(self, pattern: str) -> str:
        """Return the ARN of objects of the bucket as cdk-nag writes it."""
        return f"<{BUCKET_LOGICAL_ID}.Arn>/{pattern}"

    def _build_table(self) -> dynamodb.Table:
        table = dynamodb.Table(
            self,
            "Table",
            partition_key=_string("PK"),
            sort_key=_string("SK"),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            # The key that DynamoDB owns; docs/decisions/0012-encryption-keys.md says why no other.
            encryption=dynamodb.TableEncryption.DEFAULT,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            time_to_live_attribute="ttl_timestamp",
            stream=dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
            deletion_protection=True,
            removal_policy=cdk.RemovalPolicy.RETAIN,
        )
        table.add_global_secondary_index(
            index_name=ELIGIBILITY_INDEX,
            partition_key=_string("GSI1PK"),
            sort_key=_string("GSI1SK"),
            projection_type=dynamodb.ProjectionType.INCLUDE,
            # What dispatch needs to make a message, and the health check to judge: neither reads an item.
            non_key_attributes=[one.name for one in record_fields(Source) if one.is_projected],
        )
        for name, partition, projection in (
            (STATUS_INDEX, "status", dynamodb.ProjectionType.KEYS_ONLY),
            (SENTIMENT_INDEX, "sentiment", dynamodb.ProjectionType.KEYS_ONLY),
            (TAG_INDEX, "tag", dynamodb.ProjectionType.ALL),
        ):
            table.add_global_secondary_index(
                index_name=name,
                partition_key=_string(partition),
                sort_key=_string("timestamp"),
                projection_type=projection,
            )
        _pin(table, TABLE_LOGICAL_ID)
        return table

    def _build_bucket(self) -> s3.Bucket:
        bucket = s3.Bucket(
            self,
            "DataBucket",
            encryption=s3.BucketEncryption.S3_MANAGED,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=True,
            versioned=True,
            # The page puts files that are uploaded, each by a link that is signed for this one file.
            cors=[
                s3.CorsRule(
                    allowed_methods=[s3.HttpMethods.PUT],
                    allowed_origins=["*"],
                    allowed_headers=["content-type", "x-amz-checksum-sha256"],
                    max_age=3600,
                )
            ],
            lifecycle_rules=[
                s3.LifecycleRule(
                    id="ForgetWhatWasReplacedOrLeftUnfinished",
                    noncurrent_version_expiration=cdk.Duration.days(90),
                    abort_incomplete_multipart_upload_after=cdk.Duration.days(7),
                ),
                s3.LifecycleRule(
                    # What ADS answered is read once, by the run that asked; a run may be looked into later.
                    id="ForgetWhatAnArchiveAnswered",
                    prefix="raw/references/",
                    expiration=cdk.Duration.days(30),
                    noncurrent_version_expiration=cdk.Duration.days(1),
                ),
                s3.LifecycleRule(
                    id="ForgetTheSearchIndexOfExpiredArticles",
                    prefix="search/",
                    expiration=cdk.Duration.days(40),
                    # It is written every few minutes, and made again from the table where it is lost.
                    noncurrent_version_expiration=cdk.Duration.days(1),
                ),
            ],
            removal_policy=cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        accept(
            bucket,
            "AwsSolutions-S1",
            "Only this project's functions read and write here, and what they keep are public documents. "
            "CloudTrail data events, switched on by the account, say who did what; access logs would need "
            "a second bucket of their own and say less.",
        )
        _pin(bucket, BUCKET_LOGICAL_ID)
        return bucket


def _string(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)


def _pin(construct: Construct, logical_id: str) -> None:
    cast("cdk.CfnResource", construct.node.default_child).override_logical_id(logical_id)
