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
    return One(operation="getArticle", path="/articles/{key}", variables={"key": key}, model=models.Article)


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
    query = {
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
    return Many(operation="listArticles", path="/articles", query=query, model=models.Article)


def events(*, size: int = _FULL) -> Many[models.EventSummary]:
    """List events, the one with the newest article first."""
    return Many(operation="listEvents", path="/events", query={"limit": size}, model=models.EventSummary)


def event(event_id: str) -> One[models.Event]:
    """Return one event with its articles and ideas."""
    variables = {"event_id": event_id}
    return One(operation="getEvent", path="/events/{event_id}", variables=variables, model=models.Event)


def decisions(about: str | None = None, *, size: int = _FULL) -> Many[models.Decision]:
    """List what people have decided of articles and events, or of one of them, the newest first."""
    query = {"about": about, "limit": size}
    return Many(operation="listDecisions", path="/decisions", query=query, model=models.Decision)


def decide(action: str, **fields: JsonValue) -> One[models.Decision]:
    """Join or split articles, take one out of its event, merge events, or undo such a decision.

    ``fields`` are those that the API takes: ``decided_by``, ``reason``, and what the decision is about.
    """
    return One(
        operation="decide",
        method="POST",
        path="/decisions/{action}",
        variables={"action": action},
        body=fields,
        model=models.Decision,
    )


def subjects(*, size: int = _FULL) -> Many[models.Subject]:
    """List the subjects whose sentiment is kept."""
    return Many(operation="listSubjects", path="/api/v1/tools", query={"limit": size}, model=models.Subject)


def sentiment(tool_id: str, *, hours: int | None = None) -> One[models.Sentiment]:
    """Return what the mentions of a subject in the last hours felt."""
    return One(
        operation="getSentiment",
        path="/api/v1/tools/{tool_id}/sentiment",
        variables={"tool_id": tool_id},
        query={"hours": hours},
        model=models.Sentiment,
    )


def sentiment_series(
    tool_id: str, *, hours: int | None = None, bucket: str | None = None
) -> One[models.SentimentSeries]:
    """Return what the mentions of a subject felt in whole hours or days, oldest first."""
    return One(
        operation="getSentimentSeries",
        path="/api/v1/tools/{tool_id}/sentiment/series",
        variables={"tool_id": tool_id},
        query={"hours": hours, "bucket": bucket},
        model=models.SentimentSeries,
    )


def subject_ranking(*, hours: int | None = None, order: str | None = None) -> One[models.SubjectRanking]:
    """Return the subjects by mentions, or by change of sentiment (``order="change"``)."""
    return One(
        operation="rankSubjects",
        path="/overviews/subjects",
        query={"hours": hours, "order": order},
        model=models.SubjectRanking,
    )


def best_rates(series_code: str | None = None) -> One[models.BestRates]:
    """Return the best rate of each series and term, and the banks that offer it."""
    return One(
        operation="listBestRates",
        path="/overviews/rates",
        query={"series_code": series_code},
        model=models.BestRates,
    )


def rate_moves(series_code: str, *, days: int | None = None) -> One[models.RateMoves]:
    """Return the rates of a series that have moved in the last days."""
    return One(
        operation="listMoves",
        path="/overviews/moves",
        query={"series_code": series_code, "days": days},
        model=models.RateMoves,
    )


def latest(
    series_code: str | None = None,
    *,
    term_months: float | None = None,
    bank_name: str | None = None,
    max_age_days: int | None = None,
) -> Many[models.LatestItem]:
    """List the newest figure of each bank, series and term."""
    query = {
        "series_code": series_code,
        "term_months": term_months,
        "bank_name": bank_name,
        "max_age_days": max_age_days,
    }
    return Many(operation="getLatest", path="/latest", query=query, model=models.LatestItem)


def rate_history(
    bank_name: str,
    series_code: str,
    term_months: float | None = None,
    *,
    first_day: When | None = None,
    last_day: When | None = None,
) -> Many[models.HistoryItem]:
    """List the figure of each day of one bank, series and term."""
    query = {
        "bank_name": bank_name,
        "series_code": series_code,
        "term_months": term_months,
        "from": first_day,
        "to": last_day,
    }
    return Many(operation="getHistory", path="/history", query=query, model=models.HistoryItem)


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
    query = {
        "series_code": series_code,
        "term_months": term_months,
        "bank_name": bank_name,
        "source_id": source_id,
        "since": since,
        "until": until,
        "limit": size,
    }
    return Many(operation="listObservations", path="/observations", query=query, model=models.Observation)


def banks() -> Many[models.BanksItem]:
    """List the banks of which there are figures."""
    return Many(operation="listBanks", path="/banks", model=models.BanksItem)


def series() -> Many[models.SeriesListItem]:
    """List the series of figures."""
    return Many(operation="listSeries", path="/series", model=models.SeriesListItem)


def figures_meta() -> One[models.Meta]:
    """Return how fresh the figures are, and how each source's last scrape went."""
    return One(operation="getMeta", path="/meta/latest", model=models.Meta)


def novae(
    name: str | None = None,
    *,
    ra: float | None = None,
    dec: float | None = None,
    radius: float | None = None,
) -> One[models.NovaSearch]:
    """Find novae by name, or by place: ``ra``, ``dec`` and ``radius`` as the API takes them."""
    query = {"name": name, "ra": ra, "dec": dec, "radius": radius}
    return One(operation="findNovae", path="/novae", query=query, model=models.NovaSearch)


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
    query = {
        "status": status,
        "year": year,
        "constellation": constellation,
        "prefix": prefix,
        "discovered_since": discovered_since,
        "has_spectra": has_spectra,
        "has_photometry": has_photometry,
        "limit": size,
    }
    return Many(operation="findNovae", path="/novae", query=query, model=models.NovaSearchItem)


def nova(nova_id: str) -> One[models.Nova]:
    """Return one nova with its names."""
    return One(
        operation="getNova", path="/novae/{nova_id}", variables={"nova_id": nova_id}, model=models.Nova
    )


def references(nova_id: str, *, role: str | None = None, size: int = _FULL) -> Many[models.Reference]:
    """List the publications about a nova, the newest first."""
    return Many(
        operation="listReferences",
        path="/novae/{nova_id}/references",
        variables={"nova_id": nova_id},
        query={"role": role, "limit": size},
        model=models.Reference,
    )


def nova_runs(nova_id: str, *, size: int = _FULL) -> Many[models.JobRunSummary]:
    """List the runs of workflows for a nova."""
    return Many(
        operation="listNovaJobRuns",
        path="/novae/{nova_id}/job-runs",
        variables={"nova_id": nova_id},
        query={"limit": size},
        model=models.JobRunSummary,
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
    query = {
        "product_type": product_type,
        "provider": provider,
        "validation_status": validation_status,
        "limit": size,
    }
    return Many(
        operation="listProducts",
        path="/novae/{nova_id}/products",
        variables={"nova_id": nova_id},
        query=query,
        model=models.ProductSummary,
    )


def product(nova_id: str, data_product_id: str) -> One[models.Product]:
    """Return one data product with its files."""
    return One(
        operation="getProduct",
        path="/novae/{nova_id}/products/{data_product_id}",
        variables={"nova_id": nova_id, "data_product_id": data_product_id},
        model=models.Product,
    )


def spectrum(nova_id: str, data_product_id: str, *, points: int | None = None) -> One[models.Spectrum]:
    """Return the samples of a valid spectrum."""
    return One(
        operation="getSpectrum",
        path="/novae/{nova_id}/products/{data_product_id}/spectrum",
        variables={"nova_id": nova_id, "data_product_id": data_product_id},
        query={"points": points},
        model=models.Spectrum,
    )


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
    query = {
        "band": band,
        "since": since,
        "until": until,
        "include_upper_limits": include_upper_limits,
        "points": points,
    }
    return One(
        operation="getPhotometry",
        path="/novae/{nova_id}/photometry",
        variables={"nova_id": nova_id},
        query=query,
        model=models.Photometry,
    )


def sources(*, kind: str | None = None, health: str | None = None, size: int = _FULL) -> Many[models.Source]:
    """List the sources of every kind, and how they do."""
    query = {"kind": kind, "health": health, "limit": size}
    return Many(operation="listSources", path="/sources", query=query, model=models.Source)


def source_overviews(*, hours: int | None = None, order: str | None = None) -> One[models.SourceOverviews]:
    """Return what each source brought of late, how old it was, and how fast it answered."""
    return One(
        operation="listSourceOverviews",
        path="/overviews/sources",
        query={"hours": hours, "order": order},
        model=models.SourceOverviews,
    )


def ingestion(*, hours: int | None = None) -> One[models.IngestionBatches]:
    """Return the runs of ingestion, and how often two sources reported the same."""
    return One(
        operation="listBatches",
        path="/overviews/ingestion",
        query={"hours": hours},
        model=models.IngestionBatches,
    )


def dead_letters() -> Many[models.DeadLetterQueue]:
    """List the dead-letter queues, and how many messages wait in each."""
    return Many(operation="listDeadLetters", path="/overviews/dead-letters", model=models.DeadLetterQueue)


def exports() -> Many[models.ExportedPeriod]:
    """List the periods that were exported, the newest first."""
    return Many(operation="listExports", path="/exports", model=models.ExportedPeriod)


def export(export_id: str) -> One[models.Export]:
    """Return the manifest of an export."""
    return One(
        operation="getExport",
        path="/exports/{export_id}",
        variables={"export_id": export_id},
        model=models.Export,
    )


def feeds(*, health: str | None = None, size: int = _FULL) -> Many[models.Feed]:
    """List the feeds, by the day on which they are due."""
    query = {"health": health, "limit": size}
    return Many(operation="listFeeds", path="/feeds", query=query, model=models.Feed)


def feed(feed_id: str) -> One[models.Feed]:
    """Return one feed."""
    variables = {"feed_id": feed_id}
    return One(operation="getFeed", path="/feeds/{feed_id}", variables=variables, model=models.Feed)


def fetches(feed_id: str, *, size: int = _FULL) -> Many[models.Fetch]:
    """List the fetches of a feed that changed something or failed, the newest first."""
    return Many(
        operation="listFetches",
        path="/feeds/{feed_id}/history",
        variables={"feed_id": feed_id},
        query={"limit": size},
        model=models.Fetch,
    )


def feed_schedule(feed_id: str) -> One[models.FeedSchedule]:
    """Return why a feed's next fetch is when it is."""
    return One(
        operation="explainSchedule",
        path="/feeds/{feed_id}/schedule",
        variables={"feed_id": feed_id},
        model=models.FeedSchedule,
    )


def add_feed(
    url: str | None = None, *, site: str | None = None, **fields: JsonValue
) -> One[models.AddedFeed]:
    """Add a feed by its own address, or by a page that announces it; ``fields`` are those of NewFeed."""
    given: dict[str, JsonValue] = {"url": url, "site": site, **fields}
    body = {name: value for name, value in given.items() if value is not None}
    return One(operation="addFeed", method="POST", path="/feeds", body=body, model=models.AddedFeed)


def change_feed(feed_id: str, **fields: JsonValue) -> One[models.Feed]:
    """Change what the fields name, those of FeedChange: ``enabled``, ``priority``, ``url`` and others."""
    return One(
        operation="changeFeed",
        method="PATCH",
        path="/feeds/{feed_id}",
        variables={"feed_id": feed_id},
        body=fields,
        model=models.Feed,
    )


def remove_feed(feed_id: str) -> One[models.RemovedFeed]:
    """Remove a feed, and return its id; its articles stay. A client raises NotFound if there is none."""
    return One(
        operation="removeFeed",
        method="DELETE",
        path="/feeds/{feed_id}",
        variables={"feed_id": feed_id},
        model=models.RemovedFeed,
    )


def import_feeds(opml: str) -> One[models.ImportReport]:
    """Add the feeds of an OPML document; return which were added and what was wrong with it."""
    return One(
        operation="importFeeds",
        method="POST",
        path="/feeds/import",
        body=opml,
        media_type="text/x-opml",
        model=models.ImportReport,
    )


def alerts(*, size: int = _FULL) -> Many[models.Alert]:
    """List the rules of alerts, the newest last."""
    return Many(operation="listAlerts", path="/alerts", query={"limit": size}, model=models.Alert)


def add_alert(kind: str, **fields: JsonValue) -> One[models.CreatedAlert]:
    """Add a rule, and return it with its secret; ``fields`` are its kind's, ``webhook`` and ``mail``."""
    body: dict[str, JsonValue] = {"kind": kind, **fields}
    return One(operation="createAlert", method="POST", path="/alerts", body=body, model=models.CreatedAlert)


def remove_alert(alert_id: str) -> One[models.RemovedAlert]:
    """Remove a rule, and return its id; a client raises NotFound if there is no such rule."""
    return One(
        operation="removeAlert",
        method="DELETE",
        path="/alerts/{alert_id}",
        variables={"alert_id": alert_id},
        model=models.RemovedAlert,
    )


def deliveries(alert_id: str, *, size: int = _FULL) -> Many[models.Delivery]:
    """List the deliveries of a rule, the newest first."""
    return Many(
        operation="listDeliveries",
        path="/alerts/{alert_id}/deliveries",
        variables={"alert_id": alert_id},
        query={"limit": size},
        model=models.Delivery,
    )


def health() -> One[models.Health]:
    """Return whether the stack is alive, and what it was judged by; no error is raised if it is not."""
    return One(operation="getHealth", path="/health", model=models.Health, also=(503,))


def cache_health() -> One[models.SentimentCacheHealth]:
    """Return how fresh the cache of sentiment is, and how often it was used."""
    return One(
        operation="getSentimentCacheHealth", path="/api/v1/cache/health", model=models.SentimentCacheHealth
    )


def workflows() -> Many[models.WorkflowsItem]:
    """List the workflows that can be started, and what each takes."""
    return Many(operation="listWorkflows", path="/workflows", model=models.WorkflowsItem)


def open_upload(donor: str, files: Sequence[JsonValue], **fields: JsonValue) -> One[models.Upload]:
    """Begin an upload of files; each in the answer has a link to send it to. See NewUpload."""
    body: dict[str, JsonValue] = {"donor": donor, "files": list(files), **fields}
    return One(operation="openUpload", method="POST", path="/uploads", body=body, model=models.Upload)


def complete_upload(upload_id: str) -> One[models.Upload]:
    """Start the ingestion of the files that were sent, and return the report of the upload."""
    return One(
        operation="completeUpload",
        method="POST",
        path="/uploads/{upload_id}/complete",
        variables={"upload_id": upload_id},
        model=models.Upload,
    )


def upload(upload_id: str) -> One[models.Upload]:
    """Return what became of the files of an upload."""
    return One(
        operation="getUpload",
        path="/uploads/{upload_id}",
        variables={"upload_id": upload_id},
        model=models.Upload,
    )


def start(workflow: str, **fields: JsonValue) -> One[models.StartedRun]:
    """Start a workflow, and return its run; ``fields`` are those of its input."""
    return One(
        operation="startWorkflow",
        method="POST",
        path="/workflows/{name}/executions",
        variables={"name": workflow},
        body=fields,
        model=models.StartedRun,
    )


def add_nova(candidate_name: str) -> One[models.StartedRun]:
    """Start making a name a nova, and return the run to watch."""
    body = {"candidate_name": candidate_name}
    return One(operation="initializeNova", method="POST", path="/novae", body=body, model=models.StartedRun)


def runs(
    *, status: str | None = None, workflow: str | None = None, size: int = _FULL
) -> Many[models.JobRunSummary]:
    """List executions of workflows, the newest first."""
    query = {"status": status, "workflow": workflow, "limit": size}
    return Many(operation="listJobRuns", path="/job-runs", query=query, model=models.JobRunSummary)


def run(job_run_id: str) -> One[models.JobRun]:
    """Return one execution with its attempts."""
    variables = {"job_run_id": job_run_id}
    return One(operation="getJobRun", path="/job-runs/{job_run_id}", variables=variables, model=models.JobRun)


def quarantine(*, review: str | None = None, size: int = _FULL) -> Many[models.QuarantineCase]:
    """List the cases of the quarantine, the newest first."""
    query = {"review": review, "limit": size}
    return Many(operation="listQuarantine", path="/quarantine", query=query, model=models.QuarantineCase)


def quarantine_case(quarantine_id: str) -> One[models.QuarantineCase]:
    """Return one case of the quarantine."""
    return One(
        operation="getQuarantineCase",
        path="/quarantine/{quarantine_id}",
        variables={"quarantine_id": quarantine_id},
        model=models.QuarantineCase,
    )


def held_file(quarantine_id: str) -> One[models.HeldFile]:
    """Return the file of a quarantined spectrum, in base64."""
    return One(
        operation="getHeldFile",
        path="/quarantine/{quarantine_id}/file",
        variables={"quarantine_id": quarantine_id},
        model=models.HeldFile,
    )


def review(quarantine_id: str, **fields: JsonValue) -> One[models.ReviewedCase]:
    """Record a decision on a case, and return the case; ``fields`` are those that the API takes."""
    return One(
        operation="reviewQuarantineCase",
        method="POST",
        path="/quarantine/{quarantine_id}/review",
        variables={"quarantine_id": quarantine_id},
        body=fields,
        model=models.ReviewedCase,
    )
