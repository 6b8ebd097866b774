"""The command `omd erase`. No key of a person is printed, nor named in an error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import click

from omd._terminal.commands import ExitCode
from omd._terminal.options import output_option
from omd._terminal.tables import show
from omd.cli.common import dsn_option, opener
from omd.provenance.rows import ErasureItemsRow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_open = opener(lambda control: control.provenance)


def _keys(_ctx: click.Context, _parameter: click.Parameter, given: str) -> Any:
    """Return the keys of a file, or of the value itself."""
    text = given
    try:
        if not given.lstrip().startswith(("[", "{")):
            with click.open_file(given, encoding="utf-8") as file:
                text = file.read()
        keys = json.loads(text)
    except OSError as error:
        raise click.BadParameter(f"the file can't be read: {error.strerror}") from None
    except ValueError:
        raise click.BadParameter("it is neither a file of JSON nor JSON") from None
    return keys if isinstance(keys, list) else [keys]


@click.command()
@click.argument("interface")
@click.argument("entity")
@dsn_option
@output_option
@click.option(
    "--keys",
    required=True,
    metavar="FILE|JSON",
    callback=_keys,
    help="The keys, a list of objects, as JSON; a file (-: stdin) keeps them out of ps.",
)
@click.option("--reference", metavar="R", help="The request, for the proof.")
@click.option(
    "--with-references", is_flag=True, help="Erase also rows of other entities that refer to them."
)
@click.option("--execute", is_flag=True, help="Erase; without it, what would happen is shown.")
@click.option("--verify", is_flag=True, help="Show where they are now; exit code 1: somewhere.")
def erase(
    interface: str,
    entity: str,
    dsn: str,
    output: str,
    keys: Sequence[Mapping[str, Any]],
    reference: str | None,
    with_references: bool,
    execute: bool,
    verify: bool,
) -> ExitCode:
    """Erase persons, the keys of an ENTITY of an INTERFACE, in every room.

    It shows what would leave which table. With --execute it happens, in one transaction, and
    leaves a proof without a key: omd_report.erasures and erasure_items.

    \b
    Examples:
      omd erase shop customers --keys request-17.json --reference "request 17"
      omd erase shop customers --keys request-17.json --reference "request 17" --execute
      omd erase shop customers --keys request-17.json --verify
    """
    if execute and verify:
        raise click.UsageError("--execute and --verify exclude each other")
    if reference is None and not verify:
        raise click.UsageError("Missing option '--reference'.")
    with _open(dsn) as room:
        if verify:
            rows = room.find_subject(interface, entity, keys)
            show(rows, {n: n for n in ("layer", "table_code", "row_count")}, output)
            return ExitCode.FAILURE if rows else ExitCode.OK
        answer = room.erase(
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
    # What has no such row is in the proof, and would hide the rest.
    show([r for r in rows if output != "table" or r.row_count != 0], _TITLES, output)
    click.echo(
        f"Erased: erasure {answer.erasure_id}."
        if execute
        else "Nothing has happened yet; --execute erases.",
        err=True,
    )
    return ExitCode.OK


_TITLES = {
    "layer": "layer",
    "table": "table_code",
    "outcome": "outcome",
    "keys": "key_count",
    "rows": "row_count",
    "text": "text",
}


