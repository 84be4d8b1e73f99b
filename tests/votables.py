"""The rules of VOTables: those of astropy, the list of UCDs, VOUnits, and TOPCAT's where stilts is."""

from __future__ import annotations

import io
import shutil
import subprocess
import warnings
from pathlib import Path

import pytest
from astropy.io.votable import parse
from astropy.io.votable.tree import VOTableFile
from astropy.io.votable.ucd import parse_ucd

STILTS = shutil.which("stilts")

needs_stilts = pytest.mark.skipif(
    STILTS is None, reason="no stilts here, so no votlint: `apt-get install stilts` on Debian"
)


def read_strictly(body: str | bytes) -> VOTableFile:
    """Return a VOTable as astropy reads it, where every remark of astropy's is an error.

    Raises:
        ValueError, Warning: if a UCD has a word that is not in the list, or astropy has any remark, as it has
            of a unit that is not one of VOUnits 1.0.
    """
    content = body.encode() if isinstance(body, str) else body
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        document = parse(io.BytesIO(content), verify="exception")
        for table in document.iter_tables():
            table.to_table()
            for field in table.fields:
                if document.version != "1.1":  # of which the UCDs are older words
                    parse_ucd(field.ucd, check_controlled_vocabulary=True)
    return document


def votlint(file: Path) -> str:
    """Return what TOPCAT's rules have against a VOTable; nothing where all is well."""
    assert STILTS is not None
    # The first compiler alone halves the time of so short a program.
    command = [STILTS, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "votlint", f"votable={file}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    return f"{done.stdout}{done.stderr}".strip() or ("" if done.returncode == 0 else str(done.returncode))
