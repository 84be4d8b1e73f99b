"""The operations of the API: each function is a method of `Client` and `AsyncClient` with the same name.

Paths, parameters and fields are those of the API's description; a test holds one against the other. What
they mean, ``/docs`` of the API says. ``size`` is how many items each page has, 1 to 100.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from pydantic import JsonValue

from sourcebook.client import models
from sourcebook.client._asking import Many, One, When

Words: TypeAlias = str | Sequence[str]
"""One word, or several of which any will do."""

_FULL: Final = 100


def article(key: str) -> One[models.Article]:
    """Return one article, by its ``dedup_key`` or as ``<source>:<article id>``."""
    return One("getArticle", "/articles/{key}", models.Article, {"key": key})


def articles(
    q: str | None = None,
    *,
    order: str | None = None,
    status: str | None = None,
    sentiment: Words | None = None,
    source: Words | None = None,
    subject: Words | None = None,
    tag: str | None = None,
    lang: Words | None = None,
    since: When | None = None,
    until: When | None = None,
    size: int = _FULL,
) -> Many[models.Article]:
    """List articles, the newest first, or those that a search finds (docs/search.md)."""
    given = {
        "q": q,
        "order": order,
        "status": status,
        "sentiment": sentiment,
        "source": source,
        "subject": subject,
        "tag": tag,
        "lang": lang,
        "since": since,
        "until": until,
        "limit": size,
    }
    return Many("listArticles", "/articles", models.Article, given)


def events(*, size: int = _FULL) -> Many[models.EventSummary]:
    """List events, the one with the newest article first."""
    return Many("listEvents", "/events", models.EventSummary, {"limit": size})


def event(event_id: str) -> One[models.Event]:
    """Return one event with its articles and ideas."""
    return One("getEvent", "/events/{event_id}", models.Event, {"event_id": event_id})


def decisions(about: str | None = None, *, size: int = _FULL) -> Many[models.Decision]:
    """List what people have decided of articles and events, or of one of them, the newest first."""
    return Many("listDecisions", "/decisions", models.Decision, {"about": about, "limit": size})


def decide(action: str, **fields: JsonValue) -> One[models.Decision]:
    """Join or split articles, take one out of its event, merge events, or undo such a decision.

    ``fields`` are those that the API takes: ``decided_by``, ``reason``, and what the decision is about.
    """
    return One(
        "decide", "/decisions/{action}", models.Decision, {"action": action}, method="POST", body=fields
    )


def subjects(*, size: int = _FULL) -> Many[models.Subject]:
    """List the subjects whose sentiment is kept."""
    return Many("listSubjects", "/api/v1/tools", models.Subject, {"limit": size})


def sentiment(tool_id: str, *, hours: int | None = None) -> One[models.Sentiment]:
    """Return what the mentions of a subject in the last hours felt."""
    given = {"tool_id": tool_id, "hours": hours}
    return One("getSentiment", "/api/v1/tools/{tool_id}/sentiment", models.Sentiment, given)


def sentiment_series(
    tool_id: str, *, hours: int | None = None, bucket: str | None = None
) -> One[models.SentimentSeries]:
    """Return what the mentions of a subject felt in whole hours or days, oldest first."""
    given = {"tool_id": tool_id, "hours": hours, "bucket": bucket}
    return One(
        "getSentimentSeries", "/api/v1/tools/{tool_id}/sentiment/series", models.SentimentSeries, given
    )


def subject_ranking(*, hours: int | None = None, order: str | None = None) -> One[models.SubjectRanking]:
    """Return the subjects by mentions, or by change of sentiment (``order="change"``)."""
    return One("rankSubjects", "/overviews/subjects", models.SubjectRanking, {"hours": hours, "order": order})


def best_rates(series_code: str | None = None) -> One[models.BestRates]:
    """Return the best rate of each series and term, and the banks that offer it."""
    return One("listBestRates", "/overviews/rates", models.BestRates, {"series_code": series_code})


def rate_moves(series_code: str, *, days: int | None = None) -> One[models.RateMoves]:
    """Return the rates of a series that have moved in the last days."""
    return One("listMoves", "/overviews/moves", models.RateMoves, {"series_code": series_code, "days": days})


def latest(
    series_code: str | None = None,
    *,
    term_months: float | None = None,
    bank_name: str | None = None,
    max_age_days: int | None = None,
) -> Many[models.LatestItem]:
    """List the newest figure of each bank, series and term."""
    given = {
        "series_code": series_code,
        "term_months": term_months,
        "bank_name": bank_name,
        "max_age_days": max_age_days,
    }
    return Many("getLatest", "/latest", models.LatestItem, given)


def rate_history(
    bank_name: str,
    series_code: str,
    term_months: float | None = None,
    *,
    first_day: When | None = None,
    last_day: When | None = None,
) -> Many[models.HistoryItem]:
    """List the figure of each day of one bank, series and term."""
    given = {
        "bank_name": bank_name,
        "series_code": series_code,
        "term_months": term_months,
        "from": first_day,
        "to": last_day,
    }
    return Many("getHistory", "/history", models.HistoryItem, given)


def observations(
    series_code: str | None = None,
    *,
    term_months: float | None = None,
    bank_name: str | None = None,
    source_id: str | None = None,
    since: When | None = None,
    until: When | None = None,
    size: int = _FULL,
) -> Many[models.Observation]:
    """List the figure of each source on each day: the raw layer."""
    given = {
        "series_code": series_code,
        "term_months": term_months,
        "bank_name": bank_name,
        "source_id": source_id,
        "since": since,
        "until": until,
        "limit": size,
    }
    return Many("listObservations", "/observations", models.Observation, given)


def banks() -> Many[models.BanksItem]:
    """List the banks of which there are figures."""
    return Many("listBanks", "/banks", models.BanksItem)


def series() -> Many[models.SeriesListItem]:
    """List the series of figures."""
    return Many("listSeries", "/series", models.SeriesListItem)


def figures_meta() -> One[models.Meta]:
    """Return how fresh the figures are, and how each source's last scrape went."""
    return One("getMeta", "/meta/latest", models.Meta)


