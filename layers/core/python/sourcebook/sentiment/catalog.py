"""The list of subjects as a function keeps it between its calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from sourcebook.sentiment.matching import Matcher
from sourcebook.sentiment.subjects import SubjectRegistry


@dataclass(frozen=True, slots=True)
class ReadSubjects:
    """One reading of the list.

    Attributes:
        matcher: finds the active subjects in texts.
        ids: of the active subjects: the tags for which counts are kept.
    """

    matcher: Matcher
    ids: frozenset[str]


NO_SUBJECTS: Final = ReadSubjects(Matcher(()), frozenset())


@dataclass(slots=True)
class SubjectCatalog:
    """Reads the list once, and again when its version has changed: asking costs one small read."""

    registry: SubjectRegistry
    _catalog: ReadSubjects = NO_SUBJECTS
    _version: tuple[int, bool] = field(default=(0, True))

    def current(self) -> ReadSubjects:
        """Return the list as it is.

        Raises:
            TableBusy: if the table is not able to answer now.
        """
        version = self.registry.version()
        if version != self._version:
            ids = sorted(self.registry.list_ids())
            found = self.registry.get_many(ids)
            subjects = [found[id_] for id_ in ids if id_ in found]
            self._catalog = ReadSubjects(Matcher(subjects), frozenset(found))
            self._version = version
        return self._catalog
