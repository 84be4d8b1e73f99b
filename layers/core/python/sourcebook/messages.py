"""What the tasks of a workflow are asked and what they answer: plain dataclasses that write and read JSON.

A field is a text, a number, a truth, a time, a word of an enum, another message, a tuple or mapping of
these, or anything (`object`). A field may be a union of messages: they are distinguished by their `Literal`
of one value, such as ``result: Literal["ACQUIRED"] = "ACQUIRED"``. Members that no field has are ignored,
so that an execution that began before an upgrade goes on after it. pydantic would do the same; it takes 90
ms of CPU to load and 50 more for the first message.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from datetime import datetime
from enum import Enum
from types import NoneType, UnionType
from typing import Any, ClassVar, Final, Literal, Self, TypeAlias, Union, get_args, get_origin, get_type_hints

from sourcebook.clock import isoformat, parse_iso
from sourcebook.errors import InvalidInput

Json: TypeAlias = str | int | float | bool | Sequence["Json"] | Mapping[str, "Json"] | None

_FIELDS: Final[dict[type, tuple[Field[Any], ...]]] = {}
_TYPES: Final[dict[type, Mapping[str, object]]] = {}
_AS_THEY_ARE: Final = frozenset({str, int, float, bool, NoneType, bytes})
"""JSON has no bytes; the table has, for which records are written by the same way."""
_HOLDS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "pattern": lambda value, pattern: re.search(pattern, value, re.ASCII) is not None,
    "minLength": lambda value, limit: len(value) >= limit,
    "maxLength": lambda value, limit: len(value) <= limit,
    "minItems": lambda value, limit: len(value) >= limit,
    "maxItems": lambda value, limit: len(value) <= limit,
    "minimum": operator.ge,
    "maximum": operator.le,
    "exclusiveMaximum": operator.lt,
}
_EXPECTED: Final = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


@dataclass(frozen=True, slots=True)
class HandledFailure:
    """Why a task could not do its work, though it has returned a result by which the workflow goes on.

    Attributes:
        error_type: the class of the error, or a code in its place.
        message: in words.
    """

    error_type: str
    message: str


@dataclass(frozen=True, slots=True, eq=False)
class SchemaRule:
    """What JSON Schema says of a type besides its name, such as the format or pattern of a text.

    It stands in an annotation: ``Annotated[str, SchemaRule({"maxLength": 20})]``. `Message.of_json` holds
    values to the words that `_HOLDS` has.
    """

    words: Mapping[str, Json]

    def check(self, value: object, name: str) -> None:
        """Raise InvalidInput if a value breaks the rule."""
        for word, limit in self.words.items():
            if word in _HOLDS and not _HOLDS[word](value, limit):
                raise InvalidInput(name, value, f"{word} {limit}")


class Message:
    """Base of the frozen dataclasses that travel between the states of a workflow."""

    __slots__ = ()

    def to_json(self) -> Mapping[str, Json]:
        """Return it as JSON has it, without the optional fields that are None."""
        return {
            one.name: plain(value)
            for one in fields_of(type(self))
            if (value := getattr(self, one.name)) is not None or one.default is not None
        }

    @classmethod
    def of_json(cls, value: object, within: str = "") -> Self:
        """Return the message that `to_json` has written.

        Args:
            value: the JSON.
            within: the field that it stands in, for errors.

        Raises:
            InvalidInput: naming the first field that is missing or wrong.
        """
        if not isinstance(value, Mapping):
            raise InvalidInput(within or "input", value, f"an object: {', '.join(field_names(cls))}")
        types, before = _types(cls), f"{within}." if within else ""
        return cls(
            **{
                one.name: _read(types[one.name], value.get(one.name), f"{before}{one.name}")
                for one in fields_of(cls)
                if one.name in value or _is_required(one)
            }
        )


class TaskResult(Message):
    """Base of what a task's function returns to the workflow.

    Attributes:
        LOGGED: names of the fields that the log has of it.
    """

    __slots__ = ()

    LOGGED: ClassVar[tuple[str, ...]] = ()

    def handled_failure(self) -> HandledFailure | None:
        """Return why the attempt has failed, if the workflow goes on by this result all the same."""
        return None

    def log_fields(self) -> Mapping[str, object]:
        """Return the fields that the log has of this result."""
        return {name: plain(getattr(self, name)) for name in self.LOGGED}


class TaskRequest(Message):
    """Base of a task's input: the payload that the workflow sends to the task's function.

    Attributes:
        function: the folder in lambdas/ of the function.
        results: the results that it may return.
    """

    __slots__ = ()

    function: ClassVar[str]
    results: ClassVar[tuple[type[TaskResult], ...]]


def fields_of(kind: type[Message]) -> tuple[Field[Any], ...]:
    """Return the fields of a message's class, worked out once. Raise TypeError if it is no dataclass."""
    if kind not in _FIELDS:
        if not is_dataclass(kind):
            raise TypeError(f"{kind.__name__} is no dataclass")
        _FIELDS[kind] = fields(kind)
    return _FIELDS[kind]


