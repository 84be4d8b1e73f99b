"""Feeds that grow: no input costs more CPU or memory than its size allows, by any part of a poll that reads it."""

# ruff: noqa: E501 - a case a line

from __future__ import annotations

import json
import os
from datetime import UTC, datetime

import pytest

from sourcebook.articles.adapters.feed import read_entries
from sourcebook.feeds.discovery import announced_feeds
from sourcebook.feeds.opml import parse_opml
from sourcebook.feeds.parse import describe, parse_feed
from sourcebook.feeds.seen import SeenEntries
from tests.growth import LARGEST, Growth, check_growth, random_cases

ALL = "SOURCEBOOK_FUZZ" in os.environ
SIZE = LARGEST if ALL else 400_000
NOW = datetime(2026, 11, 27, 21, 56, 39, tzinfo=UTC)
RSS = '<?xml version="1.0"?><rss version="2.0"><channel><title>t</title><link>https://a.example/</link>'
ATOM = '<feed xmlns="http://www.w3.org/2005/Atom"><title>t</title>'
ITEM = "<item><title>a {n}</title><guid>{n}</guid><link>https://a.example/{n}</link>"
END = "</channel></rss>"
BASE64 = "iVBORw0KGgoAAAANSUhEUgAAAAUA"


def read(body: bytes) -> object:
    """Read a body as a poll does: entries, identities, fingerprints, what was seen before."""
    return read_entries(parse_feed(body, url="https://a.example/feed"), NOW, SeenEntries())


def read_and_describe(body: bytes) -> object:
    parsed = parse_feed(body, url="https://a.example/feed")
    return json.dumps(describe(parsed, "in.xml"))


def reference(body: bytes) -> object:
    return parse_feed(body, url="https://a.example/feed", mode="reference")


def in_item(name: str, unit: str, *, head: str = "", tail: str = "", closing: str = "") -> Growth:
    return Growth(
        f"in an item: {name}",
        f"{RSS}<item><title>a</title><guid>1</guid>{head}",
        unit,
        f"{tail}</item>{END}",
        closing,
    )


def in_text(name: str, unit: str, *, closing: str = "") -> Growth:
    return in_item(f"text: {name}", unit, head="<description>", tail="</description>", closing=closing)


def in_cdata(name: str, unit: str) -> Growth:
    return in_item(f"CDATA: {name}", unit, head="<description><![CDATA[", tail="]]></description>")


def in_tag(name: str, field: str, unit: str) -> Growth:
    return in_item(f"{field}: {name}", unit, head=f"<{field}>", tail=f"</{field}>")


