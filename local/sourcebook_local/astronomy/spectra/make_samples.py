"""Makes the three sample spectra of this folder; run it again after a change, with astropy installed.

    python local/sourcebook_local/astronomy/spectra/make_samples.py

They are computed, no telescope took them: a continuum with the emission lines of a classical nova and
seeded noise. One is complete, one has no unit of wavelength, one has no flux at all. What is served needs
only the files, not this script and not astropy.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from astropy.io import fits

from sourcebook_local.output import say

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOLDER: Final = Path(__file__).parent
OBJECT: Final = "V1324 Sco"
RA_DEG: Final = 267.72458
DEC_DEG: Final = -32.62236

_LINES: Final = (
    # Rest wavelength in air (ångström), height over the continuum, width (km/s).
    (4340.5, 0.9, 900.0),
    (4861.3, 1.8, 900.0),
    (4923.9, 0.5, 800.0),
    (5018.4, 0.7, 800.0),
    (5169.0, 0.8, 800.0),
    (5876.0, 0.4, 900.0),
    (6562.8, 4.5, 1000.0),
    (7774.0, 0.6, 900.0),
)
_KM_S: Final = 299_792.458


def flux_at(angstroms: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Return a nova's flux in the continuum's units at wavelengths in ångström."""
    noise = np.random.default_rng(seed).normal(0, 0.015, angstroms.size)
    flux = (angstroms / 5500.0) ** -0.8 + noise
    for rest, height, width in _LINES:
        sigma = rest * width / _KM_S / 2.355
        flux += height * np.exp(-0.5 * ((angstroms - rest) / sigma) ** 2)
        # The blue edge that the expanding shell cuts out of each line.
        flux -= 0.25 * height * np.exp(-0.5 * ((angstroms - rest * (1 - 1500 / _KM_S)) / sigma * 3) ** 2)
    return flux


def complete() -> bytes:
    """Return a reduced spectrum in the form of ESO's science data products, checksums included."""
    wave = np.linspace(3800.0, 8800.0, 501)
    flux = flux_at(wave, 1) * 2.4e-13
    columns = [
        fits.Column("WAVE", f"{wave.size}D", unit="angstrom", array=wave[np.newaxis]),
        fits.Column(
            "FLUX", f"{wave.size}E", unit="erg.cm**(-2).s**(-1).angstrom**(-1)", array=flux[np.newaxis]
        ),
        fits.Column(
            "ERR",
            f"{wave.size}E",
            unit="erg.cm**(-2).s**(-1).angstrom**(-1)",
            array=np.abs(flux)[np.newaxis] * 0.015,
        ),
    ]
    table = fits.BinTableHDU.from_columns(columns)
    primary = fits.PrimaryHDU()
    for header in (primary.header, table.header):
        header["OBJECT"] = OBJECT
        header["RA"], header["DEC"] = RA_DEG, DEC_DEG
    primary.header.update(
        {
            "ORIGIN": "SOURCEBOOK-SAMPLE",
            "TELESCOP": "LOOPBACK-1",
            "INSTRUME": "LBSPEC",
            "PRODCATG": "SCIENCE.SPECTRUM",
            "DATE-OBS": "2012-06-04T03:12:00.000",
            "MJD-OBS": 56082.13333,
            "MJD-END": 56082.14375,
            "EXPTIME": 900.0,
            "SPECSYS": "BARYCENT",
            "WAVELMIN": 380.0,
            "WAVELMAX": 880.0,
            "FLUXCAL": "ABSOLUTE",
            "DISPELEM": "LOW",
            "SPEC_RES": 2000.0,
        }
    )
    table.header.update(
        {
            "EXTNAME": "SPECTRUM",
            "VOCLASS": "SPECTRUM V1.0",
            "VOPUB": "SOURCEBOOK",
            "TITLE": f"{OBJECT} 2012-06-04",
            "APERTURE": 0.000278,
            "TELAPSE": 900.0,
            "TMID": 56082.13854,
            "SPEC_VAL": 630.0,
            "SPEC_BW": 500.0,
            "NELEM": wave.size,
            "TUTYP1": "spec:Data.SpectralAxis.Value",
            "TUTYP2": "spec:Data.FluxAxis.Value",
            "TUTYP3": "spec:Data.FluxAxis.Accuracy.StatError",
            "TUCD1": "em.wl;obs.atmos",
            "TUCD2": "phot.flux.density;em.wl;meta.main",
            "TUCD3": "stat.error;phot.flux.density;em.wl;meta.main",
        }
    )
    return _written(fits.HDUList([primary, table]), checksum=True)


