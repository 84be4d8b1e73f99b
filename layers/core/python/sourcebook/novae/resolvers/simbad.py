"""SIMBAD by its TAP service: an object and all its names in one question."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from sourcebook.novae.names import display_name, normalize_name, spellings
from sourcebook.novae.resolvers.archive import Archive, ArchiveUnavailable
from sourcebook.novae.resolvers.identity import Identity
from sourcebook.runs.errors import Held

ROWS_AT_MOST: Final = 2_000

_QUESTION = (
    "SELECT b.oid, b.main_id, b.ra, b.dec, b.otype, i.id "
    "FROM basic AS b JOIN ident AS i ON i.oidref = b.oid "
    "WHERE b.oid IN (SELECT oidref FROM ident WHERE id IN ({names}))"
)


async def identify(archive: Archive, url: str, name: str) -> Identity | None:
    """Return the object that a name means, with every name it has, or None if there is none.

    Raises:
        ArchiveUnavailable: if it does not answer, or not as TAP does.
        ArchiveRejected: if it refused the question.
        Held: if it has several objects under this name.
    """
    names = dict.fromkeys((name.strip(), display_name(name), *spellings(normalize_name(name))))
    response = await archive.ask(
        url,
        params={
            "REQUEST": "doQuery",
            "LANG": "ADQL",
            "FORMAT": "json",
            "MAXREC": ROWS_AT_MOST,
            "QUERY": question(names),
        },
    )
    objects = read_objects(response.body)
    if len(objects) > 1:
        raise Held(
            "AMBIGUOUS_NAME",
            f"SIMBAD has {len(objects)} objects under the name {name!r}: say which one is meant",
            {"candidates": [replace(found, names=()).to_json() for found in objects[:10]]},
        )
    return objects[0] if objects else None


def question(names: Iterable[str]) -> str:
    """Return the ADQL that asks for the objects with these names."""
    quoted = ", ".join("'" + name.replace("'", "''") + "'" for name in names)
    # ADQL has no parameters; a quote in a name is doubled above, and nothing else ends a literal.
    return _QUESTION.format(names=quoted)


def read_objects(body: bytes) -> list[Identity]:
    """Read TAP's answer in JSON: ``metadata`` names the columns, ``data`` has the rows.

    Raises:
        ArchiveUnavailable: if it is something else.
    """
    try:
        answer: Any = json.loads(body)
        columns = [column["name"].lower() for column in answer["metadata"]]
        by_oid: dict[Any, list[dict[str, Any]]] = {}
        for values in answer["data"]:
            row = dict(zip(columns, values, strict=True))
            by_oid.setdefault(row["oid"], []).append(row)
        return [_object(rows) for rows in by_oid.values()]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        detail = f"the answer is not TAP's JSON ({type(error).__name__}: {error})"
        raise ArchiveUnavailable("simbad", detail) from error


def _object(rows: list[dict[str, Any]]) -> Identity:
    """Return the object that these rows are about; each has another of its names."""
    first = rows[0]
    main = display_name(first["main_id"])
    return Identity(
        archive="simbad",
        key=f"simbad:{normalize_name(main)}",
        main_name=main,
        ra_deg=None if first["ra"] is None else float(first["ra"]) % 360,
        dec_deg=None if first["dec"] is None else float(first["dec"]),
        object_type=(first["otype"] or "").strip() or None,
        names=tuple(dict.fromkeys(str(row["id"]) for row in rows if row["id"])),
    )
