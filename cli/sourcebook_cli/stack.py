"""The deployed stack that a command works on: the local one, or one on AWS."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3.session
import click
from boto3.dynamodb.conditions import Key
from botocore.exceptions import BotoCoreError

from sourcebook.articles.read import places_by_status
from sourcebook.errors import Terminal
from sourcebook.feeds.settings import FeedSettings
from sourcebook.records.article import Article, Status, status_of
from sourcebook.records.source import Source
from sourcebook.sources.registry import SourceRegistry
from sourcebook.table import keys
from sourcebook.table.client import Table, aws_config

if TYPE_CHECKING:
    from sourcebook.bucket.objects import Objects
    from sourcebook.http.policy import HttpPolicy
    from sourcebook_local.cloud import LocalCloud

PIPELINE_STACK = "SourcebookPipeline"

on_aws = click.option(
    "--aws", is_flag=True, help="The stack on AWS, with your own credentials, instead of the local one."
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The options before the command.

    Attributes:
        profile: of the AWS credentials; None for the default.
        stack: name of the stack.
        aws: whether one of them was given, which means the stack on AWS.
    """

    profile: str | None = None
    stack: str = PIPELINE_STACK
    aws: bool = False


def chosen() -> Chosen:
    """Return the options before the command that runs now."""
    context = click.get_current_context(silent=True)
    given = context.find_root().obj if context else None
    if not isinstance(given, dict):
        return Chosen()
    profile, stack = given.get("profile"), given.get("stack")
    return Chosen(profile, stack or PIPELINE_STACK, aws=bool(profile or stack))


class NotDeployed(Terminal):
    """There is no stack to work on."""


@dataclass(frozen=True)
class Stack:
    """A deployed stack, by its outputs."""

    session: boto3.session.Session
    outputs: Mapping[str, str]

    @classmethod
    def connect(cls, *, aws: bool = False) -> Stack:
        """Return the deployed stack.

        Raises:
            NotDeployed: if there is none.
        """
        selected = chosen()
        if aws or selected.aws:
            try:
                session = boto3.session.Session(profile_name=selected.profile)
                return cls(session, _outputs(session, selected.stack))
            except BotoCoreError as error:
                raise NotDeployed(
                    f"AWS cannot be asked: {error}; `sourcebook doctor --aws` says more"
                ) from error
        cloud = running_cloud()
        session = cloud.session()
        outputs = _outputs(session)
        # The stack's own output is an address of AWS's, which the embedded cloud answers under another one.
        return cls(session, outputs | {"ApiUrl": cloud.api_url(outputs.get("ApiId", ""))})

    @property
    def api_url(self) -> str:
        """The address of the API, without a slash at its end."""
        return self.outputs["ApiUrl"].rstrip("/")

    @cached_property
    def table(self) -> Table:
        """Return the table."""
        client = self.session.client("dynamodb", config=aws_config())
        return Table(self.outputs["TableName"], client, shards=self.shards)

    @property
    def shards(self) -> keys.Shards:
        """Return the shards of indexes that the functions of this stack use."""
        return keys.Shards.parse(self.outputs.get("IndexShards", "1"))

    @cached_property
    def objects(self) -> Objects:
        """Return the bucket's objects."""
        from sourcebook.bucket.objects import Objects

        return Objects(self.session.client("s3", config=aws_config()), self.outputs["BucketName"])

    @cached_property
    def registry(self) -> SourceRegistry:
        """The registry of sources."""
        return SourceRegistry(self.table)

    def feed_settings(self) -> FeedSettings:
        """Return the settings by which this stack polls feeds: those of the function that polls them.

        Raises:
            InvalidInput: if a variable of the function has been given a value that cannot work.
            Terminal: if its configuration may not be read.
        """
        return FeedSettings.from_environment(self._fetch_variables)

    @cached_property
    def http_policy(self) -> HttpPolicy:
        """Return the HTTP policy of this stack, which addresses of sources are checked against too.

        Raises:
            InvalidInput: if a variable of the function has been given a value that cannot work.
            Terminal: if its configuration may not be read.
        """
        from sourcebook.http.policy import endpoint_ports

        variables = self._fetch_variables
        policy = self.feed_settings().http_policy(
            contact=variables.get("HTTP_CONTACT", ""),
            allowed_networks=variables.get("HTTP_ALLOWED_NETWORKS", ""),
        )
        asked = self.session.client("lambda", config=aws_config()).meta.endpoint_url
        return replace(policy, refused_ports=endpoint_ports({"AWS_ENDPOINT_URL": asked}))

    @cached_property
    def _fetch_variables(self) -> Mapping[str, str]:
        """The environment of the function that fetches sources."""
        client = self.session.client("lambda", config=aws_config())
        name = self.outputs["FetchFunctionName"]
        try:
            function = client.get_function_configuration(FunctionName=name)
        except client.exceptions.ClientError as error:
            raise Terminal(
                f"the settings of feeds cannot be read from {name} ({error}): your credentials need "
                "lambda:GetFunctionConfiguration"
            ) from error
        return function.get("Environment", {}).get("Variables", {})

    def dispatch(self, source_ids: Iterable[str]) -> dict[str, int]:
        """Dispatch these sources now.

        Raises:
            Terminal: if dispatch fails, with its own message.
        """
        answer = self.session.client("lambda", config=aws_config()).invoke(
            FunctionName=self.outputs["DispatchFunctionName"],
            Payload=json.dumps({"source_ids": list(source_ids)}).encode(),
        )
        payload: Any = json.loads(answer["Payload"].read())
        if "FunctionError" in answer:
            raise Terminal(
                f"dispatch_sources failed: {payload.get('errorType')}: {payload.get('errorMessage')}"
            )
        counts: dict[str, int] = payload
        return counts


