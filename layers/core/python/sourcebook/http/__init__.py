"""Outgoing HTTP: one guarded client for everything that this system fetches."""
