"""Spectra to be acquired in a test: small FITS files of our own, made with astropy."""

from __future__ import annotations

import io

import numpy as np
from astropy.io import fits


def fits_spectrum(
    seed: int = 1,
    *,
    samples: int = 300,
    unit: str | None = "Angstrom",
    object_name: str | None = "V1324 Sco",
    date: str | None = "2012-06-20T01:02:03",
    all_nan: bool = False,
) -> bytes:
    """Return a table of wavelengths and fluxes that is VALID, unless something of it is left out.

    Args:
        seed: another one gives other bytes.
        samples: rows of the table.
        unit: of the wavelengths.
        object_name: what was observed.
        date: when.
        all_nan: whether there is no flux at all.
    """
    wave = np.linspace(4000.0, 7000.0, samples)
    flux = np.full(samples, np.nan) if all_nan else 2.0 + np.sin(wave / 50.0 + seed)
    table = fits.BinTableHDU.from_columns(
        [
            fits.Column("WAVE", "D", array=wave, unit=unit),
            fits.Column("FLUX", "D", array=flux, unit="erg/s/cm2/Angstrom"),
        ]
    )
    primary = fits.PrimaryHDU()
    cards = {"OBJECT": object_name, "DATE-OBS": date, "INSTRUME": "LOOPSPEC", "TELESCOP": "Loopback"}
    for name, value in cards.items():
        if value is not None:
            primary.header[name] = value
    primary.header["RUNNO"] = seed
    body = io.BytesIO()
    fits.HDUList([primary, table]).writeto(body, checksum=True)
    return body.getvalue()
