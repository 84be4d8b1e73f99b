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
from sourcebook.messages import plain
from sourcebook.records.base import View, shown_names
from sourcebook.records.product import FileObject, PhotometryTable, ProductType
from sourcebook.records.spectrum import SpectrumInShort, SpectrumProduct, ValidationStatus
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item
from sourcebook.table.pages import Listing, Page, bad_cursor, fill_page

SPECTRUM: Final = "spectrum.ecsv"
"""Name of the object that holds a normalized spectrum."""

_FILES_AT_MOST: Final = 200
_HELD_SPECTRA: Final = "quarantine/spectra/"
_LARGEST: Final = 60_000_000
"""Bytes of the largest spectrum and light curve that are read."""


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
        wanted = {"product_type": product_type, "provider": provider, "validation_status": validation_status}
        listing = Listing.of("nova-products", {"nova_id": nova_id, **wanted})
        start = None
        if cursor is not None:
            (sort_key,) = listing.position(cursor, parts=1)
            if not sort_key.startswith(keys.PRODUCT_PREFIX):
                raise bad_cursor(cursor)
            start = {"PK": nova_id, "SK": sort_key}
        products = KeyCondition("PK").eq(nova_id) & KeyCondition("SK").begins_with(keys.PRODUCT_PREFIX)

        def listed(item: Item) -> View | None:
            if any(value is not None and item.get(name) != value for name, value in wanted.items()):
                return None
            is_table = item["product_type"] == ProductType.PHOTOMETRY_TABLE
            return _shown((PhotometryTable if is_table else SpectrumInShort).of_item(item), SpectrumInShort)

        return fill_page(
            self.table.query_all(products, start=start, page_size=limit + 1),
            listing=listing,
            position=lambda item: (item["SK"],),
            load=lambda items: [listed(item) for item in items],
            limit=limit,
        )

    def get(self, nova_id: str, data_product_id: str) -> View | None:
        """Return a product with its files; None if the nova has none with this id."""
        product = self._find(nova_id, data_product_id)
        if product is None:
            return None
        prefix = keys.files_of(product.product_type, data_product_id)
        files = self.table.items_of(nova_id, prefix, most=_FILES_AT_MOST)
        shown = _shown(product, SpectrumProduct)
        return shown | {"files": [FileObject.of_item(file).shown() for file in files]}

    def valid_spectra(self, nova_id: str) -> Iterator[SpectrumProduct]:
        """Yield the valid spectra of a nova."""
        spectra = map(SpectrumProduct.of_item, self.table.items_of(nova_id, keys.SPECTRA_PREFIX))
        return (one for one in spectra if one.validation_status is ValidationStatus.VALID)

    def spectrum(self, nova_id: str, data_product_id: str, points: int) -> View | None:
        """Return the samples of a spectrum, in at most `points` of them; None if there is no such product.

        Raises:
            NothingToPlot: if it is no spectrum, or not a valid one.
        """
        spectrum = self._spectrum(nova_id, data_product_id)
        if spectrum is None:
            return None
        return {
            "nova_id": nova_id,
            "data_product_id": data_product_id,
            "provider": spectrum.provider,
            **downsample(self._text(spectrum), points),
        }

    def spectrum_csv(self, nova_id: str, data_product_id: str) -> str | None:
        """Return all samples of a spectrum as CSV; None if there is no such product.

        Raises:
            NothingToPlot: if it is no spectrum, or not a valid one.
        """
        spectrum = self._spectrum(nova_id, data_product_id)
        if spectrum is None:
            return None
        lines = self._text(spectrum).splitlines(keepends=True)
        return "".join(line for line in lines if not line.startswith("#"))

    def _text(self, spectrum: SpectrumProduct) -> str:
        return self._objects.read(_samples(spectrum), _LARGEST).body.decode()

    def link(self, nova_id: str, data_product_id: str, *, original: bool) -> SignedLink | None:
        """Return a link to the file of a spectrum; None if there is no such product.

        Args:
            nova_id: of the nova.
            data_product_id: of the spectrum.
            original: whether the file as it came from its archive is meant, or `SPECTRUM`.

        Raises:
            NothingToPlot: if it is no spectrum, or has no such file.
        """
        spectrum = self._spectrum(nova_id, data_product_id)
        if spectrum is None:
            return None
        key = spectrum.raw_s3_key if original else _samples(spectrum)
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

        table = self._table_of(nova_id)
        found = Selection((), 0, {})
        if table and table.points_s3_key:
            series = Series.read(self._objects.read(table.points_s3_key, _LARGEST).body)
            found = series.select(bands=bands, since=since, until=until, upper_limits=upper_limits, most=most)
        return {
            "nova_id": nova_id,
            "data_product_id": table.data_product_id if table else None,
            "table_rows": (table.row_count or 0) if table else 0,
            "ingestion_count": table.ingestion_count if table else 0,
            "last_ingestion_at": plain(table.last_ingestion_at) if table else None,
            "matched": found.matched,
            "bands": found.bands,
            "thinned": found.thinned,
            "items": list(found.points),
            "next_cursor": None,
        }

    def _table_of(self, nova_id: str) -> PhotometryTable | None:
        item = self.table.get(keys.photometry_table(nova_id))
        return PhotometryTable.of_item(item) if item else None

    def _spectrum(self, nova_id: str, data_product_id: str) -> SpectrumProduct | None:
        """Return a product that is a spectrum; None if there is no such product."""
        product = self._find(nova_id, data_product_id)
        if isinstance(product, PhotometryTable):
            raise NothingToPlot("It is a photometry table: GET /novae/{nova_id}/photometry gives its points.")
        return product

    def _find(self, nova_id: str, data_product_id: str) -> SpectrumProduct | PhotometryTable | None:
        table = self._table_of(nova_id)
        if table is not None and table.data_product_id == data_product_id:
            return table
        # Its provider is part of its key and not of its address; a nova has some hundred spectra at most.
        spectra = self.table.items_of(nova_id, keys.SPECTRA_PREFIX)
        found = (item for item in spectra if item["SK"].endswith(f"#{data_product_id}"))
        return next(map(SpectrumProduct.of_item, found), None)


def _samples(spectrum: SpectrumProduct) -> str:
    """Return the key of the samples of a spectrum."""
    if spectrum.validation_status is not ValidationStatus.VALID or not spectrum.derived_s3_prefix:
        raise NothingToPlot(f"Only a VALID spectrum has samples; this one is {spectrum.validation_status}.")
    return f"{spectrum.derived_s3_prefix}{SPECTRUM}"


def _shown(product: SpectrumInShort | PhotometryTable, whole: type[SpectrumInShort]) -> View:
    """Return what the API shows of a product: null is what products of its type do not have."""
    other = whole if isinstance(product, PhotometryTable) else PhotometryTable
    return dict.fromkeys(shown_names(other)) | product.shown()
