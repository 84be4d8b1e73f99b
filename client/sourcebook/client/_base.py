"""What the records of the API have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from sourcebook.client._frames import pandas_frame, polars_frame

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


class Record(BaseModel):
    """A record of the API. Fields that a newer API has besides are kept."""

    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True)


class RowTable(Record):
    """A record whose ``items`` are the rows of a table."""

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a data frame of pandas; raises ImportError without pandas."""
        return pandas_frame(*self._rows())

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a data frame of polars; raises ImportError without polars."""
        return polars_frame(*self._rows())

    def _rows(self) -> tuple[list[Record], type[Record]]:
        rows: list[Record] = getattr(self, "items", [])
        kind: Any = type(self).model_fields["items"].annotation
        return rows, kind.__args__[0]
