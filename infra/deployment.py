"""The settings of a deployment, read from the CDK context."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from ipaddress import ip_network
from pathlib import Path
from typing import Final

from constructs import Node

from sourcebook.errors import InvalidInput
from sourcebook.feeds.settings import FeedSettings
from sourcebook.http.policy import HttpPolicy
from sourcebook.sentiment.engines.loading import COMPREHEND, ENGINES, MODEL
from sourcebook.table.keys import MOST_SHARDS, Shards

ROOT: Final = Path(__file__).resolve().parent.parent
"""The checkout, with lambdas/, layers/ and statemachines/."""
CHOICES: Final = ROOT / "deployment.json"
"""File with the operator's choices for AWS, under version control (docs/decisions/0271)."""


class DeploymentTarget(StrEnum):
    """The platform on which functions run."""

    LAMBDA = "lambda"
    """AWS Lambda: Python 3.13 on arm64."""
    LOCAL = "local"
    """The embedded cloud, which runs functions in an interpreter of this machine."""


_LOOPBACK = "127.0.0.0/8,::1/128"


@dataclass(frozen=True, slots=True)
class Deployment:
    """The choices of one deployment: on AWS from `CHOICES`, each a context value of the app.

    Attributes:
        target: what the layers are built for.
        allowed_networks: comma-separated CIDR blocks that fetching may reach although they are
            not public; empty on AWS, loopback on the embedded cloud, whose sample sources live there.
        contact: an address or URL in the user agent, by which a publisher can reach the operator.
        public_read: whether the read side answers callers who do not sign their requests.
        cors_origins: sites whose scripts may call the API from a visitor's browser; ``*`` for any, none by
            default.
        fetch_concurrency: how many fetch_sources run at once, at most.
        analyze_concurrency: how many analyze_sentiment run at once, at most.
        grouping_lines: how many group_headlines decide side by side (docs/decisions/0335).
        index_shards: over how many partitions of an index the items of one value are spread
            (docs/decisions/0350).
        index_shards_before: the number before it was lowered, until `sourcebook migrate` has run; else 0.
        acquire_concurrency: how many spectra a sweep acquires at once, at most.
        sentiment_engine: what labels articles; one of ENGINES.
        traces: whether X-Ray records each run of functions and workflows (docs/decisions/0272).
        tns_bot: ``<id>:<name>`` of a bot at TNS, which is asked for names that no other archive knows; its
            key is in the secret ``sourcebook/tns``. Empty, and TNS is not asked.
        feeds: how feeds are fetched and scheduled.
        bytecode: an interpreter of Lambda's Python that compiles the layers; empty, and each cold start
            compiles what it imports (docs/decisions/0011).
    """

    target: DeploymentTarget
    allowed_networks: str
    contact: str
    public_read: bool
    cors_origins: tuple[str, ...]
    fetch_concurrency: int
    analyze_concurrency: int
    grouping_lines: int
    index_shards: int
    index_shards_before: int
    acquire_concurrency: int
    sentiment_engine: str
    traces: bool
    tns_bot: str
    feeds: FeedSettings
    bytecode: str

    @property
    def shards(self) -> Shards:
        """The shards of indexes, as functions and the command line get them."""
        return Shards(self.index_shards, self.index_shards_before)

    @property
    def is_local(self) -> bool:
        """Whether the target is the embedded cloud."""
        return self.target is DeploymentTarget.LOCAL

    def http_environment(self) -> dict[str, str]:
        """Return the variables of a function that asks other servers."""
        return {"HTTP_ALLOWED_NETWORKS": self.allowed_networks, "HTTP_CONTACT": self.contact}

    @classmethod
    def from_context(cls, node: Node) -> Deployment:
        """Return the deployment that the context of the CDK app describes.

        Raises:
            ValueError: naming the first value that is wrong and what would be right.
        """
        target = _target(node)
        local = target is DeploymentTarget.LOCAL
        return cls(
            target=target,
            allowed_networks=_networks(node, default=_LOOPBACK if local else ""),
            contact=_contact(node),
            public_read=_boolean(node, "public_read", default=local),
            cors_origins=_origins(node),
            # A process per concurrent call on the embedded cloud: three fetches fill two cores.
            fetch_concurrency=_whole_number(node, "fetch_concurrency", default=3 if local else 50),
            analyze_concurrency=_whole_number(node, "analyze_concurrency", default=2 if local else 20),
            grouping_lines=_whole_number(node, "grouping_lines", default=1, least=1, most=32),
            index_shards=_whole_number(node, "index_shards", default=1, least=1, most=MOST_SHARDS),
            index_shards_before=_shards_before(node),
            # Step Functions runs up to 40 items of an inline map at once.
            acquire_concurrency=_whole_number(
                node, "acquire_concurrency", default=3 if local else 10, most=40
            ),
            sentiment_engine=_engine(node, local=local),
            traces=_boolean(node, "traces", default=False),
            tns_bot=_tns_bot(node),
            feeds=_feeds(node),
            bytecode=_bytecode(node, local=local),
        )


