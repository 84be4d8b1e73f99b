"""From the cells of one row to a measurement, or to the reason why it is none."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Final, NamedTuple

from sourcebook.errors import InvalidInput
from sourcebook.lightcurves.bands import read_band
from sourcebook.lightcurves.columns import Columns, TimeColumn
from sourcebook.lightcurves.figures import (
    is_blank,
    is_placeholder,
    looks_like_a_number,
    read_number,
    split_sign,
)
from sourcebook.lightcurves.limits import FAINTEST, Limits, read_limits, says_not_seen
from sourcebook.lightcurves.model import NOTES_LIMIT, OBSERVER_LIMIT, Measurement, TimeSystem
from sourcebook.lightcurves.times import Moment, TimeKind, is_clock, read_kind, read_scale, read_time
from sourcebook.lightcurves.units import FluxUnit, read_flux_unit

MAGNITUDES: Final = (Decimal(-12), FAINTEST)
"""From brighter than any star ever seen to fainter than any telescope sees."""
LARGEST_ERROR: Final = Decimal(5)
"""Of a magnitude. What is less certain is no measurement; 9.999 and 99 stand for "none" in some files."""
LARGEST_FLUX: Final = Decimal("1e30")
"""In any unit: far above every source, and far below what a double holds."""

_SAME_MOMENT: Final = Decimal("0.01")
"""Days by which two columns of times may differ: light takes 8.3 minutes from the Sun."""
_SAME_MAGNITUDE: Final = Decimal("0.0005")
_GREATER: Final = frozenset({">", ">=", "≥", "≳", "⩾", "＞", "&gt;", "["})
_SYSTEMS: Final = {"vega": "Vega", "ab": "AB"}
_THOUSANDTHS: Final = {"mmag": Decimal("0.001"), "millimag": Decimal("0.001")}
_MAY_SAY_LIMIT: Final = ("notes", "magnitude_error", "flux_error", "error")
_STANDARD: Final = frozenset({"std", "standard", "abs"})
"""AAVSO's format has ABS from before it had STD."""
_ROWS_NAMED: Final = 10
_LARGEST_EXPONENT: Final = 20
_NEARLY_TEN: Final = Decimal("9.95")
_PLACEHOLDERS: Final = frozenset({Decimal(0), Decimal(-1)})
_LIMIT_WORD: Final = re.compile(
    r"(?:fainter ?than|upper ?lim(?:it)?|limit(?:ing)?(?: mag(?:nitude)?)?|uplim|ulim|lim|ul)[ .:=]*"
    r"(?P<after>[\d.,]+)"
    r"|(?P<before>[\d.,]+) ?\(?(?:upper ?lim(?:it)?|limit|uplim|ulim|lim|ul)\.?\)?",
    re.IGNORECASE | re.ASCII,
)
_MENTIONED: Final = re.compile(
    r"upper ?limit|fainter ?than|non-?detection|not (?:seen|detected|visible)|undetected|invisible",
    re.IGNORECASE,
)


class Warned(StrEnum):
    """What a reader was not sure of in rows that it took all the same."""

    EQUAL = "The magnitude is the limiting magnitude and has no error: read as an upper limit"
    FLUX_LEFT = "The magnitude is an upper limit, and the flux beside it none: the flux is not kept"
    FAINTER = "The magnitude is fainter than the limiting magnitude of its image: kept as a measurement"
    NO_UNIT = "The flux beside a magnitude has no unit that is known: the flux is not kept"
    NO_ERROR = "An error of 0, -1, 99.99 and the like means that it is not known"
    PERHAPS_NONE = (
        "A magnitude of 0, -1, 9.999 and the like may mean that there is none: kept as a measurement"
    )
    ELSEWHERE = "A column that is not one of limits says that the source was not seen: read as an upper limit"
    MENTIONED = "The notes of a measurement mention a limit: kept as a measurement"


