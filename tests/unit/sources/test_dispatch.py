from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.errors import InvalidInput
from sourcebook.events import FetchRequested, read_message
from sourcebook.sources.dispatch import DispatchSources, _Due, chunks_by_host, message_body

due_sources = st.lists(
    st.builds(
        _Due,
        source_id=st.uuids().map(str),
        kind=st.just("feed"),
        host=st.sampled_from(["a.example", "b.example", "c.example", "d.example"]),
        priority=st.integers(0, 3),
        due_at=st.sampled_from(["2026-11-27T12:00:00Z", "2026-11-27T12:01:00Z"]),
    ),
    max_size=150,
)


@given(due_sources)
def test_every_due_source_is_sent_once(due: list[_Due]) -> None:
    sent = [source for chunk in chunks_by_host(due, size=20) for source in chunk]
    assert sorted(s.source_id for s in sent) == sorted(s.source_id for s in due)


@given(due_sources)
def test_the_sources_of_one_host_travel_together_while_they_are_few(due: list[_Due]) -> None:
    chunks = list(chunks_by_host(due, size=20))
    for host in {source.host for source in due}:
        expected = 1 if sum(s.host == host for s in due) <= 100 else 2
        assert sum(any(s.host == host for s in chunk) for chunk in chunks) == expected


def test_the_most_urgent_source_is_in_the_first_chunk() -> None:
    due = [_Due(f"s{n}", "feed", f"h{n}.example", 999, "2026-11-27T12:00:00Z") for n in range(50)]
    due.append(_Due("urgent", "feed", "urgent.example", 1, "2026-11-27T12:00:30Z"))
    assert next(iter(chunks_by_host(due)))[0].source_id == "urgent"


def test_a_message_reads_as_the_class_that_checks_it_where_it_arrives() -> None:
    due = [_Due("été", "feed", "a.example", 999, "2026-11-27T12:00:00Z")]
    message = read_message(FetchRequested, message_body(due, "run-1"))
    assert message_body(due, "run-1") == message.model_dump_json()


def test_a_scheduled_event_asks_for_all_that_are_due() -> None:
    event = {"source": "aws.events", "detail-type": "Scheduled Event"}
    assert DispatchSources.of_json(event).source_ids is None
    assert DispatchSources.of_json({"source_ids": ["a", "b"]}).source_ids == ("a", "b")


@pytest.mark.parametrize("wanted", ["harbor-ledger", [1], {"id": "harbor-ledger"}])
def test_source_ids_that_are_no_list_of_ids_are_refused(wanted: object) -> None:
    with pytest.raises(InvalidInput, match=r"source_ids.* expected a (list|text)"):
        DispatchSources.of_json({"source_ids": wanted})
