from __future__ import annotations

from sourcebook_local.project import ROOT


def test_no_script_of_an_npm_package_runs_at_the_install() -> None:
    assert "ignore-scripts=true" in (ROOT / ".npmrc").read_text().splitlines()