def novae(
    name: str | None = None, *, ra: float | None = None, dec: float | None = None, radius: float | None = None
) -> One[models.NovaSearch]:
    """Find novae by name, or by place: ``ra``, ``dec`` and ``radius`` as the API takes them."""
    return One(
        "findNovae", "/novae", models.NovaSearch, {"name": name, "ra": ra, "dec": dec, "radius": radius}
    )


def list_novae(
    *,
    status: str | None = None,
    year: int | None = None,
    constellation: str | None = None,
    prefix: str | None = None,
    discovered_since: When | None = None,
    has_spectra: bool | None = None,
    has_photometry: bool | None = None,
    size: int = _FULL,
) -> Many[models.NovaSearchItem]:
    """List all novae, or those that the filters let through, by their primary names."""
    given = {
        "status": status,
        "year": year,
        "constellation": constellation,
        "prefix": prefix,
        "discovered_since": discovered_since,
        "has_spectra": has_spectra,
        "has_photometry": has_photometry,
        "limit": size,
    }
    return Many("findNovae", "/novae", models.NovaSearchItem, given)


def nova(nova_id: str) -> One[models.Nova]:
    """Return one nova with its names."""
    return One("getNova", "/novae/{nova_id}", models.Nova, {"nova_id": nova_id})


def references(nova_id: str, *, role: str | None = None, size: int = _FULL) -> Many[models.Reference]:
    """List the publications about a nova, the newest first."""
    given = {"nova_id": nova_id, "role": role, "limit": size}
    return Many("listReferences", "/novae/{nova_id}/references", models.Reference, given)


def nova_runs(nova_id: str, *, size: int = _FULL) -> Many[models.JobRunSummary]:
    """List the runs of workflows for a nova."""
    return Many(
        "listNovaJobRuns",
        "/novae/{nova_id}/job-runs",
        models.JobRunSummary,
        {"nova_id": nova_id, "limit": size},
    )


def products(
    nova_id: str,
    *,
    product_type: str | None = None,
    provider: str | None = None,
    validation_status: str | None = None,
    size: int = _FULL,
) -> Many[models.ProductSummary]:
    """List the data products of a nova: its photometry table, and its spectra."""
    given = {
        "nova_id": nova_id,
        "product_type": product_type,
        "provider": provider,
        "validation_status": validation_status,
        "limit": size,
    }
    return Many("listProducts", "/novae/{nova_id}/products", models.ProductSummary, given)


def product(nova_id: str, data_product_id: str) -> One[models.Product]:
    """Return one data product with its files."""
    given = {"nova_id": nova_id, "data_product_id": data_product_id}
    return One("getProduct", "/novae/{nova_id}/products/{data_product_id}", models.Product, given)


def spectrum(nova_id: str, data_product_id: str, *, points: int | None = None) -> One[models.Spectrum]:
    """Return the samples of a valid spectrum."""
    given = {"nova_id": nova_id, "data_product_id": data_product_id, "points": points}
    return One("getSpectrum", "/novae/{nova_id}/products/{data_product_id}/spectrum", models.Spectrum, given)


