"""`donate`: uploads spectra and photometry, ingests them, and prints one report."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from sourcebook.errors import InvalidInput, SourcebookError
from sourcebook.schema import UUID
from sourcebook_cli.nova import ended
from sourcebook_cli.output import say, say_json
from sourcebook_cli.photometry import hand_in
from sourcebook_cli.stack import Stack, on_aws

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourcebook.novae.store import NovaStore
    from sourcebook.records.nova import Nova

_UUID: Final = re.compile(UUID)
_FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)
_log = logging.getLogger(__name__)


@click.command()
@click.argument("nova")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option("--donor", required=True, help="Who hands them in.")
@click.option("--observer", help="Who took them, if that is somebody else.")
@click.option("--license", "license_", help="Under what terms they may be used, e.g. CC-BY-4.0.")
@click.option("--note", help="Anything else that helps to judge them.")
@click.option("--wait/--no-wait", default=True, help="Wait for the examination and show its outcome.")
@click.option("--timeout", default=300, show_default=True, help="Seconds to wait for each file.")
@click.option("--json", "as_json", is_flag=True)
@on_aws
def donate(
    nova: str,
    files: tuple[Path, ...],
    *,
    donor: str,
    observer: str | None,
    license_: str | None,
    note: str | None,
    wait: bool,
    timeout: int,
    as_json: bool,
    aws: bool,
) -> None:
    """Upload spectra and photometry of NOVA (a name or an id), and print the outcome of each of FILES.

    A file whose name ends as those of photometry (.csv, .txt, .vot …) is added to the nova's table; any
    other becomes a spectrum and is examined. The same file handed in twice is taken once.
    """
    stack = Stack.connect(aws=aws)
    provenance = {"donor": donor, "observer": observer, "license": license_, "note": note}
    curves = [file for file in files if _is_photometry(file)]
    spectra = tuple(file for file in files if file not in curves)
    results, failed = [], False
    for result in (*_donated(stack, nova, spectra, provenance), *hand_in(stack, nova, curves, timeout=None)):
        if wait and (arn := result.get("execution_arn")):
            try:
                result["outcome"] = ended(stack, arn, timeout)["outcome"]
            except SourcebookError as error:
                result["error"] = str(error)
        results.append(result)
        failed = failed or "error" in result
        if not as_json:
            say(_line(result))
    if as_json:
        say_json(results)
    if failed:
        raise SystemExit(1)


def _is_photometry(file: Path) -> bool:
    from sourcebook.uploads.model import CONTENT_TYPES, FileKind

    return file.suffix.lower() in CONTENT_TYPES[FileKind.PHOTOMETRY]


def _line(result: dict[str, Any]) -> str:
    what = result.get("error") or result.get("outcome") or result.get("state", "started")
    return f"{result['file']}  {result.get('data_product_id', '-')}  {what}"


def _donated(
    stack: Stack, name: str, files: tuple[Path, ...], provenance: dict[str, str | None]
) -> Iterator[dict[str, Any]]:
    """Upload files and register them as products; yield the outcome of each, failures included."""
    from sourcebook.bucket.objects import Objects
    from sourcebook.novae.resolvers.archive import ArchiveStatus
    from sourcebook.novae.store import NovaStore
    from sourcebook.spectra.discover import Registered, SpectraDiscoverer
    from sourcebook.spectra.products import DONATION, acquisition_name, data_product_id_for
    from sourcebook.spectra.providers.donation import Donations
    from sourcebook.spectra.providers.provider import Search
    from sourcebook.table.client import aws_config

    store = NovaStore(stack.table)
    nova = _nova(store, name)
    objects = Objects(stack.session.client("s3", config=aws_config()), stack.outputs["BucketName"])
    donations = Donations(objects, nova.nova_id)
    discoverer = SpectraDiscoverer(store, _log)
    for path in files:
        result: dict[str, Any] = {"file": str(path), "nova_id": nova.nova_id}
        try:
            found = donations.give(path.name, path.read_bytes(), **provenance).product()
            registered = discoverer.register(nova, DONATION, Search(ArchiveStatus.OK, (found,)))
        except (SourcebookError, OSError) as error:
            # One file that cannot be taken does not lose the others.
            yield {**result, "error": str(error)}
            continue
        result["data_product_id"] = data_product_id_for(DONATION, found.identities()[0].text)
        if not registered.eligible:
            claimed = registered.counts[Registered.CLAIMED]
            yield {**result, "state": "claimed by another nova" if claimed else "known already"}
            continue
        (product,) = registered.eligible
        started = stack.session.client("stepfunctions").start_execution(
            stateMachineArn=stack.outputs["AcquireAndValidateSpectraArn"],
            name=acquisition_name(product),
            input=json.dumps(
                {
                    "nova_id": product.nova_id,
                    "provider": product.provider,
                    "data_product_id": product.data_product_id,
                }
            ),
        )
        yield {**result, "state": "started", "execution_arn": started["executionArn"]}


def _nova(store: NovaStore, name: str) -> Nova:
    if _UUID.fullmatch(name):
        return store.active(name)
    from sourcebook.novae.names import normalize_name

    found = store.find(normalize_name(name))
    if len(found) != 1 or store.is_shared(normalize_name(name)):
        known = ", ".join(f"{nova.primary_name} ({nova.nova_id})" for nova in found) or "none is known"
        raise InvalidInput("NOVA", name, f"the name or id of one nova; {known}")
    return found[0]
