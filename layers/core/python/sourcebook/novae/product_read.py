"""Data products as they are served: what is known of spectra and photometry tables, and their numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.bucket.objects import Beginning, Objects, SignedLink
from sourcebook.errors import Terminal
from sourcebook.fits.points import downsample
from sourcebook.records.base import View, shown_names
from sourcebook.records.product import FileObject, PhotometryTable, ProductType
from sourcebook.records.spectrum import SpectrumInShort, SpectrumProduct, ValidationStatus
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item
from sourcebook.table.pages import Listing, Page, bad_cursor, fill_page, walk

SPECTRUM: Final = "spectrum.ecsv"
"""Name of the object that holds a normalized spectrum."""

_FILES_AT_MOST: Final = 200
_HELD_SPECTRA: Final = "quarantine/spectra/"
_LARGEST_SPECTRUM: Final = 60_000_000
_LARGEST_SERIES: Final = 60_000_000


class NothingToPlot(Terminal):
    """A product has no spectrum that could be given."""


@dataclass(frozen=True)
class ProductReader:
    """Reads the data products of novae.

    Attributes:
        connect: returns the bucket; called when the first object is read, since most requests read none.
    """

    table: Table
    connect: Callable[[], Objects] = field(repr=False)

    @cached_property
    def _objects(self) -> Objects:
        return self.connect()

    def page(
        self,
        nova_id: str,
        *,
        product_type: str | None = None,
        provider: str | None = None,
        validation_status: str | None = None,
        limit: int,
        cursor: str | None = None,
    ) -> Page[View]:
        """Return one page of a nova's products: its photometry table, then its spectra by provider.

        Raises:
            InvalidInput: if the cursor is not one of this list.
        """
        wanted = {
            "product_type": product_type,
            "provider": provider,
            "validation_status": validation_status,
        }
        listing = Listing.of("nova-products", {"nova_id": nova_id, **wanted})
        start = None
        if cursor is not None:
            (sort_key,) = listing.position(cursor, parts=1)
            if not sort_key.startswith(keys.PRODUCT_PREFIX):
                raise bad_cursor(cursor)
            start = {"PK": nova_id, "SK": sort_key}
        products = KeyCondition("PK").eq(nova_id) & KeyCondition("SK").begins_with(keys.PRODUCT_PREFIX)

        def load(items: list[Item]) -> list[View | None]:
            return [
                _shown(item, SpectrumInShort)
                if all(value is None or item.get(name) == value for name, value in wanted.items())
                else None
                for item in items
            ]

        return fill_page(
            walk(self.table, products, start=start, page_size=limit + 1),
            listing=listing,
            position=lambda item: (item["SK"],),
            load=load,
            limit=limit,
        )

    def get(self, nova_id: str, data_product_id: str) -> View | None:
        """Return a product with its files; None if the nova has none with this id."""
        item = self._find(nova_id, data_product_id)
        if item is None:
            return None
        prefix = keys.files_of(item["product_type"], data_product_id)
        own = KeyCondition("PK").eq(nova_id) & KeyCondition("SK").begins_with(prefix)
        files = [FileObject.of_item(row).shown() for row in self.table.query_all(own, most=_FILES_AT_MOST)]
        return _shown(item, SpectrumProduct) | {"files": files}

    def valid_spectra(self, nova_id: str) -> Iterator[Item]:
        """Yield the items of the valid spectra of a nova."""
        own = KeyCondition("PK").eq(nova_id) & KeyCondition("SK").begins_with(keys.SPECTRA_PREFIX)
        return (
            item
            for item in self.table.query_all(own)
            if item.get("validation_status") == ValidationStatus.VALID
        )

    def spectrum(self, nova_id: str, data_product_id: str, points: int) -> View | None:
        """Return the samples of a spectrum, in at most `points` of them; None if there is no such product.

        Raises:
            NothingToPlot: if it is no spectrum, or not a valid one.
        """
        item = self._find(nova_id, data_product_id)
        if item is None:
            return None
        text = self._objects.read(_samples(item), _LARGEST_SPECTRUM).body.decode()
        return {
            "nova_id": nova_id,
            "data_product_id": data_product_id,
            "provider": item.get("provider"),
            **downsample(text, points),
        }

    def spectrum_csv(self, nova_id: str, data_product_id: str) -> str | None:
        """Return all samples of a spectrum as CSV; None if there is no such product.

        Raises:
            NothingToPlot: if it is no spectrum, or not a valid one.
        """
        item = self._find(nova_id, data_product_id)
        if item is None:
            return None
        text = self._objects.read(_samples(item), _LARGEST_SPECTRUM).body.decode()
        return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))

    def link(self, nova_id: str, data_product_id: str, *, original: bool) -> SignedLink | None:
        """Return a link to the file of a spectrum; None if there is no such product.

        Args:
            nova_id: of the nova.
            data_product_id: of the spectrum.
            original: whether the file as it came from its archive is meant, or `SPECTRUM`.

        Raises:
            NothingToPlot: if it is no spectrum, or has no such file.
        """
        item = self._find(nova_id, data_product_id)
        if item is None:
            return None
        key = item.get("raw_s3_key") if original else _samples(item)
        if not key:
            raise NothingToPlot(
                "The original of this product was not acquired; `acquisition_status` says why."
            )
        ending = re.search(r"\.(?:fits?|fz)(?:\.(?:gz|fz))?$", key, re.ASCII | re.IGNORECASE)
        suffix = (ending[0].lower() if ending else ".fits") if original else ".ecsv"
        return self._objects.signed_link(key, f"{data_product_id}{suffix}")

    def held_file(self, quarantine_id: str, most: int) -> Beginning | None:
        """Return what the file of a quarantined spectrum begins with; None if there is no such case.

        Raises:
            NothingToPlot: if the case is about no file.
        """
        case = self.table.get(keys.quarantined(quarantine_id)) if quarantine_id else None
        if case is None:
            return None
        folder = str(case.get("context_s3_key") or "").rpartition("/")[0]
        if not folder.startswith(_HELD_SPECTRA):
            raise NothingToPlot("This case is about no file.")
        return self._objects.beginning(f"{folder}/primary.fits", most)

    def photometry(
        self,
        nova_id: str,
        *,
        bands: Collection[str] | None = None,
        since: float | None = None,
        until: float | None = None,
        upper_limits: bool = True,
        most: int,
    ) -> View:
        """Return the points of a nova's light curve; see `sourcebook.lightcurves.series.Series.select`."""
        # Here, because the API would load it at each start, 4 ms, and seldom needs it.
        from sourcebook.lightcurves.series import Selection, Series  # noqa: PLC0415

        item = self.table.get(keys.photometry_table(nova_id)) or {}
        key = item.get("points_s3_key")
        found = Selection((), 0, {})
        if key:
            series = Series.read(self._objects.read(key, _LARGEST_SERIES).body)
            found = series.select(bands=bands, since=since, until=until, upper_limits=upper_limits, most=most)
        return {
            "nova_id": nova_id,
            "data_product_id": item.get("data_product_id"),
            "table_rows": item.get("row_count", 0),
            "ingestion_count": item.get("ingestion_count", 0),
            "last_ingestion_at": item.get("last_ingestion_at"),
            "matched": found.matched,
            "bands": found.bands,
            "thinned": found.thinned,
            "items": list(found.points),
            "next_cursor": None,
        }

    def _find(self, nova_id: str, data_product_id: str) -> Item | None:
        table = self.table.get(keys.photometry_table(nova_id))
        if table is not None and table.get("data_product_id") == data_product_id:
            return table
        spectra = KeyCondition("PK").eq(nova_id) & KeyCondition("SK").begins_with(keys.SPECTRA_PREFIX)
        # Its provider is part of its key and not of its address; a nova has some hundred spectra at most.
        ending = f"#{data_product_id}"
        return next((item for item in self.table.query_all(spectra) if item["SK"].endswith(ending)), None)


def _samples(item: Item) -> str:
    """Return the key of the samples of a spectrum."""
    if item["product_type"] != ProductType.SPECTRA:
        raise NothingToPlot("It is a photometry table: GET /novae/{nova_id}/photometry gives its points.")
    prefix = item.get("derived_s3_prefix")
    if item.get("validation_status") != ValidationStatus.VALID or not prefix:
        raise NothingToPlot(
            f"Only a VALID spectrum has samples; this one is {item.get('validation_status')}."
        )
    return f"{prefix}{SPECTRUM}"


def _shown(item: Item, whole: type[SpectrumInShort]) -> View:
    """Return what the API shows of a product: null is what products of its type do not have."""
    is_table = item["product_type"] == ProductType.PHOTOMETRY_TABLE
    kind, other = (PhotometryTable, whole) if is_table else (whole, PhotometryTable)
    return dict.fromkeys(shown_names(other)) | kind.of_item(item).shown()
