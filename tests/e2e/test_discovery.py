"""discover_spectra_products on the deployed stack, against archives that this machine plays."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest
from boto3.dynamodb.conditions import Key

from sourcebook.bucket.objects import Objects
from sourcebook.runs.tasks import TaskRun
from sourcebook.spectra.products import data_product_id_for
from sourcebook.spectra.providers.donation import Donations
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook_local.astronomy.sample import use_sample_archives
from sourcebook_local.folder import forget, start_server
from tests.e2e.sources import stage
from tests.e2e.stack import invoke, wait_until
from tests.e2e.test_novae import Catalogue, attempts

if TYPE_CHECKING:
    from tests.e2e.stack import Stack

PROVIDERS = ("ESO", "MAST", "BESS", "DONATION")
WORKFLOW = "discover_spectra_products"


@pytest.fixture(scope="module")
def catalogue(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalogue]:
    home = tmp_path_factory.mktemp("archives-of-spectra")
    server = start_server(home)
    use_sample_archives(
        Table(stack.outputs.table_name, stack.session.client("dynamodb")), stack.session, server.url
    )
    _scale_waits(stack, 0.1)
    yield Catalogue(stack, server.url)
    _scale_waits(stack, 1)
    forget(home)


def _scale_waits(stack: Stack, scale: float) -> None:
    """Let the state machines' retries wait less: what is tested is how often, not how long."""
    stack.cloud.configure("stepfunctions._SFN_WAIT_SCALE", scale)


@pytest.fixture(autouse=True)
def calm(catalogue: Catalogue) -> Iterator[None]:
    stage(catalogue.server_url)
    yield
    stage(catalogue.server_url)


def table_of(catalogue: Catalogue) -> Table:
    return Table(catalogue.stack.outputs.table_name, catalogue.stack.session.client("dynamodb"))


def kept(catalogue: Catalogue, nova_id: str) -> list[dict[str, Any]]:
    """Return what stands under a nova, without the records of runs."""
    rows = table_of(catalogue).query_all(Key("PK").eq(nova_id), consistent=True)
    return [row for row in rows if not row["SK"].startswith((keys.JOB_RUN_PREFIX, "ATTEMPT#"))]


def spectra(catalogue: Catalogue, nova_id: str) -> list[dict[str, Any]]:
    return [row for row in kept(catalogue, nova_id) if row["SK"].startswith("PRODUCT#SPECTRA#")]


def settled(catalogue: Catalogue, name: str) -> str:
    """Have a nova initialized, wait until all that this has set off is done, and return its id."""
    made = catalogue.initialize(name)

    def discovered() -> bool:
        runs = catalogue.get(f"/novae/{made['nova_id']}/job-runs?limit=100")["items"]
        mine = [run for run in runs if run["correlation_id"] == made["correlation_id"]]
        return WORKFLOW in {run["workflow_name"] for run in mine if run["status"] != "RUNNING"}

    wait_until(discovered, 240, f"the discovery for {name}", interval=0.5)
    at_rest(catalogue, made["nova_id"])
    return str(made["nova_id"])


def at_rest(catalogue: Catalogue, nova_id: str) -> None:
    """Wait until nothing is at work on a nova, nor on what is due, and nothing has just been started."""
    paths = (f"/novae/{nova_id}/job-runs?limit=100", "/job-runs?workflow=acquire_due_spectra&limit=100")
    seen: list[set[str]] = []

    def quiet() -> bool:
        runs = [run for path in paths for run in catalogue.get(path)["items"]]
        seen.append({run["job_run_id"] for run in runs})
        return all(run["status"] != "RUNNING" for run in runs) and len(seen) > 1 and seen[-1] == seen[-2]

    wait_until(quiet, 240, "all runs to end", interval=2)


