"""Makes a release of the catalogue: reads all of it, writes its files, and the list of their digests last.

A release is there when its ``SHA256SUMS`` is: what was cut short before has none, and is written over by the
next try. One that is there is never changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from sourcebook.bucket.objects import ObjectChanged, Objects
from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.errors import InvalidInput
from sourcebook.lightcurves.parquet import read_table
from sourcebook.novae.listing import NovaList, Wanted
from sourcebook.novae.product_read import ProductReader
from sourcebook.novae.read import NovaReader
from sourcebook.novae.reference_read import ReferenceReader
from sourcebook.records.spectrum import SpectrumProduct
from sourcebook.releases.tables import NOVAE, PHOTOMETRY, REFERENCES, SPECTRA, TABLES, ReleaseTable
from sourcebook.releases.written import FORMATS, as_bibtex
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.pages import all_items

PREFIX: Final = "releases/"
"""Where releases lie in the bucket."""
SUMS: Final = "SHA256SUMS"

_LARGEST_TABLE: Final = 200_000_000
_PAGE: Final = 100
_CONTENT_TYPES: Final = {
    "vot": "application/x-votable+xml",
    "ecsv": "text/plain; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}
_TEXT: Final = "text/plain; charset=utf-8"


class Released(InvalidInput):
    """There is a release of this name."""


@dataclass(frozen=True, slots=True)
class Release:
    """A release that was made.

    Attributes:
        files: bytes of each file, by its name.
        counts: rows by table.
    """

    name: str
    prefix: str
    files: dict[str, bytes]
    counts: dict[str, int]


@dataclass(slots=True)
class _Gathered:
    """The rows of all tables, and the publications as they are served."""

    rows: dict[str, list[dict[str, Any]]] = field(
        default_factory=lambda: {table.name: [] for table in TABLES}
    )
    references: list[dict[str, Any]] = field(default_factory=list)

    def add(self, table: ReleaseTable, row: dict[str, Any]) -> None:
        """Add a row to a table."""
        self.rows[table.name].append(row)


@dataclass(frozen=True, slots=True)
class Releaser:
    """Makes releases."""

    table: Table
    objects: Objects
    clock: Clock = utc_now

    def release(self, name: str = "") -> Release:
        """Make a release and put it into the bucket.

        Args:
            name: of the release; the day in UTC without one.

        Raises:
            Released: if there is one of this name.
            DocumentRefused, BucketBusy: if the bucket does not take it.
        """
        now = self.clock()
        name = name or now.date().isoformat()
        prefix = f"{PREFIX}{name}/"
        if self.objects.byte_length(f"{prefix}{SUMS}") is not None:
            raise _released(name)
        gathered = self._gather()
        files = {
            f"{table.name}.{suffix}": write(table, gathered.rows[table.name])
            for table in TABLES
            for suffix, write in FORMATS.items()
        }
        files["references.bib"] = as_bibtex(gathered.references)
        counts = {table.name: len(gathered.rows[table.name]) for table in TABLES}
        files["README.txt"] = _readme(name, isoformat(now), counts).encode()
        sums = "".join(
            f"{hashlib.sha256(body).hexdigest()}  {file}\n" for file, body in sorted(files.items())
        )
        for file, body in files.items():
            kind = _CONTENT_TYPES.get(file.rpartition(".")[2], _TEXT)
            self.objects.write(f"{prefix}{file}", body, kind)
        try:
            self.objects.create(f"{prefix}{SUMS}", sums.encode(), _TEXT)
        except ObjectChanged as error:
            raise _released(name) from error
        return Release(name, prefix, {**files, SUMS: sums.encode()}, counts)

    def _gather(self) -> _Gathered:
        gathered = _Gathered()
        products = ProductReader(self.table, lambda: self.objects)
        novae = partial(NovaList(self.table).page, Wanted(), limit=_PAGE)
        for nova in all_items(novae):
            nova_id, known = nova["nova_id"], NovaReader(self.table).get(nova["nova_id"])
            names = [] if known is None else [one["name"] for one in known["names"]]
            own = {"nova_id": nova_id, "primary_name": nova["primary_name"]}
            spectra = [_spectrum(own, one) for one in products.valid_spectra(nova_id)]
            measurements = [own | one for one in self._measurements(nova_id)]
            references = list(all_items(partial(ReferenceReader(self.table).page, nova_id, limit=_PAGE)))
            for row in spectra:
                gathered.add(SPECTRA, row)
            for row in measurements:
                gathered.add(PHOTOMETRY, row)
            for one in references:
                gathered.add(REFERENCES, own | one | {"authors": "; ".join(one["authors"] or ()) or None})
            gathered.references += references
            gathered.add(
                NOVAE,
                nova
                | {
                    "other_names": "|".join(name for name in names if name != nova["primary_name"]) or None,
                    "spectra": len(spectra),
                    "measurements": len(measurements),
                    "publications": len(references),
                },
            )
        return gathered

    def _measurements(self, nova_id: str) -> Iterator[dict[str, Any]]:
        item = self.table.get(keys.photometry_table(nova_id)) or {}
        if key := item.get("s3_key"):
            for one in read_table(self.objects.read(key, _LARGEST_TABLE).body).measurements:
                yield {column.name: getattr(one, column.name, None) for column in PHOTOMETRY.columns}


def _spectrum(own: dict[str, Any], spectrum: SpectrumProduct) -> dict[str, Any]:
    known, verdict = spectrum.to_json(), spectrum.verdict or {}
    return {
        **{column.name: known.get(column.name) for column in SPECTRA.columns},
        **own,
        "instrument": verdict.get("instrument"),
        "observed_at": verdict.get("observed_at_iso"),
        "wavelength_min": verdict.get("wavelength_min_m"),
        "wavelength_max": verdict.get("wavelength_max_m"),
    }


def _released(name: str) -> Released:
    return Released("name", name, "the name of a release that is not there yet; releases are never changed")


def _readme(name: str, made_at: str, counts: dict[str, int]) -> str:
    tables = "\n".join(f"  {table.name:<12}{counts[table.name]:>9}  {table.about}" for table in TABLES)
    columns = "\n\n".join(
        f"{table.name}\n"
        + "\n".join(
            f"  {one.name:<20}{one.unit or '-':<6}{one.ucd:<28}{one.about}".rstrip() for one in table.columns
        )
        for table in TABLES
    )
    return f"""\
A catalogue of novae, release {name}
Made {made_at} by Sourcebook

Rows by table
{tables}

Each table is there as VOTable 1.4 (.vot), ECSV 1.0 (.ecsv) and Parquet (.parquet), with the same columns
and rows. references.bib has the publications for BibTeX. SHA256SUMS has the digest of every file:
check them with `sha256sum -c SHA256SUMS`.

An empty cell is a value that is not known. Positions are those of resolvers, ICRS. Times of measurements are
Modified Julian Dates in the system and scale that the observer gave, and are not converted.

Columns: name, unit, UCD, meaning

{columns}
"""