def running_cloud(home: Path | None = None) -> LocalCloud:
    """Return the embedded cloud that `make up` has started.

    Raises:
        NotDeployed: if it does not run.
    """
    from sourcebook_local.cloud import LocalCloud
    from sourcebook_local.project import HOME

    cloud = LocalCloud(home or HOME)
    if not cloud.running():
        raise NotDeployed("no local stack is running: start it with `make up`, or use --aws for one on AWS")
    return cloud


@dataclass(frozen=True, slots=True)
class StackCounts:
    """Numbers of sources and articles of a stack, by status."""

    sources: int
    fetched: int
    failing: int
    entries: int
    merged: int
    pending: int
    analyzed: int
    errors: int

    @property
    def articles(self) -> int:
        """Articles in the table."""
        return self.pending + self.analyzed + self.errors


def count(table: Table, sources: Iterable[Source], fetched: int, *, by_scan: bool = False) -> StackCounts:
    """Count the sources and articles of a stack.

    Args:
        table: the stack's.
        sources: the sources that are meant.
        fetched: how many of them have been fetched.
        by_scan: read the whole table, which is exact. Else two indexes are read, which do not hold new
            articles: those that have waited for their analysis for less than three minutes.
    """
    known = list(sources)
    by_status = _count_all(table) if by_scan else _count_listed(table)
    return StackCounts(
        sources=len(known),
        fetched=fetched,
        failing=sum(bool(source.consecutive_errors) or not source.enabled for source in known),
        entries=sum(source.last_entries for source in known),
        merged=sum(source.merged_total for source in known),
        pending=by_status[Status.PENDING],
        analyzed=by_status[Status.ANALYZED],
        errors=by_status[Status.ERROR],
    )


def _count_all(table: Table) -> Counter[str]:
    """Count the articles of each status."""
    articles = (item for item in table.scan_all() if item.get("entity_type") == Article.__name__)
    return Counter(map(status_of, articles))


def _count_listed(table: Table) -> Counter[str]:
    """Count the articles of each status that the indexes hold."""
    listed: dict[str, set[str]] = {}
    for status, places in places_by_status(table.shards).items():
        found = (table.query_all(Key(at.attribute).eq(at.value), index=at.index) for at in places)
        rows = (row for rows in found for row in rows if row["SK"] == keys.ARTICLE_SORT_KEY)
        # What is analyzed anew has its sentiment of before as long as it waits.
        listed[status] = {row["PK"] for row in rows}.difference(*listed.values())
    return Counter({status: len(found) for status, found in listed.items()})


def _outputs(session: boto3.session.Session, name: str = PIPELINE_STACK) -> dict[str, str]:
    client = session.client("cloudformation", config=aws_config())
    try:
        stack = client.describe_stacks(StackName=name)["Stacks"][0]
    except client.exceptions.ClientError as error:
        raise NotDeployed(
            f"stack {name} is not deployed here ({error}): run `make up`, or `cdk deploy` for AWS"
        ) from error
    return {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", ())}
