"""The API is what its description says: schemathesis calls every operation, and finds nothing.

Seeded and bounded, so that it finds nothing today that it would not have found yesterday. SOURCEBOOK_EXAMPLES
sets how many cases each operation gets.
"""

from __future__ import annotations

import itertools
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
import schemathesis
from hypothesis import HealthCheck as Unhurried
from hypothesis import Phase, settings
from hypothesis import strategies as st
from moto import mock_aws
from schemathesis.checks import negative_data_rejection

from sourcebook.api.access import AccessControl
from sourcebook.api.feeds import manager
from sourcebook.api.idempotency import IdempotentRequests
from sourcebook.api.openapi import description
from sourcebook.api.parts import Services, operations
from sourcebook.api.routes import Api
from sourcebook.api.schemas import EXAMPLES
from sourcebook.api.tokens import TokenStore
from sourcebook.api.workflows import INPUTS
from sourcebook.bucket.objects import Objects
from sourcebook.direct import with_direct_calls
from sourcebook.feeds.manage import FeedManager
from sourcebook.novae.establish import NovaEstablisher
from sourcebook.novae.resolvers.identity import Identity
from sourcebook.novae.store import NovaStore
from sourcebook.records.quarantine import PENDING
from sourcebook.runs.started import StartedRuns
from sourcebook.sentiment.subjects import SubjectRegistry, parse_subjects
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.uploads.desk import UploadDesk
from sourcebook.uploads.model import NewUpload
from tests.integration.api.gateway import Gateway
from tests.integration.api.test_products import Client as Spectra
from tests.templates import table_definition
from tests.unit.api.stored import article_item, put_article, put_source
from tests.unit.fits import made

pytestmark = pytest.mark.integration

NOW = datetime(2026, 11, 27, 21, 0, tzinfo=UTC)
DEDUP = "a948904f2f0f479b8f8197694b30184b"
EVENT = "5b0e6c0f4d0f0f4a6c1f5f7f2f8a9b3c"
RUN = "5a4fce02-3b02-4b5c-8d06-541d9f2d4f60"
CASE = "307cc500-9fea-55e4-b358-c8230275cf7e"
NAMES = tuple(INPUTS)

GATEWAY = Gateway()
API = schemathesis.openapi.from_dict(description(operations(), names=NAMES))
API.app = GATEWAY
KNOWN: dict[str, str] = {"key": DEDUP, "feed_id": "harbor-ledger", "tool_id": "AAPL", "event_id": EVENT}
KNOWN |= {"job_run_id": RUN, "quarantine_id": CASE, "upload_id": RUN}
UPLOADED = {
    "nova_id": "b6c05a41-2227-5387-8f82-9085f39c71d6",
    "kind": "photometry",
    "file_name": "night.csv",
    "byte_length": 9,
    "sha256": "2f" * 32,
}
SEEN: defaultdict[str, set[int]] = defaultdict(set)
HEADERS: dict[str, str] = {}

schemathesis.openapi.format(
    "feed-url", st.integers(0, 20).map(lambda number: f"https://ledger{number}.example/feed.xml")
)
schemathesis.openapi.format("star-name", st.integers(1, 999).map(lambda number: f"V{number} Sgr"))
schemathesis.openapi.format("values", st.sampled_from(["harbor-ledger", "en,vi"]))
schemathesis.openapi.format("search", st.sampled_from(["harbor", "-strike", '"record orders" OR ferry']))
schemathesis.openapi.format("bands", st.sampled_from(["V", "B,V"]))
schemathesis.openapi.format("opml", st.just(EXAMPLES["OpmlDocument"]))
schemathesis.openapi.format("cursor", st.text("abcDEF0123-_", min_size=1, max_size=80))


class Loud:
    """A log that raises what was not meant to happen."""

    def info(self, msg: str, *, extra: Any) -> None: ...

    def error(self, msg: str, *, exc_info: BaseException, extra: Any) -> None:
        raise AssertionError(f"{msg}: {extra}") from exc_info


