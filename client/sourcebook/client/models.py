"""The records of the API. Made by client/make_models.py of the API's description; do not edit."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from pydantic import Field

from sourcebook.client._base import Record, RowTable


class HealthChecks(Record):
    table: str
    """One of ok, unavailable."""
    scheduler: int | None
    overdue: int | None
    active_feeds: int | None
    last_successful_fetch: datetime | None


class Health(Record):
    status: str
    """One of healthy, degraded."""
    version: str
    """Of what is deployed."""
    checks: HealthChecks
    timestamp: datetime


class MergedArticleSourceAttribution(Record):
    article_id: str
    """The source's own id of the article."""
    url: str | None = None
    """The article at this source."""
    crawl_timestamp: datetime
    """When the source first provided it."""
    original_headline: str
    """The headline as this source has it."""
    published_at: datetime | None = None
    """When the source says that it was published."""
    source_name: str | None = None
    """The publisher or wire service."""
    revised_at: datetime | None = None
    """When the source last provided an edited one."""


class MergedArticleMentions(Record):
    tag: str
    sentiment: str
    """One of positive, neutral, negative."""
    score: float | None
    is_own: bool


class Article(Record):
    source_id: str
    """`dedup:` and the dedup key, as the seed's model has it."""
    timestamp: datetime
    """Orders articles: when it was published, or its crawl if that is earlier."""
    dedup_key: str = ""
    """Digest of the normalized headline and the day: the article's id."""
    headline: str = ""
    """As its first source has it, entities decoded."""
    normalized_headline: str = ""
    """What equal stories have in common."""
    sources: list[str] = Field(default_factory=list)
    """Ids of its sources, the earliest crawl first."""
    source_attribution: dict[str, MergedArticleSourceAttribution] = Field(default_factory=dict)
    """The attribution of each source, by its id."""
    status: str = ""
    """Where it stands on its way through analysis. One of pending, error, analyzed, joined."""
    sentiment: str | None = None
    """What analysis found in headline and text. One of positive, neutral, negative."""
    score: float | None = None
    """How sure the engine is, from 0 to 1."""
    matched_tickers: list[str] = Field(default_factory=list)
    """Ticker symbols that sources gave."""
    tags: list[str] = Field(default_factory=list)
    """Tags that sources gave, and the subjects found in the text."""
    text_for_analysis: str | None = None
    """The beginning of the text, at most 1,000 characters."""
    metadata: dict[str, Any] | None = None
    """Further fields of its first source."""
    event_id: str | None = None
    """The event that it belongs to."""
    ttl_timestamp: int | None = None
    """When it expires."""
    created_at: datetime | None = None
    """When its first source provided it."""
    updated_at: datetime | None = None
    """When a source last added to it."""
    mentions: list[MergedArticleMentions] = Field(default_factory=list)
    """What is felt about each tag, `is_own` where it was judged by itself."""


class EventIdea(Record):
    """The newest one; null in the moment before the first is made."""

    subjects: list[str]
    """Tickers, those of most articles first; names from the headlines where there are none."""
    direction: str
    """Which way the event points for them. One of up, down, unclear."""
    score: float
    """The weighted sentiment behind the direction, from -1 to 1."""
    independent_sources: int
    """Publishers that carry it."""
    articles: int
    """Articles that it was concluded from."""
    velocity: float
    """Articles an hour, from the first to the last; of less than an hour, as of one."""
    why: str
    """The same in words."""
    time: datetime
    """Of the state of the event that it was concluded from."""


class EventMembers(Record):
    dedup_key: str
    """The article."""
    headline: str
    """The article's."""
    published_at: datetime
    """The article's `timestamp`."""
    tickers: list[str]
    """The article's."""
    sources: list[str]
    """The article's."""
    sentiment: str | None
    """The article's. One of positive, neutral, negative."""
    score: float | None
    """The article's."""


class EventIdeas(EventIdea):
    engine: str
    """The engine that concluded it, with its version."""


