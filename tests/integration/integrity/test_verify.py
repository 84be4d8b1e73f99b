"""`sourcebook verify`: silent about what is right, and exact about what is not."""

from __future__ import annotations

import io
import json
import re
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import boto3
import boto3.session
import pytest
from click.testing import CliRunner

from sourcebook.clock import epoch_seconds, isoformat
from sourcebook.errors import InvalidInput
from sourcebook.integrity.checks import all_checks, chosen
from sourcebook.integrity.verify import Mended, Report, Verifier
from sourcebook.integrity.walk import pages_of
from sourcebook.records.subject import Subject
from sourcebook.sentiment.cache import sentiment_of
from sourcebook.sentiment.refresh import Refresher
from sourcebook.sentiment.rollups import Counts
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table, TableBusy
from sourcebook_cli import verify as command
from sourcebook_cli.stack import Stack
from tests.incoming import NOON
from tests.integration.integrity.healthy import BUCKET, LATEST, Healthy, put_run
from tests.integration.integrity.in_moto import built_in_moto

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def built() -> Iterator[tuple[Healthy, list[dict[str, Any]]]]:
    """A healthy table, and all that is in it."""
    with built_in_moto() as healthy:
        yield healthy, everything(healthy.table)


@pytest.fixture
def world(built: tuple[Healthy, list[dict[str, Any]]]) -> Healthy:
    """The healthy table, as it was built."""
    healthy, items = built
    wanted = {(item["PK"], item["SK"]): item for item in items}
    there = {(item["PK"], item["SK"]): item for item in everything(healthy.table)}
    healthy.table.delete_many([keys.Key(PK=pk, SK=sk) for pk, sk in there.keys() - wanted.keys()])
    healthy.table.put_many([deepcopy(item) for place, item in wanted.items() if there.get(place) != item])
    return healthy


def everything(table: Table) -> list[dict[str, Any]]:
    return [item for page in pages_of(table, segments=1) for item in page]


def verify(world: Healthy, *, repair: bool = False, objects: bool = False, **options: Any) -> list[Report]:
    checks = all_checks(world.table, world.clock, world.s3 if objects else None)
    verifier = Verifier(world.table, checks, patience=0, **options)
    return list(verifier.run(repair=repair))


def test_nothing_is_wrong_with_what_the_project_itself_has_written(world: Healthy) -> None:
    kinds = Counter(item.get("entity_type") for item in everything(world.table))
    wanted = {
        "Article", "ArticleAlias", "Mention", "Source", "Tool", "HourRollup", "DayRollup", "Event",
        "Idea", "SentimentCacheEntry", "Observation", "Latest", "Nova", "NameMapping",
        "NovaPosition",
        "DataProduct", "LocatorAlias", "FingerprintOwner", "FileObject", "JobRun", "Quarantine",
    }  # fmt: skip
    assert wanted <= set(kinds), wanted - set(kinds)
    assert "DirtyHour" not in kinds, "with marks on its hours no count would be judged"
    assert verify(world, objects=True) == []
    before = everything(world.table)
    assert verify(world, repair=True) == []
    assert everything(world.table) == before


def test_the_pages_and_parts_in_which_the_table_is_read_make_no_difference(world: Healthy) -> None:
    world.table.delete(keys.article_tag(world.story, "markets"))
    verifier = Verifier(world.table, all_checks(world.table, world.clock), patience=0, page=7)
    seen: list[int] = []
    (report,) = verifier.run(segments=3, watch=seen.append)
    assert report.finding.key == keys.article_tag(world.story, "markets")
    assert verifier.items == sum(seen) == len(everything(world.table))
    assert max(seen) <= 7


@dataclass(frozen=True)
class Breakage:
    """Something to break, and what is to be said of it.

    Attributes:
        check: that finds it.
        plant: breaks it and returns the key of what is then wrong.
        says: a pattern of the problem in words.
        repairable: whether `--repair` makes it right.
    """

    name: str
    check: str
    plant: Callable[[Healthy], keys.Key]
    says: str
    repairable: bool = True
    objects: bool = field(default=False)


