"""The profiles: how a spectrum is recognized, where its numbers stand, and what it must say.

Read `PROFILES` at the end first: it is the table, in the order in which the profiles are tried. A
profile's version changes with what it reads out of the same bytes, so that a stored spectrum shows
how it was made.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from sourcebook.errors import shorten
from sourcebook.fits.axes import ambiguous, linear_axis, multispec, power_of_ten, wat_text, wat_units
from sourcebook.fits.dates import TimeCards, mjd_of, read_mjd
from sourcebook.fits.fitsfile import ERROR_IMAGES, WAVELENGTH_IMAGES, Column, FitsFile, Floats, Header, Part
from sourcebook.fits.model import Finding, has_value
from sourcebook.fits.plausible import ANY_INSTRUMENT, is_plausible, only_unit
from sourcebook.fits.reading import Order, Reading
from sourcebook.fits.wavelength_units import AxisUnit, metres_per, unit_within

FLUX_SDSS: Final = "1E-17 erg/cm^2/s/Ang"
"""Of every COADD table, by SDSS's data model; its columns do not say."""

MOST_ORDERS: Final = 2_000
_BANDS_AT_MOST: Final = 8
_ERROR_NAMES: Final = (
    *("ERR", "ERROR", "ERR_FLUX", "FLUX_ERR", "FLUX_ERROR", "FLUXERR", "ERRFLUX"),
    *("SIGMA", "UNCERTAINTY", "STATERROR", "STDEV", "SPEC_ERR", "ERR_SPEC", "SPECERR"),
)
_WAVE_TYPES: Final = ("WAVE", "AWAV", "LAMBDA", "WAVELENGTH")


@dataclass(frozen=True, slots=True)
class Profile:
    """One row of the table.

    Attributes:
        find: the HDUs that hold the spectrum of a file of this kind; none of any other file.
        critical: what it must say: names of fields of `Reading`, besides what `read` itself misses.
        sees: the wavelengths in metres that instruments of this kind can have; None when only the
            instrument's name can tell.
    """

    name: str
    version: str
    find: Callable[[FitsFile], list[Part]]
    read: Callable[[list[Part]], Reading]
    critical: tuple[str, ...]
    sees: tuple[float, float] | None = None

    @property
    def id(self) -> str:
        """Name and version, as it is stored."""
        return f"{self.name}@{self.version}"


# --- ESO Phase 3, 1-D: a table of one row, its columns recognized by their UCDs ---


def _find_eso(file: FitsFile) -> list[Part]:
    if not (file.primary.header.text("PRODCATG") or "").upper().startswith("SCIENCE.SPECTRUM"):
        return []
    return [
        part
        for part in file.tables()
        if (part.header.text("VOCLASS") or "").upper().replace(" ", "").startswith("SPECTRUMV")
    ]


def _read_eso(parts: list[Part]) -> Reading:
    part = parts[0]
    if part.rows != 1:
        raise ambiguous(f"ESO's table has {part.rows} rows; expected one")
    wave = _eso_wave(part)
    flux = _eso_flux(part)
    reading = Reading(
        orders=[_vectors(wave, flux, _eso_error(part, flux))],
        wavelength_unit=wave.unit,
        flux_unit=flux.unit,
        medium=("air" if "obs.atmos" in wave.ucd else "vacuum") if wave.ucd else None,
        frame=part.text("SPECSYS"),
    )
    _say_who_and_when(reading, part)
    numbers = ("RA", "DEC", "MJD-OBS", "MJD-END", "WAVELMIN", "WAVELMAX")
    reading.missing += [keyword for keyword in numbers if part.number(keyword) is None]
    reading.missing += [keyword for keyword in ("SPECSYS", "CHECKSUM", "DATASUM") if not part.text(keyword)]
    if flux.unit is None:
        reading.missing.append(f"TUNIT{flux.number}")
    _hold_against_eso_limits(reading, part)
    return reading


def _eso_wave(part: Part) -> Column:
    waves = [column for column in part.columns.values() if column.ucd.split(";")[0] == "em.wl"]
    if not waves and "WAVE" in part.columns and not part.columns["WAVE"].ucd:
        return part.columns["WAVE"]
    return _only(waves, "wavelength (UCD em.wl)")


def _eso_flux(part: Part) -> Column:
    if not any(column.ucd for column in part.columns.values()) and "FLUX" in part.columns:
        return part.columns["FLUX"]
    fluxes = [
        column
        for column in part.columns.values()
        if column.ucd.startswith(("phot.flux", "phot.count", "arith.ratio"))
        and "stat.error" not in column.ucd
    ]
    main = [column for column in fluxes if "meta.main" in column.ucd.split(";")]
    if len(fluxes) == 1 and not main:
        return fluxes[0]
    return _only(main, f"flux with the UCD meta.main among {len(fluxes)}")


def _eso_error(part: Part, flux: Column) -> Column | None:
    wanted = f"stat.error;{flux.ucd.replace(';meta.main', '')}"
    same = [column for column in part.columns.values() if column.ucd.replace(";meta.main", "") == wanted]
    if len(same) > 1:  # two reductions side by side: the error is named after its flux
        name = (part.header.text(f"TTYPE{flux.number}") or "").upper()
        same = [column for label, column in part.columns.items() if column in same and label == f"ERR_{name}"]
    if not same:
        named = [part.columns[name] for name in ("ERR", "ERR_FLUX") if name in part.columns]
        same = [column for column in named if column.ucd.startswith("stat.error") or not flux.ucd]
    return same[0] if same else None


