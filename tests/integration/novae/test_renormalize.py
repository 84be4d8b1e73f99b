"""Names that an earlier version stored under another form are found again, each once, after every crash."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from sourcebook.migrations.renormalize import STEP
from sourcebook.migrations.steps import STEPS, Migrations
from sourcebook.novae.establish import NovaEstablisher
from sourcebook.novae.names import normalize_name
from sourcebook.novae.read import NovaReader
from sourcebook.novae.resolvers.identity import Identity
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed

if TYPE_CHECKING:
    from sourcebook.novae.store import NovaStore
    from sourcebook.table.client import Table
    from tests.integration.astronomy import Clock

pytestmark = pytest.mark.integration

OLD = {
    "at 2021abc": "at2021abc",
    "moa-2012-blg-320": "moa 2012-blg-320",
    "asassn-16ig": "asas-sn 16ig",
    "nova sco 2012 #3": "nova scorpii 2012c",
    "v* mu cas": "mu cas",
}
"""Names as they are normalized now, and as the first version did."""
NAMES = ("AT2021abc", "MOA 2012-BLG-320", "ASAS-SN 16ig", "Nova Scorpii 2012c", "MU Cas")


def names(store: NovaStore, nova_id: str) -> dict[str, tuple[str, str]]:
    return {row.name_normalized: (row.name_raw, row.name_kind.value) for row in store.names(nova_id)}


def age(table: Table, nova_id: str) -> None:
    """Store the names as the first version did."""
    for now, before in OLD.items():
        for place, aged in (
            (keys.nova_name(now, nova_id), keys.nova_name(before, nova_id)),
            (keys.nova_own_name(nova_id, now), keys.nova_own_name(nova_id, before)),
        ):
            item = table.get(place, consistent=True)
            assert item is not None, now
            table.delete(place)
            table.put({**item, **aged, "name_normalized": before})
    for place in (keys.nova_name("nova sco 2012", nova_id), keys.nova_own_name(nova_id, "nova sco 2012")):
        table.delete(place)
    table.update(keys.nova(nova_id), assign={"primary_name_normalized": "at2021abc"})


@pytest.fixture
def nova_id(store: NovaStore, clock: Clock) -> str:
    identity = Identity("simbad", "simbad:at", NAMES[0], 101.0, 12.0, "No*", NAMES)
    made = NovaEstablisher(store).establish(NAMES[0], identity).nova_id
    assert made is not None
    return made


def test_a_step_moves_the_names_of_a_deployed_table(store: NovaStore, table: Table, nova_id: str) -> None:
    before = names(store, nova_id)
    age(table, nova_id)
    assert {*OLD.values()} <= {*names(store, nova_id)}, "what is not moved yet is readable"
    assert NovaReader(table).by_name("AT 2021abc")["match"] == "NONE"

    migrations = Migrations(table, (*STEPS, STEP), lambda: datetime(2026, 11, 28, tzinfo=UTC))
    assert [a.changed for a in migrations.run() if a.step_id == STEP.step_id] == [len(OLD) + 1]
    assert names(store, nova_id) == before
    for name in NAMES:
        found = NovaReader(table).by_name(name)
        assert (found["match"], found["items"][0]["nova_id"]) == ("ONE", nova_id)
    assert NovaReader(table).by_name("Nova Sco 2012")["match"] == "AMBIGUOUS"
    assert not any(table.get(keys.nova_name(form, nova_id)) for form in OLD.values())
    assert [a.changed for a in migrations.run(again=STEP.step_id)][-1] == 0


@pytest.mark.parametrize("lost", range(1, 12))
def test_a_step_that_is_cut_short_is_completed_by_the_next(
    store: NovaStore, table: Table, nova_id: str, lost: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = names(store, nova_id)
    age(table, nova_id)
    count = 0
    delete = type(table).delete

    def dying(self: Table, *arguments: object, **named: object) -> None:
        nonlocal count
        count += 1
        if count == lost:
            raise ConditionFailed(None)
        delete(self, *arguments, **named)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(type(table), "delete", dying)
        try:
            STEP.apply(table)
        except ConditionFailed:
            assert lost <= count
    STEP.apply(table)
    assert names(store, nova_id) == before
    assert STEP.apply(table) == 0


def test_two_stored_spellings_of_one_name_become_one(store: NovaStore, table: Table, nova_id: str) -> None:
    age(table, nova_id)
    own = table.get(keys.nova_own_name(nova_id, "at2021abc"))
    assert own is not None
    alias = {**own, "name_raw": "AT 2021abc", "name_normalized": "at 2021abc", "name_kind": "ALIAS"}
    for place in (keys.nova_name("at 2021abc", nova_id), keys.nova_own_name(nova_id, "at 2021abc")):
        table.put({**alias, **place})
    STEP.apply(table)
    kinds = [
        kind for form, (_, kind) in names(store, nova_id).items() if form == normalize_name("AT 2021abc")
    ]
    assert kinds == ["PRIMARY"]
