"""Records as data frames, where pandas or polars is installed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date, datetime
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, get_args, get_origin

from pydantic import BaseModel

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


def pandas_frame(rows: Sequence[BaseModel], kind: type[BaseModel]) -> pd.DataFrame:
    """Return rows as a data frame of pandas: times with their zone, days as times of midnight.

    Args:
        rows: the records.
        kind: of each; its fields are the columns also where there is no row.

    Raises:
        ImportError: if pandas is not installed.
    """
    import pandas as pd  # noqa: PLC0415 - only where it is installed

    records = [row.model_dump() for row in rows]
    frame = pd.DataFrame(records, columns=_columns(records, kind))
    for name in kind.model_fields:
        match _plain_type(kind, name):
            case t if t is date:
                frame[name] = pd.to_datetime(frame[name])
            case t if t is datetime:
                frame[name] = pd.to_datetime(frame[name], utc=True)
            case t if t is float:
                frame[name] = frame[name].astype("float64")
            case t if t is int:
                frame[name] = frame[name].astype("Int64")
    return frame


def polars_frame(rows: Sequence[BaseModel], kind: type[BaseModel]) -> pl.DataFrame:
    """Return rows as a data frame of polars; an object within a row becomes its JSON text.

    Raises:
        ImportError: if polars is not installed.
    """
    import polars as pl  # noqa: PLC0415 - only where it is installed

    types: dict[Any, Any] = {
        str: pl.String,
        int: pl.Int64,
        float: pl.Float64,
        bool: pl.Boolean,
        date: pl.Date,
        datetime: pl.Datetime("us", "UTC"),
    }
    records = [row.model_dump() for row in rows]
    columns = _columns(records, kind)
    known = {name: types.get(_plain_type(kind, name)) for name in kind.model_fields}
    cells = {name: [_cell(record.get(name)) for record in records] for name in columns}
    overrides = {name: found for name, found in known.items() if found is not None}
    return pl.DataFrame(cells, strict=False, schema_overrides=overrides)


def _columns(records: Sequence[dict[str, object]], kind: type[BaseModel]) -> list[str]:
    return list(dict.fromkeys([*kind.model_fields, *(name for record in records for name in record)]))


def _plain_type(kind: type[BaseModel], name: str) -> object:
    """Return the type of a field without None; None if it is of several."""
    annotation = kind.model_fields[name].annotation
    parts = get_args(annotation) if get_origin(annotation) is UnionType else (annotation,)
    kinds = [one for one in parts if one is not NoneType]
    return kinds[0] if len(kinds) == 1 else None


def _cell(value: object) -> object:
    """Return a value as polars takes it."""
    nested = isinstance(value, dict) or (isinstance(value, list) and any(isinstance(v, dict) for v in value))
    return json.dumps(value, ensure_ascii=False, default=str) if nested else value
