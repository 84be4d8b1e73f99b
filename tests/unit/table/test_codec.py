from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.table.codec import decode_item, encode, encode_item

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(min_size=1), inner),
    max_leaves=10,
)


@given(st.dictionaries(st.text(min_size=1), values))
def test_an_item_survives_the_way_to_the_table_and_back_without_its_absent_attributes(
    item: dict[str, object],
) -> None:
    present = {name: value for name, value in item.items() if value is not None}
    assert decode_item(encode_item(item)) == present


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_keep_their_value(number: float) -> None:
    assert float(decode_item({"n": encode(number)})["n"]) == number


def test_decimals_go_in_as_numbers() -> None:
    assert encode(Decimal("4.50")) == {"N": "4.50"}


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_not_finite_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="no number"):
        encode(number)


def test_a_type_that_has_no_form_is_refused() -> None:
    with pytest.raises(TypeError, match="object has no form"):
        encode(object())
