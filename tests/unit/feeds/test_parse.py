"""The formats, the hints, and what `parse_feed` promises about every feed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Literal

import pytest

from sourcebook.feeds.hints import FeedHints
from sourcebook.feeds.model import Cause, NotAFeed
from sourcebook.feeds.parse import describe, parse_feed
from sourcebook.feeds.text import text_of
from tests.unit.feeds.documents import URL, atom, both_ways, entries_of, entry_of, rss

WHEN = datetime(2026, 11, 27, 21, 56, tzinfo=UTC)
STAMP = "Fri, 27 Nov 2026 21:56:00 GMT"


def test_an_rss_item_gives_all_its_fields() -> None:
    body = rss(
        f"<title>Ferry &amp;amp; bridge</title><link>https://news.example/1</link><guid>n-1</guid>"
        f"<pubDate>{STAMP}</pubDate><description>&lt;p&gt;Short&lt;/p&gt;</description>"
        "<content:encoded><![CDATA[<p>Long</p>]]></content:encoded><dc:creator>Ann</dc:creator>"
        "<category>sea</category><category>sea</category><category>port</category>"
        '<enclosure url="https://news.example/1.mp3" type="audio/mpeg" length="1"/>',
        channel="<language>en-gb</language>",
    )

    for parsed in both_ways(body):
        assert (parsed.title, parsed.link, parsed.language) == (
            "Harbour News",
            "https://news.example/",
            "en-gb",
        )
        (entry,) = parsed.entries
        assert entry.title == "Ferry & bridge"
        assert entry.link == "https://news.example/1"
        assert entry.id == "n-1"
        assert entry.published == WHEN
        assert entry.updated is None
        assert entry.summary == "<p>Short</p>"
        assert entry.content == "<p>Long</p>"
        assert entry.author == "Ann"
        assert entry.categories == ("sea", "port")
        assert entry.enclosure == "https://news.example/1.mp3"


def test_an_atom_entry_gives_all_its_fields() -> None:
    body = atom(
        '<title type="html">A &amp;lt;i&amp;gt;word&amp;lt;/i&amp;gt;</title><id>urn:1</id>'
        '<link rel="alternate" href="/1"/><published>2026-11-27T21:56:00Z</published>'
        "<updated>2026-11-28T00:00:00+01:00</updated><summary>Short</summary>"
        '<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">'
        "<p>Long &amp; <b>bold</b></p></div></content>"
        '<author><name>Ann</name><email>a@news.example</email></author><category term="sea"/>',
    )

    (entry,) = parse_feed(body, url=URL).entries

    assert entry.link == "https://news.example/1"
    assert entry.id == "urn:1"
    assert entry.published == WHEN
    assert entry.updated == datetime(2026, 11, 27, 23, tzinfo=UTC)
    assert entry.summary == "Short"
    assert entry.content == "<p>Long &amp; <b>bold</b></p>"
    assert entry.author == "Ann"
    assert entry.categories == ("sea",)


def test_rdf_items_beside_the_channel_are_read() -> None:
    body = b"""<?xml version="1.0"?>
    <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
      xmlns:dc="http://purl.org/dc/elements/1.1/">
    <channel rdf:about="https://news.example/"><title>Harbour</title><link>https://news.example/</link>
    <items><rdf:Seq><rdf:li resource="https://news.example/1"/></rdf:Seq></items></channel>
    <item rdf:about="https://news.example/1"><title>One</title><link>https://news.example/1</link>
    <dc:date>2026-11-27T21:56:00Z</dc:date></item></rdf:RDF>"""

    for parsed in both_ways(body):
        (entry,) = parsed.entries
        assert (entry.id, entry.title, entry.updated) == ("https://news.example/1", "One", WHEN)


def test_atom_0_3_is_read() -> None:
    body = b"""<feed version="0.3" xmlns="http://purl.org/atom/ns#"><title>Old</title>
    <entry><title>One</title><id>x</id><link rel="alternate" type="text/html" href="https://news.example/1"/>
    <issued>2026-11-27T21:56:00Z</issued><modified>2026-11-27T21:56:00Z</modified></entry></feed>"""

    entry = entry_of(body)

    assert (entry.link, entry.published, entry.updated) == ("https://news.example/1", WHEN, WHEN)


@pytest.mark.parametrize("version", ["https://jsonfeed.org/version/1", "https://jsonfeed.org/version/1.1"])
def test_json_feed_is_read(version: str) -> None:
    item = {
        "id": 7, "url": "/1", "title": "One", "content_html": "<p>Text</p>",
        "date_published": "2026-11-27T21:56:00Z", "authors": [{"name": "Ann"}], "tags": ["sea", "sea"],
        "attachments": [{"url": "/1.mp3"}], "language": "de",
    }  # fmt: skip
    feed = {
        "version": version,
        "title": "Harbour",
        "home_page_url": "https://news.example/",
        "items": [item, "x"],
    }

    parsed = parse_feed(json.dumps(feed).encode(), url=URL)

    assert parsed.parser == "json"
    (entry,) = parsed.entries
    assert (entry.id, entry.link, entry.enclosure) == (
        "7",
        "https://news.example/1",
        "https://news.example/1.mp3",
    )
    assert (entry.summary, entry.published, entry.author) == ("<p>Text</p>", WHEN, "Ann")
    assert entry.categories == ("sea",)
    assert [skipped.position for skipped in parsed.skipped] == [1]


def test_hints_of_the_publisher_are_numbers() -> None:
    body = rss(
        channel="<ttl>90</ttl><skipHours><hour>3</hour><hour>24</hour><hour>x</hour></skipHours>"
        "<skipDays><day>Sunday</day><day>monday</day></skipDays><sy:updatePeriod>Daily</sy:updatePeriod>"
        "<sy:updateFrequency>4</sy:updateFrequency>"
    )

    hints = parse_feed(body, url=URL).hints

    assert hints == FeedHints(minutes=360, skip={"hours": [0, 3], "days": [0, 6]})


def test_a_ttl_that_is_longer_than_the_period_counts() -> None:
    period = "<sy:updatePeriod>hourly</sy:updatePeriod><sy:updateFrequency>2</sy:updateFrequency>"
    for parsed in both_ways(rss(channel=f"<ttl>90</ttl>{period}")):
        assert parsed.hints == FeedHints(minutes=90)
    for parsed in both_ways(rss(channel=period)):
        assert parsed.hints == FeedHints(minutes=30)


@pytest.mark.parametrize("ttl", ["-5", "soon", "", "0", "99999999999999"])
def test_hints_without_sense_are_left_out(ttl: str) -> None:
    assert parse_feed(rss(channel=f"<ttl>{ttl}</ttl>"), url=URL).hints == FeedHints()


def test_a_feed_without_items_is_a_feed() -> None:
    for parsed in both_ways(rss()):
        assert parsed.entries == []
        assert parsed.cause is None


def test_the_link_does_not_become_a_script() -> None:
    entry = entry_of(rss("<title>x</title><guid>1</guid><link>javascript:alert(1)</link>"))

    assert entry.link == ""


def test_a_missing_title_is_derived_from_the_text() -> None:
    text = "word " * 60

    entry = entry_of(rss(f"<link>https://news.example/1</link><description>&lt;p&gt;{text}</description>"))

    assert entry.title_derived
    assert entry.title == ("word " * 20).strip()


def test_an_item_with_an_address_and_nothing_else_is_skipped_with_its_reason() -> None:
    parsed = parse_feed(rss("<link>https://news.example/1</link>", "<title>t</title><guid>2</guid>"), url=URL)

    assert [entry.id for entry in parsed.entries] == ["2"]
    assert parsed.skipped == [(0, "it has neither a title nor a text")]


def test_atom_text_titles_keep_their_angle_brackets() -> None:
    entry = entry_of(atom('<title type="text">Why &lt;b&gt; is bold</title><id>1</id>'))

    assert entry.title == "Why <b> is bold"


def test_rss_titles_lose_html_and_keep_what_only_looks_like_it() -> None:
    entry = entry_of(rss("<title>&lt;b&gt;List&lt;/b&gt;&lt;T&gt; and 3 &lt; 5</title><guid>1</guid>"))

    assert entry.title == "List<T> and 3 < 5"


def test_prefixes_bound_to_odd_addresses_are_read_by_convention() -> None:
    body = b"""<rss xmlns:content="http://purl.org/rss/1.0/modules/content" xmlns:dc="http://example.com/dc">
    <channel><item><guid>1</guid><title>t</title><dc:creator>Ann</dc:creator>
    <content:encoded>Long</content:encoded></item></channel></rss>"""

    entry = entry_of(body)

    assert (entry.author, entry.content) == ("Ann", "Long")


def test_a_prefix_of_their_own_for_a_known_namespace_is_understood() -> None:
    body = b"""<rss xmlns:a10="http://www.w3.org/2005/Atom" xmlns:x="http://purl.org/dc/elements/1.1/"><channel>
    <item><guid>1</guid><title>t</title><a10:updated>2026-11-27T21:56:00Z</a10:updated><x:creator>Ann</x:creator>
    </item></channel></rss>"""

    entry = entry_of(body)

    assert (entry.updated, entry.author) == (WHEN, "Ann")
    # The next document has its own prefixes.
    assert entry_of(rss("<guid>1</guid><title>t</title><x:creator>Bob</x:creator>")).author is None


def test_undeclared_prefixes_are_no_damage() -> None:
    parsed = parse_feed(
        b"<rss><channel><item><guid>1</guid><dc:title>t</dc:title></item></channel></rss>", url=URL
    )

    assert parsed.parser == "expat"
    assert parsed.entries[0].title == "t"


def test_entities_of_html_and_bare_ampersands_are_mended() -> None:
    parsed = parse_feed(rss("<title>Caf&eacute; D&D &#0; 1 < 2</title><guid>1</guid>"), url=URL)

    assert parsed.parser == "expat"
    assert parsed.entries[0].title == "Café D&D 1 < 2"
    assert any("mended" in warning for warning in parsed.warnings)


def test_what_expat_cannot_read_goes_to_feedparser() -> None:
    parsed = parse_feed(rss("<title>t</title><guid>1</guid><description><b>x</i></description>"), url=URL)

    assert parsed.parser == "feedparser"
    assert parsed.entries[0].id == "1"
    assert any("not well-formed" in warning for warning in parsed.warnings)


def test_a_cut_off_feed_keeps_the_entries_before_the_end() -> None:
    body = rss(*(f"<title>t{n}</title><guid>{n}</guid><description>text {n}</description>" for n in range(5)))

    parsed = parse_feed(body[: body.index(b"text 4") + 3], url=URL)

    assert parsed.cause is Cause.TRUNCATED
    assert [entry.id for entry in parsed.entries] == ["0", "1", "2", "3", "4"]
    assert parsed.entries[3].summary == "text 3"
    assert parsed.entries[4].summary == ""  # never half a text
    assert parsed.title == "Harbour News"


def test_text_around_the_document_is_ignored() -> None:
    body = b"<br/><b>Warning</b>: mysql\n" + rss("<title>t</title><guid>1</guid>") + b"<!-- x --><p>bye</p>"

    assert entry_of(body).id == "1"


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [("utf-16", "utf-16"), ("utf-16-le", "utf-16"), ("iso-8859-2", "iso-8859-2"),
     ("windows-1251", "windows-1251"), ("gb2312", "gb2312"), ("euc-jp", "euc-jp"), ("utf-8-sig", "utf-8"),
     ("iso-2022-jp", "iso-2022-jp")],
)  # fmt: skip
def test_declared_charsets_are_followed(encoding: str, declared: str) -> None:
    title = {"iso-8859-2": "žluťoučký", "windows-1251": "Новости", "gb2312": "新闻"}.get(encoding, "日本")
    text = rss(f"<title>{title}</title><guid>1</guid>", declaration="").decode()
    body = f'<?xml version="1.0" encoding="{declared}"?>{text}'.encode(encoding)

    assert entry_of(body).title == title


def test_utf_8_wins_over_a_wrong_header() -> None:
    body = rss("<title>Zürich – €</title><guid>1</guid>")

    parsed = parse_feed(body, url=URL, charset="iso-8859-1")

    assert parsed.entries[0].title == "Zürich – €"


def test_a_header_names_the_charset_of_a_document_that_does_not() -> None:
    body = rss("<title>Новости</title><guid>1</guid>", declaration="").decode().encode("koi8-r")

    assert parse_feed(body, url=URL, charset="koi8-r").entries[0].title == "Новости"


def test_text_encoded_twice_is_repaired() -> None:
    twice = "Ünï".encode().decode("latin-1")

    for parsed in both_ways(rss(f"<title>{twice}</title><guid>1</guid><description>It&#146;s</description>")):
        assert parsed.entries[0].title == "Ünï"
        assert parsed.entries[0].summary == "It’s"


def test_ids_are_the_same_both_ways_whatever_the_address_of_the_feed() -> None:
    body = atom(
        '<title>a</title><content type="html" xml:base="/rss?limit=1">x</content><id>t3_a</id>',
        "<title>b</title><id>t3_b</id><link href='b'/>",
    )

    fast, reference = both_ways(body)

    assert [entry.id for entry in fast.entries] == [entry.id for entry in reference.entries]
    moved = parse_feed(body, url="https://moved.example/")
    assert [entry.id for entry in fast.entries] == [entry.id for entry in moved.entries]


def test_describe_shows_the_words_of_the_source() -> None:
    parsed = parse_feed(
        rss(f"<link>https://news.example/1</link><pubDate>{STAMP}</pubDate><description>Text</description>"),
        url=URL,
    )

    shown = describe(parsed, "feed.xml")

    assert shown == {
        "file": "feed.xml",
        "parser": "expat",
        "cause": None,
        "message": None,
        "warnings": [],
        "skipped": [],
        "left_out": {},
        "title": "Harbour News",
        "link": "https://news.example/",
        "entries": [
            {
                "link": "https://news.example/1",
                "title": None,
                "published": int(WHEN.timestamp()),
                "id": None,
                "summary": "Text",
                "identity": "link:https://news.example/1",
                "headline": "Text",
            }
        ],
    }
    json.dumps(shown)


def test_describe_shows_why_there_is_no_feed() -> None:
    with pytest.raises(NotAFeed) as caught:
        parse_feed(b"", url=URL)

    shown = describe(caught.value, "feed.xml")

    assert (shown["cause"], shown["parser"], shown["entries"]) == ("empty", None, [])
    assert "try the address again" in shown["message"]


def test_text_is_plain_and_bounded() -> None:
    markup = (
        "<style>x{}</style><p>One<br>two <b>bo</b>ld &amp; &#8217;<script>evil()</script></p><!-- no -->three"
    )

    assert text_of(markup) == "One two bold & ’ three"
    assert text_of(markup, 8) == "One two"
    assert text_of("a < b and <3") == "a < b and <3"


def test_entries_keep_their_order() -> None:
    body = rss(*(f"<title>t</title><guid>{n}</guid>" for n in range(50)))

    assert [entry.id for entry in entries_of(body)] == [str(n) for n in range(50)]


@pytest.mark.parametrize("mode", ["fast", "reference"])
def test_both_parsers_warn_of_a_date_in_doubt(mode: Literal["fast", "reference"]) -> None:
    written = [f"Sat, 18 Mar 2023 20:21:00 {zone}" for zone in ("R", "XQZT")]
    items = [f"<title>a</title><guid>{date}</guid><pubDate>{date}</pubDate>" for date in written]
    feed = parse_feed(rss(*items), url=URL, mode=mode)
    assert [entry.published is None for entry in feed.entries] == [False, True]
    assert feed.warnings == [
        f"the date '{written[0]}' of item 0 is in doubt: its zone is the letter R, which is read as UTC",
        f"the date '{written[1]}' of item 1 cannot be read: nobody knows its zone",
    ]
