"""Two novae that are one, one that is two, and one that is none: merged, split, deprecated.

Merging begins and ends in one transaction each; between them everything that belongs to the merged nova goes
to the other, piece by piece. Each piece may be done again, so that a merge that was cut short goes on when it
is asked for again; until then both novae carry `changing`, and nothing else may merge or split them. A
spectrum goes with its files in one transaction: it is under one nova at every moment. What points to it is
followed (`whereabouts`), and not rewritten.

What came by a merge says so, and goes back when the novae are split. docs/decisions/0230 has the reasons.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from boto3.dynamodb.conditions import Attr, ConditionBase

from sourcebook.bucket.objects import DocumentRefused, Objects
from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.curation.messages import Action, Curated, CurateNova, CurationOutcome
from sourcebook.errors import InvalidInput, Retryable
from sourcebook.novae.model import photometry_id_for
from sourcebook.novae.references import is_earlier
from sourcebook.novae.store import NoSuchNova, NovaStore
from sourcebook.photometry.messages import RebuildTable, UploadObject
from sourcebook.photometry.table import TableRebuilder
from sourcebook.photometry.upload import PRODUCT, upload_folder
from sourcebook.records.nova import MergedNova, MergeState, NameKind, Nova, NovaStatus, ReferenceRole
from sourcebook.records.product import FileRole
from sourcebook.records.spectrum import Eligibility
from sourcebook.runs.tasks import TaskRun
from sourcebook.spectra.products import SPECTRA
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Write
from sourcebook.table.codec import Item

MOVED_FROM: Final = "moved_from"
"""Attribute of what came by merging: the novae that it came from, the last one last."""

_LARGEST: Final = 100_000_000
_TRIES: Final = 5


class NovaBusy(Retryable):
    """The nova is just being merged or split, or was changed in this moment."""


@dataclass(frozen=True, slots=True)
class Curator:
    """Does what a person has decided. Whatever is cut short goes on when the same is asked for again.

    Attributes:
        objects: the bucket, for photometry.
    """

    store: NovaStore
    objects: Objects
    clock: Clock = utc_now

    def curate(self, decision: CurateNova, run: TaskRun | None = None) -> Curated:
        """Do it.

        Raises:
            InvalidInput: if the decision does not fit the nova as it is.
            NoSuchNova: if there is no such nova.
            NovaBusy: if one of the novae is just being merged or split with another; try again.
        """
        match decision.action:
            case Action.MERGE:
                return self._merge(decision, run)
            case Action.SPLIT:
                return self._split(decision, run)
            case Action.DEPRECATE:
                return self._set_status(decision, NovaStatus.ACTIVE, NovaStatus.DEPRECATED)
            case Action.RESTORE:
                return self._set_status(decision, NovaStatus.DEPRECATED, NovaStatus.ACTIVE)

    def _set_status(self, decision: CurateNova, before: NovaStatus, after: NovaStatus) -> Curated:
        nova, _ = self._nova(decision.nova_id)
        deprecated = after is NovaStatus.DEPRECATED
        outcome = CurationOutcome.DEPRECATED if deprecated else CurationOutcome.RESTORED
        if nova.status is after:
            return Curated(outcome=outcome, nova_id=nova.nova_id)
        if nova.status is not before:
            raise InvalidInput("nova_id", nova.nova_id, f"a nova that is {before}; this one is {nova.status}")
        try:
            self.store.table.update(
                keys.nova(nova.nova_id),
                assign={
                    "status": after.value,
                    "status_reason": decision.reason if deprecated else None,
                    "updated_at": isoformat(self.clock()),
                },
                condition=Attr("status").eq(before.value) & Attr("changing").not_exists(),
            )
        except ConditionFailed as found:
            raise NovaBusy(f"nova {nova.nova_id} is just being changed") from found
        return Curated(outcome=outcome, nova_id=nova.nova_id)

    def _merge(self, decision: CurateNova, run: TaskRun | None) -> Curated:
        if decision.into is None or decision.into == decision.nova_id:
            raise InvalidInput("into", decision.into, "the nova that it is merged into, another one")
        source, item = self._nova(decision.nova_id)
        target, _ = self._nova(decision.into)
        record = self._record(target.nova_id, source.nova_id)
        changing = _token(source.nova_id, target.nova_id)
        goes_on = source.merged_into == target.nova_id and record is not None
        if record is None or not goes_on:
            self._refuse_unless_active(source, target)
            record = self._begin_merge(decision, source, target, changing, run)
        elif record.state is MergeState.SPLITTING:
            raise InvalidInput("nova_id", source.nova_id, "a nova whose splitting has ended: split it again")
        elif record.state is MergeState.MERGED:
            if not self._left_behind(source.nova_id, record):
                return _merged(source, target, {})
            # What has come to the merged nova since is moved too.
            reopened = {"state": MergeState.MERGING.value}
            self._lock(record, changing, Attr("changing").not_exists(), reopened)
        elif item.get("changing") != changing:
            raise NovaBusy(f"nova {source.nova_id} is just being changed")
        moved = {
            "names": self._copy_names(source.nova_id, target),
            "references": self._copy_references(source.nova_id, target.nova_id),
            "spectra": self._move_spectra(source.nova_id, target.nova_id),
            "uploads": self._add_uploads(source.nova_id, target.nova_id, record, run),
        }
        if source.discovery_date and is_earlier(source.discovery_date, target.discovery_date):
            self._date(target.nova_id, source.discovery_date)
        self._mark_discovery(target.nova_id)
        self._end(source.nova_id, target.nova_id, MergeState.MERGED, {})
        return _merged(source, target, moved)

    def _split(self, decision: CurateNova, run: TaskRun | None) -> Curated:
        source, _ = self._nova(decision.nova_id)
        if source.status is NovaStatus.ACTIVE:
            return Curated(outcome=CurationOutcome.SPLIT, nova_id=source.nova_id)
        if source.merged_into is None:
            raise InvalidInput("nova_id", source.nova_id, f"a nova that is MERGED; it is {source.status}")
        target, _ = self._nova(source.merged_into)
        if target.status is not NovaStatus.ACTIVE:
            raise InvalidInput(
                "nova_id",
                source.nova_id,
                f"a nova that is merged into an active one; {target.nova_id} is {target.status}: first that",
            )
        record = self._record(target.nova_id, source.nova_id)
        if record is None:
            raise InvalidInput("nova_id", source.nova_id, "a nova of whose merge there is a record")
        if record.state is not MergeState.SPLITTING:
            record = self._begin_split(decision, record, run)
        moved = {
            "names": self._take_back_names(source.nova_id, target),
            "references": self._take_back_references(source.nova_id, target.nova_id),
            "spectra": self._return_spectra(target.nova_id, source.nova_id),
            "uploads": self._remove_uploads(target.nova_id, record),
        }
        if target.discovery_date != record.discovery_date_before and (
            target.discovery_date == source.discovery_date
        ):
            self._date(target.nova_id, record.discovery_date_before)
        self._mark_discovery(target.nova_id)
        back = {"status": NovaStatus.ACTIVE.value, "merged_into": None, "status_reason": None}
        self._end(source.nova_id, target.nova_id, MergeState.SPLIT, back)
        return Curated(outcome=CurationOutcome.SPLIT, nova_id=source.nova_id, moved=moved)

    # Beginning and ending

    def _begin_merge(
        self, decision: CurateNova, source: Nova, target: Nova, changing: str, run: TaskRun | None
    ) -> MergedNova:
        now = self.clock()
        record = MergedNova(
            nova_id=target.nova_id,
            merged_nova_id=source.nova_id,
            state=MergeState.MERGING,
            discovery_date_before=target.discovery_date,
            reason=decision.reason,
            decided_by=decision.decided_by,
            job_run_id=run.job_run_id if run else None,
            created_at=now,
            updated_at=now,
        ).checked()
        free = Attr("status").eq(NovaStatus.ACTIVE.value) & Attr("changing").not_exists()
        merged = {
            "status": NovaStatus.MERGED.value,
            "merged_into": target.nova_id,
            "status_reason": decision.reason,
            "changing": changing,
            "updated_at": isoformat(now),
        }
        key = keys.merged_nova(target.nova_id, source.nova_id)
        self._together(
            source.nova_id,
            Write(keys.nova(source.nova_id), assign=merged, condition=free),
            Write(keys.nova(target.nova_id), assign={"changing": changing}, condition=free),
            Write(key, item=record.to_item(key)),
        )
        return record

    def _begin_split(self, decision: CurateNova, record: MergedNova, run: TaskRun | None) -> MergedNova:
        changing = _token(record.merged_nova_id, record.nova_id)
        decided = {
            "state": MergeState.SPLITTING.value,
            "reason": decision.reason,
            "decided_by": decision.decided_by,
            "job_run_id": run.job_run_id if run else None,
            "updated_at": isoformat(self.clock()),
        }
        free = Attr("changing").not_exists() | Attr("changing").eq(changing)
        self._lock(record, changing, free, decided)
        return replace(record, state=MergeState.SPLITTING)

    def _lock(
        self, record: MergedNova, changing: str, free: ConditionBase, decided: Mapping[str, object]
    ) -> None:
        """Mark both novae of a merge as changing, and change its record."""
        source, target = record.merged_nova_id, record.nova_id
        merged = free & Attr("merged_into").eq(target)
        active = free & Attr("status").eq(NovaStatus.ACTIVE.value)
        self._together(
            source,
            Write(keys.nova(source), assign={"changing": changing}, condition=merged),
            Write(keys.nova(target), assign={"changing": changing}, condition=active),
            Write(
                keys.merged_nova(target, source),
                assign=decided,
                condition=Attr("state").eq(record.state.value),
            ),
        )

    def _end(self, source: str, target: str, state: MergeState, also: Mapping[str, object]) -> None:
        now = isoformat(self.clock())
        mine = Attr("changing").eq(_token(source, target))
        self._together(
            source,
            Write(keys.nova(source), assign={**also, "changing": None, "updated_at": now}, condition=mine),
            Write(keys.nova(target), assign={"changing": None, "updated_at": now}, condition=mine),
            Write(
                keys.merged_nova(target, source),
                assign={"state": state.value, "updated_at": now},
                condition=Attr("PK").exists(),
            ),
        )

    def _together(self, nova_id: str, *writes: Write) -> None:
        try:
            self.store.table.transact(writes)
        except ConditionFailed as found:
            raise NovaBusy(f"nova {nova_id}, or the other one, is just being changed") from found

    def _refuse_unless_active(self, source: Nova, target: Nova) -> None:
        for name, nova in (("nova_id", source), ("into", target)):
            if nova.status is not NovaStatus.ACTIVE:
                gone = f", merged into {nova.merged_into}" if nova.merged_into else ""
                raise InvalidInput(name, nova.nova_id, f"an active nova; this one is {nova.status}{gone}")

    # Names and references are copied: the merged nova keeps its own, by which it is found and followed.

    def _copy_names(self, source: str, target: Nova) -> int:
        copied = 0
        for row in self._rows(source, keys.NOVA_NAME_PREFIX):
            form = row["name_normalized"]
            copy = row | {
                "nova_id": target.nova_id,
                "name_kind": NameKind.ALIAS.value,
                MOVED_FROM: [*row.get(MOVED_FROM, ()), source],
            }
            if self.store.table.get(keys.nova_own_name(target.nova_id, form), consistent=True) is not None:
                continue
            self.store.table.create({**copy, **keys.nova_name(form, target.nova_id)})
            # The nova's own row last: where it stands, the other does too.
            copied += self.store.table.create({**copy, **keys.nova_own_name(target.nova_id, form)}) is None
        return copied

    def _take_back_names(self, source: str, target: Nova) -> int:
        gone = 0
        own = {row["name_normalized"]: row for row in self._rows(target.nova_id, keys.NOVA_NAME_PREFIX)}
        came = [form for form, row in own.items() if _came_from(row) == source]
        theirs = [row["name_normalized"] for row in self._rows(source, keys.NOVA_NAME_PREFIX)]
        for form in dict.fromkeys((*came, *theirs)):
            # A copy that was cut short has its first row only, and no name of its own may go.
            place = keys.nova_name(form, target.nova_id)
            row = own.get(form) or self.store.table.get(place, consistent=True) or {}
            # A name that has become the primary one meanwhile stays; both have it then.
            if _came_from(row) != source or form == target.primary_name_normalized:
                continue
            self.store.table.delete(place)
            self.store.table.delete(keys.nova_own_name(target.nova_id, form))
            gone += 1
        return gone

    def _copy_references(self, source: str, target: str) -> int:
        copied = 0
        for prefix in (keys.REFERENCE_PREFIX, keys.NOVA_REFERENCE_PREFIX):
            for row in self._rows(source, prefix):
                moved_from = [*row.get(MOVED_FROM, ()), source]
                there = self.store.table.create({**row, "PK": target, MOVED_FROM: moved_from})
                copied += there is None and prefix == keys.REFERENCE_PREFIX
        return copied

    def _take_back_references(self, source: str, target: str) -> int:
        gone = 0
        for prefix in (keys.NOVA_REFERENCE_PREFIX, keys.REFERENCE_PREFIX):
            for row in self._rows(target, prefix):
                if _came_from(row) == source:
                    self.store.table.delete({"PK": target, "SK": row["SK"]})
                    gone += prefix == keys.REFERENCE_PREFIX
        return gone

    def _mark_discovery(self, nova_id: str) -> None:
        """Set the role of discovery for the earliest publication alone."""
        dated = [
            (row["published_at"], row["source_identifier"], row["reference_id"])
            for row in self._rows(nova_id, keys.REFERENCE_PREFIX)
            if len(row.get("published_at") or "") >= len("2012-06")
        ]
        first = min(dated)[2] if dated else None
        for row in self._rows(nova_id, keys.NOVA_REFERENCE_PREFIX):
            is_first, is_discovery = row["reference_id"] == first, row["role"] == ReferenceRole.DISCOVERY
            if is_first == is_discovery:
                continue
            role = ReferenceRole.DISCOVERY if is_first else ReferenceRole.OTHER
            self.store.table.change(
                {"PK": nova_id, "SK": row["SK"]}, assign={"role": role.value}, condition=Attr("PK").exists()
            )

    def _date(self, nova_id: str, date: str | None) -> None:
        self.store.table.change(
            keys.nova(nova_id), assign={"discovery_date": date}, condition=Attr("PK").exists()
        )

    # Spectra are moved, each with its files

    def _move_spectra(self, source: str, target: str) -> int:
        return sum(
            self._move(product, target, [*product.get(MOVED_FROM, ()), source])
            for product in self._rows(source, keys.SPECTRA_PREFIX)
        )

    def _return_spectra(self, target: str, source: str) -> int:
        return sum(
            self._move(product, source, product[MOVED_FROM][:-1])
            for product in self._rows(target, keys.SPECTRA_PREFIX)
            if _came_from(product) == source
        )

    def _move(self, product: Item, nova_id: str, moved_from: list[str]) -> bool:
        """Move one spectrum with its files, in one step; return False if it has gone meanwhile."""
        there: Item | None = product
        for _ in range(_TRIES):
            if there is None:
                return False
            try:
                self.store.table.transact(list(self._moving(there, nova_id, moved_from)))
            except ConditionFailed:
                # Whoever acquires it has just written something: once more, with that.
                there = self.store.table.get(keys.key_of(product), consistent=True)
            else:
                return True
        raise NovaBusy(f"the spectrum {product['data_product_id']} changed {_TRIES} times while it was moved")

    def _moving(self, product: Item, nova_id: str, moved_from: list[str]) -> Iterator[Write]:
        own = keys.key_of(product)
        unchanged: ConditionBase = Attr("updated_at").eq(product["updated_at"])
        for name in ("attempt_count", "timestamp"):
            unchanged = unchanged & (
                Attr(name).eq(product[name]) if name in product else Attr(name).not_exists()
            )
        made = {**product, "PK": nova_id, "nova_id": nova_id, MOVED_FROM: moved_from}
        if not moved_from:
            del made[MOVED_FROM]
        if product["eligibility"] == Eligibility.ACQUIRE:
            made |= keys.eligible_spectrum(nova_id, product["provider"], product["data_product_id"])
        yield Write(own, delete=True, condition=unchanged)
        yield Write({"PK": nova_id, "SK": own["SK"]}, item=made, condition=Attr("PK").not_exists())
        for file in self._rows(own["PK"], keys.files_of(SPECTRA, product["data_product_id"])):
            key: keys.Key = {"PK": own["PK"], "SK": file["SK"]}
            yield Write(key, delete=True, condition=Attr("updated_at").eq(file["updated_at"]))
            yield Write({"PK": nova_id, "SK": file["SK"]}, item={**file, "PK": nova_id, "nova_id": nova_id})

    # Photometry: the uploads of the one are also in the table of the other; its own table stays as it is.

    def _add_uploads(self, source: str, target: str, record: MergedNova, run: TaskRun | None) -> int:
        own = self._uploads(source)
        known = set(self._uploads(target))
        coming = [file_id for file_id in own if file_id not in known and file_id not in record.uploads]
        uploads = (*record.uploads, *coming)
        if coming:
            self.store.table.change(
                keys.merged_nova(target, source),
                assign={"uploads": list(uploads)},
                condition=Attr("PK").exists(),
            )
        rebuilder = TableRebuilder(self.store, self.objects, self.clock)
        if (self.store.table.get(keys.photometry_table(source), consistent=True) or {}).get("s3_key"):
            # An upload that was cut short is done again for the other nova from now on.
            rebuilder.complete(source, run)
        for file_id in uploads:
            if file_id not in own:
                continue  # it was taken out of the merged nova's table before it was merged again
            for name, kind in (("report.json", "application/json"), ("rows.json.gz", "application/gzip")):
                there = self.objects.read(f"{upload_folder(source, file_id)}{name}", _LARGEST)
                self.objects.write(f"{upload_folder(target, file_id)}{name}", there.body, kind)
            bundle = own[file_id]
            upload = UploadObject(
                s3_key=bundle["key"], etag=bundle["etag"], byte_length=bundle["byte_length"]
            )
            rebuilder.rebuild(RebuildTable(nova_id=target, file_id=file_id, upload=upload), run)
        return len(coming)

    def _remove_uploads(self, target: str, record: MergedNova) -> int:
        if not record.uploads:
            return 0
        rebuilder = TableRebuilder(self.store, self.objects, self.clock)
        try:
            known, _ = rebuilder.known_uploads(target)
        except DocumentRefused:
            return 0  # the merge was cut short before there was a table
        without = [file_id for file_id in record.uploads if file_id in known]
        if without:
            rebuilder.remake(target, without=without)
        return len(without)

    def _uploads(self, nova_id: str) -> dict[str, Item]:
        """Return the records of the uploads in a nova's table, by `file_id`, the oldest first."""
        prefix = f"{keys.files_of(PRODUCT, photometry_id_for(nova_id))}{FileRole.DATA_BUNDLE.value}#"
        rows = self._rows(nova_id, prefix)
        return {row["name"]: row for row in sorted(rows, key=lambda row: (row["created_at"], row["name"]))}

    def _left_behind(self, source: str, record: MergedNova) -> bool:
        """Whether something has come to a merged nova since: by a run that began before."""
        if self._rows(source, keys.SPECTRA_PREFIX):
            return True
        return bool(set(self._uploads(source)) - set(self._uploads(record.nova_id)))

    # Reading

    def _nova(self, nova_id: str) -> tuple[Nova, Item]:
        item = self.store.table.get(keys.nova(nova_id), consistent=True)
        if item is None:
            raise NoSuchNova(f"nova_id {nova_id}: there is none; look it up with GET /novae?name=")
        return Nova.of_item(item), item

    def _record(self, nova_id: str, merged_nova_id: str) -> MergedNova | None:
        item = self.store.table.get(keys.merged_nova(nova_id, merged_nova_id), consistent=True)
        return MergedNova.of_item(item) if item else None

    def _rows(self, nova_id: str, prefix: str) -> list[Item]:
        return list(self.store.table.items_of(nova_id, prefix, consistent=True))


def _merged(source: Nova, target: Nova, moved: Mapping[str, int]) -> Curated:
    return Curated(
        outcome=CurationOutcome.MERGED, nova_id=source.nova_id, merged_into=target.nova_id, moved=moved
    )


def _token(source: str, target: str) -> str:
    """Return what both novae carry while the one is merged into the other, or split from it."""
    return f"{source}>{target}"


def _came_from(row: Item) -> str | None:
    moved_from = row.get(MOVED_FROM) or [None]
    last = moved_from[-1]
    return None if last is None else str(last)
