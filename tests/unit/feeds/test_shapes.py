"""Shapes of real feeds that break readers, each with the outcome that is right."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Literal

import pytest

from sourcebook.feeds.marks import marks_of
from sourcebook.feeds.model import MOST_ENTRIES, Cause, NotAFeed
from sourcebook.feeds.parse import parse_feed
from tests.unit.feeds.documents import URL, atom, entries_of, entry_of, rss

ITEM = "<title>t</title><link>https://news.example/1</link><guid>1</guid>"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2016/6/29 15:07:41", datetime(2016, 6, 29, 15, 7, 41, tzinfo=UTC)),
        ("03 Sep 15 08:30:00 +0200", datetime(2015, 9, 3, 6, 30, tzinfo=UTC)),
        ("Mo, 07 Sep 2015 10:00:00 +0200", datetime(2015, 9, 7, 8, tzinfo=UTC)),
        ("Mon, 07 Sep 2015 10:00:00 MEST", datetime(2015, 9, 7, 8, tzinfo=UTC)),
        ("Mon, May 25 2020 10:11:12 GMT", datetime(2020, 5, 25, 10, 11, 12, tzinfo=UTC)),
        ("5 November 2025 - 09:01", datetime(2025, 11, 5, 9, 1, tzinfo=UTC)),
        ("Mon, 07 Sep 2015 10:00:00 EST", datetime(2015, 9, 7, 15, tzinfo=UTC)),
    ],
)
@pytest.mark.parametrize("mode", ["fast", "reference"])
def test_odd_dates_are_read(written: str, expected: datetime, mode: str) -> None:
    body = rss(f"{ITEM}<pubDate>{written}</pubDate>")

    parsed = parse_feed(body, url=URL, mode="fast" if mode == "fast" else "reference")

    assert parsed.entries[0].published == expected


def test_a_newline_before_the_declaration_is_no_complaint() -> None:
    parsed = parse_feed(b"\n\n" + rss(ITEM), url=URL)

    assert (len(parsed.entries), parsed.warnings, parsed.parser) == (1, [], "expat")


def test_a_few_bad_bytes_do_not_change_the_charset() -> None:
    body = rss("<title>Zürich, Genève, Łódź, bad: XX</title><guid>1</guid>").replace(b"XX", b"\xff\xe9")

    parsed = parse_feed(body, url=URL)

    assert parsed.entries[0].title == "Zürich, Genève, Łódź, bad: \ufffd\ufffd"
    assert any("not valid UTF-8" in warning for warning in parsed.warnings)


@pytest.mark.parametrize("content_first", [True, False])
def test_the_order_of_content_and_description_does_not_matter(content_first: bool) -> None:
    parts = ["<content:encoded>Long</content:encoded>", "<description>Short</description>"]

    entry = entry_of(rss(ITEM + "".join(parts if content_first else reversed(parts))))

    assert (entry.summary, entry.content) == ("Short", "Long")


@pytest.mark.parametrize("summary_first", [True, False])
def test_description_wins_over_itunes_summary(summary_first: bool) -> None:
    parts = ["<itunes:summary>Podcast</itunes:summary>", "<description>Short</description>"]

    assert entry_of(rss(ITEM + "".join(parts if summary_first else reversed(parts)))).summary == "Short"


@pytest.mark.parametrize("media_first", [True, False])
def test_content_wins_over_media_description(media_first: bool) -> None:
    parts = ["<media:description>Caption</media:description>", "<content:encoded>Long</content:encoded>"]

    entry = entry_of(rss(ITEM + "".join(parts if media_first else reversed(parts))))

    assert (entry.summary, entry.content) == ("Long", "Long")


def test_media_description_in_a_group_serves_where_there_is_nothing_else() -> None:
    entry = entry_of(
        rss(
            f"{ITEM}<media:group><media:title>m</media:title><media:description>Caption</media:description></media:group>"
        )
    )

    assert (entry.title, entry.summary) == ("t", "Caption")


def test_an_enclosure_link_without_address_gives_way_to_the_alternate() -> None:
    entry = entry_of(
        atom('<title>t</title><id>1</id><link rel="enclosure"/><link href="https://news.example/1"/>')
    )

    assert entry.link == "https://news.example/1"


def test_escaped_cdata_is_its_text() -> None:
    entry = entry_of(rss(f"{ITEM}<description>&lt;![CDATA[Half price]]&gt;</description>"))

    assert entry.summary == "Half price"


def test_an_item_with_only_an_enclosure_links_to_it() -> None:
    entry = entry_of(rss('<title>Episode 1</title><enclosure url="https://news.example/1.mp3"/>'))

    assert entry.link == "https://news.example/1.mp3"


def test_an_untitled_note_with_an_attachment_is_kept() -> None:
    entry = entry_of(rss('<description>A song</description><enclosure url="https://news.example/1.mp3"/>'))

    assert (entry.link, entry.address) == ("", "https://news.example/1.mp3")


@pytest.mark.parametrize("character", ["\x1e", "\x00", "\x0b", "\ufffe"])
def test_control_characters_are_dropped(character: str) -> None:
    parsed = parse_feed(rss(f"<title>be{character}fore</title><guid>1</guid>"), url=URL)

    assert (parsed.entries[0].title, parsed.parser) == ("before", "expat")


def test_halves_of_a_character_become_one() -> None:
    parsed = parse_feed(rss("<title>Launch &#55357;&#xDE80; now &#55357;</title><guid>1</guid>"), url=URL)

    assert (parsed.entries[0].title, parsed.parser) == ("Launch \U0001f680 now", "expat")


def test_a_bare_ampersand_is_kept() -> None:
    assert entry_of(rss("<title>D&D night</title><guid>1</guid>")).title == "D&D night"


def test_one_guid_on_ten_items_is_ten_articles() -> None:
    body = rss(
        *(f"<title>t{n}</title><link>https://news.example/{n}</link><guid>same</guid>" for n in range(10))
    )

    assert len({mark.identity for mark in marks_of(entries_of(body))}) == 10


def test_a_guid_made_of_the_headlines_slug_is_one_article_after_an_edit() -> None:
    stamp = "<pubDate>Fri, 27 Nov 2026 21:56:00 GMT</pubDate>"
    text = f"<description>{'The ferry to the island was cancelled this morning. ' * 3}</description>"
    before = rss(
        f"<title>Ferry late</title><link>https://news.example/1</link><guid>ferry-late</guid>{stamp}{text}"
    )
    after = rss(
        f"<title>Ferry off</title><link>https://news.example/1</link><guid>ferry-off</guid>{stamp}{text}"
    )
    moved = rss(f"<title>Ferry off</title><guid>https://news.example/ferry-off</guid>{stamp}{text}")

    (first,), (second,), (third,) = (marks_of(entries_of(body)) for body in (before, after, moved))

    names = {first.identity, *first.aliases}
    assert names & {second.identity, *second.aliases}
    assert names & {third.identity, *third.aliases}


def test_without_a_guid_the_link_is_the_identity() -> None:
    (mark,) = marks_of(entries_of(rss("<title>t</title><link>https://news.example/1</link>")))

    assert mark.identity == "link:https://news.example/1"


@pytest.mark.parametrize(
    "items",
    [
        ("<title>a</title>", "<title>b</title>", "<description>c</description>"),
        ("<title>a</title><description>one</description>", "<title>a</title><description>two</description>"),
        tuple(
            f"<title>a</title><pubDate>{n:02} Nov 2023 08:00:00 GMT</pubDate><description>same</description>"
            for n in range(1, 4)
        ),
        tuple(f"<title>a</title><pubDate>{n:02} Nov 2023 08:00:00 GMT</pubDate>" for n in range(1, 4)),
        tuple(
            f"<title>a</title><link>https://news.example/status</link>"
            f"<pubDate>{n:02} Nov 2023 08:00:00 GMT</pubDate><description>state {n % 2}</description>"
            for n in range(1, 5)
        ),
        tuple(
            f"<link>https://news.example/status</link><description>state {n}</description>" for n in range(3)
        ),
        tuple(
            f"<guid>same</guid><title>a {n % 2}</title><pubDate>{n:02} Nov 2023 08:00:00 GMT</pubDate>"
            for n in range(1, 5)
        ),
    ],
)
def test_items_without_a_name_of_their_own_are_entries_all_the_same(items: tuple[str, ...]) -> None:
    parsed = parse_feed(rss(*items), url=URL)

    assert len(parsed.entries) == len(items)
    assert parsed.skipped == []
    assert len({mark.identity for mark in marks_of(parsed.entries)}) == len(items)


def test_the_same_item_twice_is_one() -> None:
    for item in (
        "<title>a</title>",
        "<title>a</title><description>x</description>",
        "<title>a</title><link>https://news.example/1</link><pubDate>1 Nov 2023 08:00:00 GMT</pubDate>",
    ):
        marks = marks_of(entries_of(rss(item, item)))
        assert len({mark.identity for mark in marks}) == 1


def test_the_identity_of_an_item_without_a_name_does_not_hang_on_the_others() -> None:
    item, other = (
        f"<title>a</title><pubDate>{day} Nov 2023 08:00:00 GMT</pubDate><description>x</description>"
        for day in (1, 2)
    )

    (alone,) = marks_of(entries_of(rss(item)))

    assert alone in marks_of(entries_of(rss(other, item)))


def test_an_item_with_nothing_to_read_is_skipped_and_the_feed_kept() -> None:
    parsed = parse_feed(rss("<pubDate>1 Nov 2023 08:00:00 GMT</pubDate>", ITEM), url=URL)

    assert [entry.id for entry in parsed.entries] == ["1"]
    assert parsed.skipped == [(0, "it has neither a title nor a text")]


@pytest.mark.parametrize("extension", ["dcterms:issued", "dc:date", "dcterms:modified", "issued"])
@pytest.mark.parametrize("text", ["1688", "yesterday", "0000-00-00T00:00:00Z", "2024-02-30", ""])
@pytest.mark.parametrize("first", [True, False])
def test_an_unusable_date_of_an_extension_never_hides_the_formats_own(
    extension: str, text: str, *, first: bool
) -> None:
    own = "<published>2024-02-28T10:00:00Z</published><updated>2024-02-29T10:00:00Z</updated>"
    theirs = f"<{extension}>{text}</{extension}>"
    body = atom(
        f"<id>1</id><title>a</title>{theirs if first else ''}{own}{'' if first else theirs}",
        attributes='xmlns:dcterms="http://purl.org/dc/terms/" xmlns:dc="http://purl.org/dc/elements/1.1/"',
    )

    entry = entry_of(body)

    assert entry.published == datetime(2024, 2, 28, 10, tzinfo=UTC)
    assert entry.updated == datetime(2024, 2, 29, 10, tzinfo=UTC)


def test_a_date_that_cannot_be_read_is_reported() -> None:
    parsed = parse_feed(rss("<title>a</title><guid>1</guid><pubDate>soon</pubDate>"), url=URL)

    assert parsed.entries[0].published is None
    assert parsed.warnings == ["the date 'soon' of item 0 cannot be read"]


def test_of_very_many_entries_the_newest_are_kept_and_the_others_counted() -> None:
    def item(n: int) -> str:
        moment = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=n)
        return f"<title>{n}</title><guid>{n}</guid><pubDate>{format_datetime(moment)}</pubDate>"

    parsed = parse_feed(rss(*map(item, range(MOST_ENTRIES + 500))), url=URL)

    assert [entry.id for entry in parsed.entries] == [str(n) for n in range(500, MOST_ENTRIES + 500)]
    assert parsed.left_out == {"over_the_limit": 500}
    assert parsed.warnings == [
        f"the document has {MOST_ENTRIES + 500} entries; the newest {MOST_ENTRIES} are read"
    ]


def test_every_item_that_is_left_out_is_counted() -> None:
    parsed = parse_feed(rss(*["<pubDate>x</pubDate>"] * 5_000), url=URL)

    assert len(parsed.skipped) + sum(parsed.left_out.values()) == 5_000
    assert len(parsed.warnings) < 100


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Updated at 21:56:07 GMT. Rain.", "Updated at 22:01:13 GMT. Rain."),
        ("Rain. 3 hours ago", "Rain. 4 hours ago"),
        ("Rain. Vor 3 Minuten", "Rain. Vor 5 Minuten"),
        ("as of 2026-11-27T21:56:00Z rain", "as of 2026-11-27T22:56:00Z rain"),
        ('Rain.&lt;img src="/p?1"&gt;', 'Rain.&lt;img src="/p?2"&gt;'),
    ],
)
def test_content_that_carries_the_time_of_day_is_no_update(one: str, other: str) -> None:
    before, after = (entry_of(rss(f"{ITEM}<description>{text}</description>")) for text in (one, other))

    assert marks_of([before])[0].content == marks_of([after])[0].content


def test_an_edit_is_an_update() -> None:
    texts = ("5 people were rescued", "7 people were rescued")
    before, after = (entry_of(rss(f"{ITEM}<description>{text}</description>")) for text in texts)

    assert marks_of([before])[0].content != marks_of([after])[0].content


@pytest.mark.parametrize("mode", ["fast", "reference"])
def test_nested_relative_bases_are_resolved_at_every_level(mode: str) -> None:
    body = (
        b'<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/blog/"><title>x</title>'
        b'<entry xml:base="2026/"><id>urn:1</id><title>t</title><link href="one"/></entry></feed>'
    )

    parsed = parse_feed(body, url=URL, mode="fast" if mode == "fast" else "reference")

    assert parsed.entries[0].link == "https://news.example/blog/2026/one"


def test_links_of_other_relations_never_win() -> None:
    entry = entry_of(
        atom(
            '<title>t</title><id>1</id><link rel="replies" type="text/html" href="https://news.example/1/replies"/>'
            '<link rel="alternate" type="text/html" href="https://news.example/1"/>'
            '<link rel="edit" href="https://news.example/1/edit"/>'
        )
    )

    assert entry.link == "https://news.example/1"


@pytest.mark.parametrize("attribute", ["", ' isPermaLink="true"'])
def test_a_permalink_guid_is_the_link(attribute: str) -> None:
    entry = entry_of(rss(f"<title>t</title><guid{attribute}>https://news.example/1</guid>"))

    assert (entry.link, entry.id) == ("https://news.example/1", "https://news.example/1")


def test_a_guid_that_is_no_permalink_is_no_link() -> None:
    assert entry_of(rss('<title>t</title><guid isPermaLink="false">https://news.example/1</guid>')).link == ""
    assert entry_of(rss("<title>t</title><guid>n-1</guid>")).link == ""


@pytest.mark.parametrize(
    "page",
    [
        "<html><head><title>Just a moment...</title></head></html>",
        "<!DOCTYPE html><html><script src='/cdn-cgi/challenge-platform/h/b'></script></html>",
        "<script>document.cookie='x';window.gokuProps={}</script>",
        "<html><body>Please enable JavaScript and cookies to continue</body></html>",
    ],
)
def test_a_challenge_page_is_named(page: str) -> None:
    with pytest.raises(NotAFeed) as caught:
        parse_feed(page.encode(), url=URL)

    assert caught.value.cause is Cause.CHALLENGED


def test_a_missing_date_stays_missing() -> None:
    entry = entry_of(rss(ITEM))

    assert (entry.published, entry.updated) == (None, None)


def test_a_date_in_the_future_is_kept_as_given() -> None:
    entry = entry_of(rss(f"{ITEM}<pubDate>Fri, 01 Jan 2100 00:00:00 GMT</pubDate>"))

    assert entry.published == datetime(2100, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("mode", ["fast", "reference"])
@pytest.mark.parametrize(("other", "day"), [("25/11/2024 09:00", 5), ("11/25/2024 09:00", 11)])
def test_one_date_shows_the_order_of_the_others(
    mode: Literal["fast", "reference"], other: str, day: int
) -> None:
    body = rss(*(f"<title>{date}</title><pubDate>{date}</pubDate>" for date in ("05/11/2024 08:00", other)))

    parsed = parse_feed(body, url=URL, mode=mode)

    assert (parsed.entries[0].published, parsed.warnings) == (
        datetime(2024, 16 - day, day, 8, tzinfo=UTC),
        [],
    )


def test_dates_of_both_orders_leave_the_doubt() -> None:
    dates = ("05/11/2024 08:00", "25/11/2024 09:00", "11/25/2024 09:00")

    parsed = parse_feed(rss(*(f"<title>{d}</title><pubDate>{d}</pubDate>" for d in dates)), url=URL)

    assert ["in doubt" in warning for warning in parsed.warnings] == [True]


@pytest.mark.parametrize("mode", ["fast", "reference"])
def test_the_address_behind_one_that_counts_clicks_is_kept(mode: Literal["fast", "reference"]) -> None:
    tracked, origin = "http://feedproxy.google.com/~r/x/~3/abc/", "https://news.example/1.html"
    prefix = 'xmlns:feedburner="http://rssnamespace.org/feedburner/ext/1.0"'
    item = f"<feedburner:origLink {prefix}>{origin}</feedburner:origLink>"

    (entry,) = parse_feed(rss(f"<title>a</title><link>{tracked}</link>{item}"), url=URL, mode=mode).entries

    assert (entry.link, entry.address) == (tracked, origin)


@pytest.mark.parametrize(
    "link",
    [
        "https://www.google.com/url?rct=j&amp;sa=t&amp;url=https://paper.example/a%3Fb%3D1&amp;ct=ga",
        "http://www.bing.com/news/apiclick.aspx?ref=FexRss&amp;tid=1&amp;url=https%3a%2f%2fpaper.example%2fa%3fb%3d1&amp;c=1",
    ],
)
def test_the_address_in_a_link_of_a_search_engine_is_found(link: str) -> None:
    assert entry_of(rss(f"<title>a</title><link>{link}</link>")).address == "https://paper.example/a?b=1"


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("https://news.example/a/\n   long-name.html", "https://news.example/a/long-name.html"),
        ("www.news.example/1.html", "https://www.news.example/1.html"),
    ],
)
def test_an_address_is_read_as_it_is_meant(written: str, address: str) -> None:
    assert entry_of(rss(f"<title>a</title><link>{written}</link>")).link == address


@pytest.mark.parametrize(
    "links",
    [
        '<link rel="http://www.iana.org/assignments/relation/alternate" href="/1.html"/>',
        '<content type="text/html" src="/1.html"/>',
    ],
)
def test_the_page_of_an_atom_entry_is_found(links: str) -> None:
    assert entry_of(atom(f"<id>urn:1</id><title>a</title>{links}")).link == "https://news.example/1.html"


def test_a_namespace_is_known_with_https_too() -> None:
    prefix = 'xmlns:c="https://purl.org/rss/1.0/modules/content/"'
    assert entry_of(rss(f"<title>a</title><c:encoded {prefix}>Text</c:encoded>")).summary == "Text"


def test_a_json_feed_of_nothing_is_a_feed() -> None:
    body = b'{"version": "https://jsonfeed.org/version/1.1", "title": "T", "items": null}'
    assert parse_feed(body, url=URL).entries == []


def test_an_author_of_json_may_be_a_name() -> None:
    items = b'[{"id": "1", "title": "a", "author": "Ann"}]'
    body = b'{"version": "https://jsonfeed.org/version/1", "items": ' + items + b"}"
    assert entry_of(body).author == "Ann"


def test_a_date_without_a_namespace_is_one() -> None:
    entry = entry_of(rss("<title>a</title><date>2024-11-05T08:00:00Z</date>"))
    assert entry.updated == datetime(2024, 11, 5, 8, tzinfo=UTC)


def test_a_guid_is_no_link_if_its_attribute_says_so_in_small_letters() -> None:
    assert entry_of(rss("<title>a</title><guid ispermalink='false'>/a</guid>")).link == ""


def test_characters_in_the_utf8_of_java_are_read() -> None:
    body = rss("<title>Été @</title><guid>1</guid>").replace(b"@", b"\xed\xa0\xbd\xed\xba\x80")
    assert entry_of(body).title == "Été \U0001f680"


def test_an_atom_link_with_an_empty_relation_and_a_twice_escaped_address_is_one() -> None:
    entry = entry_of(atom('<id>urn:1</id><title>a</title><link rel="" href="/?a=1&amp;amp;b=2"/>'))
    assert entry.link == "https://news.example/?a=1&b=2"


def test_the_name_of_the_feed_that_an_entry_came_from_is_text() -> None:
    source = "<source><title type='html'>Ann&amp;#39;s blog</title></source>"
    assert entry_of(atom(f"<id>urn:1</id><title>a</title>{source}")).publisher == "Ann's blog"


def test_a_feed_that_is_compressed_once_more_is_read() -> None:
    parsed = parse_feed(gzip.compress(rss(ITEM)), url=URL)
    assert (len(parsed.entries), parsed.warnings) == (
        1,
        ["the body is compressed once more than its headers say"],
    )


@pytest.mark.parametrize("body", [gzip.compress(rss(ITEM))[:-20], gzip.compress(b" " * 20_000_000)])
def test_what_is_cut_off_or_grows_too_much_is_not_unpacked(body: bytes) -> None:
    with pytest.raises(NotAFeed, match="neither XML nor JSON"):
        parse_feed(body, url=URL)
