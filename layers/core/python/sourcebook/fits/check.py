"""The examination of one file: from bytes to a verdict, and to a spectrum when that is VALID.

Nothing about the file is believed that its bytes can contradict, and nothing is supplied that it
does not say. Time and memory are bounded by the size of the body.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np

from sourcebook.errors import shorten
from sourcebook.fits.bodies import fits_bytes
from sourcebook.fits.dates import Moment, TimeCards, observation_time
from sourcebook.fits.fitsfile import FitsFile, Floats, open_fits
from sourcebook.fits.flux_units import flux_unit_note
from sourcebook.fits.model import Finding, QuarantineCode, SpectrumOutcome, TerminalCode, Verdict, has_value
from sourcebook.fits.overrides import refuse_bad_overrides
from sourcebook.fits.plausible import is_plausible, range_of, share_inside, years_of
from sourcebook.fits.profiles import MOST_ORDERS, Profile, choose, is_celestial
from sourcebook.fits.reading import Checked, Order, Reading
from sourcebook.fits.structure import Checksums, Extent, checksums_of, extents, sign_of_insertion
from sourcebook.fits.wavelength_units import AxisUnit, metres_per

LIGHT_SPEED_KM_S: Final = 299_792.458
UNEXPECTED: Final = "the examination itself failed with"
MOST_SAMPLES_IN_ALL: Final = 1_000_000

_LEAST_FLUX, _LARGEST_FLUX = 1e-100, 1e60
"""Of any unit that astronomers use. Bytes that slipped give numbers of every size."""

_CALLED: Final = {"observed_at": "a date", "object_name": "an object", "instrument": "an instrument"}
_CHECKSUM_WORDS: Final = ("absent", "ok", "header edited", "mismatch", "mismatch")
"""By `Checksums`."""
_DAMAGE: Final = {
    Checksums.HEADER_DAMAGED: "CHECKSUM of HDU {} fails and its header looks damaged, not edited",
    Checksums.DATA_CHANGED: "DATASUM of HDU {} does not hold: its data were changed",
}
_SIGNED_CARDS: Final = tuple("ORIGIN TELESCOP INSTRUME PRODCATG VOCLASS CTYPE1 CUNIT1 BUNIT WAT0_001".split())
_SELECTED_BY: Final = (
    *("PRODCATG", "ORIGIN", "TELESCOP", "INSTRUME", "CTYPE1", "CUNIT1", "WAT0_001", "DC-FLAG"),
    *("COEFF0", "BSS_INST", "TARGNAME"),
)


def check(
    body: bytes, *, name: str = "", overrides: Mapping[str, str] | None = None, now: datetime | None = None
) -> Checked:
    """Examine a file.

    Args:
        body: what came over the line, gzip or not.
        name: what the file is called, for its record.
        overrides: what a reviewer says in place of the file, by the keys of `model.OVERRIDES`.
        now: the present time, after which nothing was observed.

    Raises:
        InvalidInput: if an override is not one that can be used. A file never raises.
    """
    given = dict(overrides or {})
    refuse_bad_overrides(given)
    examination = _Examination(name=name, overrides=given, now=now or datetime.now(UTC))
    try:
        return examination.run(body)
    except Finding as finding:
        ended = finding
    except Exception as error:  # noqa: BLE001 - a gap in this package must not end a worker that has others to do
        ended = Finding(f"{UNEXPECTED} {type(error).__name__}: {shorten(str(error))}")
    return Checked(replace(examination.verdict, outcome=ended.outcome, reason=ended.code, message=str(ended)))


@dataclass
class _Examination:
    """One run; `verdict` gathers what is known, so that an early end keeps it."""

    name: str
    overrides: dict[str, str]
    now: datetime
    verdict: Verdict = field(default_factory=lambda: Verdict(SpectrumOutcome.NOT_A_SPECTRUM_FILE))

    def run(self, body: bytes) -> Checked:
        """Examine the file.

        Raises:
            Finding: if it does not end as VALID.
        """
        body = fits_bytes(body)
        parts = extents(body)
        damage = self._judge_checksums(body, parts)
        try:
            with np.errstate(all="ignore"):  # what overflows is found among the results
                checked = self._examine(body, parts)
        except Finding:
            if damage is not None:  # whatever else is wrong with damaged bytes may come of the damage
                raise damage from None
            raise
        if damage is not None:
            raise damage
        return checked

    def _examine(self, body: bytes, parts: tuple[Extent, ...]) -> Checked:
        file = open_fits(body, parts)
        self._note(
            header_signature_hash=_signature(file),
            profile_selection_inputs=_selection_inputs(file, self.name),
            object_name=file.anywhere("OBJECT", "OBJNAME", "TARGNAME"),
            observed_at=file.anywhere("DATE-OBS", "MJD-OBS"),
            instrument=file.anywhere("INSTRUME", "BSS_INST", "TELESCOP"),
            reference=file.anywhere("REFERENC", "BIBCODE"),
        )
        if not all(body[part.start : part.data_start].isascii() for part in parts):
            self._add("a header has bytes that FITS does not allow; each of them is read as ?")
        chosen = choose(file)
        if chosen is None:
            raise _no_profile(file)
        profile, found = chosen
        self._note(fits_profile_id=profile.id)
        try:
            reading = profile.read(found)
        except (ValueError, TypeError, IndexError, KeyError, OverflowError, MemoryError) as error:
            raise Finding(
                f"{profile.id} cannot read the file: {type(error).__name__}: {shorten(str(error))}"
            ) from error
        if sign := sign_of_insertion(body, parts):
            reading.doubts.append(sign)
        return self._judge(reading, profile)

    def _judge_checksums(self, body: bytes, parts: tuple[Extent, ...]) -> Finding | None:
        found = [checksums_of(body, part) for part in parts]
        worst = max(found)
        checksum, finding = _CHECKSUM_WORDS[worst], None
        if worst in _DAMAGE:
            message = _DAMAGE[worst].format(found.index(worst))
            finding = Finding(message, QuarantineCode.CHECKSUM_MISMATCH)
        if finding is not None and self.overrides.get("ignore_checksum") == "true":
            self._add(f"the reviewer accepts the file although {finding}")
            checksum, finding = "ignored", None
        elif worst is Checksums.HEADER_EDITED:
            self._add("CHECKSUM fails and no DATASUM does: a header was edited after it was written")
        self._note(checksum=checksum)
        return finding

    def _judge(self, reading: Reading, profile: Profile) -> Checked:
        self._apply_overrides(reading)
        moment = self._moment(reading)
        for note in reading.notes:
            self._add(note)
        if moment is not None and moment.note:
            self._add(moment.note)
        self._note(
            orders=len(reading.orders),
            samples=max((len(order.wavelength) for order in reading.orders), default=0),
            original_unit=reading.wavelength_unit,
            flux_unit=reading.flux_unit,
            medium=reading.medium,
            frame=reading.frame,
            object_name=reading.object_name,
            observed_at=reading.observed_at,
            observed_at_iso=None if moment is None else moment.iso,
            instrument=reading.instrument,
        )
        _refuse_what_holds_nothing(reading)
        scale = metres_per(reading.wavelength_unit)
        if scale is AxisUnit.NOT_OPTICAL:
            raise Finding(
                f"the axis is in {reading.wavelength_unit}, which is no wavelength", TerminalCode.NOT_OPTICAL
            )
        stored = [] if isinstance(scale, AxisUnit) else [order.wavelength * scale for order in reading.orders]
        self._note_range(stored)
        _refuse_what_lacks_something(reading, profile, moment)
        limits = range_of(reading.instrument, profile.sees)
        trusted = "wavelength_unit" in self.overrides
        _refuse_what_makes_no_sense(reading, stored, None if trusted else limits)
        outside = 1 - share_inside(stored, limits)
        if outside > 0:
            self._add(
                f"{outside:.2%} of the samples lie outside {limits[0] * 1e9:g} to {limits[1] * 1e9:g} nm, "
                "where the instrument sees"
            )
        return self._normalized(reading, stored)

    def _apply_overrides(self, reading: Reading) -> None:
        fields = {
            "wavelength_unit": "wavelength_unit",
            "flux_unit": "flux_unit",
            "object": "object_name",
            "date": "observed_at",
            "instrument": "instrument",
        }
        for key, name in fields.items():
            if key not in self.overrides:
                continue
            self._add(
                f"{key}: the reviewer says {self.overrides[key]!r}; the file says {getattr(reading, name)!r}"
            )
            setattr(reading, name, self.overrides[key])
        if "date" in self.overrides:
            reading.time_cards = TimeCards(says_utc=True)
        accepted = {
            word.strip().upper()
            for word in self.overrides.get("accept_missing", "").split(",")
            if word.strip()
        }
        if self.overrides.get("ignore_checksum") == "true":
            accepted |= {"CHECKSUM", "DATASUM"}
        if "flux_unit" in self.overrides:
            accepted |= {name.upper() for name in reading.missing if name.startswith("TUNIT")}
        for name in [name for name in reading.missing if name.upper() in accepted]:
            self._add(f"{name} is missing and the reviewer accepts that")
            reading.missing.remove(name)

    def _moment(self, reading: Reading) -> Moment | None:
        """Return when the spectrum was taken; add to the reading's doubts what speaks against it."""
        if reading.observed_at is None:
            return None
        years = years_of() if "date" in self.overrides else years_of(reading.instrument, reading.telescope)
        moment, doubts = observation_time(reading.observed_at, reading.time_cards, years=years, now=self.now)
        reading.doubts.extend(doubts)
        return moment

    def _normalized(self, reading: Reading, stored: list[Floats]) -> Checked:
        """Make the spectrum: metres, rising, in the frame that the file asks for."""
        factor = 1.0
        if reading.velocity_to_apply is not None:
            factor = 1 - reading.velocity_to_apply / LIGHT_SPEED_KM_S
            self._add(
                f"wavelengths multiplied by 1 − v/c with v = {reading.velocity_to_apply:g} km/s; "
                "the range of the verdict is the file's own"
            )
            self._note(frame="HELIOCEN")
        self._add(f"wavelengths from {reading.wavelength_unit} to metres")
        turned = sum(1 for wavelength in stored if wavelength[0] > wavelength[-1])
        if turned:
            self._add(f"{turned} of {len(stored)} orders ran from long to short and were turned")
        if note := flux_unit_note(reading.flux_unit):
            self._add(note)
        orders = tuple(
            _order(order, wavelength * factor)
            for order, wavelength in zip(reading.orders, stored, strict=True)
        )
        empty = sum(1 for order in orders if not np.isfinite(order.flux).any())
        if empty:
            self._add(f"{empty} of {len(orders)} orders have no flux at all")
        self._note(outcome=SpectrumOutcome.VALID)
        return Checked(self.verdict, orders)

    def _note_range(self, stored: list[Floats]) -> None:
        values = np.concatenate(stored) if stored else np.empty(0)
        finite = values[np.isfinite(values)]
        if finite.size:
            self._note(wavelength_min_m=float(finite.min()), wavelength_max_m=float(finite.max()))

    def _note(self, **values: Any) -> None:  # noqa: ANN401 - the fields of Verdict
        self.verdict = replace(self.verdict, **values)

    def _add(self, note: str) -> None:
        self._note(normalization_notes=(*self.verdict.normalization_notes, note))


