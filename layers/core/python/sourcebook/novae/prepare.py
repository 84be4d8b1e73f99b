"""What a new nova needs before anything can be ingested for it."""

from __future__ import annotations

from dataclasses import dataclass

from sourcebook.clock import Clock, utc_now
from sourcebook.novae.messages import Prepared
from sourcebook.novae.model import photometry_id_for
from sourcebook.novae.store import NovaStore
from sourcebook.records.product import PhotometryTable
from sourcebook.table import keys


@dataclass(frozen=True, slots=True)
class NovaPreparer:
    """Makes sure that an active nova has its one photometry table."""

    store: NovaStore
    clock: Clock = utc_now

    def prepare(self, nova_id: str) -> Prepared:
        """Create the photometry table of a nova if it is missing.

        Raises:
            NoSuchNova: if there is no active nova with this id.
        """
        nova = self.store.active(nova_id)
        now = self.clock()
        item = PhotometryTable(
            data_product_id=photometry_id_for(nova.nova_id),
            nova_id=nova.nova_id,
            created_at=now,
            updated_at=now,
        )
        there = self.store.table.create(item.to_item(keys.photometry_table(nova.nova_id)))
        return Prepared(nova_id=nova.nova_id, photometry_table_created=there is None)
