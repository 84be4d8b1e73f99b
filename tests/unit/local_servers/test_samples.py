from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import struct_time

import feedparser
import pytest

from sourcebook.sentiment.matching import Matcher
from sourcebook.sentiment.subjects import default_subjects
from sourcebook_local import samples
from sourcebook_local.folder import feeds_in
from tests.unit.local_servers.conftest import NOW

# Around midnight UTC, a leap day, a change of the year.
MOMENTS = [
    NOW,
    datetime(2026, 11, 28, 0, 0, tzinfo=UTC),
    datetime(2028, 2, 29, 23, 59, 59, tzinfo=UTC),
    datetime(2027, 1, 1, 1, 30, tzinfo=UTC),
]

Entry = tuple[str, datetime | None]


def utc(parsed: struct_time | None) -> datetime | None:
    return datetime(*parsed[:6], tzinfo=UTC) if parsed else None


def entries(name: str, now: datetime, *, edited: bool = False) -> list[Entry]:
    """Title and publish time of each entry, read by a parser that knows nothing of the templates."""
    body = samples.render_feed(name, now, edited=edited)
    if name.endswith(".json"):
        items = json.loads(body)["items"]
        return [
            (i["title"], datetime.fromisoformat(i["date_published"]) if "date_published" in i else None)
            for i in items
        ]
    parsed = feedparser.parse(body)
    assert not parsed.bozo, parsed.bozo_exception
    return [(e.title, utc(e.get("published_parsed") or e.get("updated_parsed"))) for e in parsed.entries]


def test_there_are_feeds_in_all_four_formats_of_a_realistic_size() -> None:
    feeds, skipped = feeds_in(samples.FEEDS_FOLDER)

    assert skipped == []
    assert len(feeds) == len(samples.feed_names()) >= 8
    starts = " ".join(samples.render_feed(name, NOW)[:400].decode() for name in samples.feed_names())
    for mark in ('<rss version="2.0"', "<rdf:RDF", "<feed xmlns", "https://jsonfeed.org/version/1.1"):
        assert mark in starts
    assert all(8 <= len(entries(name, NOW)) <= 15 for name in samples.feed_names())


@pytest.mark.parametrize("name", samples.feed_names())
@pytest.mark.parametrize("now", MOMENTS)
def test_a_rendered_feed_parses_with_all_its_entries_from_the_last_two_days(name: str, now: datetime) -> None:
    found = entries(name, now)

    assert len(found) == len(samples.stories_of(name))
    for title, published in found:
        assert title
        if published is not None:
            assert now - timedelta(days=2) <= published <= now


@pytest.mark.parametrize("name", samples.feed_names())
def test_nothing_of_a_template_is_left_in_a_rendered_feed(name: str) -> None:
    body = samples.render_feed(name, NOW).decode()

    assert "{{" not in body
    assert "}}" not in body
    assert not re.search(r"\b_?story\b\"?[=:]", body)


def test_rendering_depends_on_the_hour_alone() -> None:
    start, end = NOW.replace(minute=0, second=0), NOW.replace(minute=59, second=59)

    for name in samples.feed_names():
        assert samples.render_feed(name, start) == samples.render_feed(name, end)
        assert samples.render_feed(name, start) != samples.render_feed(name, NOW + timedelta(hours=1))


def test_a_naive_time_is_refused() -> None:
    with pytest.raises(ValueError, match="naive"):
        samples.render_feed("harbor-ledger.rss", NOW.replace(tzinfo=None))


def test_a_name_that_is_no_sample_is_refused() -> None:
    with pytest.raises(KeyError):
        samples.render_feed("../sources.json", NOW)


@pytest.mark.parametrize("now", MOMENTS)
def test_the_carriers_of_a_story_publish_within_one_hour_and_day(now: datetime) -> None:
    times: defaultdict[str, set[datetime]] = defaultdict(set)
    for name in samples.feed_names():
        for story, (_, published) in zip(samples.stories_of(name), entries(name, now), strict=True):
            if published is not None:
                times[story].add(published)
    for article in json.loads((samples.FOLDER / "tiingo.json").read_text()):
        rendered = next(a for a in samples.tiingo_news(now) if a["url"].endswith("/" + article["_story"]))
        times[article["_story"]].add(datetime.fromisoformat(rendered["publishedDate"]))

    assert all(max(t) - min(t) < timedelta(hours=1) for t in times.values())
    assert all(len({moment.astimezone(UTC).date() for moment in t}) == 1 for t in times.values())


def test_entry_ids_are_unique_and_change_with_the_edition() -> None:
    ids: Counter[str] = Counter()
    for now in (NOW, NOW + timedelta(days=1)):
        for name in samples.feed_names():
            body = samples.render_feed(name, now)
            if name.endswith(".json"):
                ids.update(item["id"] for item in json.loads(body)["items"])
            else:
                ids.update(entry.get("id") or entry.link for entry in feedparser.parse(body).entries)

    assert set(ids.values()) == {1}
    assert len(ids) == 2 * samples.expected().entries


