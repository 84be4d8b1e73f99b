"""What a user writes, with the types that a type checker must find: mypy reads this file with all others."""

from __future__ import annotations

from datetime import date, datetime
from typing import assert_type

from sourcebook.client import AsyncClient, AsyncPages, Client, Pages, SourcebookError
from sourcebook.client.models import Article, BestRates, NovaSearchItem, Photometry, Sentiment, Source


def headlines(client: Client) -> list[str]:
    found = client.articles("ferry", sentiment=["positive", "neutral"], since=date(2026, 11, 20))
    assert_type(found, Pages[Article])
    for article in found:
        assert_type(article.timestamp, datetime)
        assert_type(article.headline, str)
    return [article.headline for article in found.take(3)]


def feeling(client: Client) -> float:
    found = client.sentiment("AAPL", hours=24)
    assert_type(found, Sentiment)
    return found.average_sentiment


def best(client: Client) -> BestRates:
    return client.best_rates("deposit_online")


async def curve(address: str) -> Photometry | None:
    async with AsyncClient(address, token="sb_secret") as client:
        assert_type(client.sources(health="failing"), AsyncPages[Source])
        try:
            (nova,) = (await client.novae("V1324 Sco")).items
            assert_type(nova, NovaSearchItem)
            return await client.light_curve(nova.nova_id, band=["V", "B"])
        except SourcebookError:
            return None
