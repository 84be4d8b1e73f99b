"""VOTables: the tables that have times, a band, and magnitudes or fluxes.

Read with expat, without document types: there is no entity to expand and nothing to fetch. What the
columns are is known by their UCDs (IVOA UCD list 1.6), their TIMESYS (VOTable 1.4, section 3.2), and else by
their names as in CSV.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache
from itertools import chain
from typing import Any, Final
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from sourcebook.errors import InvalidInput
from sourcebook.lightcurves.columns import (
    MOST_COLUMNS,
    Columns,
    FieldColumn,
    Layout,
    Row,
    TimeColumn,
    by_preference,
    checked,
    find_columns,
    said_by_units,
)
from sourcebook.lightcurves.figures import is_blank, read_number
from sourcebook.lightcurves.limits import LimitColumn, LimitKind, limit_column
from sourcebook.lightcurves.model import (
    MOST_ROWS,
    WORD_LIMIT,
    Format,
    TimeScale,
    TimeSystem,
    too_many_rows,
)
from sourcebook.lightcurves.times import MJD_ORIGIN, TimeKind, read_scale
from sourcebook.lightcurves.votable_binary import BinaryType, read_binary

MOST_CELLS: Final = 1_500_000
MOST_ELEMENTS: Final = 50_000
"""Besides rows and cells; a real table has some hundred."""
_MOST: Final = {"PARAM": 1_000, "TABLE": 200, "TR": MOST_CELLS}
_CELL_LIMIT: Final = 2_000
_DEPTH: Final = 30
_MOST_ATTRIBUTES: Final = 50
_EXPECTED: Final = "a well-formed VOTable with TABLEDATA, BINARY or BINARY2"
_BAND_IN_UCD: Final = re.compile(r"em\.opt\.([UBVRI])\b|em\.ir\.([JHK])\b", re.IGNORECASE)
_NOT_READ: Final = frozenset({"FITS", "PARQUET"})
_CENTRES: Final = {"HELIOCENTER": "H", "BARYCENTER": "B"}
_DERIVED: Final = ("stat.", "arith.", "src.var", "meta.number", "meta.ref", "meta.note")
"""Words of a UCD that make it something about a magnitude, and not the magnitude."""
_CONSTANT: Final = frozenset(
    {"band", "name", "observer", "instrument", "magnitude_system", "flux_unit", "time_scale"}
)
"""Fields that a PARAM may give for all rows."""
_CUT: Final = "The service that made the table says that there was more (OVERFLOW)."
_NONE: Final = frozenset({"", "UNKNOWN"})


def _words(one: Element) -> list[str]:
    """Return the words of the UCD of a FIELD or PARAM; "pos.eq;meta.main" are two."""
    return [word.strip().lower() for word in one.get("ucd", "").split(";") if word.strip()]


@dataclass(frozen=True, slots=True)
class _Nulls:
    """What a FIELD or PARAM declares as "no value", however its number is written."""

    texts: frozenset[str]
    numbers: frozenset[float | None]
    single: bool

    @classmethod
    def of(cls, one: Element) -> _Nulls:
        """Return what the VALUES of an element say."""
        texts = frozenset(values.attrib["null"] for values in one.iter("VALUES") if "null" in values.attrib)
        single = one.get("datatype") == "float"
        return cls(texts, frozenset(_number(text, single=single) for text in texts) - {None}, single)

    def has(self, cell: str) -> bool:
        """Whether a cell is one of them."""
        return cell in self.texts or bool(self.numbers and _number(cell, single=self.single) in self.numbers)


def _number(text: str, *, single: bool) -> float | None:
    """Return the number that a text writes, None for none: "25", "25.0" and "2.5E1" are one, as is "0x19"."""
    text = text[:WORD_LIMIT]
    try:
        number = float(int(text, 16)) if text[:2].lower() == "0x" else float(text)
        return float(struct.unpack("f", struct.pack("f", number))[0]) if single else number
    except (ValueError, OverflowError):
        return None


@dataclass(frozen=True, slots=True)
class _Table:
    """A TABLE.

    Attributes:
        within: the elements that it stands in, the document first. Their PARAMs may come after the table.
        rows: with their cells; None for one with cells in base64.
    """

    element: Element
    within: tuple[Element, ...]
    fields: list[Element]
    rows: list[list[str] | None]

    def read_stream(self) -> None:
        """Take the rows out of a stream, if the table has one.

        Raises:
            InvalidInput: if they cannot be read.
        """
        for form in ("BINARY", "BINARY2"):
            stream = self.element.find(f"DATA/{form}/STREAM")
            if stream is None or not stream.text:
                continue
            types = [BinaryType.of(one.get("datatype", ""), one.get("arraysize", "")) for one in self.fields]
            for cells in read_binary(stream.text, types, nulls=form == "BINARY2"):
                if len(self.rows) >= MOST_ROWS:
                    raise too_many_rows()
                self.rows.append(cells)
                if len(self.rows) * len(cells) > MOST_CELLS:
                    raise InvalidInput("file", f"row {len(self.rows)}", f"at most {MOST_CELLS} cells")


@lru_cache(maxsize=64)
def _tag(name: str) -> str:
    """Return the name of an element in capitals, without the prefix of its namespace."""
    return name.rpartition(":")[2].upper()


@dataclass(slots=True)
class _Document:
    """Collects tables from expat's events. A row is taken when it ends, and its elements are let go."""

    tables: list[_Table] = field(default_factory=list)
    timesys: dict[str, Mapping[str, str]] = field(default_factory=dict)
    builder: TreeBuilder = field(default_factory=TreeBuilder)
    path: list[Element] = field(default_factory=list)
    """Elements that are open."""
    rows: list[list[str] | None] = field(default_factory=list)
    """Of the table that is open."""
    counts: Counter[str] = field(default_factory=Counter)
    """How many elements there were, by name."""
    others: int = 0
    """How many there were besides rows and cells."""
    cut: bool = False
    """Whether a service says that there was more."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        tag = _tag(name)
        self.counts[tag] += 1
        if tag != "TD" or not self.path:
            self._check(tag, name, attributes)
        elif self.counts["TD"] > MOST_CELLS or len(self.path[-1]) > MOST_COLUMNS:
            shown = f"row {len(self.rows) + 1}"
            raise InvalidInput("file", shown, f"at most {MOST_CELLS} cells, {MOST_COLUMNS} of them in a row")
        if tag == "TABLE":
            self.rows = []
        self.path.append(self.builder.start(tag, {key: value.strip() for key, value in attributes.items()}))

    def _check(self, tag: str, name: str, attributes: dict[str, str]) -> None:
        """Refuse what no table of measurements has, before anything is kept of it."""
        shown = f"<{name[:40]}>"
        if not self.path and tag != "VOTABLE":
            raise InvalidInput("file", shown, _EXPECTED)
        if len(self.path) >= _DEPTH:
            raise InvalidInput("file", shown, f"{_EXPECTED}, not nested deeper than {_DEPTH} elements")
        if tag in _NOT_READ:
            raise InvalidInput("file", shown, f"{_EXPECTED}; {tag} is not read: save it with TABLEDATA")
        if len(attributes) > _MOST_ATTRIBUTES:
            raise InvalidInput("file", shown, f"at most {_MOST_ATTRIBUTES} attributes of an element")
        self.others += tag != "TR"
        if self.others > MOST_ELEMENTS:
            raise InvalidInput("file", shown, f"at most {MOST_ELEMENTS} elements besides the cells")
        if tag in _MOST and self.counts[tag] > _MOST[tag]:
            raise InvalidInput(tag, f"{self.counts[tag]} {tag}", f"at most {_MOST[tag]} {tag}")
        if tag == "TR" and len(self.rows) >= MOST_ROWS:
            raise too_many_rows()

    def end(self, _: str) -> None:
        element = self.path.pop()
        self.builder.end(element.tag)
        match element.tag:
            case "TR" if self.path[-1].tag == "TABLEDATA":
                encoded = any(cell.get("encoding", "none") != "none" for cell in element)
                cells = [(cell.text or "")[:_CELL_LIMIT].strip() for cell in element.iter("TD")]
                self.rows.append(None if encoded else cells)
                del self.path[-1][-1]
            case "TABLE":
                fields = list(element.iter("FIELD"))
                if len(fields) > MOST_COLUMNS:
                    raise InvalidInput("FIELD", f"{len(fields)} FIELD", f"at most {MOST_COLUMNS} columns")
                self.tables.append(_Table(element, tuple(self.path), fields, self.rows))
            case "TIMESYS":
                self.timesys[element.get("ID", "")] = element.attrib
            case "STREAM" if element.get("href") or element.get("encoding", "base64") != "base64":
                shown = (element.get("href", "") or element.get("encoding", ""))[:80]
                raise InvalidInput("STREAM", shown, f"{_EXPECTED}, in base64 within the file")
            case "INFO" if element.get("name", "").upper() == "QUERY_STATUS":
                self._take_status(element)

    def _take_status(self, element: Element) -> None:
        status = element.get("value", "").upper()
        self.cut = self.cut or status == "OVERFLOW"
        if status == "ERROR":
            text = " ".join((element.text or "").split())[:200]
            expected = "a table; this is what a service answers when it could not make one (INFO)"
            raise InvalidInput("file", text, expected)


def read_votable(body: bytes) -> Layout:
    """Read a VOTable.

    Raises:
        InvalidInput: if it is not well-formed, has a document type, keeps its rows elsewhere or in FITS,
            is the error of a service, or has no table of measurements.
    """
    document = _parsed(body)
    rows: list[Iterator[Row]] = []
    notes = [_CUT] if document.cut else []
    first = 1
    wrong: InvalidInput | None = None
    for table in document.tables:
        try:
            columns = _columns(table, document.timesys)
        except InvalidInput as error:
            wrong = wrong or error
            continue
        table.read_stream()
        notes += columns.remarks()
        rows.append(_rows(table, columns, first))
        first += len(table.rows)
    if not rows:
        raise wrong or InvalidInput("file", "no TABLE", _EXPECTED)
    return Layout(Format.VOTABLE, chain.from_iterable(rows), notes)


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
    parser.CharacterDataHandler = document.builder.data
    try:
        parser.Parse(body, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise InvalidInput("file", body[:40], f"{_EXPECTED} ({error})") from error
    finally:
        # Otherwise parser and document hold each other until the collector comes.
        parser.StartElementHandler = parser.EndElementHandler = parser.CharacterDataHandler = None
    return document


def _rows(table: _Table, columns: Columns, first: int) -> Iterator[Row]:
    """Yield the rows of a table, with numbers that go on from table to table."""
    width = len(table.fields)
    nulls = {n: _Nulls.of(one) for n, one in enumerate(table.fields) if one.find("VALUES") is not None}
    for number, cells in enumerate(table.rows, start=first):
        error = None
        if cells is None:
            error = InvalidInput("TD", "encoding", "cells of plain text, not of base64")
        elif len(cells) != width:
            shown = ",".join(cells[:20])[:80]
            error = InvalidInput("TR", shown, f"{width} TD as there are FIELD, not {len(cells)}")
        else:
            for place, declared in nulls.items():
                if declared.has(cells[place]):
                    cells[place] = ""
        yield Row(number, cells or (), columns, error)


def _columns(table: _Table, timesys: Mapping[str, Mapping[str, str]]) -> Columns:
    names = [one.get("name") or one.get("ID") or f"column {n}" for n, one in enumerate(table.fields, start=1)]
    by_name = find_columns(names, _constants(table))
    times = {column.position: column for column in by_name.times}
    limits = {column.position: column for column in by_name.limits}
    of_bands = {place for one in by_name.bands for place in one.places}
    by_ucd: dict[str, int] = {}
    for position, one in enumerate(table.fields):
        kind = _time_kind(one, timesys.get(one.get("ref", "")), times.get(position))
        if position in of_bands:
            continue
        if kind is not None:
            times[position] = TimeColumn(position, names[position], kind)
        elif position in limits:
            # The UCD of a limiting magnitude is that of a magnitude.
            limits[position] = (
                limit_column(position, names[position], one.get("unit", "")) or limits[position]
            )
        elif (found := _field_of(one)) == "upper_limit":
            limits[position] = LimitColumn(position, names[position], LimitKind.FLAG_OR_VALUE)
        elif found is not None:
            if (
                found in by_ucd
                and found in {"magnitude", "flux"}
                and _band_of(one) == _band_of(table.fields[by_ucd[found]])
            ):
                other = names[by_ucd[found]]
                expected = f"one column for the {found} of a band, and there is {other} besides"
                raise InvalidInput(names[position], one.get("ucd"), expected)
            by_ucd.setdefault(found, position)
    taken = {*by_ucd.values(), *times, *limits}
    # A UCD says what a column is, a name only hints at it.
    by_heading = {name: one.position for name, one in by_name.fields.items()}
    places = {name: place for name, place in by_heading.items() if place not in taken} | by_ucd
    units = [one.get("unit", "") for one in table.fields]
    fields = {name: FieldColumn(place, names[place], units[place]) for name, place in places.items()}
    constants = {**said_by_units(fields), **by_name.constants}
    for name in (one for one in ("magnitude", "flux") if one in places):
        if "band" not in fields and (band := _band_of(table.fields[places[name]])):
            constants.setdefault("band", band)
    used = {*places.values(), *times, *limits, *of_bands}
    columns = replace(
        by_name,
        times=by_preference(times.values()),
        fields=fields,
        constants=constants,
        limits=tuple(limits.values()),
        unread={place: name for place, name in enumerate(names) if place not in used},
    )
    return checked(columns, names)


def _params(element: Element) -> Iterator[Element]:
    """Yield the PARAMs of an element, and none of the tables and resources within it."""
    for child in element:
        if child.tag == "PARAM":
            yield child
        elif child.tag not in {"RESOURCE", "TABLE"}:
            yield from _params(child)


def _constants(table: _Table) -> dict[str, str]:
    """Return what PARAMs say once for all rows, by field; the first counts, those of the table before all."""
    found: dict[str, str] = {}
    for one in chain.from_iterable(map(_params, (table.element, *reversed(table.within)))):
        value = one.get("value", "")
        if is_blank(value) or _Nulls.of(one).has(value) or len(value) > _CELL_LIMIT:
            continue
        name = _field_of(one) or next(iter(find_columns([one.get("name", "")], {}).fields), None)
        if name in _CONSTANT:
            found.setdefault(name, value)
    return found


def _band_of(one: Element) -> str | None:
    """Return the band that a UCD names."""
    ucd = one.get("ucd", "")
    found = _BAND_IN_UCD.search(ucd) if len(ucd) <= WORD_LIMIT else None
    return (found[1] or found[2]).upper() if found else None


def _field_of(one: Element) -> str | None:
    """Return the field that a UCD names; None if it names none of ours."""
    words = _words(one)
    first = words[0] if words else ""
    of_magnitude = "phot.mag" in words
    of_flux = any(word.startswith("phot.flux") for word in words)
    if "stat.error" in words and (of_magnitude or of_flux):
        return "magnitude_error" if of_magnitude else "flux_error"
    if (of_magnitude or of_flux) and any(word.startswith(_DERIVED) for word in words):
        return None
    if first == "phot.mag":
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


def _time_kind(
    one: Element, timesys: Mapping[str, str] | None, by_name: TimeColumn | None
) -> TimeKind | None:
    """Return what a column of times is; None if it is no column of times.

    Raises:
        InvalidInput: if its TIMESYS counts from another moment than a Julian Date or a Modified one does.
    """
    first, *others = _words(one) or [""]
    is_error = first == "time.epoch" and any(word.startswith("stat.error") for word in others)
    if is_error or (by_name is None and not first.startswith("time.epoch")):
        return None
    kind = by_name.kind if by_name is not None else TimeKind()
    xtype = one.get("xtype", "").lower().removeprefix("adql:")
    if xtype in {"mjd", "jd"}:
        kind = replace(kind, system=TimeSystem(xtype.upper()))
    elif xtype == "timestamp":
        # DALI 1.1, section 3.3.3: a timestamp is in UTC.
        kind = TimeKind(TimeSystem.DATE, kind.scale or TimeScale.UTC)
    return kind if timesys is None else _with_timesys(timesys, kind)


def _with_timesys(timesys: Mapping[str, str], kind: TimeKind) -> TimeKind:
    origin = timesys.get("timeorigin", "")
    named = timesys.get("timescale", "")
    scale = kind.scale if named.upper() in _NONE else read_scale("TIMESYS timescale", named)
    if not origin:
        return replace(kind, scale=scale)
    centre = _CENTRES.get(timesys.get("refposition", "").upper(), "")
    known = {"JD-origin": Decimal(0), "MJD-origin": MJD_ORIGIN}
    offset = known[origin] if origin in known else read_number("TIMESYS", origin)
    if offset == MJD_ORIGIN:
        return TimeKind(TimeSystem(f"{centre}MJD"), scale)
    return TimeKind(TimeSystem(f"{centre}JD"), scale, offset or None)
