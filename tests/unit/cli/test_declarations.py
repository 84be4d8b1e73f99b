"""Files in which people declare their sources."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from sourcebook.errors import InvalidInput
from sourcebook_cli.declarations import read_sources

if TYPE_CHECKING:
    from pathlib import Path

API = """
sources:
  - source_id: wire
    url: https://wire.example/feed.xml
  - source_id: tiingo
    kind: tiingo
    url: https://api.tiingo.com/tiingo/news
    options: {tickers: [aapl], secret: sourcebook/tiingo}
"""


def test_a_news_api_is_declared_with_its_options(tmp_path: Path) -> None:
    file = tmp_path / "sources.yaml"
    file.write_text(API)
    assert [spec.kind for spec in read_sources(file)] == ["feed", "tiingo"]


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        (
            "kind: tiingo",
            "kind: gopher",
            "sources[2].kind: 'gopher' is not valid; expected one of feed, tiingo",
        ),
        ("[aapl]", "[aapl, not a ticker]", "sources[2].options.tickers.1: 'not a ticker' is not valid"),
        ("[aapl]", "[]", "sources[2].options.tickers: [] is not valid"),
        (", secret: sourcebook/tiingo", "", "sources[2].options.secret is missing; expected "),
        ("url: https://wire.example/feed.xml", "url: wire", "sources[1].url: 'wire' is not valid"),
    ],
)
def test_what_is_wrong_is_named_with_its_place_and_value(
    tmp_path: Path, right: str, wrong: str, message: str
) -> None:
    file = tmp_path / "sources.yaml"
    file.write_text(API.replace(right, wrong))
    with pytest.raises(InvalidInput, match=re.escape(message)):
        read_sources(file)
