"""Grouping: which articles are about one event, and what follows from it. See docs/articles.md.

`similarity` compares two headlines, `groups` decides, `log` makes the decisions of concurrent runs one
sequence, `grouper` carries them out, `ideas` draws conclusions, `read` serves them.
"""
