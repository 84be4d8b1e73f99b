"""What a provider's row becomes, what a product is recognized by, and which providers are asked."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.novae.coordinates import Position
from sourcebook.novae.resolvers.archive import ArchiveRejected, ArchiveStatus, ArchiveUnavailable
from sourcebook.records.spectrum import IdentityKind, Locator, LocatorKind
from sourcebook.spectra.providers import eso, mast, ssa
from sourcebook.spectra.providers.donation import read_provenance
from sourcebook.spectra.providers.provider import (
    FoundProduct,
    is_elsewhere,
    is_fits,
    moment_of,
    normalize_url,
    number_of,
    text_of,
    wavelengths_of,
)
from sourcebook.spectra.providers.registry import BUILT_IN, read_providers
from sourcebook.spectra.providers.votable import read_table

NOW = datetime(2026, 11, 28, tzinfo=UTC)


def found(url: str = "https://archive.example/a.fits", **fields: Any) -> FoundProduct:
    return FoundProduct(locators=(Locator(kind=LocatorKind.URL, value=url),), **fields)


def test_a_product_is_recognized_by_the_best_that_is_known_of_it() -> None:
    observed: Any = {"instrument": "UVES", "observed_mjd": 56082.1333349, "wavelengths_m": (3.8e-7, 8.8e-7)}
    everything = found(provider_product_id=" ADP.1 ", collection="UVES", **observed).identities()
    assert [identity.kind for identity in everything] == list(IdentityKind)
    assert everything[0].text == "provider_product_id:ADP.1"
    assert everything[1].text == "metadata:uves|uves|56082.13333|380.00|880.00"
    assert everything[2].text == "url:https://archive.example/a.fits"
    assert found(**observed).identities()[0].kind is IdentityKind.METADATA_KEY
    assert [identity.kind for identity in found().identities()] == [IdentityKind.WEAK]


def test_two_arms_of_one_exposure_are_two_products() -> None:
    at: Any = {"instrument": "XSHOOTER", "observed_mjd": 57000.5}
    keys = {
        found(**at, wavelengths_m=span).identities()[0].text for span in ((3.0e-7, 5.6e-7), (5.3e-7, 1.02e-6))
    }
    assert len(keys) == 2
    # Instrument and time without the range are no identity.
    assert found(**at).identities()[0].kind is IdentityKind.WEAK


def test_an_identity_fits_into_a_key_whatever_a_provider_calls_its_products() -> None:
    (identity, *_) = found(provider_product_id="ж" * 1000).identities()
    assert identity.text.startswith("provider_product_id:sha256:")
    assert identity.text != found(provider_product_id="ж" * 1001).identities()[0].text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://Archive.Example/a%7Eb.fits", "https://archive.example/a~b.fits"),
        ("https://archive.example:443/f?b=2&a=1#top", "http://archive.example:80/f?a=1&b=2"),
        ("https://archive.example", "https://archive.example/"),
    ],
)
def test_addresses_that_mean_the_same_are_the_same(one: str, other: str) -> None:
    assert normalize_url(one) == normalize_url(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://archive.example/A.fits", "https://archive.example/a.fits"),
        ("https://archive.example/f?id=1", "https://archive.example/f?id=2"),
        ("https://archive.example:8080/f", "https://archive.example/f"),
    ],
)
def test_addresses_that_mean_another_stay_apart(one: str, other: str) -> None:
    assert normalize_url(one) != normalize_url(other)


@pytest.mark.parametrize(
    "url", ["", "ftp://archive.example/a", "archive.example/a", "https://", "https://[x/"]
)
def test_what_is_no_address_is_none(url: str) -> None:
    with pytest.raises(InvalidInput, match="access_url"):
        normalize_url(url)


@pytest.mark.parametrize("value", [None, "", "  ", "nan", "NULL", float("nan"), "--"])
def test_what_says_nothing_is_nothing(value: object) -> None:
    assert text_of(value) is None
    assert moment_of(value) is None


def test_dates_are_read_as_archives_write_them() -> None:
    wanted = datetime(2013, 6, 4, 12, 30, tzinfo=UTC)
    for written in (
        "2013-06-04T12:30:00.000Z",
        "2013-06-04 12:30:00",
        "2013-06-04T14:30:00+02:00",
    ):
        assert moment_of(written) == wanted
    assert moment_of(56447.5208333333) == pytest.approx(wanted, abs=timedelta(seconds=1))
    assert moment_of("next spring") is None
    assert moment_of(-1) is None


def test_numbers_and_ranges_are_finite_and_in_order() -> None:
    assert (number_of("1.5"), number_of(True), number_of("inf"), number_of([1])) == (1.5, None, None, None)
    assert wavelengths_of("3e-7", 8e-7) == (3e-7, 8e-7)
    for low, high in ((8e-7, 3e-7), (0, 1), (None, 1), ("x", 1)):
        assert wavelengths_of(low, high) is None


@pytest.mark.parametrize(
    ("texts", "fits"),
    [
        (("application/fits",), True),
        (("image/x-fits",), True),
        (("spectrum/fits",), True),
        (("a.fit",), True),
        ((None,), True),
        (("application/x-votable+xml",), False),
        (("text/csv",), False),
        (("benefit",), False),
    ],
)
def test_only_fits_is_taken(texts: tuple[str | None], fits: bool) -> None:
    assert is_fits(*texts) is fits


def test_esos_question_names_the_position_in_decimals() -> None:
    adql = eso.question(Position(0.00001, -0.00002), 10 / 3600)
    assert "CIRCLE('ICRS', 0.0000100, -0.0000200, 0.0027778)" in adql
    assert "dataproduct_type = 'spectrum'" in adql


def test_a_row_of_eso_is_a_product_and_one_before_its_release_wants_a_login() -> None:
    row = {
        "dp_id": "ADP.2012-06-05T08:11:09.001",
        "instrument_name": "UVES",
        "obs_release_date": "2013-06-04T00:00:00.000Z",
        "access_estsize": 900,
        "t_min": 56082.1,
        "em_min": 3.8e-7,
        "em_max": 8.8e-7,
    }
    product = eso.read_product(row, "https://files.example/file/", NOW)
    assert product.locators[0].value == "https://files.example/file/ADP.2012-06-05T08:11:09.001"
    assert (product.auth_required, product.byte_length) == (False, None), "the size is an estimate"
    assert product.hints == {"instrument": "UVES", "estimated_kilobytes": "900"}
    later = eso.read_product(row | {"obs_release_date": "2099-01-01T00:00:00Z"}, "https://f.example", NOW)
    assert later.auth_required
    assert later.release_date == datetime(2099, 1, 1, tzinfo=UTC)
    with pytest.raises(InvalidInput, match="dp_id"):
        eso.read_product(row | {"dp_id": None}, "https://f.example", NOW)


def test_masts_files_that_are_no_extracted_spectra_are_passed_over() -> None:
    spectrum = {
        "dataURI": "mast:HST/product/o1_x1d.fits",
        "productFilename": "o1_x1d.fits",
        "productType": "SCIENCE",
        "productSubGroupDescription": "X1D",
    }
    assert mast.is_spectrum_file(spectrum)
    for change in (
        {"productType": "AUXILIARY"},
        {"productSubGroupDescription": "FLT"},
        {"productSubGroupDescription": None},
        {"productFilename": "o1_x1d.jpg"},
    ):
        assert not mast.is_spectrum_file(spectrum | change)


def test_a_row_of_mast_has_its_exact_size_and_its_rights() -> None:
    row = {"dataURI": "mast:HST/product/o1_x1d.fits", "size": 4320, "obs_collection": "HST"}
    observation = {"instrument_name": "STIS", "t_min": 56095.4, "em_min": 115, "em_max": 170}
    product = mast.read_product(row, observation, "https://files.example/file", NOW)
    assert product.locators[0].value == ("https://files.example/file?uri=mast%3AHST%2Fproduct%2Fo1_x1d.fits")
    assert (product.byte_length, product.auth_required) == (4320, False)
    assert product.wavelengths_m == pytest.approx((1.15e-7, 1.7e-7))
    for rights in ({"dataRights": "EXCLUSIVE_ACCESS"}, {"t_obs_release": 70_000.0}):
        assert mast.read_product(row, observation | rights, "https://f.example", NOW).auth_required
    with pytest.raises(InvalidInput, match="dataURI"):
        mast.read_product({}, observation, "https://f.example", NOW)


def test_masts_observations_of_other_places_are_seen_as_such() -> None:
    here = Position(101.0, 12.0)
    assert not is_elsewhere(101.0, 12.0001, here, 10 / 3600)
    assert is_elsewhere(101.0, 12.1, here, 10 / 3600)
    assert not is_elsewhere(None, None, here, 10 / 3600), "one that says nothing is taken"
    assert not is_elsewhere(359.9999, 0, Position(0.0001, 0), 10 / 3600)


def test_a_row_of_ssa_may_have_no_id_but_must_have_an_address() -> None:
    values = {"url": "http://amateurs.example/1.fits", "time": "2001-01-21 11:23:50Z", "rights": "Public"}
    product = ssa.read_product(values)
    assert product.provider_product_id is None
    assert product.observed_mjd == pytest.approx(51930.47488, abs=1e-5)
    assert ssa.read_product(values | {"rights": "PROPRIETARY"}).auth_required
    for url in (None, "file:///etc/passwd", "ivo://x"):
        with pytest.raises(InvalidInput, match="access_url"):
            ssa.read_product(values | {"url": url})


def votable(content: str) -> bytes:
    return (
        f'<?xml version="1.0"?><VOTABLE xmlns="http://www.ivoa.net/xml/VOTable/v1.3">{content}</VOTABLE>'
    ).encode()


FIELDS = '<FIELD name="A" utype="ssa:Access.Reference"/><FIELD name="b" ucd="meta.code.mime"/>'


def table(rows: str) -> str:
    return f"<RESOURCE><TABLE>{FIELDS}<DATA><TABLEDATA>{rows}</TABLEDATA></DATA></TABLE></RESOURCE>"


def test_a_votable_is_read_row_by_row() -> None:
    body = votable(
        table(
            "<TR><TD>http://x/?a=1&amp;b=2</TD><TD/></TR>"
            "<TR><TD>short</TD></TR>"
            "<TR><TD><![CDATA[<raw>]]></TD><TD> x </TD></TR>"
        )
    )
    answer = read_table("ssa", body, 100)
    assert answer.rows == [{"a": "http://x/?a=1&b=2", "b": None}, {"a": "<raw>", "b": "x"}]
    assert (answer.unreadable, answer.status) == (1, ArchiveStatus.OK)
    assert (answer.named(utype="Access.Reference"), answer.named(ucd="meta.code.mime")) == ("a", "b")
    assert answer.named(utype="Access.Format") is None


def test_only_the_first_table_counts() -> None:
    assert len(read_table("ssa", votable(table("<TR><TD>1</TD><TD>2</TD></TR>") + table("")), 9).rows) == 1


def test_an_answer_that_is_full_may_have_more() -> None:
    body = json.dumps({"metadata": [{"name": "DP_ID"}], "data": [["a"], ["b"], "no row"]}).encode()
    assert read_table("eso", body, 4).status is ArchiveStatus.OK
    full = read_table("eso", body, 3)
    assert (full.status, full.rows, full.unreadable) == (
        ArchiveStatus.TRUNCATED,
        [{"dp_id": "a"}, {"dp_id": "b"}],
        1,
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"metadata": 1}',
        b"\xff\xfe",
        b"<VOTABLE><RESOURCE>",
        b"<error>no</error>",
        votable(
            '<RESOURCE><TABLE><FIELD name="a"/><DATA><BINARY2>'
            '<STREAM encoding="base64">AA</STREAM></BINARY2></DATA></TABLE></RESOURCE>'
        ),
        b'<!DOCTYPE v [<!ENTITY a "aaaaaaaaaa">]><VOTABLE>&a;</VOTABLE>',
        b'<!DOCTYPE v [<!ENTITY a SYSTEM "file:///etc/passwd">]><VOTABLE>&a;</VOTABLE>',
    ],
)
def test_what_is_no_table_is_an_archive_that_is_down(body: bytes) -> None:
    with pytest.raises(ArchiveUnavailable, match="DOWN"):
        read_table("ssa", body, 10)


def test_an_error_inside_a_table_is_a_refusal() -> None:
    with pytest.raises(ArchiveRejected, match="too large a circle"):
        read_table(
            "ssa",
            votable('<RESOURCE><INFO name="QUERY_STATUS" value="ERROR">too large a circle</INFO></RESOURCE>'),
            10,
        )


def test_the_built_in_providers_are_a_list_like_any_other() -> None:
    entries = [spec.model_dump(mode="json", exclude_none=True) for spec in BUILT_IN]
    assert read_providers(entries) == BUILT_IN


@pytest.mark.parametrize(
    ("entries", "named"),
    [
        ([{"provider": "eso", "protocol": "ssa", "addresses": ["https://x"]}], "provider"),
        ([{"provider": "X1", "protocol": "gopher", "addresses": ["https://x"]}], "protocol"),
        ([{"provider": "X1", "protocol": "ssa"}], "addresses"),
        ([{"provider": "X1", "protocol": "eso", "addresses": ["https://x"]}], "files"),
        ([{"provider": "X1", "protocol": "donation"}], "DONATION"),
        ([{"provider": "X1", "protocol": "ssa", "addresses": ["ftp://x"]}], "addresses"),
        ([{"provider": "X1", "protocol": "ssa", "addresses": ["https://x"], "radius_arcsec": 60}], "radius"),
        ([{"provider": "X1", "protocol": "ssa", "addresses": ["https://x"]}] * 2, "once"),
        ([{"provider": "X1", "protocol": "ssa", "addresses": ["https://x"], "adress": 1}], "adress"),
        ("ESO", "providers"),
        (None, "providers"),
    ],
)
def test_a_list_of_providers_that_is_wrong_names_what(entries: object, named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        read_providers(entries)


@pytest.mark.parametrize("document", [None, [], {}, {"donor": "x"}])
def test_what_lies_beside_a_donation_must_say_where_it_is_from(document: object) -> None:
    with pytest.raises(InvalidInput):
        read_provenance(document, "4e9b0e88-5d2b-4d1a-9a1a-4a4f6f0cb9b1")
