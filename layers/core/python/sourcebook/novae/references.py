"""Publications about a nova: fetched, kept, and what they say of the day of its discovery."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from boto3.dynamodb.conditions import Attr

from sourcebook.bucket.objects import Objects
from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.errors import InvalidInput, shorten
from sourcebook.novae.messages import DiscoveryDated, ReferencesFetched, ReferencesStored
from sourcebook.novae.model import reference_id_for
from sourcebook.novae.papers import add_publication
from sourcebook.novae.quarantine import Quarantiner
from sourcebook.novae.store import NovaStore
from sourcebook.records.nova import Reference, ReferenceRole
from sourcebook.records.quarantine import QuarantineReason
from sourcebook.runs.errors import Held
from sourcebook.runs.tasks import TaskRun
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed

if TYPE_CHECKING:
    from sourcebook.novae.resolvers.ads import Ads

A_CHUNK: Final = 25
"""Publications that one task stores: enough that calling it is the smaller part."""
AUTHORS_KEPT: Final = 10

_PUBDATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")


async def fetch_references(
    store: NovaStore, objects: Objects, ads: Ads, nova_id: str, run: TaskRun
) -> ReferencesFetched:
    """Fetch the publications, and return where they are.

    Raises:
        NoSuchNova: if there is no active nova with this id.
        ArchiveUnavailable, ArchiveRejected: as ADS answers.
    """
    nova = store.active(nova_id)
    names = [nova.primary_name, *(name.name_raw for name in store.names(nova.nova_id))]
    documents, found = await ads.search(dict.fromkeys(names))
    chunks = []
    for start in range(0, len(documents), A_CHUNK):
        key = f"raw/references/{nova.nova_id}/{run.job_run_id}/{start // A_CHUNK:03d}.json"
        objects.write_json(key, documents[start : start + A_CHUNK])
        chunks.append(key)
    return ReferencesFetched(chunks=tuple(chunks), found=found, truncated=len(documents) < found)


@dataclass(frozen=True, slots=True)
class ReferenceStore:
    """Keeps publications; one that cannot be read is set aside and the others go on."""

    store: NovaStore
    objects: Objects
    quarantiner: Quarantiner
    clock: Clock = utc_now

    def store_chunk(self, nova_id: str, key: str, run: TaskRun) -> ReferencesStored:
        """Store the publications of one chunk, and return what became of them.

        Raises:
            DocumentRefused, BucketBusy: if the chunk cannot be read.
        """
        content = self.objects.read_json(key)
        counts: Counter[str] = Counter()
        for document in content:
            try:
                reference = read_publication(document, self.clock)
            except InvalidInput as error:
                self._set_aside(nova_id, document, run, error)
                counts["quarantined"] += 1
                continue
            counts[self._upsert(nova_id, reference)] += 1
        return ReferencesStored(
            created=counts["created"],
            updated=counts["updated"],
            unchanged=counts["unchanged"],
            quarantined=counts["quarantined"],
        )

    def _upsert(self, nova_id: str, reference: Reference) -> str:
        table, role = self.store.table, ReferenceRole.OTHER
        there, _ = add_publication(table, nova_id, reference, role, workflow="refresh_references")
        if there is None:
            return "created"
        key = keys.reference(nova_id, reference.reference_id)
        item = reference.to_item(key)
        changed = {
            name: item.get(name)
            for name in ("published_at", "title", "authors", "author_count")
            if item.get(name) != there.get(name)
        }
        if not changed:
            return "unchanged"
        table.update(key, assign={**changed, "updated_at": item["updated_at"]}, condition=Attr("PK").exists())
        return "updated"

    def _set_aside(self, nova_id: str, document: object, run: TaskRun, error: InvalidInput) -> None:
        bibcode = document.get("bibcode") if isinstance(document, Mapping) else None
        self.quarantiner.hold(
            run,
            Held(QuarantineReason.BAD_REFERENCE, str(error), {"document": shorten(document, 1_000)}),
            subject=f"{nova_id} {bibcode if isinstance(bibcode, str) else shorten(document, 60)}",
            retry_input={"nova_id": nova_id},
        )


def read_publication(document: object, clock: Clock = utc_now) -> Reference:
    """Return a publication as ADS describes it.

    Raises:
        InvalidInput: naming the field that is wrong.
    """
    if not isinstance(document, Mapping):
        raise InvalidInput("document", document, "an object")
    bibcode = document.get("bibcode")
    if not isinstance(bibcode, str) or not re.fullmatch(r"\d{4}\S{15}", bibcode):
        raise InvalidInput("bibcode", bibcode, "19 characters that begin with the year")
    authors = document.get("author") or []
    if not isinstance(authors, list) or not all(isinstance(author, str) for author in authors):
        raise InvalidInput("author", authors, "a list of names")
    title = document.get("title")
    if isinstance(title, list):
        title = " ".join(str(part) for part in title)
    now = isoformat(clock())
    return Reference.of_json(
        {
            "reference_id": reference_id_for("ADS", bibcode),
            "source": "ADS",
            "source_identifier": bibcode,
            "published_at": published_at(document.get("pubdate")),
            "title": title[:500] if isinstance(title, str) else None,
            "authors": tuple(author[:200] for author in authors[:AUTHORS_KEPT]),
            "author_count": len(authors),
            "created_at": now,
            "updated_at": now,
        }
    )


def published_at(pubdate: object) -> str | None:
    """Return a publication's date as precise as it is: ADS writes an unknown month or day as 00.

    Raises:
        InvalidInput: if it is not a date.
    """
    if pubdate is None:
        return None
    found = _PUBDATE.fullmatch(pubdate) if isinstance(pubdate, str) else None
    if found is None or int(found[2]) > 12 or int(found[3]) > 31 or (found[2] == "00" and found[3] != "00"):
        raise InvalidInput("pubdate", pubdate, "YYYY-MM-DD, with 00 for what is not known")
    year, month, day = found.groups()
    return "-".join(part for part in (year, month, day) if part != "00")


def move_discovery_back(store: NovaStore, nova_id: str) -> DiscoveryDated:
    """Move a nova's discovery back to its earliest publication; return the date, and whether it was changed.

    Raises:
        NoSuchNova: if there is no active nova with this id.
    """
    nova = store.active(nova_id)
    rows = store.table.items_of(nova.nova_id, keys.REFERENCE_PREFIX)
    references = map(Reference.of_item, rows)
    dated = [
        (date, one.source_identifier, one.reference_id)
        for one in references
        if (date := discovery_date(one)) is not None
    ]
    found, _, earliest = min(dated, default=(None, None, ""))
    if found is None or not is_earlier(found, nova.discovery_date):
        return DiscoveryDated(discovery_date=nova.discovery_date, changed=False)
    now = isoformat(store.clock())
    try:
        store.table.update(
            keys.nova(nova.nova_id),
            assign={"discovery_date": found, "updated_at": now},
            condition=Attr("discovery_date").not_exists() | Attr("discovery_date").gte(_month_after(found)),
        )
    except ConditionFailed as conflict:
        # Another run has found an earlier one meanwhile.
        date = (conflict.item or {}).get("discovery_date", nova.discovery_date)
        return DiscoveryDated(discovery_date=date, changed=False)
    store.table.update(
        keys.nova_reference(nova.nova_id, earliest),
        assign={"role": ReferenceRole.DISCOVERY.value, "updated_at": now},
        condition=Attr("PK").exists(),
    )
    return DiscoveryDated(discovery_date=found, changed=True)


def discovery_date(reference: Reference) -> str | None:
    """Return a publication's date to the month, day 00 when no day is known; None without a month."""
    text = reference.published_at or ""
    if len(text) < 7:
        return None
    return text[:10] if len(text) >= 10 else f"{text[:7]}-00"


def is_earlier(found: str, known: str | None) -> bool:
    """Whether a date moves the discovery back: compared by month, for one of them may have no day."""
    return known is None or found[:7] < known[:7]


def _month_after(date: str) -> str:
    year, month = int(date[:4]), int(date[5:7])
    return f"{year + month // 12:04d}-{month % 12 + 1:02d}"
