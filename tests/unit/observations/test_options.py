from __future__ import annotations

from typing import Any

import pytest

from sourcebook.articles.adapters.options import check_options
from sourcebook.errors import InvalidInput
from sourcebook.observations.options import read_observation_options
from sourcebook.sources.model import parse_spec
from tests.unit.observations.pages import spec


@pytest.mark.parametrize(
    ("kind", "options", "field"),
    [
        ("csv", {"timezone": "Mars/Olympus"}, "options.timezone"),
        ("csv", {"series": []}, "options.series"),
        ("csv", {"series": "Deposit Online"}, "options.series.0.code"),
        ("csv", {"bank": None}, "options"),
        ("csv", {"value": None}, "options"),
        ("csv", {"bank": {"selector": "td"}}, "options"),
        ("csv", {"header": False}, "options"),
        ("csv", {"colour": "red"}, "options.colour"),
        ("csv", {"max_age_days": 0}, "options.max_age_days"),
        ("csv", {"series": {"code": "home_loan", "kind": "loan"}}, "options"),
        ("csv", {"term": None}, "options"),
        ("html_table", {"table": "td["}, "options"),
        ("json_api", {"records": "a["}, "options"),
        ("json_api", {"bank": {"column": "a", "const": "b"}}, "options.bank"),
        ("csv", {"value": {"column": "Rate", "term": "soon"}}, "options.values.0.term"),
        ("csv", {"value": {"column": "Rate", "series": "other"}}, "options"),
    ],
)
def test_a_wrong_declaration_names_the_option(kind: str, options: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_observation_options(spec(kind, **options))
    assert caught.value.field == field
    assert caught.value.expected


def test_a_loan_with_a_term_is_refused_because_loans_have_none() -> None:
    with pytest.raises(InvalidInput, match="a loan has no term_months"):
        check_options(spec("csv", series={"code": "home_loan", "kind": "loan"}))


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    unknown = parse_spec({"source_id": "a", "kind": "pdf", "url": "https://a.example/"})
    with pytest.raises(InvalidInput, match="feed, tiingo, finnhub, html_table, json_api, csv"):
        check_options(unknown)


def test_a_right_declaration_passes() -> None:
    for kind in ("html_table", "json_api", "csv"):
        assert check_options(spec(kind)) == spec(kind)