class _Value(NamedTuple):
    """What the cell of a magnitude or flux says.

    Attributes:
        value: None when there is none.
        limit: whether the cell says itself that it is an upper limit.
        unsure: whether its observer was unsure of it.
        error: that stands in the same cell, as in ``11.1 ± 0.1``.
    """

    value: Decimal | None = None
    limit: bool = False
    unsure: bool = False
    error: Decimal | None = None


class _Error(NamedTuple):
    """An error, None when it is not known, and whether its cell holds a number that says so."""

    value: Decimal | None = None
    placeholder: bool = False


class _Read(NamedTuple):
    """The cells of one row that bear on its value."""

    value: Decimal
    magnitude: _Value
    flux: _Value
    error: _Error
    flux_error: _Error
    limits: Limits


class _Values(NamedTuple):
    """The values of one measurement."""

    magnitude: Decimal | None = None
    magnitude_error: Decimal | None = None
    flux: Decimal | None = None
    flux_error: Decimal | None = None
    limit: bool = False
    unsure: bool = False


@dataclass(frozen=True, slots=True)
class RowReader:
    """Reads the rows of one upload.

    Attributes:
        file_id: of the upload.
        is_nova: whether a name in the upload means the nova that it is for.
        now: no measurement is from after tomorrow.
        warned: rows by what the reader was not sure of.
    """

    file_id: str
    is_nova: Callable[[str], bool]
    now: datetime
    warned: dict[Warned, list[int]] = field(default_factory=dict)

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
        if looks_like_a_number(band_raw):  # of a column such as "Freq (GHz)"
            band_raw = f"{band_raw} {columns.units.get('band', '')}".strip()
        found = self._values(row, cells, columns)
        magnitude, flux = found.magnitude, found.flux
        unit = None
        if flux is not None:
            try:
                unit = _flux_unit(cells, columns)
            except InvalidInput:
                if magnitude is None:
                    raise
                self._warn(Warned.NO_UNIT, row)
        flux_error = None
        if unit is not None and found.flux_error is not None:
            flux_error = found.flux_error * _unit_of_error(columns, unit).factor
        if flux is not None and unit is not None and abs(flux * unit.factor) > LARGEST_FLUX:
            raise InvalidInput(columns.heading("flux"), flux, f"a flux up to {LARGEST_FLUX}")
        notes = _text(cells, columns, "notes") or ""
        if not found.limit and _MENTIONED.search(notes[:NOTES_LIMIT]):
            self._warn(Warned.MENTIONED, row)
        notes = f"uncertain {notes}".strip() if found.unsure else notes
        return Measurement(
            mjd=float(moment.mjd),
            time_system=moment.system.value,
            time_scale=moment.scale.value if moment.scale else None,
            time_raw=moment.raw,
            band=read_band(columns.heading("band"), f"{columns.cell('survey', cells)} {band_raw}".strip()),
            band_raw=band_raw[:OBSERVER_LIMIT],
            magnitude=_float(magnitude),
            magnitude_error=_float(found.magnitude_error),
            magnitude_system=_magnitude_system(cells, columns),
            flux=_float(flux * unit.factor if flux is not None and unit is not None else None),
            flux_error=_float(flux_error),
            flux_unit=unit.name if unit else None,
            upper_limit=found.limit,
            observer=(_text(cells, columns, "observer") or "")[:OBSERVER_LIMIT] or None,
            instrument=(_text(cells, columns, "instrument") or "")[:OBSERVER_LIMIT] or None,
            notes=notes[:NOTES_LIMIT] or None,
            file_id=self.file_id,
            row=row,
        )

    def warnings(self) -> list[str]:
        """Return what the reader was not sure of, each with its first rows."""
        warnings = []
        for kind, rows in self.warned.items():
            more = f" and {len(rows) - _ROWS_NAMED} more" if len(rows) > _ROWS_NAMED else ""
            warnings.append(f"{kind.value} (row {', '.join(map(str, rows[:_ROWS_NAMED]))}{more}).")
        return warnings

    def _warn(self, kind: Warned, row: int) -> None:
        self.warned.setdefault(kind, []).append(row)

    def _values(self, row: int, cells: Sequence[str], columns: Columns) -> _Values:
        """Read magnitude, flux and their errors, and whether they are upper limits.

        Raises:
            InvalidInput: if there is neither, or if the row does not say clearly whether it is a limit.
        """
        flux = _flux(cells, columns)
        magnitude = _magnitude(cells, columns, flux)
        limits = self._limits(row, cells, columns)
        with_magnitude = "magnitude" in columns.positions and (
            magnitude.value is not None or flux.value is None
        )
        error, flux_error = _errors(cells, columns, with_magnitude=with_magnitude)
        error = error if magnitude.error is None or error.value is not None else _Error(magnitude.error)
        flux_error = flux_error if flux.error is None or flux_error.value is not None else _Error(flux.error)
        magnitude = _placeholder(magnitude, error, limits)
        if magnitude.value is not None:
            read = _Read(magnitude.value, magnitude, flux, error, flux_error, limits)
            return self._with_magnitude(row, cells, columns, read)
        if "magnitude" in columns.positions or flux.value is None:
            limiting = _only(columns, limits.magnitudes) if limits.flag is not False else None
            if limiting is not None:
                if flux.value is not None:
                    self._warn(Warned.FLUX_LEFT, row)
                return _Values(limiting, limit=True)
        if magnitude.limit:
            raise InvalidInput(
                columns.heading("magnitude"), columns.cell("magnitude", cells), "the magnitude of the limit"
            )
        if flux.value is None and limits.flag is not False and limits.fluxes:
            return _Values(flux=_only(columns, limits.fluxes), limit=True)
        if flux.value is None:
            raise _no_value(cells, columns, limits)
        limit = flux.limit or limits.flag is True
        if limit and flux.value <= 0:
            raise InvalidInput(
                columns.heading("flux"), columns.cell("flux", cells), "above 0, for it is an upper limit"
            )
        if not limit and flux_error.placeholder:
            self._warn(Warned.NO_ERROR, row)
        return _Values(flux=flux.value, flux_error=flux_error.value, limit=limit)

    def _with_magnitude(self, row: int, cells: Sequence[str], columns: Columns, read: _Read) -> _Values:
        """Decide whether a magnitude is a measurement or a limit."""
        value, limits = read.value, read.limits
        heading, text = columns.heading("magnitude"), columns.cell("magnitude", cells)
        limit = read.magnitude.limit or limits.flag is True
        if limits.flag and not read.magnitude.limit and limits.magnitudes and value not in limits.magnitudes:
            shown = ", ".join(map(str, limits.magnitudes))
            raise InvalidInput(
                heading, text, f"one limit; the magnitude is marked as one, and the limit is {shown}"
            )
        if not limit and limits.magnitudes and limits.flag is None:
            deepest = max(limits.magnitudes)
            if read.error.value is None and any(abs(value - m) < _SAME_MAGNITUDE for m in limits.magnitudes):
                limit = True
                self._warn(Warned.EQUAL, row)
            elif value > deepest and read.error.value is None:
                raise InvalidInput(
                    heading, text, f"an error beside it, or a magnitude not fainter than its limit, {deepest}"
                )
            elif value > deepest:
                self._warn(Warned.FAINTER, row)
        if not limit and read.flux.limit:
            raise InvalidInput(
                columns.heading("flux"), columns.cell("flux", cells), "a limit for both, or none"
            )
        if not limit and (read.error.placeholder or read.flux_error.placeholder):
            self._warn(Warned.NO_ERROR, row)
        if not limit and read.error.value is None and _may_be_none(value):
            if limits.magnitudes and limits.flag is None:
                raise InvalidInput(heading, text, "an error beside it, for it may stand for none")
            self._warn(Warned.PERHAPS_NONE, row)
        flux, flux_error = read.flux.value, read.flux_error.value
        if limit and flux is not None and not read.flux.limit and (flux <= 0 or flux_error is not None):
            # A measured flux beside a limiting magnitude is no upper limit of the flux.
            self._warn(Warned.FLUX_LEFT, row)
            flux = flux_error = None
        return _Values(value, read.error.value, flux, flux_error, limit, read.magnitude.unsure)

    def _limits(self, row: int, cells: Sequence[str], columns: Columns) -> Limits:
        """Read the columns of limits, and cells of other columns that say "not seen" and nothing else."""
        limits = read_limits(columns.limits, cells, flux_only="magnitude" not in columns.positions)
        others = (columns.positions[name] for name in _MAY_SAY_LIMIT if name in columns.positions)
        for position in (*columns.unread, *others):
            text = cells[position]
            if not text or not says_not_seen(text.strip()):
                continue
            if limits.flag is False:
                raise InvalidInput(f"column {position + 1}", text, f"what {limits.heading} says: no limit")
            if limits.flag is None:
                self._warn(Warned.ELSEWHERE, row)
            return limits._replace(flag=True)
        return limits

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
                "STD or ABS: a difference from a comparison star is no magnitude of the nova",
            )

    def _time(self, cells: Sequence[str], columns: Columns) -> Moment:
        filled = [column for column in columns.times if not is_blank(cells[column.position])]
        if not filled:
            empty = columns.times[0]
            raise InvalidInput(empty.heading, cells[empty.position], "a time")
        # Beside a Julian Date, a column that is just called "epoch" or "date" may be anything.
        clocks = [column for column in filled if is_clock(cells[column.position])]
        days = [column for column in filled if column not in clocks]
        filled = (
            [c for c in days if c.kind.system is not None or (clocks and len(days) == 1)] or days or filled
        )
        moments = [self._moment(column, cells, columns, clocks) for column in filled]
        first = moments[0]
        if first.system is TimeSystem.DATE and first.mjd % 1 == 0:
            unread = next((place for place in columns.unread if is_clock(cells[place])), None)
            if unread is not None and ":" not in first.raw:
                raise InvalidInput(
                    filled[0].heading,
                    first.raw,
                    f"the time of the day, and {cells[unread]} is not said to be UT",
                )
        for other, column in zip(moments[1:], filled[1:], strict=True):
            # A date without a time of the day is the day.
            same = 1 if other.system is TimeSystem.DATE and other.mjd % 1 == 0 else _SAME_MOMENT
            if abs(other.mjd - first.mjd) > same:
                raise InvalidInput(
                    column.heading,
                    other.raw,
                    f"the same moment as {filled[0].heading}, {first.raw}; "
                    f"they differ by {abs(other.mjd - first.mjd):.4f} days",
                )
        return first

    def _moment(
        self, column: TimeColumn, cells: Sequence[str], columns: Columns, clocks: Sequence[TimeColumn]
    ) -> Moment:
        """Read the time of a column; a date takes the time of its day from the column that has it."""
        kind, text = column.kind, cells[column.position]
        numeric = looks_like_a_number(text)
        if kind.system is None and (named_text := columns.cell("time_system", cells)):
            named = read_kind(named_text)
            if named is None:
                raise InvalidInput(
                    columns.heading("time_system"), named_text, "JD, MJD, HJD or BJD, or for a date nothing"
                )
            kind = TimeKind(named.system, named.scale or kind.scale, named.offset)
        elif kind.system is None and columns.numeric_time and numeric:
            kind = columns.numeric_time
        if clocks and not numeric and ":" not in text and column not in clocks:
            if len(clocks) > 1:
                headings = ", ".join(one.heading for one in clocks)
                raise InvalidInput(headings, cells[clocks[0].position], "one column with the time of the day")
            text = f"{text} {cells[clocks[0].position]}"
            kind = replace(kind, scale=kind.scale or clocks[0].kind.scale)
        if kind.scale is None and (scale := columns.cell("time_scale", cells)) and not is_blank(scale):
            kind = replace(kind, scale=read_scale(columns.heading("time_scale"), scale))
        return read_time(column.heading, text, kind, self.now)


