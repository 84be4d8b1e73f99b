"""What is taken off a headline before the rules of normalization see it.

The order: characters (HTML entities and tags, invisible characters, Unicode NFKC, lower case, white space),
then what newsrooms add (a publisher's name at either end, labels of wire items), until nothing more comes
off. Nothing is taken off when no letter or digit would remain.
"""

from __future__ import annotations

import re

from sourcebook.articles._publishers import PublisherForms, without_leading_name, without_trailing_name
from sourcebook.articles._text import clean, has_word
from sourcebook.articles.wires import GLUED_LABELS, SPACED_LABELS

_LABEL_EDGE = 40  # characters in which a label at the end is looked for

_NUMBER = r"(?:\s*#?\d{1,2})?"
_GLUED = rf"(?:(?:rpt|refile|corrected)\s+)?(?:{'|'.join(GLUED_LABELS)}){_NUMBER}"
_SPACED = rf"(?:{'|'.join(SPACED_LABELS)})"
# A second hyphen before a digit is that number's sign.
_AFTER_GLUED = r"\s*(?:[:|]|-(?:-(?!\d))?|[–—―])\s*"
_AFTER_SPACED = r"(?:\s*[:|—―]\s*|\s+(?:--?|–)\s+)"
_LEADING_LABEL = re.compile(
    rf"[^\w$@]{{0,6}}?(?:{_GLUED}{_AFTER_GLUED}|{_SPACED}{_AFTER_SPACED}|en direct\.\s+)"
    rf"|[^\w\[(【{{*]{{0,6}}[\[(【{{*]{{1,3}}\s?(?:{_GLUED}|{_SPACED})\s?[\])】}}*]{{1,3}}\s*(?:[:|–—-]\s+)?"
)
_TRAILING_LABEL = re.compile(r"(?<!\s)\s*+[\[(](?:updated?|corrected)(?:\s*#?\d{1,2})?[\])]$")


def _without_leading_label(text: str) -> str:
    label = _LEADING_LABEL.match(text)
    return text[label.end() :] if label and has_word(text[label.end() :]) else text


def _without_trailing_label(text: str) -> str:
    if text[-1] not in ")]":
        return text
    label = _TRAILING_LABEL.search(text, max(0, len(text) - _LABEL_EDGE))
    return text[: label.start()] if label and has_word(text[: label.start()]) else text


def prepare(headline: str, own: PublisherForms) -> str:
    """Return the words of the story itself: clean, without labels of wire items and publishers' names.

    The end is finished before the beginning, so that a publisher's name behind a headline never decides what
    becomes of its beginning: of "Update - Reuters" the first word remains, as of "Update".
    """
    text = clean(headline)
    while (shorter := _one_less_at_the_end(text, own)) != text:
        text = shorter
    while (shorter := _one_less_in_front(text, own)) != text:
        text = shorter
    return text


def _one_less_at_the_end(text: str, own: PublisherForms) -> str:
    return _without_trailing_label(without_trailing_name(text, own).rstrip()).rstrip() if text else text


def _one_less_in_front(text: str, own: PublisherForms) -> str:
    return without_leading_name(_without_leading_label(text).lstrip(), own).lstrip() if text else text
