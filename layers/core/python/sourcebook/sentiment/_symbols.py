"""Lists of ticker symbols, as publishers write them: "(NYSE: MA, V)", "NASDAQ:COST; MU", "($MA, V)"."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

_AMERICAN: Final = (
    r"(?i:NYSE(?:\s?(?:American|Arca|MKT|National|Chicago))?"
    r"|NASDAQ(?:\s?(?:GS|GM|CM|Global(?:\s(?:Select\s)?Market)?|Capital\sMarket|Stock\sMarket))?|AMEX|CBOE(?:\s?BZX)?)"
    r"|BATS|BZX|IEX|OTC(?:QX|QB|PK|BB|MKTS)?|OTC\sMarkets|OTC\sPink"
)
_FOREIGN: Final = (
    r"(?i:TSX(?:[\s.-]?V(?:enture)?)?|Euronext(?:\s(?:Paris|Amsterdam|Brussels|Lisbon|Dublin|Milan|Oslo))?|XETRA)"
    r"|CVE|CSE|NEO|LSE|LON|AIM|ASX|NZX|HKEX|SEHK|HKG|SGX|TYO|TSE|KRX|NSE|BSE|JSE|EPA|AMS|ETR|FRA|FWB|SIX|SWX|BIT|BME|STO|TASE"
)
_LIST: Final = re.compile(
    rf"(?<![\w$.])(?:(?P<american>{_AMERICAN})|(?P<foreign>{_FOREIGN}))\s?[:：]\s?[(\[]?\s?|[(\[]\s?(?=\$[A-Z])"
)
_CASHTAG: Final = re.compile(r"(?<![\w$])(?=\$[A-Z])")
_SYMBOL: Final = re.compile(r"\$?(?P<root>[A-Z0-9]{1,6})(?!\w)")
_CLASS: Final = re.compile(r"(?P<mark>[./\- ])(?P<letter>[A-C]|PR\.?[A-Z]|P[A-Z])(?!\w)")
SHARE_CLASSES: Final = frozenset("ABC")
_BARE: Final = re.compile(
    r"(?<![\w$.:/-])(?P<root>[A-Z]{2,5})(?:[.-][A-C]|(?P<reuters>\.(?:OQ|O|N|K)))(?![\w-]|\.\w)"
)
"""A class of shares without an exchange: BRK-B; or a symbol of Reuters': AAPL.O."""
_SEPARATOR: Final = re.compile(r"\s?(?:(?:[,;/|&+]|(?i:and|or)\b)\s?){1,2}")
_WORD: Final = re.compile(r"\s+[a-z]")


class Symbol(NamedTuple):
    """A symbol that a list names.

    Attributes:
        at: where it begins in the text.
        spelling: with its class behind a point: ``BRK.B``.
        root: without its class: ``BRK``.
        is_foreign: whether an exchange outside of the United States is named for it.
    """

    at: int
    spelling: str
    root: str
    is_foreign: bool


def listed(text: str, with_classes: Collection[str]) -> Iterator[Symbol]:
    """Yield the symbols that an exchange, or a cashtag in brackets, stands before; and each cashtag.

    Also those that have a class, or the suffix of Reuters, wherever they stand.

    Args:
        text: a headline or more.
        with_classes: roots of the symbols that are known with a class, such as BRK of ``BRK.B``: only for
            these is "BRK/B" or "BRK B" one symbol and not two.
    """
    if ":" in text or "：" in text or "$" in text:
        for found in _LIST.finditer(text):
            yield from _from(text, found.end(), with_classes, is_foreign=found["foreign"] is not None)
    if "$" in text:
        for found in _CASHTAG.finditer(text):
            if (one := _symbol(text, found.end(), with_classes, is_foreign=False)) is not None:
                yield one[0]
    for found in _BARE.finditer(text) if "." in text or "-" in text else ():
        root = found["root"]
        if found["reuters"]:
            yield Symbol(found.start(), root, root, is_foreign=False)
        elif root in with_classes and (one := _symbol(text, found.start(), with_classes, is_foreign=False)):
            yield one[0]


def _from(text: str, at: int, with_classes: Collection[str], *, is_foreign: bool) -> Iterator[Symbol]:
    while (one := _symbol(text, at, with_classes, is_foreign=is_foreign)) is not None:
        symbol, end = one
        # "NYSE: MA, A deal is near": an article, and no symbol.
        if symbol.spelling in {"A", "I"} and _WORD.match(text, end):
            return
        yield symbol
        separator = _SEPARATOR.match(text, end)
        if separator is None:
            return
        at = separator.end()


def _symbol(
    text: str, at: int, with_classes: Collection[str], *, is_foreign: bool
) -> tuple[Symbol, int] | None:
    found = _SYMBOL.match(text, at)
    if found is None:
        return None
    root = found["root"]
    share = _CLASS.match(text, found.end())
    if share is None or (share["mark"] in "/ " and root not in with_classes):
        return Symbol(found.start("root"), root, root, is_foreign), found.end()
    return Symbol(found.start("root"), f"{root}.{share['letter']}", root, is_foreign), share.end()
