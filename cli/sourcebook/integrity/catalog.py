"""Novae, their spectra and their photometry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from boto3.dynamodb.conditions import Attr, ConditionBase

from sourcebook.clock import Clock, utc_now
from sourcebook.integrity.model import Check, IntegrityFinding, ItemCheck, is_of, missing, place_of
from sourcebook.migrations.renormalize import form_of_today, renormalize
from sourcebook.novae.coordinates import Position, cell_of
from sourcebook.novae.store import NovaStore
from sourcebook.novae.whereabouts import find_product
from sourcebook.records.nova import Nova, NovaStatus
from sourcebook.records.product import FileRole
from sourcebook.records.spectrum import Eligibility, SpectrumProduct, ValidationStatus
from sourcebook.spectra.fingerprints import Fingerprints
from sourcebook.spectra.products import ELIGIBLE_STATUS, INDEX_ATTRIBUTES, SPECTRA, eligible_attributes
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item

_RAW_NAME: Final = "primary.fits"
_ENDED: Final = ("validation_status", "duplicate_of", "eligibility")


def _is_spectrum(item: Item) -> bool:
    return is_of(item, "DataProduct") and item["product_type"] == SPECTRA


def _valid(items: Sequence[Item]) -> list[Item]:
    """Return the valid spectra among items."""
    return [i for i in items if _is_spectrum(i) and i["validation_status"] == ValidationStatus.VALID]


@dataclass(frozen=True, slots=True)
class SpectraStandWhereTheyAreDue(ItemCheck):
    """A spectrum is in the two indexes exactly while it is to be acquired, and never after it has ended."""

    name = "eligible-spectra"

    def _problem(self, item: Item) -> str:
        return _misplaced(item) if _is_spectrum(item) else ""

    def _mend(self, key: keys.Key, item: Item) -> bool:
        """Take what has ended out of the indexes; put what is to be acquired into them."""
        unchanged: ConditionBase = Attr("updated_at").eq(item["updated_at"])
        for name in _ENDED:
            now = Attr(name).eq(item[name]) if name in item else Attr(name).not_exists()
            unchanged = unchanged & now
        if _end(item) or item["eligibility"] != Eligibility.ACQUIRE:
            self.table.change(
                key,
                assign={"eligibility": Eligibility.NONE.value},
                remove=INDEX_ATTRIBUTES,
                condition=unchanged,
            )
        else:
            place = eligible_attributes(SpectrumProduct.of_item(item))
            self.table.change(key, assign=place, condition=unchanged)
        return True


def _end(product: Item) -> str:
    if product.get("duplicate_of"):
        return "a duplicate"
    status = product["validation_status"]
    return "" if status == ValidationStatus.UNVALIDATED else str(status)


def _misplaced(product: Item) -> str:
    _, provider, data_product_id = product["SK"].removeprefix(keys.PRODUCT_PREFIX).split("#", 2)
    place: Mapping[str, object] = {
        **keys.eligible_spectrum(product["PK"], provider, data_product_id),
        "status": ELIGIBLE_STATUS,
    }
    held = [name for name in INDEX_ATTRIBUTES if name in product]
    if product["eligibility"] == Eligibility.ACQUIRE:
        if end := _end(product):
            return f"it is {end}, and eligible all the same"
        if lacking := [name for name in INDEX_ATTRIBUTES if name not in held]:
            return f"it is eligible, but without {', '.join(lacking)} nothing finds it"
        wrong = [f"{name} is {product[name]!r}" for name, value in place.items() if product[name] != value]
        return f"its place in the indexes is wrong: {', '.join(wrong)}" if wrong else ""
    return f"it is not eligible, and has {', '.join(held)} of the indexes" if held else ""


@dataclass(frozen=True, slots=True)
class ValidSpectraHaveTheirFile(Check):
    """A VALID spectrum says where its raw object is, and there is the record of that file."""

    table: Table
    name = "raw-files"

    def examine(self, items: Sequence[Item]) -> Iterator[IntegrityFinding]:
        """Yield VALID spectra whose bytes cannot be found by the table."""
        role = FileRole.RAW_FITS.value
        raw = [
            (p, keys.file_object(p["PK"], SPECTRA, p["data_product_id"], role, _RAW_NAME))
            for p in _valid(items)
        ]
        found = self.table.batch_get((key for _, key in raw), attributes=("key", "sha256"), consistent=True)
        files = {place_of(item): item for item in found}
        for product, key in raw:
            if problem := _without_file(product, files.get(place_of(key)), key):
                # A person must have it acquired again.
                yield self.found(product, problem, repairable=False)


def _without_file(product: Item, file: Item | None, key: keys.Key) -> str:
    if lacking := [name for name in ("sha256", "raw_s3_key", "raw_s3_bucket") if not product.get(name)]:
        return f"it is VALID and has no {', no '.join(lacking)}"
    if file is None:
        return f"it is VALID, and there is no record of its raw file ({key['SK']})"
    if (file["key"], file.get("sha256")) != (product["raw_s3_key"], product["sha256"]):
        return f"the record of its raw file is of another object or digest: {file['key']}"
    return ""


@dataclass(frozen=True, slots=True)
class BytesHaveOneOwner(Check):
    """Of the spectra with the same bytes one is VALID: the one that owns them."""

    table: Table
    clock: Clock = utc_now
    name = "owners-of-bytes"

    def examine(self, items: Sequence[Item]) -> Iterator[IntegrityFinding]:
        """Yield VALID spectra whose bytes are nobody's, or another's."""
        valid = [p for p in _valid(items) if p.get("sha256")]
        rows = self.table.batch_get((keys.fingerprint_owner(p["sha256"]) for p in valid), consistent=True)
        owners = {row["sha256"]: row["data_product_id"] for row in rows}
        for product in valid:
            owner = owners.get(product["sha256"])
            if owner != product["data_product_id"]:
                problem = f"it is VALID, and its bytes are those of {owner or 'no spectrum'}"
                yield self.found(product, problem, repairable=owner is None)

    def repair(self, finding: IntegrityFinding) -> bool:
        """Claim bytes that are nobody's."""
        product = SpectrumProduct.of_item(self.table.get(finding.key, consistent=True) or {})
        return Fingerprints(self.table, self.clock).claim(product, str(product.sha256)) is None


