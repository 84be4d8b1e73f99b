"""Bands and units: one name each, and no choice made for the observer."""

from __future__ import annotations

from decimal import Decimal

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.lightcurves.bands import read_band
from sourcebook.lightcurves.units import read_flux_unit


@pytest.mark.parametrize(
    ("text", "band"),
    [
        *((name, name) for name in ("U", "B", "V", "R", "I", "J", "H", "K", "u", "g", "r", "i", "z")),
        *(("Johnson V", "V"), ("V_Johnson", "V"), ("V (Bessell)", "V"), ("Bessell-R", "R")),
        *(("Cousins I", "I"), ("Generic/Bessell.V", "V"), ("Johnson-Cousins R", "R")),
        *(("SDSS g'", "g"), ("g'", "g"), ("sloan r", "r"), ("SLOAN/SDSS.i", "i"), ("SG", "g"), ("SZ", "z")),
        *(("TG", "TG"), ("tg", "TG"), ("CV", "CV"), ("RJ", "RJ"), ("STHBN", "STHBN"), ("HA", "Ha")),
        *(("Vis.", "Visual"), ("VIS", "Visual"), ("visual", "Visual"), ("Ks", "Ks"), ("Halpha", "Ha")),
        *(("Gaia G", "Gaia G"), ("uvw2", "UVW2"), ("clear", "C"), ("Gaia_BP", "Gaia BP")),
        *(("Rc", "R"), ("I_c", "I"), ("Vj", "V"), ("Rj", "RJ"), ("Johnson R", "RJ"), ("R (Cousins)", "R")),
        *(("ztfg", "g"), ("zr", "r"), ("g-ZTF", "g"), ("Palomar/ZTF.i", "i"), ("ip", "i"), ("SDSS gp", "g")),
        *(("ps1::z", "ZS"), ("z_s", "ZS"), ("PS1 y", "Y"), ("o", "o"), ("cyan", "c"), ("orange-ATLAS", "o")),
        *(("G_BP", "Gaia BP"), ("GAIA/GAIA3.Grp", "Gaia RP"), ("gaia::g", "Gaia G"), ("RP", "Gaia RP")),
        *(("uvot::uvm2", "UVM2"), ("Swift/UVOT.UVW1", "UVW1"), ("UVOT w2", "UVW2"), ("UVOT B", "UVOT B")),
        *(("K_s", "Ks"), ("2MASS K", "Ks"), ("WISE W2", "W2"), ("Strömgren y", "STY"), ("mpg", "pg")),
        *(("Bessell (V)", "V"), ("Tri-Color Green", "TG"), ("Clear V", "CV"), ("5.0 GHz", "5 GHz")),
        *(("rc", "R"), ("R(c)", "R"), ("i_P1", "i"), ("Sloan z_s", "ZS")),
        *(
            ("5 GHz", "5 GHz"),
            ("36.5ghz", "36.5 GHz"),
            ("0.3-10 keV", "0.3-10 keV"),
            ("5500 Å", "5500 Angstrom"),
        ),
    ],
)
def test_a_band_has_one_name(text: str, band: str) -> None:
    assert read_band("band", text) == band


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("G", "Gaia G, TG"),
        ("b", "B for Johnson's, or STB"),
        ("v", "V for Johnson's, or STV"),
        ("y", "STY"),
        ("Bj", "pg"),
        ("J-V", "a band such as"),
        ("B-V", "a band such as"),
        ("X", "a band such as"),
        ("V R", "a band such as"),
        ("Johnson g", "a band such as"),
        ("5", "a band such as"),
        ("'", "a band such as"),
    ],
)
def test_what_is_no_band_or_may_be_two_is_refused(text: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_band("FILT", text)
    assert said in str(refused.value)
    assert refused.value.field == "FILT"


@pytest.mark.parametrize(
    ("text", "name", "factor"),
    [
        ("Jy", "Jy", "1"),
        ("mJy", "Jy", "0.001"),
        ("µJy", "Jy", "0.000001"),
        ("microJy", "Jy", "0.000001"),
        ("nJy", "Jy", "1e-9"),
        ("erg/s/cm2/Hz", "erg s-1 cm-2 Hz-1", "1"),
        ("erg s-1 cm-2 Angstrom-1", "erg s-1 cm-2 Angstrom-1", "1"),
        ("erg cm^-2 s^-1 Å^-1", "erg s-1 cm-2 Angstrom-1", "1"),
        ("erg cm⁻² s⁻¹", "erg s-1 cm-2", "1"),
        ("ergs/cm2/s", None, "1"),
        ("erg/cm^2/sec", "erg s-1 cm-2", "1"),
        ("W m-2 um-1", "W m-2 um-1", "1"),
        ("counts/s", "count s-1", "1"),
        ("ct.s-1", "count s-1", "1"),
        ("MJy", None, "1"),
        ("mag", None, "1"),
        ("", None, "1"),
    ],
)
def test_a_unit_has_one_spelling_and_janskys_one_size(text: str, name: str | None, factor: str) -> None:
    if name is None:
        with pytest.raises(InvalidInput, match="a unit of flux such as"):
            read_flux_unit("unit", text)
    else:
        assert read_flux_unit("unit", text) == (name, Decimal(factor))
