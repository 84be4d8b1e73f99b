"""Spectra are discovered once, whoever comes, how often and how late."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from aws_lambda_powertools import Logger
from boto3.dynamodb.conditions import Key

from sourcebook.clock import isoformat
from sourcebook.errors import InvalidInput
from sourcebook.novae.coordinates import Position
from sourcebook.novae.establish import NovaEstablisher
from sourcebook.novae.resolvers.archive import ArchiveRejected, ArchiveStatus, ArchiveUnavailable
from sourcebook.novae.resolvers.identity import Identity as StarIdentity
from sourcebook.novae.store import NoSuchNova
from sourcebook.records.nova import Nova
from sourcebook.records.spectrum import IdentityKind, Locator, LocatorAlias, LocatorKind, SpectrumProduct
from sourcebook.spectra.discover import NoPosition, Registered, SpectraDiscoverer, plan_discovery
from sourcebook.spectra.messages import ProviderAnswered
from sourcebook.spectra.products import (
    DONATION,
    INDEX_ATTRIBUTES,
    acquisition_name,
    data_product_id_for,
    spectrum_item,
)
from sourcebook.spectra.providers.donation import Donations
from sourcebook.spectra.providers.provider import FoundProduct, Search
from sourcebook.spectra.providers.registry import open_provider, provider_spec, set_providers
from sourcebook.spectra.sweep import claim_spectra
from sourcebook.table import keys
from sourcebook_local.astronomy.sample import sample_providers

if TYPE_CHECKING:
    from sourcebook.bucket.objects import Objects
    from sourcebook.http.client import HttpClient
    from sourcebook.novae.store import NovaStore
    from sourcebook.table.client import Table
    from tests.integration.astronomy import Archives, Clock

pytestmark = pytest.mark.integration

Discover = Callable[..., Awaitable[ProviderAnswered]]


@pytest.fixture
def discoverer(store: NovaStore, clock: Clock) -> SpectraDiscoverer:
    return SpectraDiscoverer(store, Logger(service="test"), clock)


@pytest.fixture
def discover(
    discoverer: SpectraDiscoverer, http: HttpClient, objects: Objects, archives: Archives, clock: Clock
) -> Discover:
    table = discoverer.store.table
    set_providers(table, sample_providers(archives.url))

    async def run(nova_id: str, name: str, by: SpectraDiscoverer = discoverer) -> ProviderAnswered:
        spec = provider_spec(table, name)
        provider = open_provider(
            spec,
            http=http,
            table=table,
            objects=objects,
            nova_id=nova_id,
            clock=clock,
            sleep=archives.sleep,
        )
        return await by.discover(nova_id, spec, provider)

    return run


def nova(store: NovaStore, name: str = "V1324 Sco", ra: float = 267.72458, dec: float = -32.62236) -> Nova:
    made = NovaEstablisher(store).establish(
        name, StarIdentity("simbad", f"simbad:{name.lower()}", name, ra, dec, "No*")
    )
    assert made.nova_id is not None
    return store.active(made.nova_id)


def lpbk1(store: NovaStore) -> Nova:
    return nova(store, "LPBK 1", 101.0, 12.0)


def products(table: Table, nova_id: str) -> list[SpectrumProduct]:
    own = Key("PK").eq(nova_id) & Key("SK").begins_with(keys.SPECTRA_PREFIX)
    return [SpectrumProduct.of_item(item) for item in table.query_all(own)]


def everything(table: Table) -> list[dict[str, Any]]:
    pages = boto3.client("dynamodb").get_paginator("scan").paginate(TableName=table.name)
    return sorted((item for page in pages for item in page["Items"]), key=str)


def answer(*found: FoundProduct, status: ArchiveStatus = ArchiveStatus.OK) -> Search:
    return Search(status, found)


def one(native: str | None = None, url: str = "https://a.example/1.fits", **fields: Any) -> FoundProduct:
    return FoundProduct(
        locators=(Locator(kind=LocatorKind.URL, value=url),), provider_product_id=native, **fields
    )


async def test_what_is_new_becomes_a_stub_that_waits_to_be_acquired(
    store: NovaStore, discover: Discover, clock: Clock
) -> None:
    nova_id = nova(store).nova_id
    counts = await discover(nova_id, "ESO")
    assert (counts.status, counts.found, counts.created, counts.known) == ("OK", 1, 1, 0)
    (item,) = store.table.query_all(Key("PK").eq(nova_id) & Key("SK").begins_with(keys.SPECTRA_PREFIX))
    identity = "provider_product_id:ADP.2012-06-05T08:11:09.001"
    product_id = data_product_id_for("ESO", identity)
    expected = {
        "SK": f"PRODUCT#SPECTRA#ESO#{product_id}",
        "entity_type": "DataProduct",
        "product_type": "SPECTRA",
        "schema_version": "1",
        "provider": "ESO",
        "locator_identity": identity,
        "identity_kind": "NATIVE_ID",
        "acquisition_status": "STUB",
        "validation_status": "UNVALIDATED",
        "eligibility": "ACQUIRE",
        "attempt_count": 0,
        "GSI1PK": nova_id,
        "GSI1SK": f"ELIG#ACQUIRE#SPECTRA#ESO#{product_id}",
        "status": "ACQUIRE",
        "timestamp": isoformat(clock.now),
    }
    assert {name: item.get(name) for name in expected} == expected
    assert item["locators"][0]["kind"] == "URL"
    assert item["locators"][0]["value"].endswith("/astronomy/eso/file/ADP.2012-06-05T08:11:09.001")
    (alias,) = store.table.query_all(Key("PK").eq(f"LOCATOR#ESO#{identity}"))
    assert (alias["SK"], alias["nova_id"]) == (f"DATA_PRODUCT#{product_id}", nova_id)


async def test_a_second_discovery_changes_nothing(store: NovaStore, discover: Discover, clock: Clock) -> None:
    nova_id = lpbk1(store).nova_id
    for name in ("ESO", "MAST", "BESS", DONATION):
        await discover(nova_id, name)
    before = everything(store.table)
    clock.now += timedelta(days=3)
    for name in ("ESO", "MAST", "BESS", DONATION):
        counts = await discover(nova_id, name)
        assert (counts.created, counts.updated, counts.eligible) == (0, 0, 0)
    assert everything(store.table) == before


async def test_the_ladder_of_identities_and_what_is_left_out(store: NovaStore, discover: Discover) -> None:
    nova_id = lpbk1(store).nova_id
    eso = await discover(nova_id, "ESO")
    assert (eso.found, eso.created, eso.left_out) == (3, 2, {"repeated": 1, "unreadable": 1})
    bess = await discover(nova_id, "BESS")
    assert (bess.found, bess.created, bess.left_out) == (4, 4, {"not_fits": 1})
    kinds = {product.title: product.identity_kind for product in products(store.table, nova_id)}
    assert kinds["By its own id"] is IdentityKind.NATIVE_ID
    assert kinds["By its metadata"] is IdentityKind.METADATA_KEY
    assert kinds["By its address"] is IdentityKind.WEAK


async def test_what_is_not_public_waits(
    store: NovaStore, discover: Discover, discoverer: SpectraDiscoverer, clock: Clock
) -> None:
    here = lpbk1(store)
    eso = await discover(here.nova_id, "ESO")
    bess = await discover(here.nova_id, "BESS")
    by_title = {product.title: product for product in products(store.table, here.nova_id)}
    embargo = by_title["Not public yet"]
    assert (embargo.eligibility, embargo.auth_required) == ("ACQUIRE", True)
    assert isoformat(embargo.next_eligible_attempt_at) == "2099-01-01T00:00:00Z"  # type: ignore[arg-type]
    item = store.table.get(embargo.key)
    assert item is not None
    assert item["timestamp"] == "2099-01-01T00:00:00Z", "the sweep comes upon it on that day"
    closed = by_title["Nobody says until when"]
    assert closed.eligibility == "NONE"
    assert not set(INDEX_ATTRIBUTES) & set(store.table.get(closed.key) or {})
    assert (eso.created, eso.eligible) == (2, 1)
    assert (bess.created, bess.eligible) == (4, 3)
    # A later look finds it public.
    assert closed.provider_product_id is not None
    clock.now += timedelta(days=1)
    now_public = discoverer.register(here, "BESS", answer(one(closed.provider_product_id)))
    assert now_public.counts[Registered.RELEASED] == 1
    assert [product.data_product_id for product in now_public.eligible] == [closed.data_product_id]
    released = store.table.get(closed.key) or {}
    assert set(INDEX_ATTRIBUTES) <= set(released)
    assert (released["timestamp"], released["auth_required"]) == (isoformat(clock.now), False)


@pytest.mark.parametrize(
    "ended",
    [
        {"validation_status": "VALID"},
        {"validation_status": "QUARANTINED"},
        {"validation_status": "TERMINAL_INVALID"},
        {"duplicate_of": "4e9b0e88-5d2b-4d1a-9a1a-4a4f6f0cb9b1"},
    ],
)
async def test_what_has_come_to_its_end_is_not_begun_again(
    store: NovaStore, discoverer: SpectraDiscoverer, ended: dict[str, str]
) -> None:
    here = nova(store)
    discoverer.register(here, "ESO", answer(one("A")))
    (product,) = products(store.table, here.nova_id)
    store.table.update(
        product.key,
        assign={**ended, "eligibility": "NONE"},
        remove=INDEX_ATTRIBUTES,
    )
    before = everything(store.table)
    met = discoverer.register(here, "ESO", answer(one("A", "https://moved.example/1.fits")))
    assert (met.counts[Registered.KNOWN], met.eligible) == (1, ())
    assert everything(store.table) == before


def test_a_file_that_has_moved_is_asked_for_at_its_new_place(
    store: NovaStore, discoverer: SpectraDiscoverer
) -> None:
    here = nova(store)
    discoverer.register(here, "ESO", answer(one("A")))
    met = discoverer.register(here, "ESO", answer(one("A", "https://moved.example/1.fits")))
    assert (met.counts[Registered.UPDATED], met.eligible) == (1, ())
    (product,) = products(store.table, here.nova_id)
    assert product.locators[0].value == "https://moved.example/1.fits"


def test_an_embargo_that_ends_early_ends_and_one_that_was_tried_keeps_its_cooldown(
    store: NovaStore, discoverer: SpectraDiscoverer, clock: Clock
) -> None:
    here = nova(store)
    until = clock.now + timedelta(days=300)
    closed: Any = {"auth_required": True, "release_date": until}
    discoverer.register(here, "ESO", answer(one("A", **closed), one("B", "https://a.example/2", **closed)))
    a, b = sorted(products(store.table, here.nova_id), key=lambda product: str(product.provider_product_id))
    store.table.update(b.key, assign={"attempt_count": 1})
    clock.now += timedelta(days=1)
    met = discoverer.register(here, "ESO", answer(one("A"), one("B", "https://a.example/2")))
    assert (met.counts[Registered.RELEASED], met.counts[Registered.KNOWN]) == (1, 1)
    assert [product.data_product_id for product in met.eligible] == [a.data_product_id]
    assert (store.table.get(a.key) or {})["timestamp"] == isoformat(clock.now)
    assert (store.table.get(b.key) or {})["next_eligible_attempt_at"] == isoformat(until)


def test_an_item_that_cannot_be_read_does_not_lose_the_others(
    store: NovaStore, discoverer: SpectraDiscoverer
) -> None:
    here = nova(store)
    discoverer.register(here, "ESO", answer(one("A")))
    (damaged,) = products(store.table, here.nova_id)
    store.table.update(damaged.key, assign={"attempt_count": -1})
    met = discoverer.register(here, "ESO", answer(one("A"), one("B", "https://a.example/2.fits")))
    assert (met.counts[Registered.CREATED], met.left_out) == (1, {"unreadable": 1})


class Blind(SpectraDiscoverer):
    """Looks before the other has written, and writes after it."""

    def _products(self, nova_id: str, provider: str) -> dict[str, SpectrumProduct]:
        return {}

    def _alias(self, provider: str, identity: Any) -> LocatorAlias | None:
        return None


async def test_of_two_discoveries_at_once_each_product_is_made_by_one(
    store: NovaStore, discover: Discover, discoverer: SpectraDiscoverer, clock: Clock
) -> None:
    nova_id = lpbk1(store).nova_id
    first = await discover(nova_id, "BESS")
    before = everything(store.table)
    late = await discover(nova_id, "BESS", Blind(store, discoverer.logger, clock))
    assert (first.created, late.created, late.known) == (4, 0, 4)
    assert late.eligible == 0
    assert everything(store.table) == before


def test_a_discovery_that_was_cut_short_is_mended_by_the_next(
    store: NovaStore, discoverer: SpectraDiscoverer, clock: Clock
) -> None:
    here = nova(store)
    identity = "provider_product_id:A"
    alias = LocatorAlias(
        provider="ESO",
        locator_identity=identity,
        data_product_id=data_product_id_for("ESO", identity),
        nova_id=here.nova_id,
        identity_kind=IdentityKind.NATIVE_ID,
        created_at=clock.now,
        updated_at=clock.now,
    )
    key = keys.locator_alias("ESO", identity, alias.data_product_id)
    store.table.create(alias.to_item(key))  # and then the function was killed
    assert discoverer.register(here, "ESO", answer(one("A"))).counts[Registered.CREATED] == 1
    (product,) = products(store.table, here.nova_id)
    assert product.data_product_id == alias.data_product_id


def test_a_product_that_gets_an_id_later_stays_the_same_product(
    store: NovaStore, discoverer: SpectraDiscoverer
) -> None:
    here = nova(store)
    discoverer.register(here, "BESS", answer(one()))
    (before,) = products(store.table, here.nova_id)
    assert before.identity_kind is IdentityKind.WEAK
    met = discoverer.register(here, "BESS", answer(one("ivo://now/1", "http://A.example/1.fits#x")))
    assert (met.counts[Registered.CREATED], met.counts[Registered.UPDATED]) == (0, 1)
    (after,) = products(store.table, here.nova_id)
    assert after.data_product_id == before.data_product_id
    # From now on the id alone is enough.
    met = discoverer.register(here, "BESS", answer(one("ivo://now/1", "https://b.example/1.fits")))
    assert met.counts[Registered.CREATED] == 0
    assert len(products(store.table, here.nova_id)) == 1


def test_two_ids_at_one_address_are_two_products(store: NovaStore, discoverer: SpectraDiscoverer) -> None:
    here = nova(store)
    assert discoverer.register(here, "ESO", answer(one("A"), one("B"))).counts[Registered.CREATED] == 2
    assert discoverer.register(here, "ESO", answer(one("B"), one("A"))).counts[Registered.KNOWN] == 2


def test_a_product_is_one_novas(store: NovaStore, discoverer: SpectraDiscoverer) -> None:
    here, there = nova(store), nova(store, "LPBK 10", 15.0, -70.0)
    discoverer.register(here, "ESO", answer(one("A")))
    for finder in (discoverer, Blind(store, discoverer.logger, discoverer.clock)):
        met = finder.register(there, "ESO", answer(one("A"), one("B", "https://a.example/2.fits")))
        assert met.counts[Registered.CLAIMED] == 1
        assert [p.provider_product_id for p in products(store.table, there.nova_id)] == ["B"]


def test_the_same_id_of_two_providers_is_two_products(
    store: NovaStore, discoverer: SpectraDiscoverer
) -> None:
    here = nova(store)
    for provider in ("ESO", "BESS"):
        assert discoverer.register(here, provider, answer(one("A"))).counts[Registered.CREATED] == 1
    assert len(products(store.table, here.nova_id)) == 2


def test_one_entry_that_is_no_product_does_not_lose_the_others(
    store: NovaStore, discoverer: SpectraDiscoverer
) -> None:
    here = nova(store)
    met = discoverer.register(
        here,
        "BESS",
        answer(
            one("A"),
            one(url="https://["),
            one("B", format="x" * 300),
            one("C", sha256="short"),
            one("D", "https://a.example/4.fits"),
        ),
    )
    assert (met.counts[Registered.CREATED], met.left_out) == (2, {"unreadable": 3})
    assert {p.provider_product_id for p in products(store.table, here.nova_id)} == {"A", "D"}
    for left_out in ("B", "C"):
        partition = keys.locator_aliases("BESS", f"provider_product_id:{left_out}")
        assert not store.table.query(Key("PK").eq(partition)).items, "an alias that leads nowhere"


async def test_a_provider_in_trouble_is_said_and_what_it_gave_is_kept(
    store: NovaStore, discover: Discover, discoverer: SpectraDiscoverer, archives: Archives
) -> None:
    here = nova(store)

    class HalfWay:
        async def search(self, position: Any, radius_deg: float) -> Search:
            return Search(ArchiveStatus.DOWN, (one("A"),), detail="the connection broke")

    spec = provider_spec(store.table, "ESO")
    with pytest.raises(ArchiveUnavailable, match="DOWN: the connection broke"):
        await discoverer.discover(here.nova_id, spec, HalfWay())
    assert [p.provider_product_id for p in products(store.table, here.nova_id)] == ["A"]
    await archives.stage({"path": "/astronomy/mast/*", "status": 429, "retry_after": "60"})
    with pytest.raises(ArchiveUnavailable, match="RATE_LIMITED") as limited:
        await discover(here.nova_id, "MAST")
    assert limited.value.retry_after is not None
    await archives.stage({"path": "/astronomy/ssa/*", "status": 401})
    with pytest.raises(ArchiveRejected):
        await discover(here.nova_id, "BESS")


def test_the_sweep_finds_what_is_new_and_names_its_run_as_we_do(
    store: NovaStore, discoverer: SpectraDiscoverer, clock: Clock
) -> None:
    here = nova(store)
    many = [one(f"P{number}", f"https://a.example/{number}.fits") for number in range(8)]
    met = discoverer.register(here, "ESO", answer(*many))
    assert len(met.eligible) == len(many)
    claimed = claim_spectra(store.table, Logger(service="test"), 100, clock).claimed
    names = {entry.data_product_id: entry.name for entry in claimed}
    assert names == {product.data_product_id: acquisition_name(product) for product in met.eligible}
    assert all(len(name) <= 80 for name in names.values())


async def test_the_plan_names_the_providers_of_the_table(
    store: NovaStore, discover: Discover, archives: Archives
) -> None:
    here = nova(store)
    plan = plan_discovery(store, here.nova_id)
    assert [one.provider for one in plan.providers] == ["ESO", "MAST", "BESS", "DONATION"]
    eso, mast, *rest = sample_providers(archives.url)
    set_providers(store.table, [eso, mast.model_copy(update={"enabled": False})])
    assert [one.provider for one in plan_discovery(store, here.nova_id).providers] == ["ESO"]
    with pytest.raises(InvalidInput, match="provider"):
        provider_spec(store.table, "MAST")
    with pytest.raises(InvalidInput, match="once"):
        set_providers(store.table, [eso, eso])
    with pytest.raises(NoSuchNova):
        plan_discovery(store, "00000000-0000-0000-0000-000000000000")
    assert rest


def test_a_nova_without_a_position_says_so(store: NovaStore) -> None:
    here = nova(store)
    store.table.update(keys.nova(here.nova_id), remove=("ra_deg", "dec_deg"))
    with pytest.raises(NoPosition, match="sourcebook donate"):
        plan_discovery(store, here.nova_id)


async def test_a_donation_is_a_product_with_its_provenance(
    store: NovaStore, discover: Discover, objects: Objects, clock: Clock
) -> None:
    here = nova(store)
    donations = Donations(objects, here.nova_id, clock)
    given = donations.give("../my spectrum (1).fits", b"SIMPLE", donor="Ada", license="CC0", note=None)
    assert given.file_name == "my_spectrum_1_.fits"
    counts = await discover(here.nova_id, DONATION)
    assert (counts.created, counts.eligible) == (1, 1)
    (product,) = products(store.table, here.nova_id)
    assert product.locators[0].kind is LocatorKind.S3
    stored = boto3.client("s3").get_object(Bucket=objects.bucket, Key=product.locators[0].value)
    assert stored["Body"].read() == b"SIMPLE"
    assert product.expected_sha256 == given.sha256
    assert product.provenance == {
        "donor": "Ada",
        "license": "CC0",
        "file_name": "my_spectrum_1_.fits",
        "donated_at": isoformat(clock.now),
    }
    # The same file again, by another name: the same product.
    donations.give("again.fits", b"SIMPLE", donor="Ada")
    assert (await discover(here.nova_id, DONATION)).created == 0


async def test_a_donation_that_is_not_whole_is_passed_over(
    store: NovaStore, discover: Discover, objects: Objects, clock: Clock
) -> None:
    here, other = nova(store), nova(store, "LPBK 10", 15.0, -70.0)
    s3 = boto3.client("s3")
    folder = f"raw/donations/spectra/{here.nova_id}/{'a' * 64}/"
    s3.put_object(Bucket=objects.bucket, Key=f"{folder}broken-off.fits", Body=b"SIMPLE")
    s3.put_object(Bucket=objects.bucket, Key=f"{folder}provenance.json", Body=b"{not json")
    foreign = Donations(objects, other.nova_id, clock).give("x.fits", b"X", donor="Ada")
    objects.write_json(
        f"raw/donations/spectra/{here.nova_id}/{'b' * 64}/provenance.json", foreign.model_dump(mode="json")
    )
    Donations(objects, here.nova_id, clock).give("good.fits", b"GOOD", donor="Ada")
    counts = await discover(here.nova_id, DONATION)
    assert (counts.created, counts.left_out) == (1, {"unreadable": 2})


@pytest.mark.parametrize(
    ("body", "said", "field"),
    [(b"", {"donor": "Ada"}, "byte_length"), (b"x", {"donor": ""}, "donor"), (b"x", {}, "donor")],
)
def test_what_cannot_be_a_donation_is_refused_before_it_is_stored(
    objects: Objects, body: bytes, said: dict[str, str], field: str
) -> None:
    nova_id = "4e9b0e88-5d2b-4d1a-9a1a-4a4f6f0cb9b1"
    with pytest.raises(InvalidInput, match=field):
        Donations(objects, nova_id).give("x.fits", body, **said)
    assert boto3.client("s3").list_objects_v2(Bucket=objects.bucket)["KeyCount"] == 0


async def test_a_bucket_that_is_not_there_is_trouble_of_one_provider(objects: Objects) -> None:
    missing = dataclasses.replace(objects, bucket="no-such-bucket")
    search = await Donations(missing, "4e9b0e88-5d2b-4d1a-9a1a-4a4f6f0cb9b1").search(Position(1, 1), 0.1)
    assert search.status is ArchiveStatus.REJECTED
    assert "NoSuchBucket" in search.detail


def test_a_product_is_read_as_it_was_written(store: NovaStore, discoverer: SpectraDiscoverer) -> None:
    here = nova(store)
    discoverer.register(here, "ESO", answer(one("A", hints={"instrument": "UVES"}, byte_length=5)))
    (product,) = products(store.table, here.nova_id)
    assert spectrum_item(product) == store.table.get(product.key)
