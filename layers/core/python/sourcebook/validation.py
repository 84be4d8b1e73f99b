"""From pydantic's errors to this project's: one sentence on the first field that is wrong."""

from __future__ import annotations

from pydantic import ValidationError

from sourcebook.errors import InvalidInput


def first_wrong(error: ValidationError, whole: str, *, within: tuple[str, ...] = ()) -> InvalidInput:
    """Return the error that names the first field that breaks a rule; it is for the caller to raise.

    Args:
        error: what pydantic found.
        whole: what to name when the value as a whole is wrong and not one of its fields.
        within: names on the way to the value, for a field of a field.
    """
    first = error.errors(include_url=False, include_context=False)[0]
    field = ".".join(str(part) for part in (*within, *first["loc"])) or whole
    rule = first["msg"].removeprefix("Value error, ")
    return InvalidInput(field, first.get("input"), rule[:1].lower() + rule[1:])