def _hold_against_eso_limits(reading: Reading, part: Part) -> None:
    """ESO repeats in the primary header, in nm, where the wavelengths lie: a unit that lies shows there."""
    scale = metres_per(reading.wavelength_unit)
    elements = part.number("NELEM")
    samples = len(reading.orders[0].wavelength)
    if elements is not None and elements != samples:
        reading.doubts.append(f"NELEM says {elements:g} samples; the columns have {samples}")
    if isinstance(scale, AxisUnit):
        return
    values = reading.orders[0].wavelength
    for keyword, stored in (("WAVELMIN", np.nanmin(values)), ("WAVELMAX", np.nanmax(values))):
        limit = part.number(keyword)
        if limit is not None and abs(float(stored) * scale - limit * 1e-9) > 1e-3 * abs(limit) * 1e-9:
            reading.doubts.append(
                f"{keyword} says {limit:g} nm; the wavelengths reach {float(stored):g} "
                f"{reading.wavelength_unit}"
            )


# --- BeSS and ARAS: one image axis, what amateurs add in keywords BSS_* ---


def _is_line(part: Part) -> bool:
    """Return whether an image's samples lie along its first axis, and all other axes have one pixel."""
    return bool(part.axes) and part.axes[-1] == math.prod(part.axes)


def _find_bess(file: FitsFile) -> list[Part]:
    keywords = file.primary.header.keywords()
    is_bess = _is_line(file.primary) and any(keyword.startswith("BSS_") for keyword in keywords)
    return [file.primary] if is_bess else []


def _read_bess(parts: list[Part]) -> Reading:
    (part,) = parts
    header = part.header
    reading = _linear(part)
    _say_who_and_when(reading, part, objects=("OBJNAME", "OBJECT"), instruments=("BSS_INST", "INSTRUME"))
    if header.number("EXPTIME") is None:
        reading.missing.append("EXPTIME")
    asked, applied = header.number("BSS_RQVH"), header.number("BSS_VHEL")
    if asked:
        reading.velocity_to_apply = asked
        reading.notes.append(f"BSS_RQVH asks for a heliocentric correction of {asked:g} km/s")
    if applied:
        reading.notes.append(f"BSS_VHEL: {applied:g} km/s are in the wavelengths already; nothing was done")
        reading.frame = reading.frame or "HELIOCEN"
    return reading


# --- IUE, low dispersion: the first wavelength and the step as scalars in each row ---


def _find_iue(file: FitsFile) -> list[Part]:
    is_iue = (file.primary.header.text("TELESCOP") or "").upper() == "IUE"
    return [part for part in file.parts if part.name == "MELO"] if is_iue else []


def _read_iue(parts: list[Part]) -> Reading:
    part = parts[0]
    starts, steps = _numbers(part, "WAVELENGTH"), _numbers(part, "DELTAW")
    fluxes, errors, counts = _numbers(part, "FLUX"), _numbers(part, "SIGMA"), _numbers(part, "NPOINTS")
    if starts.ndim != 1 or fluxes.ndim != 2:
        raise ambiguous("MELO should have scalars WAVELENGTH and DELTAW and a vector FLUX")
    _refuse_too_many_orders(part.rows)
    names = part.columns["APERTURE"].texts() if "APERTURE" in part.columns else [""] * part.rows
    orders = []
    for row, name in enumerate(names):
        count = int(counts[row])
        if not 1 <= count <= fluxes.shape[1] or not steps[row] > 0:
            raise ambiguous(f"NPOINTS is {counts[row]:g} and DELTAW {steps[row]:g} in row {row + 1}")
        wavelength = starts[row] + steps[row] * np.arange(count)
        orders.append(Order(row + 1, wavelength, fluxes[row, :count], errors[row, :count], name))
    reading = Reading(
        orders=orders,
        wavelength_unit=part.columns["WAVELENGTH"].unit,
        flux_unit=part.columns["FLUX"].unit,
        frame=part.text("SPECSYS"),
    )
    _say_who_and_when(reading, part, objects=("LTARGET", "STARGET", "OBJECT"), dates=("LDATEOBS", "SDATEOBS"))
    reading.instrument = f"IUE {part.primary.text('CAMERA') or ''}".strip()
    reading.notes.append("the quality flags of IUE are not applied")
    return reading


# --- HST and JWST x1d: a row for each order, or a table for each ---


def _find_x1d(file: FitsFile) -> list[Part]:
    if not has_value(file.primary.header.text("TARGNAME")):
        return []
    return [
        part
        for part in file.tables()
        if part.name in {"SCI", "EXTRACT1D"} and {"WAVELENGTH", "FLUX"} <= part.columns.keys()
    ]


def _read_x1d(parts: list[Part]) -> Reading:
    sources = {part.header.text("SOURCEID") or "" for part in parts}
    if len(sources) > 1:
        raise ambiguous(f"spectra of {len(sources)} sources; which is meant, the file does not say")
    units = {(part.columns["WAVELENGTH"].unit, part.columns["FLUX"].unit) for part in parts}
    if len(units) > 1:
        raise ambiguous(f"the tables have different units: {shorten(sorted(map(str, units)))}")
    orders: list[Order] = []
    for part in parts:
        orders.extend(_rows(part, len(orders)))
    part = parts[0]
    reading = Reading(
        orders=orders,
        wavelength_unit=part.columns["WAVELENGTH"].unit,
        flux_unit=part.columns["FLUX"].unit,
        frame=part.text("SPECSYS"),
    )
    _say_who_and_when(reading, part, objects=("TARGNAME",), dates=("DATE-OBS", "TDATEOBS", "DATE-BEG"))
    return reading


