"""How secrets look, for the tests that look for them where none may be."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from sourcebook_local.astronomy.services import ADS_TOKEN
from sourcebook_local.samples import API_KEYS

SHAPES: Final = {
    "token of this project": re.compile(r"\bsb_[0-9a-f]{16}_[A-Za-z0-9_-]{43}"),
    "bearer token": re.compile(r"\bBearer\s+(?!sb_…|realm=)[A-Za-z0-9._~+/-]{16,}", re.IGNORECASE),
    "AWS access key": re.compile(r"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b"),
    "AWS secret key": re.compile(
        r"(?:secret_?access_?key|SecretAccessKey|aws_secret\w*)['\"\\\s:=]{1,8}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])",
        re.IGNORECASE,
    ),
    "AWS session token": re.compile(
        r"(?:session_?token|SecurityToken)['\"\\\s:=]{1,8}[A-Za-z0-9/+=]{60,}", re.IGNORECASE
    ),
    "AWS signature": re.compile(r"(?:\bSignature=|X-Amz-Signature=)[0-9a-f]{64}"),
    "authorization header": re.compile(
        r"['\"]?(?:authorization|x-finnhub-token)['\"]?\s*[:=]\s*['\"]?(?:Token|Basic|AWS4)\b", re.IGNORECASE
    ),
    "private key": re.compile(r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----"),
}


def secrets_in(text: str, known: Iterable[str] = ()) -> list[tuple[str, str]]:
    """Return what looks like a secret, and which of the `known` ones are there, each with its surroundings.

    The secret itself is left out of what is returned, for it ends in a report.
    """
    found = [(name, match.start()) for name, shape in SHAPES.items() for match in shape.finditer(text)]
    found += [
        ("a secret of the tests", text.index(secret))
        for secret in {*API_KEYS.values(), ADS_TOKEN, *known}
        if secret in text
    ]
    return [(name, f"{text[max(0, start - 80) : start]}…") for name, start in found]
