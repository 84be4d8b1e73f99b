"""Discovery of spectra: what the providers have on a nova becomes products that wait to be acquired.

A product is the same one as long as its provider's locator says so: LocatorAlias is the authority, and each
of its rows is written once, whoever comes first. A product's item is written after its aliases, so where an
item stands its aliases do too, and a discovery that was cut short is mended by the next.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from boto3.dynamodb.conditions import Attr

from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.errors import InvalidInput, Terminal
from sourcebook.novae.coordinates import Position
from sourcebook.novae.resolvers.archive import ArchiveRejected, ArchiveStatus, ArchiveUnavailable
from sourcebook.novae.store import NovaStore
from sourcebook.novae.whereabouts import find_product, root_of
from sourcebook.records.nova import Nova
from sourcebook.records.spectrum import (
    Eligibility,
    LocatorAlias,
    SpectrumProduct,
    ValidationStatus,
)
from sourcebook.spectra.messages import DiscoveryPlan, ProviderAnswered, ProviderToAsk
from sourcebook.spectra.products import data_product_id_for, eligible_attributes, spectrum_item
from sourcebook.spectra.providers.provider import FoundProduct, ProductIdentity, Search
from sourcebook.spectra.providers.registry import ProviderSpec, providers
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

    from sourcebook.spectra.providers.provider import Provider

_TITLE_LIMIT: Final = 500


class NoPosition(Terminal):
    """A nova without coordinates cannot be searched for."""


class Registered(StrEnum):
    """The outcome of one product that a provider has."""

    CREATED = "created"
    KNOWN = "known"
    UPDATED = "updated"
    RELEASED = "released"
    CLAIMED = "claimed"


@dataclass(frozen=True, slots=True)
class Registration:
    """The result of registering what a provider returned.

    Attributes:
        counts: products by `Registered`.
        left_out: entries that are no product of this nova, by the reason.
        eligible: the products that are new in the queue of what is to be acquired, and may be tried now.
    """

    counts: Mapping[Registered, int]
    left_out: Mapping[str, int]
    eligible: tuple[SpectrumProduct, ...]


def plan_discovery(store: NovaStore, nova_id: str) -> DiscoveryPlan:
    """Return the providers that are asked for a nova.

    Raises:
        NoSuchNova: if there is no active nova with this id.
        NoPosition: if it has no coordinates.
        InvalidInput: if the list of providers in the table is not one.
    """
    nova = store.active(nova_id)
    position_of(nova)
    asked = tuple(ProviderToAsk(provider=spec.provider) for spec in providers(store.table))
    return DiscoveryPlan(nova_id=nova.nova_id, providers=asked)


@dataclass(frozen=True, slots=True)
class SpectraDiscoverer:
    """Turns what one provider has into products.

    Attributes:
        logger: gets a line for each entry that is no product of this nova.
    """

    store: NovaStore
    logger: Logger | logging.Logger
    clock: Clock = utc_now

    async def discover(self, nova_id: str, spec: ProviderSpec, provider: Provider) -> ProviderAnswered:
        """Query a provider and register its products, also those that it returned before it failed.

        Raises:
            NoSuchNova, NoPosition: if there is nothing to ask for.
            ArchiveUnavailable: if it does not answer now.
            ArchiveRejected: if it refused the question.
        """
        nova = self.store.active(nova_id)
        search = await provider.search(position_of(nova), spec.radius_arcsec / 3600)
        registration = self.register(nova, spec.provider, search)
        answered = ProviderAnswered(
            provider=spec.provider,
            status=search.status.value,
            found=len(search.products),
            **{outcome.value: registration.counts[outcome] for outcome in Registered},
            left_out=dict(sorted(registration.left_out.items())),
            eligible=len(registration.eligible),
        )
        self.logger.info("provider_answered", extra={"counts": answered.to_json()})
        if search.status is ArchiveStatus.REJECTED:
            raise ArchiveRejected(spec.provider, search.detail)
        if search.status in {ArchiveStatus.RATE_LIMITED, ArchiveStatus.DOWN}:
            raise ArchiveUnavailable(spec.provider, search.detail, search.status, search.retry_after)
        return answered

    def register(self, nova: Nova, provider: str, search: Search) -> Registration:
        """Register the products that a provider returned for a nova.

        Raises:
            TableBusy: if the table cannot take them now; doing it again is harmless.
        """
        mine = self._products(nova.nova_id, provider)
        counts = Counter(dict.fromkeys(Registered, 0))
        left_out = Counter(search.left_out)
        eligible: list[SpectrumProduct] = []
        seen: set[str] = set()
        for found in search.products:
            try:
                identities = found.identities()
                if identities[0].text in seen:
                    left_out["repeated"] += 1
                    continue
                seen.add(identities[0].text)
                outcome, product = self._register(nova, provider, found, identities, mine)
            except InvalidInput as error:
                # One entry that is no product must not lose the others.
                left_out["unreadable"] += 1
                self.logger.warning("product_left_out", extra={"provider": provider, "reason": str(error)})
                continue
            counts[outcome] += 1
            if product is not None:
                eligible.append(product)
        now = self.clock()
        due = tuple(product for product in eligible if may_be_tried(product, now))
        return Registration(counts, left_out, due)

    def _register(
        self,
        nova: Nova,
        provider: str,
        found: FoundProduct,
        identities: Sequence[ProductIdentity],
        mine: Mapping[str, SpectrumProduct],
    ) -> tuple[Registered, SpectrumProduct | None]:
        """Return what became of a product, and the product itself if it is now to be acquired."""
        best = identities[0]
        own_id = data_product_id_for(provider, best.text)
        if own_id in mine:
            return self._meet_again(mine[own_id], found)
        aliases = {identity: self._alias(provider, identity) for identity in identities}
        alias = self._same(best, aliases)
        if alias is None:
            now = self.clock()
            alias = LocatorAlias(
                provider=provider,
                locator_identity=best.text,
                data_product_id=own_id,
                nova_id=nova.nova_id,
                identity_kind=best.kind,
                created_at=now,
                updated_at=now,
            ).checked()
            # An entry that cannot be a product must not leave an alias that leads nowhere.
            self._product(nova, found, alias)
            alias = self._write(alias)
        known = mine.get(alias.data_product_id)
        if known is None and not self._is_of(alias, nova.nova_id):
            self.logger.warning(
                "product_of_another_nova",
                extra={"provider": provider, "identity": best.text, "other_nova_id": alias.nova_id},
            )
            return Registered.CLAIMED, None
        for identity, written in aliases.items():
            if written is None and identity.text != alias.locator_identity:
                now = self.clock()
                another = replace(alias, locator_identity=identity.text, nova_id=nova.nova_id)
                self._write(replace(another, created_at=now, updated_at=now).checked())
        if known is not None:
            return self._meet_again(known, found)
        product = self._product(nova, found, alias)
        there = self.store.table.create(spectrum_item(product))
        if there is not None:
            # Another discovery has made it since we looked.
            return self._meet_again(SpectrumProduct.of_json(there), found)
        return Registered.CREATED, product if product.eligibility is Eligibility.ACQUIRE else None

    def _is_of(self, alias: LocatorAlias, nova_id: str) -> bool:
        """Whether what an alias leads to is, or may be made, a product of this nova.

        An alias that was made for a nova which is merged into this one leads here, unless its product still
        stands elsewhere: it is just being moved, or was found by the other nova after both were split.
        """
        if root_of(self.store.table, alias.nova_id) != nova_id:
            return False
        there = find_product(self.store.table, alias.nova_id, alias.provider, alias.data_product_id)
        return there is None or there["PK"] == nova_id

    def _same(
        self, best: ProductIdentity, aliases: Mapping[ProductIdentity, LocatorAlias | None]
    ) -> LocatorAlias | None:
        """Return the alias that says which product this is.

        A weaker identity counts only for a product that was made from an identity of another kind: two native
        ids are two products, even where the provider gives both the same address.
        """
        for identity, alias in aliases.items():
            if alias is not None and (identity == best or alias.identity_kind is not best.kind):
                return alias
        return None

    def _meet_again(
        self, known: SpectrumProduct, found: FoundProduct
    ) -> tuple[Registered, SpectrumProduct | None]:
        if known.validation_status is not ValidationStatus.UNVALIDATED or known.duplicate_of is not None:
            return Registered.KNOWN, None
        now = self.clock()
        changed: dict[str, object] = {}
        if known.locators != found.locators:
            changed["locators"] = [locator.to_json() for locator in found.locators]
        # Once it has been tried, the cooldown alone says when the next time is.
        released = (
            known.auth_required
            and not found.auth_required
            and known.attempt_count == 0
            and not may_be_tried(known, now)
        )
        if not changed and not released:
            return Registered.KNOWN, None
        if released:
            changed |= {
                "auth_required": False,
                "eligibility": Eligibility.ACQUIRE.value,
                "next_eligible_attempt_at": isoformat(now),
                **eligible_attributes(known, now),
            }
        try:
            item = self.store.table.update(
                known.key,
                assign={**changed, "updated_at": isoformat(now)},
                condition=Attr("validation_status").eq(ValidationStatus.UNVALIDATED.value)
                & Attr("eligibility").eq(known.eligibility.value)
                & Attr("attempt_count").eq(known.attempt_count),
            )
        except ConditionFailed:
            return Registered.KNOWN, None  # it has been acquired, or released, since we looked
        if not released:
            return Registered.UPDATED, None
        return Registered.RELEASED, SpectrumProduct.of_item(item)

    def _product(self, nova: Nova, found: FoundProduct, alias: LocatorAlias) -> SpectrumProduct:
        """Return the product that an alias leads to. Raise InvalidInput if it cannot be one."""
        now = self.clock()
        waits = found.auth_required
        until = found.release_date if waits and found.release_date and found.release_date > now else None
        return SpectrumProduct(
            nova_id=nova.nova_id,
            data_product_id=alias.data_product_id,
            provider=alias.provider,
            locator_identity=alias.locator_identity,
            identity_kind=alias.identity_kind,
            locators=found.locators,
            provider_product_id=found.provider_product_id,
            title=found.title[:_TITLE_LIMIT] if found.title else None,
            collection=found.collection,
            format=found.format,
            hints=dict(found.hints),
            provenance=found.provenance,
            expected_byte_length=found.byte_length,
            expected_sha256=found.sha256,
            release_date=found.release_date,
            auth_required=found.auth_required,
            # What is not public yet waits for its day, or, when nobody says which, until a later discovery
            # finds it public.
            eligibility=Eligibility.NONE if waits and until is None else Eligibility.ACQUIRE,
            next_eligible_attempt_at=until,
            created_at=now,
            updated_at=now,
        ).checked()

    def _products(self, nova_id: str, provider: str) -> dict[str, SpectrumProduct]:
        products: dict[str, SpectrumProduct] = {}
        for item in self.store.table.items_of(nova_id, f"{keys.SPECTRA_PREFIX}{provider}#", consistent=True):
            try:
                product = SpectrumProduct.of_json(item)
            except InvalidInput as error:
                self.logger.warning(
                    "product_unreadable", extra={"sort_key": item["SK"], "reason": str(error)}
                )
                continue
            products[product.data_product_id] = product
        return products

    def _alias(self, provider: str, identity: ProductIdentity) -> LocatorAlias | None:
        found = self.store.table.items_of(keys.locator_aliases(provider, identity.text), consistent=True)
        rows = map(LocatorAlias.of_item, found)
        return min(rows, key=lambda row: (row.created_at, row.data_product_id), default=None)

    def _write(self, alias: LocatorAlias) -> LocatorAlias:
        """Write an alias if there is none; return the one in the table."""
        key = keys.locator_alias(alias.provider, alias.locator_identity, alias.data_product_id)
        there = self.store.table.create(alias.to_item(key))
        return alias if there is None else LocatorAlias.of_item(there)


def position_of(nova: Nova) -> Position:
    """Return where a nova is.

    Raises:
        NoPosition: if it has no coordinates.
    """
    position = Position.of(nova)
    if position is None:
        raise NoPosition(
            f"nova_id {nova.nova_id}: it has no coordinates, so no archive can be searched for it; spectra "
            "can be handed in with `sourcebook donate`"
        )
    return position


def may_be_tried(product: SpectrumProduct, now: datetime) -> bool:
    """Whether a product may be acquired now."""
    due = product.next_eligible_attempt_at
    return product.eligibility is Eligibility.ACQUIRE and (due is None or due <= now)
