"""``omd explain``: why something does not run, where a value comes from, where rows went."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omd._core.catalogue import key_of
from omd._core.texts import loads
from omd.programs.cli.common import dsn_option, open_control
from omd.programs.cli.things import find
from omd.programs.terminal.commands import ExitCode
from omd.programs.terminal.options import document_option, instant, page_option
from omd.programs.terminal.tables import show_document, show_pairs
from omd.programs.terminal.text import row_dict
from omd.rooms.control.rows import ModuleExecutionLogRow
from omd.rooms.decision.rows import DecisionStageListRow
from omd.rooms.lineage.rows import SourcesRow

if TYPE_CHECKING:
    from omd.doors.control import Control
    from omd.programs.cli.things import Thing
    from omd.programs.report.traced import Run
    from omd.rooms.provenance.rows import ExplainRow

_KINDS = ("module", "batch", "topic", "stage", "run", "batchrun")
# The options of each explanation.
_BEGIN = ("batch_instance",)
_DECISION = ("wave", "instance", "page")
_VALUE = ("column", "at", "page")
_ROWS = ("up", "down", "depth", "page")


@dataclass(frozen=True, slots=True)
class _Answer:
    """An explanation: as JSON, as text, and as a page for people."""

    document: Mapping[str, Any]
    tell: Callable[[], None]
    as_page: Callable[[], str] = str
    code: ExitCode = ExitCode.OK


@click.command()
@click.argument("thing")
@click.argument("key", required=False)
@dsn_option
@document_option
@click.option("--column", metavar="COLUMN", help="Of a TABLE: explain the value of this column.")
@click.option(
    "--at", callback=instant, metavar="INSTANT", help="Of a value: as of when; by default now."
)
@click.option("--up", is_flag=True, help="Of rows: only what they were made from.")
@click.option("--down", is_flag=True, help="Of rows: only what was made of them.")
@click.option(
    "--depth", type=click.IntRange(min=0), help="Of rows: how many steps far; by default 20."
)
@click.option("--wave", metavar="TEXT", help="Of a STAGE: only this wave.")
@click.option(
    "--instance",
    type=int,
    metavar="ID",
    help="Of a STAGE: this run; by default the last one that has decided the key.",
)
@click.option(
    "--batch-instance",
    type=int,
    metavar="ID",
    help="Of what would begin: the Batch Instance that would begin it.",
)
@page_option("--html", "Of rows, a value or a decision: write it to this file too, as a page.")
def explain(thing: str, key: str | None, dsn: str, output: str, **options: Any) -> int:
    """Explain why something does not run, where a value comes from, or where rows went.

    THING is a Module, a topic, a stage or batch:CODE: what a begin would answer now and by which
    rule, what it waits for and why it failed, and of a topic the block that it would take. The exit
    code is 0 for P (proceed) and R (roll back, then proceed), 3 for C (skip) and where a topic has
    no block, 4 for A (abort), and 1 when the begin would fail or would wait for another session.

    TABLE KEY --column: who wrote the value, of what, in which delivery and file, and what it was
    before. TABLE KEY, run:ID or batchrun:ID: what the rows were made from, as far as deliveries and
    their files, and what was made of them, as far as exports. STAGE KEY: what the rules were given,
    which applied, what they said, what was left; stage:CODE --instance ID is all that the run has
    decided, at most 50.

    TABLE is an offered view of facts, a table of the Logical Validation Layer or a target of a
    Module. KEY is a JSON object of columns and values, or one value where the key has one column.

    \b
    Examples:
      omd explain m_orders
      omd explain gdal_shop.orders 5 --column amount --html why.html
      omd explain flight_care '{"origin": "EWR", "hour": 5}'
      omd explain run:4711 --up --depth 1
    """
    page: Path | None = options["page"]
    with open_control(dsn) as control:
        answer = _explained(control, thing, key, options)
    if page is not None:
        page.write_text(answer.as_page(), encoding="utf-8")
    if output == "json":
        show_document(answer.document)
    else:
        answer.tell()
    if page is not None:
        click.echo(f"The explanation is in {page}.", err=True)
    return answer.code


def _explained(
    control: Control, thing: str, key: str | None, options: Mapping[str, Any]
) -> _Answer:
    """Find out what is to be explained, and explain it."""
    kind, _, _ = thing.partition(":")
    stage, table = thing.removeprefix("stage:"), thing.removeprefix("table:")
    if key is None:
        if kind == "stage" and any(options[name] is not None for name in _DECISION):
            return _decision(control, stage, None, _chosen(options, *_DECISION))
        _chosen(options, *_BEGIN, *_ROWS)  # wrong options are refused before a look
        target = find(control, thing, among=_KINDS)
        if target.kind == "run":
            return _way(_of_runs(control, [target.key], _chosen(options, *_ROWS)))
        if target.kind == "batchrun":
            its = control.report(
                ModuleExecutionLogRow,
                batch_instance_id=target.key,
                order_by=["module_instance_id"],
            )
            runs = [row.module_instance_id for row in its]
            return _way(_of_runs(control, runs, _chosen(options, "up", "down", "depth")))
        return _begin(control, target, **_chosen(options, *_BEGIN))
    if kind == "stage" or (
        kind != "table"
        and options["column"] is None
        and control.report(DecisionStageListRow, stage_code=stage)
    ):
        return _decision(control, stage, key, _chosen(options, *_DECISION))
    provenance = control.calls.omd_provenance
    row = _object(key, lambda: key_of(control._link, table), table)
    if options["column"] is None:
        return _way(provenance.trace_row(table, row, **_way_of(_chosen(options, *_ROWS))))
    _chosen(options, *_VALUE)
    return _value(provenance.explain(table, row, options["column"], at=options["at"]))


def _chosen(options: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return the options of an explanation.

    Raises:
        click.UsageError: one of another explanation is given.
    """
    for name, value in options.items():
        if name not in names and value not in (None, False):
            option = "html" if name == "page" else name.replace("_", "-")
            raise click.UsageError(f"--{option} is of another explanation; see omd explain --help.")
    return {name: options[name] for name in names}


