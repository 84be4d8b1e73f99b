"""Names of novae: every way of writing one name becomes the same text, and no two names become one.

The normalized form is a key for looking up, never shown in place of what somebody wrote:

============================  =======================================================
what is written               normalized
============================  =======================================================
``V* V0339 Del``              ``v339 del``
``T Coronae Borealis``        ``t crb``
``Nova Scorpii 2012 No. 2``   ``nova sco 2012 #2``
``N Sco 2012-2``              ``nova sco 2012 #2``
``Nova Cygni 2020c``          ``nova cyg 2020 #3``
``* mu. Cas``, ``μ Cas``      ``mu cas``
``MU Cas``                    ``v* mu cas``
``ASAS-SN 16ig``              ``asassn-16ig``
``AT2021abc``                 ``at 2021abc``
``MOA 2012-BLG-320``          ``moa-2012-blg-320``
``PNVJ17452791−2305213``      ``pnv j17452791-2305213``
============================  =======================================================
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from sourcebook.errors import InvalidInput
from sourcebook.novae.constellations import BY_NAME, DISPLAYED
from sourcebook.records.nova import NAME_LIMIT

_DASHES = re.compile("[\u00ad\u058a\u1806\u2010-\u2015\u2043\u2212\u2e3a\u2e3b\ufe58\ufe63\uff0d]")
_APOSTROPHES = re.compile("[\u2018\u2019\u02bc\u0060\u00b4]")
_SIGNS = str.maketrans({"\u2116": "No", "\u00b0": " ", "\u00ba": " "})
# SIMBAD's own marks of the kind of an identifier: they are not part of the name. "V*V1324" occurs as well.
_PREFIX = re.compile(r"^(?:v\*|\*\*|\*|name(?=\s))\s*", re.IGNORECASE)

_GALAXIES: Final = frozenset({"lmc", "smc", "m31", "m33", "m81"})
_LONG_NAMES = sorted((name for name in BY_NAME if len(name) > 3), key=len, reverse=True)
_LONG_NAME = re.compile(r"\b(?:" + "|".join(map(re.escape, _LONG_NAMES)) + r")\b")
_LONG_WORD = re.compile(r"\b[a-z]{6,16}\b")
_ALIKE: Final = 0.9
"""Of two words: names of different constellations are less alike than 0.85."""
_STELLAR = "|".join(sorted(set(BY_NAME.values())))
_CONSTELLATION = "|".join(sorted(set(BY_NAME.values()) | _GALAXIES))

_YEAR = r"\(?(?P<year>1[0-9]{3}|20[0-9]{2})\)?"
_NUMBER_WORD = r"(?:#|no\.?|nr\.?|num\.?|n\.?|number)"
_SERIAL = (
    rf"(?:[\s,]*\(?{_NUMBER_WORD}\s*(?P<marked>0?[1-9]|[1-9]\d)\)?"
    r"|\s*[-/]\s*(?P<dashed>0?[1-9]|[1-9]\d)"
    r"|\s+(?P<roman>x|ix|iv|v?i{1,3}|v)"
    r"|(?P<joined_roman>ix|iv|vi{1,3}|i{2,3})"
    r"|-?(?P<letter>[a-z])"
    r"|\s+(?P<spaced_letter>[a-hj-uwyz])"
    r"|\s+(?P<bare>0?[1-9]|[1-9]\d))"
)
_NOVA_WORD = r"(?:nova|n)\.?"
_WHERE = rf"\(?(?P<where>{_CONSTELLATION})\.?\)?"
_NOVA_PATTERNS: Final = (
    re.compile(rf"{_NOVA_WORD}\s*{_WHERE}[\s,]*{_YEAR}(?:{_SERIAL})?"),
    re.compile(rf"{_NOVA_WORD}\s*{_YEAR}\s+{_WHERE}(?:{_SERIAL})?"),
    re.compile(rf"{_YEAR}\s+{_NOVA_WORD}\s+{_WHERE}(?:{_SERIAL})?"),
    re.compile(
        rf"{_NOVA_WORD}\s*{_WHERE}(?:\s+(?P<roman>x|ix|iv|v?i{{1,3}}|v)"
        rf"|[\s,]+{_NUMBER_WORD}\s*(?P<marked>0?[1-9]|[1-9]\d))[\s,]+{_YEAR}"
    ),
)
_NUMBERED = re.compile(rf"(?:nova\s+)?v[-\s]*0*(?P<number>[1-9][0-9]{{2,5}})[-\s]*(?P<where>{_STELLAR})")
_OF_GALAXY: Final = (
    re.compile(r"(?P<where>lmc|smc|m31|m33|m81)\s*+-?\s*+v\s*+0*+(?P<number>[1-9][0-9]{0,5})"),
    re.compile(r"(?:nova\s+)?v\s*0*(?P<number>[1-9][0-9]{0,5})\s+(?P<where>lmc|smc|m31|m33|m81)"),
)
_LETTERED = re.compile(rf"(?:nova\s+)?(?P<letters>[a-z]{{1,2}})(?:\s+|-)(?P<where>{_STELLAR})")
_LETTERED_TOGETHER = re.compile(
    rf"(?:Nova\s+)?(?P<letters>[A-Z]{{1,2}})(?P<where>{'|'.join(sorted(DISPLAYED.values()))})"
)

_GREEK: Final = {
    chr(code): unicodedata.name(chr(code)).removeprefix("GREEK SMALL LETTER ").casefold()
    for code in range(0x3B1, 0x3CA)
    if code != 0x3C2  # the final sigma, which casefold makes an ordinary one
} | {"\u03bb": "lambda"}
_SIMBAD_LETTERS: Final = {
    name: {"xi": "ksi", "theta": "tet", "alpha": "alf"}.get(name, name[:3]) for name in _GREEK.values()
}
"""SIMBAD's three letters for each Greek one; of two letters they have a full stop besides."""
_BAYER_LETTERS: Final = (
    {name: name for name in _GREEK.values()}
    | {short: name for name, short in _SIMBAD_LETTERS.items()}
    | {"lamda": "lambda", "the": "theta", "alp": "alpha", "xi": "xi", "kpa": "kappa", "omg": "omega"}
)
_TWO_LETTERS: Final = frozenset({"mu", "nu", "xi", "pi"})
"""Greek letters whose names in capitals are letters of variable stars: MU Cas is not μ Cas."""
_BAYER = re.compile(
    rf"(?P<letter>{'|'.join(sorted(_BAYER_LETTERS, key=len, reverse=True))})(?P<stop>\.?)\s*[-^]?\s*"
    rf"(?P<count>\d{{0,2}})\s+(?P<where>{_STELLAR})"
)
_BAYER_GREEK = re.compile(rf"\.?\s*+[-^]?\s*+(?P<count>\d{{0,2}})\s*+(?P<where>{_STELLAR})")
_ROMAN: Final = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8, "ix": 9, "x": 10}

