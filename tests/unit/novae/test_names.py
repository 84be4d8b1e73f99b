"""Sixty ways to write a name, and the names that must not become one."""

from __future__ import annotations

import random
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.errors import InvalidInput
from sourcebook.novae.constellations import BY_NAME, DISPLAYED
from sourcebook.novae.names import display_name, is_designation, normalize_name, spellings

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
    assert len(set(DISPLAYED.values())) == 88


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


SAME = (
    ("AT 2021abc", "AT2021abc", "at 2021abc", "AT-2021abc", "AT 2021ABC"),
    ("SN 2013U", "SN2013U", "sn 2013u"),
    ("TDE 2022wtn", "TDE2022wtn"),
    ("MASTER OT J134201.21-023856.2", "MASTEROTJ134201.21-023856.2", "MASTER OTJ134201.21 -023856.2"),
    ("PNV J23244760+6111140", "PNVJ23244760+6111140", "PNV J23244760 +6111140", "pnv_J23244760+6111140"),
    ("TCP J18102829-2729590", "TCPJ18102829\u22122729590"),
    ("PSN J02224207+2816012", "PSN  J02224207+2816012", "PSNJ 02224207+2816012"),
    ("2MASS J17452791-2305213", "2MASSJ17452791-2305213"),
    ("Swift J1818.0-1607", "SwiftJ1818.0-1607"),
    ("MAXI J1820+070", "MAXIJ1820+070"),
    ("ZTF19abcdefg", "ZTF 19abcdefg", "ztf-19abcdefg"),
    ("Gaia22alz", "Gaia 22alz", "GAIA22alz", "Gaia-22alz"),
    ("ATLAS17jys", "ATLAS 17jys", "Atlas17jys"),
    ("iPTF16abc", "iPTF 16abc", "IPTF16ABC"),
    ("PS16abc", "PS 16abc"),
    (
        "ASASSN-16ig",
        "ASASSN 16ig",
        "ASAS-SN 16ig",
        "ASAS-SN-16ig",
        "ASASSN16ig",
        "ASAS-SN16ig",
        "ASASSN -16ig",
    ),
    ("M31N 2008-12a", "M31N2008-12a", "M31 N 2008-12a", "M31N-2008-12a", "m31n 2008\u201312a"),
    ("LMCN 2009-02a", "LMC N 2009-02a", "LMCN2009-02a"),
    (
        "MOA-2012-BLG-320",
        "MOA 2012-BLG-320",
        "MOA 2012 BLG 320",
        "MOA2012BLG320",
        "moa-2012-blg-320",
        "MOA 2012BLG-320",
    ),
    ("OGLE-2012-NOVA-01", "OGLE 2012-NOVA-01", "OGLE 2012 NOVA 01"),
    ("OGLE-2018-BLG-0022", "OGLE 2018-BLG-0022", "ogle2018blg0022"),
    ("KMT-2016-BLG-0212", "KMTNet-2016-BLG-0212", "KMT 2016-BLG-0212"),
    ("BD+23 3912", "BD+23_3912", "BD +23 3912", "BD+23\u00b03912", "BD+23  3912"),
    ("HD 115404A", "HD115404A"),
    ("NGC 6712", "NGC6712"),
    ("Gaia DR3 4065000000000000000", "GaiaDR3 4065000000000000000", "Gaia_DR3_4065000000000000000"),
    ("LMC V1341", "LMCV1341", "V1341 LMC", "LMC V 1341"),
    ("Nova Cas 2021", "Nova Cassiopeiae 2021", "N Cas 2021", "NOVA CAS 2021", "N. Cas 2021", "2021 Nova Cas"),
    ("V1405 Cas", "V* V1405 Cas", "V1405 Cassiopeiae", "Nova V1405 Cas", "V1405 Cas (Nova Cas 2021)"),
    ("V1405 Cas", "Nova Cas 2021 (V1405 Cas)", "V1405 Cas = Nova Cas 2021", "V-1405 Cas", "NOVA V1405 CAS"),
    (
        *(
            "Nova Cyg 2020 No. 3",
            "Nova Cygni 2020 No. 3",
            "Nova Cyg 2020 no.3",
            "N Cyg 2020 No 3",
            "Nova Cyg 2020c",
        ),
        *("Nova Cyg 2020 nr. 3", "Nova Cyg 2020 number 3", "Nova Cyg 2020 Num. 3", "Nova Cygni III 2020"),
        *("Nova Cygni 2020 c", "Nova Cyg 2020III", "Nova Cyg 2020 3", "Nova Cyg No. 3, 2020"),
        *("Nova Cyg 2020-03", "Nova Cyg 2020, No. 3", "2020 Nova Cyg #3"),
    ),
    ("KT Eri", "Nova KT Eri", "V* KT Eri", "KT Eridani", "kt eri", "KTEri", "Nova Eri 2009 (KT Eri)"),
    ("T CrB", "TCrB", "t coronae borealis", "V* T CrB"),
    ("Nova Aquilae 1918", "Nova Aql (1918)", "1918 Nova Aql", "Nova 1918 Aql", "NOVA AQUILAE 1918"),
    ("MU Cas", "V* MU Cas", "MU Cassiopeiae", "Nova MU Cas", "MU CAS", "MUCas"),
    ("RS Oph", "rs-oph", "RS Oph.", "RS Oph (2021)", "RS Ophiuchii", "'RS Oph'", "RS Oph (1898, 1985)"),
    ("V5668 Sgr", "V5668-Sgr", "V5668 Sagitarii", "V5668 Sagittari", "V5668 Sgr, Nova Sgr 2015 No. 2"),
    ("Nova Sco 2012 No. 2", "Nova Sco 2012 n2", "Nova Sco 2012 N\u00ba 2", "Nova Sco. 2012 (No. 2)"),
    ("V5855 Sgr", "TCP J18102829-2729590 = V5855 Sgr", "V5855 Sgr (ASASSN-16ma)", "V5855 Sgr/Nova Sgr 2016c"),
    (
        "PNV J20214234+3103296",
        "PNV J20214234+3103296 = Nova Cyg 2014",
        "Nova Cyg 2014 = PNV J20214234+3103296",
    ),
)
APART_TOO = (
    ("AT 2021abc", "AT 2021abd", "SN 2021abc", "TDE 2021abc"),
    ("HD 115404A", "HD 115404", "HD 115404B", "HR 115404"),
    ("QSO B1946+770", "QSO B1946-770"),
    ("CSS100217:102913+404220", "CSS100217"),
    ("Nova LMC 2009a", "Nova LMC 2009b", "Nova SMC 2009a", "Nova LMC 2009"),
    ("MU Cas", "* mu. Cas"),
    ("PI Ori", "* pi. Ori"),
    ("NU Pup", "* nu. Pup"),
    ("XI Per", "* ksi Per"),
    ("* gam01 Leo", "* gam02 Leo", "* gam Leo"),
    ("* tau09 Eri", "* tau01 Eri", "* tau Eri"),
    ("MOA-2012-BLG-320", "MOA-2012-BLG-32", "MOA-2013-BLG-320", "OGLE-2012-BLG-320"),
    ("OGLE-2012-NOVA-01", "OGLE-2012-NOVA-1", "OGLE-2012-NOVA-10"),
    ("Gaia22alz", "Gaia22aly", "ZTF22alz", "Gaia2 2alz"),
    ("M31N 2008-12a", "M31N 2008-12b", "M31N 2008-01a", "M33N 2008-12a"),
    ("LMC V1341", "SMC V1341", "V1341 Sco", "LMC V134"),
    ("Nova Cyg 2020 No. 3", "Nova Cyg 2020 No. 13", "Nova Cyg 2020", "Nova Cyg 2020b", "Nova Cyg 2020 IV"),
    ("BD+23 3912", "BD-23 3912", "BD+23 391", "BD+2 33912", "CD+23 3912"),
    ("MASTER OT J134201.21-023856.2", "MASTER OT J134201.21+023856.2", "MASTER OT J134201.2-023856.2"),
    ("Gaia DR3 40650000", "Gaia DR2 40650000", "Gaia EDR3 40650000"),
    ("R CrB", "R CrA", "RR CrB", "RS CrB"),
    ("U Sco", "* ups Sco"),
    ("Nova Sge 1977", "Nova Sgr 1977"),
    ("Nova Sgr 2016", "Nova Sgr 2016/2017", "Nova Sgr 2016 = unknown"),
    ("V339 Del", "V407 Cyg", "V339 Del, V407 Cyg", "V339 Del = V407 Cyg"),
    ("HD 115404", "HD 115405", "HD 115404, HD 115405"),
)


