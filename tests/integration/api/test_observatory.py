"""The catalogue by the programs of astronomers: pyvo and astropy, against the API served on loopback."""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen
from wsgiref.simple_server import WSGIRequestHandler, make_server

import boto3
import pytest
from astropy.coordinates import SkyCoord

from sourcebook.api.access import AccessControl
from sourcebook.api.parts import Services
from sourcebook.api.routes import Api
from sourcebook.api.tokens import TokenStore
from sourcebook.bucket.objects import Objects
from sourcebook.novae.establish import NovaEstablisher
from sourcebook.novae.resolvers.identity import Identity
from sourcebook.novae.store import NovaStore
from sourcebook.photometry.messages import RebuildTable, UploadObject, UploadValid
from sourcebook.photometry.table import TableRebuilder
from sourcebook.photometry.upload import UploadValidator
from tests.integration.api.gateway import Gateway
from tests.integration.api.test_products import Client
from tests.unit.fits import made
from tests.votables import needs_stilts, read_strictly, votlint

if TYPE_CHECKING:
    from sourcebook.table.client import Table

pyvo = pytest.importorskip("pyvo")
pytestmark = pytest.mark.integration

CSV = "jd,mag,err,band,observer\n2456079.9,11.1,0.01,V,Ada\n2456080.9,12.2,0.02,B,Ada\n"
DOCS = Path(__file__).parents[3] / "docs" / "novae.md"


class Quiet:
    def info(self, msg: str, *, extra: Mapping[str, object]) -> None: ...

    def error(self, msg: str, *, exc_info: BaseException, extra: Mapping[str, object]) -> None:
        raise exc_info


class _Silent(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's signature
        pass


@dataclass
class Served:
    url: str
    nova_id: str


@pytest.fixture
def served(table: Table, aws: None) -> Iterator[Served]:
    """A nova with a spectrum and a light curve, and the API on loopback."""
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket="sourcebook-data")
    objects = Objects(s3, "sourcebook-data")
    store = NovaStore(table)
    identity = Identity(
        "simbad", "simbad:v1324 sco", "V1324 Sco", 267.72458, -32.62236, "No*", ("MOA-2012-BLG-320",)
    )
    nova_id = NovaEstablisher(store).establish("V1324 Sco", identity).nova_id
    assert nova_id is not None
    objects.write("raw/photometry/1/upload.csv", CSV.encode(), "text/csv")
    read = UploadValidator(store, objects).validate(nova_id, "raw/photometry/1/upload.csv")
    assert isinstance(read, UploadValid)
    upload = UploadObject(s3_key="raw/photometry/1/upload.csv", etag=read.etag, byte_length=read.byte_length)
    TableRebuilder(store, objects).rebuild(RebuildTable(nova_id=nova_id, file_id=read.file_id, upload=upload))
    nothing: Any = None
    services = Services(table=table, start=nothing, workflows=(), objects=lambda: objects, environ={})
    gateway = Gateway()
    with make_server("127.0.0.1", 0, gateway, handler_class=_Silent) as server:
        url = f"http://127.0.0.1:{server.server_port}"
        access = AccessControl(TokenStore(table), public_read=True)
        api = Api(access, nothing, services, addresses=url)
        gateway.answer = lambda event: api.answer(event, Quiet())
        Client(api, table, objects, nova_id).valid_spectrum(made.eso())
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield Served(url, nova_id)
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def strict() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_a_cone_search_by_pyvo(served: Served) -> None:
    service = pyvo.dal.SCSService(f"{served.url}/vo/cone")
    found = service.search(pos=SkyCoord(267.7, -32.6, unit="deg"), radius=0.1)
    assert len(found) == 1
    assert found[0].id == served.nova_id
    assert found[0]["name"] == "V1324 Sco"
    assert found[0].pos.ra.deg == pytest.approx(267.72458)
    assert len(service.search(pos=SkyCoord(10.0, 10.0, unit="deg"), radius=0.1)) == 0


def test_spectra_by_pyvo(served: Served) -> None:
    service = pyvo.dal.SSAService(f"{served.url}/vo/ssa")
    found = service.search(pos=SkyCoord(267.7, -32.6, unit="deg"), diameter=0.2)
    assert len(found) == 1
    one = found[0]
    assert one["target_name"] == "V1324 Sco"
    assert one.getdataurl() == f"{served.url}/novae/{served.nova_id}/products/{_product(one)}/spectrum.fits"
    assert one.format == "application/fits"
    assert len(service.search(pos=SkyCoord(10.0, 10.0, unit="deg"), diameter=0.2)) == 0