def _may_be_none(value: Decimal) -> bool:
    """Whether a magnitude that is possible is also one that software writes for "none"."""
    return value in _PLACEHOLDERS or (is_placeholder(value) and value.adjusted() == 0 and value > _NEARLY_TEN)


def _placeholder(magnitude: _Value, error: _Error, limits: Limits) -> _Value:
    """Return no magnitude for 0, -1 or 9.999 beside an error that says so, or for 0 or -1 beside a limit."""
    value = magnitude.value
    if value is None or magnitude.limit or error.value is not None or not _may_be_none(value):
        return magnitude
    beside_limit = value in _PLACEHOLDERS and limits.magnitudes and limits.flag is not False
    return _Value() if error.placeholder or beside_limit else magnitude


def _only(columns: Columns, values: tuple[Decimal, ...]) -> Decimal | None:
    """Return the limit of a row.

    Raises:
        InvalidInput: if the row has several.
    """
    if len(set(values)) > 1:
        headings = ", ".join(column.heading for column in columns.limits)
        raise InvalidInput(headings, ", ".join(map(str, values)), "one limit in a row without a detection")
    return values[0] if values else None


def _no_value(cells: Sequence[str], columns: Columns, limits: Limits) -> InvalidInput:
    heading = columns.heading("magnitude" if "magnitude" in columns.positions else "flux")
    text = columns.cell("magnitude", cells) or columns.cell("flux", cells)
    if limits.flag is False and (limits.magnitudes or limits.fluxes):
        return InvalidInput(
            heading, text, f"a magnitude or a flux, for {limits.heading} says that it is no limit"
        )
    none = "" if is_blank(text) else " (99 and the like stand for none: leave the cell empty)"
    return InvalidInput(heading, text, f"a magnitude or a flux{none}")


