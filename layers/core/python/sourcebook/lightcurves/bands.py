"""Pass bands under one name each.

The names are those of AAVSO's list of filters where it has one, for most photometry of novae is written with
them; letters alone are Johnson-Cousins in capitals and in lower case Sloan, and o and c of ATLAS.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Final

from sourcebook.errors import InvalidInput
from sourcebook.lightcurves.model import WORD_LIMIT

_JOHNSON_COUSINS: Final = {letter.lower(): letter for letter in "UBVRIJHK"}
_SLOAN: Final = {letter: letter for letter in "ugriz"}
_LETTERS: Final = frozenset({*_JOHNSON_COUSINS.values(), *_SLOAN, "o"})
_AAVSO: Final = {
    "SU": "u",
    "SG": "g",
    "SR": "r",
    "SI": "i",
    "SZ": "z",
    **{
        name: name
        for name in (
            *("RJ", "IJ", "ZS", "Y", "TB", "TG", "TR", "CV", "CR", "CBB", "O", "MA", "MB", "MI"),
            *("STU", "STV", "STB", "STY", "STHBW", "STHBN"),
        )
    },
    "HA": "Ha",
    "HAC": "HaC",
    "VIS": "Visual",
}
_GAIA: Final = {name: f"Gaia {name[-2:].upper()}" for name in ("g", "bp", "rp", "gbp", "grp", "g bp", "g rp")}
_OTHERS: Final = {
    **dict.fromkeys(("visual", "vis.", "vis"), "Visual"),
    **dict.fromkeys(("h-alpha", "halpha", "hα"), "Ha"),
    **dict.fromkeys(("clear", "unfiltered", "none", "open", "no filter", "nofilter", "clr"), "C"),
    **dict.fromkeys(("pg", "mpg", "m pg", "ptg", "photographic"), "pg"),
    **dict.fromkeys(("pv", "mpv", "m pv", "photovisual"), "pv"),
    **{f"{letter}p": letter for letter in "ugiz"},
    **{f"z{letter}": letter for letter in "gri"},
    **{name: band for name, band in _GAIA.items() if name != "g"},
    "ks": "Ks",
    "k s": "Ks",
    "z s": "ZS",
    **{name.lower(): name for name in "JHK"},
    "orange": "o",
    "cyan": "c",
    "tess": "TESS",
    "kepler": "Kepler",
    **{name.lower(): name for name in ("C", "UVW1", "UVM2", "UVW2", "FUV", "NUV", "W1", "W2", "W3", "W4")},
}
_AMBIGUOUS: Final = {
    "b": "B for Johnson's, or STB for Strömgren's",
    "v": "V for Johnson's, or STV for Strömgren's",
    "y": "Y for the infrared band, or STY for Strömgren's",
    "c": "clear for no filter, or ATLAS c for the cyan of ATLAS",
    "rp": "r for Sloan's, or Gaia RP",
    "G": "Gaia G, TG for a colour camera's green channel, or g for Sloan's",
}
_SYSTEMS: Final[Mapping[str, Mapping[str, str]]] = {
    "johnson": {**_JOHNSON_COUSINS, "r": "RJ", "i": "IJ"},
    "johnson[- /]?cousins|cousins|bessell?|landolt": _JOHNSON_COUSINS,
    "sdss|sloan|ztf|des|decam": {**_SLOAN, "z s": "ZS", "zs": "ZS"},
    "ps1|p1|pan-?starrs1?|lsst": {**_SLOAN, "z": "ZS", "zs": "ZS", "y": "Y"},
    "atlas": {"o": "o", "orange": "o", "c": "c", "cyan": "c"},
    "gaia(?:e?dr)?[1-4]?": _GAIA,
    "swift|(?:swift[ ._/:-]?)?uvot": {
        **{f"{uv}{name}": f"UV{name.upper()}" for uv in ("uv", "") for name in ("w1", "m2", "w2")},
        **{name: f"UVOT {name.upper()}" for name in ("u", "b", "v")},
    },
    "galex": {"fuv": "FUV", "nuv": "NUV"},
    "2mass": {"j": "J", "h": "H", "k": "Ks", "ks": "Ks"},
    "(?:neo)?wise": {name.lower(): name for name in ("W1", "W2", "W3", "W4")},
    "str(?:o|ö|oe)mgren": {name: f"ST{name.upper()}" for name in "uvby"},
    "tess": {"red": "TESS"},
    "tri-?colou?r|dslr": {
        f"{word[:n]}": f"T{word[0].upper()}" for word in ("blue", "green", "red") for n in (1, 9)
    },
    "clear|unfiltered": {"v": "CV", "r": "CR"},
    "(?:ztf )?fid": {"1": "g", "2": "r", "3": "i"},
}
"""The bands of each system by what they are called in it; the keys are patterns.

