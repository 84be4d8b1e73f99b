from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from sourcebook.articles import reanalysis
from sourcebook.articles.analysis import Analyzer
from sourcebook.articles.reanalysis import Reanalyzer
from sourcebook.articles.reanalysis_messages import LAST_DAY, DayOfArticles, Progress
from sourcebook.clock import isoformat
from sourcebook.errors import InvalidInput
from sourcebook.integrity.articles import ArticlesHaveTheirMentions
from sourcebook.records.article import is_analyzed
from sourcebook.records.subject import Subject
from sourcebook.sentiment.catalog import NO_SUBJECTS
from sourcebook.sentiment.engines import Label
from sourcebook.sentiment.engines.lexicon import LexiconEngine
from sourcebook.sentiment.engines.model import ModelEngine
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.table import keys
from tests.incoming import NOON, incoming
from tests.integration.sentiment.conftest import World


class Gloomy(LexiconEngine):
    """Another engine, which finds everything bad."""

    name = "gloomy-1"

    def label(self, texts: Sequence[str]) -> list[Label]:
        return [Label("negative", 0.9, -0.9) for _ in texts]


@pytest.fixture
def reported(world: World) -> World:
    for number, hours in enumerate((1, 2, 30, 31, 700, 1000)):
        headline = f"Quartzon delights users {'again ' * number}with a wonderful release"
        world.report(
            incoming("tiingo", str(number), headline=headline, published_at=NOON - timedelta(hours=hours))
        )
    world.analyze()
    return world


def every_day(world: World, tool_id: str = "quartzon", scope: str = "mentions") -> list[Progress]:
    """Do the days that have stories as the state machine does, each in as many calls as it takes."""
    analyzer = Analyzer.of(world.table, Gloomy(), world.clock, workers=1)
    calls = []
    for day in (0, 1, 29, LAST_DAY):
        event: dict[str, Any] = {"tool_id": tool_id, "days_ago": day, "scope": scope}
        event["started_at"] = isoformat(world.now)
        while True:
            progress = Reanalyzer(world.table, analyzer).run(DayOfArticles.of_json(event))
            calls.append(progress)
            if progress.done:
                break
            event["next"] = progress.next
    return calls


def test_every_article_that_mentions_a_subject_is_analyzed_anew_however_old(reported: World) -> None:
    assert {mention["label"] for mention in reported.mentions("quartzon")} == {"positive"}
    calls = every_day(reported)
    assert sum(call.analyzed for call in calls) == 6
    assert [mention["label"] for mention in reported.mentions("quartzon")] == ["negative"] * 6
    articles = [item for item in reported.everything() if item["SK"] == "ARTICLE"]
    assert {(is_analyzed(item), item["engine"]) for item in articles} == {(True, "gloomy-1")}
    reported.refresh()
    reported.check_cache()


def test_a_day_is_done_in_as_many_calls_as_it_takes(reported: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reanalysis, "_PAGE", 1)
    monkeypatch.setattr(reanalysis, "_ARTICLES_AT_MOST", 1)
    calls = every_day(reported)
    assert sum(call.analyzed for call in calls) == 6
    assert sum(not call.done for call in calls) >= 2
    assert [mention["label"] for mention in reported.mentions("quartzon")] == ["negative"] * 6


def test_a_call_ends_before_its_time_does(reported: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reanalysis, "_PAGE", 1)
    analyzer = Analyzer.of(reported.table, Gloomy(), reported.clock, workers=1)
    part = DayOfArticles("quartzon", 0, reported.now)
    progress = Reanalyzer(reported.table, analyzer, seconds_left=lambda: 5.0).run(part)
    assert (progress.analyzed, progress.done) == (1, False)


def test_a_new_name_is_found_by_looking_through_all_articles(reported: World) -> None:
    SubjectRegistry(reported.table, reported.clock).register([Subject("release", "wonderful release")])
    assert sum(call.analyzed for call in every_day(reported, "release")) == 0
    assert sum(call.analyzed for call in every_day(reported, "release", "all")) == 6
    assert len(reported.mentions("release")) == 6


def test_an_execution_that_an_earlier_version_began_goes_on_at_the_beginning_of_its_day(
    reported: World,
) -> None:
    place = {"status": "analyzed", "timestamp": isoformat(NOON), "PK": "dedup:0", "SK": "ARTICLE"}
    part = DayOfArticles("quartzon", 0, reported.now, "all", place)
    analyzer = Analyzer.of(reported.table, Gloomy(), reported.clock, workers=1)
    progress = Reanalyzer(reported.table, analyzer).run(part)
    assert (progress.analyzed, progress.done) == (2, True)


def test_a_name_that_was_taken_back_is_no_longer_mentioned(reported: World) -> None:
    SubjectRegistry(reported.table, reported.clock).register([Subject("quartzon", "Quartzon Studio", "tool")])
    every_day(reported)
    assert not reported.mentions("quartzon")
    reported.refresh()
    reported.check_cache()


