"""SIMBAD, Sesame, ADS and archives of spectra as this machine plays them: a small sky of our own."""
