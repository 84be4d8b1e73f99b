"""The played archives and the stores of the astronomy rooms."""

from tests.integration.astronomy import archives, clock, documents, http, notices, quarantiner, store

__all__ = ("archives", "clock", "documents", "http", "notices", "quarantiner", "store")
