"""Photometry: uploads of measurements, and the one table that a nova has of them."""
