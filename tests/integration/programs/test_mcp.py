"""The server for assistants: an MCP client of the official SDK asks what an analyst and an astronomer ask."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from mcp import StdioServerParameters
from mcp.client import Client

from sourcebook.client import AsyncClient, Retries
from sourcebook_cli.mcp_tools import server
from tests.integration.programs.conftest import Sample
from tests.integration.programs.test_client import python_blocks
from tests.served import Served, problem

pytestmark = pytest.mark.integration

MOST_CALLS = 3
MOST_TOOLS = 12
MOST_BYTES = 8_000
COMMAND = [sys.executable, "-c", "from sourcebook_cli.main import main; main()", "mcp"]


class Assistant:
    """Calls tools, three for a question at most."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._left = MOST_CALLS

    async def __call__(self, tool: str, **arguments: Any) -> Any:
        assert self._left, "a question needs more than three calls"
        self._left -= 1
        answer = await self._client.call_tool(tool, arguments)
        (content,) = answer.content
        assert content.type == "text"
        assert not answer.is_error, content.text
        return json.loads(content.text)


@asynccontextmanager
async def connected(sample: Sample, **options: Any) -> AsyncIterator[Client]:
    async with (
        AsyncClient(sample.server.url, sample.token, **options) as api,
        Client(server(api)) as client,
    ):
        yield client


@asynccontextmanager
async def asking(sample: Sample) -> AsyncIterator[Assistant]:
    async with connected(sample) as client:
        yield Assistant(client)


async def test_the_tools_are_few_read_only_and_shortly_described(sample: Sample) -> None:
    async with connected(sample) as client:
        tools = (await client.list_tools()).tools
        assert client.instructions is not None
        assert "never instructions" in client.instructions
    assert len(tools) <= MOST_TOOLS
    assert all(tool.description and tool.annotations and tool.annotations.read_only_hint for tool in tools)
    listed = json.dumps([tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools])
    assert len(listed.encode()) <= MOST_BYTES


async def test_an_analyst_asks_whose_mood_turned_most_and_why(sample: Sample) -> None:
    async with asking(sample) as ask:
        turned = (await ask("subjects", hours=24, order="change"))["subjects"][0]
        assert (turned["tool_id"], turned["change"]) == ("quartzon", 0.802)
        course = await ask("sentiment", subject=turned["name"], hours=48, course="hour")
        assert course["total_mentions"] == sum(hour["mentions"] for hour in course["course"]) == 2
        returned = (await ask("search_articles", query="subject:quartzon"))["articles"]
        assert (returned[0]["headline"], returned[0]["sentiment"]) == ("Quartzon wins an award", "positive")


async def test_an_analyst_asks_who_reported_a_story_and_what_it_belongs_to(sample: Sample) -> None:
    async with asking(sample) as ask:
        found = (await ask("search_articles", query='orbita "lunar lander"', best_first=True))["articles"]
        first = next(article for article in found if article["key"] == sample.world.story)
        whole = await ask("article", key=first["key"])
        assert {said["source"]: said["url"] for said in whole["said"]} == {
            "wire": "https://wire.example/0",
            "harbor": "https://harbor.example/0",
        }
        (event,) = (await ask("events"))["events"]
        assert event["event_id"] == whole["event_id"]
        assert event["idea"]["direction"] == "up"


async def test_an_analyst_asks_who_pays_most_and_whether_a_bank_has_moved(sample: Sample) -> None:
    async with asking(sample) as ask:
        best = (await ask("best_rates", series="deposit_branch"))["rates"]
        six = next(rate for rate in best if rate.get("term_months") == 6)
        assert (six["rate_pct"], six["banks"]) == (4.6, ["Pier Bank"])
        returned = await ask("rates", series="deposit_branch", bank="Quay Bank", term_months=6, days=7)
        (moved,) = returned["moved"]
        assert (moved["rate_before_pct"], moved["rate_pct"]) == (4.0, 4.5)
        assert [row["rate_pct"] for row in returned["history"]] == [4.0, 4.25, 4.5]
        assert [row["rate_pct"] for row in returned["now"]] == [4.5]


async def test_an_astronomer_asks_how_bright_a_nova_became(sample: Sample) -> None:
    async with asking(sample) as ask:
        curve = await ask("light_curve", nova="V1324 Sco")
        assert curve["brightest"] == {"V": {"magnitude": 11.1, "mjd": 56079.4}}
        at = curve["columns"].index("upper_limit")
        assert [point[2] for point in curve["points"] if point[at]] == ["B"]
        only = await ask("light_curve", nova="nova sco 2012 no. 1", band="V", points=10)
        assert only["by_band"] == {"V": 1}


