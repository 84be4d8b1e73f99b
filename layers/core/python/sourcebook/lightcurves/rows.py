"""From the cells of one row to a measurement, or to the reason why it is none."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from typing import Final, NamedTuple

from sourcebook.errors import InvalidInput
from sourcebook.lightcurves.bands import read_band
from sourcebook.lightcurves.columns import Row, TimeColumn
from sourcebook.lightcurves.figures import (
    is_blank,
    is_placeholder,
    looks_like_a_number,
    read_number,
    split_sign,
)
from sourcebook.lightcurves.limits import FAINTEST, Limits, read_limits, says_not_seen
from sourcebook.lightcurves.model import NOTES_LIMIT, OBSERVER_LIMIT, Measurement, TimeSystem
from sourcebook.lightcurves.times import MeasurementTime, TimeKind, is_clock, read_kind, read_scale, read_time
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
    """A magnitude or a flux.

    Attributes:
        value: None when there is none.
        limit: whether it is an upper limit.
        unsure: whether its observer was unsure of it.
        error: None when it is not known.
        no_error: whether a number such as 99 in place of its error says that it is not known.
    """

    value: Decimal | None = None
    limit: bool = False
    unsure: bool = False
    error: Decimal | None = None
    no_error: bool = False


@dataclass(frozen=True, slots=True)
class RowReader:
    """Reads the rows of one upload.

    Attributes:
        file_id: of the upload.
        is_nova: whether a name in the upload means the nova that it is for.
        latest: the Modified Julian Date that no measurement is after.
        warned: rows by what the reader was not sure of.
    """

    file_id: str
    is_nova: Callable[[str], bool]
    latest: Decimal
    warned: dict[Warned, list[int]] = field(default_factory=dict)

    def read(self, row: Row) -> Measurement:
        """Read one row.

        Raises:
            InvalidInput: naming the first field that is wrong, as the upload calls it; or saying why the row
                has no cells.
        """
        if row.error is not None:
            raise row.error
        self._check_subject(row)
        moment = self._time(row)
        band_raw = row.text("band")
        if is_blank(band_raw):
            raise row.wrong("band", "a band such as V, B, R, TG or Visual")
        if looks_like_a_number(band_raw):  # of a column such as "Freq (GHz)"
            band_raw = f"{band_raw} {row.unit('band')}".strip()
        magnitude, flux = self._values(row)
        limit = magnitude.limit or flux.limit
        kept, unit = self._kept_flux(row, flux, alone=magnitude.value is None)
        notes = _text(row, "notes")
        if not limit and _MENTIONED.search(notes[:NOTES_LIMIT]):
            self._warn(Warned.MENTIONED, row)
        notes = f"uncertain {notes}".strip() if magnitude.unsure else notes
        return Measurement(
            mjd=float(moment.mjd),
            time_system=moment.system.value,
            time_scale=moment.scale.value if moment.scale else None,
            time_raw=moment.raw,
            band=read_band(row.heading("band"), f"{row.text('survey')} {band_raw}".strip()),
            band_raw=band_raw[:OBSERVER_LIMIT],
            magnitude=_float(magnitude.value),
            magnitude_error=_float(magnitude.error),
            magnitude_system=_magnitude_system(row),
            flux=_float(kept.value),
            flux_error=_float(kept.error),
            flux_unit=unit,
            upper_limit=limit,
            observer=_text(row, "observer")[:OBSERVER_LIMIT] or None,
            instrument=_text(row, "instrument")[:OBSERVER_LIMIT] or None,
            notes=notes[:NOTES_LIMIT] or None,
            file_id=self.file_id,
            row=row.number,
        )

    def warnings(self) -> list[str]:
        """Return what the reader was not sure of, each with its first rows."""
        warnings = []
        for kind, rows in self.warned.items():
            more = f" and {len(rows) - _ROWS_NAMED} more" if len(rows) > _ROWS_NAMED else ""
            warnings.append(f"{kind.value} (row {', '.join(map(str, rows[:_ROWS_NAMED]))}{more}).")
        return warnings

    def _warn(self, kind: Warned, row: Row) -> None:
        self.warned.setdefault(kind, []).append(row.number)

    def _values(self, row: Row) -> tuple[_Value, _Value]:
        """Read magnitude and flux with their errors, and whether they are upper limits.

        Raises:
            InvalidInput: if there is neither, or if the row does not say clearly whether it is a limit.
        """
        flux = _flux(row)
        magnitude = _magnitude(row, flux)
        limits = self._limits(row)
        # A column "error" is the magnitude's, if there is one.
        plain = row.has_column("magnitude") and (magnitude.value is not None or flux.value is None)
        magnitude = _with_error(row, "magnitude", magnitude, plain=plain)
        flux = _with_error(row, "flux", flux, plain=not plain)
        if magnitude.value is not None and not _stands_for_none(magnitude, limits):
            return self._with_magnitude(row, magnitude.value, magnitude, flux, limits)
        if (row.has_column("magnitude") or flux.value is None) and limits.flag is not False:
            limiting = _only(row, limits.magnitudes)
            if limiting is not None:
                if flux.value is not None:
                    self._warn(Warned.FLUX_LEFT, row)
                return _Value(limiting, limit=True), _Value()
        if magnitude.limit:
            raise row.wrong("magnitude", "the magnitude of the limit")
        if flux.value is None and limits.flag is not False and limits.fluxes:
            return _Value(), _Value(_only(row, limits.fluxes), limit=True)
        if flux.value is None:
            raise _no_value(row, limits)
        limit = flux.limit or limits.flag is True
        if limit and flux.value <= 0:
            raise row.wrong("flux", "above 0, for it is an upper limit")
        if not limit and flux.no_error:
            self._warn(Warned.NO_ERROR, row)
        return _Value(), flux._replace(limit=limit)

    def _with_magnitude(
        self, row: Row, value: Decimal, magnitude: _Value, flux: _Value, limits: Limits
    ) -> tuple[_Value, _Value]:
        """Decide whether a magnitude is a measurement or a limit, and whether the flux beside it is kept."""
        limit = magnitude.limit or limits.flag is True
        if limits.flag and not magnitude.limit and limits.magnitudes and value not in limits.magnitudes:
            shown = ", ".join(map(str, limits.magnitudes))
            expected = f"one limit; the magnitude is marked as one, and the limit is {shown}"
            raise row.wrong("magnitude", expected)
        if not limit and limits.magnitudes and limits.flag is None:
            deepest = max(limits.magnitudes)
            if magnitude.error is None and any(abs(value - m) < _SAME_MAGNITUDE for m in limits.magnitudes):
                limit = True
                self._warn(Warned.EQUAL, row)
            elif value > deepest and magnitude.error is None:
                expected = f"an error beside it, or a magnitude not fainter than its limit, {deepest}"
                raise row.wrong("magnitude", expected)
            elif value > deepest:
                self._warn(Warned.FAINTER, row)
        if not limit and flux.limit:
            raise row.wrong("flux", "a limit for both, or none")
        if not limit and (magnitude.no_error or flux.no_error):
            self._warn(Warned.NO_ERROR, row)
        if not limit and magnitude.error is None and _may_be_none(value):
            if limits.magnitudes and limits.flag is None:
                raise row.wrong("magnitude", "an error beside it, for it may stand for none")
            self._warn(Warned.PERHAPS_NONE, row)
        measured = flux.value is not None and (flux.value <= 0 or flux.error is not None)
        if limit and measured and not flux.limit:
            # A measured flux beside a limiting magnitude is no upper limit of the flux.
            self._warn(Warned.FLUX_LEFT, row)
            flux = _Value()
        return magnitude._replace(limit=limit), flux

    def _kept_flux(self, row: Row, flux: _Value, *, alone: bool) -> tuple[_Value, str | None]:
        """Return a flux in the unit in which it is kept, and that; nothing where there is none that is kept.

        Raises:
            InvalidInput: if it is too large, or stands alone and has no unit that is known.
        """
        if flux.value is None:
            return _Value(), None
        try:
            unit = _flux_unit(row)
        except InvalidInput:
            if alone:
                raise
            self._warn(Warned.NO_UNIT, row)
            return _Value(), None
        value, error = flux.value * unit.factor, flux.error
        if error is not None:
            error *= _unit_of_error(row, unit).factor
        if abs(value) > LARGEST_FLUX:
            raise InvalidInput(row.heading("flux"), flux.value, f"a flux up to {LARGEST_FLUX}")
        return _Value(value, error=error), unit.name

    def _limits(self, row: Row) -> Limits:
        """Read the columns of limits, and cells of other columns that say "not seen" and nothing else."""
        columns = row.columns
        limits = read_limits(columns.limits, row.cells, flux_only=not row.has_column("magnitude"))
        others = (columns.fields[name].position for name in _MAY_SAY_LIMIT if row.has_column(name))
        for position in (*columns.unread, *others):
            text = row.cells[position]
            if not text or not says_not_seen(text.strip()):
                continue
            if limits.flag is False:
                raise InvalidInput(f"column {position + 1}", text, f"what {limits.heading} says: no limit")
            if limits.flag is None:
                self._warn(Warned.ELSEWHERE, row)
            return limits._replace(flag=True)
        return limits

    def _check_subject(self, row: Row) -> None:
        name = row.text("name")
        if not is_blank(name) and not self.is_nova(name):
            # Comparison and check stars, and other stars of the same night, stand in the same files.
            raise row.wrong("name", "a name of the nova that this upload is for")
        kind = row.text("magnitude_type")
        if not is_blank(kind) and kind.lower() not in _STANDARD:
            expected = "STD or ABS: a difference from a comparison star is no magnitude of the nova"
            raise row.wrong("magnitude_type", expected)

    def _time(self, row: Row) -> MeasurementTime:
        cells, columns = row.cells, row.columns
        filled = [column for column in columns.times if not is_blank(cells[column.position])]
        if not filled:
            empty = columns.times[0]
            raise InvalidInput(empty.heading, cells[empty.position], "a time")
        # Beside a Julian Date, a column that is just called "epoch" or "date" may be anything.
        clocks = [column for column in filled if is_clock(cells[column.position])]
        days = [column for column in filled if column not in clocks]
        sure = [column for column in days if column.kind.system or (clocks and len(days) == 1)]
        filled = sure or days or filled
        moments = [self._moment(row, column, clocks) for column in filled]
        first = moments[0]
        if first.system is TimeSystem.DATE and first.mjd % 1 == 0:
            unread = next((place for place in columns.unread if is_clock(cells[place])), None)
            if unread is not None and ":" not in first.raw:
                expected = f"the time of the day, and {cells[unread]} is not said to be UT"
                raise InvalidInput(filled[0].heading, first.raw, expected)
        for other, column in zip(moments[1:], filled[1:], strict=True):
            # A date without a time of the day is the day.
            same = 1 if other.system is TimeSystem.DATE and other.mjd % 1 == 0 else _SAME_MOMENT
            apart = abs(other.mjd - first.mjd)
            if apart > same:
                expected = (
                    f"the same moment as {filled[0].heading}, {first.raw}; they differ by {apart:.4f} days"
                )
                raise InvalidInput(column.heading, other.raw, expected)
        return first

    def _moment(self, row: Row, column: TimeColumn, clocks: Sequence[TimeColumn]) -> MeasurementTime:
        """Read the time of a column; a date takes the time of its day from the column that has it."""
        kind, text = column.kind, row.cells[column.position]
        numeric = looks_like_a_number(text)
        if kind.system is None and (named_text := row.text("time_system")):
            named = read_kind(named_text)
            if named is None:
                raise row.wrong("time_system", "JD, MJD, HJD or BJD, or for a date nothing")
            kind = TimeKind(named.system, named.scale or kind.scale, named.offset)
        elif kind.system is None and (in_dialect := row.columns.dialect.numeric_time) and numeric:
            kind = in_dialect
        if clocks and not numeric and ":" not in text and column not in clocks:
            clock = row.cells[clocks[0].position]
            if len(clocks) > 1:
                headings = ", ".join(one.heading for one in clocks)
                raise InvalidInput(headings, clock, "one column with the time of the day")
            text = f"{text} {clock}"
            kind = replace(kind, scale=kind.scale or clocks[0].kind.scale)
        if kind.scale is None and not is_blank(scale := row.text("time_scale")):
            kind = replace(kind, scale=read_scale(row.heading("time_scale"), scale))
        return read_time(column.heading, text, kind, self.latest)


def _may_be_none(value: Decimal) -> bool:
    """Whether a magnitude that is possible is also one that software writes for "none"."""
    return value in _PLACEHOLDERS or (is_placeholder(value) and value.adjusted() == 0 and value > _NEARLY_TEN)


def _stands_for_none(magnitude: _Value, limits: Limits) -> bool:
    """Whether it is 0, -1 or 9.999 beside an error that says so, or 0 or -1 beside a limit."""
    value = magnitude.value
    if value is None or magnitude.limit or magnitude.error is not None or not _may_be_none(value):
        return False
    beside_limit = value in _PLACEHOLDERS and bool(limits.magnitudes) and limits.flag is not False
    return magnitude.no_error or beside_limit


def _only(row: Row, values: tuple[Decimal, ...]) -> Decimal | None:
    """Return the limit of a row.

    Raises:
        InvalidInput: if the row has several.
    """
    if len(set(values)) > 1:
        headings = ", ".join(column.heading for column in row.columns.limits)
        raise InvalidInput(headings, ", ".join(map(str, values)), "one limit in a row without a detection")
    return values[0] if values else None


def _no_value(row: Row, limits: Limits) -> InvalidInput:
    heading = row.heading("magnitude" if row.has_column("magnitude") else "flux")
    text = row.text("magnitude") or row.text("flux")
    if limits.flag is False and (limits.magnitudes or limits.fluxes):
        hint = f", for {limits.heading} says that it is no limit"
    else:
        hint = "" if is_blank(text) else " (99 and the like stand for none: leave the cell empty)"
    return InvalidInput(heading, text, f"a magnitude or a flux{hint}")


def _magnitude(row: Row, flux: _Value) -> _Value:
    """Read the cell of the magnitude; a placeholder such as 99.99 is none.

    Beside a flux that is not above zero there is no magnitude: ATLAS writes -18.9 then.

    Raises:
        InvalidInput: if it is neither a magnitude nor a limit.
    """
    heading, text = row.heading("magnitude"), row.text("magnitude")
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
    factor = _THOUSANDTHS.get(row.unit("magnitude").lower(), 1)
    value = read_number(heading, number.rstrip(":?").rstrip()) * factor
    if is_placeholder(value, shortest=2):
        return _Value(limit=limit)
    if not MAGNITUDES[0] <= value <= MAGNITUDES[1]:
        if flux.value is not None and flux.value <= 0:
            return _Value()
        raise row.wrong("magnitude", f"a magnitude from {MAGNITUDES[0]} to {MAGNITUDES[1]}")
    return _Value(value, limit, unsure, error)


def _without_error(heading: str, text: str) -> tuple[str, Decimal | None]:
    """Return what stands before ``±``, and the number after it.

    Raises:
        InvalidInput: if that is none.
    """
    number, mark, error = text.replace("+/-", "±").replace("+-", "±").partition("±")
    return number.rstrip(), read_number(heading, error) if mark else None


def _flux(row: Row) -> _Value:
    """Read the cell of the flux.

    Raises:
        InvalidInput: if it is neither a flux nor an upper limit.
    """
    heading, text = row.heading("flux"), row.text("flux")
    if is_blank(text):
        return _Value()
    sign, number = split_sign(text)
    if sign in _GREATER:
        raise row.wrong("flux", "a flux, or with < an upper limit; a lower limit is neither")
    number, error = _without_error(heading, number)
    value = read_number(heading, number)
    return _Value() if value in {-99, -999, -9999} else _Value(value, bool(sign), error=error)


def _with_error(row: Row, name: str, found: _Value, *, plain: bool) -> _Value:
    """Return a value with the error of its column, or else with that of its own cell.

    Args:
        row: with the value.
        name: magnitude or flux.
        found: the value, with the number that its cell has as an error, as in ``11.1 ± 0.1``.
        plain: whether a column that is just called "error" is of this value.

    Raises:
        InvalidInput: if one of them is no error.
    """
    column = "error" if plain and not row.has_column(f"{name}_error") else f"{name}_error"
    text = row.text(column)
    written = {}
    if not is_blank(text) and not says_not_seen(text):
        written[column] = read_number(row.heading(column), text.removeprefix("+/-").lstrip("±"))
    if found.error is not None:
        written[name] = found.error
    read = [_error(row, place, value, of_magnitude=name == "magnitude") for place, value in written.items()]
    error = next((one for one in read if one is not None), None)
    return found._replace(error=error, no_error=bool(written) and error is None)


def _error(row: Row, name: str, value: Decimal, *, of_magnitude: bool) -> Decimal | None:
    """Return an error, of magnitudes in mag; None for zero and what else software writes for "not known".

    Raises:
        InvalidInput: if it is no error.
    """
    factor = _THOUSANDTHS.get(row.unit(name).lower(), 1) if of_magnitude else 1
    # Of thousandths, 9 and 99 are errors as others are.
    nines = is_placeholder(value) and (value < 0 or (of_magnitude and (factor == 1 or value % 1 != 0)))
    if nines or value in _PLACEHOLDERS or (of_magnitude and is_placeholder(value * factor)):
        return None
    if 0 < value * factor <= (LARGEST_ERROR if of_magnitude else LARGEST_FLUX):
        return value * factor
    upper = f" to {LARGEST_ERROR} mag" if of_magnitude else ""
    raise row.wrong(name, f"an error from 0{upper}, or nothing when it is not known")


def _flux_unit(row: Row) -> FluxUnit:
    text, zero_point = row.text("flux_unit"), row.text("zero_point")
    if is_blank(text) and not is_blank(zero_point) and _magnitude_system(row) == "AB":
        # The flux of a source of magnitude zero is 3631 Jy, by the definition of AB magnitudes.
        exponent = read_number(row.heading("zero_point"), zero_point) / Decimal("-2.5")
        if abs(exponent) < _LARGEST_EXPONENT:
            return FluxUnit("Jy", 3631 * Decimal(10) ** exponent)
    if is_blank(text):
        expected = "the unit of the flux: a column flux_unit, or a heading such as flux (mJy)"
        raise row.wrong("flux_unit", expected)
    return read_flux_unit(row.heading("flux_unit"), text)


def _unit_of_error(row: Row, unit: FluxUnit) -> FluxUnit:
    """Return the unit of the error of a flux, which may be another than the flux has.

    Raises:
        InvalidInput: if one cannot be turned into the other.
    """
    name = "flux_error" if row.has_column("flux_error") else "error"
    text = row.unit(name)
    if not text:
        return unit
    own = read_flux_unit(row.heading(name), text)
    if own.name != unit.name:
        raise InvalidInput(row.heading(name), text, f"the unit of the flux, {unit.name}")
    return own


def _float(value: Decimal | None) -> float | None:
    return None if value is None else float(value)


def _magnitude_system(row: Row) -> str | None:
    text = row.text("magnitude_system")
    if is_blank(text):
        return None
    if text.lower() not in _SYSTEMS:
        raise row.wrong("magnitude_system", "Vega or AB")
    return _SYSTEMS[text.lower()]


def _text(row: Row, name: str) -> str:
    text = " ".join(row.text(name).split())
    return "" if is_blank(text) else text
