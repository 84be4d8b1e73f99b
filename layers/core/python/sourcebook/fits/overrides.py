"""What a reviewer may say in place of a file, judged before it is kept or used.

Needs neither astropy nor numpy: the API refuses a bad value when the reviewer sends it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from sourcebook.errors import InvalidInput
from sourcebook.fits.dates import read_date
from sourcebook.fits.model import OVERRIDES, has_value
from sourcebook.fits.wavelength_units import AxisUnit, metres_per

_LONGEST: Final = 200


def refuse_bad_overrides(overrides: Mapping[str, str], known: Collection[str] = OVERRIDES) -> None:
    """Raise for the first override that could not be used.

    Raises:
        InvalidInput: if a key is not known, or its value says nothing, or nothing that can be read without
            a guess.
    """
    for key, value in overrides.items():
        if key not in known:
            raise InvalidInput("overrides", key[:40], f"one of {', '.join(known)}")
        if not has_value(value) or len(value) > _LONGEST:
            raise InvalidInput(
                f"overrides.{key}", value, f"a text of 1 to {_LONGEST} characters that says something"
            )
    unit = overrides.get("wavelength_unit")
    if unit is not None and isinstance(metres_per(unit), AxisUnit):
        raise InvalidInput("overrides.wavelength_unit", unit, "Angstrom, nm, um or m")
    date = overrides.get("date")
    if date is not None and read_date(date) is None:
        raise InvalidInput("overrides.date", date, "YYYY-MM-DD or YYYY-MM-DDThh:mm:ss, in UTC")
    if overrides.get("ignore_checksum", "true") not in {"true", "false"}:
        raise InvalidInput("overrides.ignore_checksum", overrides["ignore_checksum"], '"true" or "false"')