def _signature(file: FitsFile) -> str:
    """Return a hash over what every file of one pipeline has in common: structure, columns and origin."""
    signature = [
        {
            "name": part.name,
            "axes": len(part.axes),
            "columns": [[name, column.unit, column.ucd] for name, column in part.columns.items()],
            "cards": {keyword: part.header.text(keyword) for keyword in _SIGNED_CARDS},
        }
        for part in file.parts
    ]
    text = json.dumps(signature, sort_keys=True, ensure_ascii=False)
    return f"hsig:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()}"


def _selection_inputs(file: FitsFile, name: str) -> dict[str, str]:
    """Return what the choice of a profile is made by."""
    header = file.primary.header
    inputs = {"name": name, **{keyword: header.text(keyword) or "" for keyword in _SELECTED_BY}}
    inputs["axes"] = " × ".join(str(length) for length in reversed(file.primary.axes))
    inputs["extensions"] = ", ".join(part.name or str(part.index) for part in file.parts[1:])
    inputs["columns"] = "; ".join(", ".join(part.columns) for part in file.tables())
    return {name: text for name, text in inputs.items() if text}


def _no_profile(file: FitsFile) -> Finding:
    """Return what a file is that no rule of the table matches."""
    if not file.images() and not file.tables():
        return Finding("no HDU holds data", TerminalCode.NO_DATA)
    axes = [(part.header.text("CTYPE1") or "").upper() for part in file.images()]
    radio = ("FREQ", "VRAD", "VELO", "VOPT", "FELO", "ENER", "STOKES")
    units = {part.header.text("CUNIT1") for part in file.images()}
    if any(kind.startswith(radio) for kind in axes) or _says_not_optical(units):
        return Finding(f"the axis is {shorten(sorted(axes))}: no wavelength", TerminalCode.NOT_OPTICAL)
    if any(is_celestial(part.header) for part in file.images()):
        return Finding("an image of the sky, no spectrum", TerminalCode.SKY_IMAGE)
    for part in file.tables():
        spectral = {
            name: column.unit for name, column in part.columns.items() if name.startswith(("FREQ", "V"))
        }
        if _says_not_optical(set(spectral.values())):
            return Finding(
                f"a table of {shorten(spectral)}: frequencies or velocities", TerminalCode.NOT_OPTICAL
            )
    columns = [", ".join(part.columns) for part in file.tables()]
    return Finding(
        f"no profile knows this file: axes {file.primary.axes}, CTYPE1 {shorten(axes)}, "
        f"columns {shorten(columns)}",
        QuarantineCode.UNKNOWN_PROFILE,
    )