_OF_THE_BUILD = frozenset({"target", "bytecode"})
"""Choices about the build alone, which may differ from one deployment to the next."""


def take_choices(node: Node, file: Path) -> dict[str, object]:
    """Set the context values that a file of choices holds; return them. The embedded cloud goes without.

    A choice that is given in another way is refused: the next deployment without it would quietly undo it.

    Args:
        node: of the app, before anything is built.
        file: an object of choices by their names; without the file none are made.

    Raises:
        ValueError: if the file is no such object, or a choice was given elsewhere that it does not hold.
    """
    if _target(node) is DeploymentTarget.LOCAL:
        return {}
    names = {field.name for field in fields(Deployment)} - _OF_THE_BUILD
    chosen = _choices_in(file, names)
    for name in sorted(names):
        given = node.try_get_context(name)
        if given is not None and (name not in chosen or _as_text(given) != _as_text(chosen[name])):
            raise ValueError(
                f"context {name}={given!r}: the next deployment would forget it; "
                f"write {json.dumps(name)}: {json.dumps(given)} into {file.name} and deploy without it"
            )
    for name, value in chosen.items():
        node.set_context(name, value)
    return chosen


def _choices_in(file: Path, names: set[str]) -> dict[str, object]:
    try:
        chosen = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ValueError(f"{file.name} is not JSON: {error}") from None
    if not isinstance(chosen, dict):
        raise ValueError(  # noqa: TRY004 - what the file says is wrong, not how this is called
            f'{file.name}: expected an object of choices such as {{"contact": "you@example.org"}}'
        )
    if unknown := sorted(set(chosen) - names):
        raise ValueError(
            f"{file.name}: {unknown[0]!r} is no choice; expected some of {', '.join(sorted(names))}"
        )
    return chosen