def light_curve(
    nova_id: str,
    *,
    band: Words | None = None,
    since: When | None = None,
    until: When | None = None,
    include_upper_limits: bool | None = None,
    points: int | None = None,
) -> One[models.Photometry]:
    """Return the light curve of a nova."""
    given = {
        "nova_id": nova_id,
        "band": band,
        "since": since,
        "until": until,
        "include_upper_limits": include_upper_limits,
        "points": points,
    }
    return One("getPhotometry", "/novae/{nova_id}/photometry", models.Photometry, given)


def sources(*, kind: str | None = None, health: str | None = None, size: int = _FULL) -> Many[models.Source]:
    """List the sources of every kind, and how they do."""
    return Many("listSources", "/sources", models.Source, {"kind": kind, "health": health, "limit": size})


def source_overviews(*, hours: int | None = None, order: str | None = None) -> One[models.SourceOverviews]:
    """Return what each source brought of late, how old it was, and how fast it answered."""
    return One(
        "listSourceOverviews", "/overviews/sources", models.SourceOverviews, {"hours": hours, "order": order}
    )


def ingestion(*, hours: int | None = None) -> One[models.IngestionBatches]:
    """Return the runs of ingestion, and how often two sources reported the same."""
    return One("listBatches", "/overviews/ingestion", models.IngestionBatches, {"hours": hours})


def dead_letters() -> Many[models.DeadLetterQueue]:
    """List the dead-letter queues, and how many messages wait in each."""
    return Many("listDeadLetters", "/overviews/dead-letters", models.DeadLetterQueue)


def exports() -> Many[models.ExportedPeriod]:
    """List the periods that were exported, the newest first."""
    return Many("listExports", "/exports", models.ExportedPeriod)


def export(export_id: str) -> One[models.Export]:
    """Return the manifest of an export."""
    return One("getExport", "/exports/{export_id}", models.Export, {"export_id": export_id})


def feeds(*, health: str | None = None, size: int = _FULL) -> Many[models.Feed]:
    """List the feeds, by the day on which they are due."""
    return Many("listFeeds", "/feeds", models.Feed, {"health": health, "limit": size})


def feed(feed_id: str) -> One[models.Feed]:
    """Return one feed."""
    return One("getFeed", "/feeds/{feed_id}", models.Feed, {"feed_id": feed_id})


def fetches(feed_id: str, *, size: int = _FULL) -> Many[models.Fetch]:
    """List the fetches of a feed that changed something or failed, the newest first."""
    return Many("listFetches", "/feeds/{feed_id}/history", models.Fetch, {"feed_id": feed_id, "limit": size})


def feed_schedule(feed_id: str) -> One[models.FeedSchedule]:
    """Return why a feed's next fetch is when it is."""
    return One("explainSchedule", "/feeds/{feed_id}/schedule", models.FeedSchedule, {"feed_id": feed_id})


def add_feed(
    url: str | None = None, *, site: str | None = None, **fields: JsonValue
) -> One[models.AddedFeed]:
    """Add a feed by its own address, or by a page that announces it; ``fields`` are those of NewFeed."""
    given: dict[str, JsonValue] = {"url": url, "site": site, **fields}
    body = {name: value for name, value in given.items() if value is not None}
    return One("addFeed", "/feeds", models.AddedFeed, method="POST", body=body)


def change_feed(feed_id: str, **fields: JsonValue) -> One[models.Feed]:
    """Change what the fields name, those of FeedChange: ``enabled``, ``priority``, ``url`` and others."""
    return One(
        "changeFeed", "/feeds/{feed_id}", models.Feed, {"feed_id": feed_id}, method="PATCH", body=fields
    )


def remove_feed(feed_id: str) -> One[models.RemovedFeed]:
    """Remove a feed, and return its id; its articles stay. A client raises NotFound if there is none."""
    return One("removeFeed", "/feeds/{feed_id}", models.RemovedFeed, {"feed_id": feed_id}, method="DELETE")


def import_feeds(opml: str) -> One[models.ImportReport]:
    """Add the feeds of an OPML document; return which were added and what was wrong with it."""
    return One(
        "importFeeds",
        "/feeds/import",
        models.ImportReport,
        method="POST",
        body=opml,
        media_type="text/x-opml",
    )


def alerts(*, size: int = _FULL) -> Many[models.Alert]:
    """List the rules of alerts, the newest last."""
    return Many("listAlerts", "/alerts", models.Alert, {"limit": size})


