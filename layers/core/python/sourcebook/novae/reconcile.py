"""Compare a nova's names with those of the authorities."""

from __future__ import annotations

from collections.abc import Sequence

from sourcebook.errors import Retryable
from sourcebook.novae.coordinates import SAME_WITHIN, Position, separation_arcsec
from sourcebook.novae.messages import AuthorityAnswer, NameOutcome, Reconciled
from sourcebook.novae.names import display_name
from sourcebook.novae.resolvers.identity import Identity
from sourcebook.novae.store import NovaStore, named_by
from sourcebook.records.nova import NameSource, Nova
from sourcebook.records.quarantine import QuarantineReason
from sourcebook.runs.errors import Held


class NoAuthorityAnswered(Retryable):
    """None of the authorities could be asked."""


def reconcile(store: NovaStore, nova_id: str, answers: Sequence[AuthorityAnswer]) -> Reconciled:
    """Add the names that the authorities have and this nova has not, and take over SIMBAD's primary one.

    Raises:
        Held: if an authority means another place by the name, or gives a name that another nova has.
        NoAuthorityAnswered: if there is not one answer.
        NoSuchNova: if there is no active nova with this id.
    """
    nova = store.active(nova_id)
    answered = [answer for answer in answers if answer.status == "OK"]
    if not answered:
        raise NoAuthorityAnswered(
            "no authority could be asked: " + ", ".join(answer.authority for answer in answers)
        )
    known = [answer.identity for answer in answered if answer.identity is not None]
    for identity in known:
        _check(store, nova, identity)
    added = 0
    for identity in known:
        added += store.add_names(nova, named_by(identity))
    renamed = False
    chosen = next((identity for identity in known if identity.archive == "simbad"), None)
    if chosen is not None:
        renamed = store.rename(nova, chosen.main_name, NameSource.SIMBAD)
    return Reconciled(
        outcome=NameOutcome.UPDATED if added or renamed else NameOutcome.NO_CHANGE,
        names_added=added,
        primary_name=display_name(chosen.main_name) if chosen and renamed else nova.primary_name,
        authorities=tuple(answer.authority for answer in answered),
    )


def _check(store: NovaStore, nova: Nova, identity: Identity) -> None:
    if (position := Position.of(nova)) is not None and identity.position is not None:
        arcsec = separation_arcsec(position, identity.position)
        if arcsec >= SAME_WITHIN:
            raise Held(
                QuarantineReason.COORDINATES_UNSURE,
                f"{identity.archive} has {identity.main_name} {arcsec:.1f}″ from where "
                f"{nova.primary_name} is: say which is right",
                {"identity": identity.to_json(), "separation_arcsec": round(arcsec, 3)},
            )
    for name, novae in store.bearers(identity.all_names):
        others = [other for other in novae if other.nova_id != nova.nova_id]
        if others:
            raise Held(
                QuarantineReason.NAME_CONFLICT,
                f"{identity.archive} gives {nova.primary_name} the name {name!r}, "
                f"which is {others[0].primary_name}'s",
                {"name": name, "candidates": [other.nova_id for other in others]},
            )
