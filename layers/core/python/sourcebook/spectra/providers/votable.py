"""Reading the tables of the Virtual Observatory: TAP's JSON, and VOTable with its rows as text (TABLEDATA).

A VOTable is read event by event by expat, with entities off, so that a document can neither expand nor fetch
anything. BINARY and BINARY2 streams are not read: every query here asks for text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from xml.parsers import expat

from sourcebook.novae.resolvers.archive import ArchiveStatus, ArchiveUnavailable, check_votable

CELL_LIMIT: Final = 20_000
"""Characters kept of one cell; s_region of a mosaic is the longest that occurs."""
COLUMN_LIMIT: Final = 500


@dataclass(frozen=True, slots=True)
class Field:
    """A column, as a VOTable describes it; names are in lower case."""

    name: str
    utype: str = ""
    ucd: str = ""


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """The rows of an answer.

    Attributes:
        status: OK or TRUNCATED, as the service says.
        fields: the columns.
        rows: values by the columns' names; a cell without text is None.
        unreadable: rows that do not fit the columns.
    """

    status: ArchiveStatus
    fields: Sequence[Field]
    rows: Sequence[Mapping[str, Any]]
    unreadable: int = 0

    def named(self, *, utype: str = "", ucd: str = "") -> str | None:
        """Return the name of the first column with this utype (without its prefix) or UCD."""
        for column in self.fields:
            if utype and column.utype.rpartition(":")[2] == utype.lower():
                return column.name
            if ucd and column.ucd == ucd.lower():
                return column.name
        return None


def read_table(archive: str, body: bytes, most: int) -> TableAnswer:
    """Read what TAP or SSA answered, JSON or VOTable.

    `most` rows were asked for; as many mean that there may be more.

    Raises:
        ArchiveUnavailable: if it is neither, or broken off.
        ArchiveRejected: if it says QUERY_STATUS ERROR.
    """
    start = body.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    answer = _read_votable(archive, body, most) if start == b"<" else _read_json(archive, body, most)
    if answer.status is ArchiveStatus.OK and len(answer.rows) + answer.unreadable >= most:
        # The JSON form has no place for OVERFLOW.
        return TableAnswer(ArchiveStatus.TRUNCATED, answer.fields, answer.rows, answer.unreadable)
    return answer


def _read_json(archive: str, body: bytes, most: int) -> TableAnswer:
    try:
        answer: Any = json.loads(body)
        columns = list(answer["metadata"])
        if len(columns) > COLUMN_LIMIT:
            raise _broken(archive, f"the answer has {len(columns)} columns; at most {COLUMN_LIMIT} are read")
        fields = [Field(str(column["name"]).lower()) for column in columns]
        data = list(answer["data"])[:most]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _broken(archive, f"the answer is not TAP's JSON ({type(error).__name__})") from error
    rows = [
        {column.name: value for column, value in zip(fields, row, strict=True)}
        for row in data
        if isinstance(row, list) and len(row) == len(fields)
    ]
    return TableAnswer(ArchiveStatus.OK, fields, rows, len(data) - len(rows))


@dataclass(slots=True)
class _Reader:
    """Takes expat's events; the first table of the document is the one that counts.

    Attributes:
        most: rows that are taken; those after them are counted as `left`.
    """

    most: int
    fields: list[Field] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    unreadable: int = 0
    left: int = 0
    has_root: bool = False
    has_stream: bool = False
    _done: bool = False
    _row: list[str | None] | None = None
    _cell: list[str] | None = None
    _length: int = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(":")[2].upper()
        self.has_root = self.has_root or name == "VOTABLE"
        match name:
            case "FIELD" if not self._done and len(self.fields) < COLUMN_LIMIT:
                self.fields.append(
                    Field(
                        (attributes.get("name") or attributes.get("ID") or "").lower(),
                        attributes.get("utype", "").lower(),
                        attributes.get("ucd", "").lower(),
                    )
                )
            case "STREAM":
                self.has_stream = True
            case "TR" if not self._done:
                self._row = []
            case "TD" if self._row is not None and len(self._row) <= COLUMN_LIMIT:
                self._cell, self._length = [], 0

    def text(self, data: str) -> None:
        if self._cell is not None and self._length < CELL_LIMIT:
            self._cell.append(data[: CELL_LIMIT - self._length])
            self._length += len(data)

    def end(self, name: str) -> None:
        match name.rpartition(":")[2].upper():
            case "TD" if self._row is not None and self._cell is not None:
                self._row.append("".join(self._cell).strip() or None)
                self._cell = None
            case "TR" if self._row is not None:
                if len(self.rows) >= self.most:
                    self.left += 1
                elif len(self._row) == len(self.fields) and self.fields:
                    names = (column.name for column in self.fields)
                    self.rows.append(dict(zip(names, self._row, strict=True)))
                else:
                    self.unreadable += 1
                self._row = None
            case "TABLE":
                self._done = True


def _read_votable(archive: str, body: bytes, most: int) -> TableAnswer:
    def refuse_entity(*_: object) -> None:
        # No table needs an entity of its own; what declares one means harm.
        raise _broken(archive, "the VOTable declares an entity")

    status = check_votable(archive, body)
    reader = _Reader(most)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    parser.EntityDeclHandler = refuse_entity
    try:
        parser.Parse(body, True)
    except expat.ExpatError as error:
        raise _broken(
            archive, f"the VOTable is not well-formed ({expat.ErrorString(error.code)}, line {error.lineno})"
        ) from error
    if not reader.has_root:
        raise _broken(archive, "the answer is XML, but no VOTable")
    if reader.has_stream and not reader.rows:
        raise _broken(archive, "the VOTable has its rows in a stream; TABLEDATA was asked for")
    if reader.left:
        status = ArchiveStatus.TRUNCATED
    return TableAnswer(status, reader.fields, reader.rows, reader.unreadable)


def _broken(archive: str, detail: str) -> ArchiveUnavailable:
    return ArchiveUnavailable(archive, detail)
