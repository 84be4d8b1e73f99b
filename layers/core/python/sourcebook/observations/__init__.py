"""Dated figures of several sources, such as interest rates, and the one canonical figure of each."""
