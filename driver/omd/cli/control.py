"""Registering, running and directing Batches and Modules (process-control.md section 3)."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omd.cli.common import (
    ExitCode,
    dsn_option,
    open_control,
    output_option,
    render,
    resolve_dsn,
    row_dict,
    short,
    show,
)
from omd.cli.report import BATCH_RUN, MODULE_RUN, batch_runs, events, module_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from omd.control import Control

_EXIT_CODES = {
    "S": ExitCode.OK,
    "F": ExitCode.FAILURE,
    "C": ExitCode.SKIPPED,
    "A": ExitCode.ABORTED,
}


# omd batch, omd module --------------------------------------------------------------------------


@click.group()
def batch() -> None:
    """Show Batches."""


@batch.command("list")
@dsn_option
@output_option
def batch_list(dsn: str, output: str) -> None:
    """List all Batches with their last run."""
    from omd import _types as t

    with open_control(dsn) as control:
        show(
            control.report(t.BatchRow, order_by=["batch_code"]),
            {
                "batch": "batch_code",
                "frequency": "frequency_code",
                "inactive": "inactive_indicator",
                "modules": "module_count",
                "last": "last_batch_instance_id",
                "status": "last_execution_status_code",
                "started": "last_start_datetime",
            },
            output,
        )


@batch.command("show")
@click.argument("code")
@dsn_option
@click.option("--limit", type=click.IntRange(min=1), default=10, show_default=True, help="Runs.")
def batch_show(code: str, dsn: str, limit: int) -> None:
    """Show a Batch: what it holds, and its last runs."""
    from omd import _types as t

    with open_control(dsn) as control:
        control.previous_batch_instance(code)  # an unknown code is an error with a hint
        _pairs(control.report(t.BatchRow, batch_code=code)[0])
        click.secho("\nHolds", bold=True)
        show(
            control.report(t.BatchModuleRow, batch_code=code, order_by=["sequence"]),
            {
                "sequence": "sequence",
                "module": "module_code",
                "batch": "child_batch_code",
                "inactive": "inactive_indicator",
            },
            "table",
        )
        click.secho("\nLast runs", bold=True)
        show(batch_runs(control, limit, batch_code=code), BATCH_RUN, "table")


@click.group()
def module() -> None:
    """Show Modules."""


@module.command("list")
@dsn_option
@output_option
@click.option("--batch", "batch_code", metavar="CODE", help="Only those of a Batch.")
def module_list(dsn: str, output: str, batch_code: str | None) -> None:
    """List all Modules with their last run."""
    from omd import _types as t

    with open_control(dsn) as control:
        show(
            [
                row
                for row in control.report(t.ModuleRow, order_by=["module_code"])
                if batch_code is None or batch_code in row.batch_codes
            ],
            {
                "module": "module_code",
                "area": "area_code",
                "target": "table_code",
                "platform": "platform_code",
                "inactive": "inactive_indicator",
                "last": "last_module_instance_id",
                "status": "last_execution_status_code",
                "started": "last_start_datetime",
            },
            output,
        )


@module.command("show")
@click.argument("code")
@dsn_option
@click.option("--limit", type=click.IntRange(min=1), default=10, show_default=True, help="Runs.")
def module_show(code: str, dsn: str, limit: int) -> None:
    """Show a Module: its definition, what it would roll back, and its last runs."""
    from omd import _types as t

    with open_control(dsn) as control:
        definition = control.module_definition(code)  # an unknown code is an error with a hint
        listed = control.report(t.ModuleRow, module_code=code)
        _pairs(definition)
        if listed:
            _pairs(listed[0], ["module_description", "batch_codes", "pending_rollback"])
        click.secho("\nLast runs", bold=True)
        show(module_runs(control, limit, module_code=code), MODULE_RUN, "table")


def _pairs(row: Any, names: Sequence[str] | None = None) -> None:
    for name, value in row_dict(row).items():
        if (names is None or name in names) and value is not None and value != []:
            told = ", ".join(map(str, value)) if isinstance(value, list) else value
            click.echo(f"{name:<28}{short(told) if isinstance(told, datetime) else told}")


# omd register -----------------------------------------------------------------------------------


@click.group(invoke_without_command=True)
@click.option(
    "-f",
    "--file",
    "path",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A YAML file (.yaml, .yml) or a SQL file (.sql).",
)
@click.option(
    "--dsn", metavar="CONNINFO", default=None, help="Where the database is; see omd --help."
)
@click.pass_context
def register(context: click.Context, path: Path | None, dsn: str | None) -> None:
    """Register Batches and Modules, from flags or from a file.

    What is registered already is updated; what is not named stays as it is.

    A YAML file names the arguments of the procedures, without their p_:

    \b
      modules:
        m_hstg_flights:                      # register_module
          area_code: HSTG
          table_code: hstg.flights
          table_type_code: HSTG
          platform_code: POSTGRES
          executable: INSERT INTO hstg.flights SELECT * FROM stg.flights
          parameters: {retention: 30}        # set_parameter
      batches:
        b_flights:                           # register_batch
          frequency_code: Daily
          batch_description: Flights of the day
          modules:                           # add_module_to_batch: sequence 10, 20, ...
            - m_stg_flights
            - m_hstg_flights: {sequence: 15, inactive_indicator: N}
          batches: [b_weather]               # add_batch_to_parent_batch, the same way
          parameters: {region: EU}

    A SQL file is executed as it is and must not end its transaction. Either way the whole file is
    registered, or nothing of it.
    """
    if context.invoked_subcommand is not None:
        if path is not None:
            raise click.UsageError("either a file or a command, not both")
        return
    if path is None:
        click.echo(context.get_help())
        return
    with open_control(resolve_dsn(dsn)) as control:
        if path.suffix == ".sql":
            control.execute_script(path.read_text(encoding="utf-8"))
            click.echo(f"Executed {path.name}.", err=True)
        elif path.suffix in (".yaml", ".yml"):
            import yaml

            from omd.cli.registration import register_document

            try:
                document = yaml.safe_load(path.read_text(encoding="utf-8"))
            except yaml.YAMLError as error:
                raise click.UsageError(f"{path}: {error}") from None
            with control.transaction():
                counts = register_document(control, document)
            click.echo(
                f"Registered {counts['modules']} modules and {counts['batches']} batches.",
                err=True,
            )
        else:
            raise click.UsageError(f"{path}: .yaml, .yml or .sql is expected")


def _text_options(*names: str) -> Callable[[Any], Any]:
    """``--area-code`` and its like: the parameters of a procedure as options."""

    def decorate(command: Any) -> Any:
        for name in reversed(names):
            command = click.option(f"--{name.replace('_', '-')}", name, metavar="TEXT")(command)
        return command

    return decorate


_inactive = click.option(
    "--inactive/--active", "inactive", default=None, help="Inactive: it is skipped."
)
_sequence = click.option("--sequence", type=int, help="Lower runs first.")


def _indicator(inactive: bool | None) -> str | None:
    return None if inactive is None else "Y" if inactive else "N"


@register.command("batch")
@click.argument("code")
@dsn_option
@_text_options("frequency_code", "batch_description")
@click.option(
    "--continue-on-failure/--stop-on-failure",
    default=None,
    help="Whether run_batch goes on after a Module has failed.",
)
@_inactive
def register_batch(code: str, dsn: str, inactive: bool | None, **told: Any) -> None:
    """Register a Batch, or change one."""
    with open_control(dsn) as control:
        found = control.register_batch(code, inactive_indicator=_indicator(inactive), **told)
        click.echo(f"Batch {code} is registered with id {found}.", err=True)


@register.command("module")
@click.argument("code")
@dsn_option
@_text_options(
    "area_code",
    "table_code",
    "table_type_code",
    "platform_code",
    "executable",
    "module_description",
    "effective_date_column",
    "expiry_date_column",
    "current_indicator_column",
    "insert_instance_column",
    "update_instance_column",
)
@click.option("--business-key-column", "business_key_columns", multiple=True, metavar="TEXT")
@click.option("--companion-module-code", "companion_module_codes", multiple=True, metavar="TEXT")
@_inactive
def register_module(
    code: str,
    dsn: str,
    inactive: bool | None,
    business_key_columns: tuple[str, ...],
    companion_module_codes: tuple[str, ...],
    **told: Any,
) -> None:
    """Register a Module, or change one."""
    with open_control(dsn) as control:
        found = control.register_module(
            code,
            inactive_indicator=_indicator(inactive),
            business_key_columns=business_key_columns or None,
            companion_module_codes=companion_module_codes or None,
            **told,
        )
        click.echo(f"Module {code} is registered with id {found}.", err=True)


@register.command("batch-module")
@click.argument("batch_code")
@click.argument("module_code")
@dsn_option
@_sequence
@_inactive
def register_batch_module(
    batch_code: str, module_code: str, dsn: str, sequence: int | None, inactive: bool | None
) -> None:
    """Give a Module its place in a Batch, or change it."""
    with open_control(dsn) as control:
        control.add_module_to_batch(
            batch_code, module_code, sequence=sequence, inactive_indicator=_indicator(inactive)
        )
        click.echo(f"Module {module_code} is in Batch {batch_code}.", err=True)


@register.command("parent")
@click.argument("batch_code")
@click.argument("parent_batch_code")
@dsn_option
@_sequence
@_inactive
def register_parent(
    batch_code: str, parent_batch_code: str, dsn: str, sequence: int | None, inactive: bool | None
) -> None:
    """Give a Batch its place in another Batch, or change it."""
    with open_control(dsn) as control:
        control.add_batch_to_parent_batch(
            batch_code,
            parent_batch_code,
            sequence=sequence,
            inactive_indicator=_indicator(inactive),
        )
        click.echo(f"Batch {batch_code} is in Batch {parent_batch_code}.", err=True)


# omd run ----------------------------------------------------------------------------------------


@click.group()
def run() -> None:
    """Run SQL Modules, or a Batch of them, in the database.

    The exit code tells how it went: 0 succeeded, 1 failed, 3 skipped, 4 aborted.
    """


@run.command("batch")
@click.argument("code")
@dsn_option
@output_option
def run_batch(code: str, dsn: str, output: str) -> int:
    """Run a Batch: its Modules by sequence, then its child Batches."""
    with open_control(dsn) as control:
        ran = control.run_batch(code)
        instance = ran.batch_instance_id
        show(batch_runs(control, 1, batch_instance_id=instance), BATCH_RUN, output)
        if output == "table":
            click.echo()
            show(module_runs(control, 1000, batch_instance_id=instance), MODULE_RUN, output)
        _tell_events(control, batch_instance_id=instance)
        return _EXIT_CODES[ran.execution_status_code.value]


@run.command("module")
@click.argument("code")
@dsn_option
@output_option
@click.option("--batch-instance", type=int, metavar="ID", help="The Batch Instance to run it in.")
@click.option("--executable", metavar="SQL", help="Instead of the registered one.")
def run_module(
    code: str, dsn: str, output: str, batch_instance: int | None, executable: str | None
) -> int:
    """Run a Module whose executable is SQL."""
    with open_control(dsn) as control:
        ran = control.run_module(code, batch_instance_id=batch_instance, executable=executable)
        instance = ran.module_instance_id
        show(module_runs(control, 1, module_instance_id=instance), MODULE_RUN, output)
        _tell_events(control, module_instance_id=instance)
        return _EXIT_CODES[ran.execution_status_code.value]


def _tell_events(control: Control, **instance: int) -> None:
    for event in events(control, 10, **instance):
        of = event.module_code or event.batch_code or ""
        click.echo(f"{of}: {event.event_detail}", err=True)


# Administration ---------------------------------------------------------------------------------


@click.command("set-next-run")
@click.argument("indicator", type=click.Choice(["P", "R", "C"]))
@dsn_option
@click.option("--batch-instance", "batch_instance_id", type=int, metavar="ID")
@click.option("--module-instance", "module_instance_id", type=int, metavar="ID")
@click.option("--batch", "batch_code", metavar="CODE", help="The last real run of this Batch.")
@click.option("--module", "module_code", metavar="CODE", help="The last real run of this Module.")
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
      omd set-next-run R --module-instance 4711     take this one back first
    """
    given = [batch_instance_id, module_instance_id, batch_code, module_code]
    if sum(value is not None for value in given) != 1:
        raise click.UsageError("name one instance, or one Batch or Module")
    with open_control(dsn) as control:
        if batch_code is not None:
            last_batch = control.previous_batch_instance(batch_code)
            batch_instance_id = last_batch.batch_instance_id if last_batch else None
        if module_code is not None:
            last_module = control.previous_module_instance(module_code)
            module_instance_id = last_module.module_instance_id if last_module else None
        if batch_instance_id is None and module_instance_id is None:
            raise click.UsageError(f"{batch_code or module_code} has not run yet")
        control.set_next_run_indicator(
            indicator, batch_instance_id=batch_instance_id, module_instance_id=module_instance_id
        )
        kind = "Batch" if batch_instance_id is not None else "Module"
        of = batch_instance_id or module_instance_id
        click.echo(f"{kind} Instance {of} has next run indicator {indicator}.", err=True)