def test_an_edit_changes_one_headline_and_nothing_else() -> None:
    changed = [
        (before, after)
        for name in samples.feed_names()
        for before, after in zip(entries(name, NOW), entries(name, NOW, edited=True), strict=True)
        if before != after
    ]

    assert len(changed) == 1
    (before, published), (after, published_after) = changed[0]
    assert before != after
    assert published == published_after


def test_exactly_one_entry_has_no_date() -> None:
    undated = [title for name in samples.feed_names() for title, date in entries(name, NOW) if date is None]

    assert undated == ["Reader mail: how we keep score of forecasts"]


def test_headlines_of_shared_stories_vary_as_those_of_real_publishers_do() -> None:
    titles = [title for name in samples.feed_names() for title, _ in entries(name, NOW)]
    all_titles = "\n".join(titles)

    for mark in (
        "UPDATE 1-",
        "BREAKING:",
        "EXCLUSIVE:",
        "CORRECTED-",
        " - Harbor Ledger",
        " | Harbor Ledger",
    ):
        assert mark in all_titles
    for mark in ("’", "'", " – ", " — ", "ＡＩ", "1.5%", "15%", "+3%", "-3%", "C++", "HALCYON ROBOTICS"):
        assert mark in all_titles
    assert any(not unicodedata.is_normalized("NFC", title) for title in titles), "a decomposed headline"


def test_the_expected_counts_agree_with_what_is_rendered() -> None:
    result = samples.expected()

    assert result.per_source == {
        source.source_id: len(entries(name, NOW))
        for name, source in zip(
            samples.feed_names(), samples.sample_sources("http://127.0.0.1:1"), strict=True
        )
    }
    assert result.entries == sum(result.per_source.values()) == 99
    assert result.articles == 71
    assert result.entries == result.articles + result.merges + result.repeats
    assert result.repeats == 1
    assert result.carriers["northwind-foundry"] == {
        "harbor-ledger",
        "meridian-wire",
        "northern-ticker",
        "signal-digest",
    }


def test_the_expected_counts_of_the_apis_agree_with_their_answers() -> None:
    tickers = sorted(samples.COMPANIES)
    day, week = NOW.date(), NOW.date() - timedelta(days=7)

    result = samples.expected(tiingo=tickers, finnhub=tickers)

    tiingo = [
        a for t in tickers for a in samples.tiingo_news(NOW, tickers=[t], start=week, end=day, limit=50)
    ]
    finnhub = [a for t in tickers for a in samples.finnhub_company_news(NOW, symbol=t, start=week, end=day)]
    assert result.per_source["tiingo"] == len(tiingo)
    assert result.per_source["finnhub"] == len(finnhub)
    assert result.articles > samples.expected().articles, "stories that only the APIs have"
    assert result.carriers["northwind-foundry"] >= {"tiingo", "finnhub", "harbor-ledger"}
    assert result.carriers["api-northwind-buyback"] == {"tiingo", "finnhub"}


def test_the_sample_sources_can_be_registered() -> None:
    sources = samples.sample_sources("http://127.0.0.1:8460/")

    assert len({source.source_id for source in sources}) == len(sources)
    assert sources[0].url == "http://127.0.0.1:8460/feeds/harbor-ledger.rss"
    assert all(source.kind == "feed" and source.name and source.tags for source in sources)
    assert {api.kind for api in samples.sample_api_sources("http://127.0.0.1:8460")} == {
        "tiingo",
        "finnhub",
    }


def test_every_publisher_is_invented() -> None:
    for path in [
        *samples.FEEDS_FOLDER.iterdir(),
        samples.FOLDER / "tiingo.json",
        samples.FOLDER / "finnhub.json",
    ]:
        hosts = set(re.findall(r"https?://([^/\"<\s]+)", Path(path).read_text(encoding="utf-8")))
        standards = {"www.w3.org", "purl.org", "jsonfeed.org"}
        assert all(host.endswith(".example") for host in hosts - standards), path.name


def test_the_sample_news_speak_of_at_least_ten_subjects_that_are_loaded() -> None:
    """So that the first evening has a chart, a cache and numbers."""
    matcher = Matcher([*default_subjects(), *samples.sample_subjects()])
    headlines = [title for name in samples.feed_names() for title, _ in entries(name, NOW)]
    headlines += [str(item["title"]) for item in samples.tiingo_news(NOW)]
    counts = Counter(tool_id for title in headlines for tool_id in matcher.find(title))
    assert len([tool_id for tool_id, count in counts.items() if count >= 2]) >= 10, counts


def test_the_subjects_of_the_samples_stand_beside_the_default_ones() -> None:
    own, default = samples.sample_subjects(), default_subjects()
    assert {subject.ticker for subject in own} == set(samples.COMPANIES)
    assert not {subject.tool_id for subject in own} & {subject.tool_id for subject in default}
    assert not {subject.ticker for subject in own} & {subject.ticker for subject in default}