ENTRIES = [
    Growth("items", RSS, f"{ITEM}<description>words of it</description></item>", END),
    Growth("one headline, many guids", RSS, "<item><title>a</title><guid>{n}</guid></item>", END),
    Growth("one guid, many headlines", RSS, "<item><title>a {n}</title><guid>1</guid></item>", END),
    Growth("one link, many headlines", RSS, "<item><title>a {n}</title><link>https://a.example/</link></item>", END),
    Growth("headlines alone", RSS, "<item><title>a {n}</title></item>", END),
    Growth("one headline, many descriptions", RSS, "<item><title>a</title><description>{n}</description></item>", END),
    Growth("empty items", RSS, "<item/>", END),
    Growth("empty items of RDF", "<rdf:RDF>", "<item/>", "</rdf:RDF>"),
    Growth("items inside items", RSS, "<item><title>a</title>", END, "</item>"),
    Growth("items without end", RSS, "<item><title>a</title>", END),
    Growth("entries of Atom", ATOM, "<entry><title>{n}</title><id>{n}</id><updated>2026-11-27T00:00:00Z</updated></entry>", "</feed>"),
    Growth("empty entries of Atom", ATOM, "<entry/>", "</feed>"),
    Growth("many roots", "", f"{ATOM}<entry><title>a</title><id>1</id></entry></feed>"),
    Growth("feeds in a feed", ATOM, "<feed><entry><title>a</title><id>1</id></entry></feed>", "</feed>"),
    Growth("channels", "<rss>", "<channel><title>a</title></channel>", "</rss>"),
    Growth("empty titles", RSS, "<item><title/></item>", END),
    Growth("an element that says nothing", RSS, "<item><a/></item>", END),
    Growth("small items that can be kept", RSS, "<item><title>a{n}</title></item>", END),
    Growth("items of bases", '<rss xml:base="https://a.example/x/">', '<item><link xml:base="{n}/" href="b"/><link xml:base="c" href="b"/></item>', "</rss>"),
    Growth("items of relative links", '<rss xml:base="https://a.example/x/">', '<item><link href="{n}a"/><link href="{n}b"/><link href="{n}c"/></item>', "</rss>"),
    Growth("dates that cannot be read", RSS, "<item><pubDate>a{n}</pubDate><dc:date>b</dc:date></item>", END),
    Growth("titles that are too long", RSS, f"<item><title>{'a' * 1100}</title><guid>{{n}}</guid></item>", END),
]  # fmt: skip
IN_ONE_ITEM = [
    in_item("enclosures", '<enclosure url="https://a.example/{n}.mp3" length="1"/>'),
    in_item("links", "<link>https://a.example/{n}</link>"),
    in_item("links of Atom", '<link rel="alternate" href="https://a.example/{n}"/>'),
    in_item("categories", "<category>c{n}</category>"),
    in_item("keywords", "a{n},", head="<itunes:keywords>", tail="</itunes:keywords>"),
    in_item("authors", "<author>a</author>"),
    in_item("titles", "<title></title>"),
    in_item("unknown elements", "<x{n}/>"),
    in_item("prefixes", '<a{n}:x xmlns:a{n}="http://a.example/{n}"/>'),
    in_item("one prefix bound again", '<a:x xmlns:a="http://a.example/{n}"/>'),
    in_item("attributes", ' a{n}="1"', head="<x", tail="/>"),
    in_item("bound prefixes", ' xmlns:a{n}="http://a.example/{n}"', head="<x", tail="/>"),
    in_item("one attribute", "v", head='<x a="', tail='"/>'),
    in_item("an attribute of references", "&lt;", head='<link href="', tail='"/>'),
    in_item("bases", '<link xml:base="a/" href="b"/>'),
    in_item("nested elements", "<a>", closing="</a>"),
    in_item("nested bases", '<a xml:base="a/">', closing="</a>"),
    in_item("comments", "<!-- -->"),
    in_item("one comment", "- ", head="<!--", tail="-->"),
    in_item("instructions", "<?a b?>"),
    in_item("white space", " \n\t"),
    in_item("no-break spaces", "\u00a0", head="<title>", tail="</title>"),
    in_item("an unclosed tag", "a ", head="<x "),
    in_item("an open CDATA", "a]]", head="<description><![CDATA["),
    in_item("many CDATA", "<![CDATA[a]]>", head="<description>", tail="</description>"),
    in_item("markup of XHTML", "<b>a</b>", head='<content type="xhtml"><div>', tail="</div></content>"),
    in_item("divisions of XHTML", "<div>a</div>", head='<content type="xhtml"><div>', tail="</div></content>"),
    in_item("CDATA in XHTML", "<b><![CDATA[a]]></b>", head='<content type="xhtml"><div>', tail="</div></content>"),
    in_item("sources", "<title>", head="<source>", tail="</source>", closing="</title>"),
    in_item("a source's escaped titles", "&lt;title", head="<source>", tail="</source>"),
    *(in_tag("digits", field, "9") for field in ("guid", "pubDate", "link", "title", "category", "dc:date")),
    *(in_tag("letters", field, "a") for field in ("guid", "pubDate", "link", "title", "author", "source")),
    *(in_tag("spaces", field, " a ") for field in ("pubDate", "link", "title", "category")),
    *(in_tag("slashes", field, "../") for field in ("guid", "link")),
    in_tag("colons", "pubDate", "12:"),
    in_tag("surrogates", "title", "&#55357;"),
    in_tag("addresses", "author", "a@"),
    in_tag("one parameter", "link", "https://www.google.com/url?&amp;"),
    in_tag("accents", "title", "e\u0301"),
    in_tag("Latin-1 twice", "title", "Ã©"),
]  # fmt: skip
TEXTS = [
    *(in_text(f"{unit!r}", unit) for unit in (
        "a", "é", "a ", "&lt;", "&lt;b&gt;", "&lt;!--", "&lt;script&gt;", "&lt;/script", "&lt;a href='", "&amp;amp;",
        "&lt;a b=", '&lt;a b="', '="', "&amp;lt;p&amp;gt;",
        "&amp;#9", "&#233;", "&amp;#1114112;", "&#x41;", "12:34 ", "vor ", "3 days ago ", "1", "\u0301", "\u3000",
        BASE64, f'&lt;img src="data:image/png;base64,{BASE64}"&gt;', "<b>a</b>", "<br/>", "<div>", "\u202e",
    )),
    *(in_cdata(f"{unit!r}", unit) for unit in (
        "<", ">", "<b>", "<!", "<![CDATA[", "<!-- a -->", "</", "<style>", "<svg><a>", "&", "&#", "&a", "&#99999999999",
        "]]", "é<b>", BASE64, "1:23:45 ", " vor 3 a", "\n", "<p title='",
    )),
    in_item("base64 images with one é", BASE64, head="<description>é&lt;img src=\"data:", tail='"&gt;</description>'),
]  # fmt: skip
DAMAGED = [
    Growth("bare ampersands", f"{RSS}<item><title>a</title><guid>1</guid><description>", "a & b", f"</description></item>{END}"),
    Growth("foreign entities", f"{RSS}<item><title>a</title><guid>1</guid><description>", "&nbsp;", f"</description></item>{END}"),
    Growth("unknown entities", f"{RSS}<item><title>a</title><guid>1</guid><description>", "&a{n};", f"</description></item>{END}"),
    Growth("control characters", f"{RSS}<item><title>a</title><guid>1</guid><description>", "\x01a", f"</description></item>{END}"),
    Growth("angle brackets", f"{RSS}<item><title>a</title><guid>1</guid><description>", "< 1", f"</description></item>{END}"),
    Growth("elements that end crosswise", RSS, "<item><title>a<b></title></b></item>", END),
    Growth("end tags", RSS, "</x>", END),
    Growth("text before the document", "", "a ", f"{RSS}{END}"),
    Growth("white space before the document", "", " \n", f"{RSS}{END}"),
    Growth("comments before the document", "", "<!-- a -->", f"{RSS}{END}"),
    Growth("instructions before the document", "", "<?a ?>", f"{RSS}{END}"),
    Growth("open instructions", "", "<?"),
    Growth("open comments", "", "<!--"),
    Growth("a declaration", '<?xml version="1.0" ', 'encoding="', f'?>{RSS}{END}'),
    Growth("declarations", "", '<?xml version="1.0"?>', f"{RSS}{END}"),
    Growth("text behind the document", f"{RSS}{END}", "a<"),
    Growth("a document type", "<!DOCTYPE rss [", '<!ENTITY a{n} "b">', f"]>{RSS}<item><title>&a1;</title><guid>1</guid></item>{END}"),
    Growth("a document type that never ends", "<!DOCTYPE rss [", "] "),
    Growth("an entity put in", '<!DOCTYPE rss [<!ENTITY a "0123456789012345">]><rss><channel><item><title>a</title><guid>1</guid><description>', "&a;", f"</description></item>{END}"),
    Growth("references in an entity", "<!DOCTYPE rss [<!ENTITY a '", "&#65;", f"'>]>{RSS}<item><title>&a;</title><guid>1</guid></item>{END}"),
    Growth("document types", "", "<!DOCTYPE rss>", f"{RSS}{END}"),
    Growth("a web page", "<html>", "<link rel='alternate' type='application/rss+xml' href='{n}'>"),
    Growth("a challenge", "<html>", "just a moment.."),
    Growth("invalid UTF-8", f"{RSS}<item><title>a</title><guid>1</guid><description>", "\udc80", f"</description></item>{END}"),
    Growth("no feed", "", "\x00"),
    Growth("brackets", "", "<"),
]  # fmt: skip


