"""Documents made from known figures, written in ways that keep their meaning.

Whatever is read must be what is true, or carry a warning, or be left out with a reason: never wrong in
silence. `make fuzz` tries ten thousand of each kind.
"""

from __future__ import annotations

import csv
import io
import json
import os
import random
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from typing import Any, Final

import pytest

from sourcebook.observations.adapters.document import BadDocument
from sourcebook.observations.days import read_days
from sourcebook.observations.model import ParsedDocument
from sourcebook.observations.terms import parse_term
from sourcebook.observations.values import UnreadableValue, parse_rate
from tests.unit.observations.pages import parse

MUTATIONS: Final = int(os.environ.get("SOURCEBOOK_FUZZ", "200"))

BANKS: Final = ("Techcombank", "Nordküste", "Bến Xuân", "Elm & Sons", "浜銀行", "Česká banka", "Alder Bank")
TERMS: Final = {
    "M0000": ("on demand", "không kỳ hạn", "overnight"),
    "D00007": ("1 week", "7 days", "1W", "7 ngày", "1 Woche"),
    "M0001.5": ("1.5 months", "1½ months", "1,5 Monate"),
    "M0006": (
        "6 months",
        "6M",
        "6 Monate",
        "6 tháng",
        "6 мес.",
        "6 meses",
        "６个月",
        "6-month",
        "6 mois",
        "6ヶ月",
        "½ year",
    ),
    "M0012": ("12 months", "1 year", "1Y", "1 año", "1 Jahr", "12 tháng", "1 rok", "12 months (365 days)"),
    "M0018": ("18 months", "1½ years", "1 year 6 months", "1,5 Jahre", "18 месяцев"),
}
HIDDEN: Final = (
    '<span style="display:none">9.9</span>',
    '<span style="DISPLAY :  None ;color:red">7</span>',
    '<b style="visibility: hidden">1</b>',
    "<i hidden>8</i>",
    "<template>3</template>",
    "<script>var x = 4.4;</script>",
    "<noscript>2</noscript>",
    "<!-- 5.5 -->",
    "<wbr>",
    "&#8203;",
    "&shy;",
    "<span></span>",
)
WRAPS: Final = (
    "<b>{}</b>",
    "<span>{}</span>",
    "<small>{}</small>",
    '<a href="#x">{}</a>',
    "<font color=red>{}</font>",
    "{}",
)
DIGITS: Final = tuple(
    str.maketrans("0123456789", digits) for digits in ("٠١٢٣٤٥٦٧٨٩", "０１２３４５６７８９", "०१२३४५६७८९")
)
LEFT_OVER: Final = ("", "", "", "*", " †", " (1)", " [2]", "<sup>3</sup>", "<s>9.99</s>")
BROKEN: Final = (
    "<br>",
    "<div>",
    "</td>",
    "<td>",
    '"',
    "<p>",
    "\n",
    ";",
    "</tr>",
    "<sup>1</sup>",
    "<",
    "&",
    "9",
    "'",
)

Truth = dict[tuple[str, str], Decimal]


def truth_of(chance: random.Random) -> Truth:
    banks = chance.sample(BANKS, 3)
    rates = [Decimal(chance.randrange(1, 1500)).scaleb(-2) for _ in range(9)]
    return dict(
        zip(((bank, term) for bank in banks for term in chance.sample(sorted(TERMS), 3)), rates, strict=True)
    )


def figure(rate: Decimal, chance: random.Random, *, comma: bool = False, plain: bool = False) -> str:
    """Write a rate in one of the ways that mean it."""
    text = f"{rate:.2f}"
    eighths = rate * 8
    if not plain and eighths == int(eighths) and chance.random() < 0.3 and rate % 1:
        glyph = {1: "⅛", 2: "¼", 3: "⅜", 4: "½", 5: "⅝", 6: "¾", 7: "⅞"}[int(eighths) % 8]
        return f"{int(rate) or ''}{glyph} %"
    if rate < 1 and chance.random() < 0.5:
        text = text.removeprefix("0")
    if comma or (not plain and chance.random() < 0.4):
        text = text.replace(".", ",")
    if not plain and chance.random() < 0.2:
        text = text.translate(chance.choice(DIGITS))
    return text + chance.choice(
        ("", "%", " %", "\u00a0%", "\u2009%", " per cent", " pct", " % p.a.", "%/year", " Prozent", "٪")
    )


def marked_up(text: str, chance: random.Random) -> str:
    """Write a text with elements that a visitor does not see, in or around it."""
    pieces = [piece.replace("&", "&amp;") for piece in text]
    for _ in range(chance.randrange(3)):
        pieces.insert(chance.randrange(len(pieces) + 1), chance.choice(HIDDEN))
    at = chance.randrange(len(pieces) + 1)
    return chance.choice(WRAPS).format("".join(pieces[:at])) + "".join(pieces[at:])


