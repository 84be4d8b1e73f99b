"""Products that name their paper make it a publication of their nova."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sourcebook.bucket.objects import Objects
from sourcebook.novae.establish import NovaEstablisher
from sourcebook.novae.papers import add_paper, bibcode_of
from sourcebook.novae.reference_read import ReferenceReader
from sourcebook.novae.resolvers.identity import Identity
from sourcebook.photometry.messages import RebuildTable
from sourcebook.photometry.table import TableRebuilder
from sourcebook.photometry.upload import UploadValidator
from sourcebook.records.nova import ReferenceRole
from tests.integration.astronomy import task_run

if TYPE_CHECKING:
    from sourcebook.novae.store import NovaStore
    from tests.integration.astronomy import Clock

pytestmark = pytest.mark.integration

PAPER = "2018A&A...609A.120F"
ROWS = "mjd,mag,band\n56079.1,11.1,V\n"
VOTABLE = (
    '<VOTABLE><RESOURCE><INFO name="bibcode" value="2018A&amp;A...609A.120F"/><TABLE><FIELD name="mjd"/>'
    '<FIELD name="mag"/><FIELD name="band"/><DATA><TABLEDATA><TR><TD>56079.1</TD><TD>11.1</TD><TD>V</TD></TR>'
    "</TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>"
)


@pytest.fixture
def nova_id(store: NovaStore) -> str:
    made = NovaEstablisher(store).establish(
        "V1324 Sco", Identity("simbad", "simbad:v1324 sco", "V1324 Sco", 267.72458, -32.62236, "No*")
    )
    assert made.nova_id is not None
    return made.nova_id


def roles(store: NovaStore, nova_id: str) -> dict[str, str]:
    found = ReferenceReader(store.table).page(nova_id, limit=100).items
    return {one["bibcode"]: one["role"] for one in found}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PAPER, PAPER),
        (f"Finzell et al. ({PAPER})", PAPER),
        ("2018arXiv180100001F", "2018arXiv180100001F"),
        ("https://ui.adsabs.harvard.edu/abs/2012A%26A...545A..63S/abstract", "2012A&A...545A..63S"),
        (f"{PAPER} and 2014Sci...345..554A", None),
        ("10.1051/0004-6361/201630223", None),
        ("2018-01-01T00:00:00.000", None),
        ("", None),
        (None, None),
    ],
)
def test_a_bibcode_is_taken_where_there_is_one_and_only_one(text: str | None, expected: str | None) -> None:
    assert bibcode_of(text) == expected


def test_a_paper_keeps_the_role_that_it_has(store: NovaStore, clock: Clock, nova_id: str) -> None:
    for role, workflow in (
        (ReferenceRole.OTHER, "refresh_references"),
        (ReferenceRole.SPECTRA_SOURCE, "acquire_and_validate_spectra"),
        (ReferenceRole.PHOTOMETRY_SOURCE, "ingest_photometry"),
    ):
        add_paper(store.table, nova_id, PAPER, role, workflow=workflow, now=clock())
    assert roles(store, nova_id) == {PAPER: "SPECTRA_SOURCE"}


@pytest.mark.parametrize(
    ("upload", "expected"),
    [
        (f"# Bibcode: {PAPER}\n{ROWS}", {PAPER: "PHOTOMETRY_SOURCE"}),
        (f"#REFERENCE={PAPER}\n{ROWS}", {PAPER: "PHOTOMETRY_SOURCE"}),
        (VOTABLE, {PAPER: "PHOTOMETRY_SOURCE"}),
        (f"# reference: {PAPER}\n# reference: 2014Sci...345..554A\n{ROWS}", {}),
        (f"# seen beside {PAPER}\n{ROWS}", {}),
    ],
)
def test_an_upload_that_names_its_paper_links_it(
    store: NovaStore,
    objects: Objects,
    clock: Clock,
    nova_id: str,
    *,
    upload: str,
    expected: dict[str, str],
) -> None:
    key = "raw/photometry/1/night.csv"
    objects.write(key, upload.encode(), "text/plain")
    valid = UploadValidator(store, objects, clock).validate(nova_id, key).to_json()
    source = {"s3_key": key, "etag": valid["etag"], "byte_length": valid["byte_length"]}
    request = RebuildTable.of_json({"nova_id": nova_id, "file_id": valid["file_id"], "upload": source})
    for _ in range(2):
        TableRebuilder(store, objects, clock).rebuild(request, task_run())
    assert roles(store, nova_id) == expected