class EventSummary(Record):
    event_id: str
    """Its id, made of the dedup key of its founder."""
    headline: str
    """That of its earliest article."""
    tickers: list[str]
    """Of its articles."""
    member_count: int
    """How many articles it has."""
    first_published_at: datetime
    """When its earliest article was published."""
    created_at: datetime
    """When grouping made it."""
    updated_at: datetime
    """When grouping last added to it."""
    idea: EventIdea | None
    last_published_at: datetime


class Event(EventSummary):
    members: list[EventMembers]
    ideas: list[EventIdeas]


class Feed(Record):
    feed_id: str
    """Its id."""
    health: str
    """One of new, healthy, failing, disabled."""
    kind: str
    """Which adapter fetches it."""
    name: str | None
    """What it was named, else what it calls itself."""
    url: str
    """Where it is fetched."""
    enabled: bool
    """Whether it is polled; a disabled one may be probed."""
    priority: int
    """The lower number is fetched first, and wins where sources disagree; 999 if not given."""
    created_at: datetime
    """When it was registered."""
    next_fetch_time: datetime
    """When it is due, or to be probed."""
    last_fetch_at: datetime | None
    """When it was last fetched."""
    last_success_at: datetime | None
    """When it was last fetched well."""
    last_change_at: datetime | None
    """When something in it was last new."""
    last_cause: str | None
    """What came of the last fetch."""
    last_error: str | None
    """Why the last fetch failed, in words."""
    consecutive_errors: int
    """Fetches that failed, one after the other."""
    fetch_count: int
    """Fetches so far."""
    tags: list[str]
    """Given to all its articles."""
    interval_minutes: int
    """The longest time between two fetches."""
    unchanged_since: datetime | None
    """Since when nothing in it was new."""
    previous_url: str | None
    """Where it was before it moved."""
    unchanged_count: int
    """Fetches since then that found nothing new."""
    last_entries: int
    """Entries of its document, when it last changed."""
    created_total: int
    """Articles that it was the first to bring."""
    merged_total: int
    """Articles that another source had brought already."""
    rate: float
    """Entries an hour that are expected."""
    hint_minutes: int
    """The interval that it asks for itself, 0 for none."""
    avg_articles_per_fetch: float
    publications_by_hour: list[int]


class Source(Record):
    source_id: str
    """Its id."""
    kind: str
    """Which adapter fetches it."""
    name: str | None
    """What it was named, else what it calls itself."""
    url: str
    """Where it is fetched."""
    enabled: bool
    """Whether it is polled; a disabled one may be probed."""
    priority: int
    """The lower number is fetched first, and wins where sources disagree; 999 if not given."""
    created_at: datetime
    """When it was registered."""
    next_fetch_time: datetime
    """When it is due, or to be probed."""
    last_fetch_at: datetime | None
    """When it was last fetched."""
    last_success_at: datetime | None
    """When it was last fetched well."""
    last_change_at: datetime | None
    """When something in it was last new."""
    last_cause: str | None
    """What came of the last fetch."""
    last_error: str | None
    """Why the last fetch failed, in words."""
    consecutive_errors: int
    """Fetches that failed, one after the other."""
    fetch_count: int
    """Fetches so far."""
    health: str
    """One of new, healthy, failing, disabled."""
    articles: int


class SourceOverviewsItem(Record):
    source_id: str
    kind: str
    health: str
    """One of new, healthy, failing, disabled."""
    articles: int
    mean_age_seconds: int | None
    fetches: int
    errors: int
    mean_fetch_ms: int | None
    slowest_fetch_ms: int | None
    slow: bool


class SourceOverviews(RowTable):
    start: datetime
    end: datetime
    left_out: bool
    items: list[SourceOverviewsItem]
    next_cursor: str | None
    """Pass it back as `cursor` for the next page; null at the end."""


class IngestionBatchesItem(Record):
    batch_id: str
    started_at: datetime
    completed_at: datetime
    sources: int
    articles_fetched: int
    articles_stored: int
    collisions_detected: int
    collision_rate: float
    duration_ms: int
    errors: list[str]


