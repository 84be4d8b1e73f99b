"""Messages are written as JSON and read again, and what is wrong with one is named."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.bucket.stored import StoredObject
from sourcebook.errors import InvalidInput
from sourcebook.messages import Message, TaskResult, checked_parts, field_names, tag_of
from sourcebook.novae.resolvers.identity import Identity
from sourcebook.spectra.messages import (
    Acquired,
    AlreadyValid,
    Duplicate,
    Found,
    NotAcquired,
    RecordSpectrum,
    Unsure,
)

AT = datetime(2026, 11, 28, 21, 0, tzinfo=UTC)


class Colour(StrEnum):
    RED = "RED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Yes(TaskResult):
    answer: Literal["YES"] = "YES"
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class No(TaskResult):
    answer: Literal[False] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Everything(Message):
    text: str
    number: int
    share: float
    right: bool
    at: datetime
    colour: Colour
    scope: Literal["one", "two"]
    texts: tuple[str, ...]
    by_name: Mapping[str, int]
    anything: object
    answer: Yes | No
    needed: str | None
    optional: str | None = None
    more: Mapping[str, str] = field(default_factory=dict)


WHOLE = Everything(
    text="é",
    number=3,
    share=0.5,
    right=True,
    at=AT,
    colour=Colour.RED,
    scope="two",
    texts=("a", "b"),
    by_name={"a": 1},
    anything={"x": [1, None]},
    answer=Yes(number=2),
    needed=None,
)


def test_what_was_written_is_read_again() -> None:
    written = json.loads(json.dumps(WHOLE.to_json()))
    assert written["at"] == "2026-11-28T21:00:00Z"
    assert written["answer"] == {"answer": "YES", "number": 2}
    assert (written["needed"], "optional" in written) == (None, False)
    assert Everything.of_json(written) == WHOLE
    assert Everything.of_json({**written, "unknown": 1, "optional": None, "share": 1}).share == 1


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"text": 1}, "text: 1 is not valid; expected a text"),
        ({"number": True}, "number: True"),
        ({"number": 1.5}, "number: 1.5"),
        ({"right": 1}, "right: 1"),
        ({"share": "1"}, "share: '1' is not valid; expected a number"),
        ({"at": "noon"}, "at: 'noon'"),
        ({"at": None}, "at is missing"),
        ({"colour": "BLUE"}, "colour: 'BLUE' is not valid; expected one of RED"),
        ({"scope": "three"}, "expected one of one, two"),
        ({"texts": "ab"}, "texts: 'ab' is not valid; expected a list"),
        ({"texts": ["a", 1]}, r"texts\[1\]: 1"),
        ({"by_name": ["a"]}, "by_name: .* expected an object"),
        ({"by_name": {"a": "1"}}, "by_name.a: '1'"),
        ({"answer": {"answer": "PERHAPS"}}, "answer: .* an object with answer YES or answer False"),
        ({"answer": {"answer": "YES"}}, "answer.number is missing"),
        ({"answer": None}, "answer is missing"),
    ],
)
def test_the_first_field_that_is_wrong_is_named(change: dict[str, Any], named: str) -> None:
    written = json.loads(json.dumps(WHOLE.to_json()))
    with pytest.raises(InvalidInput, match=named):
        Everything.of_json({**written, **change})


@pytest.mark.parametrize("name", ["text", "number", "at", "answer", "texts", "by_name"])
def test_a_field_that_is_missing_is_named(name: str) -> None:
    written = json.loads(json.dumps(WHOLE.to_json()))
    del written[name]
    with pytest.raises(InvalidInput, match=name):
        Everything.of_json(written)
    with pytest.raises(InvalidInput, match="input"):
        Everything.of_json([written])


FIELDS = st.sampled_from(field_names(Everything))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner),
        max_leaves=12,
    )
)
def test_whatever_comes_is_a_message_or_is_refused(value: object) -> None:
    try:
        found = Everything.of_json(value)
    except InvalidInput:
        return
    assert Everything.of_json(json.loads(json.dumps(found.to_json()))) == found


def test_a_message_that_is_put_together_elsewhere_has_its_fields() -> None:
    assert checked_parts(Yes, {"number": "$n"}) == {"number": "$n"}
    with pytest.raises(ValueError, match="Yes: number, nummer is missing, or is none of its fields"):
        checked_parts(Yes, {"nummer": "$n"})
    assert (tag_of(Yes), tag_of(No)) == (("answer", "YES"), ("answer", False))
    with pytest.raises(TypeError, match="no field that is a Literal"):
        tag_of(Everything)


OLD: list[tuple[dict[str, Any], TaskResult]] = [
    ({"result": "ALREADY_VALID"}, AlreadyValid()),
    (
        {"result": "ACQUIRED", "key": "k", "byte_length": 3, "etag": "", "sha256": "s"},
        Acquired(key="k", byte_length=3, etag="", sha256="s"),
    ),
    (
        {
            "result": "ACQUIRED",
            "key": "k",
            "source": {"key": "j", "byte_length": 1, "content_type": "t", "etag": "e", "sha256": "s"},
            "byte_length": 3,
            "etag": "e",
            "sha256": "s",
        },
        Acquired(key="k", byte_length=3, etag="e", sha256="s", source=StoredObject("j", 1, "t", "e", "s")),
    ),
    (
        {"result": "DUPLICATE", "duplicate_of": "d", "byte_length": 3, "sha256": "s"},
        Duplicate(duplicate_of="d", byte_length=3, sha256="s"),
    ),
]


@pytest.mark.parametrize(("written", "message"), OLD)
def test_what_an_execution_holds_that_began_before_the_upgrade_is_read(
    written: dict[str, Any], message: TaskResult
) -> None:
    ids = {"nova_id": "n", "data_product_id": "p", "provider": "ESO"}
    found = RecordSpectrum.of_json({**ids, "found": {"acquisition": written}, "run": {}}).found
    assert found == Found(acquisition=message)  # type: ignore[arg-type]


def test_failures_and_doubts_of_before_the_upgrade_are_read() -> None:
    failure = {"kind": "RETRYABLE", "reason": "r", "error_type": "E", "message": "m"}
    later = {**failure, "retry_after": "2026-11-28T21:00:00Z", "sha256": "s"}
    found = Found.of_json({"acquisition": {"result": "FAILED", "failure": later}})
    assert isinstance(found.acquisition, NotAcquired)
    assert found.acquisition.failure.retry_after == AT
    doubt = {"reason_code": "OTHER", "message": "m", "context": {"members": ["a"]}}
    found = Found.of_json({"acquisition": {"result": "UNSURE", "unsure": doubt}})
    assert isinstance(found.acquisition, Unsure)
    assert found.acquisition.unsure.context == {"members": ["a"]}


def test_an_identity_has_a_key_and_a_name() -> None:
    star = Identity("simbad", "simbad:x", "X 1", 1.0, 2.0, None, tuple(f"N {n}" for n in range(300)))
    written = star.to_json()
    assert len(written["names"]) == 200  # type: ignore[arg-type]
    assert Identity.of_json(written).main_name == "X 1"
    for name in ("key", "main_name"):
        with pytest.raises(InvalidInput, match=name):
            Identity.of_json({**written, name: ""})