def of_json(name: str, unit: str, *, head: str = "", tail: str = "", closing: str = "") -> Growth:
    start = '{"version": "https://jsonfeed.org/version/1.1", "title": "t", '
    return Growth(f"JSON: {name}", start + (head or '"items": ['), unit, tail or "{}]}", closing)


JSON = [
    of_json("empty items", "{},"),
    of_json("items that say nothing", '{"a":1},'),
    of_json("items of a number", '{"title":1},'),
    of_json("items of dates", '{"date_published":"a{n}","date_modified":"b"},'),
    of_json("items of relative addresses", '{"title":{n},"url":"a{n}"},'),
    of_json("null items", "null,"),
    of_json("numbers for items", "1,"),
    of_json("lists for items", "[],"),
    of_json("texts for items", '"",'),
    of_json("items", '{"id": {n}, "title": "a {n}", "url": "https://a.example/{n}"},'),
    of_json("one headline, many ids", '{"id": {n}, "title": "a"},'),
    of_json("an item of empty objects", "{},", head='"items": [{"id": "1", "title": "a", "attachments": [', tail="{}]}]}"),
    of_json("nested lists", "[", closing="]"),
    of_json("nested objects", '{"a":', closing="}", tail="]}"),
    Growth("JSON: names", '{"items": [],', '"a{n}": 1,', '"b": 1}'),
    of_json("one number", "9", head='"items": [{"title": "a", "id": ', tail="}]}"),
    of_json("a fraction", "9", head='"items": [{"title": "a", "id": 0.', tail="}]}"),
    of_json("an exponent", "9", head='"items": [{"title": "a", "id": 1e', tail="}]}"),
    of_json("long numbers", f"{'9' * 4300},", tail="1]}"),
    of_json("one text", "a", head='"items": [{"id": "1", "title": "', tail='"}]}'),
    of_json("an escaped text", "\\u00e9", head='"items": [{"id": "1", "title": "a", "content_html": "', tail='"}]}'),
    of_json("a base64 image", BASE64, head='"items": [{"id": "1", "title": "é", "content_html": "<img src=\'data:', tail='\'>"}]}'),
    of_json("tags", '"a{n}",', head='"items": [{"id": "1", "title": "a", "tags": [', tail='""]}]}'),
    of_json("hubs", '{"url": "a{n}"},', head='"hubs": [', tail='{}], "items": []}'),
    of_json("authors", "{},", head='"items": [{"id": "1", "title": "a", "authors": [', tail="{}]}]}"),
    of_json("white space", " \n", tail="]}"),
    of_json("one that never ends", "{},", tail=" "),
    Growth("JSON: brackets", "", "["),
    Growth("JSON: braces", "", '{"a":'),
    Growth("JSON: commas", "[", ",", "]"),
]  # fmt: skip
OPML = [
    Growth("outlines", "<opml><body>", '<outline xmlUrl="https://a.example/{n}" text="a"/>', "</body></opml>"),
    Growth("empty outlines", "<opml><body>", "<outline/>", "</body></opml>"),
    Growth("outlines of one URL", "<opml><body>", '<outline xmlUrl="https://a.example/"/>', "</body></opml>"),
    Growth("outlines with wrong URLs", "<opml><body>", '<outline xmlUrl="x"/>', "</body></opml>"),
    Growth("nested outlines", "<opml><body>", '<outline text="a">', "</body></opml>", "</outline>"),
    Growth("one attribute", '<opml><body><outline xmlUrl="', "a", '"/></body></opml>'),
    Growth("attributes", "<opml><body><outline", ' a{n}="b"', "/></body></opml>"),
    Growth("categories", '<opml><body><outline xmlUrl="https://a.example/" category="', "/a,", '"/></body></opml>'),
    Growth("ampersands", '<opml><body><outline xmlUrl="https://a.example/" text="', "& ", '"/></body></opml>'),
    Growth("entities", "<opml><!DOCTYPE x [", "<!ENTITY a 'b'>", "]>"),
    Growth("comments", "<opml><body>", "<!-- a -->", "</body></opml>"),
    Growth("white space", "<opml><body>", " \n", "</body></opml>"),
    Growth("no markup", "", "a"),
    Growth("brackets", "<opml>", "<"),
    Growth("open attributes", "<opml><body>", '<outline xmlUrl="', ""),
]  # fmt: skip
PAGES = [
    Growth(
        "links",
        "<html><head>",
        '<link rel="alternate" type="application/rss+xml" href="{n}">',
        "</head></html>",
    ),
    Growth("attributes", "<html><head><link", ' a{n}="b"', "></head></html>"),
    Growth("brackets", "<html>", "<"),
    Growth("declarations", "<html>", "<!"),
    Growth("comments", "<html>", "<!--"),
    Growth("scripts", "<html>", "<script>"),
    Growth("references", "<html>", "&"),
    Growth("anchors", "<html><body>", '<a href="feed{n}">RSS</a>', "</body></html>"),
    Growth("open tags", "<html>", "<a href='"),
]
FOUND = [] if ALL else [case for case in JSON if case.name == "JSON: hubs"]
"""Cases of `make fuzz` that were too costly once, and are tried every day."""
PIECES = [
    *("<item>", "</item>", "<title>", "</title>", "<guid>", "</guid>", "<description>", "</description>", "<link/>"),
    *("<![CDATA[", "]]>", "<!--", "-->", "<?x", "?>", "<a ", ">", "/>", ' b="', '"', "'", "=", "<", "&", ";", "&#"),
    *("&lt;", "&gt;", "&amp;", "é", "Ã©", "\x01", "\u0301", "\n", " ", "a", "1", "12:34", "-", "2026", "/", ":", "."),
    *("xmlns:a=", "xml:base=", "</", "<script>", "&lt;script&gt;", "<div>", "</div>", "<pubDate>", "</pubDate>", "{n}"),
]  # fmt: skip
JSON_PIECES = ["{", "}", "[", "]", ",", ":", '"', '"id"', '"title"', "1", "9" * 50, "e", "\\", "\\u", "é", " ", "{},", "{n}", '"items": [']  # fmt: skip


