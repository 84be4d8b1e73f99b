"""Webhooks by the convention of Standard Webhooks: an id, a time, and a signature over both and the body."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from sourcebook.alerts.rules import SECRET_PREFIX
from sourcebook.clock import epoch_seconds
from sourcebook.http.policy import HttpPolicy, parse_networks

EVENT_TYPE: Final = "alert.fired"
AT_ONCE: Final = 20
"""Receivers that are asked at once."""


def webhook_policy(environ: Mapping[str, str]) -> HttpPolicy:
    """Return what webhooks may be: public addresses, and networks that the environment allows."""
    return HttpPolicy(
        allowed_networks=parse_networks(environ.get("HTTP_ALLOWED_NETWORKS", "")),
        contact=environ.get("HTTP_CONTACT", ""),
        total_timeout=10.0,
        max_bytes=64_000,
        max_concurrent=AT_ONCE,
        max_concurrent_per_host=4,
    )


def signed_headers(secret: str, event_id: str, now: datetime, body: bytes) -> dict[str, str]:
    """Return the headers of a delivery.

    Args:
        secret: ``whsec_`` and 24 bytes in base 64.
        event_id: the same at each attempt, by which a receiver knows what it has had.
        now: of this attempt; receivers refuse one that is more than five minutes off.
        body: as it is sent.
    """
    stamp = epoch_seconds(now)
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    digest = hmac.new(key, f"{event_id}.{stamp}.".encode() + body, hashlib.sha256).digest()
    return {
        "content-type": "application/json",
        "webhook-id": event_id,
        "webhook-timestamp": str(stamp),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }
