"""OPML in and out: what the versions say, and what feed readers write instead."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sourcebook.errors import InvalidInput
from sourcebook.feeds.opml import (
    OpmlFeed,
    clean_url,
    declaration,
    parse_opml,
    same_url,
    source_id_for,
    write_opml,
)
from sourcebook.sources.model import parse_spec
from sourcebook_cli.declarations import read_sources

NOW = datetime(2026, 11, 27, 21, 56, tzinfo=UTC)


def document(outlines: str, root: str = '<opml version="2.0">', head: str = '<?xml version="1.0"?>') -> str:
    return f"{head}{root}<head><title>Mine</title></head><body>{outlines}</body></opml>"


def urls(content: bytes | str) -> list[str]:
    return [feed.url for feed in parse_opml(content).feeds]


def test_folders_and_categories_become_tags() -> None:
    parsed = parse_opml(
        document(
            '<outline text="World  News"><outline text="Europe">'
            '<outline text="Harbor Ledger" xmlUrl="https://ledger.example/feed" category="/Ports,ships"/>'
            '</outline></outline><outline type="rss" title="Tide" text="t" xmlUrl="https://tide.example/atom"/>'
        )
    )
    assert parsed.problems == ()
    assert parsed.mended == ""
    ledger, tide = parsed.feeds
    assert (ledger.name, ledger.tags) == ("Harbor Ledger", ("Ports", "ships", "world news", "europe"))
    assert (tide.name, tide.tags) == ("Tide", ())


@pytest.mark.parametrize(
    "outline",
    [
        '<outline text="a" xmlUrl="https://a.example/feed"/>',
        '<outline type="RSS" text="a" xmlurl="https://a.example/feed"/>',
        '<OUTLINE TYPE="rss" TEXT="a" XMLURL=" https://a.example/feed "/>',
        '<outline type="rss" text="a" url="https://a.example/feed"/>',
        '<outline type="atom" text="a" xmlUrl="feed:https://a.example/feed"></outline>',
    ],
)
def test_an_outline_is_a_feed_whatever_it_is_called(outline: str) -> None:
    assert urls(document(outline)) == ["https://a.example/feed"]


def test_a_bare_ampersand_stands_for_itself() -> None:
    parsed = parse_opml(
        document(
            '<outline text="R & D &nbsp;&eacute; &unknown; &#x41;&#0;" xmlUrl="https://a.example/?x=1&y=2"/>'
        )
    )
    assert parsed.feeds[0].url == "https://a.example/?x=1&y=2"
    assert parsed.feeds[0].name == "R & D é &unknown; A"
    assert parsed.mended == ""


@pytest.mark.parametrize(
    "content",
    [
        document('<outline text=a xmlUrl=https://a.example/feed/><outline xmlUrl="https://b.example/"/>'),
        document(
            '<outline text="a" text="b" xmlUrl="https://a.example/feed/"/><outline xmlUrl="https://b.example/"/>'
        ),
        document('<outline xmlUrl="https://a.example/feed/"><outline xmlUrl="https://b.example/">'),
        document(
            '<outline text="1 < 2" xmlUrl="https://a.example/feed/"/><outline xmlUrl="https://b.example/"/>'
        ),
        '<opml><outline xmlUrl="https://a.example/feed/"/><outline xmlUrl="https://b.example/"/><outline te',
        document(
            '<outline xmlUrl="https://a.example/feed/"/></outline><outline xmlUrl="https://b.example/"/>'
        ),
    ],
    ids=["unquoted", "attribute-twice", "unclosed", "less-than", "truncated", "closed-twice"],
)
def test_what_is_not_well_formed_is_read_outline_by_outline(content: str) -> None:
    parsed = parse_opml(content)
    assert [feed.url.rstrip("/") for feed in parsed.feeds] == ["https://a.example/feed", "https://b.example"]
    assert parsed.mended


def test_folders_are_known_also_where_the_document_is_damaged() -> None:
    parsed = parse_opml(
        "<opml><body><outline text=News><outline xmlUrl='https://a.example/'/></outline>"
        "<outline xmlUrl='https://b.example/'/>"
    )
    assert [feed.tags for feed in parsed.feeds] == [("news",), ()]


TEXT = document('<outline text="Müller ąę" xmlUrl="https://a.example/"/>', head="{head}")


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"\xef\xbb\xbf" + TEXT.replace("{head}", '<?xml version="1.0"?>').encode(), "Müller ąę"),
        (b"\n \xef\xbb\xbf\n" + TEXT.replace("{head}", '<?xml version="1.0"?>').encode(), "Müller ąę"),
        (TEXT.replace("{head}", '<?xml version="1.0" encoding="iso-8859-1"?>').encode(), "Müller ąę"),
        (TEXT.replace("{head}", '<?xml version="1.0" encoding="utf-16"?>').encode(), "Müller ąę"),
        (TEXT.replace("{head}", '<?xml version="1.0" encoding="no-such"?>').encode(), "Müller ąę"),
        (TEXT.replace("{head}", '<?xml version="1.0" encoding="utf-8"?>').encode("utf-16"), "Müller ąę"),
        (TEXT.replace("{head}", "").encode("utf-16-le"), "Müller ąę"),
        (TEXT.replace("{head}", "").encode("utf-16-be"), "Müller ąę"),
        (TEXT.replace("{head}", '<?xml version="1.0"?>').encode("utf-32"), "Müller ąę"),
        (
            TEXT.replace("{head}", '<?xml version="1.0" encoding="iso-2022-jp"?>')
            .replace("Müller ąę", "日本")
            .encode("iso-2022-jp"),
            "日本",
        ),
        (TEXT.replace("{head}", "").encode().replace(b"ler", b"ler\xff"), "Müller\ufffd ąę"),
        (
            TEXT.replace("{head}", '<?xml version="1.0" encoding="iso-8859-2"?>').encode("iso-8859-2"),
            "Müller ąę",
        ),
        (TEXT.replace("{head}", "").replace(" ąę", "").encode("cp1252"), "Müller"),
        (
            TEXT.replace("{head}", '<?xml version="1.0" encoding="utf-8"?>')
            .replace(" ąę", "")
            .encode("cp1252"),
            "Müller",
        ),
    ],
)
def test_the_declared_encoding_is_only_a_hint(content: bytes, name: str) -> None:
    parsed = parse_opml(content)
    assert [feed.name for feed in parsed.feeds] == [name]


def test_one_bad_outline_is_reported_and_the_others_are_taken() -> None:
    parsed = parse_opml(
        document(
            '\n<outline type="rss" text="lost"/>'
            '\n<outline type="include" text="more" url="https://c.example/list.opml"/>'
            '\n<outline text="a note"/>'
            '\n<outline text="ok" xmlUrl="https://a.example/" sb:priority="high" sb:enabled="maybe"/>'
        ).replace('version="2.0"', 'version="2.0" xmlns:sb="urn:sourcebook:opml"')
    )
    assert [feed.url for feed in parsed.feeds] == ["https://a.example/"]
    assert [problem.line for problem in parsed.problems] == [2, 3, 5, 5]
    assert "xmlUrl: missing from the outline 'lost'" in parsed.problems[0].message
    assert "https://c.example/list.opml" in parsed.problems[1].message
    assert "'high'" in parsed.problems[2].message
    assert "'maybe'" in parsed.problems[3].message


def test_a_feed_that_is_listed_twice_is_one() -> None:
    assert urls(
        document(
            '<outline xmlUrl="https://A.example:443/feed"/><outline xmlUrl="https://a.example/feed#top"/>'
            '<outline xmlUrl="https://a.example/Feed"/>'
        )
    ) == ["https://A.example:443/feed", "https://a.example/Feed"]


@pytest.mark.parametrize(
    "content",
    [b"", "plain text", "<rss version='2.0'/>", b"\x89PNG\r\n\x1a\n", "<html><body>opml</body></html>"],
)
def test_what_is_not_opml_is_refused_by_name(content: bytes | str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_opml(content)
    assert refused.value.field == "opml"


@pytest.mark.parametrize(
    "content",
    [
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
        + "".join(f'<!ENTITY b{n} "{f"&b{n - 1};" * 10}">' for n in range(1, 12))
        + "]>"
        + document('<outline text="&b11;" xmlUrl="https://a.example/"/>', head=""),
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
        + document('<outline text="&a;" xmlUrl="https://a.example/"/>', head=""),
        document(
            '<outline text="f">' * 30_000 + '<outline xmlUrl="https://a.example/"/>' + "</outline>" * 30_000
        ),
        document('<outline text="f">' * 30_000 + '<outline xmlUrl="https://a.example/"/>'),
        document('<outline xmlUrl="https://a.example/"/>' + '<outline a="' * 50_000),
        document('<outline xmlUrl="https://a.example/"/><outline ' + "a" * 2_000_000),
        document('<outline xmlUrl="https://a.example/"/><outline ' + 'a=" ' * 100_000),
        document('<outline xmlUrl="https://a.example/"/>' + "&" * 1_000_000),
    ],
    ids=["entity-bomb", "file", "deep", "deep-unclosed", "quotes", "long-name", "spaces", "ampersands"],
)
def test_a_hostile_document_is_read_in_bounded_time(content: str) -> None:
    started = time.process_time()
    parsed = parse_opml(content)
    assert parsed.feeds[0].url == "https://a.example/"
    assert "root:" not in parsed.feeds[0].name
    assert len(parsed.feeds[0].name) <= 200
    assert time.process_time() - started < 5


FEEDS = [
    OpmlFeed(
        url="https://ledger.example/feed?a=1&b=<2>",
        name='The "Ledger" & Sons <b>',
        tags=("Ports", "a, b", "100%", "x/y"),
        feed_id="ledger",
        priority=5,
        enabled=False,
    ),
    OpmlFeed(url="https://tide.example/", feed_id="tide", priority=999, enabled=True),
]


def listed(content: bytes | str) -> list[OpmlFeed]:
    return [replace(feed, line=0) for feed in parse_opml(content).feeds]


def test_what_is_exported_is_read_back_as_it_was() -> None:
    written = write_opml(FEEDS, title="Mine & yours", now=NOW)
    root = ET.fromstring(written)  # noqa: S314 - our own
    assert root.get("version") == "2.0"
    assert root.findtext("head/title") == "Mine & yours"
    assert root.findtext("head/dateCreated") == "Fri, 27 Nov 2026 21:56:00 +0000"
    assert [outline.get("type") for outline in root.iter("outline")] == ["rss", "rss"]
    parsed = parse_opml(written.encode())
    assert parsed.problems == ()
    assert listed(written) == FEEDS
    assert [parse_spec(declaration(feed)).source_id for feed in parsed.feeds] == ["ledger", "tide"]


def test_version_1_keeps_addresses_and_names_and_nothing_of_ours() -> None:
    written = write_opml(FEEDS, title="Mine", now=NOW, version="1.0")
    assert '<opml version="1.0">' in written
    assert "sb:" not in written
    assert [(feed.url, feed.name) for feed in parse_opml(written).feeds] == [
        (feed.url, feed.name) for feed in FEEDS
    ]


def test_there_is_no_version_3() -> None:
    with pytest.raises(InvalidInput, match="version"):
        write_opml(FEEDS, title="Mine", now=NOW, version="3.0")


_words = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=40).map(
    lambda text: " ".join(text.split())
)


def as_legal(text: str) -> str:
    return " ".join(text.replace("\ufffe", "").replace("\uffff", "").split())


@settings(max_examples=60, deadline=None)
@given(
    names=st.lists(_words, min_size=1, max_size=5),
    tags=st.lists(_words.filter(lambda tag: tag and not tag.startswith("/")), max_size=3, unique=True),
)
def test_any_name_and_tag_survives_the_round_trip(names: list[str], tags: list[str]) -> None:
    given = [
        OpmlFeed(f"https://a.example/{number}", name, tuple(tags), f"feed-{number}", 1, enabled=True)
        for number, name in enumerate(names)
    ]
    legal_tags = tuple(filter(None, map(as_legal, tags)))
    legal = [replace(feed, name=as_legal(feed.name), tags=legal_tags) for feed in given]
    assert listed(write_opml(given, title="t", now=NOW)) == legal


def test_ids_are_stable_and_the_same_for_all_ways_to_write_a_url() -> None:
    assert source_id_for("https://www.harbor-ledger.example/feed.xml") == "harbor-ledger-example-5ee12787"
    same = {
        source_id_for(url)
        for url in (
            "https://News.example/feed",
            "HTTPS://news.example:443/feed",
            " https://news.example/feed#latest ",
            "feed:https://news.example/feed",
        )
    }
    assert len(same) == 1
    assert source_id_for("https://news.example/Feed") not in same
    assert source_id_for("http://news.example/feed") not in same


@pytest.mark.parametrize(
    "url", ["https://[::1/feed", "https://a:99999999/feed", "", "mailto:a@b", "https://ü.example/"]
)
def test_any_address_has_an_id_that_may_stand_in_a_key(url: str) -> None:
    spec = parse_spec({"source_id": source_id_for(url), "url": "https://a.example/"})
    assert spec.source_id == source_id_for(url)


@pytest.mark.parametrize(
    ("given_url", "expected"),
    [
        ("feed://a.example/x", "http://a.example/x"),
        ("feed:http://a.example/x", "http://a.example/x"),
        ("  https://a.example/x\n", "https://a.example/x"),
        ("feedback://a", "feedback://a"),
    ],
)
def test_urls_lose_the_scheme_that_browsers_made_up(given_url: str, expected: str) -> None:
    assert clean_url(given_url) == expected


def test_an_address_with_a_user_name_is_never_rewritten() -> None:
    assert same_url("https://u:p@A.example/") == "https://u:p@A.example/"


def test_a_file_of_sources_gives_what_can_be_taken_and_prints_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.opml"
    content = document(
        '\n<outline xmlUrl="ftp://a.example/"/>\n<outline xmlUrl="https://b.example/" text="ü"/>'
    )
    for encoding in ("utf-8-sig", "utf-16", "cp1252"):
        file.write_bytes(content.encode(encoding))
        (spec,) = read_sources(file)
        assert (spec.source_id, spec.name) == (source_id_for("https://b.example/"), "ü")
        assert "line 2: url: 'ftp://a.example/'" in capsys.readouterr().err
    file.write_text(document('<outline type="rss" text="none"/>'))
    with pytest.raises(InvalidInput, match="at least one source"):
        read_sources(file)
