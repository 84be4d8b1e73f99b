"""Reading what was exported: which periods there are, what each consists of, and links to its files."""

from __future__ import annotations

import json
from dataclasses import dataclass

from sourcebook.bucket.objects import Objects, SignedLink
from sourcebook.exports.manifest import LARGEST, MANIFESTS, files_of, manifest_key
from sourcebook.exports.period import Period


@dataclass(frozen=True, slots=True)
class ExportReader:
    """What the bucket has of exports."""

    objects: Objects

    def periods(self) -> list[Period]:
        """Return the periods that were exported, the newest first."""
        found = (
            Period.named(key.removeprefix(MANIFESTS).removesuffix(".json"))
            for key in self.objects.etags(MANIFESTS)
        )
        return sorted((one for one in found if one), key=lambda one: (one.until, one.since), reverse=True)

    def manifest(self, period: Period) -> dict[str, object] | None:
        """Return the manifest of a period, None if it was not exported."""
        key = manifest_key(period)
        if key not in self.objects.etags(key):
            return None
        manifest: dict[str, object] = json.loads(self.objects.read(key, LARGEST).body)
        return manifest

    def link(self, period: Period, name: str) -> SignedLink | None:
        """Return a link to a file of a period, None if it has no such file."""
        key = next((file.key for file in files_of(period) if file.name == name), None)
        if key is None or manifest_key(period) not in self.objects.etags(manifest_key(period)):
            return None
        return self.objects.signed_link(key, name)
