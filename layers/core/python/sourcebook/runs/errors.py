"""How an error is recorded, and in which of three classes it leaves a task."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final

from sourcebook.errors import Quarantine, Retryable
from sourcebook.schema import UUID

MESSAGE_LIMIT: Final = 300

_CHANGING = re.compile(rf"'[^']*'|\"[^\"]*\"|{UUID}|\b[0-9a-f]{{16,}}\b|[+-]?\d+(?:\.\d+)?")


class Held(Quarantine):
    """Only a reviewer can decide what a task found.

    Attributes:
        reason_code: why, as a word to filter by.
        context: small facts to decide by; no secrets, no bodies.
    """

    def __init__(self, reason_code: str, message: str, context: Mapping[str, Any] | None = None) -> None:
        self.reason_code = reason_code
        self.context = dict(context or {})
        super().__init__(message)


def error_fingerprint(error: BaseException | str, kind: str) -> str:
    """Return a text that is equal for equal errors, e.g. ``ArchiveUnavailable:3f9a01c2``.

    It is the kind, and a digest of the message without quoted values, ids and numbers.
    """
    shape = _CHANGING.sub("…", str(error))
    return f"{kind}:{hashlib.sha256(shape.encode()).hexdigest()[:8]}"


def short_message(error: BaseException | str) -> str:
    """Return an error's message as it is recorded: one line of at most 300 characters."""
    return " ".join(str(error).split())[:MESSAGE_LIMIT]


def as_step_functions_knows(error: Exception) -> Exception:
    """Return the error to raise to Step Functions, which compares the exact name of a class.

    A child of Retryable or Quarantine leaves as that class itself, with its own name in the message, so
    that a state machine lists these two words and not every class there is or will be.
    """
    for base in (Retryable, Quarantine):
        if isinstance(error, base) and type(error) is not base:
            return base(f"{type(error).__name__}: {error}")
    return error