def some(cases: list[Growth], step: int) -> list[Growth]:
    """Return all cases for `make fuzz`, every so many for every day."""
    return cases if ALL else cases[::step]


def named(case: Growth) -> str:
    return case.name.encode("ascii", "backslashreplace").decode()


@pytest.mark.parametrize(
    "case",
    [*some(ENTRIES, 3), *some(IN_ONE_ITEM, 12), *some(TEXTS, 12), *some(DAMAGED, 8), *some(JSON, 4), *FOUND],
    ids=named,
)
def test_a_feed_is_read_in_time_and_memory_by_its_size(case: Growth) -> None:
    check_growth(read, case, largest=SIZE)


@pytest.mark.parametrize("case", some([ENTRIES[0], ENTRIES[6], JSON[0]], 3), ids=named)
def test_what_is_printed_of_a_feed_grows_with_it(case: Growth) -> None:
    check_growth(read_and_describe, case, largest=SIZE)


@pytest.mark.parametrize(
    "case", some([IN_ONE_ITEM[4], *ENTRIES[:4], TEXTS[0], DAMAGED[0]], 7), ids=named
)  # categories that are one text, as feedparser reads them, were quadratic
def test_feedparser_is_bounded_too(case: Growth) -> None:
    check_growth(reference, case, largest=SIZE)