def _errors(cells: Sequence[str], columns: Columns, *, with_magnitude: bool) -> tuple[_Error, _Error]:
    """Return the errors of magnitude and flux; a column "error" is the magnitude's, if there is one."""
    found: list[_Error] = []
    for name, takes_plain in (("magnitude_error", with_magnitude), ("flux_error", not with_magnitude)):
        plain = takes_plain and name not in columns.positions
        found.append(
            _error(cells, columns, "error" if plain else name, of_magnitude=name == "magnitude_error")
        )
    return found[0], found[1]


def _magnitude(cells: Sequence[str], columns: Columns, flux: _Value) -> _Value:
    """Read the cell of the magnitude; a placeholder such as 99.99 is none.

    Beside a flux that is not above zero there is no magnitude: ATLAS writes -18.9 then.

    Raises:
        InvalidInput: if it is neither a magnitude nor a limit.
    """
    heading, text = columns.heading("magnitude"), columns.cell("magnitude", cells)
    if is_blank(text):
        return _Value()
    if says_not_seen(text):
        return _Value(limit=True)
    sign, number = split_sign(text)
    limit = bool(sign)
    if not sign and len(number) <= OBSERVER_LIMIT and (worded := _LIMIT_WORD.fullmatch(number)):
        number, limit = worded["after"] or worded["before"], True
    number, error = _without_error(heading, number)
    number = number.removesuffix("mag").rstrip()
    unsure = number.endswith((":", "?"))
    factor = _THOUSANDTHS.get(columns.units.get("magnitude", "").lower(), 1)
    value = read_number(heading, number.rstrip(":?").rstrip()) * factor
    if is_placeholder(value, shortest=2):
        return _Value(limit=limit)
    if not MAGNITUDES[0] <= value <= MAGNITUDES[1]:
        if flux.value is not None and flux.value <= 0:
            return _Value()
        raise InvalidInput(heading, text, f"a magnitude from {MAGNITUDES[0]} to {MAGNITUDES[1]}")
    return _Value(
        value, limit, unsure, None if error is None else _checked_error(heading, text, error * factor)
    )