def _begin(control: Control, target: Thing, batch_instance: int | None) -> _Answer:
    if target.kind == "topic" and not target.module_code:
        return _source(control.report(SourcesRow, source=target.key)[0])
    from omd.programs.report.begin import begin_of

    begin = begin_of(control, target, batch_instance)
    return _Answer(begin.document, begin.tell, code=begin.exit_code)


def _source(source: SourcesRow) -> _Answer:
    """Explain a topic that runs no step: others fill its table."""
    document = row_dict(source)
    code = ExitCode.OK if source.problem is None else ExitCode.FAILURE
    return _Answer(document, lambda: show_pairs(document), code=code)


def _decision(control: Control, stage: str, key: str | None, options: Mapping[str, Any]) -> _Answer:
    from omd.programs.report.decision import (
        as_page,
        print_explanation,
        read_explanation,
        stage_of,
    )

    row = None
    if key is not None:
        keys = stage_of(control.decision, stage).definition.get("keys") or ()
        row = _object(key, lambda: [item["column"] for item in keys], stage)
    its = read_explanation(control.decision, stage, row, options["wave"], options["instance"])
    return _Answer(its.document, lambda: print_explanation(its), lambda: as_page(its))


def _value(steps: Sequence[ExplainRow]) -> _Answer:
    from omd.programs.report.explained import as_page, print_steps

    document = {"steps": [row_dict(step) for step in steps]}
    return _Answer(document, lambda: print_steps(steps), lambda: as_page(steps))


def _way(runs: Sequence[Run]) -> _Answer:
    from omd.programs.report.traced import as_page, print_way

    document = {"way": [row_dict(run) for run in runs]}
    return _Answer(document, lambda: print_way(runs), lambda: as_page(runs))


def _of_runs(control: Control, ids: Sequence[int], options: Mapping[str, Any]) -> list[Run]:
    """Return the way of the rows of each of these runs."""
    trace = control.calls.omd_provenance.trace
    return [run for id_ in ids for run in trace(id_, **_way_of(options))]


def _way_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a trace."""
    direction = "BOTH" if options["up"] == options["down"] else "UP" if options["up"] else "DOWN"
    return {"direction": direction, "depth": options["depth"]}


def _object(key: str, columns: Callable[[], Sequence[str]], of: str) -> dict[str, Any]:
    """Return a key of the command line: an object, or the value of the one column that it has.

    Raises:
        click.UsageError: the key has another number of columns.
    """
    try:
        value = loads(key)
    except ValueError:
        value = key
    if isinstance(value, dict):
        return value
    names = columns()
    if len(names) != 1:
        its = f"has the columns {', '.join(names)}" if names else "is not known"
        raise click.UsageError(f'the key of {of} {its}: give it as {{"COLUMN": VALUE, …}}.')
    return {names[0]: value}
