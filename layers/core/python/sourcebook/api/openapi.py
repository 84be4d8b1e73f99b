"""The description of the API in OpenAPI 3.1, made of the declarations of its operations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from http import HTTPStatus
from typing import Any, Final

from sourcebook.api.operations import Access, Body, Operation
from sourcebook.api.parameters import PageParameters, Parameters
from sourcebook.api.representations import TAKEN_AWAY, columns
from sourcebook.api.requests import SIGNED
from sourcebook.api.schemas import EXAMPLES, SCHEMAS, ref
from sourcebook.inputs import without_null
from sourcebook.records.schema import Schema

VERSION: Final = "1"
"""Of the API. What answers have may grow; what is there keeps its meaning."""

_ABOUT: Final = """\
Everything that Sourcebook has collected, and what may be changed of it.

**Access.** Send a token as `Authorization: Bearer sb_…`; `sourcebook token create` makes one. Or sign the
request with AWS credentials that may `execute-api:Invoke`, and send it to the same path below `/iam`.
Reading needs neither where the stack was deployed with `public_read`.

**Lists** answer `items` and `next_cursor`. Pass it back as `cursor`, with the same filters, for the next
page; null is the end, and only that: a page may be short, even empty, and go on. Nothing is counted to find
the next page, so what is added or removed in the meantime shifts nothing.

**Taken away.** Every list is CSV or NDJSON too: send `Accept: text/csv` or `application/x-ndjson`, or put
`.csv` or `.ndjson` behind its path. The next page is in the header `link`.

**Parameters** may be given once. One that the operation does not have is refused, since a misspelt filter
would otherwise return everything. Words that the API itself defines may be in any case: `review=PENDING`.

**Times** are ISO 8601 in UTC. As parameters they may have any zone, but must have one.

**Errors** are problem details (RFC 9457) that name what is wrong, and what would be right.

**Methods.** Whatever has GET has HEAD too. OPTIONS lists the methods of a path; any other is refused with 405
and `allow`.

**Sent twice.** With an `Idempotency-Key`, what changes something is done once: for 24 hours the same request
gets the same answer, with `idempotent-replayed: true`.

