"""A stored spectrum made small enough to plot, by code that needs nothing but the standard library."""

from __future__ import annotations

import csv
import io
import json
import math
import operator
from collections.abc import Iterable
from typing import Any, Final

from sourcebook.errors import InvalidInput

MOST_POINTS: Final = 20_000


def downsample(ecsv_text: str, points: int) -> dict[str, Any]:
    """Return the spectrum of a `spectrum.ecsv` in at most `points` samples.

    Each order is cut into equal pieces, and of each the lowest and the highest flux stay, at their own
    wavelengths: a narrow line is as high as it was, wherever the cuts fall. Samples without a flux are
    left out.

    Returns:
        `orders`, each with its `order`, `wavelength_m` and `flux`; `flux_unit`; `samples` of all orders
        with a flux, `points` that are returned; `downsampled`. When there are more orders than half the
        points, some orders are left out, evenly, and `orders_left_out` counts them.

    Raises:
        InvalidInput: if `points` is not from 2 to 20,000, or the text is no such spectrum.
    """
    if not 2 <= points <= MOST_POINTS:
        raise InvalidInput("points", points, f"a number from 2 to {MOST_POINTS}")
    meta, orders = _read(ecsv_text)
    total = sum(len(order[1]) for order in orders)
    kept = orders
    if total > points and len(orders) * 2 > points:
        count = points // 2
        kept = [orders[index * len(orders) // count] for index in range(count)]
    inside = sum(len(order[1]) for order in kept)
    small = [
        (number, *_extremes(wavelengths, fluxes, _share(len(fluxes), inside, points, len(kept))))
        for number, wavelengths, fluxes in kept
    ]
    shown = sum(len(wavelengths) for _, wavelengths, _ in small)
    return {
        "orders": [
            {"order": number, "wavelength_m": wavelengths, "flux": fluxes}
            for number, wavelengths, fluxes in small
        ],
        "flux_unit": meta.get("spec:Data.FluxAxis.Unit"),
        "object": meta.get("spec:Target.Name"),
        "medium": meta.get("medium"),
        "frame": meta.get("spec:CoordSys.SpectralFrame.RefPos"),
        "samples": total,
        "points": shown,
        "downsampled": shown < total,
        "orders_left_out": len(orders) - len(kept),
    }


_Order = tuple[int, list[float], list[float]]


def _read(text: str) -> tuple[dict[str, Any], list[_Order]]:
    if not text.startswith("# %ECSV"):
        raise InvalidInput("spectrum", text[:20], "an ECSV table, which starts with # %ECSV")
    meta: dict[str, Any] = {}
    lines = io.StringIO(text)
    names: list[str] = []
    for line in lines:
        if line.startswith("# meta: "):
            meta = json.loads(line.removeprefix("# meta: "))
        elif not line.startswith("#"):
            names = line.strip().split(",")
            break
    try:
        pick = operator.itemgetter(*(names.index(name) for name in ("order", "wavelength", "flux")))
        return meta, _orders(pick(row) for row in csv.reader(lines))
    except (IndexError, TypeError, ValueError) as error:
        raise InvalidInput("spectrum", str(error), "rows of order, wavelength and flux") from error


def _orders(rows: Iterable[tuple[str, str, str]]) -> list[_Order]:
    """Gather rows to orders: one begins where the number changes or the wavelengths start again."""
    orders: list[_Order] = []
    last: tuple[str, float] | None = None
    for number, wavelength_text, flux_text in rows:
        wavelength, flux = float(wavelength_text), float(flux_text)
        if last is None or number != last[0] or wavelength <= last[1]:
            orders.append((int(number), [], []))
        last = (number, wavelength)
        if math.isfinite(flux):
            orders[-1][1].append(wavelength)
            orders[-1][2].append(flux)
    return [order for order in orders if order[1]]


def _share(samples: int, total: int, points: int, orders: int) -> int:
    """Return how many points an order gets: two at least, the rest by the number of its samples."""
    if total <= points:
        return samples
    return 2 + (points - 2 * orders) * samples // total


def _extremes(wavelengths: list[float], fluxes: list[float], points: int) -> tuple[list[float], list[float]]:
    count = len(fluxes)
    if count <= points:
        return wavelengths, fluxes
    pieces = points // 2
    chosen: list[int] = []
    for piece in range(pieces):
        inside = range(piece * count // pieces, (piece + 1) * count // pieces)
        chosen.extend(sorted({min(inside, key=fluxes.__getitem__), max(inside, key=fluxes.__getitem__)}))
    return [wavelengths[index] for index in chosen], [fluxes[index] for index in chosen]
