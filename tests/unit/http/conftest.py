from collections.abc import AsyncIterator

import pytest

from sourcebook.http import HttpClient
from tests.unit.http.servers import quick


@pytest.fixture
async def client() -> AsyncIterator[HttpClient]:
    async with HttpClient(quick()) as client:
        yield client