def _rows(part: Part, before: int) -> list[Order]:
    """Return the orders of a table: one for each row of vectors, or one of all rows of scalars."""
    wave, flux = part.columns["WAVELENGTH"], part.columns["FLUX"]
    error = _first(part, _ERROR_NAMES)
    values = _array(wave)
    fluxes = _like(flux, values)
    errors = _like(error, values) if error else None
    if values.ndim == 1:
        return [Order(before + 1, values, fluxes, errors)]
    if values.ndim != 2:
        raise ambiguous(f"the wavelengths of a row are an array of {values.ndim - 1} axes")
    _refuse_too_many_orders(before + len(values))
    numbers = part.columns["SPORDER"].values if "SPORDER" in part.columns else None
    names = part.columns["SEGMENT"].texts() if "SEGMENT" in part.columns else [""] * len(values)
    counts = part.columns["NELEM"].values if "NELEM" in part.columns else None
    orders = []
    for row in range(len(values)):
        end = int(counts[row]) if counts is not None else values.shape[1]
        if not 1 <= end <= values.shape[1]:
            raise ambiguous(f"NELEM is {end} in row {row + 1}, which has room for {values.shape[1]}")
        orders.append(
            Order(
                int(numbers[row]) if numbers is not None else before + row + 1,
                values[row, :end],
                fluxes[row, :end],
                None if errors is None else errors[row, :end],
                names[row],
            )
        )
    return orders


# --- SDSS and LAMOST: log10 of wavelengths in vacuum, as a column or as COEFF0 and COEFF1 ---


def _find_sdss(file: FitsFile) -> list[Part]:
    coadds = [part for part in file.tables() if {"LOGLAM", "FLUX"} <= part.columns.keys()]
    is_image = bool(file.primary.axes) and file.primary.header.number("COEFF0") is not None
    return coadds or ([file.primary] if is_image else [])


def _read_sdss(parts: list[Part]) -> Reading:
    part = parts[0]
    is_table = bool(part.columns)
    reading = _sdss_table(part) if is_table else _sdss_image(part)
    if part.primary.get("VACUUM") is False:
        reading.medium = None
        reading.doubts.append("VACUUM is F; spectra of SDSS and LAMOST are in vacuum wavelengths")
    if part.text("HELIO_RV"):
        reading.frame = "HELIOCEN"
    plate = part.text("PLATEID", "PLATE", "PLANID")
    day, fibre = part.text("MJD", "LMJD"), part.text("FIBERID", "FIBER")
    _say_who_and_when(
        reading,
        part,
        # In a file of its own, NAME is the plate's.
        objects=("OBJNAME", "OBJECT") if is_table else ("OBJNAME", "OBJECT", "NAME"),
        dates=("DATE-OBS", "MJD"),
    )
    if not part.text("TIMESYS") and "SDSS" in (part.text("TELESCOP") or "").upper():
        reading.time_cards = replace(reading.time_cards, scale="TAI")  # so the keywords' comments say
    if reading.object_name is None and plate and day and fibre:
        reading.object_name = f"{plate}-{day}-{fibre}"
        reading.notes.append("the object is named by plate, MJD and fibre")
    for name, value in (("plate", plate), ("MJD", day), ("fibre", fibre)):
        if value is None and (is_table or reading.object_name is None):
            reading.missing.append(name)
        elif value is None:
            reading.notes.append(f"the header names no {name}")
    return reading


def _sdss_table(part: Part) -> Reading:
    exponents = _array(part.columns["LOGLAM"])
    if exponents.ndim != 1:
        raise ambiguous("LOGLAM should have one number in each row")
    unit = part.columns["FLUX"].unit
    variance = part.columns.get("IVAR")
    error = None if variance is None else _of_inverse_variance(_like(variance, exponents))
    reading = Reading(
        orders=[Order(1, power_of_ten(exponents), _like(part.columns["FLUX"], exponents), error)],
        wavelength_unit="Angstrom",
        flux_unit=unit or FLUX_SDSS,
        medium="vacuum",
        notes=["wavelength = 10^LOGLAM, in ångström by the definition of the profile"],
    )
    if unit is None:
        reading.notes.append(f"FLUX has no TUNIT: {FLUX_SDSS} by the definition of the profile")
    return reading


def _sdss_image(part: Part) -> Reading:
    header = part.header
    rows = part.pixels()
    rows = rows.reshape(1, -1) if rows.ndim == 1 else rows
    if rows.ndim != 2:
        raise ambiguous(f"an image of {rows.ndim} axes")
    first, step = header.number("COEFF0"), header.number("COEFF1")
    if first is None or step is None or step == 0:
        raise ambiguous("COEFF0 or COEFF1 is missing, or there is no step")
    exponents = first + step * np.arange(rows.shape[1], dtype=np.float64)
    wavelength = power_of_ten(exponents)
    unit = wat_units(header) or _axis_unit(header)
    reading = Reading(
        orders=[Order(1, wavelength, rows[0], _sdss_error(header, rows))],
        wavelength_unit=unit or "Angstrom",
        flux_unit=header.text("BUNIT"),
        medium="vacuum",
        notes=["wavelength = 10^(COEFF0 + i·COEFF1)"],
    )
    if unit is None:
        reading.notes.append("wavelengths in ångström by the definition of the profile")
    again, step_again = header.number("CRVAL1"), header.number("CD1_1", "CDELT1")
    if (again is not None and abs(again - first) > 1e-9) or (
        step_again is not None and abs(step_again - step) > 1e-12
    ):
        reading.doubts.append(
            f"COEFF0 and COEFF1 are {first:g} and {step:g}; CRVAL1 and CD1_1 {again} and {step_again}"
        )
    if _is_lamost(header) and len(rows) > 2 and not np.allclose(rows[2], wavelength, rtol=1e-5, atol=0):
        reading.doubts.append("the third row, LAMOST's wavelengths, differs from COEFF0 and COEFF1")
    return reading


def _is_lamost(header: Header) -> bool:
    return (header.text("TELESCOP") or "").upper() == "LAMOST"


def _sdss_error(header: Header, rows: Floats) -> Floats | None:
    """LAMOST's second row is an inverse variance; SDSS says in ARRAYn which row is the error."""
    if _is_lamost(header) and len(rows) > 1:
        return _of_inverse_variance(rows[1])
    named = [number for number in range(len(rows)) if header.text(f"ARRAY{number + 1}") == "ERROR"]
    return np.asarray(rows[named[0]], dtype=np.float64) if named else None


def _of_inverse_variance(values: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(values > 0, 1 / np.sqrt(values), np.nan), dtype=np.float64)


