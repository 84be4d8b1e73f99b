"""The only place where a key of the table is spelled. docs/table.md draws the same as a picture."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self, TypedDict
from zlib import crc32

from sourcebook.errors import InvalidInput

ELIGIBILITY_INDEX: Final = "EligibilityIndex"
STATUS_INDEX: Final = "by_status"
SENTIMENT_INDEX: Final = "by_sentiment"
TAG_INDEX: Final = "by_tag"

ARTICLE_SORT_KEY: Final = "ARTICLE"
STATE_SORT_KEY: Final = "STATE"
FETCH_PREFIX: Final = "FETCH#"
EVENT_SORT_KEY: Final = "EVENT"
IDEA_PREFIX: Final = "IDEA#"
TAG_PREFIX: Final = "TAG#"
DAY_PREFIX: Final = "DAY#"
DIRTY_PREFIX: Final = "DIRTY#"
HOUR_PREFIX: Final = "HOUR#"
NOVA_SORT_KEY: Final = "NOVA"
NOVA_NAME_PREFIX: Final = "NAME#"
MERGED_PREFIX: Final = "MERGED#"
REFERENCE_PREFIX: Final = "REF#"
NOVA_REFERENCE_PREFIX: Final = "NOVAREF#"
PRODUCT_PREFIX: Final = "PRODUCT#"
SPECTRA_PREFIX: Final = "PRODUCT#SPECTRA#"
JOB_RUN_PREFIX: Final = "JOBRUN#"
QUARANTINE_SORT_KEY: Final = "QUARANTINE"

OBSERVATION_PREFIX: Final = "OBS#"
OBSERVATIONS: Final = "OBSERVATIONS"
"""PK of what is known of observations as a whole: banks, series, scrapes."""
SERIES_PREFIX: Final = "SERIES#"
SCRAPE_PREFIX: Final = "SCRAPE#"
MIGRATIONS: Final = "MIGRATIONS"

ALERT_RULES: Final = "ALERTS"
"""PK of all rules of alerts."""
DELIVERY_PREFIX: Final = "EVENT#"
DUE_DELIVERIES: Final = "ALERT#DUE"
"""GSI1PK of what alerts have to deliver; GSI1SK orders them by when they may be tried."""

API_TOKENS: Final = "TOKENS"
"""PK of all bearer tokens of the API."""

DUE_SOURCES: Final = "SOURCE"
"""GSI1PK of the sources that are polled; GSI1SK orders them by the day on which they are due."""
DISABLED_SOURCES: Final = "SOURCE#DISABLED"
"""GSI1PK of the disabled ones, so that they can be listed and, rarely, probed."""
NOVA_PARTITIONS: Final = "????????-????-????-????-????????????"
"""Pattern of the partition keys of novae, which are their ids, for policies."""
ACTIVE_SUBJECTS: Final = "TOOL"
"""GSI1PK of the subjects that are looked for in articles, ordered by their ids."""
RETIRED_SUBJECTS: Final = "TOOL#RETIRED"
"""GSI1PK of those that no longer are; what was counted for them can still be read."""

LISTED_NOVAE: Final = "NOVA"
"""GSI1PK of all novae, whatever their status, ordered by the normalized form of their primary names."""

UNGROUPED: Final = "GROUPING#WAITING"
"""PK of the marks of articles that wait for grouping; SK orders them by when their analysis ended."""
UNGROUPED_ONE_BY_ONE: Final = "GROUPING#UNGROUPED"
"""PK of the marks of earlier versions, one for each article."""
DECISIONS: Final = "DECISIONS"
"""PK of all decisions of people on articles and events."""
GROUPING_LOG: Final = "GROUPING#LOG"
"""PK of grouping's log of decisions."""

_DAY: Final = len("2026-11-27")

SHARDED: Final[Mapping[str, frozenset[str]]] = {
    "status": frozenset({"pending", "error", "active", "ACQUIRE"}),
    "sentiment": frozenset({"positive", "neutral", "negative"}),
    "GSI1PK": frozenset({DUE_SOURCES}),
}
"""Keys of indexes, and their values under which more items come and go than one partition may take."""
MOST_SHARDS: Final = 64
SHARDS_VARIABLE: Final = "INDEX_SHARDS"
_SHARD_MARK: Final = "#"


class InShard(str):
    """A value of `SHARDED` as it was read from an item: equal to the value, and knows where the item stands.

    Attributes:
        shard: the number of the item's partition in the index.
    """

    __slots__ = ("shard",)
    shard: int