_NOVA_NAME: Final = re.compile(r"nova (?P<where>[a-z0-9]+) (?P<year>\d{4})(?: #(?P<serial>\d+))?")
_VARIABLE_NAME: Final = re.compile(r"(?:v\* )?(?P<star>v\d+|[a-z]{1,2}) (?P<where>[a-z]{3})")
_BAYER_NAME: Final = re.compile(r"(?P<letter>[a-z]+)(?P<count>\d*) (?P<where>[a-z]{3})")
_BETWEEN_NAMES: Final = re.compile(r"[=/,()]")
_ERUPTION: Final = re.compile(r"1[0-9]{3}|20[0-9]{2}")

_OPTICAL_TRANSIENT: Final = re.compile(r"^master ?ot$")
_JOINED_SURVEYS: Final = "ztf|gaia|atlas|iptf|ptf|ps|goto|lsst|bg|dlt|kait|css|mls|sss"
_SURVEYS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...]] = (
    (re.compile(r"(at|sn|tde) ?-? ?(\d{4}) ?([a-z]{1,7})"), lambda m: f"{m[1]} {m[2]}{m[3]}"),
    (re.compile(r"asas ?-? ?sn ?-? ?(\d{2}[a-z]{1,4})"), lambda m: f"asassn-{m[1]}"),
    (
        re.compile(r"(m31|m33|m81|m82|lmc|smc) ?-? ?n ?-? ?(\d{4}) ?-? ?(\d{2}[a-z]{0,2})"),
        lambda m: f"{m[1]}n {m[2]}-{m[3]}",
    ),
    (re.compile(rf"({_JOINED_SURVEYS}) ?-? ?(\d{{2}}[a-z]{{1,9}})"), lambda m: f"{m[1]}{m[2]}"),
    (
        re.compile(r"(moa|ogle|kmt|eros|macho)(?:net)? ?-? ?(\d{4}) ?-? ?([a-z]{2,5}) ?-? ?(\d{1,6})"),
        lambda m: f"{m[1]}-{m[2]}-{m[3]}-{m[4]}",
    ),
    (re.compile(r"(bd|cd|cpd) ?([+-]) ?(\d{1,2}) (\d{1,5}[a-z]?)"), lambda m: f"{m[1]}{m[2]}{m[3]} {m[4]}"),
    (re.compile(r"gaia ?(e?dr) ?(\d) (\d{4,20})"), lambda m: f"gaia {m[1]}{m[2]} {m[3]}"),
    (
        re.compile(
            r"(\d?[a-z][a-z0-9.-]{0,20}(?: [a-z]{1,4})?) ?j ?(\d{4,20}\.?\d{0,20}) ?([+-])"
            r" ?(\d{3,20}\.?\d{0,20}[a-z]?)"
        ),
        lambda m: f"{_OPTICAL_TRANSIENT.sub('master ot', m[1].rstrip('-'))} j{m[2]}{m[3]}{m[4]}",
    ),
    (re.compile(r"(?!ps\b|ps\d)([a-z]{2,10}) ?(\d.*)"), lambda m: f"{m[1]} {m[2]}"),
)
"""Official names of surveys and catalogues, whose prefixes are written with a blank, a dash or neither."""