def by_provider(run: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {entry["provider"]: entry for entry in run["result"]["providers"]}


def test_a_new_nova_has_its_spectra_discovered_and_their_acquisition_started(catalogue: Catalogue) -> None:
    made = catalogue.initialize("Nova Scorpii 2012")
    nova_id = made["nova_id"]

    def discovered() -> Any:
        runs = catalogue.get(f"/novae/{nova_id}/job-runs?limit=100")["items"]
        mine = [r for r in runs if r["correlation_id"] == made["correlation_id"]]
        done = {r["workflow_name"]: r for r in mine if r["status"] != "RUNNING"}
        return done if {"ingest_new_nova", WORKFLOW, "refresh_references"} <= set(done) else None

    runs = wait_until(discovered, 240, "ingest_new_nova, refresh_references and discovery")
    assert set(runs["ingest_new_nova"]["result"]["launched"]) == {"refresh_references", WORKFLOW}
    run = catalogue.get(f"/job-runs/{runs[WORKFLOW]['job_run_id']}")
    assert run["outcome"] == "DISCOVERED", run
    assert set(by_provider(run)) == set(PROVIDERS)
    assert {entry["status"] for entry in by_provider(run).values()} == {"OK"}
    assert len(attempts(run, "Ask a provider")) == len(PROVIDERS)
    found = {row["provider"]: row for row in spectra(catalogue, nova_id)}
    assert set(found) == {"ESO", "MAST", "BESS"}
    identity = "provider_product_id:ADP.2012-06-05T08:11:09.001"
    assert found["ESO"]["data_product_id"] == data_product_id_for("ESO", identity)
    if run["result"]["created"]:  # on a kept cloud they are known
        assert (run["result"]["created"], run["result"]["eligible"]) == (3, 3)
        assert run["result"]["acquisition_started"] is True

    def acquired() -> Any:
        return all(row["acquisition_status"] != "STUB" for row in spectra(catalogue, nova_id))

    wait_until(acquired, 240, "an attempt to acquire each of them")


def test_running_it_again_changes_nothing(catalogue: Catalogue) -> None:
    nova_id = settled(catalogue, "Nova Scorpii 2012")
    catalogue.run(WORKFLOW, {"nova_id": nova_id})
    at_rest(catalogue, nova_id)
    before = kept(catalogue, nova_id)
    run = catalogue.run(WORKFLOW, {"nova_id": nova_id})
    assert run["outcome"] == "DISCOVERED"
    assert (run["result"]["created"], run["result"]["eligible"]) == (0, 0)
    assert run["result"]["acquisition_started"] is False
    assert {p: entry["known"] for p, entry in by_provider(run).items()} == {
        "ESO": 1,
        "MAST": 1,
        "BESS": 1,
        "DONATION": 0,
    }
    at_rest(catalogue, nova_id)
    assert kept(catalogue, nova_id) == before


def test_two_discoveries_of_one_nova_at_once_make_each_product_once(catalogue: Catalogue) -> None:
    nova_id = settled(catalogue, "LPBK 1")
    table = table_of(catalogue)
    for row in spectra(catalogue, nova_id):
        # As if nobody had ever looked; the lock is passed by, so that the tasks themselves meet.
        table.delete({"PK": row["PK"], "SK": row["SK"]})
        for alias in table.query_all(Key("PK").eq(f"LOCATOR#{row['provider']}#{row['locator_identity']}")):
            table.delete({"PK": alias["PK"], "SK": alias["SK"]})
    function = "SourcebookPipeline-discover_spectra"

    run = asdict(TaskRun(WORKFLOW, str(uuid.uuid4()), "test", "arn:test", nova_id, "Ask a provider", 1))

    def once(provider: str) -> dict[str, Any]:
        asked = {"nova_id": nova_id, "provider": provider, "run": run}
        found: dict[str, Any] = invoke(catalogue.stack.session, function, asked)
        return found

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(once, ["ESO", "ESO", "BESS", "BESS"]))
    made = Counter[str]()
    for answer in answers:
        made[answer["provider"]] += answer["created"]
    assert made == {"ESO": 2, "BESS": 4}
    assert sum(answer["eligible"] for answer in answers) == 4, "what is public, told by the one that made it"
    rows = spectra(catalogue, nova_id)
    assert Counter(row["provider"] for row in rows) == {"ESO": 2, "BESS": 4}
    for row in rows:
        aliases = list(table.query_all(Key("PK").eq(f"LOCATOR#{row['provider']}#{row['locator_identity']}")))
        assert [alias["data_product_id"] for alias in aliases] == [row["data_product_id"]]

    arns = [catalogue.start(WORKFLOW, {"nova_id": nova_id}) for _ in range(2)]
    for arn in arns:
        catalogue.ended(arn)
        assert catalogue.run_of(arn)["result"]["created"] == 0
    assert len(spectra(catalogue, nova_id)) == 6


