"""What the columns of an upload are, by their headings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple

from sourcebook.errors import InvalidInput
from sourcebook.lightcurves.figures import is_blank
from sourcebook.lightcurves.limits import NO, LimitColumn, joined, limit_column, words_of
from sourcebook.lightcurves.model import WORD_LIMIT, Format, TimeScale, TimeSystem
from sourcebook.lightcurves.times import TimeKind, read_kind

MOST_COLUMNS: Final = 500
"""How many columns of a table are read."""

_MAGNITUDES: Final = tuple(
    "mag magnitude app_mag apparent_mag apparent_magnitude magpsf psf_mag obs_mag unforced_mag "
    "calibrated_mag helligkeit".split()
)
_FLUXES: Final = ("flux", "flux_density", "fnu", "f_nu", "flam", "f_lambda", "psf_flux", "rate", "count_rate")
_ERRORS: Final = tuple("err error e unc uncert uncertainty sigma sig stddev rms".split())

FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "magnitude": _MAGNITUDES,
    "magnitude_error": (
        *("merr", "sigmapsf", "emag", "dmag"),
        *(f"{error}_{name}" for error in _ERRORS for name in _MAGNITUDES),
        *(f"{name}_{error}" for error in _ERRORS for name in _MAGNITUDES),
    ),
    "flux": _FLUXES,
    "flux_error": (
        *(f"{error}_{name}" for error in _ERRORS for name in _FLUXES),
        *(f"{name}_{error}" for error in _ERRORS for name in _FLUXES),
    ),
    "error": ("err", "error", "errors", "uncertainty", "unc", "sigma", "fehler", "erreur"),
    "zero_point": ("zp", "zeropoint", "zero_point"),
    "flux_unit": ("flux_unit", "fluxunit", "unit", "units"),
    "band": tuple(
        "band filter filt passband bandpass band_name filter_name filters phot_filter filter_code "
        "filter_id filter_identifier filtre filtro".split()
    ),
    "frequency": ("frequency", "freq", "wavelength", "energy", "energy_band"),
    "observer": ("observer", "obs", "obscode", "observer_code", "observer_name", "obs_code"),
    "name": tuple(
        "name star star_name starid star_id object object_name target target_name source_name "
        "variable".split()
    ),
    "time_system": ("time_system", "timesys", "time_format", "date_format", "date_type"),
    "time_scale": ("time_scale", "timescale"),
    "magnitude_system": ("mag_system", "magsys", "magnitude_system", "zpsys"),
    "magnitude_type": ("mtype", "mag_type", "magnitude_type", "measurement_method"),
    "instrument": ("instrument", "telescope", "facility", "camera"),
    "notes": ("notes", "note", "comment", "comments", "remarks"),
}
"""Headings by field; case and what separates their words do not matter. Others are named in a note.