def without_unit() -> bytes:
    """Return an amateur's spectrum as BeSS takes it, but without the unit of its wavelengths."""
    wave = np.linspace(6400.0, 6750.0, 701)
    image = fits.PrimaryHDU(flux_at(wave, 2).astype(np.float32))
    image.header.update(
        {
            "OBJNAME": OBJECT,
            "DATE-OBS": "2012-06-10T22:41:07",
            "EXPTIME": 1800.0,
            "CRPIX1": 1.0,
            "CRVAL1": 6400.0,
            "CDELT1": 0.5,
            "CTYPE1": "Wavelength",
            "BSS_VHEL": 0.0,
            "BSS_INST": "Loopback 30 cm, slit spectrograph",
            "BSS_SITE": "Loopback",
            "OBSERVER": "A. Person",
        }
    )
    return _written(fits.HDUList([image]))


def without_flux() -> bytes:
    """Return an extracted spectrum as HST's pipeline writes it, all of whose samples were rejected."""
    wave = np.linspace(1150.0, 1700.0, 256)
    nothing = np.full((1, wave.size), np.nan, dtype=np.float32)
    columns = [
        fits.Column("SPORDER", "I", array=np.array([1], dtype=np.int16)),
        fits.Column("NELEM", "I", array=np.array([wave.size], dtype=np.int16)),
        fits.Column("WAVELENGTH", f"{wave.size}D", unit="Angstroms", array=wave[np.newaxis]),
        fits.Column("FLUX", f"{wave.size}E", unit="erg/s/cm**2/Angstrom", array=nothing),
        fits.Column("ERROR", f"{wave.size}E", unit="erg/s/cm**2/Angstrom", array=nothing),
    ]
    table = fits.BinTableHDU.from_columns(columns, name="SCI")
    table.header["DATE-OBS"], table.header["TIME-OBS"] = "2012-06-17", "11:02:44"
    primary = fits.PrimaryHDU()
    primary.header.update(
        {
            "TELESCOP": "HST",
            "INSTRUME": "STIS",
            "TARGNAME": "V1324-SCO",
            "RA_TARG": RA_DEG,
            "DEC_TARG": DEC_DEG,
            "TDATEOBS": "2012-06-17",
            "TTIMEOBS": "11:02:44",
            "TEXPTIME": 2000.0,
        }
    )
    return _written(fits.HDUList([primary, table]))


def _written(hdus: Any, *, checksum: bool = False) -> bytes:  # noqa: ANN401 - astropy gives no types
    for hdu in hdus if checksum else ():
        # Stamped with a time of its own, so that the same samples are the same bytes.
        hdu.add_checksum(when="2026-11-28T00:00:00")
    out = io.BytesIO()
    hdus.writeto(out)
    return out.getvalue()


def main() -> None:
    """Write the files."""
    for name, make in (
        ("v1324-sco-complete.fits", complete),
        ("v1324-sco-without-unit.fits", without_unit),
        ("v1324-sco-without-flux.fits", without_flux),
    ):
        (FOLDER / name).write_bytes(make())
        say(f"{name} {(FOLDER / name).stat().st_size}")


if __name__ == "__main__":
    main()
