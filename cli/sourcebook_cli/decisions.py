"""A person's decisions on articles and events: `articles join`, `articles split`, `events`, `decisions`."""

from __future__ import annotations

import getpass
import uuid
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sourcebook_cli.output import say, say_json
from sourcebook_cli.stack import on_aws

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sourcebook.articles.decisions.articles import ArticleDecisions
    from sourcebook.articles.decisions.model import DecidedBy
    from sourcebook.records.decision import Decision
    from sourcebook_cli.stack import Stack

F = TypeVar("F", bound="Callable[..., Any]")

_REASON = click.option("--reason", required=True, help="Why; kept with the decision.")
_BY = click.option("--by", "decided_by", help="Who decides; by default the user of this machine.")
_JSON = click.option("--json", "as_json", is_flag=True)


def _decision_options(command: F) -> F:
    """Add the options of every decision."""
    return _REASON(_BY(_JSON(on_aws(command))))


@click.command()
@click.argument("article")
@click.argument("other")
@_decision_options
def join(article: str, other: str, **options: Any) -> None:  # noqa: ANN401 - click's own
    """Join the article OTHER to ARTICLE: they are one. Both are dedup keys.

    Requests for OTHER get ARTICLE from then on, and later attributions of its sources go there.
    """
    _decide(lambda stack, by: _articles(stack).join(article, other, by), **options)


@click.command()
@click.argument("article")
@click.option("--source", required=True, help="The source whose attribution is another story.")
@_decision_options
def split(article: str, source: str, **options: Any) -> None:  # noqa: ANN401 - click's own
    """Split one source's attribution, with its later ones, off ARTICLE (a dedup key)."""
    _decide(lambda stack, by: _articles(stack).split(article, source, by), **options)


@click.group()
def events() -> None:
    """Correct the grouping of articles into events."""


@events.command()
@click.argument("article")
@_decision_options
def remove(article: str, **options: Any) -> None:  # noqa: ANN401 - click's own
    """Take ARTICLE (a dedup key) out of its event; grouping puts it into none again."""
    from sourcebook.articles.decisions.events import EventDecisions

    _decide(lambda stack, by: EventDecisions(stack.table).take_out(article, by), **options)


@events.command()
@click.argument("event")
@click.argument("other")
@_decision_options
def merge(event: str, other: str, **options: Any) -> None:  # noqa: ANN401 - click's own
    """Merge the event OTHER into EVENT: the articles of both belong to it. Both are ids."""
    from sourcebook.articles.decisions.events import EventDecisions

    _decide(lambda stack, by: EventDecisions(stack.table).merge(event, other, by), **options)


@click.group()
def decisions() -> None:
    """List and undo decisions on articles and events."""


@decisions.command("list")
@click.option("--about", help="Only those about this article or event.")
@click.option(
    "--limit", type=click.IntRange(1, 100), default=20, show_default=True, help="Decisions at most."
)
@_JSON
@on_aws
def list_(about: str | None, limit: int, as_json: bool, aws: bool) -> None:
    """List decisions, the newest first."""
    from sourcebook.articles.decisions.model import DecisionReader
    from sourcebook_cli.stack import Stack

    for decision in DecisionReader(Stack.connect(aws=aws).table).page(about=about, limit=limit).items:
        _say(decision, as_json=as_json)


@decisions.command()
@click.argument("decision")
@_decision_options
def undo(decision: str, **options: Any) -> None:  # noqa: ANN401 - click's own
    """Undo DECISION (an id)."""
    from sourcebook.articles.decisions.events import EventDecisions
    from sourcebook.articles.decisions.model import DecisionReader
    from sourcebook.articles.decisions.undo import undo as take_back

    _decide(
        lambda stack, by: take_back(
            decision, by, _articles(stack), EventDecisions(stack.table), DecisionReader(stack.table)
        ),
        **options,
    )


def _decide(
    decide: Callable[[Stack, DecidedBy], Decision],
    *,
    reason: str,
    decided_by: str | None,
    as_json: bool,
    aws: bool,
) -> None:
    from sourcebook.articles.decisions.model import DecidedBy
    from sourcebook_cli.stack import Stack

    by = DecidedBy(
        decided_by=decided_by or getpass.getuser(),
        reason=reason,
        token=str(uuid.uuid4()),
        caller="command line",
    )
    _say(decide(Stack.connect(aws=aws), by), as_json=as_json)


def _articles(stack: Stack) -> ArticleDecisions:
    from sourcebook.articles.announce import Announcer
    from sourcebook.articles.decisions.articles import ArticleDecisions
    from sourcebook.table.client import aws_config

    announcer = Announcer(stack.session.client("sns", config=aws_config()), stack.outputs["ArticleTopicArn"])

    def announce(dedup_keys: Iterable[str]) -> None:
        announcer.announce(dedup_keys, str(uuid.uuid4()))

    return ArticleDecisions(stack.table, announce)


def _say(decision: Decision, *, as_json: bool) -> None:
    if as_json:
        say_json(decision.shown())
        return
    taken_back = f", taken back by {decision.undone_by}" if decision.undone_by else ""
    say(decision.decision_id, " ", decision.action.value, ": ", ", ".join(decision.about), taken_back)
    say("    ", decision.decided_by, ": ", decision.reason)