@pytest.mark.parametrize("names", SAME, ids=lambda names: names[0])
def test_one_object_has_one_normalized_name(names: tuple[str, ...]) -> None:
    assert len({normalize_name(name) for name in names}) == 1, {name: normalize_name(name) for name in names}


@pytest.mark.parametrize("names", APART_TOO, ids=lambda names: names[0])
def test_objects_of_one_survey_stay_apart(names: tuple[str, ...]) -> None:
    assert len({normalize_name(name) for name in names}) == len(names), {
        name: normalize_name(name) for name in names
    }


def test_the_names_handed_over_with_the_task() -> None:
    table = Path(__file__).resolve().parents[4] / "shared" / "cases" / "names" / "names.tsv"
    if not table.exists():
        pytest.skip("the folder shared/cases is not beside the checkout")
    for line in table.read_text("utf-8").splitlines():
        kind, *names = line.split("\t")
        wanted = 1 if kind == "same" else len(names)
        assert len({normalize_name(name) for name in names}) == wanted, names


GREEK_LETTERS = {
    name: symbol
    for symbol in (chr(code) for code in range(0x3B1, 0x3CA) if code != 0x3C2)
    for name in [
        unicodedata.name(symbol).removeprefix("GREEK SMALL LETTER ").lower().replace("lamda", "lambda")
    ]
}
SIMBAD_LETTERS = dict(
    zip(
        GREEK_LETTERS,
        (
            *"alf bet gam del eps zet eta tet iot kap lam mu. nu.".split(),
            *"ksi omi pi. rho sig tau ups phi chi psi ome".split(),
        ),
        strict=True,
    )
)


