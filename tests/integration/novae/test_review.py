"""What waits for a person: kept, announced, decided, and never freed by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from sourcebook.errors import DoesNotFit, InvalidInput
from sourcebook.novae.establish import NovaEstablisher, find_nova
from sourcebook.novae.messages import CandidateOutcome, FindNova, HeldCase, MergeInto
from sourcebook.novae.quarantine import Quarantiner
from sourcebook.novae.resolvers.identity import Identity
from sourcebook.novae.review import ReviewDesk
from sourcebook.runs.errors import Held
from sourcebook.runs.tasks import TaskRecorder
from tests.integration.astronomy import task_run

if TYPE_CHECKING:
    from sourcebook.bucket.objects import Objects
    from sourcebook.novae.store import NovaStore
    from sourcebook.table.client import Table
    from tests.integration.astronomy import Clock

pytestmark = pytest.mark.integration

NEAR = Identity("simbad", "simbad:bb 1", "BB 1", 101.0, 12.001, "No*", ("BB 1",))


@dataclass
class Started:
    """Stands where Step Functions is: remembers what it was asked to start."""

    calls: list[tuple[str, Mapping[str, Any], str]] = field(default_factory=list)

    def __call__(self, workflow: str, payload: Mapping[str, Any], name: str) -> str:
        self.calls.append((workflow, payload, name))
        return f"arn:execution:{name}"


@pytest.fixture
def started() -> Started:
    return Started()


@pytest.fixture
def desk(table: Table, started: Started, clock: Clock) -> ReviewDesk:
    return ReviewDesk(table, started, clock)


@pytest.fixture
def known(store: NovaStore, clock: Clock) -> str:
    found = NovaEstablisher(store).establish(
        "A", Identity("simbad", "simbad:aa 1", "AA 1", 101.0, 12.0, "No*", ("AA 1",))
    )
    assert found.nova_id is not None
    return found.nova_id


@pytest.fixture
def case(store: NovaStore, quarantiner: Quarantiner, known: str, clock: Clock) -> str:
    with pytest.raises(Held) as held:
        NovaEstablisher(store).establish("B", NEAR)
    return hold(quarantiner, held.value).quarantine_id


def hold(quarantiner: Quarantiner, held: Held, job_run_id: str = "run-1") -> HeldCase:
    return quarantiner.hold(task_run(job_run_id), held, subject="B", retry_input={"candidate_name": "B"})


def test_a_case_is_kept_with_its_context_and_announced_once(
    desk: ReviewDesk, case: str, objects: Objects, notices: tuple[str, Any], quarantiner: Quarantiner
) -> None:
    (listed,) = desk.page(limit=10).items
    assert listed["quarantine_id"] == case
    assert listed["manual_review_status"] == "PENDING"
    assert listed["context"]["candidates"][0]["primary_name"] == "AA 1"
    keys_there = objects.client.list_objects_v2(Bucket=objects.bucket, Prefix="quarantine/initialize_nova/")
    context = objects.read_json(keys_there["Contents"][0]["Key"])
    assert context["context"]["identity"]["main_name"] == "BB 1"
    again = hold(quarantiner, Held("COORDINATES_UNSURE", "again"), "run-2")
    assert again == HeldCase(quarantine_id=case, reason_code="COORDINATES_UNSURE", new=False)
    found = desk.get(case)
    assert found is not None
    assert (found["occurrences"], found["job_run_id"]) == (2, "run-2")
    (notice,) = notices[1]()
    assert {"workflow", "identifier", "correlation_id", "error_fingerprint", "reason"} <= set(notice)


def test_a_notice_that_fails_fails_nothing(table: Table, objects: Objects, quarantiner: Quarantiner) -> None:
    nowhere = Quarantiner(
        table,
        objects,
        quarantiner.sns,
        "arn:aws:sns:us-east-1:123456789012:gone",
        quarantiner.logger,
        quarantiner.clock,
    )
    assert hold(nowhere, Held("OTHER", "look")).new


def test_what_the_last_task_asked_for_is_held(table: Table, quarantiner: Quarantiner) -> None:
    asked = task_run("run-7")

    def work() -> HeldCase:
        raise Held("NOVA_CANDIDATE", "perhaps", {"identity": {"names": []}})

    with pytest.raises(Exception, match="Held: perhaps"):
        TaskRecorder(table, quarantiner.logger).attempt(asked, work)
    found = quarantiner.hold_failed_task(asked, {"candidate_name": "X"})
    assert found.reason_code == "NOVA_CANDIDATE"
    with pytest.raises(InvalidInput, match="held"):
        quarantiner.hold_failed_task(task_run("run-8"), {"candidate_name": "X"})


def test_an_approved_retry_makes_the_nova_that_the_rule_held_back(
    desk: ReviewDesk, case: str, started: Started, store: NovaStore, known: str
) -> None:
    answer = desk.review(
        case, "CLEARED_RETRY_APPROVED", reviewer="Ada", caller="arn:aws:iam::1:user/ada", note="two"
    )
    assert answer is not None
    assert (answer["reviewer"], answer["reviewed_by"]) == ("Ada", "arn:aws:iam::1:user/ada")
    assert answer["reviewed_at"] == "2026-11-27T21:00:00Z"
    ((workflow, payload, name),) = started.calls
    assert (workflow, payload) == ("initialize_nova", {"candidate_name": "B", "quarantine_id": case})
    assert len(name) <= 80
    made = NovaEstablisher(store).establish("B", NEAR, quarantine_id=case)
    assert made.outcome is CandidateOutcome.CREATED
    assert made.nova_id != known
    assert desk.page(limit=10).items == []
    assert [item["quarantine_id"] for item in desk.page(reviewed=True, limit=10).items] == [case]


def test_a_candidate_is_merged_into_the_nova_that_it_is(
    desk: ReviewDesk, case: str, store: NovaStore, known: str, clock: Clock
) -> None:
    desk.review(case, "MERGED", reviewer="Ada", nova_id=known)
    found = find_nova(store, FindNova(name="B", quarantine_id=case))
    assert isinstance(found, MergeInto)
    assert found.nova_id == known
    done = NovaEstablisher(store).establish("B", None, quarantine_id=case)
    assert (done.outcome, done.nova_id) == (CandidateOutcome.EXISTS, known)
    assert [nova.nova_id for nova in store.find("b")] == [known]


def test_a_closed_case_starts_nothing(desk: ReviewDesk, case: str, started: Started) -> None:
    answer = desk.review(case, "CLEARED_TERMINAL", reviewer="Ada")
    assert answer is not None
    assert "execution_arn" not in answer
    assert started.calls == []


def test_one_decision_stands(desk: ReviewDesk, case: str, started: Started) -> None:
    desk.review(case, "CLEARED_RETRY_APPROVED", reviewer="Ada")
    desk.review(case, "CLEARED_RETRY_APPROVED", reviewer="Bob")
    assert len({name for _, _, name in started.calls}) == 1, "sent twice, started under one name"
    with pytest.raises(DoesNotFit, match="Ada decided CLEARED_RETRY_APPROVED"):
        desk.review(case, "CLEARED_TERMINAL", reviewer="Bob")


def test_the_same_trouble_after_a_decision_is_a_new_case(
    desk: ReviewDesk, case: str, quarantiner: Quarantiner
) -> None:
    desk.review(case, "CLEARED_TERMINAL", reviewer="Ada")
    assert hold(quarantiner, Held("COORDINATES_UNSURE", "again"), "run-9").new
    (listed,) = desk.page(limit=10).items
    assert (listed["manual_review_status"], listed["occurrences"]) == ("PENDING", 2)


@pytest.mark.parametrize(
    ("decision", "nova_id", "field"),
    [
        ("FREE", None, "decision"),
        ("MERGED", None, "nova_id"),
        ("CLEARED_TERMINAL", "4e9b0e88-5d2b-4d1a-9a1a-4a4f6f0cb9b1", "nova_id"),
        ("MERGED", "4e9b0e88-5d2b-4d1a-9a1a-4a4f6f0cb9b1", "nova_id"),
    ],
)
def test_a_decision_that_does_not_fit_is_refused(
    desk: ReviewDesk, case: str, decision: str, nova_id: str | None, field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        desk.review(case, decision, reviewer="Ada", nova_id=nova_id)
    assert refused.value.field == field
    assert desk.review("no-such-case", "CLEARED_TERMINAL", reviewer="Ada") is None
