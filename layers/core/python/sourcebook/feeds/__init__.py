"""Feeds: RSS 2.0, RSS 1.0, Atom and JSON Feed."""
