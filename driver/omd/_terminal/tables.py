"""Rows on stdout: as an aligned table, as JSON or as CSV."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import click

from omd._terminal.text import as_json, as_text, printable, row_dict, short

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


def _table(rows: Sequence[Row], columns: Sequence[str]) -> None:
    numeric = [
        all(isinstance(row[column], (int, float, type(None))) for row in rows) for column in columns
    ]
    lines = [list(columns), *([as_text(row[column]) for column in columns] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    for number, line in enumerate(lines):
        cells = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        ]
        click.echo("  ".join(cells).rstrip())
        if number == 0:
            click.echo("  ".join("-" * width for width in widths))
    if not rows:
        click.echo("(none)", err=True)


def titled(select: str, **titles: str) -> dict[str, str]:
    """Return the columns of a table by their titles, of a list as in SELECT: ``code AS title``.

    A title may also be given by the name of its column. Without one a column has its own name, with
    blanks and without an end that says what it is.
    """
    entries = (entry.partition(" AS ") for entry in select.split(", "))
    return {
        title or titles.get(name) or _END.sub("", name).replace("_", " "): name
        for name, _, title in entries
    }


_END = re.compile("_(code|id|datetime)$")


def show(
    rows: Iterable[Any], columns: Mapping[str, str], output: str, *, whole: Collection[str] = ()
) -> None:
    """Print rows: as a table with the columns named (title: column), as JSON or CSV with all.

    Of the columns of a table those in ``whole`` are never cut.
    """
    values = [row_dict(row) for row in rows]
    if output == "table":
        show_table(
            [{title: short(row[name]) for title, name in columns.items()} for row in values],
            list(columns),
            whole,
        )
    else:
        render(values, list(values[0]) if values else list(columns.values()), output)


def show_table(
    rows: list[dict[str, Any]], columns: Sequence[str], whole: Collection[str] = ()
) -> None:
    """Print rows as a table that is no wider than 100 columns, if that is possible."""
    render(_fit(rows, whole), columns, "table")


def show_document(values: Mapping[str, Any]) -> None:
    """Print a document of more than one table as a JSON object."""
    click.echo(json.dumps(values, default=as_json, indent=2, ensure_ascii=False))


def show_pairs(values: Mapping[str, Any]) -> None:
    """Print values with their names, line by line, without those that are empty."""
    for name, value in values.items():
        if value is not None and value not in ([], {}):
            text = value if isinstance(value, (str, datetime)) else as_text(value)
            text = str(short(text)) if isinstance(text, datetime) else text
            for number, line in enumerate(text.splitlines()):
                click.echo(f"{'' if number else name:<28}{printable(line)}")


def _fit(
    rows: list[dict[str, Any]], whole: Collection[str], width: int = 100
) -> list[dict[str, Any]]:
    """Cut the widest texts until a table of these rows is no wider than allowed."""
    if not rows:
        return rows
    widths = {t: max(len(t), *(len(as_text(row[t])) for row in rows)) for t in rows[0]}
    too_much = sum(widths.values()) + 2 * (len(widths) - 1) - width
    while too_much > 0:
        widest = max(widths, key=lambda title: 0 if title in whole else widths[title])
        if widest in whole or widths[widest] <= 20:
            break  # there are many narrow columns: a wide table is better than an unreadable one
        room = max(20, widths[widest] - too_much)
        too_much -= widths[widest] - room
        widths[widest] = room
        for row in rows:
            text = as_text(row[widest])
            if len(text) > room:
                row[widest] = f"{text[: room - 1]}…"
    return rows
