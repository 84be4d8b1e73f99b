"""Publishers' names at the edges of a headline: which names count, and taking them off."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from sourcebook.articles._text import clean, has_word
from sourcebook.articles.wires import PUBLISHERS, SECOND_LEVEL_LABELS, SECTION_WORDS, SHARED_HOSTS, Publisher

_EDGE = 100  # characters at either end of a headline in which a name is looked for
_MAX_SEPARATORS = 4
_MAX_NAME = 200
_MAX_PUBLISHERS = 16

_SEPARATOR = re.compile(r"[|¦—―·•]|[-‐‑‒–]+")
_LEADING_BRACKET = re.compile(r"[\[(]([^\[\]()]{1,60})[\])]\s*(?:(?:[:|–—]|--?)\s+)?")
_TRAILING_BRACKET = re.compile(r"(?<!\s)\s*+[\[(]([^\[\]()]{1,60})[\])]$")
_NOT_IN_NAME = re.compile(r"[\W_]+")
_HOST = re.compile(r"(?:[\w-]+\.)+[a-z]{2,24}")
_PARTS_OF_TITLE = re.compile(r"[|¦»>:]\s*|(?<!\s)\s++(?:[|¦»>:]\s*|[-–—―·•]\s+)")


def _name_key(text: str) -> str:
    """Return a lower-case name with its punctuation written as single spaces: how names are compared."""
    return _NOT_IN_NAME.sub(" ", text).strip()


def _index_publishers() -> tuple[dict[str, Publisher], dict[str, Publisher]]:
    by_name: dict[str, Publisher] = {}
    by_domain: dict[str, Publisher] = {}
    for publisher in PUBLISHERS:
        by_name.update(dict.fromkeys(publisher.names + publisher.own_names, publisher))
        by_domain.update(dict.fromkeys(publisher.domains, publisher))
    return by_name, by_domain


_BY_NAME, _BY_DOMAIN = _index_publishers()
_KNOWN_NAMES = frozenset(name for publisher in PUBLISHERS for name in publisher.names)
_AGENCY_NAMES = frozenset(name for publisher in PUBLISHERS if publisher.agency for name in publisher.names)


@dataclass(frozen=True, slots=True)
class PublisherForms:
    """The ways in which an item's own publisher and feed may sign.

    Attributes:
        names: keys of names, as `_name_key` makes them.
        joined: the same names and the hosts' labels without spaces: "japantimes".
        hosts: host names and registered domains.
        credited: the names that are also known publishers', and so may stand before or after a colon.
    """

    names: frozenset[str]
    joined: frozenset[str]
    hosts: frozenset[str]
    credited: frozenset[str]


def _registered_domain(host: str) -> str:
    labels = host.split(".")
    below_country = len(labels) > 2 and labels[-2] in SECOND_LEVEL_LABELS and len(labels[-1]) == 2
    return ".".join(labels[-3:] if below_country else labels[-2:])


def _parents(host: str) -> list[str]:
    labels = host.split(".")
    return [".".join(labels[start:]) for start in range(len(labels) - 1)]


def _as_host(text: str) -> str | None:
    """Return the host that `text` is or, for an address, contains; None for anything else."""
    if " " in text:
        return None
    address = text.partition("://")[2] or text
    host = address.partition("/")[0].removeprefix("www.")
    return host if _HOST.fullmatch(host) else None


def _shortened(key: str) -> list[str]:
    """Return a name, and that name without section words at its end: reuters world news, …, reuters."""
    found = []
    while key:
        found.append(key)
        if key.startswith("the "):
            found.append(key[4:])
        head, _, last = key.rpartition(" ")
        if last not in SECTION_WORDS:
            break
        key = head
    return found


def _is_specific(key: str) -> bool:
    return len(key) >= 2 and not key.replace(" ", "").isdigit() and key not in SECTION_WORDS


@lru_cache(maxsize=2048)
def publisher_forms(publishers: tuple[str, ...]) -> PublisherForms:
    """Derive every form under which an item's own publisher may stand in its headline.

    A whole name or feed title always counts. A part of a title ("World - CBSNews.com") or a shortened one
    ("Reuters World News" to "Reuters") counts only when the host, a known publisher or another of the given
    names confirms it: the feed "Slack - Google News" is about Slack, not by Slack.

    Args:
        publishers: the item's publisher, its feed's title, its host or address, in any order.
    """
    given = [clean(name[:_MAX_NAME]) for name in publishers[:_MAX_PUBLISHERS]]
    hosts: set[str] = set()
    labels: set[str] = set()
    titles: list[str] = []
    for name in given:
        host = _as_host(name)
        if host is None:
            titles.append(name)
            continue
        hosts.add(host)
        registered = _registered_domain(host)
        label = registered.partition(".")[0].replace("-", "")
        if label not in SHARED_HOSTS:
            hosts.add(registered)
            if len(label) > 2:
                labels.add(label)

    names: set[str] = set()
    for title in titles:
        key = _name_key(title)
        names.update(form for form in (key, key.removeprefix("the ")) if _is_specific(form))
    whole = frozenset(names)
    for title in titles:
        for part in _PARTS_OF_TITLE.split(title):
            host = _as_host(part)
            if host is not None:
                hosts.add(host)
                continue
            for form in _shortened(_name_key(part)):
                if _is_specific(form) and (
                    form in _KNOWN_NAMES or form in whole or form.replace(" ", "") in labels
                ):
                    names.add(form)

    known = [_BY_NAME[name] for name in names if name in _BY_NAME]
    known += [_BY_DOMAIN[parent] for host in hosts for parent in _parents(host) if parent in _BY_DOMAIN]
    credited = {name for publisher in known for name in publisher.names + publisher.own_names}
    names |= credited
    hosts |= {domain for publisher in known for domain in publisher.domains}
    return PublisherForms(
        names=frozenset(names),
        joined=frozenset(labels | {name.replace(" ", "") for name in names}),
        hosts=frozenset(hosts),
        credited=frozenset(credited),
    )


def _is_host_of_publisher(host: str, own: PublisherForms) -> bool:
    if any(parent in own.hosts or parent in _BY_DOMAIN for parent in _parents(host)):
        return True
    label = _registered_domain(host).partition(".")[0].replace("-", "")
    return label in own.joined and label not in SHARED_HOSTS


def _names_publisher(candidate: str, own: PublisherForms) -> bool:
    candidate = candidate.strip()
    if not candidate[:1].isalnum():
        return False  # "AA- - Reuters": the name begins after the second hyphen
    host = _as_host(candidate.rstrip("."))
    if host is not None:
        return _is_host_of_publisher(host, own)
    return any(
        form in own.names or form in _KNOWN_NAMES or (len(form) > 2 and form.replace(" ", "") in own.joined)
        for form in _shortened(_name_key(candidate))
    )


def _credits_agency(candidate: str, own: PublisherForms) -> bool:
    """Return whether a name beside a colon is a credit: in "Apple: …" it is the subject."""
    return any(form in _AGENCY_NAMES or form in own.credited for form in _shortened(_name_key(candidate)))


def _separates(text: str, mark: re.Match[str], *, trailing: bool) -> bool:
    """Return whether a mark separates: bars and long dashes do, hyphens only beside a space.

    Before a trailing name the space may stand on either side ("beat -Reuters"); after a leading one it must
    follow, because in "Reuters -3%" the hyphen is a sign.
    """
    if mark[0] in "|¦—―":
        return True
    space_before = text[mark.start() - 1 : mark.start()] == " "
    space_after = text[mark.end() : mark.end() + 1] == " "
    if mark[0] in "·•":
        return space_before and space_after
    return space_after or (trailing and space_before)


def without_leading_name(text: str, own: PublisherForms) -> str:
    """Return a clean headline without the publisher's name in front of it, or as it is."""
    edge = text[:_EDGE]
    if edge[0] in "([":
        bracket = _LEADING_BRACKET.match(edge)
        if bracket and _names_publisher(bracket[1], own) and has_word(text[bracket.end() :]):
            return text[bracket.end() :]
    marks = [mark for mark in _SEPARATOR.finditer(edge) if _separates(edge, mark, trailing=False)]
    # The longest name first: a feed's title may contain a separator.
    for mark in reversed(marks[:_MAX_SEPARATORS]):
        if _names_publisher(edge[: mark.start()], own) and has_word(text[mark.end() :]):
            return text[mark.end() :]
    name, colon, rest = edge.partition(": ")
    if colon and has_word(rest) and _credits_agency(name, own):
        return text[len(name) + 2 :]
    return text


def without_trailing_name(text: str, own: PublisherForms) -> str:
    """Return a clean headline without the publisher's name behind it, or as it is."""
    start = max(0, len(text) - _EDGE)
    edge = text[start:]
    if edge[-1] in ")]":
        bracket = _TRAILING_BRACKET.search(edge)
        if bracket and _names_publisher(bracket[1], own) and has_word(text[: start + bracket.start()]):
            return text[: start + bracket.start()]
    marks = [mark for mark in _SEPARATOR.finditer(edge) if _separates(edge, mark, trailing=True)]
    for mark in marks[-_MAX_SEPARATORS:]:
        kept = text[: start + mark.start()]
        if _names_publisher(edge[mark.end() :], own) and has_word(kept):
            return kept
    rest, colon, name = edge.rpartition(": ")
    if colon and has_word(text[: start + len(rest)]) and _credits_agency(name, own):
        return text[: start + len(rest)]
    return text