# --- IRAF: the axis in CD1_1, DC-FLAG and the texts WATn ---


def _find_multispec(file: FitsFile) -> list[Part]:
    header = file.image.header
    is_multispec = (
        bool(file.image.axes)
        and (header.text("CTYPE1") or "").upper() == "MULTISPE"
        and "spec1" in wat_text(header, 2)
        and not _find_image_extensions(file)
    )
    return [file.image] if is_multispec else []


def _read_multispec(parts: list[Part]) -> Reading:
    (part,) = parts
    cube = np.atleast_2d(part.pixels())
    bands = cube.reshape(-1, *cube.shape[-2:])  # IRAF: samples, then apertures, then bands
    solutions = multispec(part.header, bands.shape[2])
    if len(solutions) != bands.shape[1]:
        raise ambiguous(f"{len(solutions)} solutions for {bands.shape[1]} rows")
    described = _described_bands(part.header, bands)
    orders = [
        Order(
            solution.aperture,
            solution.wavelengths(),
            bands[described.flux, row, : solution.samples],
            None if described.error is None else bands[described.error, row, : solution.samples],
        )
        for row, solution in enumerate(solutions)
    ]
    reading = _iraf_reading(part, orders)
    described.say(reading, len(bands))
    kinds = sorted({("linear", "logarithmic", "polynomial")[solution.kind] for solution in solutions})
    reading.notes.append(f"each order has its own solution in WAT2: {', '.join(kinds)}")
    corrected = {solution.doppler for solution in solutions} - {0.0}
    if corrected:
        reading.notes.append(f"divided by 1 + z of WAT2: z from {min(corrected):g} to {max(corrected):g}")
    return reading


def _find_iraf_1d(file: FitsFile) -> list[Part]:
    header = file.image.header
    is_iraf = (
        bool(file.image.axes)
        and (header.text("WAT0_001") is not None or header.get("DC-FLAG") is not None)
        and (header.text("CTYPE1") or "").upper() != "MULTISPE"
        and not is_celestial(header)
    )
    return [file.image] if is_iraf else []


def _read_iraf_1d(parts: list[Part]) -> Reading:
    (part,) = parts
    header = part.header
    bands, turned = _iraf_bands(part)
    flag = header.number("DC-FLAG")
    named_log = "LOGLIN" in (header.text("CTYPE1") or "").upper()
    if flag not in {None, 0.0, 1.0}:
        raise ambiguous(f"DC-FLAG is {flag:g}; 0 is linear and 1 logarithmic")
    if named_log and flag == 0:
        raise ambiguous("CTYPE1 says that it is logarithmic, and DC-FLAG 0 that it is linear")
    logarithmic = flag == 1 or named_log
    axis = linear_axis(header, bands.shape[-1], exponents=logarithmic)
    described = _described_bands(header, bands)
    error = _errors(part) if described.error is None else bands[described.error]
    wavelength = power_of_ten(axis) if logarithmic else axis
    reading = _iraf_reading(part, [Order(1, wavelength, bands[described.flux], error)])
    if turned:
        reading.notes.append("the axes are transposed: samples run along the second axis of the image")
    described.say(reading, len(bands))
    if logarithmic:
        reading.notes.append("wavelength = 10^x: DC-FLAG 1")
    return reading


def _iraf_bands(part: Part) -> tuple[Floats, bool]:
    """Return the bands of one aperture, one in each row, and whether the axes were transposed."""
    cube = part.pixels()
    if cube.ndim == 1:
        return cube.reshape(1, -1), False
    if cube.ndim == 2 and cube.shape[1] <= _BANDS_AT_MOST < cube.shape[0]:
        if part.header.number("CRVAL2") is not None or part.header.number("CDELT2") is not None:
            raise ambiguous("samples run along the second axis of the image, which CRVAL1 does not describe")
        return np.ascontiguousarray(cube.T), True
    apertures = cube.shape[-2]
    if apertures != 1 and part.header.text("APNUM2") and not _names_its_rows(part.header, apertures):
        raise ambiguous(f"{apertures} apertures share one axis: which is the object, the file does not say")
    if cube.ndim == 2 and apertures > _BANDS_AT_MOST:
        raise ambiguous(f"an image of {cube.shape[1]} × {cube.shape[0]} pixels is no 1-D spectrum")
    return cube.reshape(-1, cube.shape[-1]), False


def _names_its_rows(header: Header, count: int) -> bool:
    """Return whether what IRAF took for apertures are a flux and its error, by the words for them."""
    _, words = _words_of_rows(header, count)
    return sorted(map(_role, words)) == ["error", "flux"]


def _iraf_reading(part: Part, orders: list[Order]) -> Reading:
    header = part.header
    unit = wat_units(header)
    reading = Reading(
        orders=orders,
        wavelength_unit=unit or _axis_unit(header),
        flux_unit=header.text("BUNIT"),
        frame=header.text("SPECSYS"),
    )
    left = header.text("CUNIT1")
    if unit and left and metres_per(left) != metres_per(unit):
        both = f"CUNIT1 says {left!r}; the unit in WAT1 is {unit!r}"
        if _could_be(reading, metres_per(left)):
            reading.doubts.append(f"{both}: which is right?")
        else:
            reading.notes.append(f"{both} and holds")
    _say_who_and_when(reading, part)
    return reading


def _errors(part: Part) -> Floats | None:
    """Return the errors that an image beside that of one spectrum holds; None without one."""
    error = part.file.named(*ERROR_IMAGES)
    return error.pixels().ravel() if error and error.axes == part.axes and _is_line(part) else None


def _could_be(reading: Reading, scale: float | AxisUnit) -> bool:
    """Return whether the wavelengths of a reading could be in a unit of so many metres."""
    if isinstance(scale, AxisUnit):
        return False
    return is_plausible([order.wavelength * scale for order in reading.orders], ANY_INSTRUMENT)