class IngestionBatches(RowTable):
    start: datetime
    end: datetime
    left_out: bool
    batches: int
    articles_fetched: int
    articles_stored: int
    collisions_detected: int
    collision_rate: float | None
    items: list[IngestionBatchesItem]
    next_cursor: str | None
    """Pass it back as `cursor` for the next page; null at the end."""


class DeadLetterQueue(Record):
    queue: str
    messages: int
    mend: str


class DeadLetterQueues(RowTable):
    items: list[DeadLetterQueue]
    next_cursor: str | None
    """Pass it back as `cursor` for the next page; null at the end."""


class SubjectRankingItem(Record):
    tool_id: str
    name: str
    total_mentions: int
    mentions_before: int
    average_sentiment: float
    average_before: float | None
    change: float | None


class SubjectRanking(RowTable):
    start: datetime
    end: datetime
    left_out: bool
    items: list[SubjectRankingItem]
    next_cursor: str | None
    """Pass it back as `cursor` for the next page; null at the end."""


class BestRatesItem(Record):
    series_code: str
    term_months: float | None
    term: str | None
    rate_pct: float
    observed_day: date
    source_id: str
    kind: str
    banks: list[str]


class BestRates(RowTable):
    items: list[BestRatesItem]
    next_cursor: str | None
    """Pass it back as `cursor` for the next page; null at the end."""


class RateMovesItem(Record):
    bank_name: str
    term_months: float | None
    term: str | None
    rate_before_pct: float
    rate_pct: float
    change_pct: float
    day_before: date
    observed_day: date


class RateMoves(RowTable):
    series_code: str
    first_day: date
    left_out: bool
    items: list[RateMovesItem]
    next_cursor: str | None
    """Pass it back as `cursor` for the next page; null at the end."""


class FeedScheduleSettings(Record):
    max_concurrent_requests: int
    request_timeout_seconds: float
    user_agent: str
    min_refresh_interval_minutes: int
    max_refresh_interval_minutes: int
    target_articles_per_fetch: int
    parser: str
    """One of fast, reference."""
    parser_sample_percent: float


class FeedSchedule(Record):
    feed_id: str
    next_fetch_time: datetime
    reasons: list[str]
    settings: FeedScheduleSettings


class Fetch(Record):
    due_at: datetime
    fetched_at: datetime | None
    """When it ended."""
    verdict: str | None
    """What it is for the schedule."""
    cause: str | None
    """Why, in one word."""
    message: str | None
    """Why, in words."""
    http_status: int | None
    """Of the last answer."""
    entries: int | None
    """Entries of the document."""
    created: int | None
    """Articles that are new."""
    merged: int | None
    """Articles that another source had brought already."""
    updated: int | None
    """Articles that this source has edited."""
    rejected: int | None
    """Entries that could not be taken."""
    rejections: list[str] | None
    """Which, and why."""
    dropped: dict[str, int] | None
    """Rows that could not be taken, by reason."""
    warnings: list[str] | None
    """What was mended or is in doubt."""
    duration_ms: int | None
    """How long it took."""


class AddedFeedFound(Record):
    how: str
    others: list[str]


class AddedFeed(Feed):
    created: bool
    found: AddedFeedFound | None = None


class RemovedFeed(Record):
    feed_id: str
    deleted: bool


class ImportReportProblems(Record):
    line: int
    message: str


class ImportReport(Record):
    added: list[str]
    known: list[str]
    problem_count: int
    problems: list[ImportReportProblems]
    mended: str | None


class Subject(Record):
    tool_id: str
    """Id of the subject."""
    name: str
    """For people."""
    kind: str
    """tool, company or topic: which words count as context for an ambiguous name."""
    aliases: list[str]
    """Names by which articles call it, besides `name`."""
    ticker: str | None
    """Its symbol, as sources of market news give it."""
    active: bool
    """Whether it is looked for in articles and its sentiment kept up to date."""


