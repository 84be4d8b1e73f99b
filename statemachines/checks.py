"""The check of an input at the start of an execution, made of the model that the API checks it by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sourcebook.inputs import Input, Schema, without_null
from statemachines import states as asl
from statemachines.bookkeeping import CORRELATION_ID, REFUSE

PASSED_ALONG: Final = ("correlation_id", "Comment", "AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID")
"""Fields of every workflow: an id to join the logs by; what the console offers as a first input; and what an
execution adds that starts another one."""

_ID: Final = "$states.input.correlation_id"
_NO_BLANK: Final = r"\S"


def check(model: type[Input]) -> asl.Fields:
    """Return the state that lets right inputs pass, and names the first wrong field of any other."""
    described = model.json_schema()["properties"]
    names = [*described, *PASSED_ALONG]
    unknown = f"$filter($keys($states.input), function($name) {{ $not($name in [{_listed(names)}]) }})"
    return asl.choice(
        "Its fields, as the API declares them. The first one that is wrong is named.",
        _refusal("input", "an object", "$type($states.input) != 'object'", "$states.input"),
        _refusal(
            f"$string({unknown}[0])",
            f"only the fields {', '.join(names[:-2])} here",
            f"$count({unknown}) > 0",
            f"$lookup($states.input, {unknown}[0])",
            comment="A misspelt field must not quietly mean something else",
        ),
        _refusal(
            "correlation_id",
            "a text of 1 to 128 letters, digits and . _ : -, or nothing",
            f"$exists({_ID}) and $not({_matches(_ID, f'^(?:{CORRELATION_ID})$')})",
        ),
        *([_one_of(*model.EITHER)] if model.EITHER else []),
        *(_wrong(model, name, without_null(schema)) for name, schema in described.items()),
    )


def _one_of(*names: str) -> asl.Fields:
    given = " + ".join(f"($exists($states.input.{name}) ? 1 : 0)" for name in names)
    return _refusal(names[0], f"exactly one of {' and '.join(names)}", f"{given} != 1", "$states.input")


def _wrong(model: type[Input], name: str, schema: Schema) -> asl.Fields:
    """Return the refusal of a field that is not as its JSON Schema says.

    Raises:
        TypeError: if no check is known for such a field.
    """
    value = f"$states.input.{name}"
    match schema:
        case {"enum": words} | {"const": str() as words}:
            right = f"{value} in [{_listed([words] if isinstance(words, str) else words)}]"
        case {"type": "string", "maxLength": longest}:
            # What is no blank is what a text has that has no pattern.
            matches = _matches(value, schema.get("pattern", _NO_BLANK))
            right = f"{matches} and $length({value}) <= {longest}"
        case {"type": "array", "minItems": least, "maxItems": most, "items": {"maxLength": longest}}:
            wrong = f"$type($text) != 'string' or $length($text) = 0 or $length($text) > {longest}"
            right = (
                f"$type({value}) = 'array' and $count({value}) in [{least}..{most}] and "
                f"$count($filter({value}, function($text) {{ {wrong} }})) = 0"
            )
        case _:
            raise TypeError(f"{name}: no check is known for {schema}")
    expected = model.expected(name)
    if name in model.needed():
        return _refusal(name, expected, f"$not({right})")
    return _refusal(name, f"{expected}, or nothing", f"$exists({value}) and $not({right})")


def _refusal(field: str, expected: str, wrong: str, value: str = "", *, comment: str = "") -> asl.Fields:
    shown = value or f"$states.input.{field}"
    refusal = {"field": field, "expected": expected, "value": f"$exists({shown}) ? {shown} : 'nothing'"}
    return {
        "Comment": comment or f"{field}: {expected}",
        "Condition": asl.jsonata(wrong),
        "Assign": {"refusal": refusal},
        "Next": REFUSE,
    }


def _matches(value: str, pattern: str) -> str:
    escaped = pattern.replace("/", r"\/")
    return f"$type({value}) = 'string' and $contains({value}, /{escaped}/)"


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(f"'{text}'" for text in texts)