def _change(world: Healthy, key: keys.Key, /, **values: Any) -> keys.Key:
    assert world.table.get(key) is not None, key
    world.table.update(key, assign=values)
    return key


def _delete(world: Healthy, key: keys.Key) -> keys.Key:
    assert world.table.get(key) is not None, key
    world.table.delete(key)
    return key


def _copy_mention(world: Healthy, dedup_key: str, tag: str) -> keys.Key:
    mention = world.table.get(keys.article_tag(world.story, "technology"))
    assert mention is not None
    key = keys.article_tag(dedup_key, tag)
    world.table.put({**mention, **key, "tag": tag})
    return key


HOUR = keys.hour_rollup("quartzon", "2026-11-27T12")
DAY = keys.day_rollup("quartzon", "2026-11-27")


def _slots(world: Healthy) -> dict[str, Any]:
    return dict((world.table.get(LATEST) or {})["sources"])


def _swap_priorities(world: Healthy) -> keys.Key:
    slots = _slots(world)
    slots["aggregator"]["priority"] = 0
    return _change(world, LATEST, sources=slots)


def _removed_comes_back(world: Healthy) -> keys.Key:
    slots = _slots(world)
    return _change(world, LATEST, sources={**slots, "removed": {**slots["official"], "priority": 2}})


def _store_name_as_before(world: Healthy) -> keys.Key:
    before = "v1324  sco"
    for place, aged in (
        (keys.nova_name("v1324 sco", world.nova_id), keys.nova_name(before, world.nova_id)),
        (keys.nova_own_name(world.nova_id, "v1324 sco"), keys.nova_own_name(world.nova_id, before)),
    ):
        item = world.table.get(place) or {}
        _delete(world, place)
        world.table.put({**item, **aged, "name_normalized": before})
    place_before = dict(keys.listed_nova(before, world.nova_id))
    _change(world, keys.nova(world.nova_id), primary_name_normalized=before, **place_before)
    return keys.nova_own_name(world.nova_id, before)


def _position(world: Healthy) -> keys.Key:
    (found,) = (item for item in everything(world.table) if item.get("entity_type") == "NovaPosition")
    return keys.Key(PK=found["PK"], SK=found["SK"])


def _plot(world: Healthy) -> keys.Key:
    return keys.file_object(world.nova_id, "SPECTRA", world.spectra["valid"], "PLOT", "preview.png")


def _alias_to_nothing(world: Healthy) -> keys.Key:
    return _change(world, keys.article_alias("wire", "0"), dedup_key="0" * 32)


def _cache_of_another_count(world: Healthy) -> keys.Key:
    now = world.clock()
    other = sentiment_of("quartzon", Counts(positive=7, polarity=7_000_000), now, now)
    return _change(world, keys.cache_entry("quartzon", "DAY_7"), **other.figures())


def _terminal_and_eligible(world: Healthy) -> keys.Key:
    item = world.table.get(world.spectrum("waiting")) or {}
    place = {name: item[name] for name in ("GSI1PK", "status", "timestamp")}
    sort_key = item["GSI1SK"].replace(world.spectra["waiting"], world.spectra["ended"])
    return _change(world, world.spectrum("ended"), eligibility="ACQUIRE", GSI1SK=sort_key, **place)


def _run_that_never_ended(world: Healthy) -> keys.Key:
    return put_run(world.table, world.nova_id, "lost", "RUNNING", world.now - timedelta(minutes=31))


def _raw_file(world: Healthy) -> keys.Key:
    return keys.file_object(world.nova_id, "SPECTRA", world.spectra["valid"], "RAW_FITS", "primary.fits")


def _forget_raw_file(world: Healthy) -> keys.Key:
    _delete(world, _raw_file(world))
    return world.spectrum("valid")


