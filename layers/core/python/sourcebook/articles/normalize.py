"""When two headlines are the same story: normalization, the key, and what distinguishes equal keys.

Two articles become one record when their `dedup_key` and their `signature` are equal. Only the standard
library is used and nothing is read or written, so the command line, the functions and a notebook get the
same answer.
Why each rule is as it is: docs/decisions/0020-headline-normalization.md.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from sourcebook.articles._preparation import prepare
from sourcebook.articles._publishers import PublisherForms, publisher_forms
from sourcebook.articles._signature import signature_of
from sourcebook.articles._text import MAX_CHARACTERS, has_word
from sourcebook.clock import to_utc
from sourcebook.errors import InvalidInput

__all__ = [
    "MAX_CHARACTERS",
    "HeadlineIdentity",
    "dedup_key",
    "identify",
    "neighbouring_keys",
    "normalize_headline",
    "signature",
]

_KEY_LENGTH = 32


@dataclass(frozen=True, slots=True)
class HeadlineIdentity:
    """The identity of a story, made of its headline.

    Attributes:
        normalized: the normalized headline, never empty.
        signature: the tokens whose meaning is in their punctuation; empty when there are none.
        dedup_key: the seed's key: normalized headline and day, 32 hexadecimal digits.
        day: the day of publication in UTC.
    """

    normalized: str
    signature: str
    dedup_key: str
    day: date

    @property
    def signed_key(self) -> str:
        """The key to use when `dedup_key` already belongs to an article with another signature."""
        return dedup_key(self.normalized, self.day, signature=self.signature)


def identify(headline: str, published_at: datetime, publishers: Iterable[str] = ()) -> HeadlineIdentity:
    """Return the identity of a headline's story: the one call that ingestion needs.

    Args:
        headline: as the source gave it.
        published_at: when it was published; aware, in any zone.
        publishers: the item's publisher, its feed's title and its host, as far as known, in any order.

    Raises:
        InvalidInput: naming ``headline`` when no letter or digit remains, ``published_at`` when it is naive.
    """
    day = _utc(published_at).date()
    prepared = _prepared(headline, publishers)
    normalized = _apply_rules(prepared)
    return HeadlineIdentity(normalized, signature_of(prepared), dedup_key(normalized, day), day)


def normalize_headline(headline: str, publishers: Iterable[str] = ()) -> str:
    """Return a headline in the form in which equal stories are equal.

    Preparation: HTML entities decoded (twice-encoded ones too), common tags removed, Unicode NFKC, labels of
    wire items ("UPDATE 2-", "BREAKING:", "(Updated)") and a leading or trailing publisher's name removed when
    it is the item's own or a known one, never when nothing would remain. Then the five rules of the seed:
    lower case, punctuation and symbols removed, white space collapsed, trimmed, not empty. Letters and digits
    of every script stay, with the combining marks that follow them; accents are not folded.

    The first `MAX_CHARACTERS` characters are read. Normalizing a normalized headline changes nothing.

    Args:
        headline: as the source gave it.
        publishers: the item's publisher, its feed's title and its host, as far as known, in any order.

    Raises:
        InvalidInput: naming ``headline``, when it is no text or no letter or digit remains.
    """
    return _apply_rules(_prepared(headline, publishers))


def signature(headline: str, publishers: Iterable[str] = ()) -> str:
    """Return the tokens of a headline whose meaning lies in their punctuation, in order, between spaces.

    Numbers with a minus sign, decimals, a currency, a percent sign or inner joints ("3-2", "9/11", "10:30"),
    with thousands separators removed and written in one way; words such as C++, C#, .NET, Disney+, AA-. Plain
    whole numbers are left out: the normalized headline holds them. Preparation comes first, so labels and
    publishers' names change nothing.

    Args:
        headline: as the source gave it.
        publishers: as for `normalize_headline`.

    Raises:
        InvalidInput: naming ``headline``, when it is no text or no letter or digit remains.
    """
    return signature_of(_prepared(headline, publishers))


def dedup_key(normalized: str, published_on: date, signature: str | None = None) -> str:
    """Return the key of a story: the first 32 hexadecimal digits of a SHA-256.

    What is hashed, in UTF-8: ``{normalized}|{YYYY-MM-DD}``, and with a signature
    ``{normalized}|{YYYY-MM-DD}|{signature}``. The second form is for the article that finds the first taken
    by an article with another signature. An empty signature is a signature: it too gives a key of its own.

    Args:
        normalized: the result of `normalize_headline`.
        published_on: the day of publication in UTC; of an aware datetime, its day in UTC.
        signature: the result of `signature` in case of that conflict; None otherwise.

    Raises:
        InvalidInput: naming ``normalized_headline`` when it is empty, ``published_at`` for a naive datetime.
    """
    if not normalized:
        raise InvalidInput("normalized_headline", normalized, "the result of normalize_headline")
    day = _utc(published_on).date() if isinstance(published_on, datetime) else published_on
    text = f"{normalized}|{day.isoformat()}"
    if signature is not None:
        text = f"{text}|{signature}"
    return hashlib.sha256(text.encode()).hexdigest()[:_KEY_LENGTH]


def neighbouring_keys(
    normalized: str, published_at: datetime, hours: int = 6, *, signature: str | None = None
) -> list[str]:
    """Return the keys under which the same story may stand because midnight UTC lay between two sources.

    Args:
        normalized: the result of `normalize_headline`.
        published_at: when the newcomer was published; aware.
        hours: how near to midnight counts, 0 to 24; exactly this many hours still does.
        signature: as for `dedup_key`, to look for neighbours that had to take theirs into the key.

    Returns:
        The previous day's key, the next day's, both (when `hours` is 12 or more), or none.

    Raises:
        InvalidInput: naming ``published_at`` when it is naive, ``hours`` when it is out of range.
    """
    if not 0 <= hours <= 24:
        raise InvalidInput("hours", hours, "a number of hours from 0 to 24")
    moment = _utc(published_at)
    day = moment.date()
    since_midnight = moment - moment.replace(hour=0, minute=0, second=0, microsecond=0)
    reach = timedelta(hours=hours)
    days = []
    if since_midnight <= reach and reach and day > date.min:
        days.append(day - timedelta(days=1))
    if timedelta(days=1) - since_midnight <= reach and day < date.max:
        days.append(day + timedelta(days=1))
    return [dedup_key(normalized, neighbour, signature) for neighbour in days]


def _utc(published_at: datetime) -> datetime:
    try:
        return to_utc(published_at)
    except (ValueError, OverflowError):
        expected = "a date and time with its zone, such as 2026-11-27T21:56:00Z"
        raise InvalidInput("published_at", published_at.isoformat(), expected) from None


def _forms(publishers: Iterable[str]) -> PublisherForms:
    given = (publishers,) if isinstance(publishers, str) else tuple(publishers)
    return publisher_forms(tuple(name for name in given if name))


def _prepared(headline: str, publishers: Iterable[str]) -> str:
    if not isinstance(headline, str):
        raise InvalidInput("headline", headline, "text")
    prepared = prepare(headline, _forms(publishers))
    if not has_word(prepared):
        raise InvalidInput("headline", headline, "a headline with at least one letter or digit")
    return prepared


_NOT_KEPT_IN_ASCII = {code: None for code in range(128) if not (chr(code).isalnum() or chr(code).isspace())}
# Everything between words. In `re`, \w is exactly Unicode's letters and numbers (L*, N*) and the underscore.
_BETWEEN_WORDS = re.compile(r"[\W_]+")


def _keep_marks_and_spaces(match: re.Match[str]) -> str:
    run = match.group()
    if run == " ":
        return run
    kept = []
    attached = match.start() > 0  # a combining mark belongs to a word only where it follows it directly
    for character in run:
        if character.isspace():
            kept.append(" ")
            attached = False
        elif attached and unicodedata.category(character)[0] == "M":
            kept.append(character)
        else:
            attached = False
    return "".join(kept)


def _apply_rules(prepared: str) -> str:
    """Apply the seed's rules 2 to 4 (see `clean` for rule 1, `_prepared` for rule 5)."""
    if prepared.isascii():
        text = prepared.translate(_NOT_KEPT_IN_ASCII)
    else:
        # What stood apart only by punctuation may compose now (Hangul letters).
        text = unicodedata.normalize("NFKC", _BETWEEN_WORDS.sub(_keep_marks_and_spaces, prepared))
    return " ".join(text.split())[:MAX_CHARACTERS].rstrip()
