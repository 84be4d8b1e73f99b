"""Files that people hand in over the API: photometry and spectra, each bound to its size, type and digest."""