def checked_parts(kind: type[Message], parts: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return `parts` unchanged, if a message of this class can be put together from them.

    State machines put messages together from expressions; this checks the names of their fields.

    Raises:
        ValueError: if a field is missing, or a part belongs to none.
    """
    names = set(field_names(kind))
    required = {one.name for one in fields_of(kind) if _is_required(one)}
    if wrong := sorted(parts.keys() - names | required - parts.keys()):
        raise ValueError(f"{kind.__name__}: {', '.join(wrong)} is missing, or is none of its fields")
    return parts


def field_names(kind: type[Message]) -> tuple[str, ...]:
    """Return the names of a message's fields."""
    return tuple(one.name for one in fields_of(kind))


def tag_of(kind: type[Message]) -> tuple[str, str | bool]:
    """Return the field that distinguishes a message in its union, and its value.

    Raises:
        TypeError: if it has none.
    """
    for name, of in _types(kind).items():
        if get_origin(of) is Literal and len(get_args(of)) == 1:
            return name, get_args(of)[0]
    raise TypeError(f"{kind.__name__} has no field that is a Literal of one word")


def _is_required(one: Field[Any]) -> bool:
    return one.default is MISSING and one.default_factory is MISSING


def _types(kind: type[Message]) -> Mapping[str, object]:
    """Return the types of a message's fields, worked out once."""
    if kind not in _TYPES:
        hints = get_type_hints(kind, include_extras=True)
        _TYPES[kind] = {one.name: hints[one.name] for one in fields_of(kind)}
    return _TYPES[kind]


def plain(value: object) -> Json:
    """Return a value of a field as JSON has it. Raise TypeError if there is no such form."""
    if type(value) in _AS_THEY_ARE:  # most are
        return value  # type: ignore[return-value]
    match value:
        case Message():
            return value.to_json()
        case Enum():
            return str(value.value)
        case datetime():
            return isoformat(value)
        case str() | int() | float() | None:
            return value
        case dict() | Mapping():
            return {str(name): plain(part) for name, part in value.items()}
        case tuple() | list() | Sequence():
            return [plain(part) for part in value]
        case _:
            raise TypeError(f"{type(value).__name__} is nothing that a message has")


def _read(kind: Any, value: object, name: str) -> object:  # noqa: ANN401 - a type, as it is annotated
    """Return a value as its annotated type. Raise InvalidInput if it is none of that type."""
    if hasattr(kind, "__metadata__"):
        found = _read(kind.__origin__, value, name)
        for rule in kind.__metadata__ if found is not None else ():
            if isinstance(rule, SchemaRule):
                rule.check(found, name)
        return found
    if get_origin(kind) is not None:
        return _read_composed(kind, value, name)
    if kind is object or kind is Any:
        return value
    if kind is datetime:
        try:
            return parse_iso(str(value))
        except ValueError as error:
            raise InvalidInput(name, value, "an ISO 8601 time with zone") from error
    if issubclass(kind, Message):
        return kind.of_json(value, name)
    if issubclass(kind, Enum):
        words = [one.value for one in kind]
        return kind(_checked(value, value in words, name, f"one of {', '.join(words)}"))
    of_kind = isinstance(value, int | float if kind is float else kind)
    is_right = of_kind and (kind is bool or not isinstance(value, bool))
    return _checked(value, is_right, name, _EXPECTED[kind])


def _read_composed(kind: Any, value: object, name: str) -> object:  # noqa: ANN401 - as above
    """Return a value as a type made of others: a union, words, a tuple or a mapping."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in {Union, UnionType}:
        return _read_one_of(parts, value, name)
    if origin is Literal:
        return _checked(value, value in parts, name, f"one of {', '.join(map(str, parts))}")
    if origin is tuple:
        _checked(value, isinstance(value, list | tuple), name, "a list")
        return tuple(_read(parts[0], part, f"{name}[{at}]") for at, part in enumerate(value))  # type: ignore[arg-type, var-annotated]
    if not isinstance(value, Mapping):
        raise InvalidInput(name, value, "an object")
    return {key: _read(parts[1], part, f"{name}.{key}") for key, part in value.items()}


def _read_one_of(kinds: tuple[Any, ...], value: object, name: str) -> object:
    if value is None and NoneType in kinds:
        return None
    others = [kind for kind in kinds if kind is not NoneType]
    if len(others) == 1:
        return _read(others[0], value, name)
    words = {kind: tag_of(kind) for kind in others}
    if isinstance(value, Mapping):
        for kind, (field, word) in words.items():
            if value.get(field) == word:
                return kind.of_json(value, name)
    expected = " or ".join(f"{field} {word}" for field, word in words.values())
    raise InvalidInput(name, value, f"an object with {expected}")


def _checked(value: object, is_right: bool, name: str, expected: str) -> object:
    if not is_right:
        raise InvalidInput(name, value, expected)
    return value