@dataclass(frozen=True, slots=True)
class Shards:
    """Over how many partitions of an index the items of one value of `SHARDED` are spread.

    Shard 0 is the value as it is, shard n is ``<value>#n``. So what was written before there were shards
    stands in the first of them.

    Attributes:
        number: what is written stands in one of so many.
        before: there may be items in so many, since there were more once; 0 if there never were.
    """

    number: int = 1
    before: int = 0

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the shards that a setting names: their number, or ``8,16`` where there were more before.

        Raises:
            InvalidInput: if it names none.
        """
        numbers = text.split(",")
        if len(numbers) > 2 or not all(one.isdecimal() and 1 <= int(one) <= MOST_SHARDS for one in numbers):
            raise InvalidInput("shards", text, f"one or two whole numbers from 1 to {MOST_SHARDS}")
        return cls(*map(int, numbers))

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> Self:
        """Return the shards of this deployment, which its functions have where it is more than one.

        Raises:
            InvalidInput: if the variable names none.
        """
        return cls.parse(environ.get(SHARDS_VARIABLE) or "1")

    def __str__(self) -> str:
        return f"{self.number},{self.before}" if self.before else str(self.number)

    @property
    def count(self) -> int:
        """In how many partitions the items of a value may stand."""
        return max(self.number, self.before)

    def of(self, partition_key: str) -> int:
        """Return the shard of an item by its PK."""
        return crc32(partition_key.encode()) % self.number if self.number > 1 else 0

    def stored(self, attribute: object, value: object, partition_key: str) -> object:
        """Return what an item with this PK has as the value of an attribute."""
        if self.number == 1 or not is_sharded(attribute, value):
            return value
        return in_shard(str(value), self.of(partition_key))

    def read(self, value: str) -> Iterator[str]:
        """Yield the partitions of an index in which the items of a value of `SHARDED` stand."""
        return (in_shard(value, shard) for shard in range(self.count))


ONE_SHARD: Final = Shards()
"""What a deployment has that has chosen no other number."""


def is_sharded(attribute: object, value: object) -> bool:
    """Return whether the items that have this value of an attribute are spread over shards."""
    return isinstance(value, str) and isinstance(attribute, str) and value in SHARDED.get(attribute, ())


def shard_bounds(value: str) -> tuple[str, str]:
    """Return the first and last of what a value may be spelled in all shards there may be.

    Nothing else that is stored lies between them: what follows the mark of a shard is a digit.
    """
    return value, f"{value}{_SHARD_MARK}:"  # ':' is the character after '9'


def in_shard(value: str, shard: int) -> str:
    """Return how a value is spelled in a shard."""
    return f"{value}{_SHARD_MARK}{shard}" if shard else value


def without_shard(attribute: str, stored: str) -> str:
    """Return the value of an attribute of `SHARDED`, whatever the shard that an item stands in."""
    value, mark, shard = stored.rpartition(_SHARD_MARK)
    if not mark or value not in SHARDED[attribute] or not shard.isdecimal():
        return stored
    found = InShard(value)
    found.shard = int(shard)
    return found


def shard_in(value: str) -> int:
    """Return the shard in which the item stands that a value of `SHARDED` was read from."""
    return value.shard if isinstance(value, InShard) else 0


class Key(TypedDict):
    """Primary key of an item."""

    PK: str
    SK: str


class EligibilityKey(TypedDict):
    """Key of an item in EligibilityIndex."""

    GSI1PK: str
    GSI1SK: str


ARCHIVE_ADDRESSES: Final[Key] = {"PK": "ARCHIVE#SETTINGS", "SK": "ADDRESSES"}
"""Key of the addresses of the archives where they are not the public ones."""
SPECTRA_PROVIDERS: Final[Key] = {"PK": "ARCHIVE#SETTINGS", "SK": "PROVIDERS"}
"""Key of the list of the providers of spectra where it is not the built-in one."""
OBSERVATION_SEQUENCE: Final[Key] = {"PK": OBSERVATIONS, "SK": "SEQUENCE"}
"""Key of the counter that numbers observations in the order of their arrival."""
SEARCH_MARK: Final[Key] = {"PK": "WORKFLOW#index_articles", "SK": "MARK"}
"""Key of the place up to which the table's stream has been read for the search index."""
DISPATCH_TICK: Final[Key] = {"PK": "WORKFLOW#dispatch_sources", "SK": "TICK"}
"""Key of the time at which the last scheduled dispatch ran."""
ALERT_RULES_VERSION: Final[Key] = {"PK": ALERT_RULES, "SK": "VERSION"}
"""Key of the count of changes of the rules, by which their readers notice one."""
SUBJECT_CATALOG: Final[Key] = {"PK": "CATALOG#SUBJECTS", "SK": "VERSION"}
"""Key of the version of the list of subjects, by which its readers notice a change."""


