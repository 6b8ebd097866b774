"""The command ``omd explain``: what a begin would answer, or where a value comes from."""

from __future__ import annotations

import contextlib
import re
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omd.programs.cli.common import dsn_option, open_control
from omd.programs.report.explained import as_page, print_steps
from omd.programs.terminal.commands import ExitCode
from omd.programs.terminal.options import (
    document_option,
    instant,
    json_value,
    page_option,
)
from omd.programs.terminal.tables import heading, show_document, show_pairs
from omd.programs.terminal.text import as_text, printable, row_dict, short

if TYPE_CHECKING:
    from omd.rooms.control.rows import ExplainBeginRow

_ANSWERS = {"P": ExitCode.OK, "R": ExitCode.OK, "C": ExitCode.SKIPPED, "A": ExitCode.ABORTED}


_WORDS = {
    "P": "would begin now",
    "R": "would begin now",
    "C": "would be skipped",
    "A": "would be refused",
    None: "would fail, or would wait for another session",
}
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT")


@click.command()
@click.argument("module_code", metavar="[MODULE|TABLE]", required=False)
@dsn_option
@document_option
@click.option("--batch", "batch_code", metavar="CODE", help="Of this Batch instead of a Module.")
@click.option(
    "--batch-instance",
    "batch_instance_id",
    type=int,
    metavar="ID",
    help="The Batch Instance that would begin it.",
)
@click.option(
    "--key",
    callback=json_value,
    metavar="JSON",
    help="Of a TABLE: the columns that find one row, such as '{\"order_nbr\": 5}'.",
)
@click.option("--column", metavar="COLUMN", help="The column whose value is explained.")
@click.option("--at", callback=instant, metavar="INSTANT", help="As of when; by default now.")
@page_option("--html", "Write it to this file too, as a page for people.")
def explain(
    module_code: str | None,
    dsn: str,
    output: str,
    batch_code: str | None,
    batch_instance_id: int | None,
    key: Any,
    column: str | None,
    at: datetime | None,
    page: Path | None,
) -> int:
    """Show what a begin of MODULE would answer now, and by which rule; changes nothing.

    The exit code is 0 for P (proceed) and R (roll back, then proceed), 3 for C (skip), 4 for
    A (abort), and 1 when the begin would fail or would wait for another session.

    With --key and --column it shows where the value in a row of TABLE comes from: who wrote it, of
    what, in which delivery and file, and what it was before. TABLE is an offered view of facts, a
    table of the Logical Validation Layer or a target of a Module.

    \b
    Examples:
      omd explain m_orders
      omd explain gdal_shop.orders --key '{"nbr": 5}' --column amount --html why.html
    """
    if key is not None or column is not None:
        if None in (key, column, module_code) or batch_code or batch_instance_id:
            raise click.UsageError("a value needs TABLE, --key and --column")
        return _explain_value(dsn, output, str(module_code), key, str(column), at, page)
    if at is not None or page is not None:
        raise click.UsageError("--at and --html are of a value; name --key and --column")
    if (module_code is None) == (batch_code is None):
        raise click.UsageError("name either a Module or --batch")
    with open_control(dsn) as control:
        [answer] = control.calls.omd.explain_begin(
            module_code=module_code, batch_code=batch_code, batch_instance_id=batch_instance_id
        )
    values = row_dict(answer)
    if output == "json":
        show_document(values)
    else:
        _tell(str(module_code or batch_code), answer)
    return _ANSWERS.get(str(as_text(answer.processing_indicator)), ExitCode.FAILURE)


def _tell(code: str, answer: ExplainBeginRow) -> None:
    """Print the answer of a begin for people: what, why, and which runs it is about."""
    indicator = answer.processing_indicator
    why = ", ".join(filter(None, [short(indicator), answer.reason]))
    what = _WORDS[indicator]
    click.secho(printable(f"{code} {what}{f': {why}' if why else ''}."), bold=True)
    click.echo(printable(answer.rule))
    undone = as_text(answer.instance_array or [])
    details = {"started" if k == "start_datetime" else k: v for k, v in answer.details.items()}
    names = {heading(re.sub("_ids$", "_id", name)): value for name, value in details.items()}
    about = {
        "undone first": f"run {undone}" if undone else None,
        **{name: _in_words(value) for name, value in names.items() if value not in (None, 0)},
    }
    show_pairs(about, max([len(name) for name, text in about.items() if text], default=0) + 2)


def _in_words(value: Any) -> str:
    """Return a value of JSON as people read it."""
    if isinstance(value, dict):
        pairs = (f"{name.replace('_', ' ')} {_in_words(its)}" for name, its in value.items())
        return ", ".join(pairs)
    if isinstance(value, list):
        return ", ".join(map(_in_words, value))
    with contextlib.suppress(ValueError, TypeError):
        if _INSTANT.match(value):
            return str(short(datetime.fromisoformat(value)))
    return str(short(str(value)))


def _explain_value(
    dsn: str, output: str, table: str, key: Any, column: str, at: datetime | None, page: Path | None
) -> int:
    with open_control(dsn) as control:
        steps = control.calls.omd_provenance.explain(table, key, column, at=at)
    if page is not None:
        page.write_text(as_page(steps), encoding="utf-8")
    if output == "json":
        show_document({"steps": [row_dict(step) for step in steps]})
    else:
        print_steps(steps)
    if page is not None:
        click.echo(f"The explanation is in {page}.", err=True)
    return ExitCode.OK