@pytest.mark.parametrize("case", some(OPML, 5), ids=named)
def test_a_list_of_feeds_is_read_in_time_and_memory_by_its_size(case: Growth) -> None:
    check_growth(parse_opml, case, largest=SIZE)


def discover(body: bytes) -> object:
    return announced_feeds(body.decode("utf-8", "replace"), "https://a.example/")


@pytest.mark.parametrize("case", some(PAGES, 5), ids=named)
def test_a_page_that_names_feeds_is_read_in_time_and_memory_by_its_size(case: Growth) -> None:
    check_growth(discover, case, largest=SIZE)


SEARCHES = 300 if ALL else 4


@pytest.mark.parametrize("seed", range(4 if ALL else 1))
def test_growths_that_nobody_thought_of(seed: int) -> None:
    heads = (RSS, f"{RSS}<item><title>a</title><guid>1</guid><description>", ATOM, "<rss><channel>", "")
    cases = random_cases(PIECES, SEARCHES, seed=seed, heads=heads)
    check_growth(read, *cases, largest=500_000 if ALL else 100_000)


@pytest.mark.parametrize("seed", range(2 if ALL else 1))
def test_growths_of_json_that_nobody_thought_of(seed: int) -> None:
    heads = ('{"items": [', '{"items": [{"id": 1, "title": "', "{", "[")
    check_growth(
        read,
        *random_cases(JSON_PIECES, SEARCHES, seed=seed, heads=heads),
        largest=500_000 if ALL else 100_000,
    )