def key_of(item: Mapping[str, Any]) -> Key:
    """Return the primary key of an item."""
    return {"PK": item["PK"], "SK": item["SK"]}


def article(dedup_key: str) -> Key:
    """Key of the article with this dedup key (32 hexadecimal characters)."""
    return {"PK": f"dedup:{dedup_key}", "SK": ARTICLE_SORT_KEY}


def dedup_key_of(partition_key: str) -> str | None:
    """Return the dedup key of an article or mention by its PK; None if it is something else's."""
    prefix, _, dedup_key = partition_key.partition(":")
    return dedup_key if prefix == "dedup" else None


def article_tag(dedup_key: str, tag: str) -> Key:
    """Key of the mention of `tag` by an article."""
    return {"PK": f"dedup:{dedup_key}", "SK": f"{TAG_PREFIX}{tag}"}


def article_alias(source_id: str, article_id: str) -> Key:
    """Key under which a source's own article id finds the article; the older key format."""
    return {"PK": f"{source_id}:{article_id}", "SK": ARTICLE_SORT_KEY}


def source(source_id: str) -> Key:
    """Key of a source's configuration and state."""
    return {"PK": f"SOURCE#{source_id}", "SK": STATE_SORT_KEY}


def source_seen(source_id: str) -> Key:
    """Key of the fingerprints of the entries that a source's document held lately."""
    return {"PK": f"SOURCE#{source_id}", "SK": "SEEN"}


def source_fetch(source_id: str, due_at: str) -> Key:
    """Key of one fetch in a source's history; `due_at` is the due time it was made for, ISO 8601."""
    return {"PK": f"SOURCE#{source_id}", "SK": f"{FETCH_PREFIX}{due_at}"}


def source_quota(source_id: str, day: str) -> Key:
    """Key of the calls that a source has made on a day (``2026-11-27``, UTC)."""
    return {"PK": f"SOURCE#{source_id}", "SK": f"QUOTA#{day}"}


def due(source_id: str, next_fetch_time: str) -> EligibilityKey:
    """Index key of a source that is to be polled at `next_fetch_time` (ISO 8601, seconds).

    It has the day alone, so that a poll leaves the source where it stands in the index: a write there costs
    one unit, a move two. When on that day, the index has as an attribute.
    """
    return {"GSI1PK": DUE_SOURCES, "GSI1SK": f"{next_fetch_time[:_DAY]}#{source_id}"}


def due_to_the_second(source_id: str, next_fetch_time: str) -> EligibilityKey:
    """Index key that versions before this one gave such a source; its next poll replaces it."""
    return {"GSI1PK": DUE_SOURCES, "GSI1SK": f"{next_fetch_time}#{source_id}"}


def end_of_day(moment: str) -> str:
    """Return what sorts after the GSI1SK of all that is due on the day of a moment or earlier."""
    return f"{moment[:_DAY]}~"


def disabled(source_id: str, next_probe_time: str) -> EligibilityKey:
    """Index key of a disabled source that is to be probed at `next_probe_time` (ISO 8601, seconds)."""
    return {"GSI1PK": DISABLED_SOURCES, "GSI1SK": f"{next_probe_time}#{source_id}"}


def ingestion_batch(day: str, started_at: str, batch_id: str) -> Key:
    """Key of the record of one ingestion run; `started_at` in ISO 8601 with milliseconds."""
    return job_run(workflow_partition("ingest_articles", day), "ingest_articles", started_at, batch_id)


def observation_partition(bank: str, series: str, term: str) -> str:
    """PK of all that was observed of a bank, a series and a term (its code, ``-`` for none)."""
    return f"SERIES#{_escaped(bank)}#{series}#{term}"


def observation(bank: str, series: str, term: str, day: str, source_id: str) -> Key:
    """Key of an observation of a source on a day (``2026-01-06``, of the source's own calendar)."""
    return {"PK": observation_partition(bank, series, term), "SK": f"{OBSERVATION_PREFIX}{day}#{source_id}"}