@dataclass(frozen=True, slots=True)
class LocatorsLeadToSpectra(Check):
    """The identity of a spectrum at its provider leads to the spectrum."""

    table: Table
    name = "locators"

    def examine(self, items: Sequence[Item]) -> Iterator[IntegrityFinding]:
        """Yield locator aliases that lead nowhere."""
        aliases = [item for item in items if is_of(item, "LocatorAlias")]
        targets = [keys.spectrum(a["nova_id"], a["provider"], a["data_product_id"]) for a in aliases]
        absent = missing(self.table, targets)
        for alias, target in zip(aliases, targets, strict=True):
            about = alias["nova_id"], alias["provider"], alias["data_product_id"]
            if place_of(target) in absent and find_product(self.table, *about) is None:
                problem = (
                    f"it leads to {target['PK']} {target['SK']}, which does not exist; the next discovery of "
                    "the nova's spectra makes it"
                )
                # Only the provider knows what the spectrum is.
                yield self.found(alias, problem, repairable=False)


@dataclass(frozen=True, slots=True)
class PhotometryPointsToFiles(Check):
    """What the photometry table of a nova points to has a record, and the nova exists."""

    table: Table
    name = "photometry"

    def examine(self, items: Sequence[Item]) -> Iterator[IntegrityFinding]:
        """Yield photometry tables that point to nothing."""
        tables = [i for i in items if is_of(i, "DataProduct") and i["product_type"] != SPECTRA]
        wanted: list[tuple[Item, str, keys.Key]] = []
        for item in tables:
            wanted.append((item, "its nova", keys.nova(item["PK"])))
            for name, pointer in (("photometry_table", "s3_key"), ("points", "points_s3_key")):
                if item.get(pointer):
                    about = item["PK"], item["product_type"], item["data_product_id"]
                    key = keys.file_object(*about, FileRole.NORMALIZED.value, name)
                    wanted.append((item, f"the file of its {pointer}", key))
        absent = missing(self.table, (key for _, _, key in wanted))
        for item in tables:
            lacking = [what for i, what, key in wanted if i is item and place_of(key) in absent]
            if lacking:
                problem = f"there is no record of {', nor of '.join(lacking)}"
                # The next upload writes the records; `sourcebook photometry` can have the table made anew.
                yield self.found(item, problem, repairable=False)


