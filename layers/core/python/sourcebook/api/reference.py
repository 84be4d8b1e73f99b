"""The description of the API as a page to read: no script, no request to anywhere else, light and dark."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from hashlib import sha256
from html import escape
from typing import Any, Final

_ACCESS: Final = {
    "open": "open to anybody",
    "read": "token with <code>read</code>, signature, or open with <code>public_read</code>",
    "write": "token with <code>write</code>, or signature",
}
STYLE: Final = """
:root{color-scheme:light dark;--ink:#1b1d21;--soft:#5b6270;--line:#d9dde3;--ground:#fff;--field:#f5f6f8;
--get:#0b6b3a;--change:#8a3b00;--link:#0b57d0}
@media(prefers-color-scheme:dark){:root{--ink:#e6e8eb;--soft:#a2a9b4;--line:#363b43;--ground:#15171a;
--field:#1e2126;--get:#6fd49b;--change:#f2b27a;--link:#8ab4f8}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.55 system-ui,sans-serif}
.all{max-width:72rem;margin:0 auto;padding:1rem;display:grid;gap:2rem;grid-template-columns:minmax(0,1fr)}
nav{order:1}
@media(min-width:60rem){nav{order:0}.jump{display:none}.all{grid-template-columns:17rem minmax(0,1fr)}
nav{position:sticky;top:0;max-height:100vh;overflow:auto;padding-block:1rem}}
nav ul{list-style:none;margin:0 0 1rem;padding:0}nav li{margin:.15rem 0}
nav h2,nav summary{font-size:.85rem;color:var(--soft);margin:.6rem 0 .2rem}
a{color:var(--link)}
nav a{text-decoration:none;font-size:.9rem;overflow-wrap:anywhere}
a:focus-visible{outline:2px solid var(--link)}
h1{margin:.5rem 0}
h3{margin:2.2rem 0 .4rem;overflow-wrap:anywhere;border-top:1px solid var(--line);padding-top:1rem}
h3 code{background:none;padding:0;font-size:1rem}h4{margin:1rem 0 .3rem;font-size:.95rem}
.verb{font-weight:700;color:var(--get);margin-right:.4rem}.verb.change{color:var(--change)}
.soft{color:var(--soft);font-size:.9rem}
code{background:var(--field);padding:.1em .3em;border-radius:4px;font-size:.9em;overflow-wrap:anywhere}
pre{background:var(--field);padding:.8rem;border-radius:6px;overflow:auto;font-size:.82rem;line-height:1.45;
max-height:28rem}
pre code{background:none;padding:0;overflow-wrap:normal}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.92rem}
th,td{text-align:left;vertical-align:top;padding:.35rem .8rem .35rem 0;border-bottom:1px solid var(--line)}
"""

POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{b64encode(sha256(STYLE.encode()).digest()).decode()}'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Content-Security-Policy: the page has no script and loads nothing."""


def page(description: Mapping[str, Any]) -> str:
    """Return the page of a description that `sourcebook.api.openapi` made."""
    operations = [
        (path, method.upper(), operation)
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    ]
    by_topic = {
        tag["name"]: [one for one in operations if tag["name"] in one[2]["tags"]]
        for tag in description["tags"]
    }
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        f"<title>Sourcebook API</title><style>{STYLE}</style></head><body><div class=all>",
        '<nav id="operations" aria-label="Operations">',
    ]
    for topic, found in by_topic.items():
        links = "".join(
            f'<li><a href="#{operation["operationId"]}">{method} {escape(path)}</a></li>'
            for path, method, operation in found
        )
        parts.append(f"<h2>{escape(topic)}</h2><ul>{links}</ul>")
    parts.append("</nav><main><h1>Sourcebook API</h1>")
    parts.append('<p class=jump><a href="#operations">All operations</a></p>')
    parts.extend(
        f"<p>{_marked(paragraph)}</p>"
        for paragraph in description["info"]["description"].strip().split("\n\n")
    )
    parts.append('<p>The same for programs: <a href="openapi.json">openapi.json</a> (OpenAPI 3.1).</p>')
    for topic, found in by_topic.items():
        parts.append(f"<h2>{escape(topic)}</h2>")
        for path, method, operation in found:
            parts.extend(_section(path, method, operation, description["components"]))
    parts.append("</main></div></body></html>")
    return "".join(parts)


def _section(
    path: str, method: str, operation: Mapping[str, Any], components: Mapping[str, object]
) -> Iterator[str]:
    change = "" if method == "GET" else " change"
    yield f'<section aria-labelledby="{operation["operationId"]}"><h3 id="{operation["operationId"]}">'
    yield f'<span class="verb{change}">{method}</span><code>{escape(path)}</code></h3>'
    yield f"<p>{_marked(operation['summary'])}. <span class=soft>{_ACCESS[operation['x-access']]}</span></p>"
    if text := operation.get("description"):
        yield f"<p>{_marked(text)}</p>"
    if parameters := operation.get("parameters"):
        yield "<h4>Parameters</h4><div class=wide><table><thead><tr><th>name<th>value<th></tr></thead><tbody>"
        for parameter in parameters:
            need = " <span class=soft>needed</span>" if parameter["required"] else ""
            yield (
                f"<tr><td><code>{escape(parameter['name'])}</code>{need} "
                f"<span class=soft>{parameter['in']}</span>"
                f"<td>{_value(parameter['schema'])}<td>{_marked(parameter['description'])}"
            )
        yield "</tbody></table></div>"
    if body := operation.get("requestBody"):
        ((media_type, content),) = body["content"].items()
        schema = _resolved(content["schema"], components)
        yield f"<h4>Body <span class=soft>{escape(media_type)}</span></h4>"
        yield from _fields(schema)
        yield from _examples(schema)
    shown = None
    for status, answer in operation["responses"].items():
        if "$ref" in answer or "content" not in answer or answer["content"] == shown:
            continue
        shown = answer["content"]
        # The first is what is answered to whoever asks for no form.
        content = next(iter(answer["content"].values()))
        kind = f"<span class=soft>{escape(', '.join(answer['content']))}</span>"
        yield f"<h4>{status} {escape(answer['description'])} {kind}</h4>"
        yield from _examples(_resolved(content["schema"], components))
    problems = [status for status, answer in operation["responses"].items() if "$ref" in answer]
    yield f"<p class=soft>Problems: {', '.join(problems)}</p></section>"


def _fields(schema: Mapping[str, Any]) -> Iterator[str]:
    if not schema.get("properties"):
        if text := schema.get("description"):
            yield f"<p>{_marked(text)}</p>"
        return
    yield "<div class=wide><table><thead><tr><th>field<th>value<th></tr></thead><tbody>"
    for name, field in schema["properties"].items():
        need = " <span class=soft>needed</span>" if name in schema.get("required", ()) else ""
        text = _marked(field.get("description", ""))
        yield f"<tr><td><code>{escape(name)}</code>{need}<td>{_value(field)}<td>{text}"
    yield "</tbody></table></div>"


def _examples(schema: Mapping[str, Any]) -> Iterator[str]:
    for example in schema.get("examples", ())[:1]:
        text = example if isinstance(example, str) else json.dumps(example, indent=2, ensure_ascii=False)
        yield f'<pre tabindex="0"><code>{escape(text)}</code></pre>'


def _resolved(schema: Mapping[str, object], components: Mapping[str, Any]) -> Mapping[str, object]:
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    found: Mapping[str, object] = components["schemas"][name] if name else schema
    return found


def _value(schema: Mapping[str, Any]) -> str:
    """Return in a few words what a value may be."""
    if "enum" in schema:
        words = ", ".join(f"<code>{escape(str(w))}</code>" for w in schema["enum"] if w is not None)
    elif "minimum" in schema and "maximum" in schema:
        words = f"{schema['minimum']} to {schema['maximum']}"
    elif "$ref" in schema or any("$ref" in one for one in schema.get("anyOf", ())):
        words = "an object"
    elif schema.get("type") == "array":
        words = "a list"
    elif schema.get("format") == "date":
        words = "a day"
    elif "anyOf" in schema:
        words = "a time or a day"
    elif "boolean" in str(schema.get("type")):
        words = "<code>true</code> or <code>false</code>"
    else:
        longest = schema.get("maxLength")
        words = f"text, up to {longest}" if longest else "text"
    default = schema.get("default")
    return words if default is None else f"{words}; <code>{escape(str(default))}</code> if not given"


def _marked(text: str) -> str:
    """Return HTML of a text with `code` and **strong** in it."""
    marked = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))
    return re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", marked)
