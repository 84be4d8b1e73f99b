"""Small FITS files, one maker for each profile; each takes cards to set, and None to leave one out."""

from __future__ import annotations

import gzip
import io
from collections.abc import Mapping
from typing import Any

import numpy as np
from astropy.io import fits

Cards = Mapping[str, Any]

SAMPLES = 200
FLUX = 1e-14 * (2 + np.sin(np.arange(SAMPLES) / 9.0))
WAVE_NM = 400.0 + 0.5 * np.arange(SAMPLES)


def file_of(*hdus: Any, checksums: bool = False) -> bytes:
    """The bytes of some HDUs, the first made primary if it is not."""
    parts = [*hdus] if isinstance(hdus[0], fits.PrimaryHDU) else [fits.PrimaryHDU(), *hdus]
    stream = io.BytesIO()
    fits.HDUList(parts).writeto(stream, checksum=checksums)
    return stream.getvalue()


def with_cards(hdu: Any, cards: Cards, changes: Cards | None = None) -> Any:
    for keyword, value in {**cards, **(changes or {})}.items():
        if value is not None:
            hdu.header[keyword] = value
    return hdu


def bess(changes: Cards | None = None, *, flux: Any = FLUX, checksums: bool = False) -> bytes:
    cards = {
        "CRVAL1": 4000.0,
        "CDELT1": 5.0,
        "CRPIX1": 1,
        "CUNIT1": "Angstrom",
        "CTYPE1": "Wavelength",
        "OBJNAME": "V0001 Tst",
        "DATE-OBS": "2024-03-05T21:30:00",
        "EXPTIME": 600,
        "BSS_INST": "LISA-C11",
        "BSS_VHEL": 0,
    }
    hdu = fits.PrimaryHDU(np.asarray(flux, dtype=np.float32))
    return file_of(with_cards(hdu, cards, changes), checksums=checksums)


def eso(
    changes: Cards | None = None,
    *,
    columns: Cards | None = None,
    wave: Any = WAVE_NM,
    flux: Any = FLUX,
    unit: str = "nm",
    checksums: bool = True,
) -> bytes:
    """`columns` sets cards of the table, as TUCD2."""
    primary = with_cards(
        fits.PrimaryHDU(),
        {
            "ORIGIN": "ESO",
            "TELESCOP": "ESO-VLT-U2",
            "INSTRUME": "UVES",
            "OBJECT": "V0001 Tst",
            "RA": 12.5,
            "DEC": -30.25,
            "MJD-OBS": 56215.25,
            "MJD-END": 56215.26,
            "SPECSYS": "BARYCENT",
            "WAVELMIN": 400.0,
            "WAVELMAX": 499.5,
            "PRODCATG": "SCIENCE.SPECTRUM",
        },
        changes,
    )
    count = len(wave)
    flux_unit = "erg cm**(-2) s**(-1) angstrom**(-1)"
    table = fits.BinTableHDU.from_columns(
        [
            fits.Column("WAVE", f"{count}D", unit=unit, array=[wave]),
            fits.Column("FLUX_REDUCED", f"{count}D", unit="adu", array=[np.asarray(flux) * 1e15]),
            fits.Column("FLUX", f"{count}D", unit=flux_unit, array=[flux]),
            fits.Column("ERR", f"{count}D", unit=flux_unit, array=[np.asarray(flux) / 50]),
        ]
    )
    with_cards(
        table,
        {
            "VOCLASS": "SPECTRUM v2.0",
            "NELEM": count,
            "EXTNAME": "SPECTRUM",
            "TUCD1": "em.wl;obs.atmos",
            "TUCD2": "phot.flux.density;em.wl;stat.uncalib",
            "TUCD3": "phot.flux.density;em.wl;meta.main",
            "TUCD4": "stat.error;phot.flux.density;em.wl;meta.main",
        },
        columns,
    )
    return file_of(primary, table, checksums=checksums)


