"""The commands of decision: stages and rulesets, runs, and why something was decided."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import click

from omd.doors.registry import ENGINES
from omd.programs.cli.common import add_call, add_view, dsn_option, opener
from omd.programs.terminal.commands import ExitCode, Sections
from omd.programs.terminal.options import (
    document_option,
    format_option,
    instant,
    json_value,
    limit_option,
    output_option,
    page_option,
)
from omd.programs.terminal.tables import (
    show,
    show_document,
    show_pairs,
    tell_more,
    titled,
)
from omd.programs.terminal.text import row_dict, short
from omd.rooms.control.codes import exit_code
from omd.rooms.decision.calls import DecisionCalls

_open = opener(lambda control: control.decision)


@click.group(cls=Sections)
def decision() -> None:
    """Decide: which records form one call of the rules, what they say, which are rejected.

    \b
    Examples:
      omd decision cycles flight_care                          what a run would call the rules with
      omd decision run flight_care                             runs it
      omd decision explain flight_care --key '{"origin": "EWR", "hour": 5}' --html why.html
    """


_instance = click.option(
    "--instance",
    type=int,
    metavar="ID",
    help="The run; by default the newest one that has succeeded.",
)
_effective_at = click.option(
    "--effective-at",
    callback=instant,
    metavar="INSTANT",
    help="The moment for which the version of the ruleset is chosen, by default now; without a "
    "zone it is local.",
)
_end_value = click.option(
    "--end-value",
    callback=instant,
    metavar="INSTANT",
    help="Up to where a stage with a window reads, by default now less its delay.",
)
_wave = click.option("--wave", metavar="TEXT", help="Only this wave.")


# Documents --------------------------------------------------------------------------------------

decision.section("Stages and rulesets")


@decision.command("show")
@click.argument("stage")
@dsn_option
@format_option("yaml", "json")
def show_stage(stage: str, dsn: str, output: str) -> None:
    """Print the document of a stage, with its defaults; defining it changes nothing."""
    from omd.programs.cli.documents.decision import stage_as_yaml
    from omd.programs.report.decision import stage_of

    with _open(dsn) as room:
        row = stage_of(room, stage)
    if output == "json":
        show_document(row.definition)
    else:
        click.echo(stage_as_yaml(row), nl=False)


add_call(
    decision,
    "activate",
    DecisionCalls.activate_ruleset,
    about="Activate a version of a ruleset, which must have passed every test case.\n\n"
    "Of several, a run takes the one with the latest --effective-from, then the highest"
    " version.\n\n"
    "\b\nExample:\n"
    "  omd decision activate care 2 --effective-from 2026-08-01T00:00Z",
    done="Version {version} of ruleset {ruleset_code} is active.",
)
add_call(
    decision,
    "deactivate",
    DecisionCalls.deactivate_ruleset,
    about="Deactivate a version of a ruleset: no run takes it any more.",
    done="Version {version} of ruleset {ruleset_code} is not active.",
)


@decision.command("test")
@click.argument("ruleset")
@dsn_option
@output_option
@click.option("--version", type=int, metavar="N", help="This version; by default the newest one.")
def test_ruleset(ruleset: str, dsn: str, output: str, version: int | None) -> int:
    """Call a ruleset with every test case, and record the results.

    The exit code is 1 when a case fails. A function of the database is called there; a decision
    model needs zen-engine, and a function of Python is imported from where Python finds modules, if
    the environment variable OMD_RULESET_MODULES names its module.
    """
    with _open(dsn) as room:
        rows = room.test_ruleset(ruleset, version)
    columns = titled("test_name AS test, passed, expected, actual, error")
    show(_for_output(rows, output), columns, output)
    failed = sum(not row.passed for row in rows)
    click.echo(f"Test cases: {len(rows):,}; failed: {failed:,}.", err=True)
    return ExitCode.FAILURE if failed else ExitCode.OK


def _for_output(rows: list[Any], output: str) -> list[Any]:
    """Return rows for output; a table shows JSON as JSON."""
    if output != "table":
        return rows
    return [
        dataclasses.replace(
            row, **{k: _json(v) for k, v in row_dict(row).items() if isinstance(v, (dict, list))}
        )
        for row in rows
    ]


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)


# Runs -------------------------------------------------------------------------------------------

decision.section("Runs")


@decision.command()
@click.argument("stage")
@dsn_option
@output_option
@_wave
@_end_value
@limit_option()
def cycles(
    stage: str, dsn: str, output: str, wave: str | None, end_value: datetime | None, limit: int
) -> None:
    """Show what a run would call the rules with, and what it would reject; nothing is changed.

    A call has no link: its inputs are the records that take part, by their arrival numbers.
    """
    with _open(dsn) as room:
        rows = room._calls.cycles(stage, wave=wave, end_value=end_value)
    show(_for_output(rows[:limit], output), _cycle_columns(rows), output)
    tell_more(rows[:limit], limit)


_CYCLE = titled(
    "wave, key, cycle_no AS cycle, invocation_no AS call, inputs, link AS rejected from,"
    " arrival AS record, code, cause_link AS for want of"
)


def _cycle_columns(rows: list[Any]) -> Mapping[str, str]:
    """Return the columns that hold anything."""
    return {
        title: name
        for title, name in _CYCLE.items()
        if name in ("cycle_no", "inputs") or any(getattr(row, name) is not None for row in rows)
    }


@decision.command()
@click.argument("stage")
@dsn_option
@document_option
@click.option(
    "--engine",
    type=click.Choice(list(ENGINES), case_sensitive=False),
    help="By default the database, or Spark where the kind of the ruleset needs it.",
)
@click.option("--batch-instance", type=int, metavar="ID", help="The Batch Instance to run it in.")
@_end_value
@click.option(
    "--end-id",
    type=int,
    metavar="CHANGE",
    help="The last change that a stage reads whose window goes by changes, by default the newest.",
)
@_effective_at
def run(
    stage: str,
    dsn: str,
    output: str,
    engine: str | None,
    batch_instance: int | None,
    end_value: datetime | None,
    end_id: int | None,
    effective_at: datetime | None,
) -> int:
    """Run a stage, and tell what became of it.

    The exit code is 0 when it has succeeded, 1 when it has failed, 3 when it was skipped, 4 when it
    was aborted. Ctrl-C ends it.
    """
    from omd.programs.cli.log import newest
    from omd.programs.report.decision import stage_of
    from omd.rooms.control.outcome import FACTS

    with _open(dsn) as room:
        result = room.run(
            stage,
            engine=engine,
            batch=batch_instance,
            end_value=end_value,
            end_id=end_id,
            effective_at=effective_at,
        )
        logged = newest(room._control, "event", 10, module_instance_id=result.instance_id)
        module = stage_of(room, stage).module_code
    values = {
        "stage": result.code,
        "module_instance_id": result.instance_id,
        "status": result.status,
        **{name: result.facts.get(name) for name in FACTS["STAGE"]},
        "detail": result.detail,
    }
    if output == "json":
        show_document(values)
    else:
        show_pairs({key.replace("_", " "): value for key, value in values.items()})
    for event in logged if result.detail is None else []:
        click.echo(short(event.event_detail), err=True)
    if str(result.status) in "AC":
        click.echo(f"It has not begun; this says why: omd explain {short(module)}", err=True)
    return exit_code(result.status)


_add_view = partial(add_view, decision, room="decision", arranged=_for_output)


_add_view(
    "runs",
    "Show the runs of stages, the newest last.",
    "module_instance_id AS run, stage_code, stage_version AS version, ruleset_code,"
    " ruleset_version AS of it, begun_at AS begun, execution_status_code AS status, cycles,"
    " invocations AS calls, rows_input AS read, rows_inserted AS written,"
    " rows_rejected AS rejected",
    ["module_instance_id"],
    view="run_log",
    filters={"stage_code": "stage", "ruleset_code": "ruleset"},
    newest="LAST",
)


@decision.command()
@click.argument("stage")
@dsn_option
@output_option
@_instance
@click.option("--link", metavar="NAME", help="Only records of this link.")
@click.option(
    "--code",
    type=click.Choice(["LEFTOVER", "KEY_MISMATCH"], case_sensitive=False),
    help="Only records with this code.",
)
@limit_option()
def rejects(
    stage: str,
    dsn: str,
    output: str,
    instance: int | None,
    link: str | None,
    code: str | None,
    limit: int,
) -> None:
    """Show the records that a run of a stage has rejected, and why."""
    from omd.programs.report.decision import run_of
    from omd.rooms.decision.rows import DecisionRejectLogRow

    with _open(dsn) as room:
        rows = room._calls.report(
            DecisionRejectLogRow,
            module_instance_id=run_of(room, stage, instance).module_instance_id,
            link=link,
            code=code,
            order_by=["wave", "link", "arrival"],
            limit=limit,
        )
    columns = {"wave": "wave", "link": "link", "record": "arrival", "code": "code", "why": "text"}
    if all(row.wave is None for row in rows):
        del columns["wave"]
    show(rows, columns, output)
    tell_more(rows, limit)


@decision.command()
@click.argument("stage")
@dsn_option
@document_option
@click.option(
    "--key",
    callback=json_value,
    metavar="JSON",
    help='What it is about: the key columns, such as \'{"origin": "EWR", "hour": 5}\'.',
)
@_wave
@_instance
@page_option("--html", "Write it to this file too, as a page for people.")
def explain(
    stage: str,
    dsn: str,
    output: str,
    key: Any,
    wave: str | None,
    instance: int | None,
    page: Path | None,
) -> None:
    """Explain a decision: what the rules were given, which applied, what they said, what was left.

    A stage with keep TRACE keeps all of it; with keep CYCLES only which records took part. Without
    --instance, it is about the last run that has decided the key; without --key, it is about all
    decisions of the run, at most 50.

    \b
    Example:
      omd decision explain flight_care --key '{"origin": "EWR", "hour": 5}' --html why.html
    """
    from omd.programs.report.decision import (
        as_page,
        print_explanation,
        read_explanation,
    )

    if key is not None and not isinstance(key, dict):
        raise click.BadParameter("--key is an object of the key columns")
    with _open(dsn) as room:
        explanation = read_explanation(room, stage, key, wave, instance)
    if page is not None:
        page.write_text(as_page(explanation), encoding="utf-8")
    if output == "json":
        show_document(explanation.document)
    else:
        print_explanation(explanation)
    if page is not None:
        click.echo(f"The explanation is in {page}.", err=True)


# What there is ----------------------------------------------------------------------------------

decision.section("What there is")
_add_view(
    "list",
    "Show the stages.",
    "stage_code, version, mode, ruleset_code, module_code, defined_at AS defined, defined_by AS by",
    ["stage_code"],
    view="stage_list",
    filters={"ruleset_code": "ruleset"},
)
_add_view(
    "rulesets",
    "Show the versions of rulesets, and how their tests stand.",
    "ruleset_code, kind, version, state, effective_from AS from, effective_to AS to, tests,"
    " passed, defined_at AS defined",
    ["ruleset_code", "version"],
    view="ruleset_list",
    filters={"ruleset_code": "ruleset"},
)
_add_view(
    "tests",
    "Show the test cases of rulesets, with the newest result of each version.",
    "ruleset_code, version, test_name AS test, input, expected, passed, error",
    ["ruleset_code", "version", "test_name"],
    view="test_list",
    filters={"ruleset_code": "ruleset"},
)

commands: list[click.Command] = [decision]
