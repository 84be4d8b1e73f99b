"""Tables of the Virtual Observatory that grow: no answer of 10 MB takes more than 5 s or 600 MB."""

from __future__ import annotations

import os

from sourcebook.novae.resolvers.archive import check_votable
from sourcebook.spectra.providers.votable import read_table
from tests.growth import LARGEST, Growth, check_growth, random_cases

FULL = "SOURCEBOOK_FUZZ" in os.environ
SIZE = LARGEST if FULL else 100_000
HEAD = '<?xml version="1.0"?><VOTABLE version="1.4"><RESOURCE type="results">'
FIELDS = '<TABLE><FIELD name="a" datatype="char" arraysize="*"/>'
DATA = f"{HEAD}{FIELDS}<DATA><TABLEDATA>"
END = "</TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>"
DONE = "</RESOURCE></VOTABLE>"


def read(body: bytes) -> None:
    read_table("an archive", body, 2_000)


def read_status(body: bytes) -> None:
    check_votable("an archive", body)


VOTABLES = (
    Growth("PARAM", HEAD, '<PARAM name="p{n}" datatype="int" value="1"/>', DONE),
    Growth("FIELD", f"{HEAD}<TABLE>", '<FIELD name="f{n}" datatype="int"/>', f"</TABLE>{DONE}"),
    Growth("GROUP", HEAD, '<GROUP name="g">', DONE, closing="</GROUP>"),
    Growth("INFO", HEAD, '<INFO name="i{n}" value="1"/>', DONE),
    Growth("INFO with words", HEAD, '<INFO name="i{n}" value="1">words</INFO>', DONE),
    Growth("INFO that is not closed", HEAD, '<INFO name="i" value="1">'),
    Growth("INFO without an end", HEAD, "<INFO "),
    Growth("INFO of one word", f"{HEAD}<INFO ", "a", "/>" + DONE),
    Growth("INFO of quotes", f"{HEAD}<INFO ", "a=\"'", "/>" + DONE),
    Growth("INFO of equals", f"{HEAD}<INFO ", "a =", "/>" + DONE),
    Growth("INFO of attributes", f"{HEAD}<INFO ", 'a{n}="1" ', "/>" + DONE),
    Growth("INFO with a long value", f'{HEAD}<INFO name="QUERY_STATUS" value="', "a", f'"/>{DONE}'),
    Growth("a reason", f'{HEAD}<INFO name="QUERY_STATUS" value="ERROR">', "why ", f"</INFO>{DONE}"),
    Growth("prefixes", HEAD, "<a:", DONE),
    Growth("one prefix", f"{HEAD}<", "a", f":INFO/>{DONE}"),
    Growth("LINK", HEAD, '<LINK href="http://a/{n}"/>', DONE),
    Growth("RESOURCE", HEAD, "<RESOURCE>", DONE, closing="</RESOURCE>"),
    Growth("TABLE", HEAD, f"{FIELDS}</TABLE>", DONE),
    Growth("TR", DATA, "<TR><TD>1</TD></TR>", END),
    Growth("TR of nothing", DATA, "<TR/>", END),
    Growth("TD", f"{DATA}<TR>", "<TD/>", f"</TR>{END}"),
    Growth("TD in TD", f"{DATA}<TR>", "<TD>", f"</TR>{END}", closing="</TD>"),
    Growth("a cell", f"{DATA}<TR><TD>", "a ", f"</TD></TR>{END}"),
    Growth("references", f"{DATA}<TR><TD>", "&#65;", f"</TD></TR>{END}"),
    Growth("CDATA", f"{DATA}<TR><TD>", "<![CDATA[a]]>", f"</TD></TR>{END}"),
    Growth("comments", HEAD, "<!-- a -->", DONE),
    Growth("instructions", HEAD, "<?a b?>", DONE),
    Growth(
        "arraysize", f'{HEAD}<TABLE><FIELD name="a" datatype="int" arraysize="', "9x", f'*"/></TABLE>{DONE}'
    ),
    Growth(
        "arraysizes", f"{HEAD}<TABLE>", '<FIELD name="f" arraysize="*x99999999999x*"/>', f"</TABLE>{DONE}"
    ),
    Growth(
        "a stream", f'{HEAD}{FIELDS}<DATA><BINARY2><STREAM encoding="base64">', "AAAA", "</STREAM></BINARY2>"
    ),
    Growth(
        "streams", f"{HEAD}{FIELDS}<DATA>", '<BINARY><STREAM encoding="base64">/////w==</STREAM></BINARY>'
    ),
    Growth("attributes", f"{HEAD}<PARAM ", 'a{n}="1" ', f"/>{DONE}"),
    Growth("one name", f"{HEAD}<", "a", f"/>{DONE}"),
    Growth("namespaces", f"{HEAD}<a ", 'xmlns:n{n}="u" ', f"/>{DONE}"),
    Growth("elements that stay open", HEAD, "<a>"),
    Growth("entities", '<?xml version="1.0"?><!DOCTYPE a [', '<!ENTITY e{n} "a">', f"]>{HEAD}{DONE}"),
    Growth(
        "wide rows",
        f"{HEAD}<TABLE>{''.join(f'<FIELD name={chr(34)}f{n}{chr(34)}/>' for n in range(500))}"
        "<DATA><TABLEDATA>",
        f"<TR>{'<TD/>' * 500}</TR>",
        END,
    ),
)
JSONS = (
    Growth("rows", '{"metadata": [{"name": "a"}], "data": [', "[1],", "[1]]}"),
    Growth("rows of nothing", '{"metadata": [{"name": "a"}], "data": [', "[],", "[]]}"),
    Growth("rows that are objects", '{"metadata": [{"name": "a"}], "data": [', "{},", "[]]}"),
    Growth("columns", '{"metadata": [', '{"name":1},', '{"name":1}], "data": []}'),
    Growth("columns without a name", '{"metadata": [', "{},", '{}], "data": []}'),
    Growth("depth", '{"metadata": [], "data": ', "[", "}", closing="]"),
    Growth("digits", '{"metadata": [], "data": [[', "9", "]]}"),
    Growth("exponents", '{"metadata": [{"name": "a"}], "data": [', "[1e99999],", "[1]]}"),
    Growth("a text", '{"metadata": [{"name": "a"}], "data": [["', "\\u0041", '"]]}'),
    Growth("keys", '{"metadata": [], ', '"k{n}":0,', '"data": []}'),
)  # fmt: skip


