"""VOTables: the first table that has times, a band, and magnitudes or fluxes.

Read with expat, without document types: there is no entity to expand and nothing to fetch. What the
columns are is told by their UCDs (IVOA UCD list 1.6), their TIMESYS (VOTable 1.4, section 3.2), and else by
their names as in CSV.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Final
from xml.parsers import expat

from sourcebook.errors import InvalidInput
from sourcebook.photometry.columns import Columns, TimeColumn, by_preference, checked, find_columns
from sourcebook.photometry.figures import is_blank, read_number
from sourcebook.photometry.layout import Layout, Row
from sourcebook.photometry.model import MOST_ROWS, Format, TimeScale, TimeSystem
from sourcebook.photometry.times import MJD_ORIGIN, TimeKind

MOST_COLUMNS: Final = 500
MOST_CELLS: Final = 4_000_000
MOST_ELEMENTS: Final = 50_000
"""Besides rows and cells; a real table has some hundred."""
_CELL_LIMIT: Final = 2_000
_DEPTH: Final = 30
_EXPECTED: Final = "a well-formed VOTable with TABLEDATA"
_BAND_IN_UCD: Final = re.compile(r"em\.opt\.([UBVRI])\b|em\.ir\.([JHK])\b")
_BINARY: Final = frozenset({"BINARY", "BINARY2", "FITS", "PARQUET"})
_CENTRES: Final = {"HELIOCENTER": "H", "BARYCENTER": "B"}
_CONSTANT: Final = frozenset(
    {"band", "name", "observer", "instrument", "magnitude_system", "flux_unit", "time_scale"}
)
"""Fields that a PARAM may give for all rows."""
_NONE: Final = frozenset({"", "UNKNOWN"})


@dataclass(slots=True)
class _Field:
    """A FIELD or PARAM, by its attributes."""

    attributes: Mapping[str, str]

    def get(self, name: str) -> str:
        return self.attributes.get(name, "").strip()

    @property
    def words(self) -> list[str]:
        """The words of its UCD; "pos.eq;meta.main" are two."""
        return [word.strip().lower() for word in self.get("ucd").split(";") if word.strip()]


@dataclass(slots=True)
class _Table:
    fields: list[_Field] = field(default_factory=list)
    params: list[_Field] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)


@dataclass(slots=True)
class _Document:
    """Collects tables from expat's events; their names are told without namespaces' prefixes."""

    tables: list[_Table] = field(default_factory=list)
    timesys: dict[str, Mapping[str, str]] = field(default_factory=dict)
    outer_params: list[_Field] = field(default_factory=list)
    path: list[str] = field(default_factory=list)
    text: list[str] | None = None
    length: int = 0
    cells: int = 0
    elements: int = 0
    in_error: bool = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(":")[2].upper()
        if not self.path and tag != "VOTABLE":
            raise InvalidInput("file", f"<{name}>", _EXPECTED)
        if len(self.path) >= _DEPTH:
            raise InvalidInput("file", f"<{name}>", f"{_EXPECTED}, not nested deeper than {_DEPTH} elements")
        if tag in _BINARY:
            raise InvalidInput("file", f"<{name}>", f"{_EXPECTED}; {tag} is not read: save it with TABLEDATA")
        self.path.append(tag)
        if tag not in {"TR", "TD"}:
            self.elements += 1
            if self.elements > MOST_ELEMENTS:
                raise InvalidInput("file", f"<{name}>", f"at most {MOST_ELEMENTS} elements besides the cells")
        match tag:
            case "TIMESYS":
                self.timesys[attributes.get("ID", "")] = attributes
            case "PARAM":
                within = self.tables and "TABLE" in self.path
                (self.tables[-1].params if within else self.outer_params).append(_Field(attributes))
            case "TD":
                self._begin_text()
            case "INFO" if attributes.get("name", "").upper() == "QUERY_STATUS":
                if attributes.get("value", "").upper() == "ERROR":
                    self.in_error = True
                    self._begin_text()
            case _:
                self._start_table(tag, attributes)

    def _start_table(self, tag: str, attributes: dict[str, str]) -> None:
        match tag:
            case "TABLE":
                self.tables.append(_Table())
            case "FIELD" if self.tables:
                self.tables[-1].fields.append(_Field(attributes))
                if len(self.tables[-1].fields) > MOST_COLUMNS:
                    raise InvalidInput("FIELD", attributes.get("name"), f"at most {MOST_COLUMNS} columns")
            case "TR" if self.tables and "TABLEDATA" in self.path:
                if len(self.tables[-1].rows) >= MOST_ROWS:
                    raise InvalidInput(
                        "file", f"more than {MOST_ROWS} rows", f"at most {MOST_ROWS} rows: split it"
                    )
                self.tables[-1].rows.append([])

    def end(self, name: str) -> None:
        tag = self.path.pop()
        if tag == "TD" and self.text is not None:
            rows = self.tables[-1].rows if self.tables else []
            self.cells += 1
            if self.cells > MOST_CELLS:
                raise InvalidInput("file", f"row {len(rows)}", f"at most {MOST_CELLS} cells: split the table")
            if rows:
                rows[-1].append("".join(self.text).strip())
            self.text = None
        elif tag == "INFO" and self.in_error:
            said = " ".join("".join(self.text or ()).split())[:200]
            raise InvalidInput(
                "file", said, f"a table; this is what a service answers when it could not make one ({name})"
            )

    def characters(self, text: str) -> None:
        if self.text is not None and self.length < _CELL_LIMIT:
            self.text.append(text[: _CELL_LIMIT - self.length])
            self.length += len(text)

    def _begin_text(self) -> None:
        self.text, self.length = [], 0


def read_votable(body: bytes) -> Layout:
    """Read a VOTable.

    Raises:
        InvalidInput: if it is not well-formed, has a document type, is in a binary serialization, is the
            error of a service, or has no table of measurements.
    """
    document = _parsed(body)
    wrong: InvalidInput | None = None
    for table in document.tables:
        try:
            columns = _columns(table, document)
        except InvalidInput as error:
            wrong = wrong or error
            continue
        notes = [f"Columns that are not used: {', '.join(columns.unused[:40])}."] if columns.unused else []
        return Layout(Format.VOTABLE, _rows(table, columns), notes)
    raise wrong or InvalidInput("file", "no TABLE", _EXPECTED)


def _parsed(body: bytes) -> _Document:
    document = _Document()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)

    def refuse(*_: Any) -> int:  # noqa: ANN401 - expat's own arguments
        raise InvalidInput("file", "<!DOCTYPE", f"{_EXPECTED}, without a document type and entities")

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    parser.StartElementHandler = document.start
    parser.EndElementHandler = document.end
    parser.CharacterDataHandler = document.characters
    try:
        parser.Parse(body, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise InvalidInput("file", body[:40], f"{_EXPECTED} ({error})") from error
    finally:
        # Otherwise parser and document hold each other until the collector comes.
        parser.StartElementHandler = parser.EndElementHandler = parser.CharacterDataHandler = None
    return document


def _rows(table: _Table, columns: Columns) -> Iterator[Row]:
    width = len(table.fields)
    for number, cells in enumerate(table.rows, start=1):
        if len(cells) != width:
            error = InvalidInput("TR", ",".join(cells), f"{width} TD as there are FIELD, not {len(cells)}")
            yield Row(number, (), columns, error)
        else:
            yield Row(number, cells, columns)


def _columns(table: _Table, document: _Document) -> Columns:
    constants = _constants([*document.outer_params, *table.params])
    names = [one.get("name") or one.get("ID") or f"column {n}" for n, one in enumerate(table.fields, start=1)]
    by_name = find_columns(names, {})
    times = {column.position: column for column in by_name.times}
    by_ucd: dict[str, int] = {}
    for position, one in enumerate(table.fields):
        kind = _time_kind(one, document, times.get(position))
        if kind is not None:
            times[position] = TimeColumn(position, names[position], kind)
        elif (found := _field_of(one)) is not None:
            by_ucd.setdefault(found, position)
    taken = {*by_ucd.values(), *times}
    # A UCD says what a column is, a name only hints at it.
    positions = {name: place for name, place in by_name.positions.items() if place not in taken} | by_ucd
    for name in ("magnitude", "flux"):
        if name not in positions:
            continue
        one = table.fields[positions[name]]
        if name == "flux" and one.get("unit"):
            constants.setdefault("flux_unit", one.get("unit"))
        if "band" not in positions and (band := _BAND_IN_UCD.search(one.get("ucd"))):
            constants.setdefault("band", band[1] or band[2])
    used = {*positions.values(), *times}
    columns = Columns(
        by_preference(times.values()),
        positions,
        {name: names[place] for name, place in positions.items()},
        constants,
        tuple(name[:40] for place, name in enumerate(names) if place not in used),
    )
    return checked(columns, names)


def _constants(params: Sequence[_Field]) -> dict[str, str]:
    """Return what PARAMs say once for all rows, by field."""
    found: dict[str, str] = {}
    for one in params:
        name = _field_of(one) or next(iter(find_columns([one.get("name")], {}).positions), None)
        if name in _CONSTANT and not is_blank(one.get("value")):
            found.setdefault(name, one.get("value"))
    return found


def _field_of(one: _Field) -> str | None:
    """Return the field that a UCD names; None if it names none of ours."""
    words = one.words
    first = words[0] if words else ""
    of_magnitude = any(word.startswith("phot.mag") for word in words)
    of_flux = any(word.startswith("phot.flux") for word in words)
    if first == "stat.error" and (of_magnitude or of_flux):
        return "magnitude_error" if of_magnitude else "flux_error"
    if first.startswith("phot.mag"):
        return "magnitude"
    if first.startswith("phot.flux"):
        return "flux"
    if any(word in {"instr.filter", "instr.bandpass"} for word in words):
        return "band"
    if first == "meta.code.error" and (of_magnitude or of_flux):
        return "upper_limit"
    if first == "obs.observer":
        return "observer"
    if first == "meta.id" and words[1:] in (["src"], ["src", "meta.main"], ["meta.main"]):
        return "name"
    return None


def _time_kind(one: _Field, document: _Document, by_name: TimeColumn | None) -> TimeKind | None:
    """Return what a column of times is; None if it is no column of times.

    Raises:
        InvalidInput: if its TIMESYS counts from another moment than a Julian Date or a Modified one does.
    """
    if not one.words or not one.words[0].startswith("time.epoch"):
        if by_name is None:
            return None
    elif one.words[0] == "time.epoch" and any(word.startswith("stat.error") for word in one.words):
        return None
    kind = by_name.kind if by_name is not None else TimeKind()
    xtype = one.get("xtype").lower().removeprefix("adql:")
    if xtype in {"mjd", "jd"}:
        kind = replace(kind, system=TimeSystem(xtype.upper()))
    elif xtype == "timestamp":
        # DALI 1.1, section 3.3.3: a timestamp is in UTC.
        kind = TimeKind(TimeSystem.DATE, kind.scale or TimeScale.UTC)
    told = document.timesys.get(one.get("ref"))
    return kind if told is None else _told(told, kind)


def _told(told: Mapping[str, str], kind: TimeKind) -> TimeKind:
    origin = told.get("timeorigin", "").strip()
    scale_name = told.get("timescale", "").strip().upper()
    scale = None if scale_name in _NONE else TimeScale(scale_name) if scale_name in set(TimeScale) else None
    if scale_name not in _NONE and scale is None:
        raise InvalidInput("TIMESYS", scale_name, f"a timescale that is one of {', '.join(TimeScale)}")
    if not origin:
        return replace(kind, scale=scale or kind.scale)
    centre = _CENTRES.get(told.get("refposition", "").strip().upper(), "")
    known = {"JD-origin": Decimal(0), "MJD-origin": MJD_ORIGIN}
    offset = known[origin] if origin in known else read_number("TIMESYS", origin)
    if offset == MJD_ORIGIN:
        return TimeKind(TimeSystem(f"{centre}MJD"), scale or kind.scale)
    return TimeKind(TimeSystem(f"{centre}JD"), scale or kind.scale, offset or None)
