"""The check of an input at the start of an execution, out of the form that the API checks it by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sourcebook.api.forms import ChoiceField, Field, Form, TextField, TextList
from statemachines import states as asl
from statemachines.books import CORRELATION_ID, REFUSE

PASSED_ALONG: Final = ("correlation_id", "Comment", "AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID")
"""Fields of every workflow: an id to join the logs by; what the console offers as a first input; and what an
execution adds that starts another one."""

_ID: Final = "$states.input.correlation_id"
_ANYTHING: Final = r"[\s\S]*"


def check(form: Form) -> asl.Fields:
    """Return the state that lets inputs of this form pass, and names the first wrong field of any other."""
    names = [*(field.name for field in form.fields), *PASSED_ALONG]
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
            f"$exists({_ID}) and $not({_matches(_ID, CORRELATION_ID)})",
        ),
        *([_one_of(*form.either)] if form.either else []),
        *map(_wrong, form.fields),
    )


def _one_of(*names: str) -> asl.Fields:
    given = " + ".join(f"($exists($states.input.{name}) ? 1 : 0)" for name in names)
    return _refusal(names[0], f"exactly one of {' and '.join(names)}", f"{given} != 1", "$states.input")


def _wrong(field: Field) -> asl.Fields:
    value = f"$states.input.{field.name}"
    match field:
        case TextField():
            expected = field.expected or f"a text of 1 to {field.longest} characters"
            length = f"$length($trim({value})) > 0 and $length({value}) <= {field.longest}"
            right = f"{_matches(value, field.pattern or _ANYTHING)} and {length}"
        case ChoiceField():
            expected = f"one of {', '.join(field.values)}"
            right = f"{value} in [{_listed(field.values)}]"
        case TextList():
            expected = f"a list of 1 to {field.most} texts of 1 to 200 characters each"
            wrong = "$type($text) != 'string' or $length($text) = 0 or $length($text) > 200"
            right = (
                f"$type({value}) = 'array' and $count({value}) in [1..{field.most}] and "
                f"$count($filter({value}, function($text) {{ {wrong} }})) = 0"
            )
        case _:
            raise TypeError(f"{field.name}: no check is known for a {type(field).__name__}")
    if field.required:
        return _refusal(field.name, expected, f"$not({right})")
    return _refusal(field.name, f"{expected}, or nothing", f"$exists({value}) and $not({right})")


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
    return f"$type({value}) = 'string' and $contains({value}, /^(?:{escaped})$/)"


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(f"'{text}'" for text in texts)