What means "limit" has more spellings than a list can hold: `sourcebook.lightcurves.limits` recognizes them.
"""

NEEDED: Final = (
    "a column for the time (jd, mjd, hjd, bjd, date_utc), one for the magnitude or the flux, "
    "and one for the band"
)

_TIMES: Final = frozenset(
    "time date datetime dateobs obsdate obstime epoch t isot timestamp datum fecha".split()
)
_UTC: Final = frozenset({"ut", "utc", "uttime", "utdate", "utcdate", "dateut", "dateutc", "timeutc"})
_OF_OBSERVATIONS: Final = frozenset("obs observation observed mid midpoint middle mean avg start of".split())
"""Words beside a time that change nothing of it."""
_JULIAN: Final = frozenset({"jd", "mjd"})
_OF_DAYS: Final = frozenset({"", "d", "day", "days", "jd", "mjd", "date", "mid", "midpoint", "start", "obs"})
"""What stands in brackets behind the name of a time and changes nothing of it."""
_MAY_COME_TWICE: Final = frozenset({"instrument", "observer", "notes"})
"""Fields of which the first column counts: telescope and camera often stand side by side."""


class _Dialect(NamedTuple):
    """A table that is known by its headings, in lower case, and what only its definition says.

    Attributes:
        needed: headings that it always has.
        others: headings that it may have besides; any others if there are none here.
        means: what a heading of its own stands for.
        constants: what holds for all its rows, by field. The survey is whose bands it has.
        numeric_time: what a number in a column of times is that does not say so itself.
        note: what was taken for granted.
    """

    needed: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    means: Mapping[str, str] = {}
    constants: Mapping[str, str] = {}
    numeric_time: TimeKind | None = None
    note: str = ""


_DIALECTS: Final = (
    _Dialect(
        frozenset({"time", "filter", "magnitude", "error"}),
        frozenset({"limit", "source", "telescope", "instrument", "facility", "observer"}),
        numeric_time=TimeKind(TimeSystem.MJD, TimeScale.UTC),
        note="The headings are those of the TOM Toolkit: "
        "numbers in its column time are Modified Julian Dates in UTC.",
    ),
    _Dialect(
        frozenset({"mjd", "ujy", "dujy", "f"}),
        means={"m": "mag", "dm": "mag_err", "f": "filter", "err": "quality"},
        constants={"survey": "ATLAS", "magnitude_system": "AB"},
        note="The headings are those of ATLAS's forced photometry.",
    ),
    _Dialect(
        frozenset({"transit_id", "band", "time", "mag", "flux"}),
        constants={"survey": "Gaia", "flux_unit": "electron/s", "magnitude_system": "Vega"},
        numeric_time=TimeKind(TimeSystem.BJD, TimeScale.TCB, Decimal("2455197.5")),
        note="The headings are those of Gaia's epoch photometry: "
        "its times are days since 2010 in TCB, at the barycentre.",
    ),
    _Dialect(frozenset({"fid", "magpsf"}), means={"fid": "filter"}, constants={"survey": "fid"}),
)
_FREQUENCIES: Final = frozenset({"ghz", "mhz", "kev", "mev", "gev"})
_BY_HEADING: Final = {joined(heading): name for name, headings in FIELDS.items() for heading in headings}
_JANSKYS: Final = re.compile(
    r"(?P<before>|.*[ _]|d|e|.*(?:err|flux))(?P<unit>[munµμ]?jy|microjy)(?P<after>|[ _].*)", re.IGNORECASE
)
"""``flux_uJy``, ``mJy_err`` and ``duJy``: the unit is a word of the heading."""
_OF_JANSKYS: Final = {"": "flux", "d": "flux_err", "e": "flux_err", "err": "flux_err"}
_BAND: Final = r"[UBVRI][cj]?|[JHK]s?|[ugriz]['′]?"
_UNIT_IN_HEADING: Final = re.compile(r"^(?P<name>[^(\[]*[^(\[\s])\s*+[(\[](?P<unit>[^)\]]+)[)\]]$")
_PREFERRED: Final = (*(TimeSystem[name] for name in "JD MJD BJD BMJD HJD HMJD DATE".split()), None)
_ERROR_WORD: Final = "e|err|error|d|s|sig|sigma|u|unc|uncertainty|merr"
_OF_BAND: Final = re.compile(
    rf"(?:(?P<error>{_ERROR_WORD})[ _]?)?(?P<before>(?:m|mag)[ _])?"
    rf"(?P<band>{_BAND})"
    rf"(?P<after>[ _]?mag)?(?:[ _]?(?P<error_after>{_ERROR_WORD}))?"
)
"""``V``, ``Vmag``, ``mag_V``; and ``e_Vmag``, ``eV``, ``V_err``, ``sigma_V``: a column for one band."""


class FieldColumn(NamedTuple):
    """A column that has a field."""

    position: int
    heading: str
    unit: str = ""


class TimeColumn(NamedTuple):
    """A column of times."""

    position: int
    heading: str
    kind: TimeKind


class BandColumns(NamedTuple):
    """The magnitude of one band, its error and its limits, in a table that has columns for each band."""

    band: str
    fields: Mapping[str, FieldColumn]
    limits: tuple[LimitColumn, ...] = ()

    @property
    def places(self) -> set[int]:
        """Return the positions of the band's columns, from 0."""
        return {one.position for one in self.fields.values()} | {one.position for one in self.limits}

    def is_filled(self, cells: Sequence[str]) -> bool:
        """Whether a row has a magnitude or a limit of this band."""
        says_limit = (cells[one.position].strip().casefold() for one in self.limits)
        return not is_blank(cells[self.fields["magnitude"].position]) or any(
            not is_blank(one) and one not in NO for one in says_limit
        )


