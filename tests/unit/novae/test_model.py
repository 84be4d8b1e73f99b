"""The items of the catalogue: their examples go through the models, and mistakes do not."""

from __future__ import annotations

from typing import Any

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.novae import model
from sourcebook.records.base import Record
from sourcebook.records.nova import NameMapping, Nova, NovaReference, Reference
from sourcebook.records.product import PhotometryTable
from sourcebook.table import keys
from sourcebook.table.codec import decode_item, encode_item

NOVA_ID = "4e9b0e88-5d2b-4d1a-9a1a-4a4f6f0cb9b1"
REFERENCE_ID = "7d5e1f5c-2a7c-4e0c-b8b9-3d5a4f4c0b2a"
TIMES = {"created_at": "2026-02-21T20:00:00Z", "updated_at": "2026-02-23T18:10:00Z"}
COMMON = {"schema_version": "1", **TIMES}

EXAMPLES: list[tuple[type[Record], dict[str, Any]]] = [
    (
        Nova,
        {
            "entity_type": "Nova",
            **COMMON,
            "nova_id": NOVA_ID,
            "primary_name": "V1324 Sco",
            "primary_name_normalized": "v1324 sco",
            "status": "ACTIVE",
            "discovery_date": "2012-06-01",
        },
    ),
    (
        NameMapping,
        {
            "entity_type": "NameMapping",
            **COMMON,
            "name_raw": "V1324 Sco",
            "name_normalized": "v1324 sco",
            "name_kind": "PRIMARY",
            "nova_id": NOVA_ID,
            "source": "INGESTION",
        },
    ),
    (
        PhotometryTable,
        {
            "entity_type": "DataProduct",
            **COMMON,
            "data_product_id": "111f1a33-8f2d-4a72-a9c5-2ec8a39edb9e",
            "nova_id": NOVA_ID,
            "product_type": "PHOTOMETRY_TABLE",
            "s3_bucket": "data",
            "s3_key": f"derived/photometry/{NOVA_ID}/photometry_table.parquet",
            "last_ingestion_at": "2026-02-23T18:00:00Z",
            "last_ingestion_source": "api_upload:amateur_batch",
            "ingestion_count": 3,
        },
    ),
    (
        Reference,
        {
            "entity_type": "Reference",
            **COMMON,
            "reference_id": REFERENCE_ID,
            "source": "ADS",
            "source_identifier": "2012ATel....1....1A",
            "title": "Discovery of Nova Sco 2012",
            "published_at": "2012-06-01T00:00:00Z",
            "authors": [],
        },
    ),
    (
        NovaReference,
        {
            "entity_type": "NovaReference",
            **COMMON,
            "reference_id": REFERENCE_ID,
            "role": "DISCOVERY",
            "added_by_workflow": "refresh_references",
        },
    ),
]


@pytest.mark.parametrize(("kind", "example"), EXAMPLES, ids=lambda value: getattr(value, "__name__", ""))
def test_an_item_comes_back_from_the_table_as_it_was(kind: type[Record], example: dict[str, Any]) -> None:
    read = kind.of_json(example)
    stored = decode_item(encode_item(read.to_item(keys.nova("x"))))
    assert {"PK", "SK"} <= stored.keys()
    stored = {name: value for name, value in stored.items() if name not in {"PK", "SK"}}
    assert stored == example
    assert kind.of_json(stored) == read


@pytest.mark.parametrize(
    ("kind", "number", "change"),
    [
        (Nova, 0, {"nova_id": "V1324 Sco"}),
        (Nova, 0, {"ra_deg": 267.7}),
        (Nova, 0, {"ra_deg": 360.0, "dec_deg": 0.0}),
        (Nova, 0, {"status": "MERGED"}),
        (Nova, 0, {"discovery_date": "2012-13-00"}),
        (Nova, 0, {"created_at": "2026-02-21T20:00:00"}),
        (NameMapping, 1, {"name_kind": "NICKNAME"}),
        (PhotometryTable, 2, {"ingestion_count": -1}),
        (Reference, 3, {"published_at": "June 2012"}),
        (NovaReference, 4, {"role": "READER"}),
    ],
)
def test_a_mistake_is_named(kind: type[Record], number: int, change: dict[str, Any]) -> None:
    with pytest.raises((InvalidInput, ValueError), match=r"is not valid|is missing|naive"):
        kind.of_json(EXAMPLES[number][1] | change)


def test_one_of_several_novae_of_a_year_also_answers_to_their_common_name() -> None:
    row = EXAMPLES[1][1] | {"name_raw": "Nova Sgr 2012 No. 2", "name_normalized": "nova sgr 2012"}
    assert NameMapping.of_json(row).name_normalized == "nova sgr 2012"


def test_ids_follow_from_what_they_stand_for() -> None:
    # Spelled out: another namespace would make every nova of a deployed catalogue another one.
    assert model.nova_id_for("simbad:v1324 sco") == "b6c05a41-2227-5387-8f82-9085f39c71d6"
    assert model.reference_id_for("ADS", "2012ATel") != model.reference_id_for("ADS", "2012ATel.")
