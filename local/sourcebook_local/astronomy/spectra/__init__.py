"""Archives of spectra as this machine plays them, and the three sample files that they serve."""
