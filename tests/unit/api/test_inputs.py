"""The models of what callers give: what is read, what is refused, and in which words."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Annotated, Any, ClassVar
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from sourcebook.api.novae import SpectrumOverrides
from sourcebook.api.parameters import (
    Day,
    Moment,
    PageParameters,
    Text,
    degrees,
    number,
    one_of,
    several,
)
from sourcebook.api.requests import Request
from sourcebook.errors import InvalidInput
from sourcebook.inputs import Input, expected, matching, text, without_null, word_of
from sourcebook.novae.review import OVERRIDES
from sourcebook.schema import UUID


class Wanted(PageParameters):
    """Parameters of every kind."""

    status: Annotated[str, one_of(("pending", "analyzed", "ESO"))] | None = None
    tag: Annotated[str, Field(min_length=1, max_length=2)] | None = None
    since: Moment | None = None
    first: Day | None = Field(None, alias="from")
    year: Annotated[int, number(1, 9999)] | None = None
    ra: Annotated[float, degrees(0, 360)] | None = None
    lang: Annotated[tuple[str, ...], several(("en", "vi"), longest=8)] | None = None
    source: Annotated[tuple[str, ...], several()] | None = None


class Needed(PageParameters):
    bank_name: Text


class Inner(Input):
    unit: Annotated[str, text(20)] | None = None


class Sent(Input):
    """A body with fields of every kind."""

    decision: Annotated[str, word_of(("CLEAR", "MERGE"))]
    reviewer: Annotated[str, text(5)]
    nova_id: Annotated[str, matching(UUID, 36), expected("the id of a nova")] | None = None
    errors: int | None = Field(None, ge=1, le=100, strict=True)
    change: float | None = Field(None, ge=0.01, le=2, strict=True)
    ids: (
        Annotated[list[Annotated[str, Field(min_length=1, max_length=3)]], Field(min_length=1, max_length=2)]
        | None
    ) = None
    inner: Inner | None = None
    units: Annotated[list[Inner], expected("a list of units")] | None = None


class Either(Input):
    EITHER: ClassVar[tuple[str, ...]] = ("url", "site")

    url: Annotated[str, text(20)] | None = None
    site: Annotated[str, text(20)] | None = None


RIGHT = {"decision": "CLEAR", "reviewer": "Ada"}


def asked(query: str, model: type[PageParameters] = Wanted) -> Any:
    return model.of(Request.of({"routeKey": "GET /articles", "rawQueryString": query}))


def refusal(query: str, model: type[PageParameters] = Wanted) -> InvalidInput:
    with pytest.raises(InvalidInput) as refused:
        asked(query, model)
    return refused.value


@pytest.mark.parametrize("query", ["status=Pendin", "status=", "status=pending%20", "status"])
def test_a_word_is_one_of_those_there_are(query: str) -> None:
    error = refusal(query)
    assert error.field == "status"
    assert "pending, analyzed" in str(error)


def test_a_word_may_be_in_any_case() -> None:
    assert asked("status=pending").status == "pending"
    assert asked("status=PENDING").status == "pending"
    assert asked("status=eso").status == "ESO"
    assert asked("").status is None


def test_a_number_that_need_not_be_there_has_bounds_too() -> None:
    assert asked("year=2012").year == 2012
    assert refusal("year=0").expected == "a whole number from 1 to 9999"
    assert without_null(Wanted.json_schema()["properties"]["year"])["maximum"] == 9999


def test_text_is_neither_empty_nor_long() -> None:
    assert asked("tag=%E6%9D%B1%E4%BA%AC").tag == "東京"
    assert asked("").tag is None
    for query in ("tag=", "tag=abc"):
        error = refusal(query)
        assert (error.field, error.expected) == ("tag", "a text of 1 to 2 characters")


def test_several_values_have_commas_between_them() -> None:
    assert asked("source=a,%20b,a").source == ("a", "b")
    assert asked("lang=VI,en").lang == ("vi", "en")
    assert refusal("lang=fr").expected == "one or more of en, vi with commas between them"
    assert refusal("source=a,,b").field == "source"
    assert refusal("lang=en,en,en,en").expected == "1 to 8 characters"


@pytest.mark.parametrize(
    "value", ["0", "101", "-1", "1.0", "", "ten", " 5", "1_0", "٣", "999999999999", "0x10", "+5"]
)
def test_a_limit_is_a_whole_number_from_1_to_100(value: str) -> None:
    error = refusal(urlencode({"limit": value}))
    assert (error.field, error.value) == ("limit", value)
    assert "1 to 100" in str(error)


@pytest.mark.parametrize(("query", "limit"), [("", 20), ("limit=1", 1), ("limit=100", 100), ("limit=007", 7)])
def test_a_limit_has_a_default(query: str, limit: int) -> None:
    assert asked(query).limit == limit


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2026-11-27", datetime(2026, 11, 27, tzinfo=UTC)),
        ("2026-11-27T21:56:39Z", datetime(2026, 11, 27, 21, 56, 39, tzinfo=UTC)),
        ("2026-11-27T23:56:39%2B02:00", datetime(2026, 11, 27, 21, 56, 39, tzinfo=UTC)),
        ("2026-11-27T23:56:39+02:00", datetime(2026, 11, 27, 21, 56, 39, tzinfo=UTC)),
        ("2026-11-27T23:56+0200", datetime(2026, 11, 27, 21, 56, tzinfo=UTC)),
        ("2026-11-27T23:56+02", datetime(2026, 11, 27, 21, 56, tzinfo=UTC)),
        ("2026-11-27T21:56:39.25Z", datetime(2026, 11, 27, 21, 56, 39, 250_000, tzinfo=UTC)),
        ("0001-01-01", datetime(2, 1, 1, tzinfo=UTC)),
        ("9999-12-31T23:59:59.9Z", datetime(9999, 12, 31, tzinfo=UTC)),
    ],
)
def test_a_moment_is_a_date_or_a_time_with_its_zone(value: str, moment: datetime) -> None:
    assert asked(f"since={value}").since == moment


@pytest.mark.parametrize(
    "value",
    [
        "",
        "yesterday",
        "2026-11-27T21:56:39",
        "2026-11-27 21:56",
        "2026-13-01",
        "2026-02-30",
        "1764280599",
        "2026-11-27T25:00:00Z",
        "0001-01-01T00:00:00%2B05:00",
        "٢٠٢٦-١١-٢٧",
    ],
)
def test_other_moments_are_refused_with_an_example(value: str) -> None:
    error = refusal(f"since={value}")
    assert error.field == "since"
    assert "2026-11-27T21:56:00Z" in str(error)


@given(st.text())
def test_no_text_breaks_a_moment(value: str) -> None:
    try:
        moment = Wanted.of(Request("", query={"since": value})).since
    except InvalidInput:
        return
    assert moment is not None
    assert moment.tzinfo is UTC


def test_a_day_is_named_as_in_the_query() -> None:
    assert asked("from=2026-01-06").first == date(2026, 1, 6)
    error = refusal("from=2026-1-6")
    assert (error.field, error.expected) == ("from", "a day such as 2026-01-06")


@pytest.mark.parametrize("value", ["nan", "inf", "17h50m", ""])
def test_an_angle_is_in_decimal_degrees(value: str) -> None:
    assert asked("ra=%20267.5").ra == 267.5
    assert refusal(f"ra={value}").expected == "decimal degrees such as 267.7254"


def test_an_unknown_parameter_is_named_with_those_there_are() -> None:
    error = refusal("statuz=pending&tag=abc")
    assert error.field == "statuz"
    assert "only the parameters limit, cursor, status, tag, since, from" in error.expected


def test_a_parameter_that_is_needed_is_named() -> None:
    error = refusal("", Needed)
    assert (error.field, error.value, error.expected) == ("bank_name", None, "a text of 1 to 200 characters")


@pytest.mark.parametrize(
    ("change", "field", "right"),
    [
        ({"decision": "clear"}, "decision", "one of CLEAR, MERGE"),
        ({"decision": None}, "decision", "one of CLEAR, MERGE"),
        ({"reviewer": "  "}, "reviewer", "a text of 1 to 5 characters"),
        ({"reviewer": "a\ud800"}, "reviewer", "a text of whole Unicode characters"),
        ({"reviewer": 5}, "reviewer", "a text of 1 to 5 characters"),
        ({"nova_id": "V1324 Sco"}, "nova_id", "the id of a nova"),
        ({"errors": True}, "errors", "a whole number from 1 to 100"),
        ({"errors": "5"}, "errors", "a whole number from 1 to 100"),
        ({"errors": 0}, "errors", "a whole number from 1 to 100"),
        ({"change": 3}, "change", "a number from 0.01 to 2"),
        ({"ids": []}, "ids", "a list of 1 to 2 texts of 1 to 3 characters each"),
        ({"ids": ["a", 5]}, "ids", "a list of 1 to 2 texts of 1 to 3 characters each"),
        ({"ids": "abc"}, "ids", "a list of 1 to 2 texts of 1 to 3 characters each"),
        ({"inner": {"units": "m"}}, "inner.units", "only the fields unit here"),
        ({"inner": {"unit": ""}}, "inner.unit", "a text of 1 to 20 characters"),
        ({"inner": "m"}, "inner", "an object with one or more of the members unit"),
        (
            {"note": "x"},
            "note",
            "only the fields decision, reviewer, nova_id, errors, change, ids, inner, units here",
        ),
        ({"x" * 300: 1}, "x" * 80, None),
    ],
)
def test_a_field_that_is_wrong_is_named_with_what_is_right(
    change: dict[str, Any], field: str, right: str | None
) -> None:
    with pytest.raises(InvalidInput) as refused:
        Sent.read(RIGHT | change)
    assert refused.value.field == field
    assert refused.value.expected == right or right is None


def test_a_field_within_an_item_of_a_list_is_named_by_its_place() -> None:
    for units, field, words_expected in (
        ([{"unit": "Jy"}, {"unit": ""}], "units.1.unit", "a text of 1 to 20 characters"),
        ([{"x": 1}], "units.0.x", "only the fields unit here"),
        ([3], "units", "a list of units"),
        ("Jy", "units", "a list of units"),
    ):
        with pytest.raises(InvalidInput) as refused:
            Sent.read({**RIGHT, "units": units})
        assert (refused.value.field, refused.value.expected) == (field, words_expected)


def test_what_is_wrong_is_shown_as_it_was_sent() -> None:
    with pytest.raises(InvalidInput) as refused:
        Sent.read(RIGHT | {"ids": ["a", 5]})
    assert refused.value.value == ["a", 5]


def test_null_that_is_there_is_not_said_to_be_missing() -> None:
    for values, wrong in (
        (RIGHT | {"decision": None}, "decision: 'null' is not valid"),
        (RIGHT | {"note": None}, "note: 'null' is not valid"),
        ({"decision": "CLEAR"}, "reviewer is missing"),
    ):
        with pytest.raises(InvalidInput, match=f"^{wrong}; expected"):
            Sent.read(values)


def test_what_need_not_be_there_may_be_null_and_blanks_are_cut_off() -> None:
    sent = Sent.read({"decision": "CLEAR", "reviewer": " Ada ", "nova_id": None, "errors": 5})
    assert sent.given() == {"decision": "CLEAR", "reviewer": "Ada", "errors": 5}


@pytest.mark.parametrize("values", [{}, {"url": None}, {"url": "a", "site": "b"}])
def test_of_some_fields_there_is_exactly_one(values: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="exactly one of url and site"):
        Either.read(values)
    assert Either.read({"url": "a", "site": None}).given() == {"url": "a"}


def test_a_schema_has_neither_references_nor_titles() -> None:
    schema = Sent.json_schema()
    assert "$defs" not in schema
    assert "title" not in str(schema)
    assert "x-expected" not in str(schema)
    assert without_null(schema["properties"]["inner"])["properties"].keys() == {"unit"}


def test_a_reviewer_may_say_of_a_file_what_the_desk_takes() -> None:
    assert SpectrumOverrides.names() == OVERRIDES
