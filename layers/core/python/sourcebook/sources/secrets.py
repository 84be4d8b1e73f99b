"""API keys, from Secrets Manager: never in the environment, in the table or in a log."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from sourcebook.errors import Retryable, Terminal

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

_KEPT_SECONDS = 300.0
_RETRYABLE = frozenset({"InternalServiceError", "ThrottlingException", "RequestLimitExceeded"})


class SecretUnavailable(Retryable):
    """Secrets Manager could not answer now."""


class SecretMissing(Terminal):
    """There is no such secret, it has no value, or the function may not read it."""


@dataclass(slots=True)
class Secrets:
    """Reads secrets and keeps each for five minutes, so that a rotated key is picked up.

    A secret is a plain string, or a JSON object with the member ``api_key``.
    """

    client: SecretsManagerClient
    monotonic: Callable[[], float] = field(default=time.monotonic)
    _kept: dict[str, tuple[float, str]] = field(default_factory=dict, repr=False)

    def api_key(self, name: str) -> str:
        """Return the API key in a secret.

        Raises:
            SecretUnavailable: if it cannot be read now.
            SecretMissing: if it cannot be read at all.
        """
        kept = self._kept.get(name)
        if kept is not None and self.monotonic() - kept[0] < _KEPT_SECONDS:
            return kept[1]
        try:
            text = self.client.get_secret_value(SecretId=name)["SecretString"]
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "")
            if code in _RETRYABLE:
                raise SecretUnavailable(f"secret {name}: {code}") from error
            raise SecretMissing(
                f"secret {name}: {code}; store the key with `aws secretsmanager put-secret-value "
                f"--secret-id {name} --secret-string KEY`"
            ) from error
        except (BotoCoreError, KeyError) as error:
            raise SecretUnavailable(f"secret {name}: {type(error).__name__}") from error
        key = _key_in(text)
        if not key:
            raise SecretMissing(f"secret {name} has no API key in it; store the key as its plain text")
        self._kept[name] = (self.monotonic(), key)
        return key

    def forget(self, name: str) -> None:
        """Read a secret afresh the next time: the provider has refused the key."""
        self._kept.pop(name, None)


def _key_in(text: str) -> str:
    if not text.lstrip().startswith("{"):
        return text.strip()
    try:
        content = json.loads(text)
    except ValueError:
        return text.strip()
    return str(content.get("api_key", "")).strip()
