"""Grouping: which articles tell of one event, and what may be made of it. docs/articles.md shows the way.

`similarity` compares two headlines, `groups` decides, `log` makes the decisions of concurrent runs one
sequence, `grouper` carries them out, `ideas` draws conclusions, `read` serves them.
"""