async def test_an_astronomer_asks_which_spectra_can_be_used(sample: Sample) -> None:
    async with asking(sample) as ask:
        nova = await ask("nova", nova="Nova Sco 2012 No. 1")
        assert nova["primary_name"] == "V1324 Sco"
        assert (
            nova["spectra"] == {"VALID": 1, "UNVALIDATED": 1, "QUARANTINED": 1}
            or sum(nova["spectra"].values()) == 3
        )
        listed = (await ask("spectra", nova=nova["nova_id"]))["spectra"]
        (valid,) = (one for one in listed if one["validation_status"] == "VALID")
        samples = await ask(
            "spectra", nova=nova["nova_id"], data_product_id=valid["data_product_id"], points=50
        )
        (order,) = samples["orders"]
        assert 4.0e-7 < order["wavelength_m"][0] < order["wavelength_m"][-1]


async def test_an_operator_asks_which_sources_are_ill(sample: Sample) -> None:
    async with asking(sample) as ask:
        returned = await ask("sources")
        assert returned["by_health"]["disabled"] >= 1
        assert [one["source_id"] for one in returned["not_healthy"]] == ["silent"]
        near = await ask("find_novae", ra_deg=267.72, dec_deg=-32.62, radius_deg=0.1)
        assert [one["primary_name"] for one in near["novae"]] == ["V1324 Sco"]


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("sentiment", {"subject": "nobody"}, "Quartzon"),
        ("nova", {"nova": "V9999 Sco"}, "There is no nova"),
        ("search_articles", {"query": "soruce:x"}, "source"),
        ("article", {"key": "0" * 32}, "404"),
        ("search_articles", {"limit": 1_000}, "50"),
        ("rates", {"series": "nothing"}, "GET /series"),
    ],
)
async def test_what_is_refused_says_what_would_be_right(
    sample: Sample, tool: str, arguments: dict[str, Any], said: str
) -> None:
    async with connected(sample) as client:
        answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    assert said in str(answer.content)


async def test_a_network_error_is_printed_without_a_traceback(sample: Sample, server: Served) -> None:
    async with connected(sample, retries=Retries(most=0)) as client:
        server.faults.append(problem(503))
        answer = await client.call_tool("sources", {})
        assert answer.is_error
        assert "503" in str(answer.content)
        assert "Traceback" not in str(answer.content)
        assert not (await client.call_tool("sources", {})).is_error


def test_the_example_of_the_docs_runs(sample: Sample, capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = python_blocks("mcp.md")
    exec(compile(example, "mcp.md", "exec"), {"API": sample.server.url, "TOKEN": sample.token})  # noqa: S102
    assert '"magnitude":11.1' in capsys.readouterr().out


def test_the_docs_name_every_tool(sample: Sample) -> None:
    page = (Path(__file__).parents[3] / "docs" / "mcp.md").read_text("utf-8")
    named = {
        name
        for row in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    }

    async def listed() -> set[str]:
        async with connected(sample) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    assert asyncio.run(listed()) == named


async def test_it_is_served_on_stdio(sample: Sample) -> None:
    environment = {"SOURCEBOOK_URL": sample.server.url, "SOURCEBOOK_TOKEN": sample.token}
    command, *arguments = COMMAND
    async with Client(StdioServerParameters(command=command, args=arguments, env=environment)) as client:
        ask = Assistant(client)
        assert (await ask("search_articles", query="orbita"))["articles"]


async def test_it_is_served_over_http_without_state(sample: Sample) -> None:
    with closing(socket.socket()) as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    process = subprocess.Popen(  # noqa: ASYNC220 - nothing else waits meanwhile
        [*COMMAND, "--url", sample.server.url, "--http", str(port)], stderr=subprocess.PIPE, text=True
    )
    try:
        await _until_it_listens(process, port)
        # Each client is a stranger to the server, and none leaves anything behind.
        for _ in range(2):
            async with Client(f"http://127.0.0.1:{port}/mcp") as client:
                assert (await Assistant(client)("best_rates"))["rates"]
    finally:
        process.terminate()
        process.communicate()


async def _until_it_listens(process: subprocess.Popen[str], port: int) -> None:
    for _ in range(600):
        assert process.poll() is None, process.communicate()
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.1)
        else:
            writer.close()
            return
    raise AssertionError("it does not listen")
