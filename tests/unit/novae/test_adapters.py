"""Reading what archives answer: the recorded shapes, and everything else that comes in their place."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.novae.references import discovery_date, is_earlier, published_at, read_publication
from sourcebook.novae.resolvers.ads import question as ads_question
from sourcebook.novae.resolvers.ads import read_page, searchable
from sourcebook.novae.resolvers.archive import (
    ArchiveRejected,
    ArchiveStatus,
    ArchiveUnavailable,
    check_votable,
)
from sourcebook.novae.resolvers.identity import Identity, Kind
from sourcebook.novae.resolvers.sesame import read_answer
from sourcebook.novae.resolvers.simbad import question, read_objects
from sourcebook_local.astronomy.services import votable_error

SHARED = Path(os.environ.get("SOURCEBOOK_SHARED", Path(__file__).parents[4] / "shared")) / "data" / "services"
COLUMNS = [{"name": name} for name in ("oid", "main_id", "ra", "dec", "otype", "id")]


def tap(*rows: list[object]) -> bytes:
    return json.dumps({"metadata": COLUMNS, "data": rows}).encode()


def test_an_object_has_all_its_names() -> None:
    (found,) = read_objects(
        tap(
            [7, "V* V1324 Sco", 267.7, -32.6, "No*", "V* V1324 Sco"],
            [7, "V* V1324 Sco", 267.7, -32.6, "No*", "MOA 2012 BLG-320"],
        )
    )
    assert found.names == ("V* V1324 Sco", "MOA 2012 BLG-320")
    assert (found.key, found.main_name, found.kind) == ("simbad:v1324 sco", "V1324 Sco", Kind.NOVA)
    assert Identity.of_json(json.loads(json.dumps(found.to_json()))) == found


def test_two_objects_are_two_and_none_is_none() -> None:
    assert len(read_objects(tap([1, "A", 1.0, 1.0, "No*", "x"], [2, "B", 1.0, 1.0, "No*", "x"]))) == 2
    assert read_objects(tap()) == []


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"metadata": [], "data": [[1]]}', b"null", b"\xff"])
def test_what_is_not_taps_json_is_an_archive_that_is_down(body: bytes) -> None:
    with pytest.raises(ArchiveUnavailable, match="not TAP's JSON"):
        read_objects(body)


def test_a_quote_in_a_name_does_not_end_the_question() -> None:
    assert "'Barnard''s'" in question(["Barnard's"])


@pytest.mark.parametrize(
    ("otype", "kind"), [("No*", Kind.NOVA), ("No?", Kind.CANDIDATE), ("SN*", Kind.OTHER), (None, Kind.OTHER)]
)
def test_only_what_simbad_calls_a_nova_is_one(otype: str | None, kind: Kind) -> None:
    assert Identity("simbad", "k", "m", None, None, otype).kind is kind


def test_sesame_is_read() -> None:
    found = read_answer("# x\n%@ 1\n%I.0 V* T CrB\n%C.0 No*\n%J 239.87567 +25.92016 = 15:59\n%I HD 143454\n")
    assert found is not None
    assert (found.main_name, found.ra_deg, found.dec_deg) == ("T CrB", 239.87567, 25.92016)
    assert found.names == ("V* T CrB", "HD 143454")
    assert read_answer("# x\n#!*** Nothing found ***\n") is None
    with pytest.raises(ArchiveUnavailable):
        read_answer("Service temporarily unavailable")


def test_an_error_inside_a_votable_is_an_error() -> None:
    with pytest.raises(ArchiveRejected, match="too heavy"):
        check_votable("simbad", votable_error("the query is too heavy").encode())


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"no recorded answers in {SHARED}")
def test_recorded_votables_say_what_their_names_say() -> None:
    with pytest.raises(ArchiveRejected):
        check_votable("tap", (SHARED / "errorstatus.xml").read_bytes())
    assert check_votable("tap", (SHARED / "overflowstatus.xml").read_bytes()) is ArchiveStatus.TRUNCATED
    assert check_votable("tap", (SHARED / "simbad_basic_columns.xml").read_bytes()) is ArchiveStatus.OK


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"no recorded answers in {SHARED}")
def test_a_recorded_answer_of_ads_is_a_publication() -> None:
    documents, found = read_page((SHARED / "ads_search.json").read_bytes())
    assert found == len(documents) == 1
    reference = read_publication(documents[0])
    assert (reference.source_identifier, reference.published_at) == ("2011IAUS..280P.295P", "2011-05")


def test_ads_is_asked_for_names_that_are_this_novas_alone() -> None:
    names = ["V1324 Sco", "V* V1324 Sco", "Nova Sco 2012", "Gaia DR3 4065", "2MASS J1", 'MOA "x"']
    assert list(searchable(names)) == ["V1324 Sco", "MOA  x"]
    assert ads_question(names) == 'abs:"V1324 Sco" OR abs:"MOA  x"'
    with pytest.raises(InvalidInput):
        ads_question(["Nova Sgr 2012"])


@pytest.mark.parametrize(
    ("pubdate", "kept"),
    [("2012-06-15", "2012-06-15"), ("2012-06-00", "2012-06"), ("2012-00-00", "2012"), (None, None)],
)
def test_a_date_is_kept_as_precise_as_it_is(pubdate: str | None, kept: str | None) -> None:
    assert published_at(pubdate) == kept


@pytest.mark.parametrize("pubdate", ["2012-13-00", "2012-06-32", "2012-00-05", "June 2012", 2012, ""])
def test_what_is_no_date_is_not_guessed_at(pubdate: object) -> None:
    with pytest.raises(InvalidInput, match="pubdate"):
        published_at(pubdate)


@pytest.mark.parametrize(
    "document", [None, {}, {"bibcode": "x"}, {"bibcode": "2012ATel....1....1A", "author": [1]}]
)
def test_a_bad_publication_is_named(document: object) -> None:
    with pytest.raises(InvalidInput):
        read_publication(document)


@pytest.mark.parametrize(
    ("found", "known", "earlier"),
    [
        ("2012-06-00", None, True),
        ("2012-05-00", "2012-06-00", True),
        ("2012-06-00", "2012-06-15", False),
        ("2012-06-01", "2012-06-00", False),
        ("2012-07-01", "2012-06-15", False),
        ("2011-12-31", "2012-01-00", True),
    ],
)
def test_the_discovery_only_moves_back_by_month(found: str, known: str | None, earlier: bool) -> None:
    assert is_earlier(found, known) is earlier


def test_a_year_alone_dates_no_discovery() -> None:
    document = {"bibcode": "2012ATel....1....1A", "pubdate": "2012-00-00"}
    assert discovery_date(read_publication(document)) is None
    assert discovery_date(read_publication(document | {"pubdate": "2012-06-00"})) == "2012-06-00"
