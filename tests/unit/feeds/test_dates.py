from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from sourcebook.feeds.dates import weigh_date
from sourcebook.feeds.model import DateOrder


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Fri, 27 Nov 2026 21:56:00 GMT", "2026-11-27T21:56:00"),
        ("Fri, 27 Nov 2026 21:56:00 +0130", "2026-11-27T20:26:00"),
        ("27 Nov 2026 21:56 UT", "2026-11-27T21:56:00"),
        ("2026-11-27T21:56:00Z", "2026-11-27T21:56:00"),
        ("2026-11-27T21:56:00.123456789+02:00", "2026-11-27T19:56:00"),
        ("2026-11-27", "2026-11-27T00:00:00"),
        ("2026-11-27 21:56:00 +0200", "2026-11-27T19:56:00"),
        ("2016/6/29 15:07:41", "2016-06-29T15:07:41"),
        ("03 Sep 15 08:30:00 +0200", "2015-09-03T06:30:00"),
        ("Mo, 07 Sep 2015 10:00:00 +0200", "2015-09-07T08:00:00"),
        ("Mon, 07 Sep 2015 10:00:00 MEST", "2015-09-07T08:00:00"),
        ("Mon, May 25 2020 10:11:12 GMT", "2020-05-25T10:11:12"),
        ("5 November 2025 - 09:01", "2025-11-05T09:01:00"),
        ("Mon, 07 Sep 2015 10:00:00 EST", "2015-09-07T15:00:00"),
        ("mar., 03 sept. 2015 10:00", "2015-09-03T10:00:00"),
        ("25 déc. 2020 à 18:30", "2020-12-25T18:30:00"),
        ("Di, 03 März 2020 08:00:00 +0100", "2020-03-03T07:00:00"),
        ("14.10.2015 10:00", "2015-10-14T10:00:00"),
        ("12/25/2020 3:04 PM", "2020-12-25T15:04:00"),
        ("25/12/2020 12:04 am", "2020-12-25T00:04:00"),
        ("2021年3月4日 10:00", "2021-03-04T10:00:00"),
        ("Wed Oct 14 10:00:00 PDT 2015", "2015-10-14T17:00:00"),
        ("20170107101112", "2017-01-07T10:11:12"),
        ("1700000000", "2023-11-14T22:13:20"),
        ("Thu, 31 Dec 2020 24:00:00 GMT", "2021-01-01T00:00:00"),
        ("Thu, 31 Dec 2020 23:59:60 GMT", "2020-12-31T23:59:59"),
        ("20231106T080000Z", "2023-11-06T08:00:00"),
        ("1730793600.123", "2024-11-05T08:00:00"),
        ("05 tháng 11 2024 08:00", "2024-11-05T08:00:00"),
        ("火, 05 11月 2024 08:00:00 +0900", "2024-11-04T23:00:00"),
        ("화, 05 11월 2024 08:00:00 +0900", "2024-11-04T23:00:00"),
        ("星期二, 05 十一月 2024 08:00:00 +0800", "2024-11-05T00:00:00"),
        ("星期二, 01 十月 2024 08:00:00 +0800", "2024-10-01T00:00:00"),
        ("Tue, 05 Nov 2024 08:00:00 \u20130500", "2024-11-05T13:00:00"),
        ("2024-11-05T08:00:00 00:00", "2024-11-05T08:00:00"),
        ("5.11.2024 klo 8.30", "2024-11-05T08:30:00"),
        ("Tue Nov  5 08:00:00 2024 +0100", "2024-11-05T07:00:00"),
        ("2024. 11. 5. 오전 8:00", "2024-11-05T08:00:00"),
        ("5. 11. 2024 08:00", "2024-11-05T08:00:00"),
        ("5 nov 2024 - 8u30", "2024-11-05T08:30:00"),
        ("2 мая 2024, 08:00", "2024-05-02T08:00:00"),
        ("Чтв, 06 Июн 2024 08:00:00 +0300", "2024-06-06T05:00:00"),
        ("12 грудня 2024 08:00", "2024-12-12T08:00:00"),
        ("Cum, 02 Ağu 2024 08:00:00 +0300", "2024-08-02T05:00:00"),
        ("12 Ara 2024 08:00", "2024-12-12T08:00:00"),
        ("Πεμ, 02 Μαΐ 2024 08:00:00 +0300", "2024-05-02T05:00:00"),
        ("to, 02 touko 2024 08:00:00 +0300", "2024-05-02T05:00:00"),
        ("čt, 02 kvě 2024 08:00:00 +0200", "2024-05-02T06:00:00"),
        ("5. července 2024 08:00", "2024-07-05T08:00:00"),
        ("5. června 2024 08:00", "2024-06-05T08:00:00"),
        ("5 lipca 2024 08:00", "2024-07-05T08:00:00"),
        ("5. lipnja 2024. 08:00", "2024-06-05T08:00:00"),
        ("2024. máj. 2. 08:00", "2024-05-02T08:00:00"),
        ("יום ה, 02 במאי 2024 08:00:00 +0300", "2024-05-02T05:00:00"),
        ("الخميس 2 مايو 2024 08:00", "2024-05-02T08:00:00"),
        ("5 de noviembre de 2024, martes, 08:00", "2024-11-05T08:00:00"),
        ("5 novembre 2024, mardi", "2024-11-05T00:00:00"),
        ("Mon, 06 Nov 2023 08:00:00 NOVT", "2023-11-06T01:00:00"),
    ],
)
def test_forms_that_publishers_write_are_read(written: str, expected: str) -> None:
    moment = weigh_date(written).moment

    assert moment is not None
    assert moment.replace(microsecond=0) == datetime.fromisoformat(expected).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "written",
    [
        "",
        None,
        "tomorrow",
        "3 hours ago",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "Thu, 01 Jan 1970 00:00:00 +0000",
        "Wed, 31 Dec 1969 16:00:00 -0800",
        "Wed, 30 Nov -0001 00:00:00 +0000",
        "31 Feb 2020 10:00",
        "99:99",
        "2020",
        "20181301",
    ],
)
def test_what_is_no_date_gives_none(written: str | None) -> None:
    assert weigh_date(written).moment is None