def _without_error(heading: str, text: str) -> tuple[str, Decimal | None]:
    """Return what stands before ``±``, and the number after it.

    Raises:
        InvalidInput: if that is none.
    """
    number, mark, error = text.replace("+/-", "±").replace("+-", "±").partition("±")
    return number.rstrip(), read_number(heading, error) if mark else None


def _flux(cells: Sequence[str], columns: Columns) -> _Value:
    """Read the cell of the flux.

    Raises:
        InvalidInput: if it is neither a flux nor an upper limit.
    """
    if "flux" not in columns.positions:
        return _Value()
    heading, text = columns.heading("flux"), columns.cell("flux", cells)
    if is_blank(text):
        return _Value()
    sign, number = split_sign(text)
    if sign in _GREATER:
        raise InvalidInput(heading, text, "a flux, or with < an upper limit; a lower limit is neither")
    number, error = _without_error(heading, number)
    value = read_number(heading, number)
    return _Value() if value in {-99, -999, -9999} else _Value(value, bool(sign), error=error)


def _error(cells: Sequence[str], columns: Columns, name: str, *, of_magnitude: bool) -> _Error:
    """Read an error. Zero, and what software writes for "not known", are none.

    Raises:
        InvalidInput: if it is no error.
    """
    if name not in columns.positions:
        return _Error()
    heading, text = columns.heading(name), columns.cell(name, cells)
    if is_blank(text) or says_not_seen(text):
        return _Error()
    value = read_number(heading, text.removeprefix("+/-").lstrip("±"))
    if value in _PLACEHOLDERS or (is_placeholder(value) and (of_magnitude or value < 0)):
        return _Error(placeholder=True)
    if of_magnitude:
        value *= _THOUSANDTHS.get(columns.units.get(name, "").lower(), 1)
    return _Error(_checked_error(heading, text, value, LARGEST_ERROR if of_magnitude else LARGEST_FLUX))