@dataclass(frozen=True, slots=True)
class Columns:
    """Where each field stands.

    Attributes:
        times: columns of times, the one to prefer first.
        fields: column by field.
        constants: what holds for every row, by field.
        limits: columns that mean "limit".
        unread: headings of the columns that are not read, by position. A cell of theirs may still say that
            the source was not seen.
        dialect: what the definition of the table says besides.
        bands: of a table that has a column for each band, and a measurement in each of them.
    """

    times: tuple[TimeColumn, ...]
    fields: Mapping[str, FieldColumn]
    constants: Mapping[str, str] = field(default_factory=dict)
    limits: tuple[LimitColumn, ...] = ()
    unread: Mapping[int, str] = field(default_factory=dict)
    dialect: _Dialect = field(default_factory=_Dialect)
    bands: tuple[BandColumns, ...] = ()

    def remarks(self) -> list[str]:
        """Return what the sender of the upload should know of its columns."""
        unused = ", ".join([heading[:40] for heading in self.unread.values() if heading][:40])
        notes = [self.dialect.note] if self.dialect.note else []
        return [*notes, f"Columns that are not used: {unused}."] if unused else notes

    def of_band(self, one: BandColumns) -> Columns:
        """Return the columns of the measurements in one band."""
        constants = {**self.constants, "band": one.band}
        return replace(
            self, fields={**self.fields, **one.fields}, constants=constants, limits=one.limits, bands=()
        )


class Row(NamedTuple):
    """One row: its cells, or why it has none that can be read."""

    number: int
    cells: Sequence[str]
    columns: Columns
    error: InvalidInput | None = None

    def of_each_band(self) -> list[Row]:
        """Return a row for each of its measurements: itself, or one for each band with a value."""
        bands = self.columns.bands
        if self.error is not None or not bands:
            return [self]
        filled = [one for one in bands if one.is_filled(self.cells)]
        return [self._replace(columns=self.columns.of_band(one)) for one in filled or bands[:1]]

    def text(self, name: str) -> str:
        """Return what it says of a field, or what holds for all rows; empty if nobody says anything."""
        column = self.columns.fields.get(name)
        cell = self.cells[column.position].strip() if column is not None else ""
        return cell or self.columns.constants.get(name, "")

    def has_column(self, name: str) -> bool:
        """Whether the upload has a column for a field."""
        return name in self.columns.fields

    def heading(self, name: str) -> str:
        """Return what the upload calls a field."""
        return self.columns.fields[name].heading if name in self.columns.fields else name

    def unit(self, name: str) -> str:
        """Return the unit in the heading of a field."""
        return self.columns.fields[name].unit if name in self.columns.fields else ""

    def wrong(self, name: str, expected: str) -> InvalidInput:
        """Return the error of a field whose value is not as expected."""
        return InvalidInput(self.heading(name), self.text(name), expected)


@dataclass(frozen=True, slots=True)
class Layout:
    """An upload as rows, read as they are asked for."""

    format: Format
    rows: Iterator[Row]
    notes: list[str] = field(default_factory=list)


@lru_cache(maxsize=4_096)
def is_known(heading: str) -> bool:
    """Whether a heading names a field, a time or a limit."""
    if len(heading) > WORD_LIMIT:
        return False
    bare = _split_unit(heading)[0]
    return (
        joined(bare) in _BY_HEADING
        or _time_kind(heading) is not None
        or limit_column(0, bare) is not None
        or _OF_BAND.fullmatch(bare.strip()) is not None
        or heading.strip().lower() in _DIALECT_WORDS
    )


def read_columns(headings: Sequence[str], constants: Mapping[str, str]) -> Columns:
    """Find all fields that a measurement needs among the headings, and what is said once for all rows.

    Raises:
        InvalidInput: if there is no time, no value or no band, or if two columns claim one field.
    """
    return checked(find_columns(headings, constants), headings)


