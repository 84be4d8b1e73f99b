"""Spectra that people hand in: files in our own bucket, each with a word on where it comes from.

A donation lies under ``raw/donations/spectra/<nova_id>/<sha256>/``: the file under its own name, and
``provenance.json``, which is written last and makes the donation one. Who hands it in says which nova it
shows, so no position is compared. An upload that was broken off has no provenance and is passed over.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sourcebook.bucket.objects import DocumentRefused, Objects
from sourcebook.bucket.stored import FITS
from sourcebook.clock import Clock, utc_now
from sourcebook.errors import InvalidInput, Retryable
from sourcebook.events import UtcDatetime
from sourcebook.inputs import Uuid
from sourcebook.novae.coordinates import Position
from sourcebook.novae.resolvers.archive import ArchiveStatus
from sourcebook.records.spectrum import Locator, LocatorKind
from sourcebook.schema import SHA256
from sourcebook.spectra.providers.provider import PRODUCTS_AT_MOST, FoundProduct, Search
from sourcebook.validation import first_wrong

PREFIX: Final = "raw/donations/spectra/"
"""Where donations lie in the bucket."""
PROVENANCE: Final = "provenance.json"
LARGEST: Final = 100_000_000
"""Bytes of a donated file; the largest one-dimensional spectra have a few million."""

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._+-]+")


class Provenance(BaseModel):
    """The origin of a donated file.

    Attributes:
        donor: who hands it in.
        observer: who took it, if that is somebody else.
        license: under what terms it may be used.
        note: anything else that helps to judge it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    nova_id: Uuid
    file_name: str = Field(min_length=1, max_length=120)
    byte_length: int = Field(ge=1, le=LARGEST)
    sha256: str = Field(pattern=f"^{SHA256}$")
    donor: str = Field(min_length=1, max_length=200)
    observer: str | None = Field(default=None, max_length=200)
    license: str | None = Field(default=None, max_length=200)
    note: str | None = Field(default=None, max_length=1_000)
    donated_at: UtcDatetime

    @property
    def key(self) -> str:
        """Key of the file in the bucket."""
        return f"{self.folder}{self.file_name}"

    @property
    def folder(self) -> str:
        """The prefix of the keys of the file and of its provenance."""
        return f"{PREFIX}{self.nova_id}/{self.sha256}/"

    def product(self) -> FoundProduct:
        """Return the product that the file is; its bytes are its identity."""
        provenance: dict[str, Any] = self.model_dump(
            mode="json", exclude_none=True, exclude={"nova_id", "byte_length", "sha256"}
        )
        return FoundProduct(
            locators=(Locator(kind=LocatorKind.S3, value=self.key),),
            provider_product_id=f"sha256:{self.sha256}",
            title=self.file_name,
            format="application/fits",
            byte_length=self.byte_length,
            sha256=self.sha256,
            provenance=provenance,
        )


@dataclass(frozen=True, slots=True)
class Donations:
    """The donations for one nova."""

    objects: Objects
    nova_id: str
    clock: Clock = utc_now

    async def search(self, position: Position, radius_deg: float) -> Search:  # noqa: ARG002 - the protocol's
        """Return what was handed in for the nova, wherever on the sky it is."""
        products: list[FoundProduct] = []
        left_out: Counter[str] = Counter()
        try:
            for key in self.objects.etags(f"{PREFIX}{self.nova_id}/"):
                if not key.endswith(f"/{PROVENANCE}"):
                    continue
                if len(products) >= PRODUCTS_AT_MOST:
                    return Search(ArchiveStatus.TRUNCATED, tuple(products), left_out)
                try:
                    products.append(read_provenance(self.objects.read_json(key), self.nova_id).product())
                except (InvalidInput, DocumentRefused):
                    left_out["unreadable"] += 1
        except Retryable as error:
            return Search(ArchiveStatus.DOWN, tuple(products), left_out, str(error))
        except DocumentRefused as error:
            return Search(ArchiveStatus.REJECTED, tuple(products), left_out, str(error))
        return Search(ArchiveStatus.OK, tuple(products), left_out)

    def give(self, file_name: str, body: bytes, **about: str | None) -> Provenance:
        """Put a file into the bucket as a donation; the same file is the same donation.

        Args:
            file_name: its name, of which only letters, digits and ``._+-`` are kept.
            body: its bytes.
            about: donor, and perhaps observer, license and note.

        Raises:
            InvalidInput: naming what is wrong with it.
            BucketBusy, DocumentRefused: if the bucket does not take it.
        """
        try:
            provenance = Provenance.model_validate(
                {
                    "nova_id": self.nova_id,
                    "file_name": plain_name(file_name),
                    "byte_length": len(body),
                    "sha256": hashlib.sha256(body).hexdigest(),
                    "donated_at": self.clock(),
                    **about,
                }
            )
        except ValidationError as error:
            raise first_wrong(error, "donation") from error
        self.objects.write(provenance.key, body, FITS)
        self.objects.write_json(
            f"{provenance.folder}{PROVENANCE}", provenance.model_dump(mode="json", exclude_none=True)
        )
        return provenance


def plain_name(file_name: str) -> str:
    """Return a file's name with only what every system takes: letters, digits and ``._+-``."""
    return _NOT_IN_A_NAME.sub("_", PurePath(file_name).name).strip("._")[-120:]


def read_provenance(document: object, nova_id: str) -> Provenance:
    """Read what lies beside a donated file.

    Raises:
        InvalidInput: naming what is wrong with it, also when it is another nova's.
    """
    if not isinstance(document, Mapping):
        raise InvalidInput(PROVENANCE, document, "an object")
    try:
        provenance = Provenance.model_validate(dict(document))
    except ValidationError as error:
        raise first_wrong(error, PROVENANCE) from error
    if provenance.nova_id != nova_id:
        raise InvalidInput("nova_id", provenance.nova_id, f"{nova_id}, as in the key")
    return provenance
