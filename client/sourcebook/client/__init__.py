"""The client of the API: what a program needs to read a stack, and to change what an operator may.

    from sourcebook.client import Client

    with Client("https://abc.execute-api.us-east-1.amazonaws.com", token="sb_…") as sourcebook:
        for article in sourcebook.articles("ferry since:7d").take(10):
            print(article.timestamp, article.headline)

It needs httpx and pydantic, and nothing else of this project: it is a distribution of its own,
``sourcebook-client``. docs/client.md has more.
"""

from sourcebook.client._asking import Retries
from sourcebook.client._async import AsyncClient, AsyncPages
from sourcebook.client._sync import Client, Pages
from sourcebook.client.errors import (
    Busy,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    Refused,
    SourcebookError,
    Unreachable,
    Unreadable,
)

__all__ = [
    "AsyncClient",
    "AsyncPages",
    "Busy",
    "Client",
    "Conflict",
    "Forbidden",
    "Invalid",
    "NotFound",
    "Pages",
    "Refused",
    "Retries",
    "SourcebookError",
    "Unreachable",
    "Unreadable",
]
