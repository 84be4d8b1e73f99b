"""What callers give, as pydantic models: parameters of a query, fields of a body, the input of a workflow.

A model says how its fields are checked, how OpenAPI describes them, and what an error calls right. The check
that a state machine makes of its input follows from the same description (`statemachines.checks`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import PydanticCustomError, core_schema

from sourcebook.errors import InvalidInput
from sourcebook.schema import UUID

Schema = dict[str, Any]
"""A JSON Schema."""

NOT_GIVEN: Final[Any] = None
"""Default of a field that may be left out and, unlike one whose type says so, may not be null."""
_EXPECTED: Final = "x-expected"
"""Member of a field's schema: what would be right, in words. It is for errors and is not published."""


def expected(words: str) -> Any:  # noqa: ANN401 - as pydantic's own `Field`
    """Return the metadata of a field whose errors say `words`; without it they follow from its bounds."""
    return Field(json_schema_extra={_EXPECTED: words})


def text(longest: int) -> StringConstraints:
    """Return the constraints of a text that is more than blanks; those around it are cut off."""
    return StringConstraints(strip_whitespace=True, min_length=1, max_length=longest, pattern=r"\S")


def matching(pattern: str, longest: int) -> StringConstraints:
    """Return the constraints of a text that is as a whole of this pattern."""
    return StringConstraints(min_length=1, max_length=longest, pattern=f"^(?:{pattern})$")


def checked(check: Callable[[str], object]) -> AfterValidator:
    """Return the validator of a text that `check` raises `InvalidInput` for if it is wrong."""

    def validate(value: str) -> str:
        try:
            check(value)
        except InvalidInput as error:
            raise refused(error) from error
        return value

    return AfterValidator(validate)


@dataclass(frozen=True, eq=False)
class ReadBy:
    """How a field is read out of a text; metadata of its type.

    Attributes:
        read: returns the value; raises `InvalidInput`, or `ValueError` where `described` says what is right.
        described: what JSON Schema says of the text.
        words: what would be right.
    """

    read: Callable[[str], object]
    described: Mapping[str, object]
    words: str = ""

    def __get_pydantic_core_schema__(self, source: object, handler: object) -> core_schema.CoreSchema:
        """Return the schema by which pydantic validates."""
        return core_schema.no_info_plain_validator_function(self._validate)

    def __get_pydantic_json_schema__(self, schema: object, handler: object) -> Schema:
        """Return the schema that describes it."""
        return {**self.described, **({_EXPECTED: self.words} if self.words else {})}

    def _validate(self, value: object) -> object:
        if not isinstance(value, str):
            raise ValueError("no text")  # noqa: TRY004 - pydantic takes no TypeError for an answer
        try:
            return self.read(value)
        except InvalidInput as error:
            raise refused(error) from error


def word_of(words: Sequence[str], *, any_case: bool = False) -> ReadBy:
    """Return how a field is read that has one of these words, written as they are or in any case."""

    def read(text: str) -> str:
        for word in words:
            if text == word or (any_case and text.casefold() == word.casefold()):
                return str(word)
        raise ValueError("none of the words")

    return ReadBy(read, {"enum": [str(word) for word in words], "type": "string"})


Uuid = Annotated[str, Field(pattern=f"^{UUID}$")]
NovaId = Annotated[
    str, matching(UUID, 36), expected("the id of a nova, a UUID in lower case; GET /novae?name= finds it")
]


