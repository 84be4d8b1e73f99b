"""Names of novae: every way of writing one name becomes the same text, and no two names become one.

The normalized form is a key for looking up, never shown in place of what somebody wrote:

============================  =======================================================
what is written               normalized
============================  =======================================================
``V* V0339 Del``              ``v339 del``
``T Coronae Borealis``        ``t crb``
``Nova Scorpii 2012 No. 2``   ``nova sco 2012 #2``
``N Sco 2012-2``              ``nova sco 2012 #2``
``ASASSN -16ig``              ``asassn-16ig``
``PNV J17452791−2305213``     ``pnv j17452791-2305213``
============================  =======================================================
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from sourcebook.catalog.constellations import BY_NAME, DISPLAYED
from sourcebook.errors import InvalidInput

NAME_LIMIT: Final = 200
"""Characters of the longest name taken; SIMBAD's longest identifiers stay below 70."""

_DASHES = re.compile("[\u00ad\u058a\u1806\u2010-\u2015\u2043\u2212\u2e3a\u2e3b\ufe58\ufe63\uff0d]")
_APOSTROPHES = re.compile("[\u2018\u2019\u02bc\u0060\u00b4]")
_NUMERO = re.compile("\u2116")
# SIMBAD's own marks of the kind of an identifier: they are not part of the name. "V*V1324" occurs as well.
_PREFIX = re.compile(r"^(?:v\*|\*\*|\*|name(?=\s))\s*")

_GALAXIES: Final = frozenset({"lmc", "smc", "m31", "m33", "m81"})
_LONG_NAMES = sorted((name for name in BY_NAME if len(name) > 3), key=len, reverse=True)
_LONG_NAME = re.compile(r"\b(?:" + "|".join(map(re.escape, _LONG_NAMES)) + r")\b")
_CONSTELLATION = "|".join(sorted(set(BY_NAME.values()) | _GALAXIES))

_SERIAL = (
    r"(?:\s*(?:#|no\.?|nr\.?|n\.|number)\s*(?P<marked>\d{1,2})"
    r"|\s*[-/]\s*(?P<dashed>\d{1,2})"
    r"|\s+(?P<roman>x|ix|iv|v?i{1,3}|v)"
    r"|\s+(?P<bare>\d{1,2}))"
)
_NOVA = re.compile(
    rf"(?:nova|n)\.?\s*\(?(?P<where>{_CONSTELLATION})\)?[\s,]*(?P<year>1[0-9]{{3}}|20[0-9]{{2}})(?:{_SERIAL})?"
)
_YEAR_FIRST = re.compile(
    rf"(?:nova|n)\.?\s*(?P<year>1[0-9]{{3}}|20[0-9]{{2}})\s+(?P<where>{_CONSTELLATION})(?:{_SERIAL})?"
)
_NUMBERED = re.compile(rf"(?:nova\s+)?v\s*0*(?P<number>[1-9][0-9]{{2,4}})\s*(?P<where>{_CONSTELLATION})")
_LETTERED = re.compile(rf"(?:nova\s+)?(?P<letters>[a-z]{{1,2}})\s+(?P<where>{_CONSTELLATION})")
_GREEK: Final = {
    chr(code): unicodedata.name(chr(code)).removeprefix("GREEK SMALL LETTER ").casefold()
    for code in range(0x3B1, 0x3CA)
    if code != 0x3C2  # the final sigma, which casefold makes an ordinary one
}
_BAYER = re.compile(
    rf"(?P<letter>{'|'.join(_GREEK.values())})\s*(?P<count>[1-9]?) (?P<where>{_CONSTELLATION})"
)
_ROMAN: Final = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8, "ix": 9, "x": 10}

_NOVA_NAME: Final = re.compile(r"nova (?P<where>[a-z0-9]+) (?P<year>\d{4})(?: #(?P<serial>\d+))?")
_VARIABLE_NAME: Final = re.compile(r"(?P<star>v\d+|[a-z]{1,2}) (?P<where>[a-z]{3})")