_FLUX_WORDS: Final = frozenset({"spectrum", "flux", "object"})
_ERROR_WORDS: Final = frozenset({"sigma", "error", "errors", "err", "uncertainty", "uncertainties"})
_OTHER_WORDS: Final = frozenset(
    "variance var ivar inverse squared sky background bkg continuum mask quality flag flags dq weight "
    "weights model template response telluric arc lamp snr ratio raw relative percent fractional log".split()
)
"""What makes of a flux or an error something else: a sky's flux, a relative error."""
# apall writes behind it how the band was made: "spectrum - background fit, weights variance".
_BEHIND: Final = re.compile(r"\s-\s|[,;:(\[]")
_ROWS_IN_WORDS: Final = ("BANDID", "ARRAY", "ROW", "APID")
"""Cards that say, with a number behind them, what a row of an image is."""


@dataclass(frozen=True, slots=True)
class _Bands:
    """Which band of an image, from 0, is the flux and which its error.

    Attributes:
        flux: a place among the bands; the first where the header does not say.
        error: likewise; None where there is none.
        doubt: why the header's words do not tell; None when they do.
    """

    flux: int
    error: int | None = None
    doubt: str | None = None

    def say(self, reading: Reading, count: int) -> None:
        """Note which band was taken, or that a person must say it."""
        if self.doubt is not None:
            reading.doubts.append(self.doubt)
        elif count > 1:
            reading.notes.append(
                f"of {count} bands number {self.flux + 1} is the flux, by the header's words"
            )


def _described_bands(header: Header, bands: Floats) -> _Bands:
    """Return which of an image's bands, along the first axis, are flux and error, by the header's own words.

    These are BANDIDn, as IRAF writes it, ARRAYn, ROWn, or APIDn where apertures are the rows.
    """
    count = len(bands)
    kind, words = _words_of_rows(header, count)
    roles = [_role(word) for word in words]
    if count == 1 and roles[0] != "error":
        return _Bands(0)
    described = f"{count} bands, which {kind}n describe as {shorten(words)}"
    if roles.count("flux") != 1 or roles.count("error") > 1 or not all(words):
        return _Bands(0, doubt=f"{described}: which is the flux?")
    flux, error = roles.index("flux"), roles.index("error") if "error" in roles else None
    if error is not None and bool((bands[error] < 0).any()):
        return _Bands(flux, doubt=f"{described}: the error has negative values")
    return _Bands(flux, error)


def _words_of_rows(header: Header, count: int) -> tuple[str, list[str]]:
    """Return the kind of card that describes every row, and its words; of BANDIDn where none does."""
    found = [
        (kind, [header.text(f"{kind}{number}") or "" for number in range(1, count + 1)])
        for kind in _ROWS_IN_WORDS
    ]
    return next((one for one in found if all(one[1])), found[0])


def _role(words: str) -> str:
    """Return what a row is by the words for it: "flux", "error", or "" for anything else."""
    name = set(re.findall(r"[a-z]+", _BEHIND.split(words, maxsplit=1)[0].casefold()))
    if name & _OTHER_WORDS:
        return ""
    if name & _ERROR_WORDS:
        return "error"
    return "flux" if name & _FLUX_WORDS else ""


# --- Images that carry their wavelengths as pixels ---


def _find_image_extensions(file: FitsFile) -> list[Part]:
    wave = file.named(*WAVELENGTH_IMAGES)
    return [file.image, wave] if wave and wave.axes and wave.axes == file.image.axes else []


def _read_image_extensions(parts: list[Part]) -> Reading:
    part, wave = parts
    error = part.file.named(*ERROR_IMAGES)
    wavelengths, fluxes = np.atleast_2d(wave.pixels()), np.atleast_2d(part.pixels())
    errors = np.atleast_2d(error.pixels()) if error and error.axes == part.axes else None
    if wavelengths.ndim != 2:
        raise ambiguous(f"an image of {wavelengths.ndim} axes")
    _refuse_too_many_orders(len(fluxes))
    reading = Reading(
        orders=[
            Order(row + 1, wavelengths[row], fluxes[row], None if errors is None else errors[row])
            for row in range(len(fluxes))
        ],
        wavelength_unit=wave.header.text("BUNIT", "XUNITS"),
        flux_unit=part.header.text("BUNIT"),
        frame=part.primary.text("SPECSYS"),
    )
    _say_who_and_when(reading, part)
    if reading.wavelength_unit is None and (unit := wat_units(wave.header)):
        reading.notes.append(
            f"WAT1 says {unit!r}, of another solution than the pixels of WAVELENGTH, which say no unit"
        )
    return reading


def _find_three_rows(file: FitsFile) -> list[Part]:
    part = file.primary
    return [part] if len(part.axes) == 2 and 3 in part.axes and not is_celestial(part.header) else []


def _read_three_rows(parts: list[Part]) -> Reading:
    (part,) = parts
    rows = part.pixels()
    notes = []
    if rows.shape[0] != 3:
        rows = np.ascontiguousarray(rows.T)
        notes.append("the axes are transposed: samples run along the second axis of the image")
    one_way = [row for row in range(3) if _goes_one_way(rows[row])]
    if len(one_way) != 1:
        raise ambiguous(f"{len(one_way)} of three rows could be wavelengths; expected one that goes one way")
    flux, error = (row for row in range(3) if row != one_way[0])
    if bool((rows[error] < 0).any()):
        raise ambiguous(f"row {error + 1} should be the error of row {flux + 1}, and has negative values")
    notes.append(f"rows: wavelength {one_way[0] + 1}, flux {flux + 1}, error {error + 1}")
    header = part.header
    reading = Reading(
        orders=[Order(1, rows[one_way[0]], rows[flux], rows[error])],
        wavelength_unit=header.text("XUNITS") or _axis_unit(header),
        flux_unit=header.text("YUNITS", "BUNIT"),
        frame=header.text("SPECSYS"),
        notes=notes,
    )
    _say_who_and_when(reading, part)
    return reading


