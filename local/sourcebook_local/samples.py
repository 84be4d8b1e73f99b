"""The sample news of the project, and the expected result of a run over them.

The files under ``samples/`` are templates. Every item names its story, in an attribute (``story``,
``_story``) that is dropped when it is rendered; `expected` counts those, so it says what a run must come to
without knowing any rule of normalization. Placeholders in double braces:

=================================  ==========================================================================
``-3h+12m iso``                    12 minutes into the hour that began 3 hours before now. All carriers of a
                                   story share its hour, so no story ever has two publish days. Forms:
                                   ``iso``, ``iso_us`` (microseconds), ``rfc822``, ``epoch`` (a number), the
                                   first three optionally with a zone: ``-3h+12m rfc822 +0700``
``edition``                        the day of now, ``20261127``: a later one has ids and links of its own
``id 7``                           a number made of the edition and 7
``first:A||edited:B``              A, and after the publisher edited it, B
=================================  ==========================================================================
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote
from xml.etree import ElementTree as ET

from sourcebook.clock import epoch_seconds, to_utc
from sourcebook.records.subject import Subject
from sourcebook.sources.model import SourceSpec

FOLDER: Final = Path(__file__).parent / "samples"
FEEDS_FOLDER: Final = FOLDER / "feeds"

TIINGO_PATH: Final = "/tiingo/news"
FINNHUB_PATH: Final = "/finnhub/api/v1/company-news"

API_KEYS: Final[Mapping[str, str]] = MappingProxyType(
    {"tiingo": "sample-tiingo-key", "finnhub": "sample-finnhub-key"}
)
"""The keys that the sample servers take; no secrets, for they open only the samples."""

COMPANIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ASTH": "Aster Health",
        "BRSL": "Bramble Solar",
        "CBPY": "Cobalt Pay",
        "FRDY": "Ferrous Dynamics",
        "GLWG": "Glasswing Games",
        "HLCR": "Halcyon Robotics",
        "LMNB": "Lumen Bank",
        "NWSX": "Northwind Semiconductor",
        "ORBQ": "Orbita",
        "TDWE": "Tidewater Energy",
        "VRDM": "Verdant Motors",
    }
)
"""The companies of the sample news by ticker; companies and tickers are invented."""

_PLACEHOLDER = re.compile(r"\{\{(.+?)\}\}")
_MOMENT = re.compile(r"-(\d{1,2})h\+([0-5]?\d)m (iso|iso_us|rfc822|epoch)(?: ([+-]\d{4}))?")
_STORY_ATTRIBUTE = re.compile(r'(<(?:item|entry)\b[^>]*?) story="[a-z0-9-]+"')


@dataclass(frozen=True, slots=True)
class Expected:
    """The expected result of one run over the samples, counted from the templates.

    Attributes:
        entries: items in all answers together; an API item counts once per ticker asked.
        articles: different stories, so articles in the table.
        merges: times a further source was added to a story that another source had brought.
        repeats: items whose own source had reported the story already; they change no count of articles.
        multi_source_articles: articles that end with more than one source.
        per_source: entries by source id.
        carriers: source ids by story.
    """

    entries: int
    articles: int
    merges: int
    repeats: int
    multi_source_articles: int
    per_source: Mapping[str, int]
    carriers: Mapping[str, frozenset[str]]


def edition_hour(now: datetime) -> datetime:
    """Return the hour that `now` is in: the samples change with it and not in between."""
    return to_utc(now).replace(minute=0, second=0, microsecond=0)


def feed_names() -> list[str]:
    """Return the file names of the sample feeds, in the order of ``sources.json``."""
    return [entry["file"] for entry in _catalogue()]


def render_feed(name: str, now: datetime, *, edited: bool = False) -> bytes:
    """Render one sample feed.

    Args:
        name: one of `feed_names`.
        now: the present, aware; only its hour matters.
        edited: give the version after its publisher has edited a headline.

    Raises:
        KeyError: if there is no such sample feed.
        ValueError: if `now` is naive or the template has an unknown placeholder.
    """
    if name not in feed_names():
        raise KeyError(name)
    template = (FEEDS_FOLDER / name).read_text(encoding="utf-8")
    if name.endswith(".json"):
        document = json.loads(template)
        rendered = json.dumps(_render_json(document, now, edited=edited), ensure_ascii=False, indent=2) + "\n"
    else:
        rendered = str(_render_text(_STORY_ATTRIBUTE.sub(r"\1", template), now, edited=edited))
    return rendered.encode()


def sample_sources(base_url: str) -> list[SourceSpec]:
    """Return the declarations of the sample feeds.

    Args:
        base_url: where the sample server listens, e.g. ``http://127.0.0.1:8460``.
    """
    return [
        SourceSpec(
            source_id=entry["source_id"],
            kind="feed",
            url=f"{base_url.rstrip('/')}/feeds/{quote(entry['file'])}",
            name=entry["name"],
            priority=entry["priority"],
            tags=tuple(entry["tags"]),
        )
        for entry in _catalogue()
    ]


def sample_subjects() -> list[Subject]:
    """Return the companies of the sample news as subjects: their sentiment shows from the first run on."""
    return [Subject(ticker, name, "company", ticker=ticker) for ticker, name in COMPANIES.items()]


def secret_name(kind: str) -> str:
    """Return the name of the secret that holds the key of a sample news API."""
    return f"sourcebook/{kind}"


def sample_api_sources(base_url: str) -> list[SourceSpec]:
    """Return the declarations of the two sample news APIs; their keys are in `API_KEYS`."""
    base = base_url.rstrip("/")
    return [
        SourceSpec(
            source_id=kind,
            kind=kind,
            url=f"{base}{path}",
            name=f"{kind.capitalize()} (sample)",
            priority=priority,
            tags=("api",),
            options={"tickers": sorted(COMPANIES), "secret": secret_name(kind)},
        )
        for kind, path, priority in (("tiingo", TIINGO_PATH, 15), ("finnhub", FINNHUB_PATH, 16))
    ]


def tiingo_news(
    now: datetime,
    *,
    tickers: Iterable[str] = (),
    start: date | None = None,
    end: date | None = None,
    limit: int = 100,
    offset: int = 0,
) -> list[dict[str, Any]]:
    """Answer as Tiingo's news endpoint does: newest first, fields as its documentation lists them.

    Args:
        now: the present, aware; only its hour matters.
        tickers: an article is given if it is tagged with any of them; none means all articles.
        start: first publish day (UTC).
        end: last publish day (UTC), inclusive.
        limit: most articles to give.
        offset: articles to pass over.
    """
    wanted = {ticker.lower() for ticker in tickers}
    found = [
        article
        for article in _render_json(_api_template("tiingo"), now)
        if (not wanted or wanted & set(article["tickers"]))
        and _within(datetime.fromisoformat(article["publishedDate"]), start, end)
    ]
    found.sort(key=lambda article: str(article["publishedDate"]), reverse=True)
    return found[offset : offset + limit]


def finnhub_company_news(now: datetime, *, symbol: str, start: date, end: date) -> list[dict[str, Any]]:
    """Answer as Finnhub's company news does: newest first, ``related`` is the symbol asked for.

    Args:
        now: the present, aware; only its hour matters.
        symbol: one ticker.
        start: first publish day (UTC).
        end: last publish day (UTC), inclusive.
    """
    wanted = symbol.upper()
    kept = [item for item in _api_template("finnhub") if wanted in item["_symbols"]]
    found = [
        dict(sorted((item | {"related": wanted}).items()))
        for item in _render_json(kept, now)
        if _within(datetime.fromtimestamp(item["datetime"], UTC), start, end)
    ]
    return sorted(found, key=lambda item: int(item["datetime"]), reverse=True)


def expected(*, tiingo: Sequence[str] = (), finnhub: Sequence[str] = ()) -> Expected:
    """Count the expected result of one run from the templates.

    Args:
        tiingo: tickers that are asked of the sample Tiingo, each in a call of its own; none: not asked.
        finnhub: the same for Finnhub.
    """
    reports = [(entry["source_id"], story) for entry in _catalogue() for story in stories_of(entry["file"])]
    for kind, tickers in (("tiingo", tiingo), ("finnhub", finnhub)):
        reports += [
            (kind, item["_story"])
            for ticker in tickers
            for item in _api_template(kind)
            if ticker.upper() in {known.upper() for known in item.get("_symbols", item.get("tickers", ()))}
        ]
    carriers: defaultdict[str, set[str]] = defaultdict(set)
    for source_id, story in reports:
        carriers[story].add(source_id)
    pairs = len(set(reports))
    return Expected(
        entries=len(reports),
        articles=len(carriers),
        merges=pairs - len(carriers),
        repeats=len(reports) - pairs,
        multi_source_articles=sum(len(sources) > 1 for sources in carriers.values()),
        per_source=dict(Counter(source_id for source_id, _ in reports)),
        carriers={story: frozenset(sources) for story, sources in carriers.items()},
    )


def stories_of(name: str) -> list[str]:
    """Return the story of each entry of a sample feed, in the order of the file.

    Raises:
        ValueError: if an entry names no story.
    """
    template = (FEEDS_FOLDER / name).read_text(encoding="utf-8")
    if name.endswith(".json"):
        stories = [item.get("_story") for item in json.loads(template)["items"]]
    else:
        # The templates are this project's own files, not something that came from outside.
        entries = ET.fromstring(template).iter()  # noqa: S314
        stories = [e.get("story") for e in entries if e.tag.rpartition("}")[2] in {"item", "entry"}]
    named = [story for story in stories if story]
    if len(named) != len(stories):
        raise ValueError(f"{name}: {len(stories) - len(named)} entries name no story; give each a story id")
    return named


def _catalogue() -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads((FOLDER / "sources.json").read_text(encoding="utf-8"))
    return entries


def _api_template(kind: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = json.loads((FOLDER / f"{kind}.json").read_text(encoding="utf-8"))
    return items


def _within(moment: datetime, start: date | None, end: date | None) -> bool:
    day = to_utc(moment).date()
    return (start is None or start <= day) and (end is None or day <= end)


def _render_json(value: Any, now: datetime, *, edited: bool = False) -> Any:  # noqa: ANN401 - JSON
    """Render every string of a JSON document and drop the keys that are the templates' own."""
    match value:
        case dict():
            kept = {key: member for key, member in value.items() if not key.startswith("_")}
            return {key: _render_json(member, now, edited=edited) for key, member in kept.items()}
        case list():
            return [_render_json(member, now, edited=edited) for member in value]
        case str():
            return _render_text(value, now, edited=edited)
        case _:
            return value


