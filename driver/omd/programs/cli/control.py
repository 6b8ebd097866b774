"""Commands that register, run and direct Batches and Modules (rule P1)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import click

from omd.programs.cli.common import (
    add_call,
    add_view,
    dsn_option,
    open_control,
)
from omd.programs.cli.log import BATCH_RUN, MODULE_RUN, newest
from omd.programs.terminal.commands import ExitCode, Group
from omd.programs.terminal.options import (
    document_option,
    output_option,
)
from omd.programs.terminal.tables import render, show, show_document, show_pairs, titled
from omd.programs.terminal.text import row_dict, short
from omd.rooms.control.calls import ControlCalls

# omd batch, omd module --------------------------------------------------------------------------


@click.group(cls=Group)
def batch() -> None:
    """Show Batches."""


add_view(
    batch,
    "list",
    "List all Batches with their last run.",
    "batch_code, frequency_code, inactive_indicator AS inactive, module_count AS modules,"
    " last_batch_instance_id AS last, last_execution_status_code AS status,"
    " last_start_datetime AS started",
    ["batch_code"],
    room="control",
    view="batch_list",
)


@batch.command("show")
@click.argument("code")
@dsn_option
@document_option
@click.option(
    "--limit", type=click.IntRange(min=1), default=10, show_default=True, help="How many runs."
)
def batch_show(code: str, dsn: str, output: str, limit: int) -> None:
    """Show a Batch: its Modules and child Batches, and its last runs."""
    from omd.rooms.control import rows as t

    with open_control(dsn) as control:
        control.calls.omd.previous_batch_instance(code)  # an unknown code is an error with a hint
        [listed] = control.report(t.BatchListRow, batch_code=code)
        holds = control.report(t.BatchModuleListRow, batch_code=code, order_by=["sequence"])
        runs = newest(control, "batch", limit, batch_code=code)
    if output == "json":
        show_document({**row_dict(listed), "holds": holds, "last_runs": runs})
        return
    show_pairs(row_dict(listed))
    click.secho("\nHolds", bold=True)
    show(
        holds,
        titled("sequence, module_code, child_batch_code AS batch, inactive_indicator AS inactive"),
        "table",
    )
    click.secho("\nLast runs", bold=True)
    show(runs, BATCH_RUN, "table")


@click.group(cls=Group)
def module() -> None:
    """Show Modules."""


@module.command("list")
@dsn_option
@output_option
@click.option("--batch", "batch_code", metavar="CODE", help="Only Modules of this Batch.")
def module_list(dsn: str, output: str, batch_code: str | None) -> None:
    """List all Modules with their last run."""
    from omd.rooms.control import rows as t

    with open_control(dsn) as control:
        show(
            [
                row
                for row in control.report(t.ModuleListRow, order_by=["module_code"])
                if batch_code is None or batch_code in row.batch_codes
            ],
            titled(
                "module_code, area_code, table_code AS target, platform_code,"
                " inactive_indicator AS inactive, last_module_instance_id AS last,"
                " last_execution_status_code AS status, last_start_datetime AS started"
            ),
            output,
        )


@module.command("show")
@click.argument("code")
@dsn_option
@document_option
@click.option(
    "--limit", type=click.IntRange(min=1), default=10, show_default=True, help="How many runs."
)
def module_show(code: str, dsn: str, output: str, limit: int) -> None:
    """Show a Module: its definition, its pending rollback, and its last runs."""
    from omd.rooms.control import rows as t

    with open_control(dsn) as control:
        # An unknown code is an error with a hint.
        definition = row_dict(control.calls.omd.module_definition(code))
        for listed in control.report(t.ModuleListRow, module_code=code):
            for name in ("module_description", "batch_codes", "pending_rollback"):
                definition[name] = getattr(listed, name)
        runs = newest(control, "module", limit, module_code=code)
    if output == "json":
        show_document({**definition, "last_runs": runs})
        return
    show_pairs(definition)
    click.secho("\nLast runs", bold=True)
    show(runs, MODULE_RUN, "table")


# omd rename, retire, remove ---------------------------------------------------------------------


@click.group(cls=Group)
def rename() -> None:
    """Give a Batch or a Module another code; history stays with it."""


@click.group(cls=Group)
def retire() -> None:
    """Retire a Batch or a Module: it stays known and runs no more."""


@click.group(cls=Group)
def remove() -> None:
    """Remove a place in a Batch, or a step of a rollback; history stays."""


add_call(
    rename,
    "batch",
    ControlCalls.rename_batch,
    about="Give a Batch another code; callers must use the new one from now on.",
    done="Batch {batch_code} is Batch {new_batch_code} now.",
)
add_call(
    rename,
    "module",
    ControlCalls.rename_module,
    about="Give a Module another code; callers must use the new one from now on.",
    done="Module {module_code} is Module {new_module_code} now.",
)

add_call(
    retire,
    "batch",
    ControlCalls.retire_batch,
    about="Make a Batch inactive and take it from all its parents.\n\n"
    "Refused while it executes or a rollback waits. omd call register_batch with "
    "--inactive-indicator N brings it back.",
    done="Batch {batch_code} is retired.",
)
add_call(
    retire,
    "module",
    ControlCalls.retire_module,
    about="Make a Module inactive and take it out of all its Batches.\n\n"
    "Refused while it executes or a rollback waits. omd call register_module with "
    "--inactive-indicator N brings it back.",
    done="Module {module_code} is retired.",
)

add_call(
    remove,
    "batch-module",
    ControlCalls.remove_module_from_batch,
    about="Take a Module out of a Batch; a run that executes goes on.",
    done="Module {module_code} is not in Batch {batch_code}.",
)
add_call(
    remove,
    "parent",
    ControlCalls.remove_batch_from_parent_batch,
    about="Take a Batch from its parent; a run that executes goes on.",
    done="Batch {batch_code} is not in Batch {parent_batch_code}.",
)


@remove.command("rollback")
@click.argument("module_code")
@dsn_option
@click.option("--step", type=int, metavar="NUMBER", help="Which step; the first one otherwise.")
def remove_rollback(module_code: str, dsn: str, step: int | None) -> None:
    """Remove a step that register_rollback has given to a Module."""
    with open_control(dsn) as control:
        control.calls.omd.register_rollback(module_code, step=step, is_removed=True)
        click.echo(f"Step {step or 1} of Module {short(module_code)} is removed.", err=True)


# Administration ----------------------------------------------------------------------------------


@click.command("set-next-run")
@click.argument("indicator", type=click.Choice(["P", "R", "C"]))
@dsn_option
@click.option(
    "--batch-instance", "batch_instance_id", type=int, metavar="ID", help="Of this Batch Instance."
)
@click.option(
    "--module-instance",
    "module_instance_id",
    type=int,
    metavar="ID",
    help="Of this Module Instance.",
)
@click.option("--batch", "batch_code", metavar="CODE", help="Of the last real run of this Batch.")
@click.option(
    "--module", "module_code", metavar="CODE", help="Of the last real run of this Module."
)
def set_next_run(
    indicator: str,
    dsn: str,
    batch_instance_id: int | None,
    module_instance_id: int | None,
    batch_code: str | None,
    module_code: str | None,
) -> None:
    """Tell the next run to proceed (P), to roll back an instance first (R), or to skip once (C).

    \b
    Examples:
      omd set-next-run C --batch b_flights          skip the next run
      omd set-next-run R --module-instance 4711     roll this one back first
    """
    given = [batch_instance_id, module_instance_id, batch_code, module_code]
    if sum(value is not None for value in given) != 1:
        raise click.UsageError("Name one instance, or one Batch or Module.")
    with open_control(dsn) as control:
        if batch_code is not None:
            last_batch = control.calls.omd.previous_batch_instance(batch_code)
            batch_instance_id = last_batch.batch_instance_id if last_batch else None
        if module_code is not None:
            last_module = control.calls.omd.previous_module_instance(module_code)
            module_instance_id = last_module.module_instance_id if last_module else None
        if batch_instance_id is None and module_instance_id is None:
            raise click.UsageError(f"{batch_code or module_code} has not run yet.")
        control.calls.omd.set_next_run_indicator(
            indicator, batch_instance_id=batch_instance_id, module_instance_id=module_instance_id
        )
        kind = "Batch" if batch_instance_id is not None else "Module"
        of = batch_instance_id or module_instance_id
        click.echo(f"{kind} Instance {of} has next run indicator {indicator}.", err=True)


@click.group(cls=Group)
def parameter() -> None:
    """Set and list the parameters of Batches and Modules."""


@parameter.command("set")
@click.argument("code")
@click.argument("value")
@dsn_option
@click.option("--batch", "batch_code", metavar="CODE", help="Set it for this Batch.")
@click.option("--module", "module_code", metavar="CODE", help="Set it for this Module.")
def parameter_set(
    code: str, value: str, dsn: str, batch_code: str | None, module_code: str | None
) -> None:
    """Set a parameter for a Batch or for a Module; the Module's value wins."""
    if (batch_code is None) == (module_code is None):
        raise click.UsageError("Name either --batch or --module.")
    with open_control(dsn) as control:
        control.calls.omd.set_parameter(code, value, batch_code=batch_code, module_code=module_code)
        click.echo(f"{batch_code or module_code} has {code} = {value}.", err=True)