def latest_partition(series: str) -> str:
    """PK of the newest observations of a series."""
    return f"LATEST#{series}"


def latest(series: str, term: str, bank: str) -> Key:
    """Key of the newest observation that each source has of a bank, a series and a term."""
    return {"PK": latest_partition(series), "SK": f"{term}#{_escaped(bank)}"}


def read_latest(key: Key) -> tuple[str, str, str]:
    """Return bank, series and term of a key that `latest` made."""
    term, _, bank = key["SK"].partition("#")
    return bank.replace("%23", "#").replace("%25", "%"), key["PK"].removeprefix("LATEST#"), term


def latest_of(observation_partition_key: str) -> Key:
    """Return the key of the LATEST item by which the observations of a partition are found."""
    _, bank, series, term = observation_partition_key.split("#", 3)
    return {"PK": latest_partition(series), "SK": f"{term}#{bank}"}


def observed_bank(bank: str) -> Key:
    """Key of the fact that there are observations of a bank."""
    return {"PK": OBSERVATIONS, "SK": f"BANK#{_escaped(bank)}"}


def observed_series(series: str) -> Key:
    """Key of a series: its name and kind."""
    return {"PK": OBSERVATIONS, "SK": f"{SERIES_PREFIX}{series}"}


def observing_source(source_id: str) -> Key:
    """Key of how the last scrape of a source went."""
    return {"PK": OBSERVATIONS, "SK": f"{SCRAPE_PREFIX}{source_id}"}


def migration(step_id: str) -> Key:
    """Key of the record that a migration was run."""
    return {"PK": MIGRATIONS, "SK": f"STEP#{step_id}"}


def _escaped(name: str) -> str:
    """Return a name in which ``#``, which parts the keys, does not stand."""
    return name.replace("%", "%25").replace("#", "%23")


def job_run(partition: str, workflow: str, started_at: str, job_run_id: str) -> Key:
    """Key of the record of one execution.

    `partition` is a nova's id, or `workflow_partition` before there is one.
    """
    return {"PK": partition, "SK": f"{JOB_RUN_PREFIX}{workflow}#{started_at}#{job_run_id}"}


def workflow_partition(workflow: str, correlation_id: str) -> str:
    """Partition of a run's records when it belongs to no nova."""
    return f"WORKFLOW#{workflow}#{correlation_id}"


def job_run_by_id(job_run_id: str) -> str:
    """GSI1PK under which the record of an execution is found by its id alone."""
    return f"{JOB_RUN_PREFIX}{job_run_id}"


def started_run(job_run_id: str) -> Key:
    """Key of the fact that the API has started a run, until the run has a record of its own."""
    return {"PK": job_run_by_id(job_run_id), "SK": "STARTED"}


def attempts_of(job_run_id: str) -> str:
    """Return what the sort keys of a run's attempts begin with."""
    return f"ATTEMPT#{job_run_id}#"


def attempt(partition: str, job_run_id: str, task_name: str, attempt_no: int, timestamp: str) -> Key:
    """Key of one invocation of a task; `timestamp` in ISO 8601 with milliseconds."""
    return {"PK": partition, "SK": f"{attempts_of(job_run_id)}{task_name}#{attempt_no}#{timestamp}"}


def lock(name: str) -> Key:
    """Key of a lock, ``<workflow>:<identity>:<schema_version>:<day>``."""
    return {"PK": f"LOCK#{name}", "SK": "LOCK"}


def api_token(token_id: str) -> Key:
    """Key of a bearer token of the API (16 hexadecimal characters)."""
    return {"PK": API_TOKENS, "SK": f"TOKEN#{token_id}"}


def idempotent_request(digest: str) -> Key:
    """Key of the answer to a write; `digest` is that of its caller and their key."""
    return {"PK": f"IDEMPOTENT#{digest}", "SK": "ANSWER"}


def alert_rule(alert_id: str) -> Key:
    """Key of a rule (16 hexadecimal characters)."""
    return {"PK": ALERT_RULES, "SK": f"RULE#{alert_id}"}


def alert_partition(alert_id: str) -> str:
    """Partition of what a rule has fired, and of what it compares with."""
    return f"ALERT#{alert_id}"


