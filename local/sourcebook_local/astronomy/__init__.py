"""Simulated SIMBAD, Sesame, ADS and archives of spectra, with a small sky of their own."""