@parameter.command("list")
@dsn_option
@output_option
@click.option("--batch", "batch_code", metavar="CODE", help="Only parameters of this Batch.")
@click.option("--module", "module_code", metavar="CODE", help="Only parameters of this Module.")
def parameter_list(dsn: str, output: str, batch_code: str | None, module_code: str | None) -> None:
    """List parameters and their values."""
    from omd.rooms.control.rows import ParameterListRow

    with open_control(dsn) as control:
        show(
            control.report(
                ParameterListRow,
                order_by=["parameter_code", "batch_code", "module_code"],
                batch_code=batch_code,
                module_code=module_code,
            ),
            titled("parameter_code, batch_code, module_code, parameter_value AS value"),
            output,
        )


@click.command()
@dsn_option
@output_option
def reap(dsn: str, output: str) -> None:
    """Declare dead every run whose lease has expired or whose session has ended.

    Every begin does this for its own Batch or Module. The command prints which runs were declared
    dead, and why.
    """
    from omd.rooms.control.rows import EventLogRow

    columns = ["type", "instance", "code", "why"]
    with open_control(dsn) as control:
        answer = control.calls.omd.reap_expired_instances()
        rows = []
        for name, instances in (("module", answer.reaped), ("batch", answer.reaped_batches)):
            for instance in instances:
                wanted: dict[str, Any] = {f"{name}_instance_id": instance, "event_type_code": 2}
                if name == "batch":  # the Batch's own event, not one of its Modules
                    wanted["module_instance_id"] = 0
                (event,) = control.report(EventLogRow, **wanted)
                code = event.module_code if name == "module" else event.batch_code
                rows.append(
                    dict(zip(columns, (name, instance, code, event.event_detail), strict=True))
                )
    if rows or output != "table":
        render(rows, columns, output)
    who = "1 instance was" if len(rows) == 1 else f"{len(rows)} instances were"
    click.echo(f"{who} declared dead.", err=True)