def _goes_one_way(row: Floats) -> bool:
    steps = np.diff(row)
    return bool((row > 0).all()) and bool((steps > 0).all() or (steps < 0).all())


# --- A table that names its columns ---

_MEDIA: Final = {"AWAV": "air", "WAVE_AIR": "air", "LAMBDA_AIR": "air"} | {
    "WAVE_VAC": "vacuum",
    "LAMBDA_VAC": "vacuum",
}
"""Columns of wavelengths whose names say where."""
_WAVE_COLUMNS: Final = ("WAVE", "WAVELENGTH", "LAMBDA", "LAM", "WAVELENGTHS", "WL", *_MEDIA)
_FLUX_COLUMNS: Final = ("FLUX", "FLUX_DENSITY", "FLUXDENSITY", "F_LAMBDA", "FLAMBDA", "FLAM", "F_NU", "FNU")


def _find_generic_table(file: FitsFile) -> list[Part]:
    return _tables_with(file, _WAVE_COLUMNS, _FLUX_COLUMNS)


def _tables_with(file: FitsFile, *columns: tuple[str, ...]) -> list[Part]:
    """Return the tables that have one column, at least, of each of some groups of names."""
    return [part for part in file.tables() if all(_columns(part, names) for names in columns)]


def _read_generic_table(parts: list[Part]) -> Reading:
    part = _only_table(parts)
    reading, flux = _named_columns(part, _FLUX_COLUMNS)
    if flux.unit is None:
        reading.missing.append(f"TUNIT{flux.number} (flux)")
    return reading


def _only_table(parts: list[Part]) -> Part:
    if len(parts) != 1:
        raise ambiguous(f"{len(parts)} tables hold a spectrum; expected one")
    return parts[0]


def _named_columns(part: Part, fluxes: tuple[str, ...]) -> tuple[Reading, Column]:
    """Return what a table with a column of wavelengths and one of fluxes says, and the latter."""
    wave = _only(_columns(part, _WAVE_COLUMNS), "wavelength")
    flux = _only(_columns(part, fluxes), "flux")
    reading = Reading(
        orders=[_vectors(wave, flux, _first(part, _ERROR_NAMES))],
        wavelength_unit=wave.unit,
        flux_unit=flux.unit,
        medium=next((medium for name, medium in _MEDIA.items() if name in part.columns), None),
        frame=part.text("SPECSYS"),
    )
    _say_who_and_when(reading, part)
    return reading, flux


# --- A table of SPEC over LAMBDA: the instrument decides the unit where the column has none ---

_SPEC_COLUMNS: Final = ("SPEC", "SPECTRUM")


def _find_spec_table(file: FitsFile) -> list[Part]:
    return _tables_with(file, _WAVE_COLUMNS, _SPEC_COLUMNS)


def _read_spec_table(parts: list[Part]) -> Reading:
    reading, _ = _named_columns(_only_table(parts), _SPEC_COLUMNS)
    if reading.wavelength_unit is None:
        unit = only_unit(reading.instrument, reading.orders[0].wavelength)
        if unit is not None:
            reading.wavelength_unit = unit
            reading.notes.append(
                f"the wavelengths have no TUNIT; only in {unit} does {reading.instrument} see them"
            )
    return reading


# --- A table of fluxes alone, whose axis is in the primary header ---

_BESIDE_FLUX: Final = frozenset(
    (
        *("CONTINUUM", "CONT", "SKY", "BACKGROUND", "BKG", "QUALITY", "QUAL", "DQ", "MASK", "FLAG", "FLAGS"),
        *("WEIGHT", "WEIGHTS", "COUNTS", "GROSS", "NET", "SNR"),
    )
)
"""Columns that say something of each sample and are no axis."""


def _find_flux_table(file: FitsFile) -> list[Part]:
    """Return the tables with a flux in which no column could be an axis, or the name of something."""
    kind = (file.primary.header.text("CTYPE1") or "").upper()
    if file.primary.axes or not kind.startswith(_WAVE_TYPES):
        return []
    known = _BESIDE_FLUX.union(_FLUX_COLUMNS, _ERROR_NAMES)
    return [part for part in _tables_with(file, _FLUX_COLUMNS) if part.columns.keys() <= known]


def _read_flux_table(parts: list[Part]) -> Reading:
    part = _only_table(parts)
    header = part.primary
    own = [
        word
        for word in part.header.keywords()
        if re.match(r"(?:\d*C(?:TYP|RVA?L|DE?LT|D\d_)|TCRVL|TCTYP)", word)
    ]
    if own:
        raise ambiguous(f"the table has an axis of its own ({shorten(own[0])}) beside the primary header's")
    if len(part.columns) < len(part.extent.columns):
        raise ambiguous("a column of the table has no name, or one that is there twice")
    flux = _only(_columns(part, _FLUX_COLUMNS), "flux")
    values = _vector(flux)
    error = _first(part, _ERROR_NAMES)
    errors = None if error is None else _like(error, values).ravel()
    reading = Reading(
        orders=[Order(1, linear_axis(header, values.size), values.ravel(), errors)],
        wavelength_unit=_axis_unit(header),
        flux_unit=flux.unit or header.text("BUNIT"),
        medium=_medium_of(header),
        frame=header.text("SPECSYS"),
        notes=["the fluxes are in a table, their axis is in the primary header"],
    )
    _say_who_and_when(reading, part)
    _weigh_units(reading, header)
    for keyword in ("NELEM", "NPOINTS", "NPIX"):
        count = part.number(keyword)
        if count is not None and count != values.size:
            reading.doubts.append(f"{keyword} says {count:g} samples; the table has {values.size}")
    return reading


# --- The FITS standard's own: one axis that CTYPE1 calls a wavelength ---