def test_no_votable_costs_more_than_it_may() -> None:
    check_growth(read, *(VOTABLES if FULL else VOTABLES[::3]), largest=SIZE)
    check_growth(read_status, *(VOTABLES if FULL else VOTABLES[1::4]), largest=SIZE)


def test_no_json_of_tap_costs_more_than_it_may() -> None:
    check_growth(read, *JSONS, largest=SIZE)


def test_no_random_votable_costs_more_than_it_may() -> None:
    """`make fuzz` tries a hundred times as many."""
    count = min(400, max(4, int(os.environ.get("SOURCEBOOK_FUZZ", "1")) // 25))
    pieces = [
        *(
            "<INFO",
            "<INFO ",
            ' name="QUERY_STATUS"',
            ' value="OK"',
            ">",
            "/>",
            "</INFO>",
            "<",
            "=",
            '"',
            "'",
            "a",
            " ",
        ),
        *(
            "<TR>",
            "<TD>",
            "</TD>",
            "</TR>",
            "<TABLE>",
            "</TABLE>",
            "<FIELD name='f'/>",
            "&amp;",
            "&#10;",
            ":",
            "\n",
        ),
        *("<![CDATA[", "]]>", "<!--", "-->", "<RESOURCE>", "</RESOURCE>", "<PARAM/>", "<STREAM>", "é"),
    ]
    check_growth(
        read, *random_cases(pieces, count, seed=15, heads=(HEAD, DATA, f"{HEAD}<INFO ")), largest=SIZE
    )
