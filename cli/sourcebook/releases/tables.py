"""The tables of a release, each column declared once for VOTable, ECSV and Parquet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sourcebook.columns import ColumnKind


@dataclass(frozen=True, slots=True)
class ReleaseColumn:
    """One column.

    Attributes:
        ucd: UCD1+ of what it holds.
        unit: in the words of VOUnits.
    """

    name: str
    ucd: str
    kind: ColumnKind = ColumnKind.TEXT
    unit: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True)
class ReleaseTable:
    """One table; its files are called as it is."""

    name: str
    about: str
    columns: tuple[ReleaseColumn, ...]


_NOVA_ID: Final = ReleaseColumn("nova_id", "meta.id;meta.main", about="The nova's id in this catalogue")
_OF_NOVA: Final = ReleaseColumn("nova_id", "meta.id.parent", about="The nova, see the table novae")
_NAME: Final = ReleaseColumn("primary_name", "meta.id;src", about="The nova's primary name")

NOVAE: Final = ReleaseTable(
    "novae",
    "Novae that count: neither merged into another nor deprecated",
    (
        _NOVA_ID,
        _NAME,
        ReleaseColumn("other_names", "meta.id", about="All other names, with | between them"),
        ReleaseColumn("ra_deg", "pos.eq.ra;meta.main", ColumnKind.NUMBER, "deg", "Right ascension, ICRS"),
        ReleaseColumn("dec_deg", "pos.eq.dec;meta.main", ColumnKind.NUMBER, "deg", "Declination, ICRS"),
        ReleaseColumn("constellation", "meta.id.parent", about="That the place lies in"),
        ReleaseColumn("discovery_date", "time.epoch", about="Of the earliest publication; day 00: the month"),
        ReleaseColumn("object_type", "src.class", about="As the resolver has it"),
        ReleaseColumn("spectra", "meta.number", ColumnKind.INTEGER, about="Valid spectra"),
        ReleaseColumn("measurements", "meta.number", ColumnKind.INTEGER, about="Photometric measurements"),
        ReleaseColumn("publications", "meta.number", ColumnKind.INTEGER),
    ),
)
SPECTRA: Final = ReleaseTable(
    "spectra",
    "Valid spectra; the files are at the providers and in this catalogue",
    (
        ReleaseColumn("data_product_id", "meta.id;meta.main", about="The spectrum's id in this catalogue"),
        _OF_NOVA,
        _NAME,
        ReleaseColumn("provider", "meta.curation", about="Who keeps the file"),
        ReleaseColumn("provider_product_id", "meta.id", about="What the provider calls it"),
        ReleaseColumn("instrument", "meta.id;instr"),
        ReleaseColumn("observed_at", "time.start;obs.exposure", ColumnKind.TIME, about="UTC"),
        ReleaseColumn("wavelength_min", "em.wl;stat.min", ColumnKind.NUMBER, "m"),
        ReleaseColumn("wavelength_max", "em.wl;stat.max", ColumnKind.NUMBER, "m"),
        ReleaseColumn("byte_length", "phys.size;meta.file", ColumnKind.INTEGER, "byte"),
        ReleaseColumn("sha256", "meta.checksum", about="Of the file as it came"),
    ),
)
PHOTOMETRY: Final = ReleaseTable(
    "photometry",
    "Photometric measurements",
    (
        _OF_NOVA,
        _NAME,
        ReleaseColumn("mjd", "time.epoch", ColumnKind.NUMBER, "d", "Of its own time_system and time_scale"),
        ReleaseColumn("time_system", "meta.code", about="H: at the Sun's centre, B: at the barycentre"),
        ReleaseColumn("time_scale", "time.scale"),
        ReleaseColumn("band", "instr.bandpass"),
        ReleaseColumn("magnitude", "phot.mag", ColumnKind.NUMBER, "mag"),
        ReleaseColumn("magnitude_error", "stat.error;phot.mag", ColumnKind.NUMBER, "mag", "One sigma"),
        ReleaseColumn("magnitude_system", "meta.code"),
        ReleaseColumn("flux", "phot.flux", ColumnKind.NUMBER, about="In flux_unit"),
        ReleaseColumn(
            "flux_error", "stat.error;phot.flux", ColumnKind.NUMBER, about="One sigma, in flux_unit"
        ),
        ReleaseColumn("flux_unit", "meta.unit"),
        ReleaseColumn("upper_limit", "meta.code.qual", ColumnKind.FLAG, about="Not seen: fainter than this"),
        ReleaseColumn("observer", "obs.observer"),
        ReleaseColumn("instrument", "instr"),
        ReleaseColumn("file_id", "meta.id", about="SHA-256 of the upload that it came with"),
    ),
)
REFERENCES: Final = ReleaseTable(
    "references",
    "Publications about the novae; references.bib has them for BibTeX",
    (
        _OF_NOVA,
        _NAME,
        ReleaseColumn("bibcode", "meta.bib.bibcode"),
        ReleaseColumn("role", "meta.code", about="What it is to the nova"),
        ReleaseColumn("title", "meta.title"),
        ReleaseColumn("authors", "meta.bib.author", about="The first ten, with ; between them"),
        ReleaseColumn("published_at", "time.publiYear", about="As precisely as it is known"),
        ReleaseColumn("link", "meta.ref.url"),
    ),
)
TABLES: Final = (NOVAE, SPECTRA, PHOTOMETRY, REFERENCES)
