"""From the bytes of an answer to text, and from text to its kind; everything that no parser should see.

The order of the sources of a charset follows RFC 7303 section 3 (byte order mark first) with one
exception: text that is valid UTF-8 is UTF-8 whatever a header says, because other text hardly ever
is by accident and wrong headers are common.
"""

from __future__ import annotations

import codecs
import re
import zlib
from dataclasses import dataclass
from typing import Literal

from sourcebook.feeds.model import Cause, DateOrder, NotAFeed

MAX_DEPTH = 256
MAX_TAGS = 500_000
_MAX_ENTITY = 16
_MOST_UNPACKED = 10_000_000
_MOST_GROWTH = 100

_FEED_ROOTS = frozenset(("rss", "feed", "rdf", "channel", "entry"))
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What browsers read under these names (WHATWG Encoding): the larger set includes the named one.
_WIDER = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874",
    "tis-620": "cp874", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949",
}  # fmt: skip
_TEXT_CODECS = re.compile(
    r"ascii|big5|cp\d|euc|gb|hz|iso2022|iso8859|johab|koi8|kz|mac|ptcp|shift|tis|utf-(8|16|32)"
)
_DECLARED = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._:-]{1,40})[\"']")
_UTF8 = frozenset(("utf-8", "utf8", "us-ascii", "ascii"))
# Possessive throughout: nothing here may be tried twice.
_PLAIN = re.compile(
    rb"\s*+(?:<\?xml\s[^>]{0,100}?(?:encoding\s*=\s*[\"']([A-Za-z0-9._:-]{1,40})[\"'][^>]{0,60})?\?>)?"
    rb"(?:\s++|<\?[^>]{0,300}\?>|<!--[^>]{0,500}-->)*+<(?:rss|feed|rdf:RDF)(?=[\s>])"
)
_PROLOG = re.compile(r"(?:\s++|<\?.*?\?>|<!--.*?-->)*+", re.DOTALL)
_ROOT = re.compile(r"<(?:[\w.-]{1,40}:)?([\w.-]{1,40})(?=[\s/>])")
_FEED_START = re.compile(r"<\?xml\s|<(?:rss|feed|(?:\w{1,10}:)?RDF)(?=[\s>])", re.IGNORECASE)
_ENTITY = re.compile(
    r"<!ENTITY\s+(%\s+)?([\w.:-]+)\s+(?:\"([^\"]*)\"|'([^']*)'|(SYSTEM|PUBLIC)\b[^>]*)\s*>?", re.IGNORECASE
)
_CHALLENGE = re.compile(
    "|".join(
        (
            r"just a moment\.\.\.", "/cdn-cgi/challenge-platform", "cf[-_]chl", "cf-browser-verification",
            "cf-turnstile", r"attention required! \| cloudflare", "checking your browser", "ddos-guard",
            "ddos protection by", "_incapsula_resource", "distil_r_captcha", "px-captcha", "perimeterx",
            "datadome", "awswafcookiedomainlist", "gokuprops", "sgcaptcha", "g-recaptcha", "h-captcha",
            r"hcaptcha\.com", "slowaes", "are you (?:a )?(?:human|robot)",
            "verify (?:that )?you are (?:a )?human",
            "enable javascript and cookies to continue", "please enable javascript to continue",
        )
    ),
    re.IGNORECASE,
)  # fmt: skip
_SNIFFED = 65_536


@dataclass(slots=True)
class Document:
    """A body that looks like a feed, without document type and anything before its first element.

    Attributes:
        data: text, or bytes that are UTF-8 unless their publisher erred.
        kind: how to read it.
        warnings: what was mended.
        date_order: whether day or month stands first in its dates that end in the year; "" when not known.
    """

    data: bytes | str
    kind: Literal["xml", "json"]
    warnings: list[str]
    date_order: DateOrder = ""

    def text(self) -> str:
        """Return the document as text; bad bytes are replaced."""
        if isinstance(self.data, bytes):
            self.data = decode(self.data, None, self.warnings)
        return self.data


def read_document(body: bytes, charset: str | None) -> Document:
    """Return what a body is; raise NotAFeed for what no parser should see.

    Args:
        body: the bytes, decompressed.
        charset: the one that its headers state.

    Raises:
        NotAFeed: EMPTY, HTML_PAGE, CHALLENGED, NOT_A_FEED, TRUNCATED, ENTITIES_REFUSED or
            TOO_MANY_ELEMENTS.
    """
    warnings: list[str] = []
    if body.startswith(b"\x1f\x8b"):
        body = _unpacked(body, warnings)
    if _is_plain(body, charset):
        _check_size(body)
        return Document(body.lstrip(), "xml", warnings)
    text = decode(body, charset, warnings).lstrip("\ufeff \t\r\n\x00")
    if not text:
        raise NotAFeed(Cause.EMPTY, "the body is empty; try the address again later, or correct it")
    if text[0] in "{[":
        return Document(text, "json", warnings)
    text = _xml_text(text, warnings)
    _check_size(text)
    return Document(text, "xml", warnings)