def _as_text(value: object) -> str:
    """Return a value as the text that the command line would pass."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _target(node: Node) -> DeploymentTarget:
    value = node.try_get_context("target") or DeploymentTarget.LAMBDA
    try:
        return DeploymentTarget(value)
    except ValueError:
        raise ValueError(f"context target={value!r}: expected one of {', '.join(DeploymentTarget)}") from None


def _networks(node: Node, *, default: str) -> str:
    value = node.try_get_context("allowed_networks")
    parts = [part.strip() for part in str(default if value is None else value).split(",") if part.strip()]
    for part in parts:
        try:
            ip_network(part)
        except ValueError as error:
            raise ValueError(
                f"context allowed_networks: {part!r} is not a network ({error}); "
                "expected comma-separated CIDR blocks such as 10.0.0.0/8"
            ) from None
    return ",".join(parts)


def _contact(node: Node) -> str:
    contact = str(node.try_get_context("contact") or "")
    try:
        # What is no header would stop every function that asks another server.
        HttpPolicy(contact=contact)
    except InvalidInput as error:
        raise ValueError(f"context {error}") from None
    return contact


def _tns_bot(node: Node) -> str:
    bot = str(node.try_get_context("tns_bot") or "")
    if bot:
        from sourcebook.novae.resolvers.tns import TnsBot  # noqa: PLC0415 - few deployments ask TNS

        try:
            TnsBot.of(bot, api_key="")
        except InvalidInput as error:
            raise ValueError(
                f"context tns_bot: {bot!r} is not valid; expected <id>:<name> of the bot at TNS"
            ) from error
    return bot


def _origins(node: Node) -> tuple[str, ...]:
    # As browsers send them: API Gateway compares to the letter.
    parts = [part.strip().lower() for part in str(node.try_get_context("cors_origins") or "").split(",")]
    origins = tuple(dict.fromkeys(part for part in parts if part))
    for origin in origins:
        if origin != "*" and not re.fullmatch(r"https?://[a-z0-9.-]+(:\d{1,5})?", origin, re.ASCII):
            raise ValueError(
                f"context cors_origins: {origin!r} is not an origin; expected comma-separated addresses of "
                "sites without a path such as https://app.example, or * for any"
            )
    if "*" in origins and len(origins) > 1:
        raise ValueError("context cors_origins: expected either * for any site, or the sites by name")
    return origins


def _boolean(node: Node, name: str, *, default: bool) -> bool:
    value = node.try_get_context(name)
    if value is None:
        return default
    match str(value).lower():
        case "true":
            return True
        case "false":
            return False
        case _:
            raise ValueError(f"context {name}={value!r}: expected true or false")


def _engine(node: Node, *, local: bool) -> str:
    value = node.try_get_context("sentiment_engine") or MODEL
    if value not in ENGINES:
        raise ValueError(f"context sentiment_engine={value!r}: expected one of {', '.join(ENGINES)}")
    if local and value == COMPREHEND:
        raise ValueError(
            "context sentiment_engine='comprehend': the embedded cloud has no Comprehend; "
            f"expected one of {', '.join(name for name in ENGINES if name != COMPREHEND)} with target=local"
        )
    return str(value)


def _bytecode(node: Node, *, local: bool) -> str:
    value = str(node.try_get_context("bytecode") or "").strip()
    if local and value:
        raise ValueError(
            f"context bytecode={value!r}: the embedded cloud's layers have the bytecode of its own "
            "interpreter; expected nothing with target=local"
        )
    return value


def _feeds(node: Node) -> FeedSettings:
    """Read the object `feeds`: from cdk.json as it stands there, from the command line as JSON."""
    value = node.try_get_context("feeds")
    if isinstance(value, str) and value.strip():
        try:
            value = json.loads(value)
        except ValueError as error:
            raise ValueError(
                f"context feeds={value!r} is not JSON ({error}); "
                """expected an object such as {"max_refresh_interval_minutes": 30}"""
            ) from None
    match value or {}:
        case Mapping() as settings:
            try:
                return FeedSettings.from_values(settings)
            except InvalidInput as error:
                raise ValueError(f"context feeds.{error}") from None
        case _:
            raise ValueError(
                f"context feeds={value!r}: expected an object of settings such as "
                """{"max_refresh_interval_minutes": 30}"""
            )


def _shards_before(node: Node) -> int:
    """Return the number of shards before it was lowered; refuse one that is not larger than today's."""
    before = _whole_number(node, "index_shards_before", default=0, least=2, most=MOST_SHARDS)
    now = _whole_number(node, "index_shards", default=1, least=1, most=MOST_SHARDS)
    if before and before <= now:
        raise ValueError(
            f"context index_shards_before={before}: expected more than index_shards, which is {now}, "
            "or nothing where there never were more"
        )
    return before


def _whole_number(node: Node, name: str, *, default: int, least: int = 2, most: int = 1000) -> int:
    """Return a whole number within bounds, by default those of a concurrency of SQS."""
    value = node.try_get_context(name)
    if value is None:
        return default
    text = str(value)
    if not text.isdecimal() or not least <= int(text) <= most:
        raise ValueError(f"context {name}={value!r}: expected a whole number from {least} to {most}")
    return int(text)