def _forget_photometry(world: Healthy) -> keys.Key:
    item = world.table.get(keys.photometry_table(world.nova_id)) or {}
    product = item["product_type"], item["data_product_id"]
    _delete(world, keys.file_object(world.nova_id, *product, "NORMALIZED", "points"))
    return keys.photometry_table(world.nova_id)


def _locator_to_nothing(world: Healthy) -> keys.Key:
    alias = keys.locator_alias("LOOP", "provider_product_id:waiting", world.spectra["waiting"])
    return _change(world, alias, data_product_id=str(uuid.UUID(int=0)))


def _owner_of_bytes(world: Healthy) -> keys.Key:
    item = world.table.get(world.spectrum("valid")) or {}
    _delete(world, keys.fingerprint_owner(item["sha256"]))
    return world.spectrum("valid")


def _lost_object(world: Healthy) -> keys.Key:
    return _change(world, _raw_file(world), key="raw/spectra/elsewhere.fits")


BREAKAGES = (
    Breakage(
        "an article without one of its mentions",
        "mentions",
        lambda w: _delete(w, keys.article_tag(w.story, "markets")),
        "the mention of 'markets' by an analyzed article is missing",
    ),
    Breakage(
        "a mention that says something else than its article",
        "mentions",
        lambda w: _change(w, keys.article_tag(w.story, "markets"), headline="Another"),
        "headline is 'Another', in the article 'Orbita wins",
    ),
    Breakage(
        "an analyzed article without a verdict",
        "mentions",
        lambda w: _change(w, keys.article(w.story), score=None),
        "it is analyzed but has no score",
    ),
    Breakage(
        "an article that waits and is in no list",
        "waiting-articles",
        lambda w: _change(w, keys.article(w.story), sentiment=None),
        "it waits for its analysis since .*, and by_status does not list it",
    ),
    Breakage(
        "a mention too many",
        "articles-of-mentions",
        lambda w: _copy_mention(w, w.story, "gardening"),
        "its article does not have the tag 'gardening'",
    ),
    Breakage(
        "a mention without its article",
        "articles-of-mentions",
        lambda w: _copy_mention(w, "f" * 32, "markets"),
        "the article that it is a mention by does not exist",
    ),
    Breakage(
        "an alias that leads nowhere", "aliases", _alias_to_nothing, "dedup:0{32}, which", repairable=False
    ),
    Breakage(
        "an observation in by_status",
        "indexes",
        lambda w: _change(w, LATEST, status="active", timestamp="2026-11-27T00:00:00Z"),
        "by_status does not list Latest under 'active'",
    ),
    Breakage(
        "a nova with a time beside its status",
        "indexes",
        lambda w: _change(w, keys.nova(w.nova_id), timestamp="2026-11-27T00:00:00Z"),
        "by_status does not list Nova under 'ACTIVE'",
    ),
    Breakage(
        "a mention among the articles of a sentiment",
        "indexes",
        lambda w: _change(w, keys.article_tag(w.story, "markets"), sentiment="positive"),
        "by_sentiment does not list Mention under 'positive'",
    ),
    Breakage(
        "an article of an unknown status",
        "indexes",
        lambda w: _change(w, keys.article(w.story), status="lost"),
        "by_status does not list Article under 'lost'",
        repairable=False,
    ),
    Breakage(
        "an article in a shard that nothing reads",
        "shards",
        lambda w: _change(w, keys.article(w.story), sentiment="positive#3"),
        "it stands in shard 3 of by_sentiment.*, and should in 0",
    ),
    Breakage(
        "a spectrum in a shard that is not its own",
        "shards",
        lambda w: _change(w, w.spectrum("waiting"), status="ACQUIRE#63"),
        "it stands in shard 63 of by_status, which no list asks for, and should in [0-7]",
    ),
    Breakage(
        "a due source that dispatch does not find",
        "due-sources",
        lambda w: _change(w, keys.source("wire"), GSI1PK=None, GSI1SK=None),
        "it stands nowhere in EligibilityIndex and should at SOURCE, ",
    ),
    Breakage(
        "a source that dispatch finds a day late",
        "due-sources",
        lambda w: _change(w, keys.source("wire"), **keys.due("wire", "2026-12-05T00:00:00Z")),
        "it stands at SOURCE, 2026-12-05#wire in EligibilityIndex and should at SOURCE, 2026-",
    ),
    Breakage(
        "a disabled source among those polled",
        "due-sources",
        lambda w: _change(w, keys.source("silent"), **keys.due("silent", "2026-11-27T00:00:00Z")),
        "it stands at SOURCE, .* and should at SOURCE#DISABLED, ",
    ),
    Breakage(
        "a subject that is not looked for",
        "listed-subjects",
        lambda w: _change(w, keys.subject("MRBL"), **keys.retired_subject("MRBL")),
        "it stands at TOOL#RETIRED, MRBL in EligibilityIndex and should at TOOL, MRBL",
    ),
    Breakage(
        "a nova that stands in no list",
        "listed-novae",
        lambda w: _change(w, keys.nova(w.nova_id), GSI1PK=None, GSI1SK=None),
        "it stands nowhere in EligibilityIndex",
    ),
    Breakage(
        "an hour's count that is not that of the mentions",
        "rollups",
        lambda w: _change(w, HOUR, positive_count=7, total_mentions=7),
        r"it has 7 positive, .* and a count of the mentions \d positive",
    ),
    Breakage(
        "an hour that was never counted", "rollups", lambda w: _delete(w, HOUR), "there is none, and the"
    ),
    Breakage(
        "a day's count that is not that of the mentions",
        "rollups",
        lambda w: _change(w, DAY, polarity_millionths=1),
        "polarity 1 millionths, and a count",
    ),
    Breakage(
        "a cached count that is not that of its window",
        "sentiment-cache",
        _cache_of_another_count,
        "of the mentions from 2026-11-20T.* it says total_mentions 7 instead of 2, positive_count 7",
    ),
    Breakage(
        "a cached entry that breaks a rule of the data model",
        "sentiment-cache",
        lambda w: _change(w, keys.cache_entry("MRBL", "DAY_30"), positive_percentage=50.0),
        "the percentages do not sum to 100",
    ),
    Breakage(
        "a canonical figure that is not the winner's",
        "canonical",
        _swap_priorities,
        "aggregator wins, and official should: aggregator has priority 0 instead of 5",
    ),
    Breakage(
        "a removed source that still counts",
        "canonical",
        _removed_comes_back,
        "removed has a slot, and is not registered or has no observation",
    ),
    Breakage(
        "observations that nothing finds",
        "observations",
        lambda w: _delete(w, LATEST),
        "it is missing, so that what was observed is not found",
    ),
    Breakage(
        "an eligible spectrum that is terminal",
        "eligible-spectra",
        _terminal_and_eligible,
        "it is TERMINAL_INVALID, and eligible all the same",
    ),
    Breakage(
        "a terminal spectrum in the index",
        "eligible-spectra",
        lambda w: _change(w, w.spectrum("ended"), status="ACQUIRE", timestamp="2026-11-27T00:00:00Z"),
        "it is not eligible, and has status, timestamp of the indexes",
    ),
    Breakage(
        "an eligible spectrum that nothing finds",
        "eligible-spectra",
        lambda w: _change(w, w.spectrum("waiting"), status=None, timestamp=None),
        "it is eligible, but without status, timestamp nothing finds it",
    ),
    Breakage(
        "a valid spectrum without the record of its file",
        "raw-files",
        _forget_raw_file,
        "it is VALID, and there is no record of its raw file",
        repairable=False,
    ),
    Breakage(
        "a valid spectrum whose bytes are nobody's",
        "owners-of-bytes",
        _owner_of_bytes,
        "it is VALID, and its bytes are those of no spectrum",
    ),
    Breakage(
        "a locator that leads to no spectrum",
        "locators",
        _locator_to_nothing,
        "which does not exist; the next discovery",
        repairable=False,
    ),
    Breakage(
        "photometry that points to nothing",
        "photometry",
        _forget_photometry,
        "there is no record of the file of its points_s3_key",
        repairable=False,
    ),
    Breakage(
        "a nova that is not found by a name",
        "novae",
        lambda w: _delete(w, keys.nova_name("v1324 sco", w.nova_id)),
        "it is missing: the name 'V1324 Sco' leads to the nova no more",
    ),
    Breakage(
        "a name under the form of an earlier version",
        "novae",
        _store_name_as_before,
        "its name is looked up as 'v1324 sco' now: `sourcebook migrate` moves it",
    ),
    Breakage(
        "a nova that is not found at its place",
        "novae",
        lambda w: _delete(w, _position(w)),
        "it is missing: its place leads to the nova no more",
    ),
    Breakage(
        "a run that never ended",
        "runs",
        _run_that_never_ended,
        "ingest_new_nova is RUNNING since .* and has 0:30:00 to end",
        repairable=False,
    ),
    Breakage(
        "a file that is not in the bucket",
        "objects",
        lambda w: _change(w, _plot(w), key="derived/elsewhere.png"),
        "its object derived/elsewhere.png is not in the bucket",
        repairable=False,
        objects=True,
    ),
    Breakage(
        "a file of another length",
        "objects",
        lambda w: _change(w, _plot(w), byte_length=1),
        "bytes instead of 1",
        repairable=False,
        objects=True,
    ),
    Breakage(
        "an item that does not have the form of its kind",
        "runs",
        lambda w: _change(w, put_run(w.table, w.nova_id, "bad", "RUNNING", w.now), started_at="yesterday"),
        "it does not have the form of its kind: ValueError: .*yesterday",
        repairable=False,
    ),
)


