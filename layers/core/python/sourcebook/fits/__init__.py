"""Spectra: from an archive's FITS file to wavelengths in metres, or to the reason why not."""