class Input(BaseModel):
    """What a caller gives: these fields and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    NOUN: ClassVar[str] = "fields"
    """What its fields are called in an error."""
    EITHER: ClassVar[tuple[str, ...]] = ()
    """Names of fields of which there must be exactly one."""

    @classmethod
    def read(cls, values: Mapping[str, object]) -> Self:
        """Return the fields, checked.

        Raises:
            InvalidInput: naming the first field that is unknown, missing or wrong.
        """
        given = [name for name in cls.EITHER if values.get(name) is not None]
        if cls.EITHER and len(given) != 1 and not set(values) - set(cls.names()):
            value = [values[name] for name in given] or None
            raise InvalidInput(cls.EITHER[0], value, f"exactly one of {' and '.join(cls.EITHER)}")
        # What is missing is refused by what its field expects, as null is.
        missing = dict.fromkeys(name for name, needed in cls._fields() if needed)
        try:
            return cls.model_validate({**missing, **values})
        except ValidationError as error:
            raise cls._refusal(error, values) from error

    def given(self) -> dict[str, Any]:
        """Return the fields that have a value, by their names."""
        return self.model_dump(exclude_none=True, by_alias=True)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of the fields as callers know them."""
        return tuple(name for name, _ in cls._fields())

    @classmethod
    def needed(cls) -> tuple[str, ...]:
        """Return the names of the fields that must be given."""
        return tuple(name for name, needed in cls._fields() if needed)

    @classmethod
    def example(cls) -> dict[str, object]:
        """Return a right input: the first of the examples in the model's configuration."""
        return dict(cls.json_schema()["examples"][0])

    @classmethod
    def json_schema(cls) -> Schema:
        """Return what JSON Schema says of it, without references."""
        schema = _published(cls._described())
        if cls.EITHER:
            schema["oneOf"] = [_alone(name, cls.EITHER) for name in cls.EITHER]
        return schema

    @classmethod
    def expected(cls, *path: str) -> str:
        """Return in words what would be right for a field; for one within others, by all their names."""
        schema = cls._described()
        for name in path:
            members = schema.get("properties", {})
            if name not in members:
                noun = cls.NOUN if len(path) == 1 else "fields"
                return f"only the {noun} {', '.join(members)} here" if members else f"no {noun} here"
            outer = members[name]
            schema = without_null(outer)
            schema = schema | {key: outer[key] for key in (_EXPECTED,) if key in outer}
            if name != path[-1]:
                schema = schema.get("items", schema)
        return _words(schema)

    @classmethod
    def _fields(cls) -> list[tuple[str, bool]]:
        """Return the name of each field and whether it must be given."""
        return [(one.alias or name, one.is_required()) for name, one in cls.model_fields.items()]

    @classmethod
    def _described(cls) -> Schema:
        schema = cls.model_json_schema(schema_generator=_Described)
        return _inlined(schema, schema.pop("$defs", {}))

    @classmethod
    def _refusal(cls, error: ValidationError, values: Mapping[str, object]) -> InvalidInput:
        """Return the error of the first unknown field, or else of the first wrong one."""
        found = error.errors(include_url=False)
        first = next((one for one in found if one["type"] == "extra_forbidden"), found[0])
        # A text of a list is shown with the list around it.
        named = [number for number, part in enumerate(first["loc"], 1) if isinstance(part, str)]
        place = first["loc"][: max(named, default=0)]
        value: Any = values
        for part in place:
            is_there = isinstance(part, int) or part in value
            # None is for what is not there; null is there, and wrong.
            value = ("null" if value[part] is None else value[part]) if is_there else None
        path = [part for part in place if isinstance(part, str)]
        match first["type"]:
            case "refused":
                words = str(first["ctx"]["expected"])
            case "string_unicode":
                words = "a text of whole Unicode characters"
            case _:
                words = cls.expected(*path)
        return InvalidInput(".".join(str(part)[:80] for part in place), value, words)


class _Described(GenerateJsonSchema):
    """Describes a model in the order of its declaration, without titles made of the names of fields."""

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002 - as pydantic calls it
        """Return False."""
        return False

    def sort(self, value: JsonSchemaValue, parent_key: str | None = None) -> JsonSchemaValue:  # noqa: ARG002
        """Return the schema as it is."""
        return value


def without_null(schema: Schema) -> Schema:
    """Return the schema of a field that is given, where null says that it is not."""
    kinds = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    if len(kinds) != 1:
        return schema
    outer = {key: value for key, value in schema.items() if key not in {"anyOf", "default"}}
    given: Schema = kinds[0]
    return given | outer


def refused(error: InvalidInput) -> PydanticCustomError:
    """Return the error by which a validator refuses a field; what is expected is said as in `error`."""
    return PydanticCustomError("refused", "{expected}", {"expected": error.expected})


def _changed(schema: Any, change: Callable[[Schema], Schema]) -> Any:  # noqa: ANN401 - any part of a schema
    """Return a schema in which every object is changed, the outer ones before those within them."""
    if isinstance(schema, list):
        return [_changed(one, change) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _changed(value, change) for key, value in change(schema).items()}


def _inlined(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """Return a schema with what it refers to in place of the references, and without titles of models."""

    def change(one: Schema) -> Schema:
        if "$ref" in one:
            return change(definitions[one["$ref"].rpartition("/")[2]])
        titled = "properties" in one or "enum" in one
        return {key: value for key, value in one.items() if not (titled and key == "title")}

    inlined: Schema = _changed(schema, change)
    return inlined


def _published(schema: Schema) -> Schema:
    """Return a schema without the words for errors, and without null as the value of what is left out."""

    def change(one: Schema) -> Schema:
        kept = one.items()
        return {key: value for key, value in kept if key != _EXPECTED and (key, value) != ("default", None)}

    published: Schema = _changed(schema, change)
    return published


def _alone(name: str, either: Sequence[str]) -> Schema:
    """Return the schema of the object that has this one of `either`, and no other."""
    others = {other: {"type": "null"} for other in either if other != name}
    return {"required": [name], "properties": {name: {"type": "string"}, **others}}


def _words(schema: Schema) -> str:
    """Return in words what a schema takes."""
    if _EXPECTED in schema:
        return str(schema[_EXPECTED])
    if "enum" in schema or "const" in schema:
        return f"one of {', '.join(schema.get('enum') or [schema['const']])}"
    match schema.get("type"):
        case "integer" | "number" as kind:
            what = "a whole number" if kind == "integer" else "a number"
            return f"{what} from {schema['minimum']:g} to {schema['maximum']:g}"
        case "array":
            items = f"{schema['items']['minLength']} to {schema['items']['maxLength']} characters each"
            return f"a list of {schema['minItems']} to {schema['maxItems']} texts of {items}"
        case "object":
            return f"an object with one or more of the members {', '.join(schema['properties'])}"
    return f"a text of {schema['minLength']} to {schema['maxLength']} characters"
