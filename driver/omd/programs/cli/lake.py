"""The commands of the lake: its tables, what was committed to them, and their maintenance."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from omd.programs.cli.common import add_view, dsn_option, open_control
from omd.programs.terminal.commands import Sections
from omd.programs.terminal.options import document_option, limit_option, output_option
from omd.programs.terminal.tables import (
    show,
    show_document,
    show_pairs,
    tell_more,
    titled,
)
from omd.programs.terminal.text import row_dict

if TYPE_CHECKING:
    from omd.rooms.lake.rows import LakeTablesRow
    from omd.tables.run import LakeTable

_UNITS = {"day": "days", "days": "days", "hour": "hours", "hours": "hours"}


@click.group(cls=Sections)
def lake() -> None:
    """Work with lake tables: what was committed to them, and what can be removed.

    \b
    Examples:
      omd lake list                           shows the tables and their newest commits
      omd lake history lake.flights           shows the commits of one, the newest last
      omd lake maintain --keep '5 days'       removes what nobody needs any more
    """


lake.section("Tables")

add_view(
    lake,
    "list",
    "Show the lake tables, and the newest commit of each.",
    "table_code, table_format_code AS format, total_files AS files, total_rows AS rows,"
    " commit_datetime AS committed, operation, module_instance_id AS instance,"
    " module_codes AS modules",
    ["table_code"],
    room="lake",
    view="tables",
)


@lake.command("show")
@click.argument("table")
@dsn_option
@document_option
def show_table(dsn: str, output: str, table: str) -> None:
    """Show a table: its columns, its partitions, its folder, its newest commit."""
    from omd.rooms.lake.rows import LakeTablesRow
    from omd.tables.run import LakeRun

    with open_control(dsn) as control:
        entry = control.calls.omd_lake.find_table(table, table_format_code="DELTA")
        rows = control.report(LakeTablesRow, table_code=entry.table_code)
        pairs = _described_delta(entry.location) if rows and _is_delta(rows[0]) else None
        if pairs is None:
            entry = control.calls.omd_lake.find_table(table, table_format_code="ICEBERG")
            pairs = _described(LakeRun.open(entry))
    pairs |= row_dict(rows[0]) if rows else {}
    (show_document if output == "json" else show_pairs)(pairs)


def _is_delta(row: LakeTablesRow) -> bool:
    return row.table_format_code == "DELTA" and row.metadata_location is None


def _described_delta(location: str | None) -> dict[str, Any] | None:
    from omd.tables.delta import Delta

    table = None if location is None else Delta.find(location)
    if table is None:
        return None
    return {
        "location": table.location,
        "columns": [
            f"{field['name']} {_type_name(field['type'])}" for field in table.spark_schema["fields"]
        ],
        "partitioned_by": table.partition_by,
        "version": table.version,
    }


def _type_name(type_: Any) -> str:
    return type_ if isinstance(type_, str) else str(type_["type"])


def _described(table: LakeTable) -> dict[str, Any]:
    metadata = table.metadata
    schema = metadata.schema
    return {
        "location": metadata.location,
        "columns": [
            f"{field.name} {field.field_type}{' NOT NULL' if field.required else ''}"
            for field in schema.fields
        ],
        "partitioned_by": [
            f"{field.transform}({schema.find_column_name(field.source_id)})"
            for field in metadata.spec.fields
        ],
        "snapshots": len(metadata.document["snapshots"]),
    }


_COMMIT = titled(
    "commit_id, commit_datetime AS committed, operation, module_code,"
    " module_instance_id AS instance, execution_status_code AS status, added_files AS +files,"
    " added_rows AS +rows, removed_files AS -files, removed_rows AS -rows, total_rows AS rows"
)


@lake.command("history")
@click.argument("table")
@dsn_option
@output_option
@limit_option()
def show_history(dsn: str, output: str, table: str, limit: int | None) -> None:
    """Show the commits of a table, the newest last."""
    from omd._core.error_codes import UnknownLakeTable
    from omd.rooms.lake.rows import LakeCommitsRow, LakeTablesRow

    with open_control(dsn) as control:
        code = control.calls.omd_lake.find_table(table, table_format_code="ICEBERG").table_code
        if not control.report(LakeTablesRow, table_code=code):
            raise UnknownLakeTable(f"there is no lake table {code}", hint="omd lake list")
        rows = control.report(
            LakeCommitsRow, order_by=["commit_id"], descending=True, limit=limit, table_code=code
        )
    show(rows[::-1], _COMMIT, output)
    tell_more(rows, limit)


def _span(_ctx: click.Context, _parameter: click.Parameter, value: str) -> timedelta:
    number, _, unit = value.strip().partition(" ")
    if not number.isdigit() or unit.strip() not in _UNITS:
        raise click.BadParameter("Write a number of days or hours: '5 days'.")
    return timedelta(**{_UNITS[unit.strip()]: int(number)})


lake.section("Maintenance")


@lake.command("maintain")
@click.argument("tables", metavar="[TABLE...]", nargs=-1)
@dsn_option
@output_option
@click.option(
    "--keep",
    default="5 days",
    show_default=True,
    callback=_span,
    metavar="SPAN",
    help="Keep snapshots and versions that are younger.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
def maintain_tables(
    dsn: str, output: str, tables: tuple[str, ...], keep: timedelta, dry_run: bool
) -> None:
    """Remove folders that were never committed, and what only old snapshots or versions need.

    Small files are joined. Without a TABLE it does so for all lake tables. A table or a folder that
    can't be read is passed over: the others are maintained, and the exit code is 1 at the end.
    """
    from omd.tables.maintenance import maintain

    with open_control(dsn) as control:
        done = maintain(control, tables, keep=keep, dry_run=dry_run)
    columns = {"table": "table_code", "action": "action", "files": "files", "bytes": "bytes"}
    show(done, columns, output)
    passed = [row for row in done if row.problem is not None]
    for row in passed:
        click.echo(f"{row.table_code} is passed over: {row.problem}", err=True)
    if passed:
        click.echo(f"{len(passed)} passed over.", err=True)
        click.get_current_context().exit(1)


commands: list[click.Command] = [lake]
