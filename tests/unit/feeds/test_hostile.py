"""Inputs made to hurt: each ends soon, with a clear cause, and the next feed is unharmed."""

from __future__ import annotations

import time
from typing import Literal

import pytest

from sourcebook.feeds.marks import marks_of
from sourcebook.feeds.model import Cause, NotAFeed, ParsedFeed
from sourcebook.feeds.parse import parse_feed
from sourcebook.feeds.text import text_of
from tests.unit.feeds.documents import URL, entry_of, rss

Mode = Literal["fast", "reference"]
MODES: list[Mode] = ["fast", "reference"]
MANY = 100_000
START = "<title>t</title><guid>1</guid><description>"
END = "</description>"

_NESTED = "".join(f'<!ENTITY b{n} "{f"&b{n - 1};" * 10}">' for n in range(1, 10))
BOMB = f'<!DOCTYPE rss [<!ENTITY b0 "ha">{_NESTED}]>'
QUADRATIC = f'<!DOCTYPE rss [<!ENTITY a "{"A" * 50_000}">]>'
EXTERNAL = '<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]>'


def _bounded(body: bytes, mode: Mode = "fast", seconds: float = 2.0) -> ParsedFeed | Cause:
    """Parse and read every text; fail when it takes more CPU time. Return the cause of a refusal."""
    started = time.process_time()
    try:
        parsed: ParsedFeed | Cause = parse_feed(body, url=URL, mode=mode)
        assert isinstance(parsed, ParsedFeed)
        for entry in parsed.entries[:20]:
            text_of(entry.summary)
            marks_of([entry])
    except NotAFeed as refusal:
        parsed = refusal.cause
    assert time.process_time() - started < seconds
    assert entry_of(rss("<title>next</title><guid>1</guid>")).title == "next"
    return parsed


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("declaration", "text"), [(BOMB, "&b9;"), (QUADRATIC, "&a;" * 20_000), (EXTERNAL, "&x;")]
)
def test_entities_that_grow_or_read_elsewhere_are_refused(declaration: str, text: str, mode: Mode) -> None:
    body = rss(f"{START}{text}{END}", declaration=declaration)

    assert _bounded(body, mode) is Cause.ENTITIES_REFUSED


@pytest.mark.parametrize("declaration", [BOMB, EXTERNAL, '<!DOCTYPE rss SYSTEM "http://127.0.0.1/x.dtd">'])
def test_declarations_that_nothing_uses_are_harmless(declaration: str) -> None:
    parsed = _bounded(rss(f"{START}x{END}", declaration=declaration))

    assert isinstance(parsed, ParsedFeed)
    assert parsed.entries[0].summary == "x"


def test_short_plain_entities_are_put_in() -> None:
    entry = entry_of(rss(f"{START}&dash;{END}", declaration='<!DOCTYPE rss [<!ENTITY dash "&#8212;">]>'))

    assert entry.summary == "—"


def test_a_table_of_entities_without_end_is_refused() -> None:
    body = b"<!DOCTYPE rss [" + b'<!ENTITY a "x">' * 300_000 + b"]><rss>&a;</rss>"

    assert _bounded(body) is Cause.ENTITIES_REFUSED


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "inner",
    [
        f"{START}{'<div>' * MANY}{'</div>' * MANY}{END}",
        f"{START}{'<div>' * MANY}{END}",
        f"<title>t</title><guid>1</guid><x>{'<y>' * MANY}{'</y>' * MANY}</x>",
        "<item>" * MANY,
    ],
    ids=["closed", "unclosed", "unknown", "items"],
)
def test_100_000_nested_tags_are_refused(inner: str, mode: Mode) -> None:
    assert _bounded(rss(inner), mode) is Cause.TOO_DEEP


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "text", [f"<![CDATA[{'<div>' * MANY}]]>", "&lt;div&gt;" * MANY], ids=["cdata", "escaped"]
)
def test_100_000_nested_tags_in_text_are_only_text(text: str, mode: Mode) -> None:
    parsed = _bounded(rss(f"{START}{text}{END}"), mode, seconds=4.0)

    assert isinstance(parsed, ParsedFeed)
    assert parsed.entries[0].title == "t"


