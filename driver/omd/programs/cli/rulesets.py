"""``omd test`` calls a ruleset with its test cases."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omd.programs.cli.common import dsn_option, open_control
from omd.programs.terminal.commands import ExitCode
from omd.programs.terminal.options import output_option
from omd.programs.terminal.tables import show, titled

if TYPE_CHECKING:
    from omd.doors.decision import Decision, TestResult

_RESULT = titled("test_name AS test, passed, expected, actual, error")


@click.command()
@click.argument("ruleset")
@click.argument("of", metavar="[VERSION|FILE]", required=False)
@dsn_option
@output_option
def test(ruleset: str, of: str | None, dsn: str, output: str) -> ExitCode:
    """Test a ruleset: call it with every test case, and record the results.

    By default it is the newest VERSION. Of a FILE, the document of the ruleset, nothing is kept: it
    is tested as it would be after omd apply. The exit code is 1 when a case fails.

    A function of the database is called there; a decision model needs zen-engine, and a function of
    Python is imported from where Python finds modules, if the environment variable
    OMD_RULESET_MODULES names its module.

    \b
    Examples:
      omd test care                 the newest version
      omd test care 2               version 2
      omd test care care.yaml       the file, before it is applied
    """
    ruleset = ruleset.removeprefix("ruleset:")
    with open_control(dsn) as control:
        room = control.decision
        if of is None or of.isdecimal():
            rows = room.test_ruleset(ruleset, None if of is None else int(of))
        else:
            rows = _of_file(room, ruleset, Path(of))
    show(rows if output != "table" else [_as_text(row) for row in rows], _RESULT, output)
    failed = sum(not row.passed for row in rows)
    click.echo(f"Test cases: {len(rows):,}; failed: {failed:,}.", err=True)
    return ExitCode.FAILURE if failed else ExitCode.OK


def _as_text(row: TestResult) -> TestResult:
    """Return a result whose objects are shown as JSON."""
    known = {name: getattr(row, name) for name in ("expected", "actual")}
    texts: dict[str, Any] = {
        name: None if value is None else json.dumps(value, ensure_ascii=False)
        for name, value in known.items()
    }
    return dataclasses.replace(row, **texts)


def _of_file(room: Decision, ruleset: str, path: Path) -> list[TestResult]:
    """Define the document of a file, test it, and take both back."""
    from omd.programs.cli.documents.decision import read_files

    if not path.is_file():
        raise click.UsageError(f"{path} is neither a version nor a file.")
    [file] = read_files([path])
    if (file.kind, file.document[file.kind]) != ("ruleset", ruleset):
        raise click.UsageError(f"{path} is no document of ruleset {ruleset}.")
    with room._control.transaction() as connection, connection.transaction(force_rollback=True):
        return room.test_ruleset(ruleset, room._calls.define_ruleset(file.document))
