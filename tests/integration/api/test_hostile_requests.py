"""Bodies that no form sends: each is refused by name, none is an error of ours."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from sourcebook.api.tokens import TokenStore
from sourcebook.table.client import Table
from tests.integration.api.conftest import Context, Log, event

pytestmark = pytest.mark.integration

URL = '"url": "https://ledger.example/feed.xml"'
BODIES = {
    "half a character as a field": f'{{{URL}, "\\ud800": 1}}',
    "half a character as a name": f'{{{URL}, "name": "\\udfff"}}',
    "half a character as a tag": f'{{{URL}, "tags": ["\\ud800"]}}',
    "half a character as an address": '{"url": "https://ledger.example/\\ud800"}',
    "half a character as an id": f'{{{URL}, "feed_id": "\\ud800"}}',
    "an endless number": f'{{{URL}, "priority": 1e400}}',
    "no number": f'{{{URL}, "priority": NaN}}',
    "a long field": f'{{{URL}, "{"x" * 1_000_000}": 1}}',
    "an empty field": f'{{{URL}, "": 1}}',
    "a line end in a field": f'{{{URL}, "a\\r\\nset-cookie: b": 1}}',
    "nested too deeply": "[" * 100_000,
    "a list": "[1]",
    "nothing": "",
    "a running address": '{"url": "javascript:alert(1)"}',
    "an address with a password": '{"url": "https://user:hush@ledger.example/"}',
    "two addresses": f'{{{URL}, "site": "https://ledger.example"}}',
    "the same field twice, the last one wrong": f'{{{URL}, "enabled": true, "enabled": 1}}',
}


@pytest.mark.parametrize("what", BODIES)
def test_a_body_that_cannot_be_meant_is_refused_by_name(
    handler: Any, log: Log, table: Table, what: str
) -> None:
    _, token = TokenStore(table).create("test", ["write"], timedelta(hours=1))
    sent = event("/feeds", headers={"authorization": f"Bearer {token}", "content-type": "application/json"})
    sent |= {"routeKey": "POST /feeds", "body": BODIES[what]}
    answer = handler.handler(sent, Context())
    assert answer["statusCode"] == 400, answer["body"][:300]
    problem = json.loads(answer["body"].encode())
    assert problem["parameter"]
    assert len(answer["body"]) < 2_000
    assert "hush" not in answer["body"] or what == "an address with a password"
    (line,) = log()
    assert (line["message"], line["status"]) == ("request_answered", 400)
    assert token not in json.dumps(line)
