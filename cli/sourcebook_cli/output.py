"""Prints the output of the commands. Names and messages from outside are made printable."""

from __future__ import annotations

import json
import re
import sys
import traceback
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import click

from sourcebook.printable import as_json_escape, as_xml_reference, printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.text import Text

Style = Literal["plain", "bold", "dim", "red", "yellow", "green"]

_CLEAR_LINE: Final = "\r\x1b[2K"
_LEAST_WIDTH: Final = 6


class Styled(NamedTuple):
    """A part of a line in another style."""

    text: str
    style: Style


Part = str | Styled


def say(*parts: Part, err: bool = False) -> None:
    """Print one line, made of its parts; to standard error if `err` says so.

    A line end in a part is spelled out like every other control character: nobody's text begins a line.
    """
    click.echo("".join(_shown(part) for part in parts), err=err)


def say_error(error: object) -> None:
    """Print an error, on one line."""
    say(Styled(re.sub(r" *\n\s*", " ", f"sourcebook: {error}"), "red"), err=True)


def say_row(cells: Sequence[str]) -> None:
    """Print cells with tabs between them, for a program."""
    click.echo("\t".join(printable(cell) for cell in cells))


def say_json(value: object, *, indent: int | None = None) -> None:
    """Print a value as JSON. Characters that a terminal would act on are escaped: the value is the same."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    click.echo(printable(text, as_json_escape, keep="\n"))


def say_xml(text: str) -> None:
    """Print an XML document. Characters that a terminal would act on become references: it reads the same."""
    click.echo(printable(text, as_xml_reference, keep="\n\t"), nl=False)


def say_text(text: str) -> None:
    """Print a text of our own, of several lines."""
    click.echo(printable(text, keep="\n\t"))


def confirm(question: str, *, err: bool = False) -> None:
    """Ask a question; end the command unless the answer is yes."""
    click.confirm(printable(question), abort=True, err=err)


def show_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Part | None]],
    *,
    whole: Collection[str] = (),
    title: str | None = None,
) -> None:
    """Print a table. No cell is cut: on a terminal cells are folded, into a pipe lines may be long.

    Args:
        columns: the headings.
        rows: a cell for each column.
        whole: columns with ids, dates and the like, which are folded last.
        title: above the table.
    """
    from rich.table import Table
    from rich.text import Text

    console = _console()
    cells = [[_text(cell) for cell in row] for row in rows]
    headings = [Text(name) for name in columns]
    widths = [max(text.cell_len for text in column) for column in zip(headings, *cells, strict=True)]
    if console.is_terminal:
        frame = 3 * len(columns) + 1
        widths = fitted(widths, [name in whole for name in columns], console.width - frame)
    else:
        console.width = max(sum(widths) + 3 * len(columns) + 1, len(title or ""))
    table = Table(title=None if title is None else Text(printable(title)), title_justify="left")
    for heading, width in zip(headings, widths, strict=True):
        table.add_column(heading, width=width, overflow="fold")
    for row in cells:
        table.add_row(*row)
    console.print(table)


def fitted(widths: Sequence[int], whole: Sequence[bool], available: int) -> list[int]:
    """Return widths of columns that together take no more than what is available, if they can.

    The widest column gives way first; one that should stay whole only when no other can.
    """
    found = list(widths)
    for may_be_folded in ([not one for one in whole], [True] * len(found)):
        while sum(found) > available:
            narrowed = [i for i, folds in enumerate(may_be_folded) if folds and found[i] > _LEAST_WIDTH]
            if not narrowed:
                break
            widest = max(narrowed, key=lambda i: found[i])
            found[widest] -= 1
    return found


def working(what: str) -> AbstractContextManager[object]:
    """Show on a terminal what the command waits for."""
    from rich.text import Text

    return _console().status(Text(printable(what)))


def progress() -> Progress:
    """Return a display of the progress of several tasks; its texts are our own."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description:<18}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=_console(),
    )


@contextmanager
def bar(label: str, length: int) -> Iterator[Any]:
    """Show the progress of one task on standard error; yield an object with `update`."""
    with click.progressbar(length=length, label=printable(label), file=sys.stderr) as shown:
        yield shown


def clear_line() -> None:
    """Wipe the line of a bar: it is drawn again with the next step."""
    click.echo(_CLEAR_LINE, nl=False, err=True)


def print_traceback(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print the traceback of an unexpected error; for `sys.excepthook`."""
    for block in traceback.format_exception(kind, error, trace):
        for line in block.rstrip("\n").split("\n"):
            say(line, err=True)


def _console() -> Console:
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def _shown(part: Part) -> str:
    if isinstance(part, str):
        return printable(part)
    text = printable(part.text)
    match part.style:
        case "plain":
            return text
        case "bold":
            return click.style(text, bold=True)
        case "dim":
            return click.style(text, dim=True)
        case colour:
            return click.style(text, fg=colour)


def _text(cell: Part | None) -> Text:
    from rich.text import Text

    if isinstance(cell, Styled):
        return Text(printable(cell.text), style="" if cell.style == "plain" else cell.style)
    return Text(printable(cell or ""))