@click.group()
def parameter() -> None:
    """Set and list the parameters of Batches and Modules."""


@parameter.command("set")
@click.argument("code")
@click.argument("value")
@dsn_option
@click.option("--batch", "batch_code", metavar="CODE", help="For this Batch.")
@click.option("--module", "module_code", metavar="CODE", help="For this Module.")
def parameter_set(
    code: str, value: str, dsn: str, batch_code: str | None, module_code: str | None
) -> None:
    """Set a parameter for a Batch or for a Module; the Module's value wins."""
    if (batch_code is None) == (module_code is None):
        raise click.UsageError("name either --batch or --module")
    with open_control(dsn) as control:
        control.set_parameter(code, value, batch_code=batch_code, module_code=module_code)
        click.echo(f"{batch_code or module_code} has {code} = {value}.", err=True)


@parameter.command("list")
@dsn_option
@output_option
@click.option("--batch", "batch_code", metavar="CODE", help="Only those of a Batch.")
@click.option("--module", "module_code", metavar="CODE", help="Only those of a Module.")
def parameter_list(dsn: str, output: str, batch_code: str | None, module_code: str | None) -> None:
    """List parameters and their values."""
    from omd._types import ParameterRow

    with open_control(dsn) as control:
        show(
            control.report(
                ParameterRow,
                order_by=["parameter_code", "batch_code", "module_code"],
                batch_code=batch_code,
                module_code=module_code,
            ),
            {
                "parameter": "parameter_code",
                "batch": "batch_code",
                "module": "module_code",
                "value": "parameter_value",
            },
            output,
        )


@click.command()
@dsn_option
@output_option
def reap(dsn: str, output: str) -> None:
    """Give up every run whose lease has passed or whose session is gone.

    Every begin does this for its own Batch or Module. Prints what was given up, and why.
    """
    from omd._types import EventRow

    columns = ["type", "instance", "code", "why"]
    with open_control(dsn) as control:
        answer = control.reap_expired_instances()
        rows = []
        for name, instances in (("module", answer.reaped), ("batch", answer.reaped_batches)):
            for instance in instances:
                wanted: dict[str, Any] = {f"{name}_instance_id": instance, "event_type_code": 2}
                if name == "batch":  # its own event, not one of its Modules
                    wanted["module_instance_id"] = 0
                (event,) = control.report(EventRow, **wanted)
                code = event.module_code if name == "module" else event.batch_code
                rows.append(
                    dict(zip(columns, (name, instance, code, event.event_detail), strict=True))
                )
    if rows or output != "table":
        render(rows, columns, output)
    click.echo(f"{len(rows)} instance{'' if len(rows) == 1 else 's'} given up.", err=True)


commands: list[click.Command] = [
    batch,
    module,
    register,
    run,
    set_next_run,
    parameter,
    reap,
]
