"""The commands of facts: deployment, loads, deliveries through views, and what is stored where."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

import click

from omd._core.engines import SPARK
from omd.programs.cli.common import add_view, dsn_option, open_control, opener, report_error
from omd.programs.terminal.commands import ExitCode, Sections
from omd.programs.terminal.options import (
    document_option,
    format_option,
    grace_option,
    instant,
    is_chosen,
    output_option,
    poll_option,
    workers_option,
)
from omd.programs.terminal.tables import render, show, show_document, show_table, titled
from omd.programs.terminal.text import row_dict, short
from omd.rooms.control.codes import exit_code

_open = opener(lambda control: control.facts)


@click.group(cls=Sections)
def facts() -> None:
    """Store what was accepted, with its history, and show it as of one moment.

    \b
    Examples:
      omd facts deploy flights      makes the tables and views of the model
      omd facts load                loads all that is queued
      omd facts run                 loads what is queued as soon as it is there
      omd facts diagram flights --output svg > flights.svg
    """


_interface = click.argument("interface")
_some_interfaces = click.option(
    "--interface", "interfaces", metavar="GLOB", multiple=True, help="Only interfaces like this."
)


# Deployment -------------------------------------------------------------------------------------

facts.section("Tables and views")


@facts.command()
@_interface
@dsn_option
@click.option("--dry-run", is_flag=True, help="Only count the statements; nothing is changed.")
def deploy(interface: str, dsn: str, dry_run: bool) -> None:
    """Bring the tables and views of INTERFACE to its model; the second time nothing is left to do.

    It waits for the loads and the writers at work. Privileges on the views are kept.
    """
    with _open(dsn) as room:
        answer = room._calls.deploy(interface, dry_run=dry_run)
    done = "would be executed" if dry_run else "executed"
    click.echo(
        f"Facts of {short(interface)}, version {answer.model_version}: "
        f"{answer.statements:,} statements {done}.",
        err=True,
    )


@facts.command()
@_interface
@dsn_option
@click.option("--load", is_flag=True, help="Those of a load instead.")
def sql(interface: str, dsn: str, load: bool) -> None:
    """Print the statements that deploy would execute now.

    In those of a load, $1 is the delivery, $2 its time, $3 the Module Instance, and $4 whether it
    deletes physically.
    """
    with _open(dsn) as room:
        if load:
            for statement in room._calls.build_load_sql(interface):
                title = f"{statement.entity_code}: {statement.step}"
                click.echo(f"-- {short(title)}\n{statement.statement};\n")
        else:
            for each in room._calls.build_deploy_sql(interface):
                click.echo(f"{each.statement};\n")


_STATE = titled(
    "interface_code, traveling_now, model_version AS model, deployed_version AS deployed,"
    " queued_items AS queued, oldest_queued AS oldest, unfinished_delivery_id"
)


_FILTERS = {"interface_code": "interface", "entity_code": "entity", "delivery_id": "delivery"}
_add_view = partial(add_view, facts, room="facts", filters=_FILTERS)


_add_view(
    "map",
    "Show which table stores which attributes.",
    "interface_code, entity_code, anchor_table AS anchor, context_code, context_kind AS kind,"
    " context_table AS table, attribute_codes AS attributes",
    ["interface_code", "entity_code", "context_code"],
)


@facts.command()
@_interface
@dsn_option
@format_option("mermaid", "svg")
def diagram(interface: str, dsn: str, output: str) -> None:
    """Draw the anchors and contexts of INTERFACE, and which anchor names which."""
    from omd.programs.report.diagram import as_mermaid, as_svg, read_model

    with _open(dsn) as room:
        model = read_model(room, interface)
    click.echo(as_svg(model) if output == "svg" else as_mermaid(model), nl=False)


# Loads ------------------------------------------------------------------------------------------

facts.section("Loads")

_OUTCOME = titled("interface, outcome, delivery_id, module_instance_id AS run, detail")


@facts.command()
@click.argument("interface", required=False)
@dsn_option
@output_option
def load(interface: str | None, dsn: str, output: str) -> int:
    """Load what is queued for INTERFACE, or for all interfaces, and print what became of each item.

    The exit code is 1 when a load failed, which stops only its interface; 4 when another session
    loads one of them, 3 when a Module is inactive or must skip.
    """
    from omd.rooms.facts.rows import FactsStateRow

    answers: list[dict[str, Any]] = []
    with _open(dsn) as room:
        codes = (
            [
                row.interface_code
                for row in room._calls.report(FactsStateRow, order_by=["interface_code"])
            ]
            if interface is None
            else [interface]
        )
        for code in codes:
            status = "S"
            while status == "S":
                answer = room.load(code)
                status = str(answer.execution_status_code)
                if answer.outcome != "NOTHING":
                    answers.append({"interface": code, **row_dict(answer)})
    if output == "table":
        rows = [{title: row[name] for title, name in _OUTCOME.items()} for row in answers]
        show_table(rows, list(_OUTCOME))
    else:
        render(answers, list(_OUTCOME.values()), output)
    codes_ = [exit_code(row["execution_status_code"]) for row in answers]
    worst_first = (ExitCode.FAILURE, ExitCode.ABORTED, ExitCode.SKIPPED)
    return next((code for code in worst_first if code in codes_), ExitCode.OK)


@facts.command()
@dsn_option
@workers_option("interfaces")
@poll_option(10, "Seconds between two looks at every interface; a notification comes before.")
@_some_interfaces
@grace_option("loads")
def run(dsn: str, **settings: Any) -> None:
    """Load what is queued as soon as it is there, until SIGTERM or Ctrl-C.

    One line on stderr tells what became of each item. An interface whose load has failed is tried
    again when its pause is over (see omd work). Several programs may run at once.
    """
    from omd.programs.service.loader import Loader

    Loader(lambda: open_control(dsn), **settings).run()


@facts.command()
@dsn_option
@output_option
@_some_interfaces
def status(dsn: str, output: str, interfaces: tuple[str, ...]) -> None:
    """Show how far the facts of each interface are, and what waits for them.

    While a delivery is unfinished, nobody writes through views.
    """
    from omd.rooms.facts.rows import FactsStateRow

    with _open(dsn) as room:
        rows = room._calls.report(FactsStateRow, order_by=["interface_code"])
    show([row for row in rows if is_chosen(row.interface_code, interfaces)], _STATE, output)


def _counted(loads: list[Any], output: str) -> list[Any]:
    """Return loads, in a table with the context rows that were written."""
    if output != "table":
        return loads
    return [dataclasses.replace(load, row_counts=_written(load.row_counts)) for load in loads]


def _written(counts: Mapping[str, Mapping[str, int]]) -> str:
    marks = {"n": "new", "a": "changed", "r": "deleted", "removed": "removed"}
    parts = (
        f"{entity} {', '.join(f'{of[mark]:,} {word}' for mark, word in marks.items() if of[mark])}"
        for entity, of in counts.items()
        if any(of.get(mark) for mark in marks)
    )
    return "; ".join(parts)


_add_view(
    "loads",
    "Show what was loaded, the newest last.",
    "module_instance_id AS run, interface_code, delivery_id, load_kind AS kind,"
    " transaction_datetime AS data of, loaded_datetime, undone_by, row_counts AS rows",
    ["module_instance_id"],
    newest="LAST",
    arranged=_counted,
)


@facts.command()
@_interface
@click.argument("module_instance_id", metavar="RUN", type=int)
@click.option(
    "--revert",
    "reason",
    metavar="REASON",
    help="Revert the delivery of RUN too, before a loader takes it again.",
)
@dsn_option
def undo(interface: str, module_instance_id: int, reason: str | None, dsn: str) -> None:
    """Undo the load by RUN and all later loads of INTERFACE, and print the runs that were undone.

    Their items are queued again, and a loader that runs takes them at once. So when the delivery
    was wrong, say --revert, or stop the loader before omd delivery revert.
    """
    with _open(dsn) as room:
        undone = room._calls.undo(interface, module_instance_id, revert_reason=reason)
    for instance in undone:
        click.echo(instance)
    click.echo(f"Loads undone: {len(undone):,}.", err=True)


@facts.command()
@_interface
@dsn_option
@output_option
@click.option("--entity", "entity_code", metavar="CODE", help="Only this entity.")
@click.option("--dry-run", is_flag=True, help="Only count the differences.")
def resync(interface: str, dsn: str, output: str, entity_code: str | None, dry_run: bool) -> int:
    """Make the current facts of INTERFACE what LVL has, and print how many rows differed.

    What was written through views is overwritten; history stays.
    """
    with _open(dsn) as room:
        answer = room._calls.resync(interface, entity_code=entity_code, dry_run=dry_run)
    columns = {"new": "N", "changed": "A", "deleted": "R"}
    rows = [
        {"entity": entity, **{title: counts.get(mark, 0) for title, mark in columns.items()}}
        for entity, counts in sorted((answer.differences or {}).items())
    ]
    render(rows, ["entity", *columns], output)
    by = f" by Module Instance {answer.module_instance_id}" if answer.module_instance_id else ""
    click.echo(f"Resync of {short(interface)}: {answer.outcome}{by}.", err=True)
    return _EXIT_CODES_OF_RESYNC.get(answer.outcome, ExitCode.FAILURE)


_EXIT_CODES_OF_RESYNC = {  # what it ends with has no status
    "PERSISTED": ExitCode.OK,
    "NOTHING": ExitCode.OK,
    "SKIPPED": ExitCode.SKIPPED,
    "RUNNING": ExitCode.ABORTED,
}


@facts.command()
@_interface
@dsn_option
@output_option
def verify(interface: str, dsn: str, output: str) -> int:
    """Check that no interval overlaps, no gap is left, and so on; the exit code is 1 if one does.

    It reads all rows.
    """
    with _open(dsn) as room:
        broken = room._calls.verify(interface)
    if broken or output != "table":
        columns = {"entity": "entity_code", "rule": "rule", "violations": "violations"}
        show(broken, columns, output)
    state = "are broken" if broken else "are sound"
    click.echo(f"The facts of {short(interface)} {state}.", err=True)
    return ExitCode.FAILURE if broken else ExitCode.OK


# Exports ----------------------------------------------------------------------------------------

facts.section("Exports")


@facts.command()
@click.argument("agreement", required=False)
@click.argument("target", required=False)
@dsn_option
@document_option
@click.option("--resume", type=int, metavar="ID", help="Go on with this export instead.")
@click.option(
    "--entity", "entities", metavar="CODE", multiple=True, help="Only these; may be repeated."
)
@click.option(
    "--mode",
    type=click.Choice(["FULL", "CHANGES"], case_sensitive=False),
    help="CHANGES: what has changed since the newest export; by default all rows.",
)
@click.option(
    "--as-of", callback=instant, metavar="T", help="The moment of the rows; by default the newest."
)
@click.option("--partitions", type=int, metavar="N", help="Files per entity, at most.")
@click.option("--compression", metavar="NAME", help="uncompressed, snappy, gzip, lz4 or zstd.")
@click.option("--concurrently", type=int, metavar="N", help="Entities at the same time.")
@click.option("--master", metavar="URL", help="The master of Spark; by default local[*].")
def export(
    agreement: str | None,
    target: str | None,
    dsn: str,
    output: str,
    resume: int | None,
    entities: tuple[str, ...],
    mode: str | None,
    as_of: datetime | None,
    partitions: int | None,
    compression: str | None,
    concurrently: int | None,
    master: str | None,
) -> int:
    """Write facts to Parquet files under the folder TARGET, under the EXPORT agreement AGREEMENT.

    TARGET is a path or a URI of any file system of Hadoop. Whoever reads takes the files that
    _manifest.json names, which appears when all of them are there. When it fails, resume it: the
    rows are the same.

    \b
    Examples:
      omd facts export lake /data/out
      omd facts export lake s3a://lake/facts --mode CHANGES
      omd facts export --resume 17
    """
    import omd

    if (resume is None) == (agreement is None or target is None):
        raise click.UsageError("Name AGREEMENT and TARGET, or --resume ID.")
    options = {
        "partitions": partitions,
        "compression": compression,
        "max_concurrent_entities": concurrently,
    }
    with omd.connect(dsn or None, application_name="omd-facts") as control:
        room = control.facts
        spark = control._engines[SPARK].session(master, quiet=True)
        if resume is not None:
            exported = room._resume_export(resume, spark=spark)
        else:
            assert agreement is not None  # noqa: S101 - checked above
            assert target is not None  # noqa: S101 - checked above
            exported = room.export(
                agreement,
                target,
                entities=entities or None,
                mode=mode,
                as_of=as_of,
                options={name: value for name, value in options.items() if value is not None},
                spark=spark,
            )
    delivery_id, manifest = exported.facts["delivery_id"], exported.facts.get("manifest")
    if manifest is None:
        if exported.error is not None:
            return report_error(exported.error)
        click.echo(f"Delivery {delivery_id}: {exported.detail}", err=True)
        return exit_code(exported.status)
    if output == "json":
        show_document(manifest)
    else:
        columns = ("entity_code", "rows", "since")
        show_table([{c: e[c] for c in columns} for e in manifest["entities"]], columns)
    click.echo(f"Delivery {delivery_id}: {exported.facts['rows']:,} rows are exported.", err=True)
    return ExitCode.OK


_add_view(
    "exports",
    "Show the exports, the newest last.",
    "delivery_id, agreement_code, interface_code, delivery_status AS status, export_mode AS mode,"
    " as_of, attempt, exported_datetime, target_uri AS target",
    ["delivery_id"],
    newest="LAST",
)


@facts.command("cancel-export")
@click.argument("delivery_id", metavar="ID", type=int)
@dsn_option
@click.option("--reason", required=True, metavar="R", help="Why, in words.")
def cancel_export(delivery_id: int, dsn: str, reason: str) -> None:
    """Cancel an export that is not published; a run of it is ended."""
    with _open(dsn) as room:
        room._calls.cancel_export(delivery_id, reason)
    click.echo(f"Export {delivery_id} is cancelled.", err=True)


# Writes through views ---------------------------------------------------------------------------

facts.section("Writes through views")


@facts.command("open")
@click.argument("agreement")
@dsn_option
@click.option("--physical-deletes", is_flag=True, help="Let sessions delete physically under it.")
def open_(agreement: str, dsn: str, physical_deletes: bool) -> None:
    """Open a delivery under AGREEMENT, under which rows are written, and print its id.

    \b
    Example:
      id=$(omd facts open desk)
      PGOPTIONS="-c omd_facts.delivery_id=$id" psql -c "DELETE FROM gdal_flights.carriers WHERE …"
      omd facts close $id
    """
    with _open(dsn) as room:
        delivery_id = room._calls.open_delivery(agreement, physical_delete_allowed=physical_deletes)
    click.echo(delivery_id)
    click.echo(f"Sessions write after: SET omd_facts.delivery_id = {delivery_id};", err=True)


@facts.command()
@click.argument("delivery_id", metavar="ID", type=int)
@dsn_option
def close(delivery_id: int, dsn: str) -> None:
    """Close a delivery after the writers at work; again, it changes nothing."""
    with _open(dsn) as room:
        room._calls.close_delivery(delivery_id)
    click.echo(f"Delivery {delivery_id} is closed.", err=True)


_add_view(
    "deliveries",
    "Show the open deliveries, under which rows are written.",
    "delivery_id, agreement_code, interface_code, opened_datetime, opened_by AS by, transactions,"
    " last_transaction AS last, is_physical_delete_allowed AS physical deletes",
    ["delivery_id"],
)
_add_view(
    "removals",
    "Show the proof of physical deletes, the newest last.",
    "removed_datetime, delivery_id, interface_code, entity_code, layer, table_name AS table,"
    " key_count AS keys, row_count AS rows",
    ["removal_id"],
    newest="LAST",
)


commands: list[click.Command] = [facts]