@pytest.mark.parametrize("breakage", BREAKAGES, ids=[breakage.name for breakage in BREAKAGES])
def test_what_is_broken_is_found_once_named_and_mended_if_it_can_be(
    world: Healthy, breakage: Breakage
) -> None:
    key = breakage.plant(world)
    before = everything(world.table)
    (report,) = verify(world, repair=True, objects=breakage.objects)
    finding = report.finding
    assert (finding.check, finding.key, finding.repairable) == (breakage.check, key, breakage.repairable)
    assert re.search(breakage.says, finding.problem), finding.problem
    if breakage.repairable:
        assert report.mended is Mended.MENDED
        assert verify(world) == []
    else:
        assert report.mended is Mended.NOT_POSSIBLE
        assert everything(world.table) == before


def test_all_that_is_broken_at_once_is_found_and_mended(world: Healthy) -> None:
    """What hides nothing of another, all together; then what is marked is counted again and stays right."""
    names = {
        "an article without one of its mentions",
        "a mention too many",
        "a mention without its article",
        "an alias that leads nowhere",
        "a nova with a time beside its status",
        "a due source that dispatch does not find",
        "a disabled source among those polled",
        "an hour that was never counted",
        "a cached count that is not that of its window",
        "a canonical figure that is not the winner's",
        "an eligible spectrum that is terminal",
        "a valid spectrum whose bytes are nobody's",
        "a nova that is not found by a name",
        "a run that never ended",
    }
    planted = [breakage for breakage in BREAKAGES if breakage.name in names]
    assert len(planted) == len(names)
    wanted = sorted((b.check, *b.plant(world).values()) for b in planted)
    reports = verify(world)
    assert sorted(report.finding.place for report in reports) == wanted
    assert {report.mended for report in reports} == {Mended.NOT_TRIED}
    repaired = verify(world, repair=True)
    assert sorted(report.finding.place for report in repaired) == wanted
    left = {r.finding.check for r in verify(world)}
    assert left == {"aliases", "runs"}
    world_later = Healthy(**{**vars(world), "now": world.now + timedelta(minutes=11)})
    Refresher(world.table, world_later.clock, workers=1).run()
    assert not [item for item in everything(world.table) if item.get("entity_type") == "DirtyHour"]
    assert {r.finding.check for r in verify(world_later)} == {"aliases", "runs"}


