"""What a function that runs by the clock counts."""

from __future__ import annotations

import json

import pytest

from sourcebook.counting import count


def test_what_has_happened_is_counted_and_what_has_not_costs_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Sourcebook")
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "sweep_spectra")
    count(SpectraDue=0, SpectraOverdueMinutes=0)
    assert capsys.readouterr().out == ""
    count(SpectraDue=2, SpectraOverdueMinutes=0)
    (line,) = capsys.readouterr().out.splitlines()
    written = json.loads(line)
    (described,) = written["_aws"]["CloudWatchMetrics"]
    assert described["Namespace"] == "Sourcebook"
    assert described["Dimensions"] == [["service"]]
    assert described["Metrics"] == [{"Name": "SpectraDue", "Unit": "Count"}]
    assert (written["SpectraDue"], written["service"]) == ([2.0], "sweep_spectra")
