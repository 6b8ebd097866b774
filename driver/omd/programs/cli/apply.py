"""``omd apply`` and ``omd diff``: documents of every room, and files of other tools."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from omd.programs.cli.common import dsn_option, open_control
from omd.programs.cli.documents.foreign import FORMATS, Taking
from omd.programs.terminal.commands import ExitCode
from omd.programs.terminal.options import files_argument, format_option, output_option
from omd.programs.terminal.tables import show, titled
from omd.programs.terminal.text import as_json, short

if TYPE_CHECKING:
    from omd.programs.cli.documents.changes import Change

F = TypeVar("F", bound=Callable[..., Any])

_CHANGE = titled("document, path, old AS registered, new AS file")


def _code(_ctx: click.Context, _parameter: click.Parameter, code: str | None) -> str | None:
    """Return a code of an interface."""
    if code is not None and not re.fullmatch("[a-z][a-z0-9_]{0,40}", code):
        raise click.BadParameter("it is a lower case letter, then at most 40 of a-z, 0-9 and _")
    return code


def _foreign_options(command: F) -> F:
    """Add the options that say how a file of another tool is read."""
    for option in (
        click.option(
            "--select",
            multiple=True,
            metavar="PATTERN",
            help="Of dbt only these models: NAME, PROJECT.NAME or tag:TAG, with * and ?; it may be"
            " repeated.",
        ),
        click.option(
            "--key",
            metavar="A,B",
            default="",
            help="The attributes of the key, where a contract does not say it.",
        ),
        click.option(
            "--entity",
            metavar="NAME",
            help="Of a contract only this entity; where there is one, it is named so.",
        ),
        click.option(
            "--interface",
            metavar="CODE",
            callback=_code,
            help="The interface of a contract; by default the file names it.",
        ),
        click.option(
            "--from",
            "foreign",
            type=click.Choice(FORMATS),
            help="What the files are: the target/manifest.json of dbt, events of OpenLineage, a"
            " contract of the Open Data Contract Standard (3.0 to 3.2), a schema of Avro, a JSON"
            " Schema (draft 7, 2020-12), or a suite of Great Expectations 1.x.",
        ),
    ):
        command = option(command)
    return command


def _taking(
    foreign: str | None, interface: str | None, entity: str | None, key: str, select: Sequence[str]
) -> Taking | None:
    """Return how the files are read; None: they are documents of OMD."""
    if foreign is None:
        if interface or entity or key or select:
            raise click.UsageError("--interface, --entity, --key and --select need --from.")
        return None
    names = [name.strip() for name in key.split(",") if name.strip()]
    return Taking(foreign, interface, entity, names, select)


@click.command()
@files_argument
@dsn_option
@output_option
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--activate", is_flag=True, help="Activate the versions of the rulesets from now on.")
@click.option(
    "--spark/--no-spark",
    default=None,
    help="Whether Spark compiles the checks and queries of a model that has changed; by default "
    "where it is installed and the model has a query, which only Spark can judge.",
)
@_foreign_options
def apply(
    files: tuple[Path, ...],
    dsn: str,
    output: str,
    dry_run: bool,
    activate: bool,
    spark: bool | None,
    **foreign: Any,
) -> None:
    """Register or change what files say, all of them or none, and show what has changed.

    The keys of a file say what it is. What a file does not say keeps its value, and a file is
    never written. A SQL file (.sql) is executed first, and must not end its transaction.

    \b
      modules, batches    the arguments of register_module and register_batch by their codes; a
                          Batch has modules: [m, n: {sequence: 15}], batches and parameters
      topics              the arguments of register_topic by the topics, or topic: and its own
      interface           a model with its entities, tenants and agreements; its facts follow it
      ruleset, stage      the documents of define_ruleset and define_stage; JSON too

    With --from a file of another tool is taken, if nothing in it is left to decide. The models of
    dbt become Modules that dbt performs: those that call omd.begin(), or while none does, all; so
    do the jobs of OpenLineage, by their names, that make one table.

    \b
    Examples:
      omd apply tables.sql night.yaml flights.yaml
      omd apply care.yaml stage.yaml --activate
      omd apply --from dbt target/manifest.json
    """
    changes = _apply(files, dsn, output, dry_run=dry_run, activate=activate, spark=spark, **foreign)
    note = f"changes{' to come' if dry_run else ''}: {len(changes):,}" if changes else "no change"
    click.echo(f"Files: {len(files):,}; {note}.", err=True)


@click.command()
@files_argument
@dsn_option
@format_option("table", "json", "csv", "yaml")
@_foreign_options
@click.option("--strict", is_flag=True, help="Refuse a contract that is not taken over whole.")
def diff(files: tuple[Path, ...], dsn: str, output: str, strict: bool, **foreign: Any) -> ExitCode:
    """Show what apply would change, and change nothing; it ends with 1 if there is anything.

    It needs the same rights as apply and is refused where apply would be, since the database
    compares by registering all of it and rolling back.

    With --from and --output yaml it prints the document of a file of another tool, for apply, with
    what is not taken over as comments. That needs no database, and the exit code is 0. Of dbt these
    are topics, which OMD makes: a comment with DECIDE says what is left to decide.

    \b
    Examples:
      omd diff night.yaml
      omd diff orders.avsc --from avro --interface shop --key nbr --output yaml > orders.yaml
      omd diff target/manifest.json --from dbt --select 'stg_*' --output yaml > topics.yaml
    """
    if output == "yaml":
        taking = _taking(**foreign)
        if taking is None or len(files) > 1:
            raise click.UsageError("--output yaml is for one file with --from.")
        click.echo(taking.document(files[0], strict=strict), nl=False)
        return ExitCode.OK
    changes = _apply(files, dsn, output, dry_run=True, strict=strict, **foreign)
    return ExitCode.FAILURE if changes else ExitCode.OK


def _apply(
    files: Sequence[Path],
    dsn: str,
    output: str,
    *,
    dry_run: bool,
    activate: bool = False,
    spark: bool | None = False,
    strict: bool = True,
    **foreign: Any,
) -> list[Change]:
    from omd.programs.cli.documents.together import apply_together, documents_of

    taking = _taking(**foreign)
    if taking is None:
        documents = documents_of(files, dry_run=dry_run, activate=activate, spark=spark)
    else:
        documents = taking.documents(files, dry_run=dry_run, strict=strict, spark=spark)
    with open_control(dsn) as control:
        changes = apply_together(control, documents)
    for line in (line for each in documents for line in each.remarks):
        click.echo(short(line), err=True)
    if changes or output != "table":
        show([_shown(c) for c in changes] if output == "table" else changes, _CHANGE, output)
    return changes


def _shown(change: Change) -> Change:
    """Return a change whose lists and objects are shown as JSON."""
    return dataclasses.replace(change, old=_text(change.old), new=_text(change.new))


def _text(value: Any) -> Any:
    is_json = isinstance(value, (dict, list))
    return json.dumps(value, default=as_json, ensure_ascii=False) if is_json else value