def _says_not_optical(units: set[str | None]) -> bool:
    return any(metres_per(unit) is AxisUnit.NOT_OPTICAL for unit in units)


def _refuse_what_holds_nothing(reading: Reading) -> None:
    samples = sum(len(order.flux) for order in reading.orders)
    if not samples:
        raise Finding("the spectrum has no samples", TerminalCode.NO_DATA)
    if samples > MOST_SAMPLES_IN_ALL or len(reading.orders) > MOST_ORDERS:
        raise Finding(
            f"{samples} samples in {len(reading.orders)} orders; "
            f"expected at most {MOST_SAMPLES_IN_ALL} in {MOST_ORDERS}"
        )
    if not any(np.isfinite(order.flux).any() for order in reading.orders):
        raise Finding(f"none of {samples} samples has a flux", TerminalCode.ALL_NAN)


def _refuse_what_lacks_something(reading: Reading, profile: Profile, moment: Moment | None) -> None:
    """Quarantine a file without critical metadata: units, dates and names are never invented."""
    lacks = list(reading.missing)
    if isinstance(metres_per(reading.wavelength_unit), AxisUnit):
        unit = "the file says none" if reading.wavelength_unit is None else shorten(reading.wavelength_unit)
        lacks.insert(0, f"a unit of wavelength ({unit})")
    for name in profile.critical:
        value = getattr(reading, name)
        if not has_value(value):
            lacks.append(f"{_CALLED[name]}{f' ({value!r} names none)' if value else ''}")
        elif name == "observed_at" and moment is None:
            lacks.append(f"a date that can be read without a guess ({shorten(value)})")
    if lacks:
        values = np.concatenate([order.wavelength for order in reading.orders])
        raise Finding(
            f"missing: {', '.join(lacks)}; wavelengths from {np.nanmin(values):g} to {np.nanmax(values):g} "
            f"{reading.wavelength_unit or 'of no unit'}. "
            "A reviewer who knows them can say wavelength_unit, date, object, instrument or flux_unit, "
            "and name in accept_missing what need not be there",
            QuarantineCode.MISSING_CRITICAL_METADATA,
        )


