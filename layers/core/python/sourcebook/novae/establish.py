"""Decide whether an archive's object is a known nova, a new one, none, or a case for a reviewer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sourcebook.clock import isoformat
from sourcebook.errors import InvalidInput, Terminal
from sourcebook.novae.coordinates import SAME_WITHIN, UNSURE_WITHIN, Position, separation_arcsec
from sourcebook.novae.messages import (
    CandidateOutcome,
    Established,
    FindNova,
    FoundNova,
    MergeInto,
    NoNova,
    OneNova,
    Prepared,
)
from sourcebook.novae.model import nova_id_for, photometry_id_for
from sourcebook.novae.names import normalize_name
from sourcebook.novae.resolvers.identity import Identity, Kind
from sourcebook.novae.store import Named, NovaStore, named_by
from sourcebook.records.nova import NameSource, Nova
from sourcebook.records.product import PhotometryTable
from sourcebook.records.quarantine import QuarantineCase, QuarantineReason, ReviewStatus
from sourcebook.runs.errors import Held
from sourcebook.table import keys


class NotApproved(Terminal):
    """A workflow names a quarantine that no person has cleared."""


def find_nova(store: NovaStore, request: FindNova) -> FoundNova:
    """Return the active nova with an id, or else the nova of a name.

    Raises:
        NoSuchNova: if the id is no active nova's.
        Held: if the name means several.
        InvalidInput: if there is neither an id nor a name, or what is given is no name.
        NotApproved: if a case is named that nobody has cleared.
    """
    if request.nova_id is not None:
        nova = store.active(request.nova_id)
        return OneNova(nova_id=nova.nova_id, name=nova.primary_name)
    if request.name is None:
        raise InvalidInput("name", None, "the name of a nova, or nova_id in its place")
    normalized = normalize_name(request.name)
    review = approved(store, request.quarantine_id)
    if review is not None and review.merged_into is not None:
        return MergeInto(nova_id=review.merged_into, normalized=normalized)
    novae = store.find(normalized)
    if len(novae) > 1 or (novae and store.is_shared(normalized)):
        raise ambiguous(request.name, novae)
    if novae:
        return OneNova(nova_id=novae[0].nova_id, normalized=normalized)
    return NoNova(normalized=normalized)


@dataclass(frozen=True, slots=True)
class NovaEstablisher:
    """Decides whether an object is a known or a new nova, and writes it."""

    store: NovaStore

    def establish(
        self,
        name: str,
        identity: Identity | None,
        *,
        quarantine_id: str | None = None,
        created_by: Mapping[str, str] | None = None,
    ) -> Established:
        """Create the nova, or add the name to a known one.

        In this order: a person's decision; a nova that has one of the object's names; a nova at its place;
        whether it is a nova at all; a new nova. Two calls at once for one object make one nova, since its
        id follows from the object.

        Args:
            name: as somebody wrote it.
            identity: from the archives; None only if a person has decided which nova it is.
            quarantine_id: a quarantine that a person has cleared.
            created_by: workflow and job run, kept with a new nova.

        Raises:
            Held: if the names mean several novae, a known nova is 2″ to 10″ away or two are that near, the
                object is only a candidate, or it has no position.
            InvalidInput: if the identity is missing or has an impossible position.
            NotApproved: if `quarantine_id` is given and nobody has cleared it.
        """
        review = approved(self.store, quarantine_id)
        if review is not None and review.merged_into is not None:
            return self._is(self.store.active(review.merged_into), name, identity)
        if identity is None:
            raise InvalidInput("identity", identity, "what resolve_name has found")
        known, separation = self._known(name, identity, review)
        if known is not None:
            return self._is(known, name, identity, separation)
        if identity.kind is Kind.OTHER:
            return Established(CandidateOutcome.NOT_A_CLASSICAL_NOVA)
        _ask_a_person(name, identity, review)
        nova = self._new(identity, created_by)
        if self.store.create(nova, self._names(name, identity)):
            return Established(CandidateOutcome.CREATED, nova.nova_id)
        return self._is(self.store.active(nova.nova_id), name, identity)

    def _known(
        self, name: str, identity: Identity, review: QuarantineCase | None
    ) -> tuple[Nova | None, float | None]:
        """Return the nova that the object is already, and how far its place is from the object's."""
        same = self.store.get(nova_id_for(identity.key))
        if same is not None:
            return self.store.active(same.nova_id), None
        by_name = self._by_names(name, identity)
        position = identity.position
        if by_name is not None:
            if position is None or (there := Position.of(by_name)) is None:
                return by_name, None
            arcsec = separation_arcsec(position, there)
            if arcsec <= UNSURE_WITHIN:
                return by_name, arcsec
            if not _may_be_new(review):
                raise Held(
                    QuarantineReason.NAME_CONFLICT,
                    f"{identity.main_name} has a name of {by_name.primary_name} but lies {arcsec:.1f}″ "
                    "from it: say whether both are one nova",
                    _facts(identity, [(by_name, arcsec)]),
                )
            return None, None
        if position is None:
            return None, None
        near = self.store.near(position, UNSURE_WITHIN / 3600)
        if len(near) == 1 and near[0][1] < SAME_WITHIN:
            return near[0]
        if near and not _may_be_new(review):
            places = ", ".join(f"{nova.primary_name} at {arcsec:.1f}″" for nova, arcsec in near)
            raise Held(
                QuarantineReason.COORDINATES_UNSURE,
                f"{identity.main_name} lies near {places}: say whether they are the same nova",
                _facts(identity, near),
            )
        return None, None

    def _by_names(self, name: str, identity: Identity) -> Nova | None:
        own_names = self.store.bearers((name, *identity.all_names))
        found = {nova.nova_id: nova for _, novae in own_names for nova in novae}
        if len(found) > 1:
            raise ambiguous(name, list(found.values()))
        return next(iter(found.values()), None)

    def _is(
        self, nova: Nova, name: str, identity: Identity | None, separation: float | None = None
    ) -> Established:
        self.store.add_names(nova, self._names(name, identity))
        arcsec = None if separation is None else round(separation, 3)
        return Established(CandidateOutcome.EXISTS, nova.nova_id, arcsec)

    def _names(self, name: str, identity: Identity | None) -> list[Named]:
        return [Named(name, NameSource.USER_INPUT), *(named_by(identity) if identity else ())]

    def _new(self, identity: Identity, created_by: Mapping[str, str] | None) -> Nova:
        now = isoformat(self.store.clock())
        placed = identity.position is not None
        return Nova.of_json(
            {
                "nova_id": nova_id_for(identity.key),
                "primary_name": identity.main_name,
                "primary_name_normalized": normalize_name(identity.main_name),
                "ra_deg": identity.ra_deg,
                "dec_deg": identity.dec_deg,
                "coord_frame": "ICRS" if placed else None,
                "coord_epoch": "J2000" if placed else None,
                "identity": identity.key,
                "object_type": identity.object_type,
                "created_by": created_by,
                "created_at": now,
                "updated_at": now,
            }
        )


