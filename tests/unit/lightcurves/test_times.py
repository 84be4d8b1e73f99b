"""Times: every system read as what it is, none taken for another, and nothing guessed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.clock import isoformat
from sourcebook.errors import InvalidInput
from sourcebook.lightcurves.model import TimeScale, TimeSystem
from sourcebook.lightcurves.times import MJD_ORIGIN, TimeKind, mjd_of, read_kind, read_scale, read_time
from tests.unit.lightcurves.uploads import NOW, one, parse

TOMORROW = mjd_of(NOW) + 1


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("JD", TimeKind(TimeSystem.JD)),
        ("hjd", TimeKind(TimeSystem.HJD)),
        ("BJD_TDB", TimeKind(TimeSystem.BJD, TimeScale.TDB)),
        ("BJD (TDB)", TimeKind(TimeSystem.BJD, TimeScale.TDB)),
        ("BJD[TDB]", TimeKind(TimeSystem.BJD, TimeScale.TDB)),
        ("mjd_utc", TimeKind(TimeSystem.MJD, TimeScale.UTC)),
        ("JD(UT)", TimeKind(TimeSystem.JD, TimeScale.UTC)),
        ("HMJD", TimeKind(TimeSystem.HMJD)),
        ("Julian Date", TimeKind(TimeSystem.JD)),
        ("modified_julian_day", TimeKind(TimeSystem.MJD)),
        ("Heliocentric_Julian_Date", TimeKind(TimeSystem.HJD)),
        ("HJD-2450000", TimeKind(TimeSystem.HJD, None, Decimal(2450000))),
        ("BJD_TDB - 2457000", TimeKind(TimeSystem.BJD, TimeScale.TDB, Decimal(2457000))),
        ("JD−2400000.5", TimeKind(TimeSystem.JD, None, Decimal("2400000.5"))),
        ("MJD-2450000", None),
        ("RJD", TimeKind(TimeSystem.JD, None, Decimal(2400000))),
        ("BTJD", TimeKind(TimeSystem.BJD, TimeScale.TDB, Decimal(2457000))),
        ("HJD (-2450000)", TimeKind(TimeSystem.HJD, None, Decimal(2450000))),
        ("JD (2450000+)", TimeKind(TimeSystem.JD, None, Decimal(2450000))),
        ("JD+2400000", TimeKind(TimeSystem.JD, None, Decimal(2400000))),
        ("MJD-50000", TimeKind(TimeSystem.MJD, None, Decimal(50000))),
        ("JD-50000", None),
        ("TJD", None),
        ("JD_UT1", None),
        ("jd2", None),
        ("date", None),
    ],
)
def test_a_heading_says_what_its_times_are(name: str, kind: TimeKind | None) -> None:
    assert read_kind(name) == kind


@pytest.mark.parametrize(
    ("text", "kind", "mjd"),
    [
        ("2456079.91234", TimeKind(TimeSystem.JD), "56079.41234"),
        ("2456079,91234", TimeKind(TimeSystem.HJD), "56079.41234"),
        ("56079.41234", TimeKind(TimeSystem.MJD), "56079.41234"),
        ("6079.91234", TimeKind(TimeSystem.JD, None, Decimal(2450000)), "56079.41234"),
        ("56079.41234", TimeKind(TimeSystem.JD, None, Decimal("2400000.5")), "56079.41234"),
        ("2012-06-01T12:00:00Z", TimeKind(), "56079.5"),
        ("2012-06-01 12:00:00 Z", TimeKind(), "56079.5"),
        ("2012-06-01T14:00:00+02:00", TimeKind(), "56079.5"),
        ("2012-06-01T12:00", TimeKind(None, TimeScale.UTC), "56079.5"),
        ("2012-06-01T12:00:00.864", TimeKind(None, TimeScale.TT), "56079.50001"),
        ("2012-06-01.25", TimeKind(TimeSystem.DATE, TimeScale.UTC), "56079.25"),
        ("2012/06/01.25", TimeKind(TimeSystem.DATE, TimeScale.UTC), "56079.25"),
        ("2012 06 01,25", TimeKind(TimeSystem.DATE, TimeScale.UTC), "56079.25"),
        ("2012-06-01", TimeKind(TimeSystem.DATE, TimeScale.UTC), "56079"),
        ("6/1/2012 12:00:00 PM", TimeKind(TimeSystem.DATE, TimeScale.UTC), "56079.5"),
        ("06/01/2012 12:00:00 a.m.", TimeKind(TimeSystem.DATE, TimeScale.UTC), "56079"),
        ("06/01/2012 18:00", TimeKind(TimeSystem.DATE, TimeScale.UTC, month_first=True), "56079.75"),
        ("31/12/2012 12:00:00", TimeKind(TimeSystem.DATE, TimeScale.UTC), "56292.5"),
        ("01.06.2012 12:00", TimeKind(TimeSystem.DATE, TimeScale.UTC), "56079.5"),
        ("2012 Jun. 1.25", TimeKind(TimeSystem.DATE, TimeScale.UTC), "56079.25"),
        ("1-June-2012 6:00 UT", TimeKind(), "56079.25"),
        ("20120601.25", TimeKind(TimeSystem.DATE, TimeScale.UTC), "56079.25"),
        ("2.4560799D+06", TimeKind(TimeSystem.JD), "56079.4"),
    ],
)
def test_every_way_of_writing_a_time_becomes_its_modified_julian_date(
    text: str, kind: TimeKind, mjd: str
) -> None:
    found = read_time("t", text, kind, TOMORROW)
    assert found.mjd == Decimal(mjd)
    assert found.raw == text


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("56079.4", TimeKind(TimeSystem.JD), "looks like a Modified Julian Date"),
        ("2456079.9", TimeKind(TimeSystem.MJD), "looks like a Julian Date"),
        ("6079.9", TimeKind(TimeSystem.JD), "JD from 2305447.5"),
        ("0", TimeKind(TimeSystem.JD), "JD from 2305447.5"),
        ("24560799.1", TimeKind(TimeSystem.JD), "JD from 2305447.5"),
        ("-2456079.9", TimeKind(TimeSystem.JD), "JD from 2305447.5"),
        ("1e300", TimeKind(TimeSystem.MJD), "MJD from -94553"),
        ("61374.1", TimeKind(TimeSystem.MJD), "(tomorrow)"),
        ("1066-10-14T12:00:00Z", TimeKind(), "from 1600-01-01"),
        ("2026-11-30T00:00:00Z", TimeKind(), "to tomorrow"),
        ("2456079.9", TimeKind(), "call the column one of JD, HJD, BJD, MJD"),
        ("2012-06-01T12:00:00", TimeKind(), "with Z or another zone"),
        ("2012-06-31T12:00:00Z", TimeKind(), "a date such as"),
        ("2012-13-01.5", TimeKind(TimeSystem.DATE, TimeScale.UTC), "a date such as"),
        ("31/13/2012 12:00:00", TimeKind(TimeSystem.DATE, TimeScale.UTC), "a date such as"),
        ("1 Foo 2012", TimeKind(TimeSystem.DATE, TimeScale.UTC), "a date such as"),
        ("6/1/2012 13:00:00 PM", TimeKind(TimeSystem.DATE, TimeScale.UTC), "a date such as"),
        ("2012-06-01T24:30:00Z", TimeKind(), "a date such as"),
        ("June 1", TimeKind(), "a date such as"),
        ("2012-06-01T12:00:00Z", TimeKind(None, TimeScale.TDB), "without a zone"),
        ("2456079.9.1", TimeKind(TimeSystem.JD), "a plain number"),
        ("2,456,079.9", TimeKind(TimeSystem.JD), "a plain number"),
    ],
)
def test_what_cannot_be_the_time_of_a_measurement_is_refused_with_what_would_be(
    text: str, kind: TimeKind, said: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_time("t", text, kind, TOMORROW)
    assert refused.value.field == "t"
    assert said in str(refused.value)


def test_the_scale_of_a_time_is_one_of_those_that_are_known() -> None:
    assert read_scale("time_scale", " tdb ") is TimeScale.TDB
    with pytest.raises(InvalidInput, match="UTC, TT, TDB, TCB, TAI"):
        read_scale("time_scale", "local")


@given(st.decimals(min_value=-50_000, max_value=61_000, places=8))
def test_a_julian_date_and_its_modified_one_are_the_same_time(mjd: Decimal) -> None:
    modified = read_time("t", str(mjd), TimeKind(TimeSystem.MJD), TOMORROW)
    julian = read_time("t", str(mjd + MJD_ORIGIN), TimeKind(TimeSystem.JD), TOMORROW)
    assert float(modified.mjd) == float(julian.mjd)


@given(st.integers(min_value=-5_000_000_000_000_000, max_value=5_300_000_000_000_000))
def test_a_date_keeps_its_microseconds(microseconds: int) -> None:
    moment = datetime(1858, 11, 17, tzinfo=UTC) + timedelta(microseconds=microseconds)
    found = read_time(
        "t", isoformat(moment) if not moment.microsecond else moment.isoformat(), TimeKind(), TOMORROW
    )
    assert found.mjd == mjd_of(moment)
    assert round(found.mjd * 86_400_000_000) == microseconds


@pytest.mark.parametrize("heading", ["JD (local)", "JD (PST)", "HJD [HST]", "JD (GMT+9)", "JD (LT)"])
def test_a_julian_date_of_local_time_is_no_julian_date(heading: str) -> None:
    with pytest.raises(InvalidInput, match="time"):
        parse(f"{heading},mag,err,band\n2456079.9,11.1,0.1,V\n")


@pytest.mark.parametrize("heading", ["JD (days)", "HJD [d]", "JD (UTC)", "BJD (TDB)", "JD"])
def test_what_stands_in_brackets_may_say_nothing_else(heading: str) -> None:
    assert one(f"{heading},mag,err,band\n2456079.9,11.1,0.1,V\n").mjd == 56079.4
