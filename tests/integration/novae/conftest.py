"""The played archives and the stores of the astronomy rooms."""

from tests.integration.astronomy import archives, clock, http, notices, objects, quarantiner, store

__all__ = ("archives", "clock", "http", "notices", "objects", "quarantiner", "store")
