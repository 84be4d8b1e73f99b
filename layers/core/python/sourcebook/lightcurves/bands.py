"""Pass bands under one name each.

The names are those of AAVSO's list of filters where it has one, for most photometry of novae is written with
them; letters alone are Johnson-Cousins in capitals and Sloan in lower case.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from sourcebook.errors import InvalidInput
from sourcebook.lightcurves.model import WORD_LIMIT

_JOHNSON_COUSINS: Final = ("U", "B", "V", "R", "I", "J", "H", "K")
_SLOAN: Final = ("u", "g", "r", "i", "z")
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
_OTHERS: Final = {
    "visual": "Visual",
    "vis.": "Visual",
    "vis": "Visual",
    "ks": "Ks",
    "h-alpha": "Ha",
    "halpha": "Ha",
    "hα": "Ha",
    "j": "J",
    "h": "H",
    "k": "K",
    "c": "C",
    "clear": "C",
    "unfiltered": "C",
    "none": "C",
    "gaia g": "Gaia G",
    "gaia bp": "Gaia BP",
    "gaia rp": "Gaia RP",
    "bp": "Gaia BP",
    "rp": "Gaia RP",
    "tess": "TESS",
    **{name.lower(): name for name in ("UVW1", "UVM2", "UVW2", "FUV", "NUV", "W1", "W2", "W3", "W4")},
}
_AMBIGUOUS: Final = {
    "b": "B for Johnson's, or STB for Strömgren's",
    "v": "V for Johnson's, or STV for Strömgren's",
    "y": "Y for the infrared band, or STY for Strömgren's",
    "G": "Gaia G, TG for a colour camera's green channel, or g for Sloan's",
}
_SYSTEM_WORDS: Final = re.compile(
    r"(?:(?P<johnson>johnson[- /]?cousins|(?:generic/)?(?:johnson|cousins|bessell)|landolt)"
    r"|(?P<sloan>(?:slo(?:an)?/)?sdss|sloan))"
    r"[ ._/:-]*(?P<letter>[A-Za-z])['′p]?",
    re.IGNORECASE,
)
_LETTER_FIRST: Final = re.compile(
    r"(?P<letter>[A-Za-z])['′]?[ _-]*\(?(?:(?P<johnson>johnson|cousins|bessell)|(?P<sloan>sdss|sloan))\)?",
    re.IGNORECASE,
)
_SPECTRAL: Final = re.compile(
    r"(?P<value>\d{1,6}(?:[.,]\d{1,4})?(?:-\d{1,6}(?:\.\d{1,4})?)?) ?"
    r"(?P<unit>GHz|MHz|keV|MeV|GeV|um|µm|μm|nm|Angstrom|Å)",
    re.IGNORECASE,
)
_UNITS: Final = {
    unit.lower(): spelled
    for unit, spelled in (
        *((name, name) for name in ("GHz", "MHz", "keV", "MeV", "GeV", "um", "nm", "Angstrom")),
        *(("µm", "um"), ("μm", "um"), ("Å", "Angstrom")),
    )
}
_EXPECTED: Final = (
    "a band such as B, V, R, I (Johnson-Cousins), g, r, i (Sloan), TG, CV, Visual or another of AAVSO's "
    "filters, or for other wavelengths a value with its unit such as 5 GHz"
)

_CODES: Final = {
    **{name: name for name in _JOHNSON_COUSINS},
    **{name: code for code, name in _AAVSO.items()},
    "Visual": "Vis.",
}


def aavso_code(band: str) -> str | None:
    """Return what AAVSO's extended format calls a band of a canonical name; None where it has none."""
    return _CODES.get(band)


@lru_cache(maxsize=1_024)
def read_band(field: str, text: str) -> str:
    """Return the canonical name of a band.

    Raises:
        InvalidInput: if it is not known, or may be meant in two ways.
    """
    plain = " ".join(text.replace("_", " ").split())
    if len(plain) > WORD_LIMIT:
        raise InvalidInput(field, text, _EXPECTED)
    letter = plain.removesuffix("'").removesuffix("′").removesuffix("`")
    if letter in _SLOAN or (letter != plain and letter.lower() in _SLOAN):
        return letter.lower()
    if plain in _JOHNSON_COUSINS:
        return plain
    if plain in _AMBIGUOUS:
        raise InvalidInput(field, text, _AMBIGUOUS[plain])
    if plain.upper() in _AAVSO:
        return _AAVSO[plain.upper()]
    if plain.lower() in _OTHERS:
        return _OTHERS[plain.lower()]
    for pattern in (_SYSTEM_WORDS, _LETTER_FIRST):
        if found := pattern.fullmatch(plain):
            name = found["letter"].upper() if found["johnson"] else found["letter"].lower()
            if name in (_JOHNSON_COUSINS if found["johnson"] else _SLOAN):
                return name
    if found := _SPECTRAL.fullmatch(plain):
        return f"{found['value'].replace(',', '.')} {_UNITS[found['unit'].lower()]}"
    raise InvalidInput(field, text, _EXPECTED)
