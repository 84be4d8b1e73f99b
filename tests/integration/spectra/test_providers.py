"""Each archive of spectra in health and in every trouble, over a true connection."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sourcebook.novae.coordinates import Position
from sourcebook.novae.resolvers.archive import ArchiveStatus
from sourcebook.spectra.providers.registry import Protocol, ProviderSpec, open_provider
from sourcebook_local.astronomy.sample import sample_providers
from sourcebook_local.astronomy.services import votable_error

if TYPE_CHECKING:
    from sourcebook.bucket.objects import Objects
    from sourcebook.http.client import HttpClient
    from sourcebook.spectra.providers.provider import Provider
    from sourcebook.table.client import Table
    from tests.integration.astronomy import Archives, Clock

pytestmark = pytest.mark.integration

SHARED = Path(os.environ.get("SOURCEBOOK_SHARED", "../shared")) / "data" / "services"
NOVA_ID = "4e9b0e88-5d2b-4d1a-9a1a-4a4f6f0cb9b1"
V1324, LPBK1 = Position(267.72458, -32.62236), Position(101.0, 12.0)
RADIUS = 10 / 3600
PATHS = {"ESO": "/astronomy/eso/*", "MAST": "/astronomy/mast/*", "BESS": "/astronomy/ssa/*"}


@pytest.fixture
def provider(http: HttpClient, table: Table, objects: Objects, archives: Archives, clock: Clock) -> Any:
    def make(name: str, **changes: Any) -> Provider:
        spec = next(spec for spec in sample_providers(archives.url) if spec.provider == name)
        return open_provider(
            spec.model_copy(update=changes),
            http=http,
            table=table,
            objects=objects,
            nova_id=NOVA_ID,
            clock=clock,
            sleep=archives.sleep,
        )

    return make


@pytest.mark.parametrize("name", PATHS)
async def test_a_star_has_its_spectra_and_the_empty_sky_has_none(provider: Any, name: str) -> None:
    search = await provider(name).search(V1324, RADIUS)
    assert (search.status, len(search.products)) == (ArchiveStatus.OK, 1)
    nothing = await provider(name).search(Position(10, 10), RADIUS)
    assert (nothing.status, nothing.products) == (ArchiveStatus.OK, ())
    assert not any(nothing.left_out.values())


async def test_only_what_is_within_the_circle_is_found(provider: Any) -> None:
    ids = [p.provider_product_id for p in (await provider("ESO").search(LPBK1, RADIUS)).products]
    assert ids == ["ADP.LPBK1.PUBLIC", "ADP.LPBK1.PUBLIC", "ADP.LPBK1.PROPRIETARY"], "as the archive gave it"
    wide = await provider("ESO").search(LPBK1, 80 / 3600)
    assert "ADP.LPBK4.PUBLIC" in {product.provider_product_id for product in wide.products}
    assert wide.left_out == {"unreadable": 1}, "a row without an id"


async def test_mast_gives_the_spectrum_and_not_the_frame_before_it(provider: Any) -> None:
    search = await provider("MAST").search(V1324, RADIUS)
    (product,) = search.products
    assert product.provider_product_id == "mast:HST/product/lpbk01010_x1d.fits"
    assert product.byte_length == 11_520
    assert product.wavelengths_m == pytest.approx((1.15e-7, 1.7e-7))
    assert search.left_out["not_a_spectrum"] == 1


async def test_ssa_leaves_out_what_is_no_fits_and_what_lies_elsewhere(provider: Any) -> None:
    search = await provider("BESS").search(LPBK1, RADIUS)
    assert [product.title for product in search.products] == [
        "By its own id",
        "By its metadata",
        "By its address",
        "Nobody says until when",
    ]
    assert search.left_out == {"not_fits": 1}
    # A service that answers with a wider circle than it was asked for.
    ssa = provider("BESS")
    wide = await ssa.search(Position(101.0, 12.005), 30 / 3600)
    narrow = await ssa.search(Position(101.0, 12.005), RADIUS)
    assert (len(wide.products), len(narrow.products)) == (4, 0)


@pytest.mark.parametrize(
    ("trouble", "status"),
    [
        ({"drop": True}, ArchiveStatus.DOWN),
        ({"delay": 4}, ArchiveStatus.DOWN),
        ({"cut": 20}, ArchiveStatus.DOWN),
        ({"status": 500}, ArchiveStatus.DOWN),
        ({"status": 503}, ArchiveStatus.DOWN),
        ({"body": ""}, ArchiveStatus.DOWN),
        ({"body": "<!DOCTYPE html><html><body>Back on Monday</body></html>"}, ArchiveStatus.DOWN),
        ({"body": "{}", "content_type": "application/json"}, ArchiveStatus.DOWN),
        ({"body": "<VOTABLE><RESOURCE>", "content_type": "text/xml"}, ArchiveStatus.DOWN),
        (
            {"body": votable_error("the circle is too large"), "content_type": "text/xml"},
            ArchiveStatus.REJECTED,
        ),
        ({"status": 401}, ArchiveStatus.REJECTED),
        ({"status": 404}, ArchiveStatus.REJECTED),
    ],
)
async def test_trouble_is_a_status_and_never_an_exception(
    provider: Any, archives: Archives, trouble: dict[str, Any], status: ArchiveStatus
) -> None:
    for name, path in PATHS.items():
        await archives.stage({"path": path, "times": None, **trouble})
        search = await provider(name).search(V1324, RADIUS)
        assert (search.status, search.products) == (status, ()), name
        assert search.detail


@pytest.mark.parametrize("name", PATHS)
async def test_who_wants_to_be_left_alone_is_left_alone_by_all(
    provider: Any, archives: Archives, name: str, clock: Clock
) -> None:
    clock.now = datetime.now(UTC)  # what an answer asks for counts from when it came
    await archives.stage({"path": PATHS[name], "status": 429, "retry_after": "120"})
    search = await provider(name).search(V1324, RADIUS)
    assert search.status is ArchiveStatus.RATE_LIMITED
    assert search.retry_after is not None
    asked = await archives.requests(PATHS[name].removeprefix("/astronomy/").rstrip("*"))
    clock.now = search.retry_after - timedelta(seconds=90)
    again = await provider(name).search(V1324, RADIUS)
    assert again.status is ArchiveStatus.RATE_LIMITED
    assert await archives.requests(PATHS[name].removeprefix("/astronomy/").rstrip("*")) == asked
    clock.now = search.retry_after + timedelta(seconds=2)
    assert (await provider(name).search(V1324, RADIUS)).status is ArchiveStatus.OK


async def test_a_mirror_is_asked_when_the_first_address_is_down_but_not_when_it_refuses(
    provider: Any, archives: Archives
) -> None:
    good = f"{archives.url}/astronomy/eso/tap/sync"
    twice = provider("ESO", addresses=("http://127.0.0.1:9/tap", good))
    assert (await twice.search(V1324, RADIUS)).status is ArchiveStatus.OK
    await archives.stage({"path": "/astronomy/eso/tap/sync", "body": votable_error("no")})
    refused = await provider("ESO", addresses=(good, good)).search(V1324, RADIUS)
    assert refused.status is ArchiveStatus.REJECTED


@pytest.mark.parametrize("name", ["ESO", "BESS"])
async def test_overflow_in_a_votable_is_a_truncated_answer_whose_rows_count(
    provider: Any, archives: Archives, name: str
) -> None:
    fields = {
        "ESO": '<FIELD name="dp_id"/>',
        "BESS": '<FIELD name="u" utype="ssa:Access.Reference"/>',
    }[name]
    body = (
        '<VOTABLE><RESOURCE type="results"><INFO name="QUERY_STATUS" value="OK"/>'
        f"<TABLE>{fields}<DATA><TABLEDATA><TR><TD>http://a.example/1</TD></TR></TABLEDATA></DATA></TABLE>"
        '<INFO name="QUERY_STATUS" value="OVERFLOW"/></RESOURCE></VOTABLE>'
    )
    await archives.stage({"path": PATHS[name], "body": body, "content_type": "application/x-votable+xml"})
    search = await provider(name).search(V1324, RADIUS)
    assert (search.status, len(search.products)) == (ArchiveStatus.TRUNCATED, 1)


async def test_mast_is_asked_again_while_it_is_still_at_work(provider: Any, archives: Archives) -> None:
    at_work = json.dumps({"status": "EXECUTING", "msg": "", "data": []})
    await archives.stage({"path": "/astronomy/mast/invoke", "body": at_work, "times": 2})
    search = await provider("MAST").search(V1324, RADIUS)
    assert (search.status, len(search.products)) == (ArchiveStatus.OK, 1)
    assert archives.slept == [2.0, 2.0]
    await archives.stage({"path": "/astronomy/mast/invoke", "body": at_work, "times": None})
    assert (await provider("MAST").search(V1324, RADIUS)).status is ArchiveStatus.DOWN


async def test_masts_error_is_a_refusal_with_its_words(provider: Any, archives: Archives) -> None:
    error = json.dumps({"status": "ERROR", "msg": "Unknown service", "data": []})
    await archives.stage({"path": "/astronomy/mast/invoke", "body": error})
    search = await provider("MAST").search(V1324, RADIUS)
    assert search.status is ArchiveStatus.REJECTED
    assert "Unknown service" in search.detail


async def test_mast_says_when_it_has_more(provider: Any, archives: Archives) -> None:
    page = json.dumps({"status": "COMPLETE", "data": [], "paging": {"rowsFiltered": 5}})
    await archives.stage({"path": "/astronomy/mast/invoke", "body": page})
    assert (await provider("MAST").search(V1324, RADIUS)).status is ArchiveStatus.TRUNCATED


def recorded(name: str) -> str:
    path = SHARED / name
    if not path.is_file():
        pytest.skip(f"no recorded answers in {SHARED}")
    return path.read_text("utf-8")


async def test_recorded_answers_of_mast_are_read(provider: Any, archives: Archives) -> None:
    observations, files = recorded("caom.json"), recorded("products.json")
    await archives.stage({"path": "/astronomy/mast/invoke", "body": observations, "times": 1})
    # Nineteen images around a quasar: at the first one's place there is it alone, within a degree all.
    place = json.loads(observations)["data"][0]
    first = await provider("MAST").search(Position(place["s_ra"], place["s_dec"]), RADIUS)
    assert first.status is ArchiveStatus.OK
    assert first.left_out["elsewhere"] > 0
    await archives.stage(
        {"path": "/astronomy/mast/invoke", "body": observations, "times": 1},
        {"path": "/astronomy/mast/invoke", "body": files, "times": 1},
    )
    wide = await provider("MAST").search(Position(place["s_ra"], place["s_dec"]), 1.0)
    assert wide.status is ArchiveStatus.OK
    assert wide.left_out == {"not_a_spectrum": len(json.loads(files)["data"])}, "WFPC2 takes images"


async def test_a_recorded_answer_of_ssa_is_read(provider: Any, archives: Archives) -> None:
    body = recorded("pyvo_ssa/result.xml")
    rows = body.count("<TR>")
    staged = {"path": "/astronomy/ssa/query", "body": body, "content_type": "text/xml", "times": 1}
    await archives.stage(staged)
    as_it_is = await provider("BESS").search(Position(180.0, 1.0), 0.2)
    assert (as_it_is.status, as_it_is.products) == (ArchiveStatus.OK, ())
    assert as_it_is.left_out == {"not_fits": rows}, "the service gives VOTables and pages"
    await archives.stage({**staged, "body": body.replace("application/x-votable+xml", "application/fits")})
    search = await provider("BESS").search(Position(180.0, 1.0), 0.5)
    assert len(search.products) + search.left_out["elsewhere"] == rows
    assert search.products
    assert all(str(product.provider_product_id).startswith("ivo://") for product in search.products)
    assert {product.collection for product in search.products} == {"SDSS DR6"}


async def test_recorded_votables_are_taken_as_their_names_say(provider: Any, archives: Archives) -> None:
    wanted = {
        "basic.xml": ArchiveStatus.OK,
        "rootinfo.xml": ArchiveStatus.OK,
        "missingcolumns.xml": ArchiveStatus.OK,
        "missingtable.xml": ArchiveStatus.OK,
        "missingresource.xml": ArchiveStatus.OK,
        "overflowstatus.xml": ArchiveStatus.TRUNCATED,
        "errorstatus.xml": ArchiveStatus.REJECTED,
    }
    for file, status in wanted.items():
        body = recorded(file)
        for archive in ("ESO", "BESS"):
            await archives.stage({"path": PATHS[archive], "body": body, "content_type": "text/xml"})
            search = await provider(archive).search(V1324, RADIUS)
            assert (search.status, search.products) == (status, ()), (file, archive)


async def test_a_recorded_dataset_table_without_utypes_of_ssa_is_read_by_what_it_has(
    provider: Any, archives: Archives
) -> None:
    body = recorded("dataset.xml")
    await archives.stage({"path": "/astronomy/ssa/query", "body": body, "content_type": "text/xml"})
    search = await provider("BESS").search(V1324, RADIUS)
    assert [p.locators[0].value for p in search.products] == ["http://example.com/querydata/image.fits"]
    assert search.left_out == {"not_fits": 2}


def test_a_further_service_of_a_known_protocol_is_an_entry_and_no_code(
    table: Table, objects: Objects, http: HttpClient
) -> None:
    spec = ProviderSpec(provider="ELODIE", protocol=Protocol.SSA, addresses=("https://ssa.example/q",))
    made = open_provider(spec, http=http, table=table, objects=objects, nova_id=NOVA_ID)
    assert type(made).__name__ == "Ssa"
