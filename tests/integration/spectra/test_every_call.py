"""A spectrum whose tasks fail at any call to the table or the bucket: the next run brings it to its end.

By default a few calls are drawn; SOURCEBOOK_FAULT_SEEDS draws as many more, until all were had.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from boto3.dynamodb.conditions import Key

from sourcebook.bucket.objects import Objects
from sourcebook.errors import SourcebookError
from sourcebook.http.client import HttpClient
from sourcebook.http.policy import HttpPolicy, parse_networks
from sourcebook.integrity.checks import all_checks
from sourcebook.integrity.verify import Verifier
from sourcebook.integrity.walk import pages_of
from sourcebook.records.spectrum import SpectrumProduct
from sourcebook.spectra.products import INDEX_ATTRIBUTES
from tests.faulty_client import FAULTS, Crash, FaultyBucket, FaultyClient
from tests.integration.spectra.test_acquisition import NOVA, UNITLESS, VALID, Provider, Workflow, provider
from tests.moto_table import MotoTable

if TYPE_CHECKING:
    from sourcebook.novae.quarantine import Quarantiner
    from sourcebook.table.client import Table
    from tests.integration.astronomy import Clock

__all__ = ["provider"]  # the fixture

SEED = int(os.environ.get("SOURCEBOOK_FAULT_SEED", "1"))
DRAWN = 5 * int(os.environ.get("SOURCEBOOK_FAULT_SEEDS", "1"))
FILES = {"valid": VALID, "same": VALID, "unitless": UNITLESS}


@dataclass
class World:
    """The tasks of a workflow, at a table and a bucket of which one call fails.

    Attributes:
        fault: the number of that call, from 1, and what happens at it; None for nothing.
        calls: how many there were.
    """

    clean: Table
    objects: Objects
    quarantiner: Quarantiner
    clock: Clock
    provider: Provider
    fault: tuple[int, str] | None = None
    calls: int = 0

    def _draw(self, operation: str) -> str:
        self.calls += 1
        return self.fault[1] if self.fault and self.fault[0] == self.calls else ""

    async def course(self, products: dict[str, SpectrumProduct]) -> None:
        """Run the workflow for each spectrum that is still to be acquired; each may end badly."""
        client: Any = FaultyClient(self.clean.client, self._draw)
        bucket: Any = FaultyBucket(self.objects.client, self._draw)
        table = MotoTable(self.clean.name, client, sleep=lambda _: None, shards=self.clean.shards)
        objects = Objects(bucket, self.objects.bucket)
        quarantiner = replace(self.quarantiner, table=table, objects=objects)
        policy = HttpPolicy(
            allowed_networks=parse_networks("127.0.0.0/8"), total_timeout=5.0, max_bytes=2_000_000
        )
        async with HttpClient(policy, clock=self.clock) as http:
            workflow = Workflow(table, objects, http, self.clock, quarantiner, self.provider)
            for product in products.values():
                with suppress(Crash, SourcebookError):
                    await workflow.run(product)

    def products(self) -> dict[str, SpectrumProduct]:
        """Make the spectra as discovery does."""
        plain: Any = None
        workflow = Workflow(self.clean, plain, plain, self.clock, plain, self.provider)
        self.provider.answers.update(FILES)
        return {name: workflow.product(name) for name in FILES}

    def result(self) -> dict[str, Any]:
        """Return what must not depend on what has failed."""
        rows = list(self.clean.query_all(Key("PK").eq(NOVA), consistent=True))
        spectra = [row for row in rows if row["SK"].startswith("PRODUCT#SPECTRA#")]
        listed = self.objects.client.list_objects_v2(Bucket=self.objects.bucket).get("Contents", [])
        recorded = {row["key"] for row in rows if row["entity_type"] == "FileObject"}
        items = [item for page in pages_of(self.clean, segments=1) for item in page]
        return {
            "spectra": Counter(
                (
                    row["validation_status"],
                    row["eligibility"],
                    "duplicate_of" in row,
                    bool(set(INDEX_ATTRIBUTES) & row.keys()),
                )
                for row in spectra
            ),
            "files": Counter(
                (row["role"], row["name"]) for row in rows if row["entity_type"] == "FileObject"
            ),
            "recorded and not there": recorded - {entry["Key"] for entry in listed},
            "cases": sum(item["entity_type"] == "Quarantine" for item in items),
        }


@pytest.fixture
def new_world(
    table: Table, objects: Objects, quarantiner: Quarantiner, clock: Clock, provider: Provider
) -> Callable[[], World]:
    return lambda: World(table, objects, quarantiner, clock, provider)


WANTED = {
    "spectra": Counter(
        {
            ("VALID", "NONE", False, False): 1,
            ("UNVALIDATED", "NONE", True, False): 1,
            ("QUARANTINED", "NONE", False, False): 1,
        }
    ),
    "recorded and not there": set(),
    "cases": 1,
}
CALLS = 44
"""Calls that the course makes when nothing fails."""


@pytest.mark.parametrize("number", range(DRAWN))
async def test_whichever_call_fails_the_next_run_brings_each_spectrum_to_its_end(
    new_world: Callable[[], World], number: int
) -> None:
    cases = [(call, fault) for call in range(1, CALLS + 1) for fault in FAULTS]
    random.Random(SEED).shuffle(cases)
    world = new_world()
    products = world.products()
    world.fault = cases[number % len(cases)]
    await world.course(products)
    assert world.calls >= world.fault[0], "the call that was to fail was not made"
    world.fault = None
    for _ in range(2):
        world.clock.now += timedelta(hours=2)  # beyond every rest
        await world.course(products)
    found = world.result()
    assert {name: found[name] for name in WANTED} == WANTED
    verifier = Verifier(world.clean, all_checks(world.clean, world.clock), patience=0)
    assert list(verifier.run()) == []
