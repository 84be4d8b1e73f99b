"""Releases of the catalogue: dated sets of files that a paper can cite."""