def page_of(truth: Truth, chance: random.Random) -> str:
    rows = ["<tr><th>Bank<th>Term<th>Rate"]
    for bank in dict.fromkeys(bank for bank, _ in truth):
        own = [(term, rate) for (name, term), rate in truth.items() if name == bank]
        spanned = chance.random() < 0.5
        for number, (term, rate) in enumerate(own):
            span = f" rowspan={len(own)}" if spanned else ""
            name = f"<td{span}>{marked_up(bank, chance)}{chance.choice(LEFT_OVER[:7])}"
            if spanned and number:
                name = ""
            cells = [marked_up(chance.choice(TERMS[term]), chance)]
            cells.append(marked_up(figure(rate, chance), chance) + chance.choice(LEFT_OVER))
            rows.append(
                f"<tr>{name}" + "".join(f"<td>{cell}{chance.choice(('', '</td>'))}" for cell in cells)
            )
    return f"<table>{''.join(rows)}</table>"


def json_of(truth: Truth, chance: random.Random) -> str:
    content = [
        {
            "name": bank,
            "products": [
                {
                    "t": chance.choice(TERMS[term]),
                    "r": float(rate) if chance.random() < 0.5 else figure(rate, chance),
                }
                for (name, term), rate in truth.items()
                if name == bank
            ],
        }
        for bank in dict.fromkeys(bank for bank, _ in truth)
    ]
    return json.dumps({"banks": content}, ensure_ascii=chance.random() < 0.5)


def csv_of(truth: Truth, chance: random.Random) -> str:
    written = io.StringIO()
    writer = csv.writer(written, delimiter=";", quoting=chance.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL)))
    writer.writerow(("Bank", "Term", "Rate"))
    for (bank, term), rate in truth.items():
        writer.writerow((bank, chance.choice(TERMS[term]), figure(rate, chance, comma=chance.random() < 0.5)))
    return written.getvalue()


KINDS: Final[dict[str, tuple[Callable[..., str], dict[str, Any]]]] = {
    "html_table": (page_of, {}),
    "csv": (csv_of, {}),
    "json_api": (json_of, {"records": ["banks", "products"], "bank": "^.name", "term": "t", "value": "r"}),
}


def read(kind: str, document: str) -> ParsedDocument | None:
    try:
        return parse(kind, document, **KINDS[kind][1])
    except BadDocument:
        return None


@pytest.mark.parametrize("kind", KINDS)
def test_what_means_the_same_is_read_the_same(kind: str) -> None:
    make = KINDS[kind][0]
    taken = altogether = 0
    for number in range(MUTATIONS):
        chance = random.Random(f"{kind}-{number}")
        truth = truth_of(chance)
        document = make(truth, chance)
        parsed = read(kind, document)
        for row in parsed.rows if parsed else ():
            true = truth.get((row.bank, row.term))
            assert true == row.rate.value or row.rate.warnings, f"{number}: {row} is not {true} in {document}"
            taken += true == row.rate.value
        altogether += len(truth)
        assert parsed is None or len(parsed.rows) + len(parsed.dropped) >= len(truth), document
    assert taken > 0.98 * altogether


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_broken_is_never_a_wrong_figure_of_a_right_place(kind: str) -> None:
    """A piece of syntax anywhere in the data: it costs rows, and moves no figure to another bank or term.

    What makes another name, or a number of its own (a digit more), is what the document says now.
    """
    make = KINDS[kind][0]
    for number in range(MUTATIONS):
        chance = random.Random(f"broken-{kind}-{number}")
        truth = truth_of(chance)
        document = make(truth, chance)
        at = chance.randrange(document.index("\n") if kind == "csv" else 40, len(document))
        piece = chance.choice([p for p in BROKEN if p != "9"])
        parsed = read(kind, document[:at] + piece + document[at:])
        for row in parsed.rows if parsed else ():
            true = truth.get((row.bank, row.term))
            rates = {rate for (bank, _), rate in truth.items() if bank == row.bank}
            if true is not None and row.rate.value in rates - {true}:
                assert row.rate.warnings, f"{number}: {row} is not {true}: {piece!r} at {at} in {document}"


PIECES: Final = (
    *"0123456789.,%‰ -–+/()[]*^½⅜¹²①ⓘ▲yYmMdDPTWeE'·⁄⎖\u0336−年月天个半两十一二三期百零",
    *(
        "month",
        "year",
        " a ",
        " one ",
        " p.a. ",
        " from ",
        " to ",
        " $",
        " min ",
        "AER",
        " und ",
        "Q3",
        "Nov",
        "2026",
    ),
)


@pytest.mark.parametrize("read", [parse_rate, parse_term, lambda text: read_days([text])])
def test_every_text_is_read_or_refused(read: Callable[[str], object]) -> None:
    random_ = random.Random(1)
    for _ in range(20 * MUTATIONS):
        with suppress(UnreadableValue):
            read("".join(random_.choices(PIECES, k=random_.randint(1, 8))))