def _find_wcs_1d(file: FitsFile) -> list[Part]:
    header = file.image.header
    kind = (header.text("CTYPE1") or "LINEAR").upper()
    named = kind.startswith(_WAVE_TYPES) or unit_within(kind) is not None
    has_unit = kind == "LINEAR" and unit_within(header.text("CUNIT1")) is not None
    return [file.image] if _is_line(file.image) and (named or has_unit) else []


def _read_wcs_1d(parts: list[Part]) -> Reading:
    (part,) = parts
    reading = _linear(part)
    reading.medium = _medium_of(part.header)
    _say_who_and_when(reading, part)
    return reading


def _linear(part: Part) -> Reading:
    """Return the spectrum of an image of one line, whose axis is linear."""
    header, flux = part.header, part.pixels().ravel()
    return Reading(
        orders=[Order(1, linear_axis(header, len(flux)), flux, _errors(part))],
        wavelength_unit=_axis_unit(header),
        flux_unit=header.text("BUNIT"),
        frame=header.text("SPECSYS"),
    )


def _medium_of(header: Header) -> str | None:
    """Return whether an axis is in air or in vacuum by the names that the FITS standard has for both."""
    return {"WAVE": "vacuum", "AWAV": "air"}.get((header.text("CTYPE1") or "").upper())


# --- What they share ---


def _say_who_and_when(
    reading: Reading,
    part: Part,
    *,
    objects: tuple[str, ...] = ("OBJECT", "OBJNAME"),
    dates: tuple[str, ...] = ("DATE-OBS", "MJD-OBS"),
    instruments: tuple[str, ...] = ("INSTRUME",),
) -> None:
    reading.object_name = part.text(*objects)
    reading.observed_at = part.text(*dates)
    reading.time_cards = _time_cards(part, dates)
    reading.telescope = part.text("TELESCOP")
    reading.instrument = part.text(*instruments) or part.text("TELESCOP")
    _weigh_medium(reading, part)
    _weigh_units(reading, part.header)
    twice = [keyword for keyword in _SAID_ONCE if part.header.contradicts_itself(keyword)]
    if twice:
        reading.doubts.append(f"{', '.join(twice)} stands there more than once, with different values")
    days = part.number("MJD-OBS")
    if days is not None and read_mjd(days) is None:
        reading.notes.append(f"MJD-OBS {days!r} is no date of an observation and was not used")
    target = part.primary.text("ESO OBS TARG NAME")
    if target and reading.object_name and _folded(target) != _folded(reading.object_name):
        reading.notes.append(f"OBJECT is {reading.object_name!r}; ESO OBS TARG NAME is {target!r}")
    if not has_value(reading.object_name) and (target := part.text("SCITARG", "TARGET")):
        reading.notes.append(f"no object is named; SCITARG or TARGET says {target!r}")


def _weigh_medium(reading: Reading, part: Part) -> None:
    """Take from the cards whether wavelengths are in air or in vacuum; doubt what contradicts itself."""
    found = {} if reading.medium is None else {"the profile": reading.medium}
    if (by_name := _medium_of(part.header)) and "the profile" not in found:
        found["CTYPE1"] = by_name
    medium = (part.text("AIRORVAC", "AIR_VAC", "AIRVAC") or "").casefold()
    if medium.startswith(("air", "vac")):
        found["AIRORVAC"] = "air" if medium.startswith("air") else "vacuum"
    vacuum_cards = (header.get("VACUUM") for header in (part.header, part.primary))
    in_vacuum = next((value for value in vacuum_cards if isinstance(value, bool)), None)
    if in_vacuum is not None:
        found["VACUUM"] = "vacuum" if in_vacuum else "air"
    if len(set(found.values())) > 1:
        reading.doubts.append(
            f"air or vacuum? {', '.join(f'{where}: {what}' for where, what in found.items())}"
        )
    elif reading.medium is None:
        reading.medium = next((what for where, what in found.items() if where != "CTYPE1"), None)


def _weigh_units(reading: Reading, header: Header) -> None:
    """Doubt an image's unit if the one in the brackets of CTYPE1 is another."""
    first, second = header.text("CUNIT1"), unit_within(header.text("CTYPE1"))
    scales = [scale for scale in map(metres_per, (first, second)) if not isinstance(scale, AxisUnit)]
    if len(set(scales)) > 1:
        reading.doubts.append(f"CUNIT1 says {first!r}, and CTYPE1 {second!r}")


_SAID_ONCE: Final = tuple("CTYPE1 CUNIT1 CRVAL1 CRPIX1 CDELT1 CD1_1 BUNIT DATE-OBS OBJECT".split())
_DAYS: Final = (
    *("MJD-OBS", "MJD-BEG", "MJD-AVG", "MJD-MID", "MJD-END", "MJD", "LMJD", "MJDSTART", "MJDEND"),
    *("JD", "JD-OBS", "JD-MID", "MID-JD", "JD-BEG", "JD-END", "JULDATE", "JUL-DATE", "HJD", "MID-HJD"),
)
_DATES: Final = ("DATE-BEG", "DATE-AVG", "DATE-MID", "DATE-END", "DATE_END", "UTDATE", "UT-DATE")
_TIMES: Final = (
    *("TIME-OBS", "UT", "UT-OBS", "UTC-OBS", "UTC", "TTIMEOBS", "TIME-BEG", "UTSTART", "UT-START", "UTSHUT"),
)
_LOCAL_TIMES: Final = ("LT", "LTIME", "LOCTIME", "LOCALTIM", "LT-OBS", "LOCAL-T")
_ZONES: Final = ("TIMEZONE", "TIMEZON", "UTOFFSET", "TZ", "ZONE")


