"""Download the file of a spectrum from its provider into the bucket.

A refusal by the provider, a rate limit or a wrong file is an answer of the task and no error. Only what a
second request within seconds may mend is raised, so that the state machine retries at once. For everything
else `record_spectrum` decides when the spectrum is tried again.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO, Final

from sourcebook.bucket.objects import Objects, ObjectTooLarge, measured
from sourcebook.bucket.stored import FITS, LARGEST_FILE
from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.errors import InvalidInput, Retryable
from sourcebook.http.client import HttpClient
from sourcebook.http.errors import FetchCause, FetchError, fetch_error
from sourcebook.http.policy import HttpPolicy, parse_networks
from sourcebook.http.response import HttpResponse, error_for
from sourcebook.http.urls import redact_url
from sourcebook.messages import Json
from sourcebook.records.spectrum import Locator, LocatorKind, LocatorRole, SpectrumProduct, ValidationStatus
from sourcebook.runs.errors import Held, short_message
from sourcebook.runs.tasks import TaskRun
from sourcebook.spectra.fingerprints import Fingerprints
from sourcebook.spectra.load import about, find_spectrum
from sourcebook.spectra.messages import (
    Acquired,
    AcquireSpectrum,
    Acquisition,
    AlreadyValid,
    Doubt,
    Duplicate,
    Failure,
    FailureKind,
    NotAcquired,
    Unsure,
)
from sourcebook.spectra.unpack import ArchiveRefused, ArchiveTooLarge, DamagedArchive, scratch, unpack
from sourcebook.table.client import Table

DONATIONS: Final = "raw/donations/"
"""Prefix of the keys of donated files. An S3 locator outside of it is refused."""

# Seconds after which no further place is asked: each may take the two minutes of `acquisition_policy`.
_TIME_FOR_MIRRORS: Final = 90.0
# Damage on the way: what comes next time may be whole.
_DAMAGED: Final = frozenset({FetchCause.DECODE_ERROR, FetchCause.PROTOCOL_ERROR})
_WRONG_ARCHIVES: Final = {
    DamagedArchive: "damaged_archive",
    ArchiveTooLarge: "too_large",
    ArchiveRefused: "no_spectrum_in_archive",
}
_NOTED_HEADERS: Final = tuple("content-type content-length content-encoding last-modified etag date".split())


class AcquisitionFailed(Retryable):
    """A provider did not send the file, and may do so within seconds."""


class _NotAcquired(Exception):
    """A locator gave no file.

    Attributes:
        at_once: whether it may be better in a few seconds.
    """

    def __init__(self, failure: Failure, *, at_once: bool = False) -> None:
        self.failure = failure
        self.at_once = at_once
        super().__init__(failure.message)


@dataclass(frozen=True, slots=True)
class _Body:
    """The file as it was received, with the facts of the response."""

    file: IO[bytes]
    byte_length: int
    sha256: str
    described: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Acquirer:
    """Downloads the files of spectra.

    Attributes:
        http: the project's client, made with `acquisition_policy`.
        largest: bytes of a file, as it comes and unpacked.
    """

    table: Table
    objects: Objects
    http: HttpClient
    clock: Clock = utc_now
    largest: int = LARGEST_FILE
    monotonic: Callable[[], float] = time.monotonic

    async def acquire(self, request: AcquireSpectrum, run: TaskRun) -> Acquisition:
        """Download the file of a spectrum, unpack it and put it into the bucket.

        Raises:
            AcquisitionFailed: if the provider may do better in a few seconds.
            NoSuchSpectrum: if there is no such spectrum.
            BucketBusy: if the bucket does not take the file now.
            DocumentRefused: if it never will.
        """
        product = find_spectrum(self.table, request.nova_id, request.data_product_id, request.provider)
        if product.validation_status is ValidationStatus.VALID:
            # What is valid stays as it is, also when this task comes late.
            return AlreadyValid()
        if product.overrides and product.sha256 and product.raw_s3_key:
            # A reviewer has judged these very bytes.
            return Acquired(
                key=product.raw_s3_key,
                byte_length=product.byte_length or 0,
                etag=product.etag or "",
                sha256=product.sha256,
                spectrum=about(product),
            )
        failed: list[_NotAcquired] = []
        begun = self.monotonic()
        for locator in sorted(product.locators, key=lambda one: one.role is not LocatorRole.PRIMARY):
            if failed and self.monotonic() - begun > _TIME_FOR_MIRRORS:
                waits = "a mirror is asked another time: the first place took all there was"
                failed.append(_not_acquired(FailureKind.RETRYABLE, "out_of_time", "OutOfTime", waits))
                break
            with ExitStack() as open_files:
                try:
                    body = await self._fetch(locator, product, open_files)
                    return self._keep(product, locator, body, open_files, run)
                except _NotAcquired as error:
                    failed.append(error)
                except Held as unsure:
                    doubt = Doubt(
                        reason_code=unsure.reason_code, message=short_message(unsure), context=unsure.context
                    )
                    return Unsure(unsure=doubt, spectrum=about(product))
        # One place that may have the file some day is hope enough, whatever the others say.
        likeliest = next((one for one in failed if one.failure.kind is FailureKind.RETRYABLE), failed[0])
        if likeliest.at_once:
            raise AcquisitionFailed(f"{likeliest.failure.reason}: {likeliest.failure.message}") from likeliest
        return NotAcquired(failure=likeliest.failure)

    async def _fetch(self, locator: Locator, product: SpectrumProduct, open_files: ExitStack) -> _Body:
        file = scratch(open_files)
        if locator.kind is LocatorKind.URL:
            return await self._download(locator.value, file)
        if locator.kind is LocatorKind.S3 and locator.value.startswith(DONATIONS):
            try:
                self.objects.copy_to(locator.value, file, self.largest)
            except ObjectTooLarge as error:
                message = short_message(error)
                raise _not_acquired(FailureKind.TERMINAL, "too_large", "ObjectTooLarge", message) from error
            return _Body(file, *measured(file), {"key": locator.value})
        raise _not_acquired(
            FailureKind.TERMINAL,
            "no_such_locator",
            "InvalidInput",
            f"a locator of kind {locator.kind.value} leads to no file: an address, or a key under "
            f"{DONATIONS}, does ({product.provider})",
        )

    async def _download(self, url: str, file: IO[bytes]) -> _Body:
        try:
            response = await self.http.download(
                url, file, headers={"Accept": "application/fits, */*;q=0.5"}, max_bytes=self.largest
            )
        except FetchError as error:
            raise _fetch_failed(error, at_once=True) from error
        if not response.is_success:
            raise _fetch_failed(_error_of(response), at_once=response.retry_after is None)
        described: Mapping[str, Json] = {
            "url": redact_url(response.url),
            "redirects": len(response.redirects),
            "status": response.status,
            "received_at": isoformat(response.received_at),
            "headers": {
                name: response.headers[name][:200] for name in _NOTED_HEADERS if name in response.headers
            },
        }
        return _Body(file, response.received, response.sha256, described)

    def _keep(
        self, product: SpectrumProduct, locator: Locator, body: _Body, open_files: ExitStack, run: TaskRun
    ) -> Acquired | Duplicate:
        member = (product.overrides or {}).get("member")
        try:
            file, unpacked = unpack(body.file, open_files, largest=self.largest, member=member)
        except (DamagedArchive, ArchiveTooLarge, ArchiveRefused) as error:
            # Another download may be whole; what was handed in stays as it is.
            is_final = not isinstance(error, DamagedArchive) or locator.kind is LocatorKind.S3
            kind = FailureKind.TERMINAL if is_final else FailureKind.RETRYABLE
            reason, message = _WRONG_ARCHIVES[type(error)], short_message(error)
            raise _not_acquired(kind, reason, type(error).__name__, message, body.sha256) from error
        length, sha256 = measured(file)
        _check_announced(product, {length, body.byte_length}, {sha256, body.sha256}, body.sha256)
        fingerprints = Fingerprints(self.table, self.clock)
        if (owner := fingerprints.valid_owner(sha256, product.data_product_id)) is not None:
            return Duplicate(duplicate_of=owner, byte_length=length, sha256=sha256)
        folder = f"raw/spectra/{product.nova_id}/{product.data_product_id}/"
        stored = self.objects.write(f"{folder}primary.fits", file, FITS)
        source: Mapping[str, object] = {
            "nova_id": product.nova_id,
            "data_product_id": product.data_product_id,
            "provider": product.provider,
            "locator_identity": product.locator_identity,
            "locator_kind": locator.kind.value,
            "locator_role": locator.role.value,
            "answer": dict(body.described),
            "received": {"byte_length": body.byte_length, "sha256": body.sha256},
            "unpacked": list(unpacked),
            "byte_length": length,
            "sha256": sha256,
            "acquired_at": isoformat(self.clock()),
            "acquired_by": {"workflow": run.workflow_name, "job_run_id": run.job_run_id},
            **({"provenance": dict(product.provenance)} if product.provenance else {}),
        }
        text = json.dumps(source, ensure_ascii=False, indent=1).encode()
        noted = self.objects.write(f"{folder}source.json", text, "application/json")
        fingerprints.note(product, sha256)
        return Acquired(
            key=stored.key,
            byte_length=length,
            etag=stored.etag,
            sha256=sha256,
            source=noted,
            spectrum=about(product),
        )


def acquisition_policy(environ: Mapping[str, str] = os.environ) -> HttpPolicy:
    """Return the policy of downloads: one at a time, with long time limits, at most `LARGEST_FILE` bytes.

    ``SPECTRA_SILENCE`` of the environment is the read timeout in seconds.

    Raises:
        InvalidInput: if that, HTTP_ALLOWED_NETWORKS or HTTP_CONTACT of the environment is not valid.
    """
    text = environ.get("SPECTRA_SILENCE", "30")
    try:
        silence = float(text)
    except ValueError as error:
        raise InvalidInput("SPECTRA_SILENCE", text, "a number of seconds") from error
    return HttpPolicy(
        contact=environ.get("HTTP_CONTACT", ""),
        allowed_networks=parse_networks(environ.get("HTTP_ALLOWED_NETWORKS", "")),
        max_concurrent=1,
        max_concurrent_per_host=1,
        read_timeout=silence,
        total_timeout=max(silence, 120.0),
        max_bytes=LARGEST_FILE,
    )


def _error_of(response: HttpResponse) -> FetchError:
    if response.not_modified:
        error = fetch_error(FetchCause.SERVER_ERROR, response.url, "status 304, which nobody asked for")
        error.status = response.status
        return error
    return error_for(response)


def _fetch_failed(error: FetchError, *, at_once: bool) -> _NotAcquired:
    status = error.status
    retryable = (
        status in {408, 425, 429} or status >= 500
        if status is not None
        else isinstance(error, Retryable) or error.cause in _DAMAGED
    )
    reason = f"status_{status}" if status is not None else error.cause.value
    failure = Failure(
        kind=FailureKind.RETRYABLE if retryable else FailureKind.TERMINAL,
        reason=reason,
        error_type=type(error).__name__,
        message=short_message(error),
        retry_after=error.retry_after,
    )
    # Who says that there are too many requests is not asked again within seconds.
    return _NotAcquired(failure, at_once=retryable and at_once and status != 429)


def _not_acquired(
    kind: FailureKind, reason: str, error_type: str, message: str, sha256: str | None = None
) -> _NotAcquired:
    failure = Failure(kind=kind, reason=reason, error_type=error_type, message=message, sha256=sha256)
    return _NotAcquired(failure)


def _check_announced(
    product: SpectrumProduct, lengths: set[int], digests: set[str], received_sha256: str
) -> None:
    """Raise if length and digest are not the announced ones, of the file packed or unpacked."""
    expected = product.expected_byte_length
    if expected is not None and expected not in lengths:
        raise _not_acquired(
            FailureKind.RETRYABLE,
            "wrong_length",
            "LengthMismatch",
            f"{expected} bytes were announced by {product.provider}, "
            f"{' or unpacked '.join(str(n) for n in sorted(lengths))} came",
            received_sha256,
        )
    if product.expected_sha256 is not None and product.expected_sha256 not in digests:
        raise _not_acquired(
            FailureKind.RETRYABLE,
            "wrong_sha256",
            "DigestMismatch",
            f"the file's SHA-256 is not the one that {product.provider} gave",
            received_sha256,
        )
