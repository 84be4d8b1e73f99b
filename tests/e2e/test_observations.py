"""Pages of figures, from the sample server through the deployed stack to the HTTP API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sourcebook.observations.registry import ObservationSources
from sourcebook.records.source import Source
from sourcebook.sources.model import SourceSpec
from sourcebook_local.folder import start_server, stop_servers
from sourcebook_local.samples_observations import PATH, sample_observation_sources
from tests.e2e.sources import everything, fetch, register, registry, stage
from tests.e2e.stack import Stack, wait_until

FIRST, SECOND, THIRD = "lai-suat-ben-xuan", "harbour-rates", "zinsvergleich"


@pytest.fixture(scope="module")
def server_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("observations")
    yield start_server(home).url
    stop_servers(home)


@pytest.fixture(scope="module")
def specs(server_url: str) -> dict[str, SourceSpec]:
    return {spec.source_id: spec for spec in sample_observation_sources(server_url)}


@pytest.fixture(scope="module")
def fetched(stack: Stack, specs: dict[str, SourceSpec]) -> dict[str, Source]:
    return fetch(stack, register(stack, specs.values()))


def latest(stack: Stack, **query: str | int) -> list[dict[str, Any]]:
    answer = stack.api.get("/latest", params=query)
    assert answer.status_code == 200, answer.text
    rows: list[dict[str, Any]] = answer.json()["items"]
    return rows


def six_months(stack: Stack) -> dict[str, Any]:
    (row,) = latest(stack, series_code="deposit_online", term_months=6, bank_name="Bến Xuân")
    return row


def observations(stack: Stack) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        k: item for k, item in everything(stack).items() if item.get("entity_type") == {"S": "Observation"}
    }


def test_three_sources_of_three_forms_give_one_answer_each(stack: Stack, fetched: dict[str, Source]) -> None:
    assert {id_: source.last_cause for id_, source in fetched.items()} == dict.fromkeys(fetched, "ok")
    assert {id_: source.last_entries for id_, source in fetched.items()} == {FIRST: 26, SECOND: 10, THIRD: 9}

    row = six_months(stack)

    assert (row["rate_pct"], row["raw_value"], row["parse_warnings"]) == (4.5, "4,5¹", ["footnote"])
    assert (row["source_id"], row["source_priority"], row["decided_by"]) == (FIRST, 1, "priority")
    assert [c["source_id"] for c in row["sources_considered"]] == [FIRST, SECOND]
    assert len(observations(stack)) == 45


def test_the_api_serves_history_banks_series_and_how_fresh_it_is(
    stack: Stack, fetched: dict[str, Source]
) -> None:
    history = stack.api.get(
        "/history", params={"bank_name": "Bến Xuân", "series_code": "deposit_online", "term_months": 6}
    ).json()
    # The sources' calendars may stand on two days at this moment; then there is one point for each.
    assert {point["source_id"] for point in history["items"]} <= {FIRST, SECOND}
    assert len({point["observed_day"] for point in history["items"]}) == len(history["items"])
    banks = [bank["bank_name"] for bank in stack.api.get("/banks").json()["items"]]
    assert "Grünwald & Söhne; Privatbank" in banks
    assert {s["series_code"]: s["kind"] for s in stack.api.get("/series").json()["items"]} == {
        "deposit_online": "deposit",
        "home_loan": "loan",
    }
    meta = stack.api.get("/meta/latest").json()
    assert {s["source_id"]: s["rows"] for s in meta["sources"]} == {FIRST: 26, SECOND: 10, THIRD: 9}
    refused = stack.api.get("/latest", params={"series_code": "home_loan", "term_months": 6})
    assert refused.status_code == 400
    assert "loan" in refused.json()["detail"]
    assert stack.api.get("/history").status_code == 400


def test_the_page_is_kept_by_its_content(stack: Stack, fetched: dict[str, Source]) -> None:
    bucket = stack.session.resource("s3").Bucket(stack.outputs.bucket_name)
    kept = [o for o in bucket.objects.filter(Prefix=f"snapshots/{SECOND}/")]  # noqa: C416 - a collection
    digest = next(
        s["snapshot"] for s in stack.api.get("/meta/latest").json()["sources"] if s["source_id"] == SECOND
    )
    assert [o.key for o in kept] == [f"snapshots/{SECOND}/{digest}"]


def test_an_unchanged_page_changes_nothing_but_the_sources_state(
    stack: Stack, fetched: dict[str, Source]
) -> None:
    before = observations(stack)
    after = fetch(stack, registry(stack).get_many(fetched))
    assert {source.last_cause for source in after.values()} <= {"not_modified", "ok"}
    assert before.items() <= observations(stack).items() or "ok" in {s.last_cause for s in after.values()}


def test_a_login_page_and_a_changed_layout_have_a_cause_and_store_nothing(
    stack: Stack, fetched: dict[str, Source], server_url: str, specs: dict[str, SourceSpec]
) -> None:
    before = observations(stack)
    current = registry(stack).get_many([FIRST])
    stage(
        server_url,
        {
            "path": f"{PATH}{FIRST}.html",
            "status": 200,
            "body": "<html><title>Đăng nhập</title><form><input type=password></form>",
        },
    )
    after = fetch(stack, current)
    assert after[FIRST].last_cause == "login_page"
    assert "login page" in (after[FIRST].last_error or "")
    assert observations(stack) == before
    wait_until(
        lambda: any("scrape_anomaly" in line for line in stack.logs("fetch_sources")),
        20,
        "the anomaly's log line",
    )
    stage(server_url)


def test_a_changed_priority_and_a_removed_source_are_rebuilt_by_the_state_machine(
    stack: Stack, fetched: dict[str, Source], specs: dict[str, SourceSpec]
) -> None:
    sources = ObservationSources(registry(stack))
    assert six_months(stack)["source_id"] == FIRST

    declared = sources.declare(specs[FIRST].model_copy(update={"priority": 9}))
    assert declared.rebuild
    counts = stack.run_state_machine("rebuild_canonical", {"source_ids": [FIRST]})
    assert counts["changed"] >= 26
    assert (six_months(stack)["source_id"], six_months(stack)["rate_pct"]) == (SECOND, 4.6)

    assert sources.remove(SECOND)
    stack.run_state_machine("rebuild_canonical", {"source_ids": [SECOND]})
    row = six_months(stack)
    assert (row["source_id"], row["source_priority"], row["decided_by"]) == (FIRST, 9, "only_source")

    assert sources.declare(specs[SECOND]).rebuild
    sources.declare(specs[FIRST])
    stack.run_state_machine("rebuild_canonical", {})
    assert six_months(stack)["source_id"] == FIRST
    assert stack.run_state_machine("rebuild_canonical", {})["changed"] == 0
