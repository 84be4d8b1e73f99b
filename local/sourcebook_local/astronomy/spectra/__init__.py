"""Simulated archives of spectra, and the three sample files that they serve."""
