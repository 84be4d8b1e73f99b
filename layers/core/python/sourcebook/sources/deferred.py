"""An adapter whose modules are loaded when the first source of its kind comes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sourcebook.records.source import Source
from sourcebook.sources.poll import PollResult, SourceAdapter


@dataclass(slots=True)
class DeferredAdapter:
    """Stands for the adapter that `load` returns.

    Most messages hold feeds only, and what the rarer kinds import would be a tenth of each start.
    """

    load: Callable[[], SourceAdapter]
    _loaded: SourceAdapter | None = field(default=None, repr=False)

    async def poll(self, source: Source) -> PollResult:
        """Fetch a source and store what is new, by the adapter that this one stands for.

        Raises:
            Retryable: if the table or a topic could not take what was found.
        """
        if self._loaded is None:
            self._loaded = self.load()
        return await self._loaded.poll(source)