# Recovery ---------------------------------------------------------------------------------------


@click.command("preview-rollback")
@click.argument("code")
@dsn_option
@output_option
@click.option("--count", is_flag=True, help="Count the rows that each statement would touch.")
def preview_rollback(code: str, dsn: str, output: str, count: bool) -> None:
    """Show the statements with which the next begin of the Module CODE would roll back.

    Nothing is executed. A count reads the target, with your rights.
    """
    with open_control(dsn) as control:
        previous = control.calls.omd.previous_module_instance(code)
        if previous is None or not previous.instance_array:
            click.echo(f"No run of {code} waits for a rollback.", err=True)
            return
        click.echo(
            f"The rollback undoes Module Instances {_listed(previous.instance_array)}.", err=True
        )
        instance = previous.instance_array[-1]
        if count:
            counted = control.calls.omd.preview_rollback(instance)
            rows = [
                {
                    "step": row.step,
                    "platform": row.platform_code,
                    "rows": row.row_count,
                    "statement": row.statement,
                }
                for row in counted
            ]
        else:
            rows = [
                {"step": row.step, "platform": row.platform_code, "statement": row.statement}
                for row in control.calls.omd.build_rollback_sql(instance)
            ]
    if output == "table" and not count:
        for row in rows:
            click.echo(f"{row['statement']};")
        return
    render(rows, list(rows[0]), output)


def _listed(ids: list[int]) -> str:
    return ", ".join(map(str, ids[:10])) + (f", … ({len(ids)})" if len(ids) > 10 else "")


