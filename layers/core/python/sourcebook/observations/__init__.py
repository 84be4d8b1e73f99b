"""Dated figures with several sources, such as interest rates: every source's word, and one answer."""
