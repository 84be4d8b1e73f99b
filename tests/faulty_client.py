"""A DynamoDB client that has bad moments: what the embedded cloud and moto never do, and AWS does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from botocore.exceptions import ClientError, ReadTimeoutError

Draw = Callable[[str], str]
"""Names the fault of a call, given the name of its operation; empty for none."""

CRASH: Final = "crash"
CRASH_AFTER: Final = "crash after"
THROTTLED: Final = "throttled"
ANSWER_LOST: Final = "answer lost"
CONFLICT: Final = "conflict"
PARTLY: Final = "partly"
FAULTS: Final = (CRASH, CRASH_AFTER, THROTTLED, ANSWER_LOST, CONFLICT, PARTLY)

_IN_PARTS: Final = frozenset({"batch_get_item", "batch_write_item", "batch_execute_statement"})


class Crash(BaseException):
    """The function is gone in this moment. No handler of errors sees it, as none sees a kill."""


class FaultyClient:
    """A client each of whose calls may fail as `draw` says.

    ========  =====================================================================================
    crash     the function ends before the request is sent; ``crash after``: before it hears the answer
    throttled the table has no capacity left
    answer…   the request is carried out, and its answer never comes
    conflict  another request holds the item
    partly    of a batch, the second half is left undone, and the answer says so; else as throttled
    ========  =====================================================================================
    """

    def __init__(self, client: Any, draw: Draw) -> None:
        self._client = client
        self._draw = draw

    def __getattr__(self, name: str) -> Any:
        operation = getattr(self._client, name)
        if not callable(operation) or not name.endswith(("item", "items", "query", "scan", "statement")):
            return operation

        def call(**request: Any) -> Any:
            fault = self._draw(name)
            if fault == CRASH:
                raise Crash(name)
            if fault == CONFLICT:
                raise _conflict(name, request)
            if fault == THROTTLED or (fault == PARTLY and name not in _IN_PARTS):
                raise _refusal("ProvisionedThroughputExceededException", name)
            if fault == PARTLY:
                return _half(operation, name, request)
            answer = operation(**request)
            if fault == CRASH_AFTER:
                raise Crash(name)
            if fault == ANSWER_LOST:
                raise ReadTimeoutError(endpoint_url="the table")
            return answer

        return call


class FaultyBucket:
    """A client of S3 that fails as `FaultyClient` does; what S3 has no word for is its SlowDown."""

    def __init__(self, client: Any, draw: Draw) -> None:
        self._client = client
        self._draw = draw

    def __getattr__(self, name: str) -> Any:
        operation = getattr(self._client, name)
        if not callable(operation) or not name.endswith(("_object", "_objects", "_objects_v2")):
            return operation

        def call(**request: Any) -> Any:
            fault = self._draw(name)
            if fault == CRASH:
                raise Crash(name)
            if fault in {CONFLICT, THROTTLED, PARTLY}:
                refusal = _refusal("SlowDown", name)
                refusal.response["ResponseMetadata"] = {"HTTPStatusCode": 503}  # type: ignore[typeddict-item]
                raise refusal
            answer = operation(**request)
            if fault == CRASH_AFTER:
                raise Crash(name)
            if fault == ANSWER_LOST:
                raise ReadTimeoutError(endpoint_url="the bucket")
            return answer

        return call


def _refusal(code: str, operation: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "staged"}}, operation)


def _conflict(operation: str, request: dict[str, Any]) -> ClientError:
    """Refuse as DynamoDB does: a transaction that loses is cancelled, each of its parts with a reason."""
    if operation != "transact_write_items":
        return _refusal("TransactionConflictException", operation)
    error = _refusal("TransactionCanceledException", operation)
    parts = request["TransactItems"]
    reasons = [{"Code": "TransactionConflict"}, *({"Code": "None"} for _ in parts[1:])]
    error.response["CancellationReasons"] = reasons  # type: ignore[typeddict-item]
    return error


def _half(operation: Callable[..., Any], name: str, request: dict[str, Any]) -> Any:
    """Do the first half of a batch and answer as DynamoDB does when it leaves the rest."""
    if name == "batch_execute_statement":
        statements = request["Statements"]
        done = statements[: len(statements) // 2]
        responses = operation(Statements=done)["Responses"] if done else []
        left: list[Any] = [{"Error": {"Code": "ThrottlingError", "Message": "staged"}}]
        return {"Responses": responses + left * (len(statements) - len(done))}
    ((table, wanted),) = request["RequestItems"].items()
    reads = name == "batch_get_item"
    entries = wanted["Keys"] if reads else wanted
    now, later = entries[: len(entries) // 2], entries[len(entries) // 2 :]
    answer: dict[str, Any] = {"Responses": {table: []}} if reads else {}
    if now:
        answer = operation(RequestItems={table: {**wanted, "Keys": now} if reads else now})
    name_of_rest = "UnprocessedKeys" if reads else "UnprocessedItems"
    return {**answer, name_of_rest: {table: {**wanted, "Keys": later} if reads else later}}