@pytest.mark.parametrize("written", ["1:" * 1_000_000, "9" * 1_000_000, "Mon, " * 200_000, "- " * 500_000])
def test_endless_dates_cost_nothing(written: str) -> None:
    started = time.process_time()

    assert weigh_date(written).moment is None
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize(
    ("zone", "hours"),
    [
        ("America/Los_Angeles", -7),
        ("america/los_angeles", -7),
        ("(America/Los_Angeles)", -7),
        ("[America/Los_Angeles]", -7),
        ("-07:00[America/Los_Angeles]", -7),
        ("-0700 (PDT)", -7),
        ("GMT-0700 (Pacific Daylight Time)", -7),
        ("PDT", -7),
        ("PT", -7),
        ("Pacific Time", -7),
        ("PST8PDT", -7),
        ("Etc/GMT+7", -7),
        ("Etc/GMT-7", 7),
        ("etc/gmt+7", -7),
        ("GMT+7", 7),
        ("UTC-7", -7),
        ("UTC+05:30", 5.5),
        ("Etc/UTC", 0),
        ("Europe/Berlin", 1),
        ("Europe/London", 0),
        ("Asia/Kolkata", 5.5),
        ("Asia/Kathmandu", 5.75),
        ("America/St_Johns", -2.5),
        ("Australia/Adelaide", 10.5),
        ("Pacific/Chatham", 13.75),
        ("America/Argentina/Buenos_Aires", -3),
        ("America/Port-au-Prince", -4),
        ("Japan", 9),
        ("Zulu", 0),
        ("CEST", 2),
        ("NPT", 5.75),
        ("PKT", 5),
        ("ACDT", 10.5),
        ("EET", 2),
        ("Z", 0),
    ],
)
@pytest.mark.parametrize(
    "form", ["Sat, 18 Mar 2023 20:21:00 {}", "2023-03-18T20:21:00{}", "2023-03-18 20:21 {}"]
)
def test_a_zone_is_read_by_any_of_its_names(zone: str, hours: float, form: str) -> None:
    if "T20" in form and zone[0].isalpha() and zone != "Z":
        zone = f" {zone}"
    expected = datetime(2023, 3, 18, 20, 21, tzinfo=UTC) - timedelta(hours=hours)
    assert weigh_date(form.format(zone)).moment == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("29 Oct 2023 01:59:00 Europe/Berlin", "2023-10-28T23:59:00"),
        ("29 Oct 2023 02:30:00 Europe/Berlin", "2023-10-29T00:30:00"),  # twice that night: the first one
        ("29 Oct 2023 03:00:00 Europe/Berlin", "2023-10-29T02:00:00"),
        ("Sat Mar 18 20:21:00 America/New_York 2023", "2023-03-19T00:21:00"),
        ("Thu Feb 9 20:21:00 EST 2023", "2023-02-10T01:21:00"),
        ("9 Jan 2023 20:21:00 ET", "2023-01-10T01:21:00"),
        ("9 Jul 2023 20:21:00 ET", "2023-07-10T00:21:00"),
        ("9 Jul 2023 20:21 Uhr", "2023-07-09T20:21:00"),
        ("20:21 Sunday, 9 July 2023", "2023-07-09T20:21:00"),
        ("20:21 pm, 9 de julio de 2023", "2023-07-09T20:21:00"),
    ],
)
def test_a_zone_of_a_place_is_that_of_the_day(written: str, expected: str) -> None:
    assert weigh_date(written).moment == datetime.fromisoformat(f"{expected}+00:00")