def test_an_hour_that_waits_to_be_counted_again_is_not_judged(world: Healthy) -> None:
    _change(world, HOUR, positive_count=7, total_mentions=7)
    _cache_of_another_count(world)
    world.table.put({**keys.dirty_hour("quartzon", "2026-11-27T12"), "entity_type": "DirtyHour", "hour": "x"})
    assert verify(world) == []


def test_what_has_expired_is_not_missed(world: Healthy) -> None:
    """DynamoDB deletes an article and its mentions in any order, and its aliases may outlive it by weeks."""
    past = epoch_seconds(world.now) - 1
    orphan = _copy_mention(world, "f" * 32, "markets")
    _change(world, orphan, ttl_timestamp=past)
    _delete(world, keys.article_tag(world.story, "markets"))
    _change(world, keys.article(world.story), ttl_timestamp=past)
    alias = _alias_to_nothing(world)
    old = epoch_seconds(world.now + timedelta(days=27))
    _change(world, alias, ttl_timestamp=old)
    assert verify(world) == []


def test_a_window_from_which_mentions_have_expired_may_count_more(world: Healthy) -> None:
    later = Healthy(**{**vars(world), "now": NOON + timedelta(days=30, hours=1)})
    entry = world.table.get(keys.cache_entry("quartzon", "DAY_7")) or {}
    assert entry["total_mentions"] == 2
    for item in everything(world.table):
        if item["PK"].startswith("dedup:"):
            world.table.delete(keys.Key(PK=item["PK"], SK=item["SK"]))
    checks = chosen(all_checks(world.table, later.clock), ["sentiment-cache", "rollups"])
    assert list(Verifier(world.table, checks, patience=0).run()) == []