class Sentiment(Record):
    total_mentions: int
    """Mentions of all sentiments."""
    positive_count: int
    """Mentions that are positive."""
    negative_count: int
    """Mentions that are negative."""
    neutral_count: int
    """Mentions that are neutral."""
    average_sentiment: float
    """Their mean polarity, from -1 to 1; 0 without mentions."""
    positive_percentage: float
    """Positive mentions in percent, to a tenth; the three sum to 100."""
    negative_percentage: float
    """Negative mentions in percent, to a tenth."""
    neutral_percentage: float
    """Neutral mentions in percent, to a tenth."""
    id: str | None
    """Subject and period; null of hours that are no period."""
    tool_id: str
    """The subject."""
    period: str | None
    """HOUR_1, HOUR_24, DAY_7 or DAY_30; null of other hours."""
    period_start_ts: int
    """When it begins, in seconds since 1970."""
    period_end_ts: int
    """When it ends, excluded."""
    last_updated_ts: int
    """When it was computed."""
    ts: int | None = Field(alias="_ts")
    """The same; null of hours that are no period."""
    hours: int
    is_stale: bool
    is_cached: bool
    cached_at: datetime | None


class SentimentSeriesItem(Record):
    total_mentions: int
    """Mentions of all sentiments."""
    positive_count: int
    """Mentions that are positive."""
    negative_count: int
    """Mentions that are negative."""
    neutral_count: int
    """Mentions that are neutral."""
    average_sentiment: float
    """Their mean polarity, from -1 to 1; 0 without mentions."""
    start: datetime
    """When it begins."""


class SentimentSeries(RowTable):
    tool_id: str
    hours: int
    bucket: str
    """One of hour, day."""
    items: list[SentimentSeriesItem]
    next_cursor: str | None
    """Pass it back as `cursor` for the next page; null at the end."""


class SentimentCacheHealth(Record):
    id: str
    """metadata."""
    last_refresh_ts: int | None
    """When the last one ended, in seconds since 1970."""
    last_refresh_duration_ms: int | None
    """How long it took."""
    total_entries: int
    """Entries that there are."""
    cache_hits_24h: int
    """Answers from the cache."""
    cache_misses_24h: int
    """Answers that had to be computed."""
    cache_hit_rate: float
    """Of all answers, from 0 to 1."""
    error_count_24h: int
    """Computations that failed."""
    tools_refreshed: list[str]
    """Subjects that the last refresh wrote."""
    ts: int | None = Field(alias="_ts")
    """As `last_refresh_ts`."""
    status: str
    """One of waiting, healthy, degraded."""


class LatestItemsSourcesConsidered(Record):
    source_id: str
    source_priority: int | None
    rate_pct: float | None
    observed_day: date
    scraped_at: datetime
    stale: bool


class LatestItem(Record):
    bank_name: str
    series_code: str
    term_months: float | None
    term: str | None
    rate_pct: float | None
    rate_min_pct: float | None
    rate_max_pct: float | None
    raw_value: str
    parse_warnings: list[str]
    observed_day: date
    scraped_at: datetime
    source_id: str
    source_priority: int | None
    stale: bool
    decided_by: str
    sources_considered: list[LatestItemsSourcesConsidered]


class Latest(RowTable):
    items: list[LatestItem]
    next_cursor: str | None
    """Pass it back as `cursor` for the next page; null at the end."""


class HistoryItem(Record):
    observed_day: date
    scraped_at: datetime
    rate_pct: float | None
    rate_min_pct: float | None
    rate_max_pct: float | None
    source_id: str
    source_priority: int | None


class History(RowTable):
    bank_name: str
    series_code: str
    term_months: float | None
    items: list[HistoryItem]
    next_cursor: str | None
    """Pass it back as `cursor` for the next page; null at the end."""


class Observation(Record):
    bank_name: str
    series_code: str
    term_months: float | None
    term: str | None
    observed_day: date
    rate_pct: float | None
    rate_min_pct: float | None
    rate_max_pct: float | None
    raw_value: str
    parse_warnings: list[str]
    source_id: str
    source_priority: int | None
    first_seen_at: datetime
    scraped_at: datetime


class BanksItem(Record):
    bank_name: str


class Banks(RowTable):
    items: list[BanksItem]
    next_cursor: str | None
    """Pass it back as `cursor` for the next page; null at the end."""


