"""What belongs to a nova besides its spectra: its table of photometry, and the files of all its products."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated, ClassVar

from sourcebook.messages import SchemaRule
from sourcebook.records.base import NOT_SHOWN, Count, Place, Record
from sourcebook.records.nova import NovaId
from sourcebook.table import keys
from sourcebook.table.codec import Item


class ProductType(StrEnum):
    """What a data product is."""

    SPECTRA = "SPECTRA"
    PHOTOMETRY_TABLE = "PHOTOMETRY_TABLE"


class FileRole(StrEnum):
    """What an object in the bucket is to its product."""

    RAW_FITS = "RAW_FITS"
    QUARANTINE_CONTEXT = "QUARANTINE_CONTEXT"
    NORMALIZED = "NORMALIZED"
    PLOT = "PLOT"
    MANIFEST = "MANIFEST"
    DATA_BUNDLE = "DATA_BUNDLE"
    OTHER = "OTHER"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileObject(Record):
    """One object in the bucket that belongs to a product of a nova."""

    PLACE: ClassVar = Place(
        keys.file_object,
        "acquire_and_validate_spectra; ingest_photometry, whose DATA_BUNDLE, written last, says that an "
        "upload is in the table",
    )

    nova_id: Annotated[NovaId, "Id of the nova that it is of.", NOT_SHOWN]
    data_product_id: Annotated[NovaId, "Id of the product that it belongs to.", NOT_SHOWN]
    product_type: Annotated[str, "SPECTRA or PHOTOMETRY_TABLE.", NOT_SHOWN]
    role: Annotated[FileRole, "What it is to the product."]
    name: Annotated[Annotated[str, SchemaRule({"minLength": 1, "maxLength": 200})], "Its name in the role."]
    bucket: Annotated[str, "The bucket that it is in.", NOT_SHOWN]
    key: Annotated[str, "Its key in the bucket."]
    content_type: Annotated[str, "The media type of its bytes."]
    byte_length: Annotated[Count | None, "How many bytes it has."] = None
    etag: Annotated[str | None, "Of S3."] = None
    sha256: Annotated[str | None, "The digest of its bytes."] = None
    created_by: Annotated[Mapping[str, str], "Workflow and run that made it.", NOT_SHOWN] = field(
        default_factory=dict
    )
    created_at: Annotated[datetime, "When it was recorded."]
    updated_at: Annotated[datetime, "When it was last recorded.", NOT_SHOWN]

    def item(self) -> Item:
        """Return the item that holds it."""
        key = keys.file_object(self.nova_id, self.product_type, self.data_product_id, self.role, self.name)
        return self.to_item(key)


@dataclass(frozen=True, slots=True, kw_only=True)
class PhotometryTable(Record):
    """The one table of a nova's photometry."""

    PLACE: ClassVar = Place(
        keys.photometry_table, "initialize_nova; ingest_photometry; curate_nova", entity="DataProduct"
    )

    data_product_id: Annotated[NovaId, "Its id, made of the nova's."]
    nova_id: Annotated[NovaId, "Id of the nova that it is of."]
    product_type: Annotated[ProductType, "What it is."] = ProductType.PHOTOMETRY_TABLE
    s3_bucket: Annotated[str | None, "The bucket that it is in.", NOT_SHOWN] = None
    s3_key: Annotated[str | None, "Key of the Parquet object, after the first upload.", NOT_SHOWN] = None
    points_s3_key: Annotated[str | None, "Key of the copy that the API reads.", NOT_SHOWN] = None
    table_schema_version: Annotated[str | None, "Of the table's columns.", NOT_SHOWN] = None
    table_etag: Annotated[str | None, "Of the Parquet object.", NOT_SHOWN] = None
    table_revision: Annotated[int | None, "Raised by every upload.", NOT_SHOWN] = None
    row_count: Annotated[Count | None, "Measurements in the table."] = None
    bands: Annotated[Mapping[str, int] | None, "Measurements in the table, by their band."] = None
    mjd_min: Annotated[float | None, "Time of its first measurement."] = None
    mjd_max: Annotated[float | None, "Time of its last measurement."] = None
    last_ingestion_at: Annotated[datetime | None, "When the last upload was ingested."] = None
    last_ingestion_source: Annotated[str | None, "Where it came from.", NOT_SHOWN] = None
    ingestion_count: Annotated[Count, "Uploads that the table has measurements of."] = 0
    last_ingested_file_id: Annotated[str | None, "SHA-256 of the last upload.", NOT_SHOWN] = None
    last_ingested_object_etag: Annotated[str | None, "Of the last upload.", NOT_SHOWN] = None
    created_at: Annotated[datetime, "When it was made."]
    updated_at: Annotated[datetime, "When it was last changed."]
