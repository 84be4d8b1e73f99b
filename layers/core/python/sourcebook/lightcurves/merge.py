"""Which measurements are the same, and what one table is made of several uploads.

Two rows say the same when time (to a tenth of a second, and both at the observer, the Sun or the barycentre),
band and value agree, and neither observer nor time scale contradict: an upload that does not name its
observer repeats one that does. What differs in value stays twice: an observer may have meant it, and whoever
reads the table must see it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

from sourcebook.lightcurves.model import Measurement

_TIME_DIGITS: Final = 6
"""Of a day: 0.09 seconds, and far above what a double keeps of a Modified Julian Date."""
_MAGNITUDE_DIGITS: Final = 4
_FLUX_DIGITS: Final = 7
_FILLED: Final = (
    *("magnitude_error", "magnitude_system", "flux", "flux_error", "flux_unit"),
    *("observer", "time_scale", "instrument", "notes"),
)
"""What the first of two equal rows takes from the second where it has nothing."""
_CENTRE: Final = {"JD": "", "MJD": "", "DATE": "", "HJD": "H", "HMJD": "H", "BJD": "B", "BMJD": "B"}


@dataclass(frozen=True, slots=True)
class Merged:
    """One table of two.

    Attributes:
        rows: all measurements, in the order of time.
        added: how many of the second are new.
        duplicates: how many were there.
    """

    rows: tuple[Measurement, ...]
    added: int
    duplicates: int


def merge(there: Iterable[Measurement], coming: Iterable[Measurement]) -> Merged:
    """Add measurements to a table; those that it has are not added again, but fill what it lacks of them."""
    groups: dict[tuple[Any, ...], list[Measurement]] = {}
    known = list(there)
    for one in known:
        groups.setdefault(_identity(one), []).append(one)
    added = duplicates = 0
    for one in coming:
        group = groups.setdefault(_identity(one), [])
        place = next((n for n, other in enumerate(group) if _agree(one, other)), None)
        if place is None:
            group.append(one)
            added += 1
        else:
            group[place] = _filled(group[place], one)
            duplicates += 1
    rows = sorted((one for group in groups.values() for one in group), key=lambda one: (one.mjd, one.band))
    runs = (list(run) for _, run in groupby(rows, key=lambda one: (one.mjd, one.band)))
    ordered = (one for run in runs for one in (sorted(run, key=_order) if len(run) > 1 else run))
    return Merged(tuple(ordered), added, duplicates)


def _identity(one: Measurement) -> tuple[Any, ...]:
    value: tuple[Any, ...]
    if one.magnitude is not None:
        value = ("mag", round(one.magnitude, _MAGNITUDE_DIGITS))
    else:
        flux = one.flux if one.flux is not None else 0.0
        value = (one.flux_unit, f"{flux:.{_FLUX_DIGITS - 1}e}")
    return (round(one.mjd, _TIME_DIGITS), _CENTRE[one.time_system], one.band, one.upper_limit, *value)


def _agree(one: Measurement, other: Measurement) -> bool:
    observers = {name.casefold() for name in (one.observer, other.observer) if name}
    scales = {scale for scale in (one.time_scale, other.time_scale) if scale}
    return len(observers) <= 1 and len(scales) <= 1


def _filled(first: Measurement, second: Measurement) -> Measurement:
    # An error or a unit without its value would say nothing.
    fluxes = second.flux is not None and (first.flux is None or first.flux_unit == second.flux_unit)
    missing = {
        name: getattr(second, name)
        for name in _FILLED
        if getattr(first, name) is None and (fluxes or not name.startswith("flux"))
    }
    return replace(first, **missing) if missing else first


def _order(one: Measurement) -> tuple[Any, ...]:
    return (one.mjd, one.band, *(("" if v is None else str(v)) for v in one.to_row()))