class SeriesListItem(Record):
    series_code: str
    kind: str
    name: str | None


class SeriesList(RowTable):
    items: list[SeriesListItem]
    next_cursor: str | None
    """Pass it back as `cursor` for the next page; null at the end."""


class Decision(Record):
    decision_id: str
    """Its id; ids are in the order of time."""
    action: str
    """What was decided. One of join_articles, split_article, take_out, merge_events, undo."""
    about: list[str]
    """Articles or events; the one that stays or was split is first, an article before its event."""
    source: str | None
    """The source whose word was split off."""
    reason: str
    """The reason that was given."""
    decided_by: str
    """The name of the person who decided."""
    caller: str | None
    """The token or signature that it came with."""
    decided_at: datetime
    """When it was decided."""
    undoes: str | None
    """The decision that this one took back."""
    undone_by: str | None
    """The decision by which it was taken back."""


class Alert(Record):
    alert_id: str
    """16 hexadecimal digits."""
    kind: str
    """What it looks for. One of article, sentiment, rate, best_rate, source, spectrum, run."""
    name: str
    """What it is called."""
    webhook: str | None
    """An https address that events are sent to."""
    mail: str | None
    """An address that is written to."""
    created_at: datetime
    """When it was made."""
    q: str | None
    subject: str | None
    change: float | None
    mentions: int | None
    series_code: str | None
    term: str | None
    bank_name: str | None
    change_pct: float | None
    source_id: str | None
    errors: int | None
    nova_id: str | None
    verdict: str | None
    workflow_name: str | None


class CreatedAlert(Alert):
    secret: str | None
    """Signs what the webhook gets; shown this once."""


class RemovedAlert(Record):
    alert_id: str
    deleted: bool


class Delivery(Record):
    event_id: str
    """The same for the same happening."""
    kind: str
    """What happened."""
    at: datetime
    """When it happened."""
    state: str
    """How far it is. One of PENDING, DELIVERED, GIVEN_UP, CANCELLED."""
    attempts: int
    """How often it was tried."""
    created_at: datetime
    """When the rule fired."""
    next_attempt_at: datetime | None
    delivered_at: datetime | None
    """When it was delivered."""
    last_error: str | None
    """What went wrong last."""
    waiting_for: list[str]
    facts: dict[str, Any]
    """What happened; docs/alerts.md has the facts of each kind."""


class UploadCounts(Record):
    EXPECTED: int
    MISSING: int
    RUNNING: int
    TAKEN: int
    KNOWN: int
    HELD: int
    REFUSED: int


class UploadFilesSend(Record):
    method: str
    url: str
    headers: dict[str, str]


class UploadFiles(Record):
    nova_id: str
    kind: str
    """One of photometry, spectrum."""
    file_name: str
    byte_length: int
    sha256: str
    job_run_id: str | None
    data_product_id: str | None
    state: str
    """One of EXPECTED, MISSING, RUNNING, TAKEN, KNOWN, HELD, REFUSED."""
    reason: str | None
    send: UploadFilesSend | None


class Upload(Record):
    upload_id: str
    created_at: datetime
    created_by: str | None
    donor: str
    observer: str | None
    license: str | None
    note: str | None
    counts: UploadCounts
    files: list[UploadFiles]


class MetaSources(Record):
    source_id: str
    name: str | None
    series: list[str] | None
    scraped_at: datetime | None
    observed_day: date | None
    rows: int | None
    dropped: Any
    notes: Any
    anomaly: Any
    snapshot: str | None


class Meta(Record):
    scraped_at: datetime | None
    observed_day: date | None
    banks: int
    series: int
    sources: list[MetaSources]


class WorkflowsItem(Record):
    workflow_name: str
    input: dict[str, Any]
    start: str


class Workflows(RowTable):
    items: list[WorkflowsItem]
    next_cursor: str | None
    """Pass it back as `cursor` for the next page; null at the end."""


class StartedRun(Record):
    job_run_id: str
    workflow_name: str
    status: str
    execution_arn: str
    watch: str
    """Path of the run: `GET` it to see how far it is."""


