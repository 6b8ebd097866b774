"""Rows on stdout: as an aligned table, as JSON or as CSV."""

from __future__ import annotations

import csv
import json
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import Any

import click

from omd.programs.terminal.text import as_json, as_text, printable, row_dict, short

Row = Mapping[str, Any]


def tell_more(rows: Sequence[object], limit: int | None) -> None:
    """Say that a limit was reached."""
    if limit is not None and len(rows) == limit:
        click.echo(f"There may be more than {limit}: --limit shows them.", err=True)


def render(rows: Iterable[Row], columns: Sequence[str], output: str) -> None:
    """Print rows to stdout: as an aligned table, a JSON array of objects, or CSV with a header."""
    if output == "json":
        objects = [{column: row[column] for column in columns} for row in rows]
        click.echo(json.dumps(objects, default=as_json, indent=2, ensure_ascii=False))
    elif output == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([as_cell(row[column]) for column in columns] for row in rows)
        sys.stdout.flush()  # what stderr says comes after the data
    else:
        _table(list(rows), columns)


_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")


_NUMBER = re.compile(r"[+-]?[0-9][0-9.,]*(e[+-]?[0-9]+)?", re.IGNORECASE)


def as_cell(value: object) -> str:
    """Return a value as a cell of CSV that no spreadsheet executes and no terminal obeys.

    A text that a spreadsheet would take for a formula has an apostrophe before it.
    """
    text = printable(as_text(value))
    is_formula = _FORMULA.match(text) and not _NUMBER.fullmatch(text)
    return f"'{text}" if is_formula else text


def _table(
    rows: Sequence[Row], columns: Sequence[str], as_cell_text: Callable[[Any], str] = as_text
) -> None:
    """Print a table: whole in a pipe or a file, and in a terminal as wide as that.

    What does not fit is wrapped, in the last column of texts if that is enough.
    """
    room = terminal_width()
    lines = [list(columns), *([as_cell_text(row[column]) for column in columns] for row in rows)]
    kinds = [_kind(row[column] for row in rows) for column in columns]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    if room is not None:
        widths = _fitted(widths, kinds, room)
    for number, line in enumerate(lines):
        wrapped = [_wrap(cell, width) for cell, width in zip(line, widths, strict=True)]
        for part in zip_longest(*wrapped, fillvalue=""):
            cells = [
                cell.rjust(width) if kind == "number" else cell.ljust(width)
                for cell, width, kind in zip(part, widths, kinds, strict=True)
            ]
            click.echo("  ".join(cells).rstrip())
        if number == 0:
            rules = ["-" * width for width in widths]
            if room is None and rules:  # one long text would make a line of dashes as long
                rules[-1] = rules[-1][: max(len(columns[-1]), 80)]
            click.echo("  ".join(rules))
    if not rows:
        click.echo("(none)", err=True)


def terminal_width() -> int | None:
    """Return how many columns the terminal has; None: stdout is none."""
    return shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else None


def _kind(values: Iterable[object]) -> str:
    """Return what a column holds: numbers, instants and spans, or texts."""
    known = [value for value in values if value is not None]
    if all(isinstance(value, (int, float)) for value in known):
        return "number"
    return "time" if all(isinstance(value, (datetime, timedelta)) for value in known) else "text"


def _fitted(widths: list[int], kinds: Sequence[str], room: int) -> list[int]:
    """Return the widths with which a table fits, if texts may be wrapped for it.

    The last column of texts is wrapped first, then the widest; one that many others leave too
    little room for goes beyond the margin.
    """
    texts = [i for i, kind in enumerate(kinds) if kind == "text"]
    widths = [min(w, max(room, 8)) if i in texts else w for i, w in enumerate(widths)]
    for chosen, least in ((texts[-1:], 24), (texts, 20), (texts, 8)):
        while chosen and sum(widths) + 2 * (len(widths) - 1) > room:
            widest = max(chosen, key=lambda i: (widths[i], i))
            if widths[widest] <= least:
                break
            widths[widest] -= 1
    return widths


def _wrap(cell: str, width: int) -> list[str]:
    if len(cell) <= width:
        return [cell]
    return textwrap.wrap(cell, width, break_on_hyphens=False) or [""]


def titled(select: str, **titles: str) -> dict[str, str]:
    """Return the columns of a table by their titles, of a list as in SELECT: ``code AS title``.

    A title may also be given by the name of its column. Without one a column has its own name, with
    blanks and without an end that says what it is.
    """
    entries = (entry.partition(" AS ") for entry in select.split(", "))
    return {title or titles.get(name) or heading(name): name for name, _, title in entries}


def heading(name: str) -> str:
    """Return the name of a column with blanks, and without an end that says what it is."""
    return _END.sub("", name).replace("_", " ")


_END = re.compile("_(code|id|datetime)$")


def show(rows: Iterable[Any], columns: Mapping[str, str], output: str) -> None:
    """Print rows: as a table with the columns named (title: column), as JSON or CSV with all."""
    values = [row_dict(row) for row in rows]
    if output == "table":
        show_table(
            [{title: row[name] for title, name in columns.items()} for row in values],
            list(columns),
        )
    else:
        render(values, list(values[0]) if values else list(columns.values()), output)


def show_table(rows: Sequence[Row], columns: Sequence[str]) -> None:
    """Print rows as a table for people."""
    _table(rows, columns, lambda value: as_text(short(value)))


def show_document(values: Mapping[str, Any]) -> None:
    """Print a document of more than one table as a JSON object."""
    click.echo(json.dumps(values, default=as_json, indent=2, ensure_ascii=False))


def show_pairs(values: Mapping[str, Any], width: int = 28) -> None:
    """Print values with their names, line by line, without those that are empty."""
    for name, value in values.items():
        if value is not None and value not in ([], {}):
            text = value if isinstance(value, (str, datetime)) else as_text(value)
            text = str(short(text)) if isinstance(text, datetime) else text
            for number, line in enumerate(text.splitlines()):
                click.echo(f"{'' if number else name:<{width}}{printable(line)}")