@pytest.mark.parametrize("zone", ["XQZT", "America/Nowhere", "[Mars/Phobos]", "Middle Earth Time"])
@pytest.mark.parametrize("form", ["Sat, 18 Mar 2023 20:21:00 {}", "2023-03-18T20:21:00 {}"])
def test_a_zone_that_nobody_knows_is_no_date(zone: str, form: str) -> None:
    assert weigh_date(form.format(zone)).moment is None


@pytest.mark.parametrize("zone", ["A", "(R)", "N", "y", "I", "M"])
def test_the_letter_of_a_military_zone_is_utc_and_in_doubt(zone: str) -> None:
    reading = weigh_date(f"Sat, 18 Mar 2023 20:21:00 {zone}")
    assert reading.moment == datetime(2023, 3, 18, 20, 21, tzinfo=UTC)
    assert f"letter {zone.strip('()').upper()}" in reading.doubt


@pytest.mark.parametrize("written", ["18 Mar 2023 8:21 p", "18 Mar 2023 8:21 A", "18 Mar 2023 20:21 J"])
def test_a_letter_of_which_nobody_knows_what_it_means_is_no_date(written: str) -> None:
    reading = weigh_date(written)
    assert reading.moment is None
    assert reading.doubt


@pytest.mark.parametrize(
    ("written", "is_in_doubt"),
    [
        ("03/04/2023 10:00", True),
        ("3/4/2023", True),
        ("04/04/2023 10:00", False),
        ("03/14/2023 10:00", False),
        ("14/03/2023 10:00", False),
        ("2023/03/04 10:00", False),
        ("03.04.2023 10:00", False),
        ("18 Mar 2023 20:21 Uhr", False),
        ("18 Mar 2023 20:21 h", False),
        ("18 Mar 2023 8:21 p.m.", False),
        ("18 Mar 2023 20:21:00 Z", False),
        ("2023-03-18T20:21:00+05:30", False),
        ("Sat, 18 Mar 2023 20:21:00 GMT", False),
        ("20:21 a 18 marzo 2023", True),
        ("Thu, 02 May 2567 08:00:00 +0700", True),
    ],
)
def test_a_date_that_can_be_read_in_two_ways_is_in_doubt(written: str, *, is_in_doubt: bool) -> None:
    reading = weigh_date(written)
    assert reading.moment is not None
    assert bool(reading.doubt) == is_in_doubt


