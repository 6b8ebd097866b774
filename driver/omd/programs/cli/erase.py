"""``omd erase`` erases persons in every room.

No key of a person is printed, nor named in an error.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

import click

from omd.programs.cli.common import dsn_option, open_control
from omd.programs.terminal.commands import ExitCode
from omd.programs.terminal.options import output_option
from omd.programs.terminal.tables import show
from omd.rooms.provenance.rows import ErasureItemsRow

_ERASED = {
    "layer": "layer",
    "table": "table_code",
    "outcome": "outcome",
    "keys": "key_count",
    "rows": "row_count",
    "text": "text",
}


def _keys(_ctx: click.Context, _parameter: click.Parameter, given: str | None) -> Any:
    """Return the keys of a file; an argument that has them itself would show them to ps."""
    if given is None:
        return None
    if given.lstrip().startswith(("[", "{")):
        raise click.BadParameter(
            "keys stand in a file or come from stdin (-), since ps shows these"
        )
    try:
        with click.open_file(given, encoding="utf-8") as file:
            keys = json.load(file)
    except OSError as error:
        raise click.BadParameter(f"the file can't be read: {error.strerror}") from None
    except ValueError:
        raise click.BadParameter("the file holds no JSON") from None
    return keys if isinstance(keys, list) else [keys]


@click.command()
@click.argument("interface", required=False)
@click.argument("entity", required=False)
@dsn_option
@output_option
@click.option(
    "--keys",
    metavar="FILE",
    callback=_keys,
    help="The file of the keys, a list of objects as JSON; -: stdin.",
)
@click.option("--reference", metavar="TEXT", help="The request, for the proof.")
@click.option(
    "--with-references", is_flag=True, help="Erase also rows of other entities that refer to them."
)
@click.option("--execute", is_flag=True, help="Erase; without it, what would happen is shown.")
@click.option("--verify", is_flag=True, help="Show where they are now; exit code 1: somewhere.")
@click.option("--finish", type=int, metavar="ID", help="Rewrite what is PENDING of an erasure.")
def erase(
    interface: str | None,
    entity: str | None,
    dsn: str,
    output: str,
    keys: Sequence[Mapping[str, Any]] | None,
    reference: str | None,
    with_references: bool,
    execute: bool,
    verify: bool,
    finish: int | None,
) -> ExitCode:
    """Erase persons, the keys of an ENTITY of an INTERFACE, in every room.

    It shows what would leave which table. With --execute it happens, in one transaction, and
    leaves a proof without a key: omd report erasures and erasure_items. Tables of the lake are
    PENDING then; --finish rewrites them with Spark.

    \b
    Examples:
      omd erase shop customers --keys request-17.json --reference "request 17"
      omd erase shop customers --keys request-17.json --reference "request 17" --execute
      omd erase shop customers --keys request-17.json --verify
      omd erase --finish 3
    """
    if finish is not None:
        if interface or keys or reference or with_references or execute or verify:
            raise click.UsageError("--finish takes an erasure alone")
        with open_control(dsn) as control:
            show(_shown(control.provenance._finish(finish), output), _ERASED, output)
        return ExitCode.OK
    if interface is None or entity is None:
        raise click.UsageError(f"Missing argument '{'ENTITY' if interface else 'INTERFACE'}'.")
    if keys is None:
        raise click.UsageError("Missing option '--keys'.")
    if execute and verify:
        raise click.UsageError("--execute and --verify exclude each other")
    if reference is None and not verify:
        raise click.UsageError("Missing option '--reference'.")
    with open_control(dsn) as control:
        calls = control.calls.omd_provenance
        if verify:
            left = calls.find_subject(interface, entity, keys)
            show(left, {n: n for n in ("layer", "table_code", "row_count")}, output)
            return ExitCode.FAILURE if left else ExitCode.OK
        answer = calls.erase(
            interface,
            entity,
            keys,
            cast("str", reference),
            is_dry_run=not execute,
            with_references=with_references,
        )
    rows = [
        ErasureItemsRow(erasure_id=cast("int", answer.erasure_id), **item)
        for item in cast("list[dict[str, Any]]", answer.items)
    ]
    show(_shown(rows, output), _ERASED, output)
    said = f"Erased: erasure {answer.erasure_id}."
    if any(row.outcome == "PENDING" for row in rows):
        said += f" Rewrite the lake: omd erase --finish {answer.erasure_id}"
    click.echo(said if execute else "Nothing has happened yet; --execute erases.", err=True)
    return ExitCode.OK


def _shown(rows: Sequence[ErasureItemsRow], output: str) -> list[ErasureItemsRow]:
    """Return what is shown: what has no such row is in the proof, and would hide the rest."""
    return [row for row in rows if output != "table" or row.row_count != 0]
