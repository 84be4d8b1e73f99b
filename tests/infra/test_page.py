"""The web page as it is bundled."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from infra.page import PACKAGE, build
from tests.templates import ROOT

LARGEST = 120_000
"""Bytes of the whole page, compressed."""
LINKED = ("https://simbad.cds.unistra.fr/", "https://ui.adsabs.harvard.edu/")
"""Where links of a nova lead; the page itself asks nobody there."""


@pytest.fixture(scope="module")
def folder() -> Path:
    return build() / "python" / PACKAGE


def test_the_whole_page_is_small(folder: Path) -> None:
    assert 20_000 < sum(file.stat().st_size for file in folder.glob("*.gz")) < LARGEST


def test_the_page_names_its_bundles_and_nothing_from_elsewhere(folder: Path) -> None:
    index = (folder / "index.html").read_text("utf-8")
    assert "{{" not in index
    named = re.findall(r'(?:src|href)="([^"]+)"', index)
    followed = re.findall(
        r'<link rel="alternate" href="([^"]+)" type="application/(?:atom\+xml|feed\+json)"', index
    )
    assert followed == ["articles.atom", "articles.json"], "readers find what can be followed"
    loaded = [address for address in named if address not in followed]
    assert len(loaded) == 3
    for address in loaded:
        assert address.startswith("assets/")
        assert (folder / address.removeprefix("assets/")).is_file()


def test_the_bundles_ask_nobody_else(folder: Path) -> None:
    (script,) = folder.glob("app-*.js")
    (style,) = folder.glob("app-*.css")
    # Names of XML namespaces are no addresses that anybody asks.
    asked = set(re.findall(r"https?://[^\s\"'`)]+", script.read_text("utf-8") + style.read_text("utf-8")))
    # "https://${typed}" is what somebody types, and is sent to the API.
    known = ("http://www.w3.org/", "https://${", *LINKED)
    assert {address for address in asked if not address.startswith(known)} == set()
    assert "@import" not in style.read_text("utf-8")


def test_no_text_reaches_the_page_as_markup() -> None:
    sources = "".join(path.read_text("utf-8") for path in (ROOT / "web" / "src").rglob("*.ts*"))
    assert "dangerouslySetInnerHTML" not in sources
    assert "innerHTML" not in sources
    assert "eval(" not in sources