**Kept answers.** Reads have an `etag`: sent back as `If-None-Match`, an answer that is still the same is 304
without a body.
"""

_PATH_PARAMETERS: Final[dict[str, tuple[str, Any]]] = {
    "key": ("`dedup_key` of the article, or `<source>:<article id>`.", "a948904f2f0f479b8f8197694b30184b"),
    "feed_id": ("The feed.", "circuit-review"),
    "event_id": ("The event.", "5b0e6c0f4d0f0f4a6c1f5f7f2f8a9b3c"),
    "tool_id": ("The subject.", "AAPL"),
    "job_run_id": ("The run.", "5a4fce02-3b02-4b5c-8d06-541d9f2d4f60"),
    "nova_id": ("The nova.", "b6c05a41-2227-5387-8f82-9085f39c71d6"),
    "data_product_id": ("The data product.", "2c7d1f4d-5b7a-4a4d-9f31-8d3b4fd0d4d9"),
    "alert_id": ("The rule.", "5f3a9c1e77d0b264"),
    "quarantine_id": ("The case.", "307cc500-9fea-55e4-b358-c8230275cf7e"),
}
_PROBLEMS: Final = {
    400: "A parameter, a field or the body is wrong: `parameter` names it, `detail` says what is right.",
    401: "There is no token, or it is not valid.",
    403: "The token may not do this; or, below `/iam`, the gateway did not accept the signature.",
    404: "There is nothing with this id.",
    409: "It contradicts what is there, or the same request is being answered at this moment.",
    422: "The `Idempotency-Key` came with another request before.",
    429: "Too many requests: slow down.",
    500: "A mistake of ours; the operator finds it in the logs by `correlation_id`.",
    503: "The table did not answer in time: try again after `retry-after` seconds.",
}
_PROBLEM_NAMES: Final = {
    status: HTTPStatus(status).phrase.title().replace(" ", "").replace("Content", "Entity")
    for status in _PROBLEMS
}


def description(operations: Sequence[Operation], *, names: Iterable[str], base: str = "") -> dict[str, Any]:
    """Return the description of these operations.

    Args:
        operations: what to describe, in the order of the reference.
        names: the workflows that this stack has.
        base: address of the API without a slash at its end.
    """
    named: dict[str, Schema] = {}
    for name, schema in SCHEMAS.items():
        shown = {"examples": [EXAMPLES[name]]} if name in EXAMPLES else {}
        named[name] = _within(schema | shown, name, named)
    paths: dict[str, dict[str, object]] = {}
    for operation in operations:
        for path, described in _described(operation, sorted(names)):
            for content in described.get("requestBody", {}).get("content", {}).values():
                name = f"{_in_capitals(described['operationId'])}Input"
                content["schema"] = _apart(content["schema"], name, named)
            paths.setdefault(path, {})[operation.method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Sourcebook",
            "version": VERSION,
            "summary": "Many sources, one record.",
            "description": _ABOUT,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [
            {"url": base or "/", "description": "With a token, or open"},
            {"url": f"{base}{SIGNED}", "description": "Signed with AWS credentials"},
        ],
        "tags": [{"name": topic} for topic in dict.fromkeys(operation.topic for operation in operations)],
        "paths": paths,
        "components": {
            "schemas": named,
            "responses": _problem_responses(),
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "Scopes `read` and `write`; `write` allows reading too.",
                },
                "signature": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "Authorization",
                    "description": "AWS Signature Version 4 for `execute-api`, below `/iam` only.",
                    "x-amazon-apigateway-authtype": "awsSigv4",
                },
            },
        },
    }


def _apart(schema: Schema, name: str, named: dict[str, Schema]) -> Schema:
    """Return a schema in which each object with fields is a reference to a schema with a name of its own.

    Programs that make clients of the description give a class to each named schema, and drop or number the
    objects that stand within others.
    """
    given = without_null(schema)
    if given.get("type") in ("object", ["object", "null"]) and "properties" in given:
        plain = given | {"type": "object"}
        # The same object in two places is one schema.
        found = next((known for known, other in named.items() if other == plain), name)
        named[found] = _within(plain, found, named)
        return ref(found) if schema.get("type") == "object" else {"anyOf": [ref(found), {"type": "null"}]}
    return _within(schema, name, named)


def _within(schema: Schema, name: str, named: dict[str, Schema]) -> Schema:
    """Return a schema with what stands within it apart."""
    apart = dict(schema)
    if "properties" in schema:
        apart["properties"] = {
            field: _apart(one, f"{name}{_in_capitals(field)}", named)
            for field, one in schema["properties"].items()
        }
    for word in ("items", "additionalProperties"):
        if isinstance(schema.get(word), dict):
            apart[word] = _apart(schema[word], name if name not in SCHEMAS else f"{name}Entry", named)
    return apart


def _in_capitals(name: str) -> str:
    """Return `start_x_y` as `StartXY`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def _described(operation: Operation, names: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield path and description: once, or once for each value of the path that has a form of its own."""
    forms = operation.body.forms if operation.body else {}
    if not forms:
        yield operation.path.replace("+}", "}"), _operation(operation, operation.body, operation.name)
        return
    variable = re.findall(r"\{(\w+)\}", operation.path)[0]
    for name in forms if operation.body and operation.body.everywhere else names:
        if name in forms:
            path = operation.path.replace(f"{{{variable}}}", name)
            yield (
                path,
                _operation(operation, Body(form=forms[name]), f"{operation.name}_{name}", subject=name),
            )


def _operation(operation: Operation, body: Body | None, name: str, *, subject: str = "") -> dict[str, object]:
    path = (
        {}
        if subject
        else {word: _path_parameter(word) for word in re.findall(r"\{(\w+)\+?\}", operation.path)}
    )
    parameters = [*path.values(), *_query_parameters(operation.query)]
    if operation.changes:
        parameters.append(_IDEMPOTENCY)
    elif not operation.volatile:
        parameters.append(_IF_NONE_MATCH)
    described: dict[str, object] = {
        "operationId": name,
        "tags": [operation.topic],
        "summary": f"{operation.summary}: {subject}" if subject else operation.summary,
    }
    if operation.description:
        described["description"] = operation.description
    if parameters:
        described["parameters"] = parameters
    if body is not None:
        described["requestBody"] = _body(body)
    described["responses"] = _responses(operation)
    described["security"] = _security(operation.access)
    described["x-access"] = operation.access.value
    return described


def _body(body: Body) -> dict[str, object]:
    schema = ref(body.schema) if body.form is None else body.form.json_schema()
    return {"required": True, "content": {body.media_type: {"schema": schema}}}


def _responses(operation: Operation) -> dict[str, object]:
    responses: dict[str, Any] = {}
    for status, name in operation.answers.items():
        responses[str(status)] = {
            "description": HTTPStatus(status).phrase,
            "headers": _headers(operation, status),
            "content": {operation.media_type: {"schema": ref(name)}},
        }
        if status == HTTPStatus.OK and columns(operation):
            responses[str(status)]["content"] |= _TAKEN_AWAY
            responses[str(status)]["headers"]["link"] = _LINK
    if not operation.changes and not operation.volatile:
        responses["304"] = {"description": "It is still what `If-None-Match` names; there is no body."}
    for status in sorted(operation.problems - set(operation.answers)):
        responses[str(status)] = {"$ref": f"#/components/responses/{_PROBLEM_NAMES[status]}"}
    return responses


def _problem_responses() -> dict[str, object]:
    problem = {"application/problem+json": {"schema": ref("Problem")}}
    # API Gateway answers some by itself, with a body of its own.
    by_gateway = {"application/json": {"schema": {"type": "object"}}}
    return {
        _PROBLEM_NAMES[status]: {
            "description": text,
            "content": {429: by_gateway, 403: problem | by_gateway}.get(status, problem),
        }
        for status, text in _PROBLEMS.items()
    }


def _headers(operation: Operation, status: int) -> dict[str, object]:
    text = {"type": "string"}
    headers: dict[str, object] = {
        "x-correlation-id": {"description": "Finds the request in the operator's logs.", "schema": text}
    }
    if not operation.changes and not operation.volatile:
        headers["etag"] = {"description": "Send it back as `If-None-Match`.", "schema": text}
    if status in {201, 202}:
        headers["location"] = {"description": "Path of what was made.", "schema": text}
    return headers


def _security(access: Access) -> list[dict[str, list[str]]]:
    if access is Access.OPEN:
        return []
    return [{"token": [access.value]}, {"signature": []}]


def _path_parameter(name: str) -> dict[str, object]:
    text, example = _PATH_PARAMETERS.get(name, (f"The {name.replace('_', ' ')}.", None))
    shown = {} if example is None else {"example": example}
    return {
        "name": name,
        "in": "path",
        "required": True,
        "description": text,
        "schema": {"type": "string", "minLength": 1},
        **shown,
    }


def _query_parameters(query: type[Parameters] | None) -> Iterator[dict[str, object]]:
    """Yield the description of each parameter, those of pages last."""
    schema = query.json_schema() if query else {"properties": {}}
    needed = schema.get("required", ())
    of_pages = PageParameters.names()
    for name in sorted(schema["properties"], key=lambda name: name in of_pages):
        described = without_null(schema["properties"][name])
        description, examples = described.pop("description", ""), described.pop("examples", ())
        yield {
            "name": name,
            "in": "query",
            "required": name in needed,
            "description": description,
            "schema": described,
            **({"example": examples[0]} if examples else {}),
        }


_TAKEN_AWAY: Final = {form.value.accepted[0]: {"schema": {"type": "string"}} for form in TAKEN_AWAY}
_LINK: Final[dict[str, object]] = {
    "description": 'Of CSV and NDJSON: the next page, as `rel="next"`; not there at the end.',
    "schema": {"type": "string"},
}
_IDEMPOTENCY: Final[dict[str, object]] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Of your own, such as a UUID: the same request with it is done once in 24 hours.",
    "schema": {"type": "string", "pattern": r'^"?[!#-\[\]-~]{1,128}"?$'},
}
_IF_NONE_MATCH: Final[dict[str, object]] = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    "description": "`etag` of the answer that you have.",
    "schema": {"type": "string"},
}
