"""What a document is before anything is read out of it: its text, and whether it is the wanted one."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Final

from sourcebook.errors import Terminal, shorten


class DocumentCause(StrEnum):
    """Why a document yields nothing, as stored in the fetch history."""

    EMPTY_PAGE = "empty_page"
    LOGIN_PAGE = "login_page"
    LAYOUT_CHANGED = "layout_changed"
    WRONG_CHARSET = "wrong_charset"
    WRONG_FORMAT = "wrong_format"
    TOO_LARGE = "too_large"
    NO_ROWS = "no_rows"
    IMPLAUSIBLE_VALUES = "implausible_values"


class BadDocument(Terminal):
    """A document is not what its source is declared to bring. Nothing of it is stored.

    Attributes:
        cause: machine-readable.
        detail: in words, with what to do about it.
    """

    def __init__(self, cause: DocumentCause, detail: str) -> None:
        self.cause = cause
        self.detail = detail
        super().__init__(f"{cause.value}: {detail}")


@dataclass(frozen=True, slots=True)
class Text:
    """A decoded document, and what was odd about its encoding."""

    text: str
    notes: tuple[str, ...] = ()


_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_META = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*+(?:[\"']\s*+)?+([a-z0-9_.:-]{1,40})", re.IGNORECASE)
_XML = re.compile(rb"^\s*<\?xml[^>]{0,100}encoding\s*=\s*[\"']([A-Za-z0-9_.:-]{1,40})")
_SCANNED: Final = 4_096
# C1 control characters: a page has none, but a page of windows-125x read as ISO-8859-1 has.
_CONTROLS = re.compile("[\x80-\x9f]")
_PASSWORD = re.compile(r"<input\b[^>]{0,300}\btype\s*=\s*[\"']?password", re.IGNORECASE)
_HTML = re.compile(r"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_TWICE = re.compile("[ÃÂáÄÆ][^\x00-\x7f]")
# Long runs such as pictures in base64 are no words.
_WORD = re.compile(r"(?<!\S)\S{1,100}(?!\S)")
_LOGIN_WORDS = re.compile(
    r"<title>[^<]{0,80}?(?:log ?in|sign ?in|đăng nhập|anmeld|connexion|ログイン)", re.IGNORECASE
)


def decode(body: bytes, *, declared: str | None, charset: str | None) -> Text:
    """Decode a document: by its byte order mark, as UTF-8 if it is that, otherwise as it is declared.

    Text that is valid UTF-8 and has characters beyond ASCII is UTF-8, whatever anybody says of it; nothing
    else passes for it by chance.

    Args:
        body: the document.
        declared: the encoding that the source's declaration names.
        charset: the one that the server named.

    Raises:
        BadDocument: if it is empty, or no encoding that is named for it gives a text.
    """
    if not body.strip(b" \t\r\n\0"):
        raise BadDocument(
            DocumentCause.EMPTY_PAGE, "the document is empty; look whether its address is right"
        )
    for mark, name in _BOMS:
        if body.startswith(mark):
            text = _try(body[len(mark) :], name)
            if text is None:
                what = f"it is not {name} as its byte order mark says"
                raise BadDocument(DocumentCause.WRONG_CHARSET, what)
            return Text(text)
    named = [name for name in (declared, charset, _own(body)) if name]
    utf8 = _try(body, "utf-8")
    if utf8 is not None and not (named and _canonical(named[0]).startswith("utf-16")):
        notes: tuple[str, ...] = ()
        if not body.isascii():
            if _twice_encoded(utf8):
                raise BadDocument(
                    DocumentCause.WRONG_CHARSET,
                    "its text was encoded twice (UTF-8 taken for a Western encoding and encoded again)",
                )
            wrong = [name for name in named if _canonical(name) not in {"utf-8", "ascii"}]
            notes = tuple(f"declared as {name}, but it is UTF-8" for name in wrong[:1])
        return Text(utf8, notes)
    if not named:
        raise BadDocument(
            DocumentCause.WRONG_CHARSET,
            "it is not UTF-8 and names no other encoding; set `encoding` in the source's options",
        )
    tried: list[str] = []
    for name in named:
        text = _try(body, name)
        if text is not None and not _CONTROLS.search(text):
            notes = tuple(f"declared as {other}, read as {name}" for other in tried[:1])
            return Text(text, notes)
        tried.append(name)
    raise BadDocument(
        DocumentCause.WRONG_CHARSET,
        f"it is not what it says it is: neither UTF-8 nor {' nor '.join(dict.fromkeys(tried))}; "
        "set `encoding` in the source's options",
    )


def check_not_login(text: str) -> None:
    """Raise BadDocument if a page asks for a password in place of the wanted document."""
    if _PASSWORD.search(text) or _LOGIN_WORDS.search(text):
        raise BadDocument(
            DocumentCause.LOGIN_PAGE,
            "a login page came in place of the document; it is not public (any more)",
        )


def refuse_page(text: str, wanted: str) -> None:
    """Raise BadDocument if a text is a web page; it says what was wanted, or that the page is a login."""
    begin = text[:_SCANNED].lstrip()
    while begin.startswith("<!--") and (end := begin.find("-->")) >= 0:
        begin = begin[end + 3 :].lstrip()
    if _HTML.match(begin):
        check_not_login(text)
        raise BadDocument(
            DocumentCause.WRONG_FORMAT,
            f"a web page came in place of {wanted}; look whether its address is right",
        )


def layout_changed(what: str, seen: object) -> BadDocument:
    """Return the error for a document in which something declared is not found."""
    return BadDocument(
        DocumentCause.LAYOUT_CHANGED,
        f"{what}; found {shorten(seen, 200)}. Look at the page and mend the source's declaration",
    )


def _own(body: bytes) -> str | None:
    found = _XML.match(body) or _META.search(body[:_SCANNED])
    return found[1].decode("ascii").lower() if found else None


def _canonical(name: str) -> str:
    try:
        return codecs.lookup(name).name
    except (LookupError, ValueError):  # a null character is no name either
        return name.lower()


def _try(body: bytes, name: str) -> str | None:
    # By the standard of the web, Latin-1 means the Windows encoding that extends it.
    real = "cp1252" if _canonical(name) in {"iso8859-1", "ascii"} else name
    try:
        return body.decode(real)
    except (ValueError, LookupError):
        return None


def _twice_encoded(text: str) -> bool:
    """Whether a text is UTF-8 that somebody took for windows-1252 and encoded again."""
    words = (found[0] for found in _WORD.finditer(text) if not found[0].isascii())
    high = [word for word in islice(words, 200) if _TWICE.search(word)]
    if len(high) < 3:
        return False
    mended = 0
    for word in high:
        try:
            mended += len(word.encode("cp1252").decode("utf-8")) < len(word)
        except UnicodeError:
            continue
    return mended * 2 > len(high)
