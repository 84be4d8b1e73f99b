"""The records of objects in the bucket that belong to a nova's products."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from sourcebook.novae.model import Record, Uuid
from sourcebook.table import keys

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class FileRole(StrEnum):
    """What an object in the bucket is to its product."""

    RAW_FITS = "RAW_FITS"
    QUARANTINE_CONTEXT = "QUARANTINE_CONTEXT"
    NORMALIZED = "NORMALIZED"
    PLOT = "PLOT"
    MANIFEST = "MANIFEST"
    DATA_BUNDLE = "DATA_BUNDLE"
    OTHER = "OTHER"


class FileObject(Record):
    """`<nova_id>` / `FILE#<product_type>#<data_product_id>#<role>#<name>`: one object in the bucket."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True, serialize_by_alias=True)

    entity_type: Literal["FileObject"] = "FileObject"
    nova_id: Uuid
    data_product_id: Uuid
    product_type: Literal["SPECTRA", "PHOTOMETRY_TABLE"]
    role: FileRole
    name: str = Field(min_length=1, max_length=200)
    bucket: str
    object_key: str = Field(alias="key", serialization_alias="key")
    content_type: str
    byte_length: int | None = Field(default=None, ge=0)
    etag: str | None = None
    sha256: Sha256 | None = None
    created_by: Mapping[str, str] = Field(default_factory=dict)


def file_object_item(file: FileObject) -> dict[str, Any]:
    """Return the item of a file object."""
    key = keys.file_object(file.nova_id, file.product_type, file.data_product_id, file.role.value, file.name)
    return {**key, **file.attributes()}