class JobRunSummary(Record):
    job_run_id: str
    """Its id."""
    workflow_name: str
    """The workflow."""
    subject: str | None
    """What the run is about, in the workflow's own terms."""
    nova_id: str | None
    """The nova that it is about, or that it has made."""
    status: str
    """Where it stands. One of RUNNING, SUCCEEDED, FAILED."""
    outcome: str | None
    """How it ended, in the workflow's own terms."""
    started_at: datetime
    """When it began."""
    ended_at: datetime | None
    """When it ended."""
    correlation_id: str | None
    """Joins the logs of what belongs together."""
    execution_arn: str | None
    """The execution of Step Functions."""
    error_type: str | None
    """The class of the error that ended it."""
    error_message: str | None
    """The error in words."""
    input: Any
    """What it was started with; null for a run from before 2026-11-29."""
    result: Any
    """What the run came to, in the workflow's own terms."""
    lost: bool
    """Whether it has run longer than its workflow may."""


class JobRunAttempts(Record):
    task_name: str | None
    """The task."""
    attempt_no: int | None
    """Of this task, from 1."""
    status: str | None
    """STARTED, SUCCEEDED or FAILED."""
    error_type: str | None
    """The class of its error."""
    error_message: str | None
    """Its error in words."""
    error_fingerprint: str | None
    """The same for errors of the same kind."""
    duration_ms: float | None
    """How long it took."""
    created_at: datetime
    """When it began."""


class JobRun(JobRunSummary):
    attempts: list[JobRunAttempts]
    attempts_left_out: bool


class NovaSearchItem(Record):
    nova_id: str
    """Its id, made of its identity."""
    primary_name: str
    """The name that it goes by."""
    ra_deg: float | None
    """Right ascension, from a resolver, never from a name."""
    dec_deg: float | None
    """Declination, from the same resolver."""
    coord_frame: str | None
    """Of the position: ICRS."""
    coord_epoch: str | None
    """Of the position: J2000."""
    discovery_date: str | None
    """Of the earliest publication; day 00 if not known."""
    status: str
    """Whether it counts. One of ACTIVE, MERGED, DEPRECATED."""
    merged_into: str | None
    """The nova that this one turned out to be."""
    status_reason: str | None
    """Why it is merged or deprecated."""
    object_type: str | None
    """What its archive takes it for."""
    created_at: datetime
    """When it was made."""
    updated_at: datetime
    """When it was last changed."""
    constellation: str | None
    """That its position lies in."""
    separation_arcsec: float | None = None


class NovaSearch(RowTable):
    match: str = ""
    """One of NONE, ONE, AMBIGUOUS."""
    normalized: str = ""
    items: list[NovaSearchItem]
    left_out: int | None = None
    next_cursor: str | None
    """Pass it back as `cursor` for the next page; null at the end."""


class NovaNames(Record):
    name: str
    kind: str
    """One of PRIMARY, ALIAS."""
    source: str


class Nova(Record):
    nova_id: str
    """Its id, made of its identity."""
    primary_name: str
    """The name that it goes by."""
    ra_deg: float | None
    """Right ascension, from a resolver, never from a name."""
    dec_deg: float | None
    """Declination, from the same resolver."""
    coord_frame: str | None
    """Of the position: ICRS."""
    coord_epoch: str | None
    """Of the position: J2000."""
    discovery_date: str | None
    """Of the earliest publication; day 00 if not known."""
    status: str
    """Whether it counts. One of ACTIVE, MERGED, DEPRECATED."""
    merged_into: str | None
    """The nova that this one turned out to be."""
    status_reason: str | None
    """Why it is merged or deprecated."""
    object_type: str | None
    """What its archive takes it for."""
    created_at: datetime
    """When it was made."""
    updated_at: datetime
    """When it was last changed."""
    constellation: str | None
    """That its position lies in."""
    names: list[NovaNames]


