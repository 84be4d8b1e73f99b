"""Make the sample light curve: invented, in the shape of a classical nova that forms dust.

Run it as ``python -m sourcebook_local.astronomy.make_light_curve`` after a change; the file is committed.
"""

from __future__ import annotations

import math
import random
from typing import Final

from sourcebook_local.astronomy.light_curve import SAMPLE_LIGHT_CURVE

_HEADINGS: Final = """\
#TYPE=EXTENDED
#OBSCODE={observer}
#SOFTWARE=sourcebook make_light_curve (invented measurements)
#DELIM=,
#DATE=JD
#OBSTYPE=CCD
#NAME,DATE,MAG,MERR,FILT,TRANS,MTYPE,CNAME,CMAG,KNAME,KMAG,AMASS,GROUP,CHART,NOTES
"""
NAME: Final = "V1324 Sco"
_DISCOVERY: Final = 2456069.5
_PEAK: Final = 2456097.5
_COLOURS: Final = {"B": 0.9, "V": 0.0, "R": -0.8, "I": -1.6}
_OBSERVERS: Final = ("SBK1", "SBK2")


def magnitude(day: float) -> float:
    """Return V at a Julian Date: a slow rise, a decline of two magnitudes in 25 days, and a dip of dust."""
    if day < _PEAK:
        return 10.1 + 4.2 * math.pow((_PEAK - day) / (_PEAK - _DISCOVERY), 1.4)
    after = day - _PEAK
    decline = 10.1 + 2.9 * math.log10(1 + after / 5)
    dust = 5.5 * math.exp(-(((after - 62) / 17) ** 2))
    return decline + dust


def rows(rng: random.Random) -> list[str]:
    """Return the rows of one observer."""
    found = []
    for night in range(-14, 260):
        if rng.random() < (0.45 if night < 160 else 0.75):
            continue
        for band, colour in _COLOURS.items():
            if band in "BR" and rng.random() < 0.5:
                continue
            day = _DISCOVERY + night + 0.05 + rng.random() * 0.3
            true = (19.0 if night < 0 else magnitude(day)) + colour
            limit = 15.6 - rng.random()
            error = 0.004 + 0.02 * math.pow(10, 0.3 * (true - 13))
            shown = f"<{limit:.1f},na" if true > limit else f"{rng.gauss(true, error):.3f},{error:.3f}"
            found.append(
                f"{NAME},{day:.5f},{shown},{band},YES,STD,ENSEMBLE,na,118,11.802,"
                f"{1.1 + rng.random():.2f},na,invented,na"
            )
    return found


def main() -> None:
    """Write the file."""
    rng = random.Random(1324)  # noqa: S311 - invented, and the same each time
    parts = []
    for observer in _OBSERVERS:
        mine = rows(rng)
        # What observers' files hold too: a row sent twice, and a measurement of the check star.
        mine += [mine[0], mine[3].replace(f"{NAME},", "000-BKS-118,", 1)]
        parts.append(_HEADINGS.format(observer=observer) + "".join(f"{row}\n" for row in mine))
    SAMPLE_LIGHT_CURVE.write_text("".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