def _unpacked(body: bytes, warnings: list[str]) -> bytes:
    """Return what a body of gzip holds (feed.xml.gz, or gzip in gzip); the body if it would grow too much."""
    unpacker = zlib.decompressobj(wbits=31)
    try:
        inner = unpacker.decompress(body, min(_MOST_UNPACKED, _MOST_GROWTH * len(body)))
    except zlib.error:
        return body
    if not unpacker.eof:
        return body
    warnings.append("the body is compressed once more than its headers say")
    return inner


def _is_plain(body: bytes, charset: str | None) -> bool:
    """Return whether a body is, by its headers and declarations, a feed in UTF-8 without a document type.

    Most are, and need not be decoded before the parser does it.
    """
    if charset is not None and charset.lower() not in _UTF8:
        return False
    start = _PLAIN.match(body)
    return start is not None and (start[1] is None or start[1].decode("ascii").lower() in _UTF8)


def _check_size(data: bytes | str) -> None:
    if len(data) <= 4 * MAX_TAGS:  # "<a/>"
        return
    tags = data.count(b"<") if isinstance(data, bytes) else data.count("<")
    if tags > MAX_TAGS:
        raise too_many_elements(tags, MAX_TAGS)


def decode(body: bytes, charset: str | None, warnings: list[str]) -> str:
    """Return the text of a document, whose charset as its headers and itself state it is only a hint."""
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            if encoding == "utf-8":
                break
            return body.decode(encoding, "replace")
    else:
        if wide := _without_mark(body):
            return body.decode(wide, "replace")
    declared = _DECLARED.search(body, 0, 1_000)
    names = [
        name for name in (_codec(charset), _codec(declared[1].decode("ascii") if declared else None)) if name
    ]
    seven_bit = next((name for name in names if name.startswith(("iso2022", "hz"))), None)
    if seven_bit is not None and body.isascii():
        return body.decode(seven_bit, "replace")
    try:
        return body.decode()
    except UnicodeDecodeError:
        pass
    return _decode_legacy(body, names, warnings)


def _without_mark(body: bytes) -> str | None:
    """Return UTF-16 or UTF-32 by the first characters, without a byte order mark (XML 1.0 appendix F)."""
    start = body[:4]
    if len(start) < 4 or b"\x00" not in start:
        return None
    return {"x0x0": "utf-16-le", "0x0x": "utf-16-be", "x000": "utf-32-le", "000x": "utf-32-be"}.get(
        "".join("x" if byte else "0" for byte in start)
    )


def _codec(name: str | None) -> str | None:
    """Return Python's name of a charset, None when it is unknown or no charset of documents."""
    if not name:
        return None
    try:
        known = codecs.lookup(name).name
    except (LookupError, ValueError):  # a null character is no name either
        return None
    known = _WIDER.get(known, known)
    return known if _TEXT_CODECS.match(known) else None


def _decode_legacy(body: bytes, names: list[str], warnings: list[str]) -> str:
    """Decode what is not valid UTF-8: by its declared charset, else UTF-8 with the bad bytes replaced."""
    # A server's default says less than the document about itself.
    candidates = sorted((name for name in names if name != "utf-8"), key=lambda name: name == "cp1252")
    for name in candidates:
        try:
            return body.decode(name)
        except UnicodeDecodeError:
            continue
    try:  # UTF-16 in UTF-8, as Java and some databases write characters beyond the first 65,536
        halves = body.decode("utf-8", "surrogatepass")
        return halves.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    except UnicodeDecodeError:
        pass
    text = body.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    good = sum(1 for _ in re.finditer(rb"[\xc2-\xf4][\x80-\xbf]", body)) if not candidates else 0
    if good >= bad:
        warnings.append(f"{bad} bytes are not valid UTF-8 and were replaced")
        return text
    fallback = candidates[0] if candidates else "cp1252"
    warnings.append(f"the body is not valid UTF-8 and was read as {fallback}")
    return body.decode(fallback, "replace")


def _xml_text(text: str, warnings: list[str]) -> str:
    prolog = _PROLOG.match(text)
    start = prolog.end() if prolog else 0
    cut = False
    entities: dict[str, str] = {}
    if text[start : start + 9].upper() == "<!DOCTYPE":
        cut = True
        end, subset = _document_type(text, start)
        entities = _entities(subset, text, end)
        prolog = _PROLOG.match(text, end)
        start = prolog.end() if prolog else end
    root = _ROOT.match(text, start)
    if root is None or root[1].lower() not in _FEED_ROOTS:
        start = _recover_start(text, start, root[1].lower() if root else "", warnings)
        cut = True
    if cut:
        text = text[start:]
    if entities:
        text = re.sub(r"&([\w.:-]+);", lambda match: entities.get(match[1], match[0]), text)
    return text


