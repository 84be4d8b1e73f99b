"""What is kept of a spectrum beside the file itself: its numbers, its record and a picture.

The numbers are ECSV, a text that a person, the csv module and astropy read alike; columns carry the
UCDs and utypes of the IVOA Spectrum data model 1.2.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from sourcebook.fits.fitsfile import Floats
from sourcebook.fits.preview import preview_png
from sourcebook.fits.reading import Checked

SPECTRUM: Final = "spectrum.ecsv"
METADATA: Final = "metadata.json"
PREVIEW: Final = "preview.png"

_MODEL: Final = "IVOA Spectrum 1.2"
_FORMULA: Final = re.compile(r"(?<=[,;])( *)([=+@-])")


def artifacts(checked: Checked, *, source: Mapping[str, Any]) -> dict[str, tuple[bytes, str]]:
    """Return each artifact of a VALID spectrum by its name: its bytes and its content type.

    Args:
        checked: what `check` returned.
        source: where the file came from (provider, address, sha256 …), as JSON knows it; it goes
            into metadata.json.

    Raises:
        ValueError: if there is no spectrum, because the verdict is not VALID.
    """
    if not checked.orders:
        raise ValueError(f"a spectrum that is {checked.verdict.outcome} has no artifacts")
    metadata = {
        "verdict": checked.verdict.to_json(),
        "source": dict(source),
        "model": _MODEL,
        "orders": [
            {
                "order": order.number,
                "label": order.label,
                "samples": len(order.wavelength),
                "wavelength_min_m": float(order.wavelength[0]),
                "wavelength_max_m": float(order.wavelength[-1]),
                "has_error": order.error is not None,
            }
            for order in checked.orders
        ],
    }
    return {
        SPECTRUM: (ecsv(checked).encode(), "text/plain; charset=utf-8"),
        METADATA: (
            json.dumps(metadata, indent=2, ensure_ascii=False, sort_keys=True).encode(),
            "application/json",
        ),
        PREVIEW: (preview_png(checked), "image/png"),
    }


def ecsv(checked: Checked) -> str:
    """Return the numbers of a VALID spectrum as ECSV 1.0: a row for each sample, orders one after the other.

    A flux without a value is `nan`. Floats are written so that they read back to the same bits.
    """
    with_error = any(order.error is not None for order in checked.orders)
    lines = [f"# {line}" for line in _header(checked, with_error=with_error)]
    lines.append("order,wavelength,flux,flux_error" if with_error else "order,wavelength,flux")
    for order in checked.orders:
        columns = [_texts(order.wavelength), _texts(order.flux)]
        if with_error:
            columns.append(["nan"] * len(order.flux) if order.error is None else _texts(order.error))
        lines.extend(f"{order.number},{','.join(row)}" for row in zip(*columns, strict=True))
    return "\n".join([*lines, ""])


def _texts(values: Floats) -> list[str]:
    return [repr(value) for value in values.tolist()]


def _header(checked: Checked, *, with_error: bool) -> Iterator[str]:
    verdict = checked.verdict
    columns: list[dict[str, Any]] = [
        {"name": "order", "datatype": "int64", "description": "number of the order"},
        {
            "name": "wavelength",
            "unit": "m",
            "datatype": "float64",
            "meta": {"ucd": "em.wl", "utype": "spec:Data.SpectralAxis.Value"},
        },
        {
            "name": "flux",
            "datatype": "float64",
            "meta": {"ucd": "phot.flux.density;em.wl", "utype": "spec:Data.FluxAxis.Value"},
        },
    ]
    if with_error:
        columns.append(
            {
                "name": "flux_error",
                "datatype": "float64",
                "meta": {
                    "ucd": "stat.error;phot.flux.density;em.wl",
                    "utype": "spec:Data.FluxAxis.Accuracy.StatError",
                },
            }
        )
    metadata = {
        "spec:Target.Name": verdict.object_name,
        "spec:DataID.Instrument": verdict.instrument,
        "spec:Char.TimeAxis.Coverage.Location.Value": verdict.observed_at_iso,
        "spec:CoordSys.SpectralFrame.RefPos": verdict.frame,
        "spec:Data.FluxAxis.Unit": verdict.flux_unit,
        "medium": verdict.medium,
        "original_wavelength_unit": verdict.original_unit,
        "fits_profile_id": verdict.fits_profile_id,
        "normalization_notes": list(verdict.normalization_notes),
    }
    # JSON on one line is YAML too, which is what ECSV asks for.
    yield "%ECSV 1.0"
    yield "---"
    yield "delimiter: ','"
    yield "datatype:"
    yield from (f"- {_one_line(column)}" for column in columns)
    yield f"meta: {_one_line({key: value for key, value in metadata.items() if value})}"


def _one_line(value: Mapping[str, Any]) -> str:
    """Return JSON in ASCII. Its values are texts: a formula in one of them, where a cell begins, is escaped.

    A spreadsheet splits this line at its commas, whatever quotes are in it.
    """
    text = json.dumps(value, ensure_ascii=True)
    return _FORMULA.sub(lambda found: f"{found[1]}\\u{ord(found[2]):04x}", text)
