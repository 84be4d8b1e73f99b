"""The publications about a nova, as they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.novae import model
from sourcebook.novae.reference_read import ReferenceReader
from sourcebook.table import keys

if TYPE_CHECKING:
    from sourcebook.table.client import Table

pytestmark = pytest.mark.integration

NOVA = "b6c05a41-2227-5387-8f82-9085f39c71d6"
PUBLISHED = {
    "2012ATel.4157....1W": ("2012-06", "DISCOVERY"),
    "2018A&A...609A.120F": ("2018-01-15", "SPECTRA_SOURCE"),
    "2015ApJ...809..160F": (None, "OTHER"),
    "2013ATel.4834....1H": ("2013-02", "OTHER"),
}


@pytest.fixture
def reader(table: Table) -> ReferenceReader:
    for bibcode, (published, role) in PUBLISHED.items():
        reference_id = model.reference_id_for("ADS", bibcode)
        row: dict[str, Any] = {"reference_id": reference_id, "source": "ADS", "source_identifier": bibcode}
        more = {"title": f"On {bibcode}", "authors": ["Author, A."], "author_count": 1}
        table.put({**keys.reference(NOVA, reference_id), **row, **more, "published_at": published})
        table.put({**keys.nova_reference(NOVA, reference_id), "reference_id": reference_id, "role": role})
    return ReferenceReader(table)


@pytest.mark.parametrize("limit", [1, 2, 10])
def test_all_pages_newest_first_the_undated_last(reader: ReferenceReader, limit: int) -> None:
    found: list[dict[str, Any]] = []
    cursor = None
    while True:
        page = reader.page(NOVA, limit=limit, cursor=cursor)
        found += page.items
        if (cursor := page.next_cursor) is None:
            break
    years = [one["published_at"] for one in found]
    assert years == ["2018-01-15", "2013-02", "2012-06", None]
    assert found[0]["link"] == "https://ui.adsabs.harvard.edu/abs/2018A%26A...609A.120F"
    assert [one["role"] for one in found] == ["SPECTRA_SOURCE", "OTHER", "DISCOVERY", "OTHER"]


def test_only_those_of_a_role(reader: ReferenceReader) -> None:
    page = reader.page(NOVA, role="DISCOVERY", limit=5)
    assert [one["bibcode"] for one in page.items] == ["2012ATel.4157....1W"]
    cursor = reader.page(NOVA, role="OTHER", limit=1).next_cursor
    with pytest.raises(InvalidInput):
        reader.page(NOVA, limit=1, cursor=cursor)
