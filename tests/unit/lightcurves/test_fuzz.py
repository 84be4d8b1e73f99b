"""Whatever is uploaded, the answer is measurements or an error that names something, and nothing else."""

from __future__ import annotations

import os
import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sourcebook.errors import InvalidInput
from sourcebook.lightcurves.merge import merge
from tests.unit.lightcurves.dialects import light_curve, written
from tests.unit.lightcurves.uploads import VISUAL, extended, parse, votable

SEEDS = (
    "jd,mag,err,band,observer\n2456079.91234,11.135,0.003,V,Ada\n2456080,<15.2,na,B,\n",
    "JD;Mag;Err;Filter\n2456079,91234;11,135;0,003;V\n",
    extended(),
    VISUAL + "V1324 Sco,2456079.91234,10.9,na,110,113,070613,na\n",
    votable("<TR><TD>56079.41234</TD><TD>11.135</TD><TD>0.003</TD></TR>"),
    "mjd,flux (mJy),flux_err,band\n56079.4,1.5,0.2,5 GHz\n",
)


def _check(body: bytes) -> None:
    begun = time.process_time()
    try:
        parsed = parse(body)
    except InvalidInput as error:
        complete = bool(error.field and error.expected) and len(str(error)) < 2_000
    else:
        complete = True
        assert parsed.rows == len(parsed.measurements) + parsed.duplicates + parsed.rejected
        for found in parsed.measurements:
            assert -94_553 <= found.mjd < 61_374
            assert found.band
            assert (found.magnitude is None) <= (found.flux is not None)
            assert found.magnitude is None or -12 <= found.magnitude <= 30
        assert merge(parsed.measurements, parsed.measurements).added == 0
    assert complete
    assert time.process_time() - begun < 5


@given(st.binary(max_size=300))
def test_any_bytes(body: bytes) -> None:
    _check(body)


@given(st.text(max_size=300))
def test_any_text_under_headings(text: str) -> None:
    _check(f"jd,mag,err,band,limit,observer\n{text}".encode())
    _check(f"{extended()}{text}".encode())


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=20), min_size=6, max_size=6))
def test_any_cells(cells: list[str]) -> None:
    _check(("time,time_system,mag,flux,flux_unit,band\n" + ",".join(cells)).encode())


@settings(deadline=None)
@given(st.integers(0, 2**32))
def test_uploads_with_bytes_changed(seed: int) -> None:
    rng = random.Random(seed)
    body = bytearray(rng.choice(SEEDS).encode())
    for _ in range(rng.randint(1, 12)):
        place = rng.randrange(len(body))
        match rng.randrange(4):
            case 0:
                body[place] = rng.randrange(256)
            case 1:
                del body[place : place + rng.randint(1, 9)]
            case 2:
                body[place:place] = bytes(body[: rng.randint(0, 60)])
            case _:
                body[place:place] = rng.choice(
                    [b",", b";", b'"', b"<", b"\n", b"#", b"&", b"]]>", b"\xff", b"="]
                )
        if not body:
            return
    _check(bytes(body))


LONG = 2_000_000


@pytest.mark.parametrize(
    "body",
    [
        "jd,mag,band" + "," * LONG,
        "jd" + " " * LONG + ",mag,band\n1,2,V\n",
        "#" + "a" * LONG,
        "#" * LONG,
        "\n" * LONG,
        ",\n" * LONG,
        "jd,mag,band\n" + "," * LONG,
        'jd,mag,band\n"' + "a" * LONG,
        *(
            f"time,time_system,mag,flux,flux_unit,band\n{row}\n"
            for row in (
                f"56079.4,jd{'_' * 100_000},11,,,V",
                f"{'9' * 100_000},mjd,11,,,V",
                f"2012-06-01{' ' * 100_000}Z,,11,,,V",
                f"56079.4,mjd,,1,{'a' * 100_000}-,V",
                f"56079.4,mjd,11,,,johnson{'.' * 100_000}",
                f"56079.4,mjd,{'<' * 100_000},,,V",
            )
        ),
        f"#TYPE=EXTENDED\n#DELIM={'=' * LONG}\n#DATE=JD\n",
        f"#TYPE=EXTENDED\n#DATE=JD\n{','.join(['1'] * (LONG // 2))}\n",
        "<VOTABLE><RESOURCE><TABLE><DATA><TABLEDATA>" + "<TR/>" * (LONG // 5),
        "<VOTABLE>" + "<TABLE/>" * (LONG // 8) + "</VOTABLE>",
        '<VOTABLE><TABLE><FIELD name="' + "jd" + " " * LONG + '"/></TABLE></VOTABLE>',
        "<VOTABLE " + " ".join(f'a{n}="1"' for n in range(LONG // 10)) + "/>",
    ],
    ids=lambda body: body[:40],
)
def test_nothing_takes_long(body: str) -> None:
    _check(body.encode())


@pytest.mark.parametrize("part", range(4))
def test_no_dialect_gives_a_wrong_value(part: int) -> None:
    """Every row that is read says what was written; what is not read has its reason."""
    for seed in range(part, int(os.environ.get("SOURCEBOOK_FUZZ", "400")), 4):
        rng = random.Random(seed)
        truth = light_curve(rng)
        body = written(rng, truth)
        parsed = parse(body)
        wanted = {
            (float(t.mjd), float(t.magnitude), None if t.limit else float(t.error), t.band, t.limit)
            for t in truth
        }
        found = {(m.mjd, m.magnitude, m.magnitude_error, m.band, m.upper_limit) for m in parsed.measurements}
        assert found <= wanted, (seed, body, found - wanted)
        assert len(found) + parsed.rejected == len(truth), (seed, body)
        assert parsed.rejected == 0, (seed, body, parsed.errors[0].message)
