"""Every reader of XML against documents that grow or reach elsewhere. A new reader must be listed here."""

from __future__ import annotations

import ast
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.feeds.model import NotAFeed
from sourcebook.feeds.opml import parse_opml
from sourcebook.feeds.parse import parse_feed
from sourcebook.novae.resolvers.archive import ArchiveRejected, ArchiveUnavailable
from sourcebook.spectra.providers.votable import read_table
from tests.templates import ROOT
from tests.unit.lightcurves.uploads import parse as parse_photometry

CANARY = "canary-81c3"
REFUSED = (NotAFeed, InvalidInput, ArchiveRejected, ArchiveUnavailable)

Reader = Callable[[bytes], object]
READERS: dict[str, tuple[Reader, str]] = {
    "feeds/_expat.py": (
        lambda body: parse_feed(body, url="https://a.example/", mode="fast"),
        (
            "<rss version='2.0'><channel><title>t</title><item><title>{}</title><guid>1</guid></item>"
            "</channel></rss>"
        ),
    ),
    "feeds/_reference.py": (
        lambda body: parse_feed(body, url="https://a.example/", mode="reference"),
        (
            "<rss version='2.0'><channel><title>t</title><item><title>{}</title><guid>1</guid></item>"
            "</channel></rss>"
        ),
    ),
    "feeds/opml.py": (
        parse_opml,
        "<opml version='2.0'><body><outline text='{}' xmlUrl='https://a.example/'/></body></opml>",
    ),
    "spectra/providers/votable.py": (
        lambda body: read_table("simbad", body, 10),
        (
            "<VOTABLE><RESOURCE><TABLE><FIELD name='a'/><DATA><TABLEDATA><TR><TD>{}</TD></TR></TABLEDATA>"
            "</DATA></TABLE></RESOURCE></VOTABLE>"
        ),
    ),
    "lightcurves/votable.py": (
        lambda body: parse_photometry(body.decode()),
        (
            "<VOTABLE><RESOURCE><TABLE><FIELD name='jd'/><FIELD name='mag'/><FIELD name='band'/><DATA>"
            "<TABLEDATA><TR><TD>2456079.9</TD><TD>11.1</TD><TD>{}</TD></TR></TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>"
        ),
    ),
}
"""By the module that holds the parser: how it is called, and a document with a place for a text."""

NO_READERS = {
    "votable_text.py": "escaping",
    "feeds/_mend.py": "names of expat's errors, and escaping",
}
"""Modules that take something of an XML package and parse nothing with it."""

LAUGHS = '<!ENTITY b0 "ha">' + "".join(f'<!ENTITY b{n} "{f"&b{n - 1};" * 10}">' for n in range(1, 10))


@pytest.fixture(scope="module")
def listener() -> Iterator[tuple[int, list[object]]]:
    """A port of this machine, and who has connected to it."""
    came: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def take() -> None:
            while True:
                try:
                    connection, who = server.accept()
                except OSError:
                    return
                came.append(who)
                connection.close()

        thread = threading.Thread(target=take, daemon=True)
        thread.start()
        yield port, came
        server.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def declarations(port: int, secret: Path) -> dict[str, tuple[str, str]]:
    """Document types that mean harm, each with the text that sets them off."""
    return {
        "billion laughs": (f"<!DOCTYPE x [{LAUGHS}]>", "&b9;"),
        "quadratic": (f'<!DOCTYPE x [<!ENTITY a "{"A" * 50_000}">]>', "&a;" * 20_000),
        "recursive": ('<!DOCTYPE x [<!ENTITY a "&b;"><!ENTITY b "&a;">]>', "&a;"),
        "file": (f'<!DOCTYPE x [<!ENTITY a SYSTEM "{secret.as_uri()}">]>', "&a;"),
        "address": (f'<!DOCTYPE x [<!ENTITY a SYSTEM "http://127.0.0.1:{port}/">]>', "&a;"),
        "public": (f'<!DOCTYPE x PUBLIC "-//a//b" "http://127.0.0.1:{port}/a.dtd">', "x"),
        "parameter": (f'<!DOCTYPE x [<!ENTITY % a SYSTEM "http://127.0.0.1:{port}/a.dtd"> %a;]>', "x"),
        "parameter laughs": (
            '<!DOCTYPE x [<!ENTITY % a "AAAAAAAAAA"><!ENTITY % b "%a;%a;%a;%a;%a;%a;%a;%a;"> %b;]>',
            "x",
        ),
    }


HARMS = tuple(declarations(0, Path("/x")))


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("module", READERS)
def test_nothing_grows_or_is_fetched(
    module: str, harm: str, listener: tuple[int, list[object]], tmp_path: Path
) -> None:
    port, came = listener
    secret = tmp_path / "secret"
    secret.write_text(CANARY)
    declaration, text = declarations(port, secret)[harm]
    reader, document = READERS[module]
    begun = time.process_time()
    try:
        found = repr(reader(f"<?xml version='1.0'?>{declaration}{document.format(text)}".encode()))
    except REFUSED as refusal:
        found = str(refusal)
    assert time.process_time() - begun < 5
    assert len(found) < 100_000
    assert CANARY not in found
    assert came == []


@pytest.mark.parametrize("module", READERS)
def test_the_same_document_without_harm_is_read(module: str) -> None:
    reader, document = READERS[module]
    assert "plain text" in repr(reader(f"<?xml version='1.0'?>{document.format('plain text')}".encode()))


def test_every_module_that_parses_xml_is_tested_here() -> None:
    package = ROOT / "layers" / "core" / "python" / "sourcebook"
    found = set()
    for folder in (package, ROOT / "lambdas", ROOT / "layers", ROOT / "cli"):
        for path in folder.rglob("*.py"):
            text = path.read_text("utf-8")
            if "xml" not in text and "bs4" not in text:
                continue
            for node in ast.walk(ast.parse(text)):
                names = (
                    [alias.name for alias in node.names]
                    if isinstance(node, ast.Import)
                    else [node.module or ""]
                    if isinstance(node, ast.ImportFrom)
                    else []
                )
                if any(name.split(".")[0] in {"xml", "lxml", "defusedxml", "bs4"} for name in names):
                    found.add(
                        path.relative_to(package).as_posix() if path.is_relative_to(package) else str(path)
                    )
    assert found == READERS.keys() | NO_READERS.keys()