class Started:
    def __call__(self, workflow: str, payload: Mapping[str, Any], name: str) -> str:
        return f"arn:aws:states:us-east-1:123456789012:execution:SourcebookPipeline-{workflow}:{name}"


@pytest.fixture(scope="module", autouse=True)
def served() -> Iterator[None]:
    """The API over a table that holds one of everything."""
    with mock_aws():
        client = boto3.client("dynamodb", region_name="us-east-1")
        definition = table_definition()
        client.create_table(**definition)
        table = Table(definition["TableName"], with_direct_calls(client))
        fill(table)
        storage = boto3.client("s3", region_name="us-east-1")
        storage.create_bucket(Bucket="sourcebook-data")
        objects = Objects(storage, "sourcebook-data")
        start = Started()
        services = Services(table=table, start=start, workflows=NAMES, objects=lambda: objects, environ={})
        services.made[manager] = FeedManager(table, parallel=1)
        api = Api(AccessControl(TokenStore(table), public_read=False), IdempotentRequests(table), services)
        spectra = Spectra(api, table, objects, KNOWN["nova_id"])
        objects.write("quarantine/spectra/x/primary.fits", made.bess(), "application/fits")
        wanted = NewUpload.read({"donor": "Ada", "files": [UPLOADED]})
        UploadDesk(table, objects, start).open(RUN, wanted, by=None)
        KNOWN["data_product_id"] = spectra.valid_spectrum(made.eso())
        GATEWAY.answer = lambda event: api.answer(event, Loud())
        _, text = TokenStore(table).create("schemathesis", ["write"], timedelta(days=1))
        HEADERS.update({"authorization": f"Bearer {text}", "accept-encoding": "identity"})
        yield
        GATEWAY.answer = None


def fill(table: Table) -> None:
    put_article(table, article_item(DEDUP, NOW, status="analyzed", sentiment="positive", tags=("AAPL",)))
    put_article(table, article_item(f"{1:032x}", NOW))
    put_source(table, "to-be-removed", "2099-01-01T00:00:00Z")
    table.put(
        {**keys.observed_series("home_loan"), "series_code": "home_loan", "kind": "loan", "name": "Home"}
    )
    put_source(table, "circuit-review", "2099-01-01T00:00:00Z")  # the example; it is removed as such
    put_source(table, "harbor-ledger", "2099-01-01T00:00:00Z", last_cause="ok")
    table.put(
        {**keys.source_fetch("harbor-ledger", "2026-11-27T21:00:00Z"), "verdict": "changed", "entries": 3}
    )
    event = {
        **keys.event(EVENT),
        "status": "active",
        "timestamp": "2026-11-27T21:00:00Z",
        "event_id": EVENT,
        "headline": "Orders double",
        "tickers": ["AAPL"],
        "member_count": 1,
        "members": [DEDUP],
        **dict.fromkeys(
            ("first_published_at", "last_published_at", "created_at", "updated_at"), "2026-11-27T21:00:00Z"
        ),
    }
    table.put(event)
    SubjectRegistry(table).register(parse_subjects([{"tool_id": "AAPL", "name": "Apple", "kind": "company"}]))
    established = NovaEstablisher(NovaStore(table)).establish(
        "Nova Sco 2012", Identity("simbad", "simbad:v1324 sco", "V1324 Sco", 267.72458, -32.62236, "No*")
    )
    assert established.nova_id is not None
    KNOWN["nova_id"] = established.nova_id
    StartedRuns(table).start(lambda *_: "arn", "initialize_nova", {}, RUN, correlation_id="c")
    table.put(
        {
            **keys.quarantined(CASE),
            "quarantine_id": CASE,
            "workflow_name": "initialize_nova",
            "context_s3_key": "quarantine/spectra/x/context.json",
            "subject": "B",
            "reason_code": "OTHER",
            "message": "m",
            "context": {},
            "occurrences": 1,
            "manual_review_status": "PENDING",
            "status": PENDING,
            "timestamp": "2026-11-27T21:00:00.000Z",
            "created_at": "2026-11-27T21:00:00Z",
            "updated_at": "2026-11-27T21:00:00Z",
            "retry_input": {"candidate_name": "B"},
        }
    )