@pytest.mark.parametrize("text", ["a" * 10_000_000, "&amp;lt;" * 1_250_000, "word " * 2_000_000])
def test_a_title_of_10_megabytes_is_cut(text: str) -> None:
    parsed = _bounded(rss(f"<title>{text}</title><guid>1</guid>", "<title>next</title><guid>2</guid>"))

    assert isinstance(parsed, ParsedFeed)
    assert len(parsed.entries[0].title) <= 1_000
    assert parsed.entries[1].title == "next"
    assert any("cut" in warning for warning in parsed.warnings)


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        (b"", Cause.EMPTY),
        (b" \n" * 2_000_000, Cause.EMPTY),
        (b"\x00" * 5_000_000, Cause.EMPTY),
        (b"<" * 10_000_000, Cause.TRUNCATED),
        (b"&" * 10_000_000, Cause.NOT_A_FEED),
        (b"<?" * 3_000_000, Cause.TRUNCATED),
        (b"<!--" * 2_000_000, Cause.TRUNCATED),
        (b"<!-- -->" * 1_000_000 + b"<rss></rss>", Cause.TOO_MANY_ELEMENTS),
        (b"hello", Cause.NOT_A_FEED),
        (b"<opml version='2.0'></opml>", Cause.NOT_A_FEED),
        (b"<!doctype html><html><body><p>Hello</body></html>", Cause.HTML_PAGE),
        (b"<HTML><HEAD><TITLE>x</TITLE></HEAD></HTML>", Cause.HTML_PAGE),
        (b"<?xml version='1.0'?><rss><channel><title>x</ti", Cause.TRUNCATED),
        (b"<!DOCTYPE rss [<!ENTITY a", Cause.TRUNCATED),
        (rss("<a/>" * 1_000_000), Cause.TOO_MANY_ELEMENTS),
        (b"[" * 1_000_000, Cause.TOO_DEEP),
        (b'{"items":' + b"[" * MANY + b"]" * MANY + b"}", Cause.TOO_DEEP),
        (b'{"items":[],"n":' + b"9" * 1_000_000 + b"}", Cause.PARSE_FAILED),
        (b'{"version":"https://jsonfeed.org/version/1","items":[{"id":"1', Cause.TRUNCATED),
        (b'{"items":[}', Cause.PARSE_FAILED),
        (b'{"error":"not found"}', Cause.NOT_A_FEED),
        (b"[1, 2]", Cause.NOT_A_FEED),
    ],
)
def test_what_is_no_feed_says_why(body: bytes, cause: Cause) -> None:
    assert _bounded(body) is cause


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "inner",
    [
        f"{START}{'&' * 200_000}{END}",
        f"{START}{'<' * 100_000}{END}",
        f"{START}{'<a' * 50_000}{END}",
        f"{START}{'<!' * 50_000}{END}",
        f"{START}{'<!--' * 50_000}{END}",
        f"{START}{'<![CDATA[' * 50_000}{END}",
        f"<{'a' * 3_000_000}>",
        "<item " + " ".join(f"a{n}='1'" for n in range(MANY)) + ">",
        f"{START}{'<b></i>' * 8_000}{END}",
        "".join(f"<category>{n}</category>" for n in range(8_000)) + "<b></i>",
        f"{START}&#{'9' * 1_000_000};{END}",
        f"{START}{'&#0;' * 100_000}{END}",
        f"<title>t</title><guid>1</guid><itunes:keywords>{',' * 1_000_000}</itunes:keywords>",
    ],
    ids=["amps", "angles", "tags", "bangs", "comments", "cdata", "name", "attributes", "soup", "categories",
         "reference", "references", "keywords"],
)  # fmt: skip
def test_damage_made_to_be_slow_is_bounded(inner: str, mode: Mode) -> None:
    _bounded(rss(inner), mode, seconds=5.0)


def test_namespaces_of_a_megabyte_cost_nothing() -> None:
    body = f'<rss xmlns:x="{"u" * 1_000_000}"><channel>{"<x:a/>" * 100_000}</channel></rss>'

    assert isinstance(_bounded(body.encode()), ParsedFeed)


@pytest.mark.parametrize("name", ["utf-7", "unicode_escape", "rot13", "zip", "idna", "no-such-thing"])
def test_codecs_that_are_no_charsets_are_not_used(name: str) -> None:
    body = (
        rss("<title>caf\u00e9 +ADw-b+AD4-</title><guid>1</guid>", declaration="").decode().encode("latin-1")
    )

    parsed = _bounded(f'<?xml version="1.0" encoding="{name}"?>'.encode() + body)

    assert isinstance(parsed, ParsedFeed)
    assert parsed.entries[0].title.endswith("+ADw-b+AD4-")


def test_lone_surrogates_and_controls_in_json_are_dropped() -> None:
    body = b'{"version":"https://jsonfeed.org/version/1","items":[{"id":"1","title":"a\\ud800b\\u0000"}]}'

    parsed = _bounded(body)

    assert isinstance(parsed, ParsedFeed)
    assert parsed.entries[0].title == "ab"


@pytest.mark.parametrize(
    "unit", ["<", "<a ", "<!--", "&", "&#x", "<script>", "<a href='", "</", "&lt;", "&#9", "<!["]
)
def test_text_of_any_markup_takes_linear_time(unit: str) -> None:
    started = time.process_time()

    text_of(unit * 300_000)

    assert time.process_time() - started < 2


def test_of_very_many_items_the_first_are_looked_at_and_the_others_counted() -> None:
    feed = parse_feed(
        b"<rss><channel>" + b"<item><title>a</title></item>" * 60_000 + b"</channel></rss>", url=""
    )
    assert len(feed.entries) == 2_000
    assert feed.left_out == {"over_the_limit": 58_000}
    assert any("more than 50000 items" in warning for warning in feed.warnings)


@pytest.mark.parametrize(
    "body", [b"<rss><channel>" + b"<item/>" * 3 + b"</channel></rss>", b'{"items": [{}, {}, {}]}']
)
def test_empty_items_are_reported(body: bytes) -> None:
    feed = parse_feed(body, url="")
    assert [(s.position, s.reason) for s in feed.skipped] == [
        (n, "it has neither a title nor a text") for n in range(3)
    ]
