"""Every fifteen minutes: announce again the articles that have waited for their analysis too long."""

from __future__ import annotations

from sourcebook.start import collect_garbage_from_now

from typing import Any

import boto3
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.articles.announce import Announcer
from sourcebook.articles.heal import Healer
from sourcebook.clients import on_demand
from sourcebook.counting import count
from sourcebook.settings import required
from sourcebook.table.client import Table, aws_config

logger = Logger()
healer = Healer(
    Table.connect(required("TABLE_NAME")),
    Announcer(on_demand(lambda: boto3.client("sns", config=aws_config())), required("ARTICLE_TOPIC_ARN")),
)


@collect_garbage_from_now
@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, int]:  # noqa: ARG001 - Lambda's own signature
    """Announce forgotten articles again; return how many."""
    healed = healer.heal(context.aws_request_id)
    count(ArticlesHealed=healed)
    logger.info("articles_healed", extra={"healed": healed})
    return {"healed": healed}
