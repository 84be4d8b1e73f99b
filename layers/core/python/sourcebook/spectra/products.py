"""Where spectra stand in the indexes of what is to be acquired; their ids and the names of their runs."""

from __future__ import annotations

import re
import uuid
from datetime import datetime
from typing import Final

from sourcebook.clock import isoformat
from sourcebook.errors import InvalidInput
from sourcebook.novae.model import NAMESPACE
from sourcebook.records.spectrum import Eligibility, SpectrumProduct
from sourcebook.table import keys
from sourcebook.table.codec import Item

SPECTRA: Final = "SPECTRA"
DONATION: Final = "DONATION"
"""The provider of what people hand in; its files lie in our own bucket."""
ELIGIBLE_STATUS: Final = "ACQUIRE"
"""Value of `status`, under which by_status lists what may be acquired, by the time from which it may."""
INDEX_ATTRIBUTES: Final = ("GSI1PK", "GSI1SK", "status", "timestamp")
"""What a product loses when it is no longer to be acquired: removed, never null."""


def spectrum_item(product: SpectrumProduct) -> Item:
    """Return the item of a spectrum, with its index attributes while it is to be acquired."""
    indexed = eligible_attributes(product) if product.eligibility is Eligibility.ACQUIRE else {}
    return {**product.to_item(product.key), **indexed}


def eligible_attributes(product: SpectrumProduct, due_at: datetime | None = None) -> Item:
    """Return what puts a spectrum into the two indexes of what is to be acquired.

    `due_at` is the time from which it may be tried; without one its `next_eligible_attempt_at`, and without
    that the time at which it was made.
    """
    due = due_at or product.next_eligible_attempt_at or product.created_at
    return {
        **keys.eligible_spectrum(product.nova_id, product.provider, product.data_product_id),
        "status": ELIGIBLE_STATUS,
        "timestamp": isoformat(due),
    }


def acquisition_name(product: SpectrumProduct) -> str:
    """Return the name of the execution that acquires a spectrum: one for each time that it is due.

    Step Functions takes a name once, so that whoever else comes upon the same spectrum starts it no second
    time; the sweep's names are the same.
    """
    return run_name(product.data_product_id, product.attempt_count, eligible_attributes(product)["timestamp"])


def run_name(data_product_id: str, attempts: int, due_at: str) -> str:
    """Return the same of a spectrum's id, how often it was tried, and when it is due."""
    return f"{data_product_id}-{attempts}-{re.sub('[-:]', '', due_at)}"


def data_product_id_for(provider: str, locator_identity: str) -> str:
    """Return the id of a provider's product: the same for whoever discovers it, however often."""
    return str(uuid.uuid5(NAMESPACE, f"spectrum:{provider}:{locator_identity}"))


_SORT_KEY = re.compile(
    rf"{re.escape(keys.SPECTRA_PREFIX)}(?P<provider>[^#]+)#(?P<data_product_id>[0-9a-f-]{{36}})"
)


def read_spectrum_sort_key(sort_key: str) -> tuple[str, str]:
    """Return provider and data_product_id of a spectrum's SK, which by_status gives beside the nova's id.

    Raises:
        InvalidInput: if it is another item's.
    """
    found = _SORT_KEY.fullmatch(sort_key)
    if found is None:
        raise InvalidInput("SK", sort_key, f"{keys.SPECTRA_PREFIX}<provider>#<data_product_id>")
    return found["provider"], found["data_product_id"]