@dataclass(frozen=True, slots=True)
class NovaeAreFound(Check):
    """A nova is found by its name and at its place; each name that it lists leads back to it."""

    table: Table
    clock: Clock = utc_now
    name = "novae"

    def examine(self, items: Sequence[Item]) -> Iterator[IntegrityFinding]:
        """Yield rows of names and positions that are missing, and names under a form that nobody looks up."""
        for item in items:
            if problem := _stale_form(item):
                yield self.found(item, problem)
        wanted = {place_of(key): (item, what, key) for item in items for what, key in _ways_to(item)}
        absent = missing(self.table, (key for _, _, key in wanted.values()))
        for place, (item, what, key) in wanted.items():
            if place in absent:
                yield self.found(key, f"it is missing: {what} leads to the nova no more", about=item)

    def repair(self, finding: IntegrityFinding) -> bool:
        """Write the row again, from the nova or from its own list of names; or move names to today's form."""
        about = self.table.get(finding.about, consistent=True)
        if about is None:
            return False
        if _stale_form(about):
            return renormalize(NovaStore(self.table, self.clock), about["PK"]) > 0
        if is_of(about, "Nova"):
            NovaStore(self.table, self.clock).create(Nova.of_item(about), ())
            return True
        self.table.create({**about, **finding.key})
        return True


@dataclass(frozen=True, slots=True)
class ProductsBelongToOneNova(Check):
    """A product is of one nova, which was not merged away, and no merge has stopped half-way."""

    table: Table
    name = "curation"

    def examine(self, items: Sequence[Item]) -> Iterator[IntegrityFinding]:
        """Yield novae that are half merged, that lead nowhere, and products that a merge has left behind."""
        novae = {item["PK"]: item for item in items if is_of(item, "Nova")}
        products = [i for i in items if is_of(i, "DataProduct") or is_of(i, "FileObject")]
        elsewhere = {item["PK"] for item in products} - set(novae)
        for item in self.table.batch_get(map(keys.nova, elsewhere), consistent=True):
            novae[item["PK"]] = item
        for item in items:
            if problem := _half_curated(self.table, item) or _left_behind(item, novae.get(item["PK"])):
                # The same command goes on with what was cut short; it needs the bucket too.
                yield self.found(item, problem, repairable=False)


def _half_curated(table: Table, item: Item) -> str:
    if not is_of(item, "Nova"):
        return ""
    if changing := item.get("changing"):
        source, _, target = changing.partition(">")
        return (
            f"{source} is only half merged into {target}, or half split from it: `sourcebook nova merge` or "
            "`split`, asked again, goes on"
        )
    if into := item.get("merged_into"):
        further = table.get(keys.nova(into), consistent=True)
        if further is None:
            return f"it is merged into {into}, which does not exist"
        if table.get(keys.merged_nova(into, item["PK"]), consistent=True) is None:
            return f"it is merged into {into}, and there is no record of that"
    return ""


def _left_behind(item: Item, nova: Item | None) -> str:
    if not (is_of(item, "DataProduct") or is_of(item, "FileObject")):
        return ""
    if item["nova_id"] != item["PK"]:
        return f"it stands with {item['PK']} and says that it is of {item['nova_id']}"
    merged = nova is not None and nova["status"] == NovaStatus.MERGED and "changing" not in nova
    if merged and is_of(item, "DataProduct") and item["product_type"] == SPECTRA:
        return "its nova is merged into another: `sourcebook nova merge`, asked again, moves it"
    return ""


def _stale_form(item: Item) -> str:
    own_name = is_of(item, "NameMapping") and item["SK"].startswith(keys.NOVA_NAME_PREFIX)
    form = form_of_today(item) if own_name else None
    return f"its name is looked up as {form!r} now: `sourcebook migrate` moves it" if form else ""


def _ways_to(item: Item) -> Iterator[tuple[str, keys.Key]]:
    if is_of(item, "Nova") and item["status"] == NovaStatus.ACTIVE:
        nova = Nova.of_item(item)
        if (position := Position.of(nova)) is not None:
            yield "its place", keys.nova_position(cell_of(position), nova.nova_id)
        yield (
            f"its name {nova.primary_name!r}",
            keys.nova_own_name(nova.nova_id, nova.primary_name_normalized),
        )
    elif is_of(item, "NameMapping") and item["SK"].startswith(keys.NOVA_NAME_PREFIX):
        yield f"the name {item['name_raw']!r}", keys.nova_name(item["name_normalized"], item["nova_id"])
