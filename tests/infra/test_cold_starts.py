"""What each function loads and makes before its first event; each is waited for, so the lists are short."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

import pytest

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
    "acquire_spectrum": (FETCHING, {"dynamodb", "s3"}),
    "analyze_sentiment": (LABELLING, {"dynamodb"}),
    "api": ({"boto3"}, {"dynamodb"}),
    "claim_spectra": (CHECKING, {"dynamodb"}),
    "date_discovery": (CHECKING, {"dynamodb"}),
    "discover_spectra": (FETCHING, {"dynamodb", "s3"}),
    "dispatch_sources": ({"boto3"}, {"dynamodb", "sqs"}),
    "establish_nova": (CHECKING, {"dynamodb"}),
    "fetch_references": (FETCHING, {"dynamodb", "s3", "secretsmanager"}),
    "fetch_sources": (FETCHING, {"dynamodb", "events", "sns"}),
    "find_nova": (CHECKING, {"dynamodb"}),
    "generate_ideas": (CHECKING, {"dynamodb"}),
    "group_headlines": (CHECKING, {"dynamodb", "events"}),
    "heal_articles": (CHECKING, {"dynamodb", "sns"}),
    "hold_for_review": (CHECKING, {"dynamodb", "s3", "sns"}),
    "hold_spectrum": (CHECKING, {"dynamodb", "s3", "sns"}),
    "invalidate_sentiment": ({"boto3"}, {"dynamodb"}),
    "load_spectrum": (CHECKING, {"dynamodb"}),
    "page": (set(), set()),
    "plan_discovery": (FETCHING, {"dynamodb"}),
    "prepare_nova": (CHECKING, {"dynamodb"}),
    "reanalyze_articles": (LABELLING, {"dynamodb"}),
    "rebuild_canonical": ({"boto3"}, {"dynamodb"}),
    "rebuild_photometry": (CHECKING | {"numpy", "pyarrow"}, {"dynamodb", "s3"}),
    "reconcile_names": (CHECKING, {"dynamodb"}),
    "record_spectrum": (CHECKING, {"dynamodb"}),
    "refresh_sentiment": ({"boto3"}, {"dynamodb"}),
    "resolve_name": ({"asyncio", "boto3", "httpx"}, {"dynamodb"}),
    "store_references": (CHECKING, {"dynamodb", "s3", "sns"}),
    "sweep_spectra": (CHECKING, {"dynamodb", "stepfunctions"}),
    "trigger_grouping": (CHECKING, {"dynamodb", "events"}),
    "validate_photometry": (CHECKING, {"dynamodb", "s3"}),
    "validate_spectrum": (CHECKING | {"PIL", "astropy", "numpy"}, {"dynamodb", "s3"}),
}
"""By function: the heavy modules that its import loads, and the services whose clients it makes."""

_LOADED = f"""
import gc, json, sys
import handler
base = sys.modules.get("botocore.client")
clients = [one for one in gc.get_objects() if base and isinstance(one, base.BaseClient)]
print(json.dumps([
    [name for name in {HEAVY!r} if name in sys.modules],
    [one.meta.service_model.service_name for one in clients],
]))
"""


@pytest.fixture(scope="module")
def loaded(local: Assembly) -> dict[str, tuple[set[str], set[str]]]:
    """What the start of each function has loaded and made."""

    def load(start: Start) -> tuple[set[str], set[str]]:
        modules, clients = json.loads(start.run(_LOADED).stdout.splitlines()[-1])
        return set(modules), set(clients)

    found = starts(local)
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(found, pool.map(load, found.values()), strict=True))


def test_a_start_loads_and_makes_what_is_listed_and_nothing_else(
    loaded: dict[str, tuple[set[str], set[str]]],
) -> None:
    assert loaded == EXPECTED