def iraf(changes: Cards | None = None, *, data: Any = FLUX) -> bytes:
    cards = {
        "CTYPE1": "LINEAR",
        "CRVAL1": 4000.0,
        "CRPIX1": 1,
        "CD1_1": 2.0,
        "DC-FLAG": 0,
        "WAT0_001": "system=equispec",
        "WAT1_001": "wtype=linear label=Wavelength units=angstroms",
        "OBJECT": "V0001 Tst",
        "DATE-OBS": "2005-11-27",
        "INSTRUME": "GMOS-N",
        "BUNIT": "erg/cm2/s/A",
    }
    return file_of(with_cards(fits.PrimaryHDU(np.asarray(data)), cards, changes))


MULTISPEC = (
    "1 90 0 4000.0 0.5 200 0.0 1.0 2.0",
    "2 89 1 3.65 1.0E-5 200 0.0 1.0 2.0",
    "3 88 2 5000.0 2.5 200 0.0 1.0 2.0 1.0 0.0 2 3 1.0 200.0 5000.0 250.0 -1.5",
    "4 87 2 5000.0 2.5 180 1.0E-4 1.0 2.0 1.0 0.0 1 3 1.0 200.0 6000.0 250.0 -1.5",
)


def multispec(changes: Cards | None = None, *, specs: tuple[str, ...] = MULTISPEC, data: Any = None) -> bytes:
    """IRAF's long text over cards of 68 characters, as the program writes it."""
    text = "wtype=multispec " + " ".join(f'spec{row} = "{spec}"' for row, spec in enumerate(specs, start=1))
    pieces = [text[at : at + 68] for at in range(0, len(text), 68)]
    cards = {
        "CTYPE1": "MULTISPE",
        "CTYPE2": "MULTISPE",
        "CDELT1": 1.0,
        "CD1_1": 1.0,
        "WCSDIM": 2,
        "WAT0_001": "system=multispec",
        "WAT1_001": "wtype=multispec label=Wavelength units=Angstroms",
        **{f"WAT2_{number:03d}": piece for number, piece in enumerate(pieces, start=1)},
        "OBJECT": "V0001 Tst",
        "DATE-OBS": "2012-09-25T12:29:03",
    }
    if data is None:
        data = np.ones((len(specs), SAMPLES)) + np.arange(len(specs))[:, None]
    return file_of(with_cards(fits.PrimaryHDU(data.astype(np.float32)), cards, changes))


def sdss_table(changes: Cards | None = None, *, unit: str | None = None) -> bytes:
    primary = with_cards(
        fits.PrimaryHDU(),
        {"TELESCOP": "SDSS 2.5-M", "PLATEID": 5063, "MJD": 55831, "FIBERID": 323, "HELIO_RV": 12.6},
        changes,
    )
    loglam = (3.6 + 1e-4 * np.arange(SAMPLES)).astype(np.float32)
    coadd = fits.BinTableHDU.from_columns(
        [
            fits.Column("flux", "E", unit=unit, array=FLUX * 1e14),
            fits.Column("loglam", "E", array=loglam),
            fits.Column("ivar", "E", array=np.where(np.arange(SAMPLES) == 3, 0.0, 4.0)),
        ],
        name="COADD",
    )
    return file_of(primary, coadd)


def lamost(changes: Cards | None = None, *, third_row: Any = None) -> bytes:
    wave = 10 ** (3.6 + 1e-4 * np.arange(SAMPLES))
    rows = np.array([FLUX * 1e17, np.full(SAMPLES, 0.25), wave if third_row is None else third_row])
    cards = {
        "TELESCOP": "LAMOST",
        "COEFF0": 3.6,
        "COEFF1": 1e-4,
        "CRVAL1": 3.6,
        "CD1_1": 1e-4,
        "CRPIX1": 1,
        "DC-FLAG": 1,
        "WAT0_001": "system=linear",
        "WAT1_001": "wtype=linear label=Wavelength units=Angstroms",
        "VACUUM": True,
        "OBJNAME": "V0001 Tst",
        "DATE-OBS": "2012-01-12T14:14:19.96",
        "PLANID": "P1",
        "LMJD": 55939,
        "FIBERID": 78,
    }
    return file_of(with_cards(fits.PrimaryHDU(rows.astype(np.float32)), cards, changes))


