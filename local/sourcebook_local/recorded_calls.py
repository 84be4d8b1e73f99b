"""Records the calls of functions as AWS checks them: action, resource and condition keys.

The embedded cloud checks some requests under other names than AWS, and looks at no partition key. So tests
have each request of a function recorded here, as AWS's Service Authorization Reference has it.

This file runs in MiniStack's interpreter, where nothing of the project can be imported, and in the tests.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qsl, unquote

REGION, ACCOUNT = "us-east-1", "000000000000"

_ROLE = re.compile(r"arn:aws:sts::\d+:assumed-role/(?P<role>[^/]+)/.*")
_ITEM = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
}
"""Members of a transaction by the action that each is checked as."""
_STATEMENT = re.compile(
    r'\s*(?P<kind>\w+)\s+(?:.*?\bFROM\s+|INTO\s+)?"?(?P<table>[\w.-]+)"?', re.DOTALL | re.IGNORECASE
)
_EQUALS = re.compile(r"\s*\(?\s*[#\w]+\s*=\s*(?P<value>:\w+)")
_SAME_AS = {"SendMessageBatch": "SendMessage", "PublishBatch": "Publish", "HeadObject": "GetObject"}
"""Operations by the action that AWS checks them as."""


class Request(Protocol):
    """The parts of a request that are used; `request_guard.Incoming` has them."""

    @property
    def method(self) -> str:
        """Of HTTP."""

    @property
    def raw_path(self) -> str:
        """The path as it was sent."""

    def header(self, name: str) -> str | None:
        """Return the value of a header."""

    def parameters(self) -> dict[str, str]:
        """Return the parameters of the query."""


@dataclass(frozen=True)
class Call:
    """One request as a policy sees it.

    Attributes:
        action: such as ``dynamodb:GetItem``.
        resource: its ARN, or ``*`` where it is not known.
        keys: values of condition keys of the request, by their names.
    """

    action: str
    resource: str = "*"
    keys: tuple[tuple[str, tuple[str, ...]], ...] = ()


class CallRecord:
    """Records each kind of call that a role makes, once.

    Of partition keys with the same text before their first ``#``, one is recorded.
    """

    def __init__(self, file: Path, arn_of: Callable[[str], str]) -> None:
        """Create the file.

        Args:
            file: gets a line in JSON for each call.
            arn_of: returns the ARN of the principal of an access key.
        """
        self._file = file
        self._arn_of = arn_of
        self._seen: set[object] = set()
        self._streams: dict[str, str] = {}
        self._lock = threading.Lock()
        file.parent.mkdir(parents=True, exist_ok=True)

    def __call__(self, access_key: str, service: str, request: Request, body: bytes) -> None:
        """Record a request that a role has made."""
        found = _ROLE.fullmatch(self._arn_of(access_key))
        if found is None:
            return
        role = found["role"]
        try:
            for call in calls_of(service, request, body):
                self._write(role, self._of_stream(role, call))
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            # The request goes on; whoever reads the record sees that it could not be read.
            self._write(role, Call(f"{service}:unread", f"{type(error).__name__}: {error}"))

    def _of_stream(self, role: str, call: Call) -> Call:
        """Return a call with the stream of the iterator that it names."""
        if call.action in {"dynamodb:GetShardIterator", "dynamodb:DescribeStream"}:
            self._streams[role] = call.resource
        elif call.action == "dynamodb:GetRecords":
            return Call(call.action, self._streams.get(role, "*"))
        return call

    def _write(self, role: str, call: Call) -> None:
        kinds = tuple((name, tuple(sorted({_kind(value) for value in values}))) for name, values in call.keys)
        key = (role, call.action, _kind_of_resource(call.resource), kinds)
        with self._lock:
            if key in self._seen:
                return
            self._seen.add(key)
            line = {"role": role, "action": call.action, "resource": call.resource, "keys": dict(call.keys)}
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")


def calls_of(service: str, request: Request, body: bytes) -> Iterator[Call]:
    """Return the calls that AWS checks for a request."""
    if service == "s3":
        yield from _s3(request)
        return
    target = request.header("x-amz-target") or ""
    if not target:
        fields = dict(parse_qsl(body.decode("utf-8", "replace")))
        yield from _by_query(service, fields)
        return
    operation = target.rpartition(".")[2]
    sent = json.loads(body or b"{}")
    if target.startswith("DynamoDBStreams_"):
        yield Call(f"dynamodb:{operation}", sent.get("StreamArn", "*"))
    elif service == "dynamodb":
        yield from _dynamodb(operation, sent)
    else:
        action = f"{service}:{_SAME_AS.get(operation, operation)}"
        for resource in _named(service, sent):
            yield Call(action, resource)


def _dynamodb(operation: str, sent: Mapping[str, Any]) -> Iterator[Call]:
    if operation in {"TransactWriteItems", "TransactGetItems"}:
        for member in sent["TransactItems"]:
            ((kind, item),) = member.items()
            action = f"dynamodb:{_ITEM.get(kind, 'GetItem')}"
            yield Call(action, _table(item["TableName"]), _leading([item.get("Key") or item.get("Item")]))
    elif operation in {"ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction"}:
        statements = sent.get("Statements") or sent.get("TransactStatements") or [sent]
        for statement in statements:
            found = _STATEMENT.match(statement["Statement"])
            if found is None:
                yield Call(f"dynamodb:{operation}")
            else:
                yield Call(f"dynamodb:PartiQL{found['kind'].title()}", _table(found["table"]))
    elif operation in {"BatchGetItem", "BatchWriteItem"}:
        for name, wanted in sent["RequestItems"].items():
            rows = wanted["Keys"] if operation == "BatchGetItem" else [_written(one) for one in wanted]
            yield Call(f"dynamodb:{operation}", _table(name), _leading(rows))
    else:
        resource = _table(sent["TableName"]) if "TableName" in sent else "*"
        if "IndexName" in sent:
            resource += f"/index/{sent['IndexName']}"
        row = sent.get("Key") or sent.get("Item")
        keys = _leading([row]) if row else _asked(sent)
        yield Call(f"dynamodb:{operation}", resource, keys)


def _written(request: Mapping[str, Any]) -> Mapping[str, Any]:
    ((_, wanted),) = request.items()
    row: Mapping[str, Any] = wanted.get("Item") or wanted["Key"]
    return row


def _leading(rows: list[Any]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    values = {str(next(iter(row["PK"].values()))) for row in rows if row and "PK" in row}
    return (("dynamodb:LeadingKeys", tuple(sorted(values))),)


def _asked(sent: Mapping[str, Any]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found = _EQUALS.match(sent.get("KeyConditionExpression", ""))
    if found is None:
        return ()
    value = sent["ExpressionAttributeValues"][found["value"]]
    return (("dynamodb:LeadingKeys", (str(next(iter(value.values()))),)),)


def _table(name: str) -> str:
    return name if name.startswith("arn:") else f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{name}"


def _by_query(service: str, fields: Mapping[str, str]) -> Iterator[Call]:
    operation = fields.get("Action", "")
    if (service, operation) == ("sts", "GetCallerIdentity"):
        return  # nobody needs a permission for it
    resource = fields.get("TopicArn") or fields.get("TargetArn") or "*"
    yield Call(f"{service}:{_SAME_AS.get(operation, operation)}", resource)


def _named(service: str, sent: Mapping[str, Any]) -> Iterator[str]:
    if service == "sqs":
        yield f"arn:aws:sqs:{REGION}:{ACCOUNT}:{str(sent.get('QueueUrl', '')).rpartition('/')[2]}"
    elif service == "events":
        for name in {entry.get("EventBusName", "default") for entry in sent.get("Entries", ())}:
            yield name if name.startswith("arn:") else f"arn:aws:events:{REGION}:{ACCOUNT}:event-bus/{name}"
    elif service == "states":
        yield sent.get("stateMachineArn") or sent.get("executionArn") or "*"
    elif service == "secretsmanager":
        yield sent.get("SecretId", "*")
    else:
        yield "*"


def _s3(request: Request) -> Iterator[Call]:
    bucket, _, key = unquote(request.raw_path).lstrip("/").partition("/")
    query = request.parameters()
    arn = f"arn:aws:s3:::{bucket}"
    if not key:
        action = {"GET": "ListBucket", "HEAD": "ListBucket"}.get(
            request.method, f"{request.method.title()}Bucket"
        )
        yield Call(f"s3:{action}", arn, (("s3:prefix", (query["prefix"],)),) if "prefix" in query else ())
        return
    if source := request.header("x-amz-copy-source"):
        yield Call("s3:GetObject", f"arn:aws:s3:::{unquote(source).lstrip('/').partition('?')[0]}")
    # Parts of an upload are put by the permission of the whole.
    actions = {"GET": "GetObject", "HEAD": "GetObject", "PUT": "PutObject", "POST": "PutObject"}
    yield Call(f"s3:{actions.get(request.method, 'DeleteObject')}", f"{arn}/{key}")


def _kind(value: str) -> str:
    name, mark, _ = value.partition("#")
    return name if mark else re.sub(r"[0-9a-f]", "0", value)


def _kind_of_resource(arn: str) -> str:
    """Return an ARN without the parts that differ between objects or executions."""
    if arn.startswith("arn:aws:s3:::"):
        return "/".join(re.sub(r"[0-9a-f]{6,}|\d+", "0", part) for part in arn.split("/"))
    return arn.rpartition(":")[0] if ":execution:" in arn else arn
