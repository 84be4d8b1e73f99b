"""Reading the files in which people declare their sources."""

from __future__ import annotations

from pathlib import Path

import yaml

from sourcebook.errors import InvalidInput
from sourcebook.feeds.opml import read_opml
from sourcebook.sources.model import SourceSpec, parse_spec


def read_sources(path: Path) -> list[SourceSpec]:
    """Read an OPML file, or a YAML file with a list `sources`.

    Raises:
        InvalidInput: naming the file, the entry and the field that is wrong.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            "file", str(path), f"an OPML or YAML file in UTF-8 that can be read ({error})"
        ) from error
    is_xml = text.lstrip().startswith("<")
    found = list(read_opml(text)) if is_xml else _read_yaml(path, text)
    if not found:
        raise InvalidInput("file", str(path), "a file that declares at least one source")
    ids = [spec.source_id for spec in found]
    if repeated := next((id_ for id_ in ids if ids.count(id_) > 1), None):
        raise InvalidInput("source_id", repeated, "an id that stands in the file once")
    return found


def _read_yaml(path: Path, text: str) -> list[SourceSpec]:
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InvalidInput("file", str(path), f"well-formed YAML ({error})") from error
    entries = content.get("sources") if isinstance(content, dict) else content
    if not isinstance(entries, list):
        raise InvalidInput("sources", entries, "a list of sources, each with source_id and url")
    specs = []
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict):
            raise InvalidInput(f"sources[{number}]", entry, "a mapping with source_id and url")
        try:
            specs.append(parse_spec(entry))
        except InvalidInput as error:
            raise InvalidInput(
                f"sources[{number}].{error.field}", entry.get(error.field), error.expected
            ) from error
    return specs
