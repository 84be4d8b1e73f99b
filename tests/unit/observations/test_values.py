from __future__ import annotations

from contextlib import suppress
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.observations.values import Reason, UnreadableValue, parse_rate


def ends(text: str, **options: str) -> tuple[str | None, str | None, str]:
    rate = parse_rate(text, **options)  # type: ignore[arg-type]
    low, high = (None if end is None else str(end.normalize()) for end in (rate.low, rate.high))
    return low, high, str(rate.value.normalize())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4,5%/năm", "4.5"),
        ("4.50", "4.5"),
        ("4,5 % p. a.", "4.5"),
        ("Lãi suất: 4.7%", "4.7"),
        ("0,100", "0.1"),
        ("５.２５％", "5.25"),
        ("٤٫٥٪", "4.5"),
        ("−0.5", "-0.5"),
        ("45‰", "4.5"),
        ("450 bps", "4.5"),
        ("(4.5)", "4.5"),
        ("4.5\u00a0%", "4.5"),
        ("1 234,5", "1234.5"),
        ("1'234.5", "1234.5"),
        ("1.234,5", "1234.5"),
        ("1,234.5", "1234.5"),
    ],
)
def test_one_figure_is_its_own_minimum_and_maximum(text: str, value: str) -> None:
    normal = str(Decimal(value).normalize())
    assert ends(text) == (normal, normal, normal)


@pytest.mark.parametrize(
    ("text", "low", "high", "value"),
    [
        ("4.5 - 4.7 %", "4.5", "4.7", "4.6"),
        ("4.5%–4.7%", "4.5", "4.7", "4.6"),
        ("từ 4,5 đến 4,7", "4.5", "4.7", "4.6"),
        ("from 4.5% to 5%", "4.5", "5", "4.75"),
        ("2,2 % bis 2,5 %", "2.2", "2.5", "2.35"),
        ("4,5 % - 4,7 %/năm", "4.5", "4.7", "4.6"),
        ("-0.5 - -0.1", "-0.5", "-0.1", "-0.3"),
        ("4.5%~4.9%", "4.5", "4.9", "4.7"),
        ("entre 4,5 % et 4,9 %", "4.5", "4.9", "4.7"),
        ("entre 4,5 % y 4,9 %", "4.5", "4.9", "4.7"),
    ],
)
def test_a_range_keeps_its_ends_and_counts_as_its_middle(text: str, low: str, high: str, value: str) -> None:
    assert ends(text) == (low, high, value)


@pytest.mark.parametrize(
    ("text", "low", "high", "warnings"),
    [
        ("từ 4,5%", "4.5", None, ("open_range",)),
        ("up to 4.7% p.a.", None, "4.7", ("open_range",)),
        ("as low as 4.5% APR", "4.5", None, ("open_range",)),
        ("starting from 4.5%", "4.5", None, ("open_range",)),
        ("4.5% or more", "4.5", None, ("open_range",)),
        ("no more than 4.7%", None, "4.7", ("open_range",)),
        ("fino al 4,7 %", None, "4.7", ("open_range",)),
        ("最大4.7%", None, "4.7", ("open_range",)),
        ("4.5% for balances over $10,000", "4.5", "4.5", ("condition",)),
        ("2,5 % bis 50.000 €", "2.5", "2.5", ("condition",)),
        ("up to 4.7% p.a. (min. NZD 5,000)", None, "4.7", ("condition", "open_range")),
        ("4.5% p.a. if you deposit $200 per month", "4.5", "4.5", ("condition",)),
        ("0.5% per month on the first €1,000", "6", "6", ("condition", "monthly_rate")),
        ("4.5% monthly", "4.5", "4.5", ("maybe_monthly",)),
        ("lên đến 6,1%/năm", None, "6.1", ("open_range",)),
        ("6.1%+", "6.1", None, ("open_range",)),
        ("4.7-4.5", "4.5", "4.7", ("range_reversed",)),
        ("4,5*", "4.5", "4.5", ("footnote",)),
        ("4.5 (1)", "4.5", "4.5", ("footnote",)),
        ("4,5¹", "4.5", "4.5", ("footnote",)),
        ("4.5 [2]", "4.5", "4.5", ("footnote",)),
        ("0,5%/tháng", "6", "6", ("monthly_rate",)),
        ("4.500", "4.5", "4.5", ("separator_ambiguous",)),
        ("12,345", "12.345", "12.345", ("separator_ambiguous",)),
        ("1.234,5", "1234.5", "1234.5", ("implausible",)),
        ("100.000.000", "1E+8", "1E+8", ("implausible",)),
    ],
)
def test_what_is_odd_about_a_figure_is_reported(
    text: str, low: str | None, high: str | None, warnings: tuple[str, ...]
) -> None:
    assert ends(text)[:2] == (low, high)
    assert parse_rate(text).warnings == warnings