def normalize_name(name: str) -> str:
    """Return the text under which a name is looked up.

    Accents, kinds of dashes and spaces, SIMBAD's marks and abbreviations, the form of the constellation,
    leading zeros of a variable's number, the way of counting the novae of one year, and blanks after the
    prefix of a survey make no difference. Case makes none either, but for the letters that may be Greek:
    ``MU Cas`` is a variable star and ``mu Cas`` the Bayer name. Names of surveys keep every sign that
    distinguishes objects.

    Raises:
        InvalidInput: if it is empty, too long, or has neither a letter nor a digit.
    """
    normalized = _normalized(name)
    for _ in range(_TIMES_AT_MOST):
        again = _normalized(normalized)
        if again == normalized:
            break
        normalized = again
    return normalized


_TIMES_AT_MOST: Final = 8
"""A name inside a name may need another look: "NAME V* Nova V339 Del" has four parts that are no name."""


def _normalized(name: str) -> str:
    written, variable = _written(name)
    if not re.search(r"\w", written):
        raise InvalidInput("name", name, "the name of a star, such as V1324 Sco or Nova Sco 2012 No. 2")
    if stellar := _stellar(written, variable=variable):
        return stellar
    parts = [part.strip() for part in _BETWEEN_NAMES.split(written) if part.strip()]
    names = [part for part in parts if not _ERUPTION.fullmatch(part)]
    known = [form for name in names if (form := _known(name, variable=variable))]
    if len(parts) > 1 and known and len(known) == len(names):
        form = min(known, key=_may_be_confused)
        alike = {other for other in known if _may_be_confused(other) == _may_be_confused(form)}
        # "RS Oph (2021)" is RS Oph: the year is that of one of its eruptions. Two stars are not one.
        if len(alike) == 1 and (names == parts or _VARIABLE_NAME.fullmatch(form)):
            return form
    # Whatever else: spaces around its dash are a habit of printing, signs are not.
    return _of_survey(written) or re.sub(r"(?<=[a-z]) -(?=\d)", "-", _without_greek(written))


