"""SIMBAD, Sesame and ADS as this machine plays them: shapes as theirs, a small sky of our own."""
