"""The one tree of errors.

::

    SourcebookError
    ├── Retryable            the same call may succeed later: retry with backoff
    ├── Terminal             it will never succeed: record it and go on
    │   └── InvalidInput     a value from outside is wrong: field, value, what would be right
    │       ├── NotThere     it names what is not there
    │       └── DoesNotFit   it does not go together with what is there
    └── Quarantine           a person must decide

Step Functions matches errors by class name and HTTP answers map them by class, each in one place.
A message is written for whoever reads it next: it says what is wrong and what would be right, and
never carries a secret or a body.
"""

from __future__ import annotations

_SHOWN = 80
_LONGEST_FIELD = 200


def shorten(value: object, limit: int = _SHOWN) -> str:
    """Return ``repr(value)`` cut to `limit` characters, for messages."""
    text = repr(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def printable(text: str) -> str:
    """Return text from outside fit for one line of a log.

    What is not printable becomes U+FFFD: control characters, those of C1 and the Unicode line ends among
    them, which JSON leaves as they are, and what turns the direction of a line.
    """
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


class SourcebookError(Exception):
    """Base of every error that this project raises on purpose."""


class Retryable(SourcebookError):
    """The same call may succeed later."""


class Terminal(SourcebookError):
    """Repeating the call cannot help."""


class Quarantine(SourcebookError):
    """The data is kept aside until a person has looked at it."""


class InvalidInput(Terminal):
    """A value that came from outside breaks a rule.

    Attributes:
        field: the name of the field or parameter, as its sender knows it. It may come from outside too: one
            that is empty, not printable, or longer than 200 characters is written as `shorten` writes it.
        value: what stood there, whole: shorten it before it is shown. None where nothing did.
        expected: what would be right, in words.
    """

    def __init__(self, field: str, value: object, expected: str) -> None:
        is_fit = field.isprintable() and 0 < len(field) <= _LONGEST_FIELD
        self.field = field if is_fit else shorten(field)
        self.value = value
        self.expected = expected
        wrong = " is missing" if value is None else f": {shorten(value)} is not valid"
        super().__init__(f"{self.field}{wrong}; expected {expected}")


class NotThere(InvalidInput):
    """What a value names is not there."""


class DoesNotFit(InvalidInput):
    """A value does not go together with what is there."""