def _known(written: str, *, variable: bool) -> str | None:
    """Return the normalized form of one of several names; None if it is not known to be a name."""
    written, marked = _without_prefix(written)
    return _stellar(written, variable=variable or marked) or _of_survey(written)


def _may_be_confused(normalized: str) -> int:
    """Return the rank of a name: a variable star's is of one star, the novae of a year may be confused."""
    if normalized.startswith("nova "):
        return 2
    return 0 if _VARIABLE_NAME.fullmatch(normalized) else 1


def _of_survey(written: str) -> str | None:
    """Return the normalized name of a survey's object; None if it is of no survey or catalogue."""
    text = _without_greek(written)
    return next((form(found) for pattern, form in _SURVEYS if (found := pattern.fullmatch(text))), None)


def _without_greek(written: str) -> str:
    return "".join(_GREEK.get(letter, letter) for letter in written.casefold())


def _stellar(written: str, *, variable: bool) -> str | None:
    """Return the normalized name of a nova, a variable star or a Bayer star; None if it is none of these."""
    text = _LONG_NAME.sub(
        lambda match: BY_NAME[match[0]], _LONG_WORD.sub(lambda match: _spelled(match[0]), written.casefold())
    )
    for pattern in _NOVA_PATTERNS:
        if found := pattern.fullmatch(text):
            serial = _serial(found)
            return f"nova {found['where']} {found['year']}" + (f" #{serial}" if serial else "")
    if found := _NUMBERED.fullmatch(text):
        return f"v{found['number']} {found['where']}"
    for pattern in _OF_GALAXY:
        if found := pattern.fullmatch(text):
            return f"{found['where']} v{found['number']}"
    if bayer := _bayer(written, text, variable=variable):
        return bayer
    found = _LETTERED.fullmatch(text) or _LETTERED_TOGETHER.fullmatch(written)
    if found is None:
        return None
    letters, where = found["letters"].casefold(), found["where"].casefold()
    return f"v* {letters} {where}" if letters in _TWO_LETTERS else f"{letters} {where}"


@lru_cache(maxsize=1000)
def _spelled(word: str) -> str:
    """Return a word, or the constellation of which it is a misspelling: "Sagitarii"."""
    close = difflib.get_close_matches(word, _LONG_NAMES, n=2, cutoff=_ALIKE)
    return close[0] if len({BY_NAME[name] for name in close}) == 1 else word


def _bayer(written: str, text: str, *, variable: bool) -> str | None:
    """Return the normalized name of a star with a Greek letter; None if it has none."""
    if (letter := _GREEK.get(text[:1])) is not None:
        found = _BAYER_GREEK.fullmatch(text, 1)
    elif found := _BAYER.fullmatch(text):
        letter = _BAYER_LETTERS[found["letter"]]
        as_variable = variable or written[:2].isupper()
        if found["letter"] in _TWO_LETTERS and as_variable and not found["stop"] and not found["count"]:
            return None
    if found is None or letter is None:
        return None
    count = found["count"].lstrip("0")
    return f"{letter}{count} {found['where']}"


def display_name(name: str) -> str:
    """Return a name as it is shown: without SIMBAD's marks, one space at a time, otherwise as written."""
    text = " ".join(unicodedata.normalize("NFC", name).split())
    return re.sub(r"^(?:V\*|\*\*|\*|NAME(?=\s))\s*", "", text).strip() or text


