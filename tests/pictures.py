"""Take pictures of the web page of a running stack.

    make up
    python -m tests.pictures                    # those of README.md and docs/page.md, into docs/images
    python -m tests.pictures --every FOLDER     # every view in three sizes and two schemes, to be looked at

Pictures of the documentation are of one size, light, and of few colours, so that each is small.
"""

from __future__ import annotations

import argparse
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from sourcebook_local.project import HOME, ROOT
from tests.browser import launched, new_page, open_page, wait_for_view

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SIZES = {"wide": (1440, 900), "tablet": (820, 1180), "phone": (390, 844)}
SCHEMES = ("light", "dark")
IMAGES = ROOT / "docs" / "images"
SHOWN = (
    "articles",
    "article",
    "events",
    "sentiment",
    "feeds",
    "rates",
    "nova",
    "case",
    "runs",
    "alerts",
    "exports",
)
"""Views whose pictures stand in the documentation."""
COLOURS = 48
"""Of a picture in the documentation."""


def views(page: Page, url: str) -> Mapping[str, str]:
    """Return the address of every view, by its name, each with something in it where the stack has it."""

    def first(path: str, key: str) -> str:
        items = page.request.get(f"{url}{path}").json()["items"]
        return str(items[0][key]) if items else "none"

    articles = page.request.get(f"{url}/articles").json()["items"]
    story = max(articles, key=lambda article: len(article["sources"]), default={"dedup_key": "none"})
    nova, case = first("/novae?limit=1", "nova_id"), first("/quarantine?limit=1", "quarantine_id")
    return {
        "articles": "",
        "search": "#/articles?q=orders+OR+profit+OR+strike+since:30d",
        "article": f"#/articles/{story['dedup_key']}",
        "events": "#/events",
        "sentiment": f"#/sentiment/{first('/overviews/subjects', 'tool_id')}?hours=168",
        "feeds": "#/feeds",
        "feed": f"#/feeds/{first('/feeds?limit=1', 'feed_id')}",
        "feed-add": "#/feeds?add=1",
        "rates": "#/rates?series=deposit_online",
        "novae": "#/novae",
        "nova": f"#/novae/{nova}",
        "quarantine": "#/quarantine",
        "case": f"#/quarantine/{case}",
        "runs": "#/runs",
        "run": f"#/runs/{first('/job-runs?limit=1', 'job_run_id')}",
        "alerts": "#/alerts?add=article&q=subject:Apple+sentiment:negative",
        "exports": "#/exports",
    }


def taken(browser: Browser, url: str, scheme: str, size: tuple[int, int]) -> Iterator[tuple[str, Page]]:
    """Open every view in a size and a scheme, one after the other."""
    width, height = size
    page = new_page(
        browser,
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        locale="en-GB",
        timezone_id="UTC",
    )
    for name, place in views(page, url).items():
        open_page(page, f"{url}/{place}")
        for chart in page.locator(".chart").all():
            chart.scroll_into_view_if_needed()
        page.evaluate("scrollTo(0, 0)")
        wait_for_view(page)
        yield name, page
    page.context.close()


def small(picture: bytes) -> bytes:
    """Return a PNG of few colours."""
    written = io.BytesIO()
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(written, "png", optimize=True)
    return written.getvalue()


def main() -> None:
    """Take them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--url", help="address of the page; by default that of `make up`")
    parser.add_argument("--every", type=Path, metavar="FOLDER", help="every view in every size and scheme")
    given = parser.parse_args()
    url = (given.url or json.loads((HOME / "local.json").read_text("utf-8"))["api_url"]).rstrip("/")
    with launched() as browser:
        if given.every is None:
            for name, page in taken(browser, url, "light", (1200, 760)):
                if name in SHOWN:
                    (IMAGES / f"page-{name}.png").write_bytes(small(page.screenshot()))
            return
        given.every.mkdir(parents=True, exist_ok=True)
        for scheme in SCHEMES:
            for size_name, size in SIZES.items():
                for name, page in taken(browser, url, scheme, size):
                    page.screenshot(path=given.every / f"{name}-{size_name}-{scheme}.png", full_page=True)


if __name__ == "__main__":
    main()
