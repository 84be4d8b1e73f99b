"""What is due is found at any size, and handed to one run and to no other."""

from __future__ import annotations

import re
import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
from aws_lambda_powertools import Logger

from sourcebook.clock import epoch_seconds, isoformat
from sourcebook.records.spectrum import IdentityKind, Locator, LocatorKind, SpectrumProduct
from sourcebook.spectra.load import LEASE, SpectrumLoader
from sourcebook.spectra.messages import ClaimedSpectrum, LoadDecision, LoadSpectrum
from sourcebook.spectra.products import INDEX_ATTRIBUTES, spectrum_item
from sourcebook.spectra.sweep import LOCK, WORKFLOW, Sweep, claim_spectra, sweep_spectra
from sourcebook.table import keys

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from sourcebook.table.client import Table
    from tests.integration.astronomy import Clock

Claim: TypeAlias = "Callable[[int], tuple[ClaimedSpectrum, ...]]"

pytestmark = pytest.mark.integration


def add(
    table: Table, clock: Clock, number: int, *, due: datetime | None = None, novae: int = 7
) -> SpectrumProduct:
    product = SpectrumProduct(
        nova_id=str(uuid.UUID(int=number % novae)),
        data_product_id=str(uuid.UUID(int=10_000 + number)),
        provider="LOOP",
        locator_identity=f"provider_product_id:{number}",
        identity_kind=IdentityKind.NATIVE_ID,
        locators=(Locator(kind=LocatorKind.URL, value=f"https://provider.example/{number}"),),
        next_eligible_attempt_at=due,
        created_at=clock.now - timedelta(minutes=5, seconds=number),
        updated_at=clock.now,
    )
    table.put(spectrum_item(product))
    return product


@pytest.fixture
def claim(table: Table, clock: Clock) -> Claim:
    return lambda most: claim_spectra(table, Logger(service="test"), most, clock).claimed


@dataclass
class Started:
    """Stands where Step Functions is: remembers what it was asked to start."""

    calls: list[tuple[str, Mapping[str, Any], str]] = field(default_factory=list)

    def __call__(self, workflow: str, payload: Mapping[str, Any], name: str) -> str:
        self.calls.append((workflow, payload, name))
        return f"arn:{name}"


def asked(product: SpectrumProduct) -> LoadSpectrum:
    return LoadSpectrum(nova_id=product.nova_id, data_product_id=product.data_product_id)


def test_a_thousand_are_claimed_once_each_by_two_sweeps_that_take_turns(table: Table, clock: Clock) -> None:
    products = [add(table, clock, number) for number in range(1_000)]
    names: Counter[str] = Counter()
    order: list[str] = []
    for turn in range(100):
        logger = Logger(service=("test", "other")[turn % 2])
        claimed = claim_spectra(table, logger, 80, clock).claimed
        if not claimed:
            break
        assert len(claimed) <= 80
        names.update(entry.name for entry in claimed)
        order += [entry.data_product_id for entry in claimed]
        clock.now += timedelta(seconds=20)
    assert len(names) == len(order) == 1_000
    assert set(names.values()) == {1}
    assert order[0] == products[-1].data_product_id, "the longest due first"
    assert all(re.fullmatch(r"[0-9A-Za-z_-]{1,80}", name) for name in names)


def test_a_claim_changes_when_a_sweep_looks_and_not_when_it_may_be_tried(
    table: Table, clock: Clock, claim: Claim
) -> None:
    product = add(table, clock, 1, due=clock.now - timedelta(minutes=1))
    (entry,) = claim(10)
    assert entry.name == f"{product.data_product_id}-0-20261127T205900Z"
    assert (entry.nova_id, entry.provider) == (product.nova_id, "LOOP")
    item = table.get(product.key)
    assert item is not None
    assert item["next_eligible_attempt_at"] == isoformat(clock.now - timedelta(minutes=1))
    assert item["timestamp"] == isoformat(clock.now + LEASE)
    loader = SpectrumLoader(table, clock)
    assert loader.load(asked(product)).decision is LoadDecision.ACQUIRE


def test_what_was_claimed_by_a_run_that_is_lost_is_due_again_under_another_name(
    table: Table, clock: Clock, claim: Claim
) -> None:
    add(table, clock, 1)
    (first,) = claim(10)
    clock.now += LEASE - timedelta(seconds=1)
    assert claim(10) == ()
    clock.now += timedelta(seconds=1)
    (second,) = claim(10)
    assert second.data_product_id == first.data_product_id
    assert second.name != first.name


def test_what_rests_or_has_ended_is_not_claimed(table: Table, clock: Clock, claim: Claim) -> None:
    add(table, clock, 1, due=clock.now + timedelta(seconds=1))
    ended = add(table, clock, 2)
    table.update(ended.key, remove=INDEX_ATTRIBUTES, assign={"eligibility": "NONE"})
    # Something else in the same partition of the index is passed over and said.
    table.put({"PK": "x", "SK": "y", "status": "ACQUIRE", "timestamp": isoformat(clock.now)})
    assert claim(10) == ()


def test_one_that_was_claimed_before_its_time_gets_its_time_back(table: Table, clock: Clock) -> None:
    due = clock.now + timedelta(minutes=30)
    product = add(table, clock, 1, due=due)
    table.update(product.key, assign={"timestamp": isoformat(clock.now + LEASE)})
    loaded = SpectrumLoader(table, clock).load(asked(product))
    assert (loaded.decision, loaded.next_eligible_attempt_at) == (LoadDecision.SKIPPED_BACKOFF, due)
    assert (table.get(product.key) or {})["timestamp"] == isoformat(due)


def test_the_sweep_is_started_when_something_is_due_and_none_is_at_work(table: Table, clock: Clock) -> None:
    started = Started()
    assert sweep_spectra(table, started, clock) == Sweep(0, 0.0)
    add(table, clock, 60)
    add(table, clock, 1)
    for _ in range(2):
        found = sweep_spectra(table, started, clock)
        assert (found.due, found.overdue_minutes) == (2, 6.0)
    assert {call[2] for call in started.calls} == {"sweep-20261127T2100"}, "one execution, however often"
    assert {call[0] for call in started.calls} == {WORKFLOW}
    table.put({**keys.lock(LOCK), "ttl_timestamp": epoch_seconds(clock.now) + 60})
    assert sweep_spectra(table, started, clock).started is None
    clock.now += timedelta(minutes=2)
    assert sweep_spectra(table, started, clock).started == "arn:sweep-20261127T2102", (
        "an expired lock counts as absent"
    )
