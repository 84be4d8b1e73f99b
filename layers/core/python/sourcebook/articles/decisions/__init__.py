"""Decisions of people on articles and events: joined, split, taken out, merged, and each of it taken back."""