def spellings(normalized: str) -> tuple[str, ...]:
    """Return the ways in which archives may have a normalized name, the likeliest first."""
    where = DISPLAYED.get(normalized.rpartition(" ")[2])
    found = _BAYER_NAME.fullmatch(normalized)
    if where and found and found["letter"] in _SIMBAD_LETTERS:
        short = _SIMBAD_LETTERS[found["letter"]].ljust(3, ".")
        count = f"{int(found['count']):02d}" if found["count"] else ""
        return (f"* {short}{count} {where}", f"{found['letter']}{found['count']} {where}")
    if where and (found := _VARIABLE_NAME.fullmatch(normalized)):
        star = found["star"].upper()
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
    return (*_survey_spellings(normalized), normalized.upper(), normalized)


def _survey_spellings(normalized: str) -> tuple[str, ...]:
    """Return a survey's name as the survey and SIMBAD write it; empty if it is not one of those known."""
    if found := re.fullmatch(r"(at|sn|tde) (\d{4})([a-z]+)", normalized):
        letters = found[3].upper() if len(found[3]) == 1 else found[3]
        return (f"{found[1].upper()} {found[2]}{letters}", f"{found[1].upper()}{found[2]}{letters}")
    if found := re.fullmatch(r"asassn-(\w+)", normalized):
        return (f"ASASSN-{found[1]}", f"ASASSN -{found[1]}")
    if found := re.fullmatch(r"(moa|ogle|kmt)-(\d{4})-(.+)", normalized):
        name, rest = found[1].upper(), found[3].upper()
        return (f"{name}-{found[2]}-{rest}", f"{name} {found[2]}-{rest}")
    if found := re.fullmatch(r"(m31|m33|m81|m82|lmc|smc)n (\S+)", normalized):
        return (f"{found[1].upper()}N {found[2]}",)
    if found := re.fullmatch(r"(gaia|ztf|atlas|ps|i?ptf)(\d\d[a-z]+)", normalized):
        shown = {"gaia": "Gaia", "iptf": "iPTF"}.get(found[1], found[1].upper())
        return (f"{shown}{found[2]}",)
    return ()


def is_designation(normalized: str) -> bool:
    """Whether a name says "a nova of this constellation and year" without saying which one of them."""
    found = _NOVA_NAME.fullmatch(normalized)
    return found is not None and found["serial"] is None


def _written(name: str) -> tuple[str, bool]:
    """Return a name in plain characters, its case kept, and whether a mark says that it is a variable star's.

    Raises:
        InvalidInput: if it is empty or too long.
    """
    if not name.strip() or len(name) > NAME_LIMIT:
        raise InvalidInput("name", name, f"a name of 1 to {NAME_LIMIT} characters")
    text = unicodedata.normalize("NFKD", _DASHES.sub("-", name.translate(_SIGNS)))
    text = "".join(letter for letter in text if not unicodedata.combining(letter))
    text = _APOSTROPHES.sub("'", _DASHES.sub("-", text))
    text = "".join(" " if letter == "_" or not letter.isprintable() else letter for letter in text)
    return _without_prefix(" ".join(text.split()).strip(" \"',;:").removesuffix("."))


def _without_prefix(text: str) -> tuple[str, bool]:
    """Return a name without SIMBAD's marks, and whether one of them says that it is a variable star's."""
    variable = False
    while (shorter := _PREFIX.sub("", text)) != text and shorter:
        variable = variable or text[:2].casefold() == "v*"
        text = shorter
    return text, variable


def _serial(found: re.Match[str]) -> int | None:
    parts = {name: text for name, text in found.groupdict().items() if text}
    if roman := parts.get("roman") or parts.get("joined_roman"):
        return _ROMAN[roman]
    if letter := parts.get("letter") or parts.get("spaced_letter"):
        return ord(letter) - ord("a") + 1
    digits = parts.get("marked") or parts.get("dashed") or parts.get("bare")
    return int(digits) if digits else None
