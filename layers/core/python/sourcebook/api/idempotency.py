"""The same write sent twice is done once, when its sender gives it a key.

After draft-ietf-httpapi-idempotency-key-header.

The key is claimed in the table before the operation runs and has the answer put beside it afterwards. Only
an answer of success is kept: where nothing was done, sending it again is the right thing.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from boto3.dynamodb.conditions import Attr

from sourcebook.api.requests import Request
from sourcebook.api.responses import Refusal, Response
from sourcebook.clock import Clock, epoch_seconds, isoformat, utc_now
from sourcebook.errors import InvalidInput, SourcebookError
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table
from sourcebook.table.codec import Item

KEPT: Final = timedelta(hours=24)
"""How long an answer is given again."""
CLAIM: Final = timedelta(seconds=60)
"""How long a request may take, with room to spare: the function is stopped after 29 seconds."""
LARGEST: Final = 350_000
"""Bytes of an answer, compressed, that fit into an item beside the rest."""

_KEY: Final = re.compile(r'"?([!#-\[\]-~]{1,128})"?', re.ASCII)
_EXPECTED: Final = "1 to 128 visible ASCII characters without quotes or backslashes, such as a UUID"


@dataclass(frozen=True, slots=True)
class IdempotentRequests:
    """Does each write with a key once, and gives the first answer again after that."""

    table: Table
    clock: Clock = utc_now
    new_id: Callable[[], str] = lambda: str(uuid.uuid4())

    def answer(self, request: Request, key: str, handle: Callable[[Request], Response]) -> Response:
        """Answer a request, or give the answer that the same request had.

        Args:
            request: its `id` is replaced by the one that the first request with this key had.
            key: value of the header ``Idempotency-Key``.
            handle: does what is asked.

        Raises:
            InvalidInput: if the key is none.
            Refusal: if the key came with another request before, or that request is still being answered.
        """
        read = _KEY.fullmatch(key.strip())
        if read is None:
            raise InvalidInput("Idempotency-Key", key, _EXPECTED)
        # A key belongs to its caller: nobody else can meet its answer.
        place = keys.idempotent_request(_digest(request.caller or "", read[1]))
        asked = _digest(request.route, json.dumps(dict(request.path), sort_keys=True), request.body)
        claim = self._claim(place, asked, request.id or self.new_id())
        if "answer" in claim:
            return _stored(claim["answer"])
        try:
            response = handle(replace(request, id=claim["request_id"]))
        except BaseException as error:
            if failure := self._release(place, claim["claimed_by"]):
                error.add_note(f"The claim of its Idempotency-Key stays until it ends by itself: {failure}")
            raise
        if 200 <= response.status < 300:
            return self._kept(place, claim["claimed_by"], response)
        return replace(response, cause=response.cause or self._release(place, claim["claimed_by"]))

    def _claim(self, place: keys.Key, asked: str, request_id: str) -> Item:
        """Return the claim of this request, or the item with its answer."""
        now = self.clock()
        item: Item = {
            **place,
            "entity_type": "IdempotentRequest",
            "schema_version": "1",
            "asked": asked,
            "request_id": request_id,
            "claimed_by": self.new_id(),
            "claimed_until": isoformat(now + CLAIM, "milliseconds"),
            "created_at": isoformat(now),
            "ttl_timestamp": epoch_seconds(now + KEPT),
        }
        try:
            # DynamoDB deletes late: what has expired counts as absent in the condition itself.
            self.table.put(item, Attr("PK").not_exists() | Attr("ttl_timestamp").lte(epoch_seconds(now)))
        except ConditionFailed as found:
            return self._claimed_before(found.item, item, place)
        return item

    def _claimed_before(self, there: Item | None, item: Item, place: keys.Key) -> Item:
        if there is None:
            raise _underway("The request with this key was being withdrawn. Send it again.") from None
        if there["asked"] != item["asked"]:
            raise Refusal(
                422,
                "This Idempotency-Key came with another request before. Give each request a key of its own.",
                "Idempotency-Key",
            ) from None
        if "answer" in there:
            return there
        try:
            # Whoever claimed it has been stopped in the middle; what was begun keeps its id.
            return self.table.update(
                place,
                assign={"claimed_by": item["claimed_by"], "claimed_until": item["claimed_until"]},
                condition=Attr("claimed_by").eq(there["claimed_by"])
                & Attr("claimed_until").lt(isoformat(self.clock(), "milliseconds"))
                & Attr("answer").not_exists(),
            )
        except ConditionFailed as found:
            if found.item is not None and "answer" in found.item:
                return found.item
            raise _underway(
                "The request with this Idempotency-Key is being answered now. Send it again in a moment."
            ) from found

    def _kept(self, place: keys.Key, claimed_by: str, response: Response) -> Response:
        """Put the answer beside the key and return it.

        What was done is answered even when that fails; and it is logged. The same request is then done
        again when it is sent again, which every operation can bear.
        """
        answer = _written(response)
        if len(answer) > LARGEST:
            return replace(response, cause=self._release(place, claimed_by))
        try:
            self.table.update(place, assign={"answer": answer}, condition=Attr("claimed_by").eq(claimed_by))
        except SourcebookError as error:
            return replace(response, cause=error)
        return response

    def _release(self, place: keys.Key, claimed_by: str) -> SourcebookError | None:
        """Delete the claim, and return the error if that failed; the claim then ends by itself."""
        try:
            self.table.delete(place, Attr("claimed_by").eq(claimed_by))
        except SourcebookError as error:
            return error
        return None


def _underway(detail: str) -> Refusal:
    return Refusal(409, detail, "Idempotency-Key", {"retry-after": "1"})


def _digest(*parts: str) -> str:
    text = json.dumps(parts).encode()
    return hashlib.sha256(text).hexdigest()


def _written(response: Response) -> bytes:
    content = {
        "status": response.status,
        "body": response.body,
        "content_type": response.content_type,
        "headers": dict(response.headers),
    }
    return gzip.compress(json.dumps(content).encode(), mtime=0)


def _stored(answer: Any) -> Response:  # noqa: ANN401 - bytes, or boto3's wrapper of them
    content: Mapping[str, Any] = json.loads(gzip.decompress(bytes(answer)))
    return Response(
        content["body"],
        content["status"],
        content["content_type"],
        {**content["headers"], "idempotent-replayed": "true"},
    )