counter = itertools.count()

# Later than `since`; one that there is; none but analyzed beside a search; by rank only beside words.
_SEARCHED = ("until", "subject", "status", "order")
AGAINST_ONE_ANOTHER = {
    "listArticles": _SEARCHED,
    "followArticlesAtom": _SEARCHED,
    "followArticlesJson": _SEARCHED,
    **{
        f"{way}Photometry{kind}": ("until",)
        for way, kind in (("get", ""), *(("download", kind) for kind in ("Csv", "Votable", "Aavso")))
    },
    "getHistory": ("to", "term_months"),  # not before `from`; a loan has no terms
    "getLatest": ("term_months",),
    "listObservations": ("term_months", "until"),
    "findNovae": ("name", "ra", "dec", "radius", "constellation"),  # a name, a place, or filters
}
"""Parameters that may be wrong beside others, which no schema can say."""
NEEDED = {"getHistory": {"series_code": "home_loan"}}


def leave_out(case: Any) -> None:
    """Take away the parameters that may be wrong beside others."""
    name = case.operation.definition.raw["operationId"]
    left_out = {"cursor", *AGAINST_ONE_ANOTHER.get(name, ())}  # only the cursor that a page gave is right
    case.query = {key: value for key, value in (case.query or {}).items() if key not in left_out}
    case.query |= NEEDED.get(name, {})


@API.hook
def map_case(context: Any, case: Any) -> Any:
    """Let every second request ask for something that is there, and keep what no schema can say."""
    if next(counter) % 2 and case.path_parameters:
        case.path_parameters = {name: KNOWN.get(name, value) for name, value in case.path_parameters.items()}
    if case.method == "DELETE" and case.path_parameters.get("feed_id") == KNOWN["feed_id"]:
        case.path_parameters["feed_id"] = "to-be-removed"
    # What stands as an example in the description has no mode.
    if case.meta is not None and not case.meta.generation.mode.is_positive:
        return case
    leave_out(case)
    name = case.operation.definition.raw["operationId"]
    if name == "addFeed":
        case.body.pop("site", None)  # nothing outside is asked here
        case.body["url"] = "https://ledger.example/feed.xml"
    elif name == "reviewQuarantineCase":
        # What a decision wants beside it depends on the decision and on the case.
        case.body = {"decision": "CLEARED_TERMINAL", "reviewer": case.body["reviewer"]}
    elif name == "openUpload":
        # Which suffix and how many bytes depends on the kind.
        case.body["files"] = [UPLOADED]
    elif name == "createAlert":
        case.body = {"kind": "run", "name": "A run"}  # which fields there must be depends on the kind
    elif name == "startWorkflow_ingest_photometry" and isinstance(case.body.get("name"), str):
        case.body["name"] = "V1324 Sco"  # what is a name, its format says; it is lost among alternatives
    if "Idempotency-Key" in (case.headers or {}):
        case.headers["Idempotency-Key"] = f"key-{next(counter)}"
    return case


@API.parametrize()
@settings(
    max_examples=int(os.environ.get("SOURCEBOOK_EXAMPLES", "8")),
    derandomize=True,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(Unhurried),
)
def test_every_operation_is_as_described(case: Any) -> None:
    if case.meta is None or case.meta.generation.mode.is_positive:
        leave_out(case)  # values of earlier answers come in after the hook
    response = case.call(headers=HEADERS)
    SEEN[case.operation.definition.raw["operationId"]].add(response.status_code)
    # The protocols of the Virtual Observatory say in a VOTable with status 200 what is wrong with a question.
    excluded = [negative_data_rejection] if case.path.startswith("/vo/") else []
    case.validate_response(response, excluded_checks=excluded, headers=HEADERS)


def test_every_operation_was_reached() -> None:
    assert SEEN, "run the whole module"
    missed = {
        name: statuses for name, statuses in SEEN.items() if not any(200 <= one < 300 for one in statuses)
    }
    assert missed == {}
