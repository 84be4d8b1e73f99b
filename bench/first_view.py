"""How soon the page's first view is there, and how much it loads.

    make up
    .venv/bin/python -m bench.first_view [--url URL] [--rounds 5]

The goals are one second, with the functions warm, and 120 kB compressed. Each round is a browser's first
visit, with nothing kept. "There" is when the articles stand in the list, not the heading alone.
"""

from __future__ import annotations

import argparse
import json
import statistics

from rich.console import Console

from sourcebook_local.project import HOME
from tests.browser import launched, new_page

GOAL_SECONDS = 1.0
GOAL_KILOBYTES = 120.0


def main() -> None:
    """Measure, and print both figures beside their goals."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--url", help="address of the page; by default that of `make up`")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    url = (given.url or json.loads((HOME / "local.json").read_text("utf-8"))["api_url"]).rstrip("/")
    times: list[float] = []
    loaded = 0
    with launched() as browser:
        for _ in range(given.rounds + 1):  # the first finds the functions cold
            page = new_page(browser, viewport={"width": 1200, "height": 900})
            page.goto(f"{url}/")
            page.locator(".story").first.wait_for()
            times.append(page.evaluate("performance.now()") / 1000)
            loaded = page.evaluate(
                """performance.getEntries()
                    .filter(one => one.entryType === "navigation" || /assets/.test(one.name))
                    .reduce((sum, one) => sum + one.encodedBodySize, 0)"""
            )
            page.context.close()
    console = Console()
    warm = times[1:]
    console.print(
        f"first view  {min(warm):.2f} s best, {statistics.median(warm):.2f} s median; goal {GOAL_SECONDS:g} s"
    )
    console.print(f"page        {loaded / 1000:.1f} kB compressed; goal {GOAL_KILOBYTES:g} kB")


if __name__ == "__main__":
    main()
