"""From the cells of one row to a measurement, or to the reason why it is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from sourcebook.errors import InvalidInput
from sourcebook.photometry.bands import read_band
from sourcebook.photometry.columns import Columns, TimeColumn
from sourcebook.photometry.figures import is_blank, read_number
from sourcebook.photometry.model import NOTES_LIMIT, OBSERVER_LIMIT, Measurement
from sourcebook.photometry.times import Moment, TimeKind, read_kind, read_scale, read_time
from sourcebook.photometry.units import FluxUnit, read_flux_unit

MAGNITUDES: Final = (Decimal(-12), Decimal(30))
"""From brighter than any star ever seen to fainter than any telescope sees."""
LARGEST_ERROR: Final = Decimal(5)
"""Of a magnitude. What is less certain is no measurement; 9.999 and 99 stand for "none" in some files."""

_SAME_MOMENT: Final = Decimal("0.01")
"""Days by which two columns of times may differ: light takes 8.3 minutes from the Sun."""
_FAINTER: Final = ("<", ">", "≤", "≥", "＜", "＞", "&lt;", "&gt;")
_LESS: Final = ("<", "≤", "＜", "&lt;")
_YES: Final = frozenset({"1", "true", "yes", "y", "t", "u", "ul", "<", "limit"})
_NO: Final = frozenset({"0", "false", "no", "n", "f", "=", ""})
_SYSTEMS: Final = {"vega": "Vega", "ab": "AB"}
_STANDARD: Final = frozenset({"std", "standard"})


@dataclass(frozen=True, slots=True)
class RowReader:
    """Reads the rows of one upload.

    Attributes:
        file_id: of the upload.
        is_nova: whether a name in the upload means the nova that it is for.
        now: no measurement is from after tomorrow.
    """

    file_id: str
    is_nova: Callable[[str], bool]
    now: datetime

    def read(self, row: int, cells: Sequence[str], columns: Columns) -> Measurement:
        """Read one row.

        Raises:
            InvalidInput: naming the first field that is wrong, as the upload calls it.
        """
        self._check_subject(cells, columns)
        moment = self._time(cells, columns)
        band_raw = columns.cell("band", cells)
        if is_blank(band_raw):
            raise InvalidInput(columns.heading("band"), band_raw, "a band such as V, B, R, TG or Visual")
        magnitude, magnitude_limit, unsure = _magnitude(cells, columns)
        flux, flux_limit = _flux(cells, columns)
        if magnitude is None and flux is None:
            name = columns.heading("magnitude" if "magnitude" in columns.positions else "flux")
            raise InvalidInput(
                name, columns.cell("magnitude", cells) or columns.cell("flux", cells), "a magnitude or a flux"
            )
        unit = _flux_unit(cells, columns) if flux is not None else None
        magnitude_error, flux_error = _errors(cells, columns, with_magnitude=magnitude is not None)
        limit = _flag(cells, columns) or magnitude_limit or flux_limit
        notes = " ".join(f"{'uncertain ' if unsure else ''}{_text(cells, columns, 'notes') or ''}".split())
        return Measurement(
            mjd=float(moment.mjd),
            time_system=moment.system.value,
            time_scale=moment.scale.value if moment.scale else None,
            time_raw=moment.raw,
            band=read_band(columns.heading("band"), band_raw),
            band_raw=band_raw[:OBSERVER_LIMIT],
            magnitude=None if magnitude is None else float(magnitude),
            magnitude_error=None if magnitude is None or magnitude_error is None else float(magnitude_error),
            magnitude_system=_magnitude_system(cells, columns),
            flux=None if flux is None or unit is None else float(flux * unit.factor),
            flux_error=None if unit is None or flux_error is None else float(flux_error * unit.factor),
            flux_unit=unit.name if unit else None,
            upper_limit=limit,
            observer=(_text(cells, columns, "observer") or "")[:OBSERVER_LIMIT] or None,
            instrument=(_text(cells, columns, "instrument") or "")[:OBSERVER_LIMIT] or None,
            notes=notes[:NOTES_LIMIT] or None,
            file_id=self.file_id,
            row=row,
        )

    def _check_subject(self, cells: Sequence[str], columns: Columns) -> None:
        name = columns.cell("name", cells)
        if name and not is_blank(name) and not self.is_nova(name):
            # Comparison and check stars, and other stars of the same night, stand in the same files.
            raise InvalidInput(columns.heading("name"), name, "a name of the nova that this upload is for")
        kind = columns.cell("magnitude_type", cells)
        if kind and not is_blank(kind) and kind.lower() not in _STANDARD:
            raise InvalidInput(
                columns.heading("magnitude_type"),
                kind,
                "STD: a difference from a comparison star is no magnitude of the nova",
            )

    def _time(self, cells: Sequence[str], columns: Columns) -> Moment:
        filled = [column for column in columns.times if not is_blank(cells[column.position])]
        if not filled:
            empty = columns.times[0]
            raise InvalidInput(empty.heading, cells[empty.position], "a time")
        # Beside a Julian Date, a column that is just called "epoch" or "date" may be anything.
        filled = [column for column in filled if column.kind.system is not None] or filled
        moments = [self._moment(column, cells, columns) for column in filled]
        first = moments[0]
        for other, heading in zip(moments[1:], [one.heading for one in filled[1:]], strict=True):
            if abs(other.mjd - first.mjd) > _SAME_MOMENT:
                raise InvalidInput(
                    heading,
                    other.raw,
                    f"the same moment as {filled[0].heading}, {first.raw}; "
                    f"they differ by {abs(other.mjd - first.mjd):.4f} days",
                )
        return first

    def _moment(self, column: TimeColumn, cells: Sequence[str], columns: Columns) -> Moment:
        kind = column.kind
        if kind.system is None and (said := columns.cell("time_system", cells)):
            named = read_kind(said)
            if named is None:
                raise InvalidInput(
                    columns.heading("time_system"), said, "JD, MJD, HJD or BJD, or for a date nothing"
                )
            kind = TimeKind(named.system, named.scale or kind.scale, named.offset)
        if kind.scale is None and (said := columns.cell("time_scale", cells)) and not is_blank(said):
            kind = TimeKind(kind.system, read_scale(columns.heading("time_scale"), said), kind.offset)
        return read_time(column.heading, cells[column.position], kind, self.now)


def _magnitude(cells: Sequence[str], columns: Columns) -> tuple[Decimal | None, bool, bool]:
    """Return a magnitude, whether it is a limit, and whether its observer was unsure of it."""
    heading, text = columns.heading("magnitude"), columns.cell("magnitude", cells)
    if is_blank(text):
        return None, False, False
    number, limit = _after_sign(text, _FAINTER)
    unsure = number.endswith((":", "?"))
    value = read_number(heading, number.rstrip(":?").rstrip())
    if not MAGNITUDES[0] <= value <= MAGNITUDES[1]:
        none = " (99 and the like stand for none: leave the cell empty)" if value > 90 else ""
        raise InvalidInput(heading, text, f"a magnitude from {MAGNITUDES[0]} to {MAGNITUDES[1]}{none}")
    return value, limit, unsure


def _flux(cells: Sequence[str], columns: Columns) -> tuple[Decimal | None, bool]:
    heading, text = columns.heading("flux"), columns.cell("flux", cells)
    if is_blank(text):
        return None, False
    number, limit = _after_sign(text, _LESS)
    if number.startswith((">", "≥", "＞")):
        raise InvalidInput(heading, text, "a flux, or with < an upper limit; a lower limit is neither")
    return read_number(heading, number), limit


def _after_sign(text: str, signs: tuple[str, ...]) -> tuple[str, bool]:
    """Return a number without the sign before it that makes it a limit, and whether there was one."""
    plain = text.strip()
    for sign in signs:
        if plain.startswith(sign):
            return plain.removeprefix(sign).strip(), True
    return plain, False


def _flux_unit(cells: Sequence[str], columns: Columns) -> FluxUnit:
    text = columns.cell("flux_unit", cells)
    if is_blank(text):
        raise InvalidInput(
            columns.heading("flux_unit"),
            text,
            "the unit of the flux: a column flux_unit, or a heading such as flux (mJy)",
        )
    return read_flux_unit(columns.heading("flux_unit"), text)


def _errors(
    cells: Sequence[str], columns: Columns, *, with_magnitude: bool
) -> tuple[Decimal | None, Decimal | None]:
    """Return the errors of magnitude and flux; a column "error" is the magnitude's, if there is one."""
    found: list[Decimal | None] = []
    for name, takes_plain in (("magnitude_error", with_magnitude), ("flux_error", not with_magnitude)):
        chosen = name if name in columns.positions or not takes_plain else "error"
        heading, text = columns.heading(chosen), columns.cell(chosen, cells)
        if is_blank(text):
            found.append(None)
            continue
        value = read_number(heading, text.lstrip("±"))
        if value < 0 or (name == "magnitude_error" and value > LARGEST_ERROR):
            upper = f" to {LARGEST_ERROR} mag" if name == "magnitude_error" else ""
            raise InvalidInput(heading, text, f"an error from 0{upper}, or nothing when it is not known")
        found.append(value)
    return found[0], found[1]


def _flag(cells: Sequence[str], columns: Columns) -> bool:
    heading, text = columns.heading("upper_limit"), columns.cell("upper_limit", cells).lower()
    if text in _YES or (text == ">" and "magnitude" in columns.positions):
        return True
    if text in _NO or is_blank(text):
        return False
    raise InvalidInput(heading, text, "yes or no")


def _magnitude_system(cells: Sequence[str], columns: Columns) -> str | None:
    text = columns.cell("magnitude_system", cells)
    if is_blank(text):
        return None
    if text.lower() not in _SYSTEMS:
        raise InvalidInput(columns.heading("magnitude_system"), text, "Vega or AB")
    return _SYSTEMS[text.lower()]


def _text(cells: Sequence[str], columns: Columns, name: str) -> str | None:
    text = " ".join(columns.cell(name, cells).split())
    return None if is_blank(text) else text
