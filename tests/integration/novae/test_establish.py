"""What an object becomes: known, new, none, or a person's to decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sourcebook.novae.establish import NotApproved, NovaEstablisher, find_nova
from sourcebook.novae.messages import AuthorityAnswer, CandidateOutcome, FindNova, NameOutcome, OneNova
from sourcebook.novae.read import NovaReader
from sourcebook.novae.reconcile import NoAuthorityAnswered, reconcile
from sourcebook.novae.resolvers.identity import Identity
from sourcebook.novae.store import Named, NoSuchNova, NovaStore
from sourcebook.records.nova import NameSource, NovaStatus
from sourcebook.runs.errors import Held
from sourcebook.table import keys
from tests.integration.astronomy import task_run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourcebook.novae.quarantine import Quarantiner
    from sourcebook.table.client import Table
    from tests.integration.astronomy import Clock

pytestmark = pytest.mark.integration

ARCSEC = 1 / 3600


def star(
    name: str, ra: float | None = 101.0, dec: float | None = 12.0, *names: str, otype: str = "No*"
) -> Identity:
    return Identity("simbad", f"simbad:{name.lower()}", name, ra, dec, otype, (name, *names))


def said(identity: Identity | None) -> AuthorityAnswer:
    return AuthorityAnswer(authority="simbad", status="OK", identity=identity)


@pytest.fixture
def establisher(store: NovaStore, clock: Clock) -> NovaEstablisher:
    return NovaEstablisher(store)


def everything(table: Table) -> Iterator[dict[str, object]]:
    for item in table.client.scan(TableName=table.name)["Items"]:
        yield dict(item)


def test_a_new_object_is_a_new_nova_with_all_its_names(
    establisher: NovaEstablisher, store: NovaStore, table: Table
) -> None:
    made = establisher.establish("Nova Sco 2012", star("V1324 Sco", 1.0, 2.0, "MOA 2012 BLG-320"))
    assert made.outcome is CandidateOutcome.CREATED
    assert made.nova_id is not None
    nova = store.active(made.nova_id)
    assert (nova.primary_name, nova.coord_frame) == ("V1324 Sco", "ICRS")
    names = {(row.name_raw, row.name_kind, row.source) for row in store.names(nova.nova_id)}
    assert names == {
        ("V1324 Sco", "PRIMARY", "INGESTION"),
        ("Nova Sco 2012", "ALIAS", "USER_INPUT"),
        ("MOA 2012 BLG-320", "ALIAS", "SIMBAD"),
    }
    before = sorted(map(str, everything(table)))
    again = establisher.establish("Nova Sco 2012", star("V1324 Sco", 1.0, 2.0, "MOA 2012 BLG-320"))
    assert (again.outcome, again.nova_id) == (CandidateOutcome.EXISTS, made.nova_id)
    assert sorted(map(str, everything(table))) == before, "running it again changed something"


@pytest.mark.parametrize("arcsec", [0.0, 1.0, 1.999])
def test_below_two_arcseconds_it_is_the_same_nova(
    establisher: NovaEstablisher, store: NovaStore, arcsec: float
) -> None:
    first = establisher.establish("A", star("AA 1"))
    second = establisher.establish("B", star("BB 1", 101.0, 12.0 + arcsec * ARCSEC))
    assert (second.outcome, second.nova_id) == (CandidateOutcome.EXISTS, first.nova_id)
    assert [nova.nova_id for nova in store.find("bb 1")] == [first.nova_id]


@pytest.mark.parametrize("arcsec", [2.001, 5.0, 9.999])
def test_up_to_ten_arcseconds_a_person_decides(establisher: NovaEstablisher, arcsec: float) -> None:
    establisher.establish("A", star("AA 1"))
    with pytest.raises(Held) as held:
        establisher.establish("B", star("BB 1", 101.0, 12.0 - arcsec * ARCSEC))
    assert held.value.reason_code == "COORDINATES_UNSURE"
    assert held.value.context["candidates"][0]["separation_arcsec"] == pytest.approx(arcsec, abs=0.01)


def test_beyond_ten_arcseconds_it_is_another_one(establisher: NovaEstablisher) -> None:
    first = establisher.establish("A", star("AA 1"))
    second = establisher.establish("B", star("BB 1", 101.0, 12.0 + 10.001 * ARCSEC))
    assert second.outcome is CandidateOutcome.CREATED
    assert second.nova_id != first.nova_id


def test_two_known_novae_that_near_are_for_a_person(establisher: NovaEstablisher, store: NovaStore) -> None:
    establisher.establish("A", star("AA 1"))
    # 4 arcseconds apart: only a person's decision could have made both.
    far = establisher.establish("B", star("BB 1", 101.0, 12.5))
    assert far.nova_id is not None
    row = keys.nova_position("102:276", far.nova_id)
    from sourcebook.novae.coordinates import Position, cell_of

    near = Position(101.0, 12.0 + 4.0 * ARCSEC)
    row = keys.nova_position(cell_of(near), far.nova_id)
    store.table.put({**row, "nova_id": far.nova_id, "ra_deg": near.ra_deg, "dec_deg": near.dec_deg})
    with pytest.raises(Held, match=r"AA 1 at 1\.9″, BB 1 at 2\.1″"):
        establisher.establish("C", star("CC 1", 101.0, 12.0 + 1.9 * ARCSEC))


def test_right_ascension_wraps_and_the_pole_is_a_place(establisher: NovaEstablisher) -> None:
    first = establisher.establish("A", star("AA 1", 359.99980, -5.0))
    assert establisher.establish("B", star("BB 1", 0.00010, -5.0)).nova_id == first.nova_id
    pole = establisher.establish("C", star("CC 1", 10.0, 89.9998))
    assert establisher.establish("D", star("DD 1", 190.0, 89.9999)).nova_id == pole.nova_id


def test_what_is_no_nova_becomes_none(establisher: NovaEstablisher, table: Table) -> None:
    assert (
        establisher.establish("X", star("SN 2011fe", otype="SN*")).outcome
        is CandidateOutcome.NOT_A_CLASSICAL_NOVA
    )
    assert list(everything(table)) == []
    with pytest.raises(Held, match="candidate"):
        establisher.establish("X", star("AA 7", otype="No?"))
    with pytest.raises(Held, match="no position"):
        establisher.establish("X", star("AA 8", None, None))
    assert list(everything(table)) == []


def test_a_nova_is_known_by_any_of_its_names(establisher: NovaEstablisher) -> None:
    first = establisher.establish("A", star("AA 1", 101.0, 12.0, "PNV J1"))
    other_key = Identity("sesame", "simbad:other", "Other 1", 101.0, 12.0 + ARCSEC, "No*", ("PNV J1",))
    assert establisher.establish("Z", other_key).nova_id == first.nova_id
    far = Identity("simbad", "simbad:far", "Far 1", 102.0, 12.0, "No*", ("PNV J1",))
    with pytest.raises(Held) as held:
        establisher.establish("Z", far)
    assert held.value.reason_code == "NAME_CONFLICT"


def test_the_five_of_one_year_stay_five_and_their_common_name_is_nobodys(
    establisher: NovaEstablisher, store: NovaStore, table: Table
) -> None:
    made = []
    for number in range(1, 6):
        name = f"Nova Sgr 2012 No. {number}"
        made.append(
            establisher.establish(name, star(f"V55{88 + number} Sgr", 260.0 + number, -25.0, name)).nova_id
        )
        with pytest.raises(Held) as held:
            find_nova(store, FindNova(name="Nova Sagittarii 2012"))
        assert held.value.reason_code == "AMBIGUOUS_NAME"
        assert len(held.value.context["candidates"]) == number
    assert len(set(made)) == 5
    for number, nova_id in enumerate(made, start=1):
        one = find_nova(store, FindNova(name=f"N Sgr 2012-{number}"))
        assert isinstance(one, OneNova)
        assert one.nova_id == nova_id
    found = NovaReader(table).by_name("Nova Sgr 2012")
    assert (found["match"], len(found["items"])) == ("AMBIGUOUS", 5)


def test_the_primary_name_changes_and_the_old_one_stays(
    establisher: NovaEstablisher, store: NovaStore
) -> None:
    made = establisher.establish("PNV J1", star("PNV J1", 1.0, 1.0))
    assert made.nova_id is not None
    assert store.rename(store.active(made.nova_id), "V* V9999 Sgr", NameSource.SIMBAD)
    nova = store.active(made.nova_id)
    assert nova.primary_name == "V9999 Sgr"
    kinds = {row.name_raw: row.name_kind for row in store.names(made.nova_id)}
    assert kinds == {"V9999 Sgr": "PRIMARY", "PNV J1": "ALIAS"}
    for name in ("v9999 sgr", "pnv j1"):
        assert [found.nova_id for found in store.find(name)] == [made.nova_id]
    assert not store.rename(nova, "V9999 Sagittarii", NameSource.SIMBAD)


def test_a_merged_nova_leads_to_the_one_it_became(
    establisher: NovaEstablisher, store: NovaStore, table: Table
) -> None:
    one = establisher.establish("A", star("AA 1")).nova_id
    other = establisher.establish("B", star("BB 1", 150.0, 12.0)).nova_id
    assert one is not None
    assert other is not None
    table.update(keys.nova(other), assign={"status": NovaStatus.MERGED.value, "merged_into": one})
    assert [nova.nova_id for nova in store.find("bb 1")] == [one]
    assert store.active(other).nova_id == one
    assert NovaReader(table).by_name("BB 1")["items"][0]["nova_id"] == one
    table.update(keys.nova(one), assign={"status": NovaStatus.DEPRECATED.value})
    with pytest.raises(NoSuchNova, match="DEPRECATED"):
        store.active(one)


def test_names_that_cannot_be_ones_are_left_out(establisher: NovaEstablisher, store: NovaStore) -> None:
    made = establisher.establish("A", star("AA 1", 101.0, 12.0, "", "***", "x" * 500))
    assert made.nova_id is not None
    assert {row.name_normalized for row in store.names(made.nova_id)} >= {"aa 1", "a"}


def test_a_decision_that_nobody_took_opens_nothing(
    establisher: NovaEstablisher, quarantiner: Quarantiner
) -> None:
    establisher.establish("A", star("AA 1"))
    near = star("BB 1", 101.0, 12.0 + 5 * ARCSEC)
    with pytest.raises(Held) as held:
        establisher.establish("B", near)
    case = quarantiner.hold(
        task_run(), held.value, subject="B", retry_input={"candidate_name": "B"}
    ).quarantine_id
    with pytest.raises(NotApproved, match="PENDING"):
        establisher.establish("B", near, quarantine_id=case)
    with pytest.raises(NotApproved, match="there is none"):
        find_nova(establisher.store, FindNova(name="B", quarantine_id="00000000-0000-0000-0000-000000000000"))


def test_authorities_add_names_and_choose_the_primary_one(
    establisher: NovaEstablisher, store: NovaStore
) -> None:
    made = establisher.establish("PNV J1", star("PNV J1", 1.0, 1.0))
    assert made.nova_id is not None
    answer = said(star("V* V9999 Sgr", 1.0, 1.0, "PNV J1", "Nova Sgr 2020"))
    down = AuthorityAnswer(authority="sesame", status="Retryable")
    first = reconcile(store, made.nova_id, [answer, down])
    assert (first.outcome, first.primary_name) == (NameOutcome.UPDATED, "V9999 Sgr")
    assert first.authorities == ("simbad",)
    assert reconcile(store, made.nova_id, [answer, down]).outcome is NameOutcome.NO_CHANGE
    assert reconcile(store, made.nova_id, [said(None)]).outcome is NameOutcome.NO_CHANGE
    with pytest.raises(NoAuthorityAnswered):
        reconcile(store, made.nova_id, [down])


def test_an_authority_that_means_another_star_is_for_a_person(
    establisher: NovaEstablisher, store: NovaStore
) -> None:
    made = establisher.establish("A", star("AA 1"))
    establisher.establish("B", star("BB 1", 150.0, 12.0))
    assert made.nova_id is not None
    far = said(star("AA 1", 101.0, 13.0))
    with pytest.raises(Held, match="from where"):
        reconcile(store, made.nova_id, [far])
    taken = said(star("AA 1", 101.0, 12.0, "BB 1"))
    with pytest.raises(Held) as held:
        reconcile(store, made.nova_id, [taken])
    assert held.value.reason_code == "NAME_CONFLICT"
    assert store.add_names(store.active(made.nova_id), [Named("AA 1", NameSource.SIMBAD)]) == 0
