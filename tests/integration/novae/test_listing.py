"""The list of all novae, and what is asked of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.migrations.relist import STEP
from sourcebook.migrations.steps import Migrations
from sourcebook.novae.establish import NovaEstablisher, prepare_nova
from sourcebook.novae.listing import NovaList, Wanted
from sourcebook.novae.read import NovaReader
from sourcebook.novae.resolvers.identity import Identity
from sourcebook.table import keys

if TYPE_CHECKING:
    from sourcebook.novae.store import NovaStore

pytestmark = pytest.mark.integration

NOVAE = {
    "V1324 Sco": (267.72458, -32.62236, "2012-06-00", ("MOA-2012-BLG-320", "Nova Sco 2012")),
    "V339 Del": (305.87779, 20.76786, "2013-08-14", ("Nova Del 2013", "PNV J20233073+2046041")),
    "V1369 Cen": (208.69696, -59.15144, "2013-12-02", ("Nova Cen 2013",)),
    "T CrB": (239.87567, 25.92017, None, ("* 57 T CrB",)),
    "V1405 Cen": (200.23167, -63.7083, "2017-05-16", ("ASASSN-17gk",)),
}


@pytest.fixture
def ids(store: NovaStore) -> dict[str, str]:
    made = {}
    for name, (ra, dec, date, names) in NOVAE.items():
        identity = Identity("simbad", f"simbad:{name.casefold()}", name, ra, dec, "No*", names)
        nova_id = NovaEstablisher(store).establish(name, identity).nova_id
        assert nova_id is not None
        store.table.update(keys.nova(nova_id), assign={"discovery_date": date})
        made[name] = nova_id
    return made


def names(store: NovaStore, wanted: Wanted, limit: int = 100) -> list[str]:
    found, cursor = [], None
    while True:
        page = NovaList(store.table).page(wanted, limit=limit, cursor=cursor)
        found += [item["primary_name"] for item in page.items]
        if (cursor := page.next_cursor) is None:
            return found


def test_each_filter_alone_and_all_pages(store: NovaStore, ids: dict[str, str]) -> None:
    everything = ["T CrB", "V1324 Sco", "V1369 Cen", "V1405 Cen", "V339 Del"]
    for limit in (1, 2, 5, 100):
        assert names(store, Wanted(), limit) == everything
    for wanted, found in (
        (Wanted(constellation="Scorpii"), ["V1324 Sco"]),
        (Wanted(constellation="cen"), ["V1369 Cen", "V1405 Cen"]),
        (Wanted(year=2013), ["V1369 Cen", "V339 Del"]),
        (Wanted(year=2013, constellation="Del"), ["V339 Del"]),
        (Wanted(prefix="V13"), ["V1324 Sco", "V1369 Cen"]),
        (Wanted(since="2013-08-14"), ["V1369 Cen", "V1405 Cen", "V339 Del"]),
        (Wanted(since="2012-06-20"), ["V1324 Sco", "V1369 Cen", "V1405 Cen", "V339 Del"]),
        (Wanted(since="2012-07-01"), ["V1369 Cen", "V1405 Cen", "V339 Del"]),
        (Wanted(status="MERGED"), []),
    ):
        assert names(store, wanted, 1) == found, wanted


def test_those_with_data(store: NovaStore, ids: dict[str, str]) -> None:
    measured, seen = ids["V339 Del"], ids["T CrB"]
    for nova_id in ids.values():
        prepare_nova(store, nova_id)
    store.table.update(keys.photometry_table(measured), assign={"row_count": 3})
    for number, status in enumerate(("QUARANTINED", "VALID")):
        key = keys.spectrum(seen, "ESO", f"{number}")
        store.table.put({**key, "entity_type": "DataProduct", "validation_status": status})
    other = keys.spectrum(measured, "ESO", "3")
    store.table.put({**other, "entity_type": "DataProduct", "validation_status": "UNVALIDATED"})
    assert names(store, Wanted(photometry=True), 1) == ["V339 Del"]
    assert names(store, Wanted(spectra=True), 1) == ["T CrB"]
    assert names(store, Wanted(spectra=False, photometry=True), 1) == ["V339 Del"]
    assert "V339 Del" not in names(store, Wanted(photometry=False))


def test_a_nova_that_is_renamed_stands_under_its_new_name(store: NovaStore, ids: dict[str, str]) -> None:
    from sourcebook.records.nova import NameSource

    store.rename(store.active(ids["T CrB"]), "V9999 CrB", NameSource.SIMBAD)
    assert names(store, Wanted())[-1] == "V9999 CrB"
    assert names(store, Wanted(prefix="t crb")) == []


def test_novae_of_earlier_versions_come_into_the_list_by_migrating(
    store: NovaStore, ids: dict[str, str]
) -> None:
    for nova_id in list(ids.values())[:3]:
        store.table.update(keys.nova(nova_id), assign={"GSI1PK": None, "GSI1SK": None})
    assert len(names(store, Wanted())) == 2
    assert STEP.is_needed(store.table)
    (applied,) = Migrations(store.table, steps=(STEP,)).run()
    assert applied.changed == 3
    assert len(names(store, Wanted())) == 5
    assert not STEP.is_needed(store.table)


@pytest.mark.parametrize(
    "name",
    ["MOA-2012-BLG-320", "moa 2012 blg 320", "MOA2012-BLG-320", "V* V1324 Sco", "Nova Scorpii 2012"],
)
def test_official_names_of_surveys_find_the_nova(store: NovaStore, ids: dict[str, str], name: str) -> None:
    found = NovaReader(store.table).by_name(name)
    assert (found["match"], [item["nova_id"] for item in found["items"]]) == ("ONE", [ids["V1324 Sco"]])
    assert found["items"][0]["constellation"] == "Sco"


def test_a_cursor_belongs_to_its_filters(store: NovaStore, ids: dict[str, str]) -> None:
    listing = NovaList(store.table)
    cursor = listing.page(Wanted(year=2013), limit=1).next_cursor
    assert cursor is not None
    for wanted in (Wanted(), replace(Wanted(year=2013), prefix="v")):
        with pytest.raises(InvalidInput, match="next_cursor"):
            listing.page(wanted, limit=1, cursor=cursor)
