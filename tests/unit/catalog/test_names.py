"""Sixty ways to write a name, and the names that must not become one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.catalog.constellations import ABBREVIATIONS, BY_NAME
from sourcebook.catalog.names import display_name, is_designation, normalize_name, spellings
from sourcebook.errors import InvalidInput

FORMS = {
    "v1324 sco": (
        "V1324 Sco",
        "V* V1324 Sco",
        "V*V1324 Sco",
        "v1324 sco",
        "V1324_Sco",
        "V1324Sco",
        "V 1324 Sco",
        "V1324  Scorpii",
        "Nova V1324 Sco",
        "NAME V1324 Sco",
        "\u00a0V1324\u2009Sco ",
        "\uff36\uff11\uff13\uff12\uff14 \uff33\uff43\uff4f",
        "V1324 Scorpius",
        "V1324\tSCO",
    ),
    "v339 del": ("V339 Del", "V0339 Del", "V* V0339 Delphini", "v339del"),
    "t crb": ("T CrB", "T Coronae Borealis", "V* T CrB", "T_crb"),
    "rs oph": ("RS Oph", "RS Ophiuchi", "V* RS Oph"),
    "eta car": ("* eta Car", "η Carinae", "Eta Car"),
    "nova sco 2012 #2": (
        "Nova Sco 2012 No. 2",
        "Nova Scorpii 2012 No.2",
        "N Sco 2012 no 2",
        "Nova Sco 2012 #2",
        "Nova Sco 2012 # 2",
        "Nova Sco 2012-2",
        "Nova Sco 2012\u22122",
        "Nova Sco 2012\u20132",
        "Nova Sco 2012/2",
        "Nova Sco 2012 II",
        "Nova Sco 2012 ii",
        "Nova Sco 2012 \u2116 2",
        "Nova Sco 2012 No. 02",
        "NAME Nova Sco 2012 No. 2",
        "Nova_Sco_2012_No._2",
        "nova (Sco) 2012 2",
    ),
    "nova sgr 2012": ("Nova Sgr 2012", "Nova Sagittarii 2012", "N Sgr 2012", "Nova 2012 Sgr"),
    "nova uma 1950": ("Nova Ursae Majoris 1950", "Nova UMa 1950"),
    "nova lmc 1988 #2": ("Nova LMC 1988 No. 2", "Nova LMC 1988-2"),
    "asassn-16ig": ("ASASSN-16ig", "ASASSN -16ig", "asassn\u201016IG"),
    "pnv j17452791-2305213": ("PNV J17452791-2305213", "PNV J17452791\u22122305213"),
    "ogle-2012-nova-01": ("OGLE-2012-NOVA-01", "ogle\u20132012\u2013nova\u201301"),
    "m31n 2012-01a": ("M31N 2012-01a", "M31N 2012\u201301A"),
}

APART = (
    ("PNV J17452791-2305213", "PNV J17452791+2305213"),
    ("ASASSN-16ig", "ASASSN-16ih"),
    ("OGLE-2012-NOVA-01", "OGLE-2012-NOVA-1"),
    ("M31N 2012-01a", "M31N 2012-01b"),
    ("Nova Sgr 2012", "Nova Sgr 2012 No. 1"),
    ("Nova Sgr 2012 No. 1", "Nova Sgr 2012 No. 11"),
    ("Nova Sgr 2012 V", "Nova Sgr 2012 IV"),
    ("Nova CrA 1949", "Nova CrB 1949"),
    ("Nova LMC 1988", "Nova SMC 1988"),
    ("V339 Del", "V3390 Del"),
    ("V1 Ori", "V 10 Ori"),
    ("Gaia DR3 4065", "Gaia DR2 4065"),
)


@pytest.mark.parametrize(("normalized", "written"), [(n, w) for n, forms in FORMS.items() for w in forms])
def test_every_way_of_writing_a_name_is_one_name(normalized: str, written: str) -> None:
    assert normalize_name(written) == normalized


def test_there_are_sixty_names_in_at_least_twelve_forms() -> None:
    assert sum(map(len, FORMS.values())) >= 60
    assert len(FORMS["nova sco 2012 #2"]) >= 12


@pytest.mark.parametrize(("one", "other"), APART)
def test_names_of_different_objects_stay_apart(one: str, other: str) -> None:
    assert normalize_name(one) != normalize_name(other)


def test_the_five_novae_of_sagittarius_2012_stay_five() -> None:
    written = ("No. 1", "#2", "III", "-4", "/5")
    assert len({normalize_name(f"Nova Sgr 2012 {serial}") for serial in written}) == 5
    assert is_designation(normalize_name("N Sgr 2012"))
    assert not any(is_designation(normalize_name(f"Nova Sgr 2012 {serial}")) for serial in written)


@pytest.mark.parametrize("constellation", sorted(BY_NAME))
def test_every_form_of_every_constellation_is_known(constellation: str) -> None:
    short = BY_NAME[constellation]
    assert normalize_name(f"Nova {constellation.title()} 1999") == f"nova {short} 1999"


def test_there_are_88_constellations() -> None:
    assert len(set(ABBREVIATIONS)) == 88


@pytest.mark.parametrize("name", ["", "   ", "***", "—", "x" * 201])
def test_what_is_no_name_is_refused_with_what_would_be_one(name: str) -> None:
    with pytest.raises(InvalidInput, match="name"):
        normalize_name(name)


@given(st.text(max_size=60))
def test_normalizing_twice_changes_nothing_more(name: str) -> None:
    try:
        once = normalize_name(name)
    except InvalidInput:
        return
    assert once.strip() == once
    assert normalize_name(once) == once


def test_simbads_marks_are_not_shown() -> None:
    shown = [display_name(name) for name in ("V* V1324 Sco", "NAME Nova Sco 2012", "* eta Car", "V*")]
    assert shown == ["V1324 Sco", "Nova Sco 2012", "eta Car", "V*"]


def test_archives_are_asked_in_their_own_spelling() -> None:
    assert spellings("v1324 sco")[0] == "V* V1324 Sco"
    assert "V* V0339 Del" in spellings("v339 del")
    assert "V* T CrB" in spellings("t crb")
    assert "NAME Nova Sco 2012 No. 2" in spellings("nova sco 2012 #2")