def _time_cards(part: Part, dates: tuple[str, ...]) -> TimeCards:
    """Return what a file says of its time besides the date that is taken, the first of `dates` it has."""
    taken = next((keyword for keyword in dates if part.text(keyword)), dates[0])
    comment = part.comment(taken)
    zones = ((keyword, part.number(keyword)) for keyword in _ZONES)
    scale = part.text("TIMESYS")
    scale = scale if has_value(scale) else None
    return TimeCards(
        scale=scale or "UTC",
        days=tuple(
            (keyword, mjd_of(keyword, days))
            for keyword in _DAYS
            if keyword != taken and (days := part.number(keyword)) is not None
        ),
        dates=_texts(part, [keyword for keyword in _DATES if keyword != taken]),
        times=_texts(part, [word for word in _TIMES if "local" not in part.comment(word).casefold()]),
        local_times=_texts(part, _LOCAL_TIMES),
        zone=next(((keyword, hours) for keyword, hours in zones if hours), None),
        exposure=part.number("EXPTIME", "EXPOSURE"),
        comment=comment,
        says_utc=scale is not None or _IN_UTC.search(comment) is not None,
    )


def _texts(part: Part, keywords: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return those of some cards that say something, each with its keyword."""
    return tuple((keyword, text) for keyword in keywords if (text := part.text(keyword)) is not None)


_IN_UTC: Final = re.compile(r"\b(?:UTC?|GMT|universal)\b", re.IGNORECASE)


def _refuse_too_many_orders(count: int) -> None:
    """Raise a Finding before an object is made for each order, if there are more than a spectrum has."""
    if count > MOST_ORDERS:
        raise Finding(f"{count} orders; expected at most {MOST_ORDERS}")


def _folded(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())


def _axis_unit(header: Header) -> str | None:
    """Return CUNIT1, or the unit in brackets in CTYPE1 where CUNIT1 says none or a leftover."""
    unit = header.text("CUNIT1")
    if metres_per(unit) is not AxisUnit.UNSPECIFIED:
        return unit
    return unit_within(header.text("CTYPE1"))


def is_celestial(header: Header) -> bool:
    """Return whether an image's axes are places on the sky."""
    kinds = [(header.text(f"CTYPE{axis}") or "").upper() for axis in (1, 2)]
    return any(kind.startswith(("RA--", "DEC-", "GLON", "GLAT", "ELON", "ELAT")) for kind in kinds)


def _only(found: list[Column], what: str) -> Column:
    if len(found) != 1:
        raise ambiguous(f"{len(found)} columns could be the {what}; expected one")
    return found[0]


def _columns(part: Part, names: tuple[str, ...]) -> list[Column]:
    return [part.columns[name] for name in names if name in part.columns]


def _first(part: Part, names: tuple[str, ...]) -> Column | None:
    return next(iter(_columns(part, names)), None)


def _array(column: Column) -> Floats:
    values = column.values
    if values is None or values.size == 0:
        raise ambiguous(f"column {column.number} of HDU {column.part.index} holds no numbers")
    return values


def _vector(column: Column) -> Floats:
    """Return a column's numbers: one in each row, or all of them in one row."""
    values = _array(column)
    if values.ndim == 2 and len(values) != 1:
        raise ambiguous(f"a table of {len(values)} rows of vectors")
    return values


def _numbers(part: Part, name: str) -> Floats:
    if name not in part.columns:
        raise ambiguous(f"the column {name} is missing in {part.name}")
    return _array(part.columns[name])


def _like(column: Column, other: Floats) -> Floats:
    values = _array(column)
    if values.shape != other.shape:
        raise ambiguous(f"column {column.number} has the shape {values.shape}, its wavelengths {other.shape}")
    return values


def _vectors(wave: Column, flux: Column, error: Column | None) -> Order:
    wavelength = _vector(wave)
    errors = None if error is None else _like(error, wavelength).ravel()
    return Order(1, wavelength.ravel(), _like(flux, wavelength).ravel(), errors)


_DATE_AND_OBJECT: Final = ("observed_at", "object_name")
_ALL_THREE: Final = (*_DATE_AND_OBJECT, "instrument")

PROFILES: Final = (
    # name, version, found by, read by, must say besides the wavelength unit, can see (m)
    Profile("eso_sdp", "1.0.0", _find_eso, _read_eso, _ALL_THREE),
    Profile("bess", "1.3.0", _find_bess, _read_bess, _ALL_THREE, (3.0e-7, 1.15e-6)),
    Profile("iue_mxlo", "1.0.0", _find_iue, _read_iue, _ALL_THREE, (1.0e-7, 3.5e-7)),
    Profile("hst_jwst_x1d", "1.0.0", _find_x1d, _read_x1d, _ALL_THREE),
    Profile("sdss_lamost", "1.0.0", _find_sdss, _read_sdss, _DATE_AND_OBJECT, (3.0e-7, 1.8e-6)),
    Profile("iraf_multispec", "1.3.0", _find_multispec, _read_multispec, _DATE_AND_OBJECT),
    Profile("iraf_1d", "1.4.0", _find_iraf_1d, _read_iraf_1d, _DATE_AND_OBJECT),
    Profile("image_extensions", "1.1.0", _find_image_extensions, _read_image_extensions, _ALL_THREE),
    Profile("three_rows", "1.0.0", _find_three_rows, _read_three_rows, _DATE_AND_OBJECT),
    Profile("generic_table", "1.2.0", _find_generic_table, _read_generic_table, _ALL_THREE),
    Profile("spec_table", "1.1.0", _find_spec_table, _read_spec_table, _ALL_THREE),
    Profile("flux_table", "1.0.0", _find_flux_table, _read_flux_table, _ALL_THREE),
    Profile("wcs_1d", "1.3.0", _find_wcs_1d, _read_wcs_1d, _DATE_AND_OBJECT),
)
"""Each in the order in which they are tried: what says what it is comes before what only looks like it."""


def choose(file: FitsFile) -> tuple[Profile, list[Part]] | None:
    """Return the profile of a file with the HDUs that it reads, or None when no rule of the table matches."""
    found = ((profile, profile.find(file)) for profile in PROFILES)
    return next((chosen for chosen in found if chosen[1]), None)
