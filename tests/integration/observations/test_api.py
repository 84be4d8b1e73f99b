"""The five operations on observations."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import pytest
from click.testing import CliRunner

from sourcebook.api import observations as operations
from sourcebook.api.requests import Request
from sourcebook.api.responses import NotFound, problem
from sourcebook.errors import InvalidInput
from sourcebook_cli.main import main
from tests.integration.observations.memory import MemoryTable
from tests.integration.observations.world import World

OPERATIONS = {operation.path: operation for operation in operations.OPERATIONS}


class Client:
    def __init__(self) -> None:
        self.world = World(MemoryTable())
        self.world.declare("timo", 1)
        self.world.declare("other", 2)
        moment = datetime(2026, 1, 6, 2, tzinfo=UTC)
        for source_id, rate in (("timo", 4.5), ("other", 4.6)):
            self.world.scrape(
                source_id,
                moment,
                {("VCB", "deposit_online", "M0006"): rate, ("VCB", "home_loan", "-"): rate + 3},
            )

    def get(self, path: str, **query: str | int) -> tuple[int, Any]:
        event = {"routeKey": f"GET {path}", "rawQueryString": urlencode(query)}
        try:
            request = Request.of(event)
            operation = OPERATIONS[path]
            request.only(*operation.parameters)
            response = operation.handle(self.world.services, request)
        except (InvalidInput, NotFound) as error:
            response = problem(error, "c")
        return response.status, json.loads(
            response.to_gateway(correlation_id="c", gzip_accepted=False)["body"]
        )


@pytest.fixture
def client() -> Client:
    return Client()


def test_latest_answers_rows(client: Client) -> None:
    status, body = client.get("/latest", series_code="deposit_online", term_months=6)
    assert status == 200
    (row,) = body["items"]
    assert (row["bank_name"], row["rate_pct"], row["source_priority"]) == ("VCB", 4.5, 1)
    assert len(client.get("/latest")[1]["items"]) == 2
    assert client.get("/latest", series_code="deposit_online", bank_name="ACB")[1]["items"] == []


def test_history_answers_points(client: Client) -> None:
    status, body = client.get("/history", bank_name="VCB", series_code="deposit_online", term_months=6)
    assert status == 200
    assert [(p["scraped_at"], p["rate_pct"]) for p in body["items"]] == [("2026-01-06T02:00:00.000Z", 4.5)]
    days = {"from": "2026-01-07", "to": "2026-01-09"}
    assert client.get("/history", bank_name="VCB", series_code="home_loan", **days)[1]["items"] == []


def test_banks_and_series_are_listed(client: Client) -> None:
    assert client.get("/banks")[1] == {"items": [{"bank_name": "VCB"}], "next_cursor": None}
    assert [s["series_code"] for s in client.get("/series")[1]["items"]] == ["deposit_online", "home_loan"]


@pytest.mark.parametrize(
    ("path", "query", "parameter"),
    [
        ("/latest", {"series_code": "home_loan", "term_months": 6}, "term_months"),
        ("/latest", {"term_months": "soon"}, "term_months"),
        ("/latest", {"max_age_days": 0}, "max_age_days"),
        ("/latest", {"cursor": "x"}, "cursor"),
        ("/latest", {"colour": "red"}, "colour"),
        ("/history", {"series_code": "deposit_online"}, "bank_name"),
        ("/history", {"bank_name": "VCB"}, "series_code"),
        ("/history", {"bank_name": "VCB", "series_code": "deposit_online"}, "term_months"),
        ("/history", {"bank_name": "VCB", "series_code": "home_loan", "term_months": 6}, "term_months"),
        ("/history", {"bank_name": "VCB", "series_code": "home_loan", "from": "6/1/2026"}, "from"),
        ("/history", {"bank_name": "VCB", "series_code": "home_loan", "to": "2026-02-30"}, "to"),
        ("/banks", {"limit": 3}, "limit"),
    ],
)
def test_a_wrong_parameter_is_named(client: Client, path: str, query: dict[str, Any], parameter: str) -> None:
    status, body = client.get(path, **query)
    assert (status, body["parameter"]) == (400, parameter)


def test_an_unknown_series_is_not_found_and_says_where_the_known_ones_are(client: Client) -> None:
    for path, query in (("/latest", {}), ("/history", {"bank_name": "VCB", "term_months": "6"})):
        status, body = client.get(path, series_code="gold", **query)
        assert status == 404
        assert "GET /series lists them" in body["detail"]


def test_the_history_of_an_unknown_bank_is_not_found(client: Client) -> None:
    for name in ("ACB", "x" * 5_000):
        status, _ = client.get("/history", bank_name=name, series_code="deposit_online", term_months=6)
        assert status in {400, 404}
    assert client.get("/history", bank_name="ACB", series_code="home_loan")[0] == 404


def test_what_only_removed_sources_had_is_not_listed(client: Client) -> None:
    moment = datetime(2026, 1, 7, 2, tzinfo=UTC)
    client.world.declare("third", 3)
    client.world.scrape("third", moment, {("ACB", "deposit_branch", "M0006"): 4.0})
    assert [b["bank_name"] for b in client.world.reader.banks()] == ["ACB", "VCB"]
    client.world.remove("third")
    assert [b["bank_name"] for b in client.world.reader.banks()] == ["VCB"]
    assert [s["series_code"] for s in client.world.reader.series()] == ["deposit_online", "home_loan"]
    client.world.declare("third", 3)
    assert [b["bank_name"] for b in client.world.reader.banks()] == ["ACB", "VCB"]


@pytest.mark.parametrize(
    ("option", "value", "meant"), [("--bank", "vbc", "VCB"), ("--series", "deposit_onlin", "deposit_online")]
)
def test_the_command_line_says_which_name_may_have_been_meant(
    client: Client, monkeypatch: pytest.MonkeyPatch, option: str, value: str, meant: str
) -> None:
    monkeypatch.setattr("sourcebook_cli.rates._reader", lambda _aws: client.world.reader)
    result = CliRunner().invoke(main, ["rates", "latest", option, value])
    assert result.exit_code != 0
    assert f"Did you mean {meant}?" in result.output
    assert CliRunner().invoke(main, ["rates", "latest", "--bank", "VCB"]).exit_code == 0
