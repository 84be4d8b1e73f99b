"""A release of the catalogue, read back by astropy and pyarrow."""

from __future__ import annotations

import hashlib
import io
import warnings
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from astropy.table import Table as AstroTable

from sourcebook.bucket.objects import Objects
from sourcebook.clock import isoformat, parse_iso
from sourcebook.columns import ColumnKind
from sourcebook.novae.establish import NovaEstablisher
from sourcebook.novae.resolvers.identity import Identity
from sourcebook.photometry.messages import RebuildTable
from sourcebook.photometry.table import TableRebuilder
from sourcebook.photometry.upload import UploadValidator
from sourcebook.releases.release import Release, Released, Releaser
from sourcebook.releases.tables import TABLES
from sourcebook.table import keys
from tests.integration.api.test_products import Client
from tests.integration.astronomy import task_run
from tests.unit.fits import made as spectra_made
from tests.votables import needs_stilts, read_strictly, votlint

if TYPE_CHECKING:
    from pathlib import Path

    from sourcebook.novae.store import NovaStore
    from tests.integration.astronomy import Clock

pytestmark = pytest.mark.integration

CSV = 'mjd,mag,err,band,observer\n56079.1,11.1,0.01,V,"Bo & <Co>"\n56080.1,<15.2,,B,\n'


def fill(store: NovaStore, objects: Objects, clock: Clock) -> str:
    nova = NovaEstablisher(store).establish(
        "Nova Sco 2012 No. 1",
        Identity("simbad", "simbad:v1324 sco", "V1324 Sco", 267.72458, -32.62236, "No*"),
    )
    NovaEstablisher(store).establish(
        "V339 Del", Identity("simbad", "simbad:v339 del", "V339 Del", 305.87790, 20.76771, "No*")
    )
    assert nova.nova_id is not None
    key = "raw/photometry/1/night.csv"
    objects.write(key, CSV.encode(), "text/csv")
    valid = UploadValidator(store, objects, clock).validate(nova.nova_id, key).to_json()
    upload = {"s3_key": key, "etag": valid["etag"], "byte_length": valid["byte_length"]}
    request = {"nova_id": nova.nova_id, "file_id": valid["file_id"], "upload": upload}
    TableRebuilder(store, objects, clock).rebuild(RebuildTable.of_json(request), task_run())
    reference = {
        "reference_id": "7d5e1f5c-2a7c-4e0c-b8b9-3d5a4f4c0b2a",
        "source": "ADS",
        "source_identifier": "2018A&A...609A.120F",
        "title": "The γ-ray nova V1324 Sco: 50% {dust} & $\\alpha$",
        "authors": ["Finzell, Thomas", "Chomiuk, Laura"],
        "author_count": 11,
        "published_at": "2018-01",
    }
    store.table.put(
        {"PK": nova.nova_id, "SK": f"{keys.REFERENCE_PREFIX}{reference['reference_id']}"} | reference
    )
    nothing: Any = None
    Client(nothing, store.table, objects, nova.nova_id).valid_spectrum(spectra_made.eso())
    return nova.nova_id


@pytest.fixture
def releaser(store: NovaStore, objects: Objects, clock: Clock) -> Releaser:
    return Releaser(store.table, objects, clock)


@pytest.fixture
def made(releaser: Releaser, store: NovaStore, objects: Objects, clock: Clock) -> Release:
    fill(store, objects, clock)
    return releaser.release()


def plain(value: Any) -> Any:
    """Return a cell as Python has it; what is masked or empty is None."""
    if isinstance(value, datetime):
        return isoformat(value)
    if value is None or np.ma.is_masked(value) or str(value) in {"", "None"}:
        return None
    return value.item() if hasattr(value, "item") else value