def test_the_subject_of_a_retired_list_keeps_what_was_counted(world: Healthy) -> None:
    _change(world, keys.subject("quartzon"), active=False, **keys.retired_subject("quartzon"))
    _delete(world, HOUR)
    assert verify(world) == []


def test_a_subject_that_was_a_tag_before_has_its_earlier_mentions_counted(world: Healthy) -> None:
    SubjectRegistry(world.table, world.clock).register([Subject("technology", "Technology")])
    Refresher(world.table, world.clock, workers=1).run(["technology"])
    assert verify(world) == []
    entry = world.table.get(keys.cache_entry("technology", "DAY_30")) or {}
    assert entry["total_mentions"] == 3


def test_what_is_only_between_two_writes_is_not_reported(world: Healthy) -> None:
    """An alias is written before its article: it is looked at again before anybody hears of it."""
    article = world.table.get(keys.article(world.story))
    assert article is not None
    world.table.delete(keys.article(world.story))
    checks = all_checks(world.table, world.clock)
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        world.table.put(article)

    assert list(Verifier(world.table, checks, patience=2.5, sleep=sleep).run()) == []
    assert slept == [2.5]


def test_what_somebody_else_changes_while_it_is_mended_is_left_to_them(
    world: Healthy, monkeypatch: pytest.MonkeyPatch
) -> None:
    _change(world, keys.source("wire"), GSI1PK=None, GSI1SK=None)
    change = Table.change

    def moved_on(self: Table, key: keys.Key, **changes: Any) -> None:
        world.table.update(key, assign={"next_fetch_time": isoformat(world.now + timedelta(hours=2))})
        change(self, key, **changes)

    monkeypatch.setattr(Table, "change", moved_on)
    (report,) = verify(world, repair=True)
    assert report.mended is Mended.CHANGED
    assert "GSI1PK" not in (world.table.get(keys.source("wire")) or {})


def test_a_source_that_an_earlier_version_has_polled_stands_where_dispatch_finds_it(world: Healthy) -> None:
    source = world.table.get(keys.source("wire")) or {}
    _change(world, keys.source("wire"), **keys.due_to_the_second("wire", source["next_fetch_time"]))
    assert verify(world) == []
    _change(world, keys.source("wire"), **keys.due_to_the_second("wire", "2026-11-27T00:00:00Z"))
    assert [report.finding.check for report in verify(world)] == ["due-sources"]


