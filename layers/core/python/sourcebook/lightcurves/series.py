"""The table's twin for reading: the columns that are plotted, as compressed JSON.

The API answers from it without pyarrow, which is a hundred times as large as all that the API needs besides;
see docs/decisions/0103-photometry.md.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sourcebook.errors import Terminal
from sourcebook.lightcurves.model import TABLE_SCHEMA, Measurement

POINT_FIELDS: Final = tuple(
    "mjd time_system time_scale band magnitude magnitude_error magnitude_system flux flux_error "
    "flux_unit upper_limit observer".split()
)
"""Fields of a measurement as it is served."""
_MJD, _BAND, _LIMIT, _MAGNITUDE, _FLUX, _UNIT = map(
    POINT_FIELDS.index, ("mjd", "band", "upper_limit", "magnitude", "flux", "flux_unit")
)

Point = tuple[Any, ...]


class NotASeries(Terminal):
    """What lies where the twin should be is something else."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Points that were asked for.

    Attributes:
        points: each with its `POINT_FIELDS`, in the order of time.
        matched: how many the filters let through; more than `points` when they were thinned out.
        bands: how many of those each band has.
    """

    points: tuple[dict[str, Any], ...]
    matched: int
    bands: dict[str, int]

    @property
    def thinned(self) -> bool:
        """Whether some were left out."""
        return self.matched > len(self.points)


@dataclass(frozen=True, slots=True)
class Series:
    """All measurements of a nova, in the order of time."""

    points: Sequence[Point]

    @classmethod
    def of(cls, rows: Iterable[Measurement]) -> Series:
        """Return the series of a table."""
        return cls([tuple(getattr(one, name) for name in POINT_FIELDS) for one in rows])

    def write(self) -> bytes:
        """Return it as bytes; the same series gives the same bytes."""
        columns = {name: [point[n] for point in self.points] for n, name in enumerate(POINT_FIELDS)}
        content = {"schema_version": TABLE_SCHEMA, "columns": columns}
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        return gzip.compress(text.encode(), 6, mtime=0)

    @classmethod
    def read(cls, body: bytes) -> Series:
        """Return what `write` wrote.

        Raises:
            NotASeries: if it is not that.
        """
        try:
            columns = json.loads(gzip.decompress(body))["columns"]
            return cls(list(zip(*(columns[name] for name in POINT_FIELDS), strict=True)))
        except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
            raise NotASeries(
                f"the photometry's twin cannot be read ({type(error).__name__}: {error})"
            ) from error

    def select(
        self,
        *,
        bands: Collection[str] | None = None,
        since: float | None = None,
        until: float | None = None,
        upper_limits: bool = True,
        most: int,
    ) -> Selection:
        """Return what matches, thinned out to `most` points when there are more.

        Args:
            bands: canonical names; None for all.
            since: first MJD, included.
            until: last MJD, excluded.
            upper_limits: whether they are wanted too.
            most: points in all, at least 1.
        """
        found = [
            point
            for point in self.points
            if (bands is None or point[_BAND] in bands)
            and (since is None or point[_MJD] >= since)
            and (until is None or point[_MJD] < until)
            and (upper_limits or not point[_LIMIT])
        ]
        counts = Counter(point[_BAND] for point in found)
        kept = found if len(found) <= most else thin(found, most)
        return Selection(
            tuple(dict(zip(POINT_FIELDS, point, strict=True)) for point in kept),
            len(found),
            dict(sorted(counts.items())),
        )


def thin(points: Sequence[Point], most: int) -> list[Point]:
    """Return at most `most` of the points, such that a plot of them looks as one of all.

    Each band, and its upper limits apart from it, gets its share. Of each share the first and the last point
    are kept, and of each stretch between them the brightest and the faintest.
    """
    groups: dict[tuple[Any, ...], list[int]] = {}
    for place, point in enumerate(points):
        groups.setdefault((point[_BAND], point[_LIMIT], point[_UNIT]), []).append(place)
    shares = _shares([len(places) for places in groups.values()], most)
    kept: set[int] = set()
    for places, share in zip(groups.values(), shares, strict=True):
        kept.update(_extremes(points, places, share))
    return [points[place] for place in sorted(kept)]


def _shares(sizes: Sequence[int], most: int) -> list[int]:
    total = sum(sizes)
    shares = [min(size, max(1, most * size // total)) for size in sizes]
    while sum(shares) > most:
        shares[max(range(len(shares)), key=shares.__getitem__)] -= 1
    return shares


def _extremes(points: Sequence[Point], places: Sequence[int], share: int) -> list[int]:
    if share >= len(places):
        return list(places)
    if share < 4:
        return [places[0], places[-1]] if share > 1 else list(places[:share])
    kept = [places[0], places[-1]]
    inner = places[1:-1]
    stretches = (share - 2) // 2
    for number in range(stretches):
        stretch = inner[number * len(inner) // stretches : (number + 1) * len(inner) // stretches]
        values = [
            (points[place][_FLUX] if points[place][_MAGNITUDE] is None else points[place][_MAGNITUDE], place)
            for place in stretch
        ]
        kept += [min(values)[1], max(values)[1]]
    return kept
