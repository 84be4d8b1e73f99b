from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from sourcebook.clock import epoch_seconds, isoformat, parse_iso, to_utc

HANOI = timezone(timedelta(hours=7))


def test_time_is_written_in_utc_to_the_second() -> None:
    assert isoformat(datetime(2026, 11, 27, 6, 30, 5, 999, HANOI)) == "2026-11-26T23:30:05Z"


def test_what_was_written_is_read_back_aware() -> None:
    assert parse_iso("2026-11-26T23:30:05Z") == datetime(2026, 11, 26, 23, 30, 5, tzinfo=UTC)


def test_epoch_seconds_are_whole() -> None:
    assert epoch_seconds(datetime(1970, 1, 1, 7, 0, 1, 900_000, HANOI)) == 1


@pytest.mark.parametrize("use", [isoformat, to_utc, epoch_seconds])
def test_a_naive_time_is_refused(use: object) -> None:
    with pytest.raises(ValueError, match="time zone"):
        use(datetime(2026, 11, 27))  # type: ignore[operator]  # noqa: DTZ001
