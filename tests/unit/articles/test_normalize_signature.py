"""The tokens whose meaning lies in their punctuation: which they are and how they are written."""

from __future__ import annotations

import pytest

from sourcebook.articles.normalize import signature


@pytest.mark.parametrize(
    ("headline", "expected"),
    [
        ("Fed holds rates", ""),
        ("Apple reports Q4 in 2026", ""),
        ("Inflation at 1.5%", "1.5%"),
        ("Slack cuts 1,500 jobs", ""),
        ("Slack pays $1,500.50", "$1500.50"),
        ("1,00,000 homes and 12,50,000.5 more", "1250000.5"),
        ("A deal for $1.5bn", "$1.5"),
        ("Preis: 1.234,56 €", "€1234.56"),
        ("1.234.567 Stimmen", ""),
        ("0,125 and 10,5", "0.125 10.5"),
        ("Ubuntu 12.04 and Ruby 1.9.3", "12.04 1.9.3"),
        ("From -3% to −$4 to $-5 to –6", "-3% -$4 -$5 -6"),
        ("A range of 3-5 or 3–5%", "3-5 3-5%"),
        ("COVID-19, F-35 and 7-Eleven", ""),
        ("7-1/2-month high", "7-1/2"),
        ("Ends ... 5 things", ""),
        ("Batting .300", "0.300"),
        ("Paid 5 $6", "$6"),
        ("Between 15 € and 20 €", "€15 €20"),
        ("Up 3‰", "3‰"),
        ("نسبة ١٫٥٪", "١.٥%"),
        ("C, C++20, C#, F# and .NET", "c++ c# f# .net"),
        ("ASP.NET and Node.js", ""),
        ("Disney+ and Galaxy S9+", "disney+ s9+"),
        ("Spain falls to BBB-, from A+.", "bbb- a+"),
        ("Plan B - what now", ""),
        ("B-52 and A-list", ""),
        ("They re‑signed", "re-signed"),
    ],
)
def test_tokens(headline: str, expected: str) -> None:
    assert signature(headline) == expected


def test_tokens_keep_their_order_and_their_repetitions() -> None:
    assert signature("From 1.5% in C++ to 2.5% in C# and 1.5% again") == "1.5% c++ 2.5% c# 1.5%"


@pytest.mark.parametrize(
    "headline",
    [
        "UPDATE 2-Oil falls 1.5%",
        "WRAPUP 1-UPDATE 3-Oil falls 1.5% - Reuters",
        "Reuters - oil falls 1.5%",
        "<b>Oil</b> falls 1.5&#37;",
        "OIL FALLS １．５％ | Channel 4.5",
        "(UPDATE 2) Oil falls 1.5% (Update 3)",
    ],
)
def test_labels_and_publishers_leave_no_token(headline: str) -> None:
    assert signature(headline, ["Channel 4.5"]) == "1.5%"
