"""A table of a release as VOTable, ECSV and Parquet, and its publications as BibTeX."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from sourcebook.columns import ColumnKind
from sourcebook.csv_text import Cell, write_csv
from sourcebook.releases.tables import ReleaseColumn, ReleaseTable
from sourcebook.votable_text import VotableField, votable

Row = Mapping[str, Any]
Rows = Sequence[Row]

_VOTABLE_TYPES: Final = {ColumnKind.NUMBER: "double", ColumnKind.INTEGER: "long", ColumnKind.FLAG: "boolean"}
_ECSV_TYPES: Final = {ColumnKind.NUMBER: "float64", ColumnKind.INTEGER: "int64", ColumnKind.FLAG: "bool"}
_SPECIAL: Final = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
"""Characters that TeX takes for a command."""


def as_votable(table: ReleaseTable, rows: Rows) -> bytes:
    """Return a table as VOTable 1.4."""
    columns = [
        VotableField(
            one.name, one.ucd, _VOTABLE_TYPES.get(one.kind, "unicodeChar"), one.unit, description=one.about
        )
        for one in table.columns
    ]
    return votable(columns, rows, name=table.name, about=table.about).encode()


def as_ecsv(table: ReleaseTable, rows: Rows) -> bytes:
    """Return a table as ECSV 1.0; an empty cell is no value, floats read back to the same bits."""
    file = io.StringIO(newline="")
    header = {
        "delimiter": ",",
        "datatype": [_ecsv_column(column) for column in table.columns],
        "meta": {"description": table.about},
        "schema": "astropy-2.0",
    }
    file.write("# %ECSV 1.0\n# ---\n")
    # JSON is YAML, and a line each keeps it readable.
    file.write(f"# delimiter: {json.dumps(header['delimiter'])}\n# datatype:\n")
    for column in header["datatype"]:
        file.write(f"# - {json.dumps(column, ensure_ascii=False)}\n")
    file.write(f"# meta: {json.dumps(header['meta'], ensure_ascii=False)}\n# schema: astropy-2.0\n")
    names = [column.name for column in table.columns]
    write_csv(file, names, ([_ecsv_cell(row.get(name)) for name in names] for row in rows))
    return file.getvalue().encode()


def as_parquet(table: ReleaseTable, rows: Rows) -> bytes:
    """Return a table as Parquet."""
    from sourcebook.parquet import ParquetFile

    file = ParquetFile({column.name: column.kind for column in table.columns})
    file.add(rows)
    return file.content()


FORMATS: Final[Mapping[str, Callable[[ReleaseTable, Rows], bytes]]] = {
    "vot": as_votable,
    "ecsv": as_ecsv,
    "parquet": as_parquet,
}
"""What writes a table, by the suffix of its file."""


def as_bibtex(references: Iterable[Row]) -> bytes:
    """Return publications as BibTeX, each once, under its bibcode or else its id."""
    entries: dict[str, str] = {}
    for one in references:
        key = one["bibcode"] or one["reference_id"]
        entries.setdefault(key, _entry(key, one))
    return "\n".join(entries[key] for key in sorted(entries)).encode()


def _entry(key: str, one: Row) -> str:
    authors = list(one["authors"] or ())
    if authors and (one["author_count"] or 0) > len(authors):
        authors.append("others")
    published = one["published_at"] or ""
    fields = {
        "title": f"{{{_tex(one['title'])}}}" if one["title"] else "",
        "author": " and ".join(_tex(author) for author in authors),
        "year": published[:4],
        "month": str(int(published[5:7])) if re.fullmatch(r"(0[1-9]|1[0-2])", published[5:7]) else "",
        "adsurl": one["link"] or "",
    }
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
    return f"@article{{{key},\n{lines}\n}}\n"


def _tex(text: str) -> str:
    return "".join(_SPECIAL.get(character, character) for character in " ".join(text.split()))


def _ecsv_column(column: ReleaseColumn) -> dict[str, object]:
    described: dict[str, object] = {"name": column.name}
    if column.unit:
        described["unit"] = column.unit
    described["datatype"] = _ECSV_TYPES.get(column.kind, "string")
    if column.about:
        described["description"] = column.about
    return described | {"meta": {"ucd": column.ucd}}


def _ecsv_cell(value: object) -> Cell:
    if value is None:
        return ""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
