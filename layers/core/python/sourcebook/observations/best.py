"""Rates at once: the best of each series and term, and what has moved in a period."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from itertools import islice
from typing import Final

from sourcebook.observations.read import LOAN, ObservationReader
from sourcebook.records.base import View
from sourcebook.table.pages import all_items

_SHOWN: Final = ("series_code", "term_months", "term", "rate_pct", "observed_day", "source_id")
TARGETS_AT_MOST: Final = 500
"""Banks and terms whose history is read for one answer: two requests each."""


def moves(reader: ObservationReader, *, series_code: str, days: int) -> View:
    """Return the banks and terms of a series whose figure has changed in the last `days`.

    The first and the last figure of the period are compared, each from the source that counted on its day.
    The largest change is first, whichever way it went. `left_out` says whether there are more banks and terms
    than were looked at. Raise Unknown if there is no such series.
    """
    last = reader.clock().date()
    first = last - timedelta(days=days)
    latest = all_items(partial(reader.latest, series_code=series_code))
    targets = [(row["bank_name"], row["term"]) for row in islice(latest, TARGETS_AT_MOST + 1)]
    rows: list[View] = []
    for bank, term in targets[:TARGETS_AT_MOST]:
        # The days are those of the sources' calendars, which may be one ahead of UTC.
        found = reader.history(
            bank_name=bank,
            series_code=series_code,
            term_months=term,
            first=first,
            last=last + timedelta(days=1),
        )
        points = [point for point in found["items"] if point["rate_pct"] is not None]
        if not points or points[0]["rate_pct"] == points[-1]["rate_pct"]:
            continue
        begin, end = points[0], points[-1]
        rows.append(
            {
                "bank_name": bank,
                "term_months": found["term_months"],
                "term": term,
                "rate_before_pct": begin["rate_pct"],
                "rate_pct": end["rate_pct"],
                "change_pct": round(end["rate_pct"] - begin["rate_pct"], 6),
                "day_before": begin["observed_day"],
                "observed_day": end["observed_day"],
            }
        )
    rows.sort(key=lambda row: (-abs(row["change_pct"]), row["bank_name"], row["term_months"] or 0))
    return {
        "series_code": series_code,
        "first_day": first.isoformat(),
        "left_out": len(targets) > TARGETS_AT_MOST,
        "items": rows,
        "next_cursor": None,
    }


def best_rates(reader: ObservationReader, *, series_code: str | None = None) -> list[View]:
    """Return the best figure of each series and term, and the banks that offer it.

    Chosen among the figures of `GET /latest` that are not stale. Raise Unknown if there is no such series.
    """
    kinds = {str(series["series_code"]): series["kind"] for series in reader.known_series()}
    best: dict[tuple[str, str | None], View] = {}
    for row in all_items(partial(reader.latest, series_code=series_code)):
        if row["stale"] or row["rate_pct"] is None:
            continue
        key = (row["series_code"], row["term"])
        found = best.get(key)
        sign = -1 if kinds[row["series_code"]] == LOAN else 1
        if found is None or sign * row["rate_pct"] > sign * found["rate_pct"]:
            shown = {name: row[name] for name in _SHOWN}
            best[key] = shown | {"kind": kinds[row["series_code"]], "banks": [row["bank_name"]]}
        elif row["rate_pct"] == found["rate_pct"]:
            found["banks"].append(row["bank_name"])
    return sorted(best.values(), key=lambda row: (row["series_code"], row["term_months"] or 0))
