"""Bringing stored items up to the form that this version writes."""