@pytest.mark.parametrize("name", GREEK_LETTERS)
def test_every_greek_letter_is_one_in_every_spelling(name: str) -> None:
    symbol, short = GREEK_LETTERS[name], SIMBAD_LETTERS[name]
    for number, count, superscript in (
        ("", "", ""),
        ("01", "1", "\u00b9"),
        ("02", "2", "\u00b2"),
        ("10", "10", "10"),
    ):
        written = {
            f"* {short}{number} Ori",
            f"{name}{count} Ori",
            f"{name.title()}{count} Orionis",
            f"{symbol}{count} Ori",
            f"{symbol}{superscript} Orionis",
            f"{symbol.upper()}{count} Ori",
            f"{symbol}{count}Ori",
            f"{name}{superscript} ori",
        } | ({f"{name} {count} Ori", f"{symbol}-{count} Ori", f"{name}^{count} Ori"} if count else set())
        assert {normalize_name(one) for one in written} == {f"{name}{count} ori"}
        assert normalize_name(spellings(f"{name}{count} ori")[0]) == f"{name}{count} ori"
        assert spellings(f"{name}{count} ori")[0] == f"* {short}{number} Ori"


@pytest.mark.parametrize("short", DISPLAYED.values())
def test_no_two_stars_of_a_constellation_become_one(short: str) -> None:
    letters = [chr(code) for code in range(ord("R"), ord("Z") + 1)]
    doubles = [a + b for a in "ABCDEFGHIKLMNOPQRSTUVWXYZ" for b in "ABCDEFGHIKLMNOPQRSTUVWXYZ" if a <= b]
    stars = [
        f"{name} {short}" for name in (*letters, *doubles, "PI", "XI", "V335", "V0336", "V1405", "V10405")
    ]
    stars += [f"* {letter} {short}" for letter in SIMBAD_LETTERS.values()]
    stars += [
        f"Nova {short} {year}{serial}" for year in (1901, 2012) for serial in ("", " No. 1", "b", " III")
    ]
    normalized = [normalize_name(star) for star in stars]
    assert len(set(normalized)) == len(stars)
    assert [normalize_name(name) for name in normalized] == normalized
    for star, one in zip(stars, normalized, strict=True):
        assert one in {normalize_name(form) for form in spellings(one)}, star


@pytest.mark.parametrize("name", ["MU", "NU", "PI", "XI"])
@pytest.mark.parametrize("where", ["Cas", "Cassiopeiae", "CAS"])
def test_capitals_before_a_constellation_are_letters_of_a_variable_star(name: str, where: str) -> None:
    assert normalize_name(f"{name} {where}") == normalize_name(f"V* {name} Cas") == f"v* {name.lower()} cas"
    assert normalize_name(f"{name.lower()} {where}") == f"{name.lower()} cas"
    assert spellings(f"v* {name.lower()} cas")[0] == f"V* {name} Cas"


PIECES = (
    *(
        "Nova ",
        "N ",
        "V* ",
        "* ",
        "NAME ",
        "V",
        "MU",
        "mu.",
        "\u03bc",
        "T",
        "KT",
        " ",
        "-",
        "(",
        ")",
        "=",
        "#",
        "No. ",
    ),
    *(
        "2012",
        "1405",
        "3",
        "III",
        "b",
        "J",
        "+",
        "17452791",
        "2305213",
        "AT",
        "SN",
        "MOA",
        "BLG",
        "ASAS-SN",
        "16ig",
    ),
    *(
        "Gaia",
        "22alz",
        "M31",
        "LMC",
        "Cas",
        "Cassiopeiae",
        "CrB",
        "Sgr",
        "Coronae Borealis",
        "\u00b9",
        "HD",
        "DR3",
        ".",
    ),
)


def test_any_parts_of_names_in_any_order_are_normalized_once() -> None:
    rng = random.Random(20)
    for _ in range(20_000):
        name = "".join(rng.choices(PIECES, k=rng.randint(1, 7)))
        try:
            once = normalize_name(name)
        except InvalidInput:
            continue
        assert normalize_name(once) == once, name
