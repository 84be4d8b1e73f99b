"""Archives that have spectra, each behind one protocol."""