def hst(changes: Cards | None = None, *, scale: float = 1.0) -> bytes:
    """Two orders of STIS, their samples a vector in each row."""
    primary = with_cards(
        fits.PrimaryHDU(),
        {"TELESCOP": "HST", "INSTRUME": "STIS", "TARGNAME": "V0001 TST", "TDATEOBS": "1999-11-05"},
        changes,
    )
    waves = scale * np.array([1200 + 0.5 * np.arange(SAMPLES), 1290 + 0.5 * np.arange(SAMPLES)])
    fluxes = np.array([FLUX, FLUX * 2])
    table = fits.BinTableHDU.from_columns(
        [
            fits.Column("SPORDER", "I", array=[330, 329]),
            fits.Column("WAVELENGTH", f"{SAMPLES}D", unit="Angstroms", array=waves),
            fits.Column("FLUX", f"{SAMPLES}E", unit="erg/s/cm**2/Angstrom", array=fluxes),
            fits.Column("ERROR", f"{SAMPLES}E", unit="erg/s/cm**2/Angstrom", array=fluxes / 10),
        ],
        name="SCI",
    )
    return file_of(primary, table)


def jwst(changes: Cards | None = None, *, sources: tuple[int, ...] = (1,)) -> bytes:
    primary = with_cards(
        fits.PrimaryHDU(),
        {"TELESCOP": "JWST", "INSTRUME": "MIRI", "TARGNAME": "V0001 TST", "DATE-OBS": "2024-02-03"},
        changes,
    )
    tables = []
    for source in sources:
        table = fits.BinTableHDU.from_columns(
            [
                fits.Column("WAVELENGTH", "D", unit="um", array=np.linspace(5.1, 11.9, SAMPLES)),
                fits.Column("FLUX", "D", unit="Jy", array=FLUX * 1e11),
                fits.Column("FLUX_ERROR", "D", unit="Jy", array=FLUX * 1e9),
            ],
            name="EXTRACT1D",
        )
        table.header["SOURCEID"] = source
        tables.append(table)
    return file_of(primary, *tables)


def iue(changes: Cards | None = None) -> bytes:
    primary = with_cards(
        fits.PrimaryHDU(),
        {"TELESCOP": "IUE", "CAMERA": "SWP", "LDATEOBS": "13/08/78", "LTARGET": "V0001 TST"},
        changes,
    )
    rows = 2
    table = fits.BinTableHDU.from_columns(
        [
            fits.Column("APERTURE", "5A", array=["LARGE", "SMALL"]),
            fits.Column("NPOINTS", "I", array=[SAMPLES, SAMPLES - 10]),
            fits.Column("WAVELENGTH", "E", unit="ANGSTROM", array=[1150.0, 1150.0]),
            fits.Column("DELTAW", "E", unit="ANGSTROM", array=[1.5, 1.5]),
            fits.Column("SIGMA", f"{SAMPLES}E", unit="ERG/CM2/S/A", array=np.tile(FLUX / 20, (rows, 1))),
            fits.Column("FLUX", f"{SAMPLES}E", unit="ERG/CM2/S/A", array=np.tile(FLUX, (rows, 1))),
        ],
        name="MELO",
    )
    return file_of(primary, table)


def table(
    changes: Cards | None = None,
    *,
    wave: Any = WAVE_NM,
    flux: Any = FLUX,
    wave_unit: str | None = "nm",
    flux_unit: str | None = "FLAM",
    names: tuple[str, str, str] = ("WAVELENGTH", "FLUX", "ERROR"),
) -> bytes:
    primary = with_cards(
        fits.PrimaryHDU(),
        {"OBJECT": "V0001 Tst", "DATE-OBS": "2020-01-02T03:04:05", "INSTRUME": "FORS2"},
        changes,
    )
    columns = [
        fits.Column(names[0], "D", unit=wave_unit, array=wave),
        fits.Column(names[1], "E", unit=flux_unit, array=flux),
        fits.Column(names[2], "E", unit=flux_unit, array=np.abs(np.asarray(flux)) / 10),
    ]
    return file_of(primary, fits.BinTableHDU.from_columns(columns))