def test_a_table_that_does_not_answer_ends_the_run(world: Healthy, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(self: Table, *arguments: Any, **options: Any) -> Any:
        raise TableBusy("DynamoDB: ThrottlingException: try again later")

    monkeypatch.setattr(Table, "batch_get", busy)
    with pytest.raises(TableBusy):
        verify(world)


def test_only_some_checks_are_run_if_they_are_named(world: Healthy) -> None:
    checks = all_checks(world.table, world.clock)
    assert [check.name for check in chosen(checks, ["runs", "aliases"])] == ["aliases", "runs"]
    assert len({check.name for check in checks}) == len(checks)
    with pytest.raises(InvalidInput, match=r"--only: 'rolups' is not valid; expected one of aliases, "):
        chosen(checks, ["rolups"])


@pytest.fixture
def run(world: Healthy, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    outputs = {
        "TableName": world.table.name,
        "DataBucketName": BUCKET,
        "IndexShards": str(world.table.shards),
    }
    stack = Stack(boto3.session.Session(), outputs)
    monkeypatch.setattr(Stack, "connect", classmethod(lambda _, **__: stack))
    monkeypatch.setattr(command, "all_checks", lambda table, objects: all_checks(table, world.clock, objects))
    return lambda *arguments: CliRunner().invoke(command.verify, [*arguments, "--patience", "0"])


def test_the_command_says_that_nothing_is_wrong(world: Healthy, run: Callable[..., Any]) -> None:
    result = run("--objects")
    assert result.exit_code == 0, result.output
    checks = len(all_checks(world.table, world.clock, world.s3))
    expected_summary = rf"\d+ items in [\d.]+ s, held to {checks} checks: nothing is wrong\."
    assert re.search(expected_summary, result.output)


def test_the_command_reports_repairs_and_fails_as_long_as_something_is_wrong(
    world: Healthy, run: Callable[..., Any]
) -> None:
    key = _delete(world, keys.article_tag(world.story, "markets"))
    lost = _run_that_never_ended(world)
    result = run("--json")
    assert result.exit_code == 1
    *findings, summary = map(json.loads, result.output.splitlines())
    assert {(f["check"], f["pk"], f["sk"], f["repairable"], f["outcome"]) for f in findings} == {
        ("mentions", key["PK"], key["SK"], True, "not_tried"),
        ("runs", lost["PK"], lost["SK"], False, "not_tried"),
    }
    assert (summary["summary"]["findings"], summary["summary"]["mended"]) == (2, 0)
    result = run("--repair")
    assert result.exit_code == 1
    assert f"{key['PK']}  {key['SK']}" in result.output
    assert "is missing — mended" in result.output
    assert "cannot be mended from the table" in result.output
    assert "2 items are wrong, 1 of them mended." in result.output
    result = run("--only", "mentions")
    assert result.exit_code == 0
    assert "held to 1 checks: nothing is wrong." in result.output


def test_people_see_how_far_the_reading_has_come(world: Healthy, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    items = len(everything(world.table))
    with command._progress(world.table, shown=True) as watch:
        watch(items - 1)
        assert "Verifying" in screen.getvalue()
        watch(1)
    assert "100%" in screen.getvalue()
    screen.truncate(0)
    with command._progress(world.table, shown=False) as watch:
        watch(items)
    assert screen.getvalue() == ""


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_mending_twice_is_mending_once(world: Healthy) -> None:
    key = _delete(world, keys.article_tag(world.story, "markets"))
    (check,) = chosen(all_checks(world.table, world.clock), ["mentions"])
    (report,) = verify(world)
    assert check.repair(report.finding)
    mended = world.table.get(key)
    assert check.repair(report.finding)
    assert world.table.get(key) == mended
    with pytest.raises(ConditionFailed):
        world.table.put({**key, "revision": 0}, condition=_never())


def _never() -> Any:
    from boto3.dynamodb.conditions import Attr

    return Attr("PK").not_exists()