def find_columns(headings: Sequence[str], constants: Mapping[str, str]) -> Columns:
    """Find the fields that there are among the headings.

    Raises:
        InvalidInput: if two columns claim one field.
    """
    if len(headings) > MOST_COLUMNS:
        raise InvalidInput("columns", f"{len(headings)} headings", f"at most {MOST_COLUMNS}")
    dialect = _dialect(headings)
    times: list[TimeColumn] = []
    fields: dict[str, FieldColumn] = {}
    limits: list[LimitColumn] = []
    unread: dict[int, str] = {}
    plain_errors: list[int] = []
    for position, written in enumerate(headings):
        heading = dialect.means.get(written.strip().lower(), written)
        if (kind := _time_kind(heading)) is not None:
            times.append(TimeColumn(position, heading.strip(), kind))
            continue
        bare, unit = _split_unit(heading)
        found = _BY_HEADING.get(joined(bare)) if len(bare) <= WORD_LIMIT else None
        if found is None and (limit := limit_column(position, bare, unit)) is not None:
            limits.append(limit)
            continue
        if found is None or (found in fields and found in _MAY_COME_TWICE):
            unread[position] = heading.strip()
            continue
        if found == "error":
            plain_errors.append(position)
        elif found in fields:
            raise _twice(found, heading, fields[found].heading)
        fields[found] = FieldColumn(position, written.strip(), unit)
    frequency = fields.get("frequency")
    if frequency is not None and ("band" not in fields or frequency.unit.lower() in _FREQUENCIES):
        # A band of radio is C or X, which is clear or nothing elsewhere.
        fields["band"] = fields.pop("frequency")
    bands: tuple[BandColumns, ...] = ()
    if not {"magnitude", "flux", "band"} & {*fields}:
        bands = _bands(headings, unread, limits, plain_errors)
    if bands:
        fields.pop("error", None)
    elif len(plain_errors) > 1:
        raise _twice("error", headings[plain_errors[1]], headings[plain_errors[0]])
    return Columns(
        by_preference(times),
        fields,
        {**said_by_units(fields), **dialect.constants, **constants},
        limits=tuple(limits),
        unread=unread,
        dialect=dialect,
        bands=bands,
    )


def said_by_units(fields: Mapping[str, FieldColumn]) -> dict[str, str]:
    """Return what units of headings say for all rows: "flux (mJy)", "mag [AB]"."""
    found = {}
    if "flux" in fields and fields["flux"].unit:
        found["flux_unit"] = fields["flux"].unit
    if "magnitude" in fields and fields["magnitude"].unit.lower() in {"ab", "vega"}:
        found["magnitude_system"] = fields["magnitude"].unit
    return found


def _twice(found: str, heading: str, other: str) -> InvalidInput:
    expected = f"one column for the {found}, and there is {other.strip()} besides"
    return InvalidInput(heading.strip(), heading, f"{expected}; each measurement needs a row of its own")


def _dialect(headings: Sequence[str]) -> _Dialect:
    names = {heading.strip().lower() for heading in headings if len(heading) <= WORD_LIMIT}
    for one in _DIALECTS:
        if names >= one.needed and (not one.others or names <= one.needed | one.others):
            return one
    return _Dialect()


def _bands(
    headings: Sequence[str], unread: dict[int, str], limits: Sequence[LimitColumn], errors: Sequence[int]
) -> tuple[BandColumns, ...]:
    """Return the columns of each band among those that are no others, and take them from those.

    A small letter alone, as the ``i`` of an index, is a band only where its error stands beside it. So is any
    letter beside a column C, for the variable, comparison and check stars of a night are V, C and K.

    Args:
        headings: of all columns.
        unread: headings of those that are no others, by position.
        limits: columns that mean "limit".
        errors: columns that are called "error" and no more: each is of the band on its left.

    Raises:
        InvalidInput: if a column of limits or of errors does not say of which of the bands.
    """
    found: dict[str, dict[str, FieldColumn]] = {}
    sure: set[str] = set()
    stars = "C" in unread.values()
    for position, heading in unread.items():
        named = _OF_BAND.fullmatch(_split_unit(heading)[0].strip())
        if named is None:
            continue
        band, is_error = named["band"], bool(named["error"] or named["error_after"])
        fields = found.setdefault(band, {})
        fields.setdefault("magnitude_error" if is_error else "magnitude", _column(position, heading))
        if not is_error and position + 1 in errors:
            fields["magnitude_error"] = _column(position + 1, headings[position + 1])
        if is_error or named["before"] or named["after"] or (band[0].isupper() and not stars):
            sure.add(band)
    bands = [
        BandColumns(band, fields, tuple(one for one in limits if _is_of(one, band)))
        for band, fields in found.items()
        if band in sure and "magnitude" in fields
    ]
    if len(bands) == 1:
        fields = dict(bands[0].fields)
        if errors:
            fields.setdefault("magnitude_error", _column(errors[0], headings[errors[0]]))
        bands = [BandColumns(bands[0].band, fields, tuple(limits))]
    taken = {place for one in bands for place in one.places}
    for position in (*(one.position for one in limits), *errors):
        if bands and position not in taken:
            names = ", ".join(band.band for band in bands)
            heading = headings[position].strip()
            raise InvalidInput(heading, heading, f"a heading with the band that it is of: {names}")
    for place in taken & {*unread}:
        unread.pop(place)
    return tuple(bands)


