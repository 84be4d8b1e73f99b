"""What all records can do: be written to the table, be read from it, be shown by the API.

A record is a frozen dataclass. Each field is one line: its name, its type, what it means, and whether the
API keeps it back::

    score: Annotated[float | None, "How sure the engine is, from 0 to 1."] = None
    revision: Annotated[int, "Raised by every merge.", NOT_SHOWN] = 1

What the API shows, its JSON Schema, the columns of an export and the fields in docs/table.md follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass
from datetime import datetime
from enum import Enum
from types import UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    Protocol,
    Self,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from sourcebook.clock import parse_iso
from sourcebook.messages import Json, Message, SchemaRule, fields_of, plain
from sourcebook.schema import SCHEMA_VERSION
from sourcebook.table.codec import Item
from sourcebook.table.keys import EligibilityKey, Key

View: TypeAlias = dict[str, Any]
"""A record as the API shows it, in JSON."""

Changes: TypeAlias = dict[str | tuple[str, ...], Json]
"""Attributes to write, nested ones by their path; None removes."""

NOT_SHOWN: Final = object()
"""Marks a field that the API does not show."""
PROJECTED: Final = object()
"""Marks a field that EligibilityIndex has too."""


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """Marks a field that an item does not have where this is its value, so that no index holds it by that.

    An item without the field has this value if it has the attribute `beside`, else the field's default.
    """

    value: object
    beside: str


Time: TypeAlias = Annotated[str, SchemaRule({"format": "date-time"})]
"""ISO 8601 in UTC, to the second unless a record says otherwise."""
Day: TypeAlias = Annotated[str, SchemaRule({"format": "date"})]
"""A calendar day, ``2026-11-27``."""
Count: TypeAlias = Annotated[int, SchemaRule({"minimum": 0})]
Url: TypeAlias = Annotated[str, SchemaRule({"format": "uri"})]
Uuid: TypeAlias = Annotated[str, SchemaRule({"format": "uuid"})]
EpochSeconds: TypeAlias = int
"""Seconds since 1970, as DynamoDB's TTL wants them."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the items of a record stand in the table, for docs/table.md.

    Attributes:
        key: makes the primary key of one.
        written_by: who writes them, and when they go.
        indexes: those that may hold one.
        entity: the items' `entity_type`, where it is not the name of the class.
        version: their `schema_version`.
    """

    key: Callable[..., Key]
    written_by: str
    indexes: tuple[str, ...] = ()
    entity: str = ""
    version: str = SCHEMA_VERSION


_FIELDS: Final[dict[type, tuple[RecordField, ...]]] = {}


class Viewable(Protocol):
    """What the API can show."""

    def shown(self) -> View:
        """Return it as JSON has it."""


@dataclass(frozen=True, slots=True)
class RecordField:
    """A field of a record.

    Attributes:
        kind: its type, as it is annotated.
        meaning: what it means, for whoever reads the API.
        is_shown: whether the API shows it.
        is_projected: whether EligibilityIndex has it too.
        is_required: whether it has no default.
        left_out: the value that items do not have, if there is one.
        read: makes its value of what an item has, if that is not the same.
    """

    name: str
    kind: Any
    meaning: str
    is_shown: bool
    is_projected: bool
    is_required: bool
    left_out: LeftOut | None
    read: Callable[[Any], object] | None
    _default: object
    _make_default: Callable[[], object] | None

    def is_left_out(self, value: object) -> bool:
        """Whether an item does not have this value of the field."""
        return self.left_out is not None and self.left_out.value == value

    def of_item(self, item: Item) -> object:
        """Return the field's value in an item."""
        if self.name in item:
            return self.read(item[self.name]) if self.read else item[self.name]
        if self.left_out and self.left_out.beside in item:
            return self.left_out.value
        return self._make_default() if self._make_default else self._default