def alert_delivery(alert_id: str, event_id: str) -> Key:
    """Key of one event that a rule has fired for, with how far its delivery is."""
    return {"PK": alert_partition(alert_id), "SK": f"{DELIVERY_PREFIX}{event_id}"}


def alert_base(alert_id: str, subject: str) -> Key:
    """Key of the figure with which a rule compares a subject's."""
    return {"PK": alert_partition(alert_id), "SK": f"BASE#{subject}"}


def due_delivery(alert_id: str, event_id: str, at: str) -> EligibilityKey:
    """Index key of a delivery that may be tried at a time (ISO 8601, seconds)."""
    return {"GSI1PK": DUE_DELIVERIES, "GSI1SK": f"{at}#{alert_id}#{event_id}"}


def nova(nova_id: str) -> Key:
    """Key of a nova."""
    return {"PK": nova_id, "SK": NOVA_SORT_KEY}


def merged_nova(nova_id: str, merged_nova_id: str) -> Key:
    """Key of the record, with a nova, of another one that was merged into it."""
    return {"PK": nova_id, "SK": f"{MERGED_PREFIX}{merged_nova_id}"}


def listed_nova(primary_name_normalized: str, nova_id: str) -> EligibilityKey:
    """Index key of a nova in the list of all novae."""
    return {"GSI1PK": LISTED_NOVAE, "GSI1SK": f"{primary_name_normalized}#{nova_id}"}


def nova_names(normalized: str) -> str:
    """Partition of the novae that a normalized name may mean; more than one row makes it ambiguous."""
    return f"NAME#{normalized}"


def nova_name(normalized: str, nova_id: str) -> Key:
    """Key of the mapping of a normalized name to a nova."""
    return {"PK": nova_names(normalized), "SK": f"NOVA#{nova_id}"}


def nova_own_name(nova_id: str, normalized: str) -> Key:
    """Key of the same mapping in the nova's own partition, where all its names are listed."""
    return {"PK": nova_id, "SK": f"{NOVA_NAME_PREFIX}{normalized}"}


def sky_cell(cell: str) -> str:
    """Partition of the novae in one cell of the sky."""
    return f"SKY#{cell}"


def nova_position(cell: str, nova_id: str) -> Key:
    """Key of a nova's place in its cell of the sky."""
    return {"PK": sky_cell(cell), "SK": f"NOVA#{nova_id}"}


def photometry_table(nova_id: str) -> Key:
    """Key of a nova's one photometry table."""
    return {"PK": nova_id, "SK": "PRODUCT#PHOTOMETRY_TABLE"}


def spectrum(nova_id: str, provider: str, data_product_id: str) -> Key:
    """Key of one spectrum of a nova."""
    return {"PK": nova_id, "SK": f"{SPECTRA_PREFIX}{provider}#{data_product_id}"}


def eligible_spectrum(nova_id: str, provider: str, data_product_id: str) -> EligibilityKey:
    """Index key of a spectrum that is to be acquired, among those of its nova."""
    return {"GSI1PK": nova_id, "GSI1SK": f"ELIG#ACQUIRE#SPECTRA#{provider}#{data_product_id}"}


def locator_aliases(provider: str, locator_identity: str) -> str:
    """Partition of the data products that a provider's locator has meant; there is one at most."""
    return f"LOCATOR#{provider}#{locator_identity}"


def locator_alias(provider: str, locator_identity: str, data_product_id: str) -> Key:
    """Key of the mapping of a provider's locator to a data product."""
    return {"PK": locator_aliases(provider, locator_identity), "SK": f"DATA_PRODUCT#{data_product_id}"}


def fingerprints(sha256: str) -> str:
    """Partition of the data products whose bytes have this digest (64 hexadecimal characters)."""
    return f"SHA256#{sha256}"


def fingerprint(sha256: str, data_product_id: str) -> Key:
    """Key of the mapping of a digest to a data product."""
    return {"PK": fingerprints(sha256), "SK": f"DATA_PRODUCT#{data_product_id}"}


def fingerprint_owner(sha256: str) -> Key:
    """Key of the one data product that is valid with these bytes; all others are its duplicates."""
    return {"PK": fingerprints(sha256), "SK": "VALID"}


def files_of(product_type: str, data_product_id: str) -> str:
    """Return what the sort keys of a data product's files begin with."""
    return f"FILE#{product_type}#{data_product_id}#"