def _column(position: int, heading: str) -> FieldColumn:
    return FieldColumn(position, heading.strip(), _split_unit(heading)[1])


def _is_of(limit: LimitColumn, band: str) -> bool:
    """Whether a heading of limits names a band: ``l_Vmag``, ``V_limit``, ``Vlim``."""
    words = re.split(r"[^A-Za-z'′]+", limit.heading)
    return any(re.fullmatch(f"{band}(?:mag|magnitude|lim|limit|ul)?", word) for word in words)


def checked(columns: Columns, headings: Iterable[str]) -> Columns:
    """Return the columns, if there is all that a measurement needs among them.

    Raises:
        InvalidInput: if not.
    """
    missing = []
    if not columns.times:
        missing.append("the time")
    if not {"magnitude", "flux"} & set(columns.fields) and not columns.bands:
        missing.append("the magnitude or the flux")
    if "band" not in columns.fields and not columns.constants.get("band") and not columns.bands:
        missing.append("the band")
    if missing:
        expected = f"{NEEDED}; none is for {' and for '.join(missing)}"
        raise InvalidInput("columns", ", ".join(headings), expected)
    return columns


_DIALECT_WORDS: Final = frozenset(word for one in _DIALECTS for word in one.means)
"""Headings that say something only in a dialect."""


def _time_kind(heading: str) -> TimeKind | None:
    """Return what a column of times is by its heading; None if it is none."""
    if len(heading) > WORD_LIMIT:
        return None
    bare = heading.strip().strip("#\"'").strip()
    if kind := read_kind(bare):
        return kind
    words = set(words_of(bare))
    if (
        words <= _TIMES | _UTC | _OF_OBSERVATIONS | _OF_DAYS
        and words & (_TIMES | _UTC)
        and not words & _JULIAN
    ):
        return TimeKind(TimeSystem.DATE, TimeScale.UTC) if words & _UTC else TimeKind()
    name, unit = _split_unit(bare)
    if unit and joined(name) in _TIMES:  # "Time [MJD]"
        return read_kind(unit)
    # In brackets may stand what makes it another time: "JD (local)", "JD (PST)".
    if joined(unit) not in _OF_DAYS or any(map(str.isdigit, name)):
        return None
    # "MJD-OBS", "obs_jd_utc", "Mid MJD"
    return read_kind("_".join(word for word in words_of(name) if word not in _OF_OBSERVATIONS | _TIMES))


def _split_unit(heading: str) -> tuple[str, str]:
    """Return a heading without its unit, and the unit; ``mag(V)`` is ``mag_V`` and has none."""
    plain = heading.strip()
    if len(plain) > WORD_LIMIT:
        return heading, ""
    if found := _UNIT_IN_HEADING.match(plain):
        name, unit = found["name"], found["unit"].strip()
        return (f"{name}_{unit}", "") if re.fullmatch(_BAND, unit) else (name, unit)
    if found := _JANSKYS.fullmatch(plain):
        name = f"{found['before']}{found['after']}".strip(" _")
        return _OF_JANSKYS.get(name.lower(), name), found["unit"]
    return heading, ""


def by_preference(times: Iterable[TimeColumn]) -> tuple[TimeColumn, ...]:
    """Return columns of times, the one to take first: as observed before corrected, numbers before dates."""
    return tuple(sorted(times, key=lambda one: (_PREFERRED.index(one.kind.system), one.position)))
