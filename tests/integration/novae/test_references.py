"""Publications: fetched in pages, stored once, dated only ever earlier."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest
from boto3.dynamodb.conditions import Key

from sourcebook.novae.establish import NovaEstablisher, prepare_nova
from sourcebook.novae.messages import Prepared
from sourcebook.novae.references import ReferenceStore, fetch_references, move_discovery_back
from sourcebook.novae.resolvers.ads import Ads
from sourcebook.novae.resolvers.archive import Archive, ArchiveRejected, ArchiveUnavailable
from sourcebook.novae.resolvers.identity import Identity
from sourcebook.novae.store import NoSuchNova
from sourcebook.table import keys
from sourcebook_local.astronomy.services import ADS_TOKEN, addresses
from tests.integration.astronomy import task_run

if TYPE_CHECKING:
    from sourcebook.bucket.objects import Objects
    from sourcebook.http.client import HttpClient
    from sourcebook.novae.quarantine import Quarantiner
    from sourcebook.novae.store import NovaStore
    from sourcebook.table.client import Table
    from tests.integration.astronomy import Archives, Clock

pytestmark = pytest.mark.integration


def nova(store: NovaStore, name: str) -> str:
    made = NovaEstablisher(store).establish(
        name, Identity("simbad", f"simbad:{name.lower()}", name, 10.0, 10.0, "No*")
    )
    assert made.nova_id is not None
    return made.nova_id


@pytest.fixture
def ads(http: HttpClient, table: Table, archives: Archives, clock: Clock) -> Ads:
    archive = Archive("ads", http, table, clock, archives.sleep)
    return Ads(archive, addresses(archives.url)["ads"][0], ADS_TOKEN)


async def refresh(
    nova_id: str, store: NovaStore, objects: Objects, quarantiner: Quarantiner, ads: Ads
) -> dict[str, Any]:
    run = task_run(workflow="refresh_references", record=nova_id)
    fetched = await fetch_references(store, objects, ads, nova_id, run)
    counts: dict[str, int] = {}
    for key in fetched.chunks:
        chunk = ReferenceStore(store, objects, quarantiner, store.clock).store_chunk(nova_id, key, run)
        counts = {name: counts.get(name, 0) + number for name, number in asdict(chunk).items()}
    return asdict(fetched) | counts | asdict(move_discovery_back(store, nova_id))


def items(table: Table, nova_id: str) -> list[dict[str, Any]]:
    return list(table.query_all(Key("PK").eq(nova_id)))


async def test_every_page_is_read_and_a_second_time_changes_nothing(
    store: NovaStore,
    objects: Objects,
    quarantiner: Quarantiner,
    ads: Ads,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sourcebook.novae.resolvers.ads.ROWS_A_PAGE", 20)
    nova_id = nova(store, "V1324 Sco")
    first = await refresh(nova_id, store, objects, quarantiner, ads)
    assert (first["found"], first["created"], first["truncated"]) == (63, 63, False)
    assert len(first["chunks"]) == 3
    assert (first["discovery_date"], first["changed"]) == ("2012-06-00", True)
    before = items(store.table, nova_id)
    assert sum(item["SK"].startswith("NOVAREF#") for item in before) == 63
    again = await refresh(nova_id, store, objects, quarantiner, ads)
    assert (again["created"], again["unchanged"], again["changed"]) == (0, 63, False)
    assert items(store.table, nova_id) == before


async def test_a_bad_one_is_set_aside_and_the_others_go_on(
    store: NovaStore, objects: Objects, quarantiner: Quarantiner, ads: Ads, notices: tuple[str, Any]
) -> None:
    nova_id = nova(store, "V339 Del")
    counts = await refresh(nova_id, store, objects, quarantiner, ads)
    assert (counts["created"], counts["quarantined"]) == (9, 1)
    (notice,) = notices[1]()
    assert (notice["reason"], notice["workflow"]) == ("BAD_REFERENCE", "refresh_references")
    assert "2013-13-00" in notice["message"]


async def test_the_date_of_discovery_only_moves_back(
    store: NovaStore, objects: Objects, quarantiner: Quarantiner, ads: Ads
) -> None:
    nova_id = nova(store, "V1324 Sco")
    key = keys.nova(nova_id)
    for known, kept in (
        ("2012-06-15", "2012-06-15"),
        ("2011-01-00", "2011-01-00"),
        ("2012-07-01", "2012-06-00"),
    ):
        store.table.update(key, assign={"discovery_date": known})
        assert (await refresh(nova_id, store, objects, quarantiner, ads))["discovery_date"] == kept


async def test_ads_says_no_in_its_own_ways(
    store: NovaStore, objects: Objects, ads: Ads, archives: Archives
) -> None:
    run = task_run()
    nova_id = nova(store, "V1324 Sco")
    with pytest.raises(NoSuchNova):
        await fetch_references(store, objects, ads, "00000000-0000-0000-0000-000000000000", run)
    with pytest.raises(ArchiveRejected, match="401"):
        await fetch_references(store, objects, Ads(ads.archive, ads.url, "wrong"), nova_id, run)
    await archives.stage({"path": "/astronomy/ads/*", "status": 429, "retry_after": "3600"})
    with pytest.raises(ArchiveUnavailable, match="RATE_LIMITED"):
        await fetch_references(store, objects, ads, nova_id, run)


def test_a_nova_gets_its_one_photometry_table_once(store: NovaStore) -> None:
    nova_id = nova(store, "V1324 Sco")
    assert prepare_nova(store, nova_id) == Prepared(nova_id=nova_id, photometry_table_created=True)
    assert not prepare_nova(store, nova_id).photometry_table_created
    item = store.table.get(keys.photometry_table(nova_id))
    assert item is not None
    assert item["product_type"] == "PHOTOMETRY_TABLE"
