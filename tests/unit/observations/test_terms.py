from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.errors import InvalidInput
from sourcebook.observations.terms import Term, months_of, parse_term, term_code
from sourcebook.observations.values import Reason, UnreadableValue


@pytest.mark.parametrize(
    ("text", "code", "months"),
    [
        ("6 tháng", "M0006", 6),
        ("Kỳ hạn 6 tháng", "M0006", 6),
        ("6M", "M0006", 6),
        ("06 months", "M0006", 6),
        ("6-month", "M0006", 6),
        ("6", "M0006", 6),
        ("6 Monate", "M0006", 6),
        ("6ヶ月", "M0006", 6),
        ("không kỳ hạn", "M0000", 0),
        ("Không kỳ hạn ", "M0000", 0),
        ("täglich fällig", "M0000", 0),
        ("on demand", "M0000", 0),
        ("1 năm", "M0012", 12),
        ("1Y", "M0012", 12),
        ("1 year 6 months", "M0018", 18),
        ("1,5 năm", "M0018", 18),
        ("12 tháng (365 ngày)", "M0012", 12),
        ("1 tuần", "D00007", 0.23),
        ("2 weeks", "D00014", 0.47),
        ("7 ngày", "D00007", 0.23),
        ("30D", "D00030", 1.0),
    ],
)
def test_a_term_has_one_form(text: str, code: str, months: float) -> None:
    term = parse_term(text)
    assert (term.code, months_of(term.code)) == (code, months)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", Reason.NO_TERM),
        ("-", Reason.NO_TERM),
        ("6-12 tháng", Reason.TERM_IS_A_RANGE),
        ("từ 6 tháng đến dưới 12 tháng", Reason.TERM_IS_A_RANGE),
        ("6 tháng trở lên", Reason.TERM_IS_A_RANGE),
        ("abc", Reason.TERM_UNREADABLE),
        ("1 month and 3 days", Reason.TERM_UNREADABLE),
        ("0,1 tháng", Reason.TERM_UNREADABLE),
        ("9999 tháng", Reason.TERM_UNREADABLE),
    ],
)
def test_what_is_no_single_term_says_why(text: str, reason: Reason) -> None:
    with pytest.raises(UnreadableValue) as caught:
        parse_term(text)
    assert caught.value.reason is reason


def test_a_bare_number_has_the_unit_of_its_source() -> None:
    assert parse_term("2", bare="years") == Term(months=24)
    assert parse_term("2", bare="weeks") == Term(days=14)


def test_a_client_that_gives_no_term_is_told_what_one_is() -> None:
    assert term_code("6") == "M0006"
    assert term_code("2W") == "D00014"
    with pytest.raises(
        InvalidInput, match="term_months: 'soon' is not valid; expected a whole number of months"
    ):
        term_code("soon")


@given(st.integers(0, 1200))
def test_codes_sort_as_the_months_do(months: int) -> None:
    code = Term(months=months).code
    assert months_of(code) == months
    assert code < Term(months=months + 1).code