class Record(Message):
    """Base of the frozen dataclasses that the table keeps, and of what stands within them.

    Attributes:
        PLACE: of those that are items.
    """

    __slots__ = ()

    PLACE: ClassVar[Place]

    @classmethod
    def of_item(cls, item: Item) -> Self:
        """Return the record that an item holds.

        Nothing is checked: it was when it was written. A field that an item lacks, because an earlier version
        wrote it or only some attributes were read, has its default, else None.
        """
        return cls(**{one.name: one.of_item(item) for one in record_fields(cls)})

    def to_item(self, key: Key, index: EligibilityKey | None = None) -> Item:
        """Return the item that holds this record, with its place in EligibilityIndex if it has one."""
        kind = type(self)
        item = {
            **key,
            **(index or {}),
            "entity_type": self.PLACE.entity or kind.__name__,
            "schema_version": self.PLACE.version,
            **self.to_json(),
        }
        for one in record_fields(kind):
            if one.left_out and one.is_left_out(getattr(self, one.name)):
                item.pop(one.name, None)
        return item

    def checked(self) -> Self:
        """Return the same. Raise InvalidInput naming the first field that breaks a rule of its type."""
        return self.of_json(self.to_json())

    def shown(self) -> View:
        """Return the fields that the API shows, all of them always: null where there is none."""
        return shown_as(self, type(self))


def record_fields(kind: type[Record]) -> tuple[RecordField, ...]:
    """Return the fields of a record in the order of their declaration, worked out once."""
    if kind not in _FIELDS:
        hints = get_type_hints(kind, include_extras=True)
        _FIELDS[kind] = tuple(_field(one, hints[one.name]) for one in fields_of(kind))
    return _FIELDS[kind]


def shown_names(kind: type[Record]) -> tuple[str, ...]:
    """Return the names of the fields that the API shows."""
    return tuple(one.name for one in record_fields(kind) if one.is_shown)


def shown_as(record: Record, kind: type[Record]) -> View:
    """Return the fields of a record that are shown of records of `kind`, which is a class that it is of."""
    return {name: plain(getattr(record, name)) for name in shown_names(kind)}


def _field(declared: Field[Any], hint: Any) -> RecordField:  # noqa: ANN401 - a type, as it is annotated
    annotations = getattr(hint, "__metadata__", ())
    return RecordField(
        declared.name,
        hint,
        " ".join(one for one in annotations if isinstance(one, str)),
        NOT_SHOWN not in annotations,
        PROJECTED in annotations,
        declared.default is MISSING and declared.default_factory is MISSING,
        next((one for one in annotations if isinstance(one, LeftOut)), None),
        _reader(hint),
        None if declared.default is MISSING else declared.default,
        None if declared.default_factory is MISSING else declared.default_factory,
    )


def _reader(kind: Any) -> Callable[[Any], object] | None:  # noqa: ANN401 - a type
    """Return what makes a field's value of what an item has, or None if it is the same."""
    kind = kind.__origin__ if hasattr(kind, "__metadata__") else kind
    if get_origin(kind) in {Union, UnionType}:
        readers = [found for one in get_args(kind) if (found := _reader(one))]
        return (lambda value: None if value is None else readers[0](value)) if readers else None
    if get_origin(kind) is tuple:
        member = _reader(get_args(kind)[0])
        return (lambda values: tuple(member(value) for value in values)) if member else tuple
    if get_origin(kind) is not None:
        each = _reader(get_args(kind)[-1]) if len(get_args(kind)) == 2 else None
        if each is None:
            return None
        return lambda values: {name: each(value) for name, value in values.items()}
    if not isinstance(kind, type):
        return None
    if kind is datetime:
        return parse_iso
    if issubclass(kind, Record):
        return kind.of_item
    # A word that the enum does not have was written by another version, and stays as it is.
    return (lambda word: kind._value2member_map_.get(word, word)) if issubclass(kind, Enum) else None


def changes(before: Record, after: Record) -> Changes:
    """Return what makes an item that holds one record hold another of its kind.

    Of records by their names, such as attributions by source, only those that differ are written.
    """
    found: Changes = {}
    for one in record_fields(type(after)):
        old, new = getattr(before, one.name), getattr(after, one.name)
        if old == new:
            continue
        if one.read and isinstance(old, Mapping) and isinstance(new, Mapping):
            found |= {
                (one.name, name): plain(new.get(name))
                for name in {**old, **new}
                if old.get(name) != new.get(name)
            }
        else:
            found[one.name] = None if one.is_left_out(new) else plain(new)
    return found
