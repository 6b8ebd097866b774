"""The way of the rows of a run, as a page for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from omd.programs.page.markup import (
    FINDING,
    Columns,
    Html,
    To,
    el,
    name,
    nowhere,
    page,
    section,
    table,
    verdict,
    zone,
)
from omd.programs.report.way import STYLE, Stop, picture
from omd.programs.terminal.text import printable, short

if TYPE_CHECKING:
    from omd.rooms.provenance.rows import TraceRow, TraceRowRow

    Run = TraceRow | TraceRowRow

TITLES = {"UP": "What it was made from", "DOWN": "What was made of it"}


def in_words(run: Run) -> str:
    """Return a run on the way in words."""
    parts = [run.text]
    if not run.stands:
        parts.append("it does not stand")
    if not run.is_exact:
        parts.append("it may have been read" if run.direction == "UP" else "it may have read")
    return "; ".join(parts)


def print_way(runs: Sequence[Run]) -> None:
    """Print the way of the rows of a run, or of several, one after the other."""
    before = None
    for run in runs:
        if run.direction == "SELF":
            if before is not None:
                click.echo()
            click.secho(printable(in_words(run)), bold=True)
        else:
            if run.direction != before:
                click.secho(f"\n{TITLES[run.direction]}", bold=True)
            click.echo(f"{'  ' * (run.distance - 1)}{printable(in_words(run))}")
        before = run.direction


def as_page(runs: Sequence[Run]) -> str:
    """Return a trace as an HTML page (see `omd.programs.page.markup`)."""
    its = runs[0]
    body = [
        el(
            "header",
            el("h1", "Run ", f"{its.module_instance_id}", " of ", name(its.module_code)),
            el("p", "It wrote ", name(its.table_code)),
        ),
        verdict(
            "S" if its.stands else "A",
            "It stands" if its.stands else "It does not stand",
            el("p", name(its.text)),
        ),
        section("way", "The way of its rows", picture(stops(runs), "The way of its rows")),
    ]
    for direction, title in TITLES.items():
        rows = [run for run in runs if run.direction == direction]
        if rows:
            body.append(section(direction.lower(), title, table(rows, columns())))
    body.append(el("p", f"Times in sentences are of the session; here it is {zone()}.", cls="note"))
    title = f"Run {its.module_instance_id} of {short(its.module_code)}"
    return page(title, *body, style=f"{FINDING}{STYLE}")


def columns(to: To = nowhere) -> Columns:
    """Return the columns of a list of runs on the way."""
    return {
        "steps#": lambda run: f"{run.distance}",
        "run#": lambda run: to("MODULE_INSTANCE", run.module_instance_id),
        "Module": lambda run: to("MODULE", run.module_code),
        "table": lambda run: name(run.table_code),
        "in words": _words,
    }


def _words(run: Run) -> Html:
    files = [el("span", name(file), cls="line") for file in run.files or []]
    return el("div", name(in_words(run)), *files)


def stops(runs: Sequence[Run]) -> Iterator[Stop]:
    """Yield the runs; files stand at the runs that staged them, where these are on the way."""
    staged = {run.delivery_id for run in runs if run.module_kind_code == "PART"}
    for run in runs:
        has_files = run.module_kind_code == "PART" or run.delivery_id not in staged
        yield _stop(run, runs[0], run.files or [] if has_files else [])


def _stop(run: Run, of: Run, files: list[str]) -> Stop:
    near = None if run is of else run.because_of or of.module_instance_id
    is_up = run.direction == "UP"
    colour = "quiet" if run.is_exact else "waiting"
    if run.direction == "SELF":
        colour = "ready"
    parts = [f"delivery {run.delivery_id}"] if run.delivery_id is not None else []
    parts += [] if run.stands else ["does not stand"]
    return Stop(
        run.module_instance_id,
        run.module_code,
        near if is_up else None,
        None if is_up else near,
        colour if run.stands else "failed",
        ", ".join(parts) or run.table_code,
        files,
    )