def _refuse_what_makes_no_sense(
    reading: Reading, stored: list[Floats], limits: tuple[float, float] | None
) -> None:
    """Quarantine a file whose values contradict each other.

    `stored` are its wavelengths in metres, `limits` what the instrument sees, or None when a reviewer vouches
    for the unit.
    """
    for order, wavelength in zip(reading.orders, stored, strict=True):
        if len(wavelength) < 2:
            raise Finding(f"order {order.number} has {len(wavelength)} sample")
        if not np.isfinite(wavelength).all() or not (wavelength > 0).all():
            raise Finding(f"order {order.number} has wavelengths that are no numbers")
        steps = np.diff(wavelength)
        if not ((steps > 0).all() or (steps < 0).all()):
            raise Finding(f"the wavelengths of order {order.number} go back and forth")
    magnitudes = np.abs(np.concatenate([order.flux[np.isfinite(order.flux)] for order in reading.orders]))
    magnitudes = magnitudes[magnitudes > 0]
    if not magnitudes.size:
        raise Finding("every flux is 0")
    if not (magnitudes.min() >= _LEAST_FLUX and magnitudes.max() <= _LARGEST_FLUX):
        raise Finding(
            f"fluxes from {magnitudes.min():g} to {magnitudes.max():g}: the data are damaged, or no flux"
        )
    if reading.doubts:
        raise Finding("; ".join(reading.doubts))
    if limits is not None and not is_plausible(stored, limits):
        inside = share_inside(stored, limits)
        raise Finding(
            f"in {reading.wavelength_unit} only {inside:.0%} of the wavelengths lie where "
            f"{reading.instrument or 'any instrument'} sees, {limits[0] * 1e9:g} to {limits[1] * 1e9:g} nm: "
            "does the unit lie? A reviewer can say wavelength_unit"
        )


def _order(order: Order, wavelength: Floats) -> Order:
    step = 1 if wavelength[0] <= wavelength[-1] else -1
    flux = np.where(np.isfinite(order.flux), order.flux, np.nan)[::step]
    error = None if order.error is None else np.where(np.isfinite(order.error), order.error, np.nan)[::step]
    return replace(order, wavelength=wavelength[::step], flux=flux, error=error)