def _product(record: Any) -> str:
    return str(record["obs_publisher_did"]).rpartition("/")[2]


ASKED = {
    "/vo/cone?RA=267.72&DEC=-32.62&SR=0.1": "",
    "/vo/cone?RA=267.72&DEC=-32.62&SR=0": "",
    "/vo/cone?RA=10&DEC=10&SR=0.1": "",
    "/vo/cone?RA=267.72&DEC=-32.62&SR=0.1&MAXREC=0": "",
    "/vo/cone?RA=x&DEC=-32.62&SR=0.1": "RA",
    "/vo/cone?RA=1&DEC=-32.62": "SR",
    "/vo/cone?RA=1&DEC=1&SR=90": "radius",
    "/vo/cone?RA=1&DEC=1&SR=1&MAXREC=-1": "MAXREC",
    "/vo/ssa?REQUEST=queryData&POS=267.72,-32.62&SIZE=0.2": "",
    "/vo/ssa?REQUEST=queryData&POS=10,10&SIZE=0.2": "",
    "/vo/ssa?REQUEST=queryData&FORMAT=METADATA": "",
    "/vo/ssa?REQUEST=queryData&POS=267.72,-32.62&SIZE=0.2&MAXREC=1": "",
    "/vo/ssa?REQUEST=queryData&POS=here": "POS",
    "/vo/ssa?REQUEST=other": "REQUEST",
}
"""Questions, and what the answer complains of."""
OVERFLOWING = "/vo/ssa?REQUEST=queryData&POS=267.72,-32.62&SIZE=0.2&MAXREC=0"
LINTED = (
    "/vo/cone?RA=267.72&DEC=-32.62&SR=0.1",
    "/vo/cone?RA=267.72&DEC=-32.62&SR=0.1&MAXREC=0",
    "/vo/cone?RA=x&DEC=-32.62&SR=0.1",
    "/vo/ssa?REQUEST=queryData&POS=267.72,-32.62&SIZE=0.2",
    "/vo/ssa?REQUEST=queryData&FORMAT=METADATA",
    "/vo/ssa?REQUEST=other",
)
"""One question for each kind of answer."""


def fetch(url: str) -> bytes:
    with urlopen(url) as answer:
        assert answer.headers["content-type"].startswith("application/x-votable+xml")
        return bytes(answer.read())


def test_every_answer_is_a_votable_that_astropy_reads_strictly(served: Served) -> None:
    read_strictly(fetch(f"{served.url}/novae/{served.nova_id}/photometry.vot"))
    for path, error in ASKED.items():
        document = read_strictly(fetch(f"{served.url}{path}"))
        infos = {info.name: info for info in document.resources[0].infos}
        if path.startswith("/vo/cone"):
            assert infos["Error"].value.startswith(error) if error else "Error" not in infos, path
            continue
        assert infos["QUERY_STATUS"].value == ("ERROR" if error else "OK"), path
        assert error in (infos["QUERY_STATUS"].content or ""), path


def test_no_more_rows_are_given_than_were_asked_for_and_the_answer_says_so(served: Served) -> None:
    for path in (OVERFLOWING, "/vo/cone?RA=267.72&DEC=-32.62&SR=0.1&MAXREC=0"):
        document = read_strictly(fetch(f"{served.url}{path}"))
        assert len(document.get_first_table().array) == 0
        infos = {info.name: info.value for info in document.resources[0].infos}
        assert infos["QUERY_STATUS"] == "OVERFLOW"


@needs_stilts
def test_topcats_rules_have_nothing_against_any_answer(served: Served, tmp_path: Path) -> None:
    file = tmp_path / "answer.vot"
    for path in (*LINTED, f"/novae/{served.nova_id}/photometry.vot"):
        file.write_bytes(fetch(f"{served.url}{path}"))
        assert votlint(file) == "", path


def test_the_notebook_of_the_documentation(served: Served) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    assert len([line for line in block.splitlines() if line]) == 5
    scope: dict[str, Any] = {}
    exec(block.replace("https://API", served.url), scope)  # noqa: S102 - our own documentation
    assert sorted(scope["curve"]["magnitude"]) == [11.1, 12.2]
