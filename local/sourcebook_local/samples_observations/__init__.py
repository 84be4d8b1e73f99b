"""Sample pages of figures, in three forms and three languages; every bank in them is invented."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Final

import yaml

from sourcebook.sources.model import SourceSpec, parse_spec

FOLDER: Final = Path(__file__).parent
DECLARATIONS: Final = FOLDER / "sources.yaml"
PATH: Final = "/observations/"
"""Where the sample server has the pages."""

_DECLARED_BASE = "http://127.0.0.1:8460"
_CONTENT_TYPES: Final = MappingProxyType(
    {
        "lai-suat-ben-xuan.html": "text/html; charset=utf-8",
        "harbour-rates.json": "application/json",
        "zinsvergleich.csv": "text/csv; charset=windows-1252",
    }
)


def page_names() -> list[str]:
    """Return the file names of the pages."""
    return list(_CONTENT_TYPES)


def page(name: str) -> tuple[bytes, str, datetime]:
    """Return a page, its content type and the time of its last change.

    Raises:
        KeyError: if there is no such page.
    """
    content_type = _CONTENT_TYPES[name]
    file = FOLDER / name
    modified = datetime.fromtimestamp(int(file.stat().st_mtime), UTC)
    return file.read_bytes(), content_type, modified


def sample_observation_sources(base_url: str) -> list[SourceSpec]:
    """Return the declarations of the sample pages.

    Args:
        base_url: where the sample server listens, e.g. ``http://127.0.0.1:8460``.
    """
    text = DECLARATIONS.read_text(encoding="utf-8").replace(_DECLARED_BASE, base_url.rstrip("/"))
    return [parse_spec(entry) for entry in yaml.safe_load(text)["sources"]]