def _render_text(text: str, now: datetime, *, edited: bool) -> str | int:
    """Fill the placeholders of a text; a text that is one placeholder for a number becomes that number."""
    hour = edition_hour(now)
    alone = _PLACEHOLDER.fullmatch(text)
    if alone:
        return _fill(alone[1], hour, edited=edited)
    return _PLACEHOLDER.sub(lambda found: str(_fill(found[1], hour, edited=edited)), text)


def _fill(placeholder: str, hour: datetime, *, edited: bool) -> str | int:
    if placeholder == "edition":
        return f"{hour:%Y%m%d}"
    if placeholder.startswith("id "):
        return hour.toordinal() * 100 + int(placeholder.removeprefix("id "))
    if placeholder.startswith("first:"):
        first, _, later = placeholder.removeprefix("first:").partition("||edited:")
        return later if edited else first
    found = _MOMENT.fullmatch(placeholder)
    if not found:
        raise ValueError(f"unknown placeholder {placeholder!r} in a sample template")
    moment = hour - timedelta(hours=int(found[1])) + timedelta(minutes=int(found[2]))
    if found[3] == "epoch":
        return epoch_seconds(moment)
    if found[4]:
        moment = moment.astimezone(datetime.strptime(found[4], "%z").tzinfo)
    if found[3] == "rfc822":
        return format_datetime(moment, usegmt=moment.tzinfo is UTC)
    timespec = "microseconds" if found[3] == "iso_us" else "seconds"
    text = moment.isoformat(timespec=timespec)
    return text if found[4] else text.replace("+00:00", "Z")