Gaia's, Swift's and ATLAS's own are kept apart from others of their letter. AAVSO has ZS and Y for those of
Pan-STARRS, and RJ and IJ for Johnson's R and I, which are not those of Cousins.
"""
_BY_SYSTEM: Final = tuple(
    (re.compile(form.format(words)), bands)
    for words, bands in _SYSTEMS.items()
    # "SDSS g'", "ztfg" and "SLOAN/SDSS.g" of the SVO's filter service; "g-ZTF" and "V (Bessell)".
    for form in (r"(?:[\w-]+/)?(?:{})[ ._/:-]*(?P<band>.+)", r"(?P<band>.+?)[ ._-]*\(?(?:{})\)?")
)
_SUFFIXED: Final = re.compile(r"(?P<letter>[UBVRI]|[ri](?=c)) ?\(?(?P<system>[CcJj])\)?")
"""Rc and Ic of Cousins, Vj of Johnson."""
_UNITS: Final = {
    **{name.lower(): name for name in ("GHz", "MHz", "keV", "MeV", "GeV", "um", "nm", "Angstrom")},
    **dict.fromkeys(("µm", "μm"), "um"),
    "å": "Angstrom",
}
_SPECTRAL: Final = re.compile(
    r"(?P<value>\d{1,6}(?:[.,]\d{1,4})?(?:-\d{1,6}(?:\.\d{1,4})?)?) ?"
    rf"(?P<unit>{'|'.join(_UNITS)})",
    re.IGNORECASE,
)
_EXPECTED: Final = (
    "a band such as B, V, R, I (Johnson-Cousins), g, r, i (Sloan), TG, CV, Visual or another of AAVSO's "
    "filters, or for other wavelengths a value with its unit such as 5 GHz"
)

AAVSO_CODES: Final[Mapping[str, str]] = {
    **{name: name for name in _JOHNSON_COUSINS.values()},
    **{name: code for code, name in _AAVSO.items()},
    "Visual": "Vis.",
}
"""What AAVSO's extended format calls a band, by its canonical name."""


@lru_cache(maxsize=1_024)
def read_band(field: str, text: str) -> str:
    """Return the canonical name of a band.

    Raises:
        InvalidInput: if it is not known, or may be meant in two ways.
    """
    plain = " ".join(text.replace("_", " ").split())
    if len(plain) > WORD_LIMIT:
        raise InvalidInput(field, text, _EXPECTED)
    letter = plain.rstrip("'′`")
    if letter in _LETTERS if letter == plain else letter.lower() in _SLOAN:
        return letter if letter == plain else letter.lower()
    if plain in _AMBIGUOUS:
        raise InvalidInput(field, text, _AMBIGUOUS[plain])
    if plain.upper() in _AAVSO:
        return _AAVSO[plain.upper()]
    lowered = plain.lower()
    if lowered in _OTHERS:
        return _OTHERS[lowered]
    if found := _SUFFIXED.fullmatch(plain):
        if found[0] in {"Bj", "B J"}:
            raise InvalidInput(field, text, "B for Johnson's, or pg for the photographic band of surveys")
        system = _SYSTEMS["johnson"] if found["system"] in "jJ" else _JOHNSON_COUSINS
        return system[found["letter"].lower()]
    for pattern, bands in _BY_SYSTEM:
        if (found := pattern.fullmatch(lowered)) is None:
            continue
        name = found["band"].strip("()'′`")
        if band := bands.get(name) or bands.get(name.removesuffix("p")):
            return band
    if found := _SPECTRAL.fullmatch(plain):
        values = found["value"].replace(",", ".").split("-")
        value = "-".join(f"{Decimal(one).normalize():f}" for one in values)
        return f"{value} {_UNITS[found['unit'].lower()]}"
    raise InvalidInput(field, text, _EXPECTED)