@pytest.mark.parametrize(
    "text", ["", " ", "-", "–", "—", "...", "n/a", "N/A*", "k. A.", "x", "không áp dụng"]
)
def test_blanks_and_dashes_are_no_value(text: str) -> None:
    with pytest.raises(UnreadableValue) as caught:
        parse_rate(text)
    assert caught.value.reason is Reason.NO_VALUE


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("liên hệ", Reason.NOT_A_NUMBER),
        ("4.5a", Reason.NOT_A_NUMBER),
        ("0.5.6", Reason.NOT_A_NUMBER),
        ("4,50,5", Reason.NOT_A_NUMBER),
        ("4..5", Reason.NOT_A_NUMBER),
        ("4 5", Reason.SEVERAL_NUMBERS),
        ("4.5 / 4.7 / 4.9", Reason.SEVERAL_NUMBERS),
        ("4.5 4.7", Reason.SEVERAL_NUMBERS),
    ],
)
def test_what_is_no_figure_gives_none(text: str, reason: Reason) -> None:
    with pytest.raises(UnreadableValue) as caught:
        parse_rate(text)
    assert caught.value.reason is reason


@pytest.mark.parametrize(
    ("declared", "text", "value", "warnings"),
    [
        ("point", "4.50", "4.5", ()),
        ("point", "4,50", "4.5", ("separator_unexpected",)),
        ("point", "4.500", "4.5", ()),
        ("point", "4,500", "4.5", ("separator_unexpected",)),
        ("comma", "4,500", "4.5", ()),
        ("comma", "4.50", "4.5", ("separator_unexpected",)),
        ("comma", "1.234,5", "1234.5", ("implausible",)),
        ("point", "1.234,5", "1234.5", ("separator_unexpected", "implausible")),
    ],
)
def test_a_comma_where_a_point_was_is_never_read_as_another_number(
    declared: str, text: str, value: str, warnings: tuple[str, ...]
) -> None:
    rate = parse_rate(text, decimal_mark=declared)  # type: ignore[arg-type]
    assert rate.value == Decimal(value)
    assert rate.warnings == warnings


def test_a_number_without_a_sign_is_in_the_unit_of_its_source() -> None:
    assert parse_rate("0.045", unit="fraction").value == Decimal("4.5")
    assert parse_rate("45", unit="per_mille").value == Decimal("4.5")
    assert parse_rate("450", unit="basis_points").value == Decimal("4.5")
    assert parse_rate("4.5%", unit="fraction").value == Decimal("4.5")


@given(st.decimals(0, 30, places=2), st.sampled_from(["{}", "{}%", "{} %", "{}%/năm", "{} % p.a.", "{}*"]))
def test_every_rate_of_two_decimals_comes_back_with_point_and_comma(number: Decimal, form: str) -> None:
    for mark in ".,":
        rate = parse_rate(form.format(str(number).replace(".", mark)))
        assert (rate.low, rate.high, rate.value) == (number, number, number)


@given(st.text(max_size=30))
def test_any_text_is_a_finite_figure_or_has_a_reason(text: str) -> None:
    with suppress(UnreadableValue):
        rate = parse_rate(text)
        assert rate.value.is_finite()
        if rate.low is not None and rate.high is not None:
            assert rate.low <= rate.value <= rate.high
