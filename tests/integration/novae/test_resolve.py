"""Who is meant by a name, whatever the archives do."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.novae.resolve import NameResolver
from sourcebook.novae.resolvers.archive import ArchiveRejected, ArchiveStatus, ArchiveUnavailable
from sourcebook.runs.errors import Held
from sourcebook_local.astronomy.services import votable_error

if TYPE_CHECKING:
    from sourcebook.http.client import HttpClient
    from sourcebook.table.client import Table
    from tests.integration.astronomy import Archives, Clock

pytestmark = pytest.mark.integration

SIMBAD, MIRROR, SESAME = "/astronomy/simbad/*", "/astronomy/simbad-mirror/*", "/astronomy/sesame/*"
HTML = "<!DOCTYPE html><html><body>Too many queries</body></html>"


@pytest.fixture
def resolver(http: HttpClient, table: Table, archives: Archives, clock: Clock) -> NameResolver:
    return NameResolver(http, table, clock, archives.sleep)


@pytest.mark.parametrize(
    ("name", "main_name"),
    [
        ("V1324 Sco", "V1324 Sco"),
        ("nova scorpii 2012", "V1324 Sco"),
        ("V0339 DEL", "V339 Del"),
        ("T Coronae Borealis", "T CrB"),
        ("HD 143454", "T CrB"),
        ("Nova Sgr 2012 II", "V5590 Sgr"),
        ("Nova Sgr 2012/4", "V5592 Sgr"),
        ("PNV J18193740\u22121907414", "V5593 Sgr"),
        ("gk persei", "GK Per"),
    ],
)
async def test_a_name_in_any_form_finds_its_star(resolver: NameResolver, name: str, main_name: str) -> None:
    found = await resolver.resolve(name)
    assert found is not None
    assert found.main_name == main_name


async def test_unknown_is_the_word_of_all_archives(resolver: NameResolver, archives: Archives) -> None:
    assert await resolver.resolve("Nova Nowhere 1") is None
    assert await archives.requests("simbad/") == 1
    assert await archives.requests("sesame/") >= 1


async def test_an_answer_is_kept(resolver: NameResolver, archives: Archives, clock: Clock) -> None:
    first = await resolver.resolve("V1324 Sco")
    assert await resolver.resolve("v* v1324_sco") == first
    assert await archives.requests("simbad/") == 1
    assert await resolver.resolve("V1324 Sco", fresh=True) == first
    assert await archives.requests("simbad/") == 2
    clock.now += timedelta(hours=25)
    await resolver.resolve("V1324 Sco")
    assert await archives.requests("simbad/") == 3


async def test_several_objects_of_one_name_are_for_a_person(resolver: NameResolver) -> None:
    with pytest.raises(Held, match="2 objects") as held:
        await resolver.resolve("LPBK 9")
    assert held.value.reason_code == "AMBIGUOUS_NAME"
    assert len(held.value.context["candidates"]) == 2


@pytest.mark.parametrize(
    "trouble",
    [
        {"drop": True},
        {"status": 503},
        {"status": 500},
        {"body": HTML},
        {"body": HTML, "status": 200},
        {"body": "{", "content_type": "application/json"},
        {"body": votable_error("too heavy"), "content_type": "text/xml"},
        {"status": 429, "retry_after": "3600"},
        {"status": 404},
        {"delay": 4},
    ],
    ids=["down", "503", "500", "html", "html in a 200", "no JSON", "error in a 200", "429", "404", "slow"],
)
async def test_the_mirror_answers_for_simbad(
    resolver: NameResolver, archives: Archives, trouble: dict[str, Any]
) -> None:
    await archives.stage({"path": SIMBAD, **trouble})
    found = await resolver.resolve("V1324 Sco")
    assert found is not None
    assert found.archive == "simbad"
    assert await archives.requests("simbad-mirror/") == 1


async def test_sesame_answers_when_no_simbad_does(resolver: NameResolver, archives: Archives) -> None:
    await archives.stage({"path": SIMBAD, "status": 503}, {"path": MIRROR, "body": HTML})
    found = await resolver.resolve("V1324 Sco")
    assert found is not None
    assert (found.archive, found.key) == ("sesame", "simbad:v1324 sco")


async def test_unknown_to_sesame_alone_is_not_unknown(resolver: NameResolver, archives: Archives) -> None:
    await archives.stage({"path": SIMBAD, "status": 503}, {"path": MIRROR, "status": 503})
    with pytest.raises(ArchiveUnavailable) as down:
        await resolver.resolve("Nova Nowhere 1")
    assert down.value.status is ArchiveStatus.DOWN
    assert await resolver.resolve("Nova Nowhere 1") is None, "nothing wrong was kept"


async def test_a_refusal_is_final_only_when_nobody_may_still_answer(
    resolver: NameResolver, archives: Archives
) -> None:
    refusal = votable_error("the query is too heavy")
    await archives.stage(*({"path": path, "body": refusal} for path in (SIMBAD, MIRROR, SESAME)))
    with pytest.raises(ArchiveRejected, match="too heavy"):
        await resolver.resolve("V1324 Sco")
    await archives.stage(
        {"path": SIMBAD, "body": refusal}, {"path": MIRROR, "body": refusal}, {"path": SESAME, "status": 503}
    )
    with pytest.raises(ArchiveUnavailable):
        await resolver.resolve("V1324 Sco")


async def test_a_wish_to_be_left_alone_is_waited_for(
    resolver: NameResolver, archives: Archives, clock: Clock
) -> None:
    from datetime import UTC, datetime

    clock.now = datetime.now(UTC)  # what an answer asks for counts from when it came
    await archives.stage(
        {"path": SIMBAD, "status": 429, "retry_after": "5", "times": 1},
        *({"path": path, "status": 503} for path in (MIRROR, SESAME)),
    )
    with pytest.raises(ArchiveUnavailable):
        await resolver.resolve("V1324 Sco")
    assert await resolver.resolve("V1324 Sco") is not None
    assert 0 < archives.slept[0] <= 6, "one host, however it is addressed, and for all functions"


async def test_a_long_wish_is_a_failed_attempt_and_nobody_is_asked(
    resolver: NameResolver, archives: Archives, clock: Clock
) -> None:
    from datetime import UTC, datetime

    clock.now = datetime.now(UTC)
    await archives.stage(
        *({"path": path, "status": 429, "retry_after": "600"} for path in (SIMBAD, MIRROR, SESAME))
    )
    with pytest.raises(ArchiveUnavailable):
        await resolver.resolve("V1324 Sco")
    asked = await archives.requests("")
    with pytest.raises(ArchiveUnavailable, match="left alone") as limited:
        await resolver.resolve("V1324 Sco")
    assert limited.value.status is ArchiveStatus.RATE_LIMITED
    assert limited.value.retry_after is not None
    assert await archives.requests("") == asked
    assert archives.slept == []


async def test_an_authority_that_is_none_is_refused(resolver: NameResolver) -> None:
    with pytest.raises(InvalidInput, match="authority"):
        await resolver.resolve("V1324 Sco", authority="oracle")