def test_one_provider_down_does_not_stop_the_others(catalogue: Catalogue) -> None:
    url = catalogue.server_url
    nova_id = settled(catalogue, "Nova Scorpii 2012")
    stage(
        url,
        {"path": "/astronomy/eso/tap/*", "drop": True, "times": None},
        {"path": "/astronomy/mast/*", "status": 401, "times": None},
    )
    run = catalogue.run(WORKFLOW, {"nova_id": nova_id})
    assert run["outcome"] == "DISCOVERED", run
    statuses = by_provider(run)
    assert {p: entry["status"] for p, entry in statuses.items()} == {
        "ESO": "DOWN",
        "MAST": "REJECTED",
        "BESS": "OK",
        "DONATION": "OK",
    }
    assert "DOWN" in statuses["ESO"]["reason"]
    failed = [a for a in attempts(run, "Ask a provider") if a[1] == "FAILED"]
    assert Counter(kind for _, _, kind in failed) == {"ArchiveUnavailable": 4, "ArchiveRejected": 1}

    stage(url, *({"path": f"/astronomy/{a}/*", "status": 503, "times": None} for a in ("eso", "mast", "ssa")))
    table = table_of(catalogue)
    providers = table.get({"PK": "ARCHIVE#SETTINGS", "SK": "PROVIDERS"})
    assert providers is not None
    without = [entry for entry in providers["providers"] if entry["provider"] != "DONATION"]
    table.put({**providers, "providers": without})
    try:
        run = catalogue.run(WORKFLOW, {"nova_id": nova_id})
    finally:
        table.put(providers)
    assert (run["status"], run["error_type"]) == ("FAILED", "NoProviderAnswered")
    assert "ESO DOWN" in run["error_message"]


def test_a_provider_that_wants_to_be_left_alone_is_found_again_later(catalogue: Catalogue) -> None:
    nova_id = settled(catalogue, "LPBK 4")
    stage(
        catalogue.server_url,
        {"path": "/astronomy/ssa/*", "status": 429, "retry_after": "1"},
        {"path": "/astronomy/eso/tap/*", "body": "<html><body>maintenance</body></html>"},
    )
    run = catalogue.run(WORKFLOW, {"nova_id": nova_id})
    assert {entry["status"] for entry in by_provider(run).values()} == {"OK"}
    kinds = Counter(kind for _, _, kind in attempts(run, "Ask a provider"))
    assert kinds == {None: 4, "ArchiveUnavailable": 2}, "each was asked a second time"


def test_a_donation_is_found_like_any_other_product(catalogue: Catalogue) -> None:
    nova_id = settled(catalogue, "LPBK 10")
    session = catalogue.stack.session
    bucket = catalogue.stack.outputs.bucket_name
    Donations(Objects(session.client("s3"), bucket), nova_id).give(
        "mine.fits", b"SIMPLE  =                    T", donor="Ada"
    )
    run = catalogue.run(WORKFLOW, {"nova_id": nova_id})
    statuses = by_provider(run)["DONATION"]
    assert (statuses["status"], statuses["found"]) == ("OK", 1)
    (row,) = [row for row in spectra(catalogue, nova_id) if row["provider"] == "DONATION"]
    assert row["provenance"]["donor"] == "Ada"
    at_rest(catalogue, nova_id)
