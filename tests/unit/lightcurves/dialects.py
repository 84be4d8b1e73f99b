"""Light curves whose truth is known, written in the dialects of observers and surveys."""

from __future__ import annotations

import random
from typing import NamedTuple

from tests.unit.lightcurves.uploads import votable


class Truth(NamedTuple):
    """What one row says."""

    mjd: str
    magnitude: str
    error: str
    band: str
    limit: bool


TIMES = ("mjd", "MJD", "Modified Julian Date")
MAGNITUDES = ("mag", "Magnitude", "MAG", "app_mag")
ERRORS = ("err", "mag_err", "Mag Error", "uncertainty", "e_mag")
BANDS = ("band", "Filter", "passband")
FLAGS = ("fainterthan", "is_limit", "Upper Limit", "nondetection", "ulim", "limit flag")
DEPTHS = ("maglim", "Limiting Mag", "limit", "5sigma_depth", "diffmaglim")
NO_ERROR = ("", "99.99", "-1", "nan", "--", "9.999", "null")


def light_curve(rng: random.Random) -> list[Truth]:
    """Return some rows at different times."""
    return [
        Truth(
            f"{56000 + n}.{rng.randint(1, 9999):04d}",
            f"{rng.uniform(4, 21):.3f}",
            f"{rng.uniform(0.002, 0.4):.3f}",
            rng.choice("BVRI"),
            rng.random() < 0.4,
        )
        for n in range(rng.randint(2, 9))
    ]


def written(rng: random.Random, truth: list[Truth]) -> bytes:
    """Return an upload that says this and nothing else."""
    style = rng.choice(("sign", "flag", "depth"))
    rows = [_row(rng, one, style) for one in truth]
    headings = [rng.choice(TIMES), rng.choice(MAGNITUDES), rng.choice(ERRORS), rng.choice(BANDS)]
    if style != "sign":
        headings.append(rng.choice(FLAGS if style == "flag" else DEPTHS))
    order = rng.sample(range(len(headings)), len(headings))
    table = [[line[place] for place in order] for line in (headings, *rows)]
    if rng.random() < 0.2:
        fields = "".join(f'<FIELD name="{heading}"/>' for heading in table[0])
        escaped = [[cell.replace("<", "&lt;") for cell in line] for line in table[1:]]
        cells = "".join(f"<TR>{''.join(f'<TD>{cell}</TD>' for cell in line)}</TR>" for line in escaped)
        return votable(cells, fields=fields).encode()
    return _delimited(rng, table)


def _row(rng: random.Random, one: Truth, style: str) -> list[str]:
    if not one.limit:
        last = {"flag": rng.choice(("0", "no", "False", "N")), "depth": f"{float(one.magnitude) + 1.5:.2f}"}
        cells = [one.mjd, one.magnitude, one.error, one.band]
    else:
        sign = rng.choice("<>")
        value = {
            "sign": f"{sign}{one.magnitude}",
            "flag": one.magnitude,
            "depth": rng.choice(("", "99.99", "nan")),
        }
        last = {"flag": rng.choice(("1", "yes", "True", "Y", "T")), "depth": one.magnitude}
        cells = [one.mjd, value[style], rng.choice(NO_ERROR), one.band]
    return cells if style == "sign" else [*cells, last[style]]


def _delimited(rng: random.Random, table: list[list[str]]) -> bytes:
    mark = rng.choice((",", ";", "\t", "|", " "))
    comma = mark in ";\t" and rng.random() < 0.4
    lines = []
    for number, line in enumerate(table):
        cells = [cell.replace(".", ",") if comma and number else cell for cell in line]
        if mark == " ":
            cells = [f'"{cell}"' if not cell or " " in cell else cell for cell in cells]
        elif rng.random() < 0.3:
            cells = [f'"{cell}"' for cell in cells]
        lines.append((mark * rng.choice((1, 3)) if mark == " " else mark).join(cells))
    for _ in range(rng.randint(0, 3)):
        lines.insert(rng.randint(1, len(lines)), rng.choice(("", "# a comment", lines[0])))
    text = rng.choice(("\n", "\r\n", "\r")).join(lines)
    return text.encode(rng.choice(("utf-8", "utf-8-sig", "utf-16")))