@pytest.mark.parametrize(
    ("written", "first", "expected"),
    [
        ("03/04/2023 10:00", "day", "2023-04-03T10:00"),
        ("03/04/2023 10:00", "month", "2023-03-04T10:00"),
        ("03-04-2023 10:00", "month", "2023-03-04T10:00"),
        ("03/14/2023 10:00", "day", "2023-03-14T10:00"),
        ("2023/03/04 10:00", "day", "2023-03-04T10:00"),
    ],
)
def test_what_other_dates_show_decides_between_day_and_month(
    written: str, first: DateOrder, expected: str
) -> None:
    reading = weigh_date(written, first)
    assert (reading.moment, reading.doubt) == (datetime.fromisoformat(f"{expected}+00:00"), "")


def test_a_year_of_the_buddhist_era_is_read_as_ours() -> None:
    assert weigh_date("29 Feb 2567 08:00 +0700").moment == datetime(2024, 2, 29, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("18.03.2023 20:21 МСК", "2023-03-18T17:21"),
        ("Томск, 18.03.2023 20:21", "2023-03-18T20:21"),
        ("2023年3月18日 20:21 北京时间", "2023-03-18T12:21"),
        ("北京时间2023年3月18日20:21", "2023-03-18T12:21"),
        ("2023年3月18日 20:21 日本時間", "2023-03-18T11:21"),
        ("2023년 3월 18일 20:21 한국시간", "2023-03-18T11:21"),
        ("2023年3月18日 20:21 美东时间", "2023-03-19T00:21"),
        ("18. März 2023 20:21 Uhr MEZ", "2023-03-18T19:21"),
        ("18. März 2023, 20.21 Uhr", "2023-03-18T20:21"),
        ("Sat, 18 Mar 2023 20.21.00 +0100", "2023-03-18T19:21"),
        ("18 mars 2023 à 20h21", "2023-03-18T20:21"),
        ("18 mars 2023 à 20 h 21 CET", "2023-03-18T19:21"),
        ("2023年3月18日20时21分", "2023-03-18T20:21"),
        ("2023년 3월 18일 오후 8:21", "2023-03-18T20:21"),
        ("2023年3月18日 下午8:21", "2023-03-18T20:21"),
        ("2023年3月18日 上午12:21", "2023-03-18T00:21"),
        ("18 Mar 2023 8:21 p. m.", "2023-03-18T20:21"),
    ],
)
def test_times_and_zones_are_read_in_the_words_of_other_languages(written: str, expected: str) -> None:
    reading = weigh_date(written)
    assert (reading.moment, reading.doubt) == (datetime.fromisoformat(f"{expected}+00:00"), "")


@pytest.mark.parametrize(
    "written",
    [
        "18 Mar 2023 20:21 Uhr Ortszeit",
        "18 Mar 2023 20:21 local time",
        "2023年3月18日 20:21 当地时间",
        "Sat, 18 Mar 2023 20:21:00 +01000",
        "Sat, 18 Mar 2023 20:21:00 --0400",
        "Sat, 18 Mar 2023 20:21:00 0500",
        "2023-03-18T20:21:00 02:00",
        "Sat, 18 Mar 2023 20:21:00 W. Europe Standard Time",
        "Sat, 18 Mar 2023 20:21:00 +-0400",
        "18 Mar 20:21 - 2023",
    ],
)
def test_a_time_of_no_known_zone_is_no_date(written: str) -> None:
    reading = weigh_date(written)
    assert reading.moment is None
    assert "zone" in reading.doubt