def _recover_start(text: str, start: int, root: str, warnings: list[str]) -> int:
    """Return where the feed begins behind text that does not belong to it, or say what the body is.

    Raises:
        NotAFeed: there is no feed in it.
    """
    head = text[:_SNIFFED]
    page = root == "html" or "<html" in head.lower() or text[start : start + 14].lower() == "<!doctype html"
    if not page:
        found = _FEED_START.search(head)
        if found is not None and found.start() > 0:
            prolog = _PROLOG.match(text, found.start())
            start = prolog.end() if prolog else found.start()
            match = _ROOT.match(text, start)
            if match is not None and match[1].lower() in _FEED_ROOTS:
                warnings.append("text before the document was ignored")
                return start
    if (page or root in ("", "head", "body", "script", "noscript", "div")) and _CHALLENGE.search(head):
        raise NotAFeed(
            Cause.CHALLENGED,
            "the body is a page that checks for a person or a browser; "
            "ask the publisher to let this reader's user agent through, or use another address of the feed",
        )
    if page or root in ("head", "body", "script", "noscript", "div", "title", "meta", "p"):
        raise NotAFeed(
            Cause.HTML_PAGE,
            "the body is a web page; give the address of its feed, or let discovery look for it",
        )
    if "<" in text and not root and text.rstrip()[-1:] != ">" and text.lstrip().startswith("<"):
        raise NotAFeed(Cause.TRUNCATED, "the body ends before its first element; it will be asked for again")
    what = f"an XML document with the first element {root!r}" if root else "neither XML nor JSON"
    raise NotAFeed(
        Cause.NOT_A_FEED, f"the body is {what}; expected RSS, RDF, Atom or JSON Feed, so check the address"
    )


def _document_type(text: str, start: int) -> tuple[int, str]:
    """Return where the document type declaration ends, and its internal subset."""
    bracket = text.find("[", start)
    close = text.find(">", start)
    if close >= 0 and not start <= bracket < close:
        return close + 1, ""
    end = re.compile(r"\]\s*>").search(text, bracket) if close >= 0 else None
    if end is None:
        raise NotAFeed(Cause.TRUNCATED, "the body ends inside its document type; it will be asked for again")
    return end.end(), text[bracket + 1 : end.start()]


def _entities(subset: str, text: str, end: int) -> dict[str, str]:
    """Return the entities that are safe to put in: short, and free of other entities.

    The declarations themselves never reach a parser. An entity that is declared and not used is harmless.

    Raises:
        NotAFeed: ENTITIES_REFUSED when the document uses one that is long, nested or external.
    """
    if "<!ENTITY" not in subset.upper():
        return {}
    if len(subset) > _SNIFFED:
        raise _entities_refused()
    safe: dict[str, str] = {}
    refused: set[str] = set()
    for match in _ENTITY.finditer(subset):
        parameter, name, double, single, external = match.groups()
        if parameter:
            continue
        value = double if double is not None else single
        if external or value is None or len(value) > _MAX_ENTITY or re.search(r"&(?!#)|%|<", value):
            refused.add(name)
        else:
            safe.setdefault(name, value)
    used = {match[1] for match in re.finditer(r"&([\w.:-]+);", text[end:])} if refused else set()
    if refused & used:
        raise _entities_refused()
    return safe


def _entities_refused() -> NotAFeed:
    return NotAFeed(
        Cause.ENTITIES_REFUSED,
        "the document expands entities of its own (nested, long or external), which is refused; "
        "ask the publisher for a feed without them",
    )


def check_tags(text: str, limit: int) -> None:
    """Refuse text whose tags nest too deep, are too many or too long for a parser of unbounded cost.

    Tags inside CDATA and comments do not count, and those of HTML without an end tag do not nest.

    Args:
        text: the document.
        limit: most tags.

    Raises:
        NotAFeed: TOO_DEEP, TOO_MANY_ELEMENTS or PARSE_FAILED.
    """
    depth = count = 0
    for match in _TAG.finditer(text):
        name = match[2]
        if name is None:
            continue
        count += 1
        start, end = match.span()
        if end - start > _LONGEST_TAG:
            raise NotAFeed(
                Cause.PARSE_FAILED,
                f"a tag has {end - start} characters, more than the {_LONGEST_TAG} that are read; "
                "ask the publisher for a usable feed",
            )
        if match[1]:
            depth -= depth > 0
        elif not text.startswith("/>", end - 2) and name.lower() not in _VOID:
            depth += 1
            if depth > MAX_DEPTH:
                raise too_deep()
    if count > limit:
        raise too_many_elements(count, limit)


_LONGEST_TAG = 20_000
_TAG = re.compile(
    r"<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|<(/?)([A-Za-z_][\w.:-]*+)[^<>]*+>?", re.DOTALL
)
_VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "meta", "param", "track", "wbr")
)


def too_deep() -> NotAFeed:
    """Return the error for elements nested too deep."""
    return NotAFeed(
        Cause.TOO_DEEP, f"elements nest deeper than {MAX_DEPTH} levels; ask the publisher for a usable feed"
    )


def too_many_elements(count: int, limit: int) -> NotAFeed:
    """Return the error for more tags than are read."""
    return NotAFeed(
        Cause.TOO_MANY_ELEMENTS,
        f"the document has {count} elements, more than the {limit} that can be read; "
        "ask the publisher for a shorter feed",
    )