@click.command()
@dsn_option
@click.option(
    "--keep-days",
    type=click.IntRange(min=0),
    help="How many days of history are kept; without it only what needs no keep goes.",
)
@click.option("--room", metavar="SCHEMA", help="Only this room, as omd_facts; all by default.")
def purge(dsn: str, keep_days: int | None, room: str | None) -> int:
    """Delete history that is old and that nothing needs any more, in all rooms.

    However old they are, these are kept: instances that execute, wait for a rollback or carry a
    directive; the last real run of each Module and Batch; failed Batches that wait for a restart;
    the newest load windows. Published events are kept as long as `omd event configure` says. Keys
    of changes of facts that every reader has passed are needed by nobody: without --keep-days they
    alone go. omd_report.history shows what is old.

    \b
    Exit codes: 0 done, 1 a room has failed; the others are done.
    """
    with open_control(dsn) as control:
        keep = None if keep_days is None else timedelta(days=keep_days)
        done = control.calls.omd.purge(keep, room=room)
    counts = [f"{count:,} of {table}" for table, count in sorted(done.deleted.items()) if count]
    click.echo(f"Deleted {', '.join(counts) or 'nothing'}.")
    for name, error in sorted((done.failed or {}).items()):
        click.echo(f"{name} has failed: {error}", err=True)
    return ExitCode.FAILURE if done.failed else ExitCode.OK


_CONFIRM = "omd call confirm_server --as MOVED --reason '…'; or, if the other one goes on: COPY"


@click.group(cls=Group, invoke_without_command=True)
@dsn_option
@output_option
@click.pass_context
def server(ctx: click.Context, dsn: str, output: str) -> None:
    """Show the server that the installation is known on, and the one on which it stands.

    \b
    Examples:
      omd server                                          is it known, is it a standby?
      omd server changes                                  failovers, moves and copies
      omd server confirm moved --reason 'new hardware'    this is the installation now
      omd server confirm copy --reason 'for tests'        the other one goes on
    """
    if ctx.invoked_subcommand is not None:
        return
    from omd.rooms.control.rows import ServerRow

    with open_control(dsn) as control:
        rows = control.report(ServerRow)
    if output == "table":
        for row in rows:
            show_pairs({name.replace("_", " "): v for name, v in row_dict(row).items()})
    else:
        show(rows, {}, output)
    if not all(row.is_known for row in rows):
        click.echo(f"Nobody has confirmed this server: {_CONFIRM}", err=True)


add_view(
    server,
    "changes",
    "Show the changes of the server, the newest first, and what an administrator said.",
    "server_change_id AS change, noticed_at, kind, timeline_id AS timeline, ids_skipped,"
    " confirmed_as AS confirmed, confirmed_by AS by, reason",
    ["server_change_id"],
    room="control",
    view="server_changes",
    newest="FIRST",
)


@server.command()
@click.argument("as_", metavar="moved|copy", type=click.Choice(["moved", "copy"], False))
@dsn_option
@click.option("--reason", metavar="TEXT", required=True, help="Why.")
def confirm(as_: str, dsn: str, reason: str) -> None:
    """Say what this database is: moved, the installation from now on, or a copy of it.

    Until then no worker, scheduler or loader starts on a server that is not known. A copy gets an
    identity of its own: its schedules become inactive, and it writes into no lake of the original.
    Nothing to confirm is no error.
    """
    with open_control(dsn) as control:
        control.calls.omd.confirm_server(as_.upper(), reason=reason)
    click.echo(f"The server is confirmed as {as_.lower()}.", err=True)


@click.command()
@dsn_option
@output_option
def footprint(dsn: str, output: str) -> None:
    """Show how much room each table of OMD takes, the largest first."""
    from omd.rooms.control.rows import FootprintRow

    with open_control(dsn) as control:
        rows = control.report(FootprintRow)
    columns = "schema_name AS schema, table_name AS table, row_estimate AS rows, table_bytes,"
    show(rows, titled(f"{columns} index_bytes"), output)


commands: list[click.Command] = [
    batch,
    module,
    rename,
    retire,
    remove,
    set_next_run,
    parameter,
]
upkeep: list[click.Command] = [preview_rollback, reap, purge, server, footprint]