def test_a_subject_that_is_not_there_is_refused(reported: World) -> None:
    with pytest.raises(InvalidInput, match="nobody"):
        every_day(reported, "nobody")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"tool_id": None}, "tool_id"),
        ({"tool_id": "a#b"}, "tool_id"),
        ({"days_ago": 31}, "days_ago"),
        ({"days_ago": "1"}, "days_ago"),
        ({"scope": "some"}, "scope"),
        ({"started_at": "noon"}, "started_at"),
        ({"next": "there"}, "next"),
    ],
)
def test_a_wrong_field_of_a_part_is_named(change: dict[str, Any], field: str) -> None:
    good = {"tool_id": "a", "days_ago": 0, "started_at": "2026-11-27T12:00:00Z"}
    assert DayOfArticles.of_json(good).days_ago == 0
    with pytest.raises(InvalidInput) as caught:
        DayOfArticles.of_json(good | change)
    assert caught.value.field == field


def test_a_subject_whose_id_was_a_tag_before_is_counted_from_its_first_day(world: World) -> None:
    tagged = incoming("tiingo", "1", headline="Snacks for all", published_at=NOON, tags=("SNAX",))
    world.report(tagged)
    world.analyze()
    world.wait(hours=1)
    world.refresh()
    SubjectRegistry(world.table, world.clock).register([Subject("SNAX", "Snackton", "company")])
    world.wait(minutes=2)
    world.refresh()
    world.check_cache(["SNAX"])
    assert world.counted("SNAX", NOON - timedelta(hours=1), world.now)["total_mentions"] == 1


@pytest.mark.parametrize("scope", ["mentions", "all"])
def test_mentions_that_no_refresh_ever_counted_are_counted_after_a_reanalysis(
    world: World, scope: str
) -> None:
    """A function that did not know the subject yet has written them, and marked nothing."""
    world.report(incoming("tiingo", "1", headline="Snacks for all", published_at=NOON, tags=("SNAX",)))
    SubjectRegistry(world.table, world.clock).register([Subject("SNAX", "Snackton", "company")])
    analyzer = Analyzer.of(world.table, LexiconEngine(), world.clock, workers=1)
    assert analyzer.subjects is not None
    analyzer.subjects._matcher = NO_SUBJECTS
    analyzer.subjects._version = analyzer.subjects.registry.version()
    analyzer.analyze(world.keys)
    again = Analyzer.of(world.table, LexiconEngine(), world.clock, workers=1)
    event = {"tool_id": "SNAX", "days_ago": 0, "scope": scope, "started_at": isoformat(world.now)}
    Reanalyzer(world.table, again).run(DayOfArticles.of_json(event))
    world.refresh()
    world.check_cache(["SNAX"])
    assert world.counted("SNAX", NOON - timedelta(hours=1), world.now)["total_mentions"] == 1


def test_each_mention_says_which_engine_judged_it(reported: World) -> None:
    assert {mention["engine"] for mention in stored_mentions(reported)} == {LexiconEngine().name}
    every_day(reported)
    assert {mention["engine"] for mention in stored_mentions(reported)} == {"gloomy-1"}


def stored_mentions(world: World) -> list[dict[str, Any]]:
    return [item for item in world.everything() if item.get("entity_type") == "Mention"]


RIVALS = "Quartzon wins record orders; Marbleton plunges after fraud charges"


def test_two_subjects_of_one_article_get_the_label_that_is_each_ones_own(world: World) -> None:
    world.report(incoming("tiingo", "1", headline=RIVALS, tags=("markets",)))
    world.report(incoming("tiingo", "2", headline="Quartzon wins record orders"))
    Analyzer.of(world.table, ModelEngine(), world.clock, workers=1).analyze(world.keys)
    [one] = world.mentions("MRBL")
    own = {mention["headline"]: mention for mention in world.mentions("quartzon")}
    assert (own[RIVALS]["label"], one["label"]) == ("positive", "negative")
    assert one["polarity"] < 0 < own[RIVALS]["polarity"]
    for item in (one, own[RIVALS]):
        assert 0 < item["score"] <= 1
        assert item["engine"] == ModelEngine().name
    [article] = [
        item for item in world.everything() if item.get("headline") == RIVALS and item["SK"] == "ARTICLE"
    ]
    [tagged] = world.mentions("markets")
    assert (tagged["label"], tagged["score"]) == (article["sentiment"], article["score"])
    assert set(article["subject_sentiments"]) == {"quartzon", "MRBL"}
    world.refresh()
    world.check_cache()
    assert not list(ArticlesHaveTheirMentions(world.table, world.clock).examine(world.everything()))


def test_a_reanalysis_labels_the_mentions_of_before_each_by_its_own(world: World) -> None:
    """Articles of before have one label for all, and no `subject_sentiments`."""
    world.report(incoming("tiingo", "1", headline=RIVALS, published_at=NOON - timedelta(hours=2)))
    world.analyze()
    for item in world.everything():
        if item["SK"] == "ARTICLE":
            world.table.update(keys.article(item["dedup_key"]), remove=["subject_sentiments"])
        elif item.get("entity_type") == "Mention":
            world.table.put({**item, "label": "neutral", "polarity": 0.0, "engine": "vader-3.3.2"})
    analyzer = Analyzer.of(world.table, ModelEngine(), world.clock, workers=1)
    event = {"tool_id": "MRBL", "days_ago": 0, "started_at": isoformat(world.now)}
    assert Reanalyzer(world.table, analyzer).run(DayOfArticles.of_json(event)).analyzed == 1
    assert [m["label"] for m in world.mentions("MRBL")] == ["negative"]
    assert [m["label"] for m in world.mentions("quartzon")] == ["positive"]
    assert {m["engine"] for m in stored_mentions(world)} == {ModelEngine().name}
    world.refresh()
    world.check_cache()