def file_object(nova_id: str, product_type: str, data_product_id: str, role: str, name: str) -> Key:
    """Key of the record of one object in the bucket that belongs to a data product."""
    return {"PK": nova_id, "SK": f"{files_of(product_type, data_product_id)}{role}#{name}"}


def reference(nova_id: str, reference_id: str) -> Key:
    """Key of a publication about a nova."""
    return {"PK": nova_id, "SK": f"{REFERENCE_PREFIX}{reference_id}"}


def nova_reference(nova_id: str, reference_id: str) -> Key:
    """Key of what a publication is to a nova."""
    return {"PK": nova_id, "SK": f"{NOVA_REFERENCE_PREFIX}{reference_id}"}


def quarantined(quarantine_id: str) -> Key:
    """Key of something that waits for a person's decision, or has had it."""
    return {"PK": f"QUARANTINE#{quarantine_id}", "SK": QUARANTINE_SORT_KEY}


def archive_answer(archive: str, name: str) -> Key:
    """Key of an archive's last answer on a name."""
    return {"PK": f"ARCHIVE#{archive}", "SK": f"ANSWER#{name}"}


def archive_pause(address: str) -> Key:
    """Key of the time until which an archive does not want to be asked at an address."""
    return {"PK": f"ARCHIVE#ADDRESS#{address}", "SK": "PAUSE"}


def subject(tool_id: str) -> Key:
    """Key of a subject whose sentiment is kept."""
    return {"PK": f"TOOL#{tool_id}", "SK": "TOOL"}


def active_subject(tool_id: str) -> EligibilityKey:
    """Index key of a subject that is looked for in articles."""
    return {"GSI1PK": ACTIVE_SUBJECTS, "GSI1SK": tool_id}


def retired_subject(tool_id: str) -> EligibilityKey:
    """Index key of a subject that is no longer looked for."""
    return {"GSI1PK": RETIRED_SUBJECTS, "GSI1SK": tool_id}


def hour_rollup(tool_id: str, hour: str) -> Key:
    """Key of a subject's counts for an hour (``2026-11-27T21``, UTC)."""
    return {"PK": f"TOOL#{tool_id}", "SK": f"{HOUR_PREFIX}{hour}"}


def day_rollup(tool_id: str, day: str) -> Key:
    """Key of a subject's counts for a day (``2026-11-27``, UTC)."""
    return {"PK": f"TOOL#{tool_id}", "SK": f"{DAY_PREFIX}{day}"}


def dirty_hour(tool_id: str, hour: str) -> Key:
    """Key of the mark that an hour of a subject has to be counted again."""
    return {"PK": f"TOOL#{tool_id}", "SK": f"{DIRTY_PREFIX}{hour}"}


def cache_entry(tool_id: str, period: str) -> Key:
    """Key of a subject's pre-computed sentiment for a period such as ``HOUR_24``."""
    return {"PK": f"TOOL#{tool_id}", "SK": f"CACHE#{period}"}


def cache_metadata() -> Key:
    """Key of what is known about the cache as a whole."""
    return {"PK": "CACHE#METADATA", "SK": "METADATA"}


def cache_hour(hour: str) -> Key:
    """Key of the cache's hits, misses and errors in an hour (``2026-11-27T21``, UTC)."""
    return {"PK": "CACHE#METADATA", "SK": f"{HOUR_PREFIX}{hour}"}


def decision(decision_id: str) -> Key:
    """Key of a person's decision on articles or events; ids are in the order of time."""
    return {"PK": DECISIONS, "SK": decision_id}


def ungrouped(since: str, dedup_key: str) -> Key:
    """Key of the mark of articles that wait for grouping since then (ISO 8601, milliseconds).

    `dedup_key` is that of the first of them.
    """
    return {"PK": UNGROUPED, "SK": f"{since}#{dedup_key}"}


def grouping_chunk(number: int) -> Key:
    """Key of one chunk of grouping's log; numbers are consecutive."""
    return {"PK": GROUPING_LOG, "SK": f"CHUNK#{number:012d}"}


def event(event_id: str) -> Key:
    """Key of an event: articles about the same occurrence."""
    return {"PK": f"EVENT#{event_id}", "SK": EVENT_SORT_KEY}


def event_idea(event_id: str, time: str, digest: str) -> Key:
    """Key of what was concluded from an event as it stood at `time`; `digest` is that of the inputs."""
    return {"PK": f"EVENT#{event_id}", "SK": f"{IDEA_PREFIX}{time}#{digest}"}