def normalize_name(name: str) -> str:
    """Return the text under which a name is looked up.

    Case, accents, kinds of dashes and spaces, SIMBAD's prefixes, the form of the constellation, leading
    zeros of a variable's number and the way of counting the novae of one year make no difference. Names
    of surveys keep every sign that tells one object from the next.

    Raises:
        InvalidInput: if it is empty, too long, or has neither a letter nor a digit.
    """
    text = _spelled(name)
    if not re.search(r"\w", text):
        raise InvalidInput("name", name, "the name of a star, such as V1324 Sco or Nova Sco 2012 No. 2")
    stellar = _LONG_NAME.sub(lambda match: BY_NAME[match[0]], text)
    for pattern in (_NOVA, _YEAR_FIRST):
        if found := pattern.fullmatch(stellar):
            serial = _serial(found)
            return f"nova {found['where']} {found['year']}" + (f" #{serial}" if serial else "")
    if found := _NUMBERED.fullmatch(stellar):
        return f"v{found['number']} {found['where']}"
    if (found := _LETTERED.fullmatch(stellar)) and found["where"] not in _GALAXIES:
        return f"{found['letters']} {found['where']}"
    if found := _BAYER.fullmatch(stellar):
        return f"{found['letter']}{found['count']} {found['where']}"
    # Whatever else: the name of a survey. Spaces around its dash are a habit of printing, signs are not.
    return re.sub(r"(?<=[a-z]) -(?=\d)", "-", text)


def display_name(name: str) -> str:
    """Return a name as it is shown: without SIMBAD's prefix, one space at a time, otherwise as written."""
    text = " ".join(unicodedata.normalize("NFC", name).split())
    return re.sub(r"^(?:V\*|\*\*|\*|NAME(?=\s))\s*", "", text).strip() or text


def spellings(normalized: str) -> tuple[str, ...]:
    """Return the ways in which archives may have a normalized name, the likeliest first."""
    if found := _VARIABLE_NAME.fullmatch(normalized):
        where = DISPLAYED.get(found["where"])
        if where:
            star = (
                found["star"].upper()
                if len(found["star"]) <= 2 or found["star"][1:].isdigit()
                else found["star"]
            )
            padded = [f"V* V{int(star[1:]):04d} {where}"] if star[1:].isdigit() and len(star) < 5 else []
            return (f"V* {star} {where}", *padded, f"{star} {where}")
    if found := _NOVA_NAME.fullmatch(normalized):
        where = DISPLAYED.get(found["where"], found["where"].upper())
        plain, serial = f"Nova {where} {found['year']}", found["serial"]
        if not serial:
            return (f"NAME {plain}", plain)
        return tuple(
            f"{prefix}{plain}{separator}{serial}"
            for separator in (" No. ", " #", "-", " ")
            for prefix in ("NAME ", "")
        )
    return (normalized.upper(), normalized)


def is_designation(normalized: str) -> bool:
    """Whether a name says "a nova of this constellation and year" without saying which one of them."""
    found = _NOVA_NAME.fullmatch(normalized)
    return found is not None and found["serial"] is None


def _spelled(name: str) -> str:
    if not name.strip() or len(name) > NAME_LIMIT:
        raise InvalidInput("name", name, f"a name of 1 to {NAME_LIMIT} characters")
    text = _NUMERO.sub("No", name)
    text = unicodedata.normalize("NFKD", _DASHES.sub("-", text))
    text = "".join(letter for letter in text if not unicodedata.combining(letter))
    text = _APOSTROPHES.sub("'", _DASHES.sub("-", text)).casefold()
    text = "".join(_GREEK.get(letter, letter) for letter in text)
    text = "".join(" " if letter == "_" or not letter.isprintable() else letter for letter in text)
    text = " ".join(text.split())
    while (shorter := _PREFIX.sub("", text)) != text and shorter:
        text = shorter
    return text


def _serial(found: re.Match[str]) -> int | None:
    if found["roman"]:
        return _ROMAN[found["roman"]]
    digits = found["marked"] or found["dashed"] or found["bare"]
    return int(digits) if digits else None
