"""Reads the files in which sources are declared."""

from __future__ import annotations

from pathlib import Path

import yaml

from sourcebook.articles.adapters.options import check_options
from sourcebook.errors import InvalidInput
from sourcebook.feeds.opml import declaration, parse_opml
from sourcebook.sources.model import SourceSpec, parse_spec
from sourcebook_cli.output import say


def read_sources(path: Path) -> list[SourceSpec]:
    """Read an OPML file, or a YAML file with a list `sources` or with one source.

    A YAML file is the operator's own and is read whole or not at all; of an OPML file, what cannot be taken
    is printed and the rest is read.

    Raises:
        InvalidInput: naming the file, the entry and the field that is wrong.
    """
    try:
        content = path.read_bytes()
        # A file in UTF-16 is no YAML of ours, but may be OPML.
        is_xml = content.lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n\0").startswith(b"<")
        text = "" if is_xml else content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            "file", str(path), f"an OPML or YAML file in UTF-8 that can be read ({error})"
        ) from error
    found = _read_opml(path, content) if is_xml else _read_yaml(path, text)
    if not found:
        raise InvalidInput("file", str(path), "a file that declares at least one source")
    ids = [spec.source_id for spec in found]
    if repeated := next((id_ for id_ in ids if ids.count(id_) > 1), None):
        raise InvalidInput("source_id", repeated, "an id that stands in the file once")
    return found


def _read_opml(path: Path, content: bytes) -> list[SourceSpec]:
    document = parse_opml(content)
    left_out = [(problem.line, problem.message) for problem in document.problems]
    specs = []
    for feed in document.feeds:
        try:
            specs.append(parse_spec(declaration(feed)))
        except InvalidInput as error:
            left_out.append((feed.line, str(error)))
    for line, message in sorted(left_out):
        say(f"{path}, line {line}: {message}", err=True)
    return specs


def _read_yaml(path: Path, text: str) -> list[SourceSpec]:
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InvalidInput("file", str(path), f"well-formed YAML ({error})") from error
    if isinstance(content, dict):
        entries = [content] if "source_id" in content else content.get("sources")
    else:
        entries = content
    if not isinstance(entries, list):
        raise InvalidInput("sources", entries, "a list of sources, each with source_id and url")
    specs = []
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict):
            raise InvalidInput(f"sources[{number}]", entry, "a mapping with source_id and url")
        try:
            specs.append(check_options(parse_spec(entry)))
        except InvalidInput as error:
            raise InvalidInput(
                f"sources[{number}].{error.field}", _at(entry, error.field), error.expected
            ) from error
    return specs


def _at(entry: object, field: str) -> object:
    """Return the value of a field, given with dots between its levels; None where there is none."""
    for name in field.split("."):
        if isinstance(entry, list) and name.isdecimal() and int(name) < len(entry):
            entry = entry[int(name)]
        else:
            entry = entry.get(name) if isinstance(entry, dict) else None
    return entry
