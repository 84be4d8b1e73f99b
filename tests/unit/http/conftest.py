from collections.abc import AsyncIterator

import pytest

from sourcebook.http.client import HttpClient
from tests.unit.http.servers import quick


@pytest.fixture
async def client() -> AsyncIterator[HttpClient]:
    # A busy machine is slow, not wrong: tests of what takes too long have clients of their own.
    async with HttpClient(quick(connect_timeout=30.0, read_timeout=30.0, total_timeout=30.0)) as client:
        yield client