class Reference(Record):
    reference_id: str
    """Its id, made of source and identifier."""
    source: str
    """Who described it: ADS."""
    published_at: str | None
    """As precise as is known."""
    title: str | None
    """Its title, shortened."""
    authors: list[str]
    """Its first ten authors."""
    author_count: int | None
    """How many authors it has."""
    bibcode: str | None
    role: str
    """One of DISCOVERY, SPECTRA_SOURCE, PHOTOMETRY_SOURCE, OTHER."""
    link: str | None


class ProductSummary(Record):
    data_product_id: str
    """Its id, made of the provider and its identity there."""
    nova_id: str
    """Id of the nova that it is of."""
    product_type: str
    """What it is. One of SPECTRA, PHOTOMETRY_TABLE."""
    row_count: int | None
    """Measurements in the table."""
    bands: dict[str, int] | None
    """Measurements in the table, by their band."""
    mjd_min: float | None
    """Time of its first measurement."""
    mjd_max: float | None
    """Time of its last measurement."""
    last_ingestion_at: datetime | None
    """When the last upload was ingested."""
    ingestion_count: int | None
    """Uploads that the table has measurements of."""
    created_at: datetime
    """When it was discovered."""
    updated_at: datetime
    """When it was last changed."""
    provider: str | None
    """The archive that has it, or DONATION."""
    provider_product_id: str | None
    """Id of the spectrum at its provider."""
    title: str | None
    """Title of the spectrum at its provider."""
    collection: str | None
    """Collection of its provider that it belongs to."""
    hints: dict[str, str] | None
    """What the provider says of the file."""
    acquisition_status: str | None
    """How far its acquisition has come."""
    validation_status: str | None
    """What became of it. One of UNVALIDATED, VALID, QUARANTINED, TERMINAL_INVALID."""
    eligibility: str | None
    """Whether it is to be acquired. One of ACQUIRE, NONE."""
    attempt_count: int | None
    """How often that was tried."""
    last_attempt_at: datetime | None
    """When it was last tried."""
    next_eligible_attempt_at: datetime | None
    """Authoritative: before it nobody may try; null means at once."""
    fits_profile_id: str | None
    """The profile by which its file was read."""
    quarantine_reason_code: str | None
    """Why a person must look."""
    quarantine_id: str | None
    """The case of that."""
    manual_review_status: str | None
    """What the person decided. One of PENDING, CLEARED_RETRY_APPROVED, CLEARED_TERMINAL, MERGED."""
    terminal_reason: str | None
    """Code of why it is TERMINAL_INVALID."""
    duplicate_of: str | None
    """The VALID product whose bytes these are."""
    byte_length: int | None
    """Of the raw file."""
    sha256: str | None
    """Of the raw file."""


class ProductLocators(Record):
    kind: str
    """How to get at it. One of URL, S3, OTHER."""
    value: str
    """An http(s) address, or for kind S3 the key in the project's bucket."""
    role: str = ""
    """Which is asked first. One of PRIMARY, MIRROR."""


class ProductFiles(Record):
    role: str
    """What it is to the product."""
    name: str
    """Its name in the role."""
    key: str
    """Its key in the bucket."""
    content_type: str
    """The media type of its bytes."""
    byte_length: int | None
    """How many bytes it has."""
    etag: str | None
    """Of S3."""
    sha256: str | None
    """The digest of its bytes."""
    created_at: datetime
    """When it was recorded."""


class Product(ProductSummary):
    locators: list[ProductLocators] | None
    """Where its bytes are."""
    locator_identity: str | None
    """Its id was made from: `provider_product_id:ADP.2014-…`."""
    identity_kind: str | None
    """What distinguishes it from others of its provider. One of NATIVE_ID, METADATA_KEY, WEAK."""
    provenance: dict[str, str] | None
    """Who handed it in, and how."""
    release_date: datetime | None
    """When a proprietary product becomes public."""
    auth_required: bool | None
    """Whether the provider wants a login: it waits, and is not tried."""
    last_error_fingerprint: str | None
    """Of the last failure."""
    header_signature_hash: str | None
    """The same for files of one form."""
    profile_selection_inputs: dict[str, Any] | None
    """What its profile was chosen by."""
    normalization_notes: list[str] | None
    """What was made of the file, in words."""
    verdict: dict[str, Any] | None
    """A summary of the validation; all of it is in the bucket."""
    overrides: dict[str, str] | None
    """A reviewer's values in place of the file's."""
    files: list[ProductFiles]


