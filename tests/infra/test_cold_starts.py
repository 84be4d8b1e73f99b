"""What each function loads and makes before its first event; each is waited for, so the lists are short."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

import pytest

from tests.first_events import FIRST_EVENT, first_events
from tests.starts import Start, starts

if TYPE_CHECKING:
    from tests.infra.conftest import Assembly

pytestmark = pytest.mark.infra

HEAVY: Final = (
    "PIL",
    "asyncio",
    "astropy",
    "aws_lambda_powertools.event_handler",
    "aws_lambda_powertools.utilities.parser",
    "boto3",
    "feedparser",
    "httpx",
    "numpy",
    "onnxruntime",
    "pyarrow",
    "pydantic",
    "tokenizers",
    "vaderSentiment",
)
"""Modules that take 8 ms of CPU or more; bench/cold_starts.py measures them."""

CHECKING: Final = {"boto3", "pydantic"}
FETCHING: Final = CHECKING | {"asyncio", "httpx"}
LABELLING: Final = CHECKING | {"numpy", "onnxruntime", "tokenizers"}

EXPECTED: Final[dict[str, tuple[set[str], set[str]]]] = {
    "acquire_spectrum": ({"asyncio", "boto3", "httpx"}, {"dynamodb", "s3"}),
    "analyze_sentiment": (LABELLING, {"dynamodb"}),
    "api": ({"boto3"}, {"dynamodb"}),
    "claim_spectra": ({"boto3"}, {"dynamodb"}),
    "close_runs": ({"boto3"}, {"dynamodb", "stepfunctions"}),
    "curate_nova": ({"boto3", "numpy", "pyarrow"}, {"dynamodb", "s3"}),
    "date_discovery": ({"boto3"}, {"dynamodb"}),
    "discover_spectra": (FETCHING, {"dynamodb", "s3"}),
    "dispatch_sources": ({"boto3"}, {"dynamodb", "sqs"}),
    "establish_nova": ({"boto3"}, {"dynamodb"}),
    "export_days": ({"boto3", "numpy", "pyarrow"}, {"dynamodb", "s3"}),
    "fetch_references": ({"asyncio", "boto3", "httpx"}, {"dynamodb", "s3", "secretsmanager"}),
    "fetch_sources": (FETCHING, {"dynamodb"}),
    "find_nova": ({"boto3"}, {"dynamodb"}),
    "generate_ideas": (CHECKING, {"dynamodb"}),
    "group_headlines": (CHECKING, {"dynamodb"}),
    "heal_articles": (CHECKING, {"dynamodb"}),
    "hold_for_review": ({"boto3"}, {"dynamodb", "s3", "sns"}),
    "hold_spectrum": ({"boto3"}, {"dynamodb", "s3", "sns"}),
    "index_articles": ({"boto3"}, {"dynamodb"}),
    "invalidate_sentiment": ({"boto3"}, {"dynamodb"}),
    "load_spectrum": ({"boto3"}, {"dynamodb"}),
    "page": (set(), set()),
    "plan_discovery": (FETCHING, {"dynamodb"}),
    "prepare_nova": ({"boto3"}, {"dynamodb"}),
    "reanalyze_articles": (LABELLING, {"dynamodb"}),
    "rebuild_canonical": ({"boto3"}, {"dynamodb"}),
    "rebuild_photometry": ({"boto3", "numpy", "pyarrow"}, {"dynamodb", "s3"}),
    "reconcile_names": ({"boto3"}, {"dynamodb"}),
    "record_spectrum": ({"boto3"}, {"dynamodb"}),
    "refresh_sentiment": ({"boto3"}, {"dynamodb"}),
    "resolve_name": ({"asyncio", "boto3", "httpx"}, {"dynamodb"}),
    "store_references": ({"boto3"}, {"dynamodb", "s3", "sns"}),
    "sweep_spectra": ({"boto3"}, {"dynamodb", "stepfunctions"}),
    "trigger_grouping": (CHECKING, {"dynamodb"}),
    "validate_photometry": ({"boto3"}, {"dynamodb", "s3"}),
    "validate_spectrum": ({"PIL", "astropy", "boto3", "numpy"}, {"dynamodb", "s3"}),
}
"""By function: the heavy modules that its import loads, and the services whose clients it makes."""

_LOADED = f"""
import gc, json, sys
def collections():
    return [generation["collections"] for generation in gc.get_stats()]
young, _, old = collections()
import handler
later = collections()
rested = [later[0] - young < 10 and later[2] == old, gc.isenabled(), gc.get_freeze_count() > 1_000]
gc.unfreeze()
base = sys.modules.get("botocore.client")
clients = [one for one in gc.get_objects() if base and isinstance(one, base.BaseClient)]
print(json.dumps([
    [name for name in {HEAVY!r} if name in sys.modules],
    [one.meta.service_model.service_name for one in clients],
    rested,
]))
"""


Loaded = tuple[set[str], set[str], tuple[bool, ...]]


@pytest.fixture(scope="module")
def loaded(local: Assembly) -> dict[str, Loaded]:
    """What the start of each function has loaded and made, and how the collector was meanwhile."""

    def load(start: Start) -> Loaded:
        modules, clients, rested = json.loads(start.run(_LOADED).stdout.splitlines()[-1])
        return set(modules), set(clients), tuple(rested)

    found = starts(local)
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(found, pool.map(load, found.values()), strict=True))


def test_a_start_loads_and_makes_what_is_listed_and_nothing_else(loaded: dict[str, Loaded]) -> None:
    assert {name: (modules, clients) for name, (modules, clients, _) in loaded.items()} == EXPECTED


def test_the_collector_rests_while_a_function_starts_and_works_afterwards(loaded: dict[str, Loaded]) -> None:
    assert {name: rested for name, (_, _, rested) in loaded.items()} == dict.fromkeys(EXPECTED, (True,) * 3)


_ANSWER = f"""
{FIRST_EVENT}
import handler
print(json.dumps(handler.handler(json.loads(os.environ["EVENT"]), Context())))
"""


def test_what_is_put_off_at_the_start_is_there_for_the_first_event(local: Assembly) -> None:
    found = starts(local)
    with first_events() as events:
        for name, first in events.items():
            first.prepare()
            environment = {**first.environment, "EVENT": json.dumps(first.event)}
            written = found[name].run(_ANSWER, environment=environment).stdout
            assert first.holds(json.loads(written.splitlines()[-1])), written