def prepare_nova(store: NovaStore, nova_id: str) -> Prepared:
    """Create the one photometry table of a nova if it is missing, before anything is ingested for it.

    Raises:
        NoSuchNova: if there is no active nova with this id.
    """
    nova = store.active(nova_id)
    now = store.clock()
    product_id = photometry_id_for(nova.nova_id)
    made = PhotometryTable(data_product_id=product_id, nova_id=nova.nova_id, created_at=now, updated_at=now)
    there = store.table.create(made.to_item(keys.photometry_table(nova.nova_id)))
    return Prepared(nova_id=nova.nova_id, photometry_table_created=there is None)


def ambiguous(name: str, novae: list[Nova]) -> Held:
    """Return the error for a name that several novae have."""
    shown = ", ".join(nova.primary_name for nova in novae[:10])
    return Held(
        QuarantineReason.AMBIGUOUS_NAME,
        f"{name!r} may be {shown}: say which one, or use a name that is one nova's alone",
        {"candidates": [{"nova_id": nova.nova_id, "primary_name": nova.primary_name} for nova in novae[:50]]},
    )


def approved(store: NovaStore, quarantine_id: str | None) -> QuarantineCase | None:
    """Return a quarantine that a person has cleared for a new try, or None if none is named.

    Raises:
        NotApproved: if it is not cleared: nothing leaves quarantine by itself.
    """
    if quarantine_id is None:
        return None
    item = store.table.get(keys.quarantined(quarantine_id), consistent=True)
    review = QuarantineCase.of_item(item) if item else None
    if review is None or review.manual_review_status not in {
        ReviewStatus.CLEARED_RETRY_APPROVED,
        ReviewStatus.MERGED,
    }:
        state = "there is none" if review is None else f"it is {review.manual_review_status.value}"
        raise NotApproved(f"quarantine {quarantine_id}: {state}; decide with POST /quarantine/{{id}}/review")
    return review


def _may_be_new(review: QuarantineCase | None) -> bool:
    return review is not None and review.reason_code in {
        QuarantineReason.COORDINATES_UNSURE,
        QuarantineReason.NAME_CONFLICT,
    }


def _ask_a_person(name: str, identity: Identity, review: QuarantineCase | None) -> None:
    """Raise Held for what a person has not decided yet."""
    decided = review.reason_code if review is not None else None
    if identity.kind is Kind.CANDIDATE and decided is not QuarantineReason.NOVA_CANDIDATE:
        raise Held(
            QuarantineReason.NOVA_CANDIDATE,
            f"{name!r} is only a candidate ({identity.object_type}) to {identity.archive}: "
            "say whether to take it",
            _facts(identity, []),
        )
    if identity.position is None and decided is not QuarantineReason.NO_COORDINATES:
        raise Held(
            QuarantineReason.NO_COORDINATES,
            f"{identity.archive} has no position of {name!r}, so it may be a known nova",
            _facts(identity, []),
        )


def _facts(identity: Identity, near: list[tuple[Nova, float]]) -> dict[str, object]:
    return {
        "identity": replace(identity, names=identity.names[:30]).to_json(),
        "candidates": [
            {
                "nova_id": nova.nova_id,
                "primary_name": nova.primary_name,
                "separation_arcsec": round(arcsec, 3),
            }
            for nova, arcsec in near
        ],
    }
