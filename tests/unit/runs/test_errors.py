"""What is recorded of an error, and what Step Functions is told."""

from __future__ import annotations

from sourcebook.errors import Quarantine, Retryable
from sourcebook.novae.resolvers.archive import ArchiveRejected, ArchiveUnavailable
from sourcebook.runs.errors import Held, as_step_functions_knows, error_fingerprint, short_message
from sourcebook.table.client import TableBusy


def test_equal_troubles_have_one_fingerprint() -> None:
    one = TableBusy("item '4e9b' took 12.5 s, request 4e9b0e88-5d2b-4d1a-9a1a-4a4f6f0cb9b1")
    same = TableBusy("item 'aaaa' took 3 s, request 00000000-0000-0000-0000-000000000000")
    fingerprint = error_fingerprint(one, "TableBusy")
    assert fingerprint == error_fingerprint(same, "TableBusy")
    assert fingerprint != error_fingerprint(TableBusy("something else"), "TableBusy")
    assert fingerprint.startswith("TableBusy:")


def test_a_retryable_child_leaves_as_the_word_that_state_machines_list() -> None:
    error = as_step_functions_knows(ArchiveUnavailable("simbad", "no answer"))
    assert type(error) is Retryable
    assert str(error).startswith("ArchiveUnavailable: simbad DOWN")
    assert type(as_step_functions_knows(Held("OTHER", "look"))) is Quarantine


def test_what_is_final_keeps_its_own_name() -> None:
    for error in (ArchiveRejected("simbad", "no"), KeyError("x"), Retryable("x")):
        assert as_step_functions_knows(error) is error


def test_a_message_is_one_short_line() -> None:
    assert short_message(ValueError("a\n  b" + "c" * 400)).startswith("a b")
    assert len(short_message(ValueError("c" * 400))) == 300
