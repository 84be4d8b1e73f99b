"""A process that runs the function fetch_sources once, as a module with `python -m`.

It reads an event from its standard input, and writes what the function answers and the most memory that it
has needed.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from sourcebook.table import client
from tests.growth import peak_memory
from tests.moto_table import MotoTable

HANDLER = Path(__file__).parents[3] / "lambdas" / "fetch_sources" / "handler.py"


@dataclass(frozen=True)
class Context:
    function_name: str = "fetch_sources"
    memory_limit_in_mb: int = 1024
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:123456789012:function:fetch_sources"
    aws_request_id: str = "52fdfc07-2182-454f-963f-5f0f9a621d72"

    def get_remaining_time_in_millis(self) -> int:
        return 120_000


def main() -> None:
    client.Table = MotoTable  # type: ignore[misc]
    spec = importlib.util.spec_from_file_location("fetch_handler", HANDLER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    answer = module.handler(json.load(sys.stdin), Context())
    sys.stdout.write(json.dumps({"answer": answer, "peak": peak_memory()}))


if __name__ == "__main__":
    main()
