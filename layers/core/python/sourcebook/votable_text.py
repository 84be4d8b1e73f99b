"""Tables as VOTables, the format of the Virtual Observatory; by the standard library alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias
from xml.sax.saxutils import escape, quoteattr

Cell: TypeAlias = str | int | float | bool | Sequence[float] | None

MEDIA_TYPE: Final = "application/x-votable+xml"

_NOT_IN_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class VotableField:
    """One FIELD of a table.

    Attributes:
        size: how many values a cell has; ``*`` for as many as there are, as a text has.
        ref: ID of the `VotableTimeSystem` that the values are of.
    """

    name: str
    ucd: str
    datatype: str = "unicodeChar"
    unit: str = ""
    utype: str = ""
    size: str = ""
    description: str = ""
    ref: str = ""

    def written(self) -> str:
        """Return the element FIELD as text."""
        is_text = self.datatype in {"char", "unicodeChar"}
        attributes = {
            "name": self.name,
            "ID": self.name,
            "datatype": self.datatype,
            "ucd": self.ucd,
            "arraysize": self.size or ("*" if is_text else ""),
            "unit": self.unit,
            "utype": self.utype,
            "ref": self.ref,
        }
        written = " ".join(f"{key}={xml_quoted(value)}" for key, value in attributes.items() if value)
        about = f"<DESCRIPTION>{xml_text(self.description)}</DESCRIPTION>" if self.description else ""
        return f"<FIELD {written}>{about}</FIELD>"


@dataclass(frozen=True, slots=True)
class Info:
    """One INFO of an answer.

    Attributes:
        content: a text beside the value.
    """

    name: str
    value: str
    content: str = ""
    ident: str = ""

    def written(self) -> str:
        """Return the element INFO as text."""
        ident = f" ID={xml_quoted(self.ident)}" if self.ident else ""
        begin = f"<INFO{ident} name={xml_quoted(self.name)} value={xml_quoted(self.value)}"
        return f"{begin}>{xml_text(self.content)}</INFO>" if self.content else f"{begin}/>"


@dataclass(frozen=True, slots=True)
class VotableTimeSystem:
    """A TIMESYS: what times are counted from, by which scale, and where.

    Attributes:
        origin: a Julian Date, or ``MJD-origin``.
        scale: UTC, TT, TDB … or UNKNOWN.
        place: TOPOCENTER, HELIOCENTER or BARYCENTER.
    """

    ident: str
    origin: str
    scale: str
    place: str

    def written(self) -> str:
        """Return the element TIMESYS as text."""
        begin = f"<TIMESYS ID={xml_quoted(self.ident)} timeorigin={xml_quoted(self.origin)}"
        return f"{begin} timescale={xml_quoted(self.scale)} refposition={xml_quoted(self.place)}/>"


def votable(
    columns: Sequence[VotableField],
    rows: Iterable[Mapping[str, Cell]],
    *,
    name: str,
    about: str,
    infos: Sequence[Info] = (),
    times: VotableTimeSystem | None = None,
    version: str = "1.4",
) -> str:
    """Return a document with one table; without columns one that only says something.

    `version` 1.1 has the UCDs of its time, which Simple Cone Search asks for.
    """
    namespace = "v1.1" if version == "1.1" else "v1.3"
    table = [
        f"<TABLE ID={xml_quoted(name)} name={xml_quoted(name)}>",
        f"<DESCRIPTION>{xml_text(about)}</DESCRIPTION>",
        *(column.written() for column in columns),
        "<DATA><TABLEDATA>",
        *(f"<TR>{''.join(_cells(columns, row))}</TR>" for row in rows),
        "</TABLEDATA></DATA></TABLE>",
    ]
    parts = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<VOTABLE version="{version}" xmlns="http://www.ivoa.net/xml/VOTable/{namespace}">',
        '<RESOURCE type="results">',
        *(info.written() for info in infos),
        *([times.written()] if times else []),
        *(table if columns else ()),
        "</RESOURCE></VOTABLE>\n",
    ]
    return "\n".join(parts)


def _cells(columns: Sequence[VotableField], row: Mapping[str, Cell]) -> Iterator[str]:
    for column in columns:
        value = row.get(column.name)
        if value is None:
            yield "<TD/>"
        elif isinstance(value, bool):
            yield f"<TD>{'T' if value else 'F'}</TD>"
        elif isinstance(value, str):
            yield f"<TD>{xml_text(value)}</TD>"
        elif isinstance(value, int | float):
            yield f"<TD>{value!r}</TD>"
        else:
            yield f"<TD>{' '.join(map(repr, value))}</TD>"


def xml_text(text: str) -> str:
    """Return text as it stands in an XML document; U+FFFD stands for what no document may hold."""
    return escape(_NOT_IN_XML.sub("\ufffd", text))


def xml_quoted(text: str) -> str:
    """Return text as the value of an attribute, with its quotation marks; else as `xml_text`."""
    return quoteattr(_NOT_IN_XML.sub("\ufffd", text))
