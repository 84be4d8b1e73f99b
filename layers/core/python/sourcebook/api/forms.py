"""Bodies of requests, each declared once: how they are checked, and how they are described.

Small checks of our own and no pydantic: the API answers reads above all, and its cold start has no time for
a library that only a write would use.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from sourcebook.errors import InvalidInput

UUID: Final = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"


class Field(Protocol):
    """One field of a body."""

    @property
    def name(self) -> str:
        """As it stands in the body."""

    @property
    def required(self) -> bool:
        """Whether it must be there."""

    def read(self, value: object) -> Any:  # noqa: ANN401 - each field has a type of its own
        """Return the value as it is used; raises `InvalidInput`."""

    def schema(self) -> dict[str, Any]:
        """Return what JSON Schema says of it."""


@dataclass(frozen=True, kw_only=True)
class TextField:
    """A text; blanks around it do not count.

    Attributes:
        pattern: of the whole text, with `expected`, what it means in words.
        check: raises `InvalidInput` for a text that no pattern can tell from a right one.
        kind: what `check` asks for, as a format of JSON Schema.
    """

    name: str
    description: str
    longest: int
    required: bool = True
    pattern: str | None = None
    expected: str = ""
    check: Callable[[str], object] | None = None
    kind: str | None = None

    def read(self, value: object) -> str:
        """Return the text without the blanks around it."""
        expected = self.expected or f"a text of 1 to {self.longest} characters"
        if not isinstance(value, str) or not 1 <= len(value.strip()) <= self.longest:
            raise InvalidInput(self.name, value, expected)
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise InvalidInput(self.name, value, "a text of whole Unicode characters")
        if self.pattern is not None and not re.fullmatch(self.pattern, value.strip(), re.ASCII):
            raise InvalidInput(self.name, value, expected)
        if self.check is not None:
            try:
                self.check(value.strip())
            except InvalidInput as error:
                raise InvalidInput(self.name, value, error.expected) from error
        return value.strip()

    def schema(self) -> dict[str, Any]:
        """Return its length and pattern."""
        pattern = r"\S" if self.pattern is None else rf"^\s*(?:{self.pattern})\s*$"
        return {
            "type": "string",
            "minLength": 1,
            "maxLength": self.longest,
            **({"pattern": pattern} if self.kind is None else {"format": self.kind}),
            "description": self.description,
        }


@dataclass(frozen=True, kw_only=True)
class NumberField:
    """A number within bounds."""

    name: str
    description: str
    least: float
    most: float
    whole: bool = False
    required: bool = True

    def read(self, value: object) -> float:
        """Return the number."""
        what = "a whole number" if self.whole else "a number"
        right = isinstance(value, int if self.whole else int | float) and not isinstance(value, bool)
        if not right or not self.least <= value <= self.most:  # type: ignore[operator]
            raise InvalidInput(self.name, value, f"{what} from {self.least:g} to {self.most:g}")
        return value  # type: ignore[return-value]

    def schema(self) -> dict[str, Any]:
        """Return its bounds."""
        return {
            "type": "integer" if self.whole else "number",
            "minimum": self.least,
            "maximum": self.most,
            "description": self.description,
        }


@dataclass(frozen=True, kw_only=True)
class ChoiceField:
    """One of a few words."""

    name: str
    description: str
    values: tuple[str, ...]
    required: bool = True

    def read(self, value: object) -> str:
        """Return the word."""
        if not isinstance(value, str) or value not in self.values:
            raise InvalidInput(self.name, value, f"one of {', '.join(self.values)}")
        return value

    def schema(self) -> dict[str, Any]:
        """Return the words."""
        return {"type": "string", "enum": list(self.values), "description": self.description}


@dataclass(frozen=True, kw_only=True)
class TextList:
    """A list of one or more texts, each at most 200 characters."""

    name: str
    description: str
    most: int
    required: bool = True

    def read(self, value: object) -> list[str]:
        """Return the list."""
        if (
            not isinstance(value, list)
            or not 1 <= len(value) <= self.most
            or not all(isinstance(text, str) and 1 <= len(text) <= 200 for text in value)
        ):
            raise InvalidInput(
                self.name, value, f"a list of 1 to {self.most} texts of 1 to 200 characters each"
            )
        return value

    def schema(self) -> dict[str, Any]:
        """Return its bounds."""
        items = {"type": "string", "minLength": 1, "maxLength": 200}
        return {
            "type": "array",
            "items": items,
            "minItems": 1,
            "maxItems": self.most,
            "description": self.description,
        }


@dataclass(frozen=True, kw_only=True)
class TextsField:
    """An object whose members are texts of at most 200 characters.

    Attributes:
        names: of the members that there may be.
    """

    name: str
    description: str
    names: tuple[str, ...]
    required: bool = True

    def read(self, value: object) -> dict[str, str]:
        """Return the members without the blanks around them."""
        if not isinstance(value, dict) or not value:
            raise InvalidInput(
                self.name, value, f"an object with one or more of the members {', '.join(self.names)}"
            )
        for name, text in value.items():
            if name not in self.names:
                raise InvalidInput(f"{self.name}.{name[:40]}", text, f"one of {', '.join(self.names)}")
            if not isinstance(text, str) or not 1 <= len(text.strip()) <= 200:
                raise InvalidInput(f"{self.name}.{name}", text, "a text of 1 to 200 characters")
            if any("\ud800" <= character <= "\udfff" for character in text):
                raise InvalidInput(f"{self.name}.{name}", text, "a text of whole Unicode characters")
        return {name: text.strip() for name, text in value.items()}

    def schema(self) -> dict[str, Any]:
        """Return the members."""
        text = {"type": "string", "minLength": 1, "maxLength": 200, "pattern": r"\S"}
        return {
            "type": "object",
            "properties": dict.fromkeys(self.names, text),
            "additionalProperties": False,
            "minProperties": 1,
            "description": self.description,
        }


@dataclass(frozen=True)
class Form:
    """An object with these fields and no others. A field that is not required may also be null.

    Attributes:
        either: fields of which there must be exactly one.
    """

    fields: tuple[Field, ...]
    example: Mapping[str, Any]
    either: tuple[str, ...] = ()

    def read(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields that are given, checked.

        Raises:
            InvalidInput: naming the first field that is unknown, missing or wrong.
        """
        known = [field.name for field in self.fields]
        if unknown := sorted(set(body) - set(known)):
            these = f"only the fields {', '.join(known)} here" if known else "no fields here"
            raise InvalidInput(unknown[0][:80], body[unknown[0]], these)
        given = [name for name in self.either if body.get(name) is not None]
        if self.either and len(given) != 1:
            value = [body[name] for name in given] or None
            raise InvalidInput(self.either[0], value, f"exactly one of {' and '.join(self.either)}")
        return {
            field.name: field.read(body.get(field.name))
            for field in self.fields
            if field.required or body.get(field.name) is not None
        }

    def schema(self) -> dict[str, Any]:
        """Return what JSON Schema says of it."""
        properties = {}
        for field in self.fields:
            schema = field.schema()
            if not field.required:
                if "enum" in schema:
                    schema["enum"] = [*schema["enum"], None]
                schema["type"] = [schema["type"], "null"]
            properties[field.name] = schema
        needed = [field.name for field in self.fields if field.required]
        return {
            "type": "object",
            "properties": properties,
            **({"required": needed} if needed else {}),
            **({"oneOf": [self._alone(name) for name in self.either]} if self.either else {}),
            "additionalProperties": False,
            "examples": [dict(self.example)],
        }

    def _alone(self, name: str) -> dict[str, Any]:
        """Return the schema of the object with this one of `either`, and no other."""
        others = {other: {"type": "null"} for other in self.either if other != name}
        return {"required": [name], "properties": {name: {"type": "string"}, **others}}
