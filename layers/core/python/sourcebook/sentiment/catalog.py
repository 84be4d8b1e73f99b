"""The list of subjects as a function keeps it between its calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from sourcebook.sentiment.matching import Matcher
from sourcebook.sentiment.subjects import SubjectRegistry

NO_SUBJECTS: Final = Matcher(())


@dataclass(slots=True)
class SubjectCatalog:
    """Reads the list once, and again when its version has changed: asking costs one small read."""

    registry: SubjectRegistry
    _matcher: Matcher = NO_SUBJECTS
    _version: tuple[int, bool] = field(default=(0, True))

    def current(self) -> Matcher:
        """Return what finds the active subjects in texts.

        Raises:
            TableBusy: if the table is not able to answer now.
        """
        version = self.registry.version()
        if version != self._version:
            ids = sorted(self.registry.list_ids())
            found = self.registry.get_many(ids)
            self._matcher = Matcher([found[id_] for id_ in ids if id_ in found])
            self._version = version
        return self._matcher