class SpectrumOrders(Record):
    order: int
    wavelength_m: list[float]
    flux: list[float]


class Spectrum(Record):
    nova_id: str
    data_product_id: str
    provider: str
    orders: list[SpectrumOrders]
    flux_unit: str | None
    object: str | None
    medium: str | None
    frame: str | None
    samples: int
    points: int
    downsampled: bool
    orders_left_out: int


class PhotometryItem(Record):
    mjd: float
    time_system: str
    """One of JD, HJD, BJD, MJD, HMJD, BMJD, DATE."""
    time_scale: str | None
    """One of UTC, TT, TDB, TCB, TAI."""
    band: str
    magnitude: float | None
    magnitude_error: float | None
    magnitude_system: str | None
    """One of Vega, AB."""
    flux: float | None
    flux_error: float | None
    flux_unit: str | None
    upper_limit: bool
    observer: str | None


class Photometry(RowTable):
    nova_id: str
    data_product_id: str | None
    table_rows: int
    ingestion_count: int
    last_ingestion_at: datetime | None
    matched: int
    bands: dict[str, int]
    thinned: bool
    next_cursor: str | None
    """Pass it back as `cursor` for the next page; null at the end."""
    items: list[PhotometryItem]


class ExportedPeriod(Record):
    export_id: str
    since: date
    until: date
    manifest: str


class Exports(RowTable):
    items: list[ExportedPeriod]
    next_cursor: str | None
    """Pass it back as `cursor` for the next page; null at the end."""


class ExportDatasetsColumns(Record):
    name: str
    kind: str
    """One of text, list of texts, number, whole number, time in UTC, day, JSON, yes or no."""


class ExportDatasets(Record):
    name: str
    rows: int
    columns: list[ExportDatasetsColumns]


class ExportFiles(Record):
    name: str
    dataset: str
    format: str
    """One of parquet, ndjson."""
    day: date
    rows: int
    bytes: int
    sha256: str
    key: str


class Export(Record):
    export_id: str
    since: date
    until: date
    made_at: datetime
    datasets: list[ExportDatasets]
    files: list[ExportFiles]


class SignedLink(Record):
    url: str
    seconds: int
    """How long it holds."""


class QuarantineCase(Record):
    quarantine_id: str
    """Its id: the same trouble with the same subject is one case."""
    workflow_name: str
    """The workflow that found it."""
    subject: str | None
    """The name or the id that it is about."""
    nova_id: str | None
    """The nova that it is about."""
    data_product_id: str | None
    """The spectrum that it is about."""
    reason_code: str
    """Why a person must look."""
    message: str
    """What is unclear, in words."""
    context: dict[str, Any]
    """Small facts to decide by; all are in the bucket."""
    occurrences: int
    """How often the same was found."""
    manual_review_status: str
    """What the person decided. One of PENDING, CLEARED_RETRY_APPROVED, CLEARED_TERMINAL, MERGED."""
    merged_into: str | None
    """The nova that a candidate became a name of."""
    overrides: dict[str, str] | None
    """The reviewer's values in place of a file's."""
    reviewed_at: datetime | None
    """When it was decided."""
    reviewed_by: str | None
    """Who decided, as AWS knows the caller."""
    reviewer: str | None
    """What they called themselves."""
    review_note: str | None
    """Why, in their words."""
    job_run_id: str | None
    """The run that found it last."""
    correlation_id: str | None
    """Joins the logs of what belongs together."""
    error_fingerprint: str | None
    """The same for errors of the same kind."""
    created_at: datetime
    """When it was first found."""
    updated_at: datetime
    """When it was last found or decided."""


class HeldFile(Record):
    quarantine_id: str
    byte_length: int
    is_whole: bool
    content: str
    """The file's bytes."""


class ReviewedCase(QuarantineCase):
    execution_arn: str = ""
