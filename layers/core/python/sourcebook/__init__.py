"""Sourcebook: many sources, one record. The domain package that every Lambda imports."""