def test_all_three_formats_say_the_same_and_astropy_has_no_remark(made: Release) -> None:
    for table in TABLES:
        document = read_strictly(made.files[f"{table.name}.vot"])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ecsv = AstroTable.read(made.files[f"{table.name}.ecsv"].decode(), format="ascii.ecsv")
        read = document.get_first_table().to_table()
        parquet = pq.read_table(io.BytesIO(made.files[f"{table.name}.parquet"])).to_pylist()
        assert len(read) == len(ecsv) == len(parquet) == made.counts[table.name]
        for one, other, third in zip(read, ecsv, parquet, strict=True):
            for column in table.columns:
                expected = third[column.name]
                valid = [plain(one[column.name]), plain(other[column.name])]
                if column.kind is ColumnKind.TIME:
                    valid = [text and isoformat(parse_iso(text)) for text in valid]
                assert valid == [plain(expected)] * 2, column.name
        for column in table.columns:
            assert str(read[column.name].unit or "") == str(ecsv[column.name].unit or "") == column.unit
            assert document.get_first_table().get_field_by_id(column.name).ucd == column.ucd
    assert made.counts == {"novae": 2, "spectra": 1, "photometry": 2, "references": 1}


def test_a_spectrum_is_listed_with_what_its_file_says(made: Release) -> None:
    (row,) = pq.read_table(io.BytesIO(made.files["spectra.parquet"])).to_pylist()
    assert row["primary_name"] == "V1324 Sco"
    assert None not in [row[name] for name in ("provider", "instrument", "observed_at", "data_product_id")]
    assert 0 < row["wavelength_min"] < row["wavelength_max"] < 1e-5, "metres"
    (nova,) = [
        one
        for one in pq.read_table(io.BytesIO(made.files["novae.parquet"])).to_pylist()
        if one["primary_name"] == "V1324 Sco"
    ]
    assert (nova["spectra"], nova["measurements"], nova["publications"]) == (1, 2, 1)


@needs_stilts
def test_topcats_rules_have_nothing_against_a_release(made: Release, tmp_path: Path) -> None:
    for table in TABLES:
        file = tmp_path / f"{table.name}.vot"
        file.write_bytes(made.files[file.name])
        assert votlint(file) == "", table.name


def test_the_publications_are_bibtex(made: Release) -> None:
    text = made.files["references.bib"].decode()
    assert text.startswith("@article{2018A&A...609A.120F,\n")
    assert r"title = {{The γ-ray nova V1324 Sco: 50\% \{dust\} \& \$\textbackslash{}alpha\$}}" in text
    assert "author = {Finzell, Thomas and Chomiuk, Laura and others}" in text
    assert "year = {2018}" in text
    assert "month = {1}" in text


def test_every_file_is_in_the_bucket_with_its_digest_and_the_readme_counts(
    made: Release, objects: Objects
) -> None:
    sums = objects.read("releases/2026-11-27/SHA256SUMS", 10**6).body.decode()
    listed = {name: digest for digest, name in (line.split("  ") for line in sums.splitlines())}
    assert listed.keys() == made.files.keys() - {"SHA256SUMS"}
    for name, digest in listed.items():
        assert hashlib.sha256(objects.read(f"releases/2026-11-27/{name}", 10**7).body).hexdigest() == digest
    readme = made.files["README.txt"].decode()
    assert "novae               2" in readme


def test_a_release_is_never_changed(made: Release, releaser: Releaser) -> None:
    with pytest.raises(Released):
        releaser.release()
    assert releaser.release("2026-11-27.2").files.keys() == made.files.keys()


def test_what_was_cut_short_is_no_release_and_is_made_by_the_next(
    releaser: Releaser, objects: Objects, store: NovaStore, clock: Clock
) -> None:
    fill(store, objects, clock)
    objects.write("releases/2026-11-27/novae.vot", b"half", "text/plain")
    assert releaser.release().files["novae.vot"].startswith(b"<?xml")
    assert objects.read("releases/2026-11-27/novae.vot", 10**6).body.startswith(b"<?xml")