def spec_table(
    changes: Cards | None = None,
    *,
    wave: Any = WAVE_NM * 10,
    unit: str | None = None,
    names: tuple[str, str] = ("LAMBDA", "SPEC"),
) -> bytes:
    """A table without units, of an instrument whose limits are known."""
    primary = with_cards(
        fits.PrimaryHDU(),
        {"OBJECT": "V0001 Tst", "DATE-OBS": "2010-01-02T03:04:05", "INSTRUME": "MagE"},
        changes,
    )
    columns = [
        fits.Column(names[0], "D", unit=unit, array=wave),
        fits.Column(names[1], "E", array=FLUX * 1e14),
    ]
    return file_of(primary, fits.BinTableHDU.from_columns(columns))


def flux_table(
    changes: Cards | None = None,
    *,
    flux: Any = FLUX,
    more: Mapping[str, Any] | None = None,
    table: Cards | None = None,
) -> bytes:
    """A table of fluxes; the axis is in the primary header. `table` sets cards of the table."""
    cards = {
        "CTYPE1": "WAVE",
        "CUNIT1": "Angstrom",
        "CRVAL1": 4000.0,
        "CRPIX1": 1,
        "CDELT1": 2.0,
        "OBJECT": "V0001 Tst",
        "DATE-OBS": "2010-01-02T03:04:05",
        "INSTRUME": "UVES",
    }
    columns = [
        fits.Column("FLUX", "D", unit="erg/s/cm2/Angstrom", array=flux),
        fits.Column("ERR", "D", unit="erg/s/cm2/Angstrom", array=np.asarray(flux) / 9),
        *(fits.Column(name, "D", array=values) for name, values in (more or {}).items()),
    ]
    body = with_cards(fits.BinTableHDU.from_columns(columns), table or {})
    return file_of(with_cards(fits.PrimaryHDU(), cards, changes), body)


def three_rows(changes: Cards | None = None, *, transposed: bool = False, rows: Any = None) -> bytes:
    cards = {
        "XUNITS": "Angstrom",
        "YUNITS": "erg/s/cm2/A",
        "OBJECT": "V0001 Tst",
        "DATE-OBS": "2009-08-30",
        "INSTRUME": "FAST",
    }
    if rows is None:
        rows = np.array([FLUX, FLUX / 20, WAVE_NM * 10])
    data = rows.T if transposed else rows
    return file_of(with_cards(fits.PrimaryHDU(np.ascontiguousarray(data)), cards, changes))


def image_extensions(changes: Cards | None = None, *, unit: str | None = "um") -> bytes:
    primary = with_cards(
        fits.PrimaryHDU(np.array([FLUX, FLUX * 2])),
        {"OBJECT": "V0001 Tst", "DATE-OBS": "2014-11-26-10:15:21.927", "INSTRUME": "IGRINS"},
        changes,
    )
    wave = fits.ImageHDU(
        np.array([1.6 + 1e-4 * np.arange(SAMPLES), 1.61 + 1e-4 * np.arange(SAMPLES)]), name="WAVELENGTH"
    )
    with_cards(wave, {"BUNIT": unit, "WAT1_001": "wtype=multispec units=angstroms"})
    return file_of(primary, wave)


def wcs(changes: Cards | None = None, *, data: Any = FLUX) -> bytes:
    cards = {
        "CTYPE1": "WAVELENGTH [Ang]",
        "CRVAL1": 4000.0,
        "CRPIX1": 1,
        "CDELT1": 1.0,
        "BUNIT": "ADU",
        "OBJECT": "V0001 Tst",
        "DATE-OBS": "2011-08-11T23:23:52.266",
        "INSTRUME": "UVES",
    }
    return file_of(with_cards(fits.PrimaryHDU(np.asarray(data)), cards, changes))


def gzipped(body: bytes) -> bytes:
    return gzip.compress(body, mtime=0)


EVERY_PROFILE = {
    "eso_sdp": eso,
    "bess": bess,
    "iue_mxlo": iue,
    "hst_jwst_x1d": hst,
    "sdss_lamost": lamost,
    "iraf_multispec": multispec,
    "iraf_1d": iraf,
    "image_extensions": image_extensions,
    "three_rows": three_rows,
    "generic_table": table,
    "spec_table": spec_table,
    "flux_table": flux_table,
    "wcs_1d": wcs,
}