def add_alert(kind: str, **fields: JsonValue) -> One[models.CreatedAlert]:
    """Add a rule, and return it with its secret; ``fields`` are its kind's, ``webhook`` and ``mail``."""
    body: dict[str, JsonValue] = {"kind": kind, **fields}
    return One("createAlert", "/alerts", models.CreatedAlert, method="POST", body=body)


def remove_alert(alert_id: str) -> One[models.RemovedAlert]:
    """Remove a rule, and return its id; a client raises NotFound if there is no such rule."""
    return One(
        "removeAlert", "/alerts/{alert_id}", models.RemovedAlert, {"alert_id": alert_id}, method="DELETE"
    )


def deliveries(alert_id: str, *, size: int = _FULL) -> Many[models.Delivery]:
    """List the deliveries of a rule, the newest first."""
    return Many(
        "listDeliveries",
        "/alerts/{alert_id}/deliveries",
        models.Delivery,
        {"alert_id": alert_id, "limit": size},
    )


def health() -> One[models.Health]:
    """Return whether the stack is alive, and what it was judged by; no error is raised if it is not."""
    return One("getHealth", "/health", models.Health, also=(503,))


def cache_health() -> One[models.SentimentCacheHealth]:
    """Return how fresh the cache of sentiment is, and how often it was used."""
    return One("getSentimentCacheHealth", "/api/v1/cache/health", models.SentimentCacheHealth)


def workflows() -> Many[models.WorkflowsItem]:
    """List the workflows that can be started, and what each takes."""
    return Many("listWorkflows", "/workflows", models.WorkflowsItem)


def open_upload(donor: str, files: Sequence[JsonValue], **fields: JsonValue) -> One[models.Upload]:
    """Begin an upload of files; each in the answer has a link to send it to. See NewUpload."""
    body: dict[str, JsonValue] = {"donor": donor, "files": list(files), **fields}
    return One("openUpload", "/uploads", models.Upload, method="POST", body=body)


def complete_upload(upload_id: str) -> One[models.Upload]:
    """Start the ingestion of the files that were sent, and return the report of the upload."""
    given = {"upload_id": upload_id}
    return One("completeUpload", "/uploads/{upload_id}/complete", models.Upload, given, method="POST")


def upload(upload_id: str) -> One[models.Upload]:
    """Return what became of the files of an upload."""
    return One("getUpload", "/uploads/{upload_id}", models.Upload, {"upload_id": upload_id})


def start(workflow: str, **fields: JsonValue) -> One[models.StartedRun]:
    """Start a workflow, and return its run; ``fields`` are those of its input."""
    given = {"name": workflow}
    return One(
        "startWorkflow", "/workflows/{name}/executions", models.StartedRun, given, method="POST", body=fields
    )


def add_nova(candidate_name: str) -> One[models.StartedRun]:
    """Start making a name a nova, and return the run to watch."""
    body = {"candidate_name": candidate_name}
    return One("initializeNova", "/novae", models.StartedRun, method="POST", body=body)


def runs(
    *, status: str | None = None, workflow: str | None = None, size: int = _FULL
) -> Many[models.JobRunSummary]:
    """List executions of workflows, the newest first."""
    given = {"status": status, "workflow": workflow, "limit": size}
    return Many("listJobRuns", "/job-runs", models.JobRunSummary, given)


def run(job_run_id: str) -> One[models.JobRun]:
    """Return one execution with its attempts."""
    return One("getJobRun", "/job-runs/{job_run_id}", models.JobRun, {"job_run_id": job_run_id})


def quarantine(*, review: str | None = None, size: int = _FULL) -> Many[models.QuarantineCase]:
    """List the cases of the quarantine, the newest first."""
    return Many("listQuarantine", "/quarantine", models.QuarantineCase, {"review": review, "limit": size})


def quarantine_case(quarantine_id: str) -> One[models.QuarantineCase]:
    """Return one case of the quarantine."""
    given = {"quarantine_id": quarantine_id}
    return One("getQuarantineCase", "/quarantine/{quarantine_id}", models.QuarantineCase, given)


def held_file(quarantine_id: str) -> One[models.HeldFile]:
    """Return the file of a quarantined spectrum, in base64."""
    return One(
        "getHeldFile", "/quarantine/{quarantine_id}/file", models.HeldFile, {"quarantine_id": quarantine_id}
    )


def review(quarantine_id: str, **fields: JsonValue) -> One[models.ReviewedCase]:
    """Record a decision on a case, and return the case; ``fields`` are those that the API takes."""
    given = {"quarantine_id": quarantine_id}
    return One(
        "reviewQuarantineCase",
        "/quarantine/{quarantine_id}/review",
        models.ReviewedCase,
        given,
        method="POST",
        body=fields,
    )