def _checked_error(heading: str, text: str, value: Decimal, largest: Decimal = LARGEST_ERROR) -> Decimal:
    if 0 < value <= largest:
        return value
    upper = f" to {LARGEST_ERROR} mag" if largest == LARGEST_ERROR else ""
    raise InvalidInput(heading, text, f"an error from 0{upper}, or nothing when it is not known")


def _flux_unit(cells: Sequence[str], columns: Columns) -> FluxUnit:
    text = columns.cell("flux_unit", cells)
    zero_point = columns.cell("zero_point", cells)
    if is_blank(text) and not is_blank(zero_point) and _magnitude_system(cells, columns) == "AB":
        # The flux of a source of magnitude zero is 3631 Jy, by the definition of AB magnitudes.
        exponent = read_number(columns.heading("zero_point"), zero_point) / Decimal("-2.5")
        if abs(exponent) < _LARGEST_EXPONENT:
            return FluxUnit("Jy", 3631 * Decimal(10) ** exponent)
    if is_blank(text):
        raise InvalidInput(
            columns.heading("flux_unit"),
            text,
            "the unit of the flux: a column flux_unit, or a heading such as flux (mJy)",
        )
    return read_flux_unit(columns.heading("flux_unit"), text)


def _unit_of_error(columns: Columns, unit: FluxUnit) -> FluxUnit:
    """Return the unit of the error of a flux, which may be another than the flux has.

    Raises:
        InvalidInput: if one cannot be turned into the other.
    """
    name = "flux_error" if "flux_error" in columns.positions else "error"
    text = columns.units.get(name)
    if not text:
        return unit
    own = read_flux_unit(columns.heading(name), text)
    if own.name != unit.name:
        raise InvalidInput(columns.heading(name), text, f"the unit of the flux, {unit.name}")
    return own


def _float(value: Decimal | None) -> float | None:
    return None if value is None else float(value)


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
