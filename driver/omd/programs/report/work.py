"""``omd work`` shows what could run now, and what all other Modules wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from omd.programs.cli.common import dsn_option, open_control
from omd.programs.terminal.options import output_option
from omd.programs.terminal.tables import show, titled
from omd.rooms.report.rows import ReadyWorkRow, WorkAdoptionRow, WorkRow

if TYPE_CHECKING:
    from collections.abc import Sequence

_SWITCH = {"on": True, "off": False}
_READY = titled("module_kind_code AS kind, code, engine_code, reason, since, detail")
_WORK = titled(
    "module_kind_code AS kind, code, engine_code, state, reason, waits_for, since, not_before,"
    " failures, last_problem"
)
_ADOPTION = titled(
    "object_kind AS object, object_key AS name, text AS what it does, way_out AS remove it by"
)


@click.command()
@click.argument("code", required=False)
@click.option("--ready", "is_ready", is_flag=True, help="Only what could run now.")
@click.option("--kind", metavar="K", help="Only this kind, such as TOPIC, FACTS or STAGE.")
@dsn_option
@output_option
def work(dsn: str, output: str, code: str | None, is_ready: bool, kind: str | None) -> None:
    """Show what each Module does, what it could do, and what it waits for.

    \b
    Examples:
      omd work                        every Module
      omd work --ready                what could run now
      omd work mart.order_fact        one Module: why does it not run?
      omd work on                     let workers run what is ready; off: no more
      omd work adopt                  what you wrote before, and could be switched over
    """
    if code == "adopt" and kind is None and not is_ready:
        with open_control(dsn) as control:
            adopted = control.report(WorkAdoptionRow, order_by=["object_kind", "object_key"])
        show(adopted, _ADOPTION, output)
        return
    if code in _SWITCH and kind is None and not is_ready:
        with open_control(dsn) as control:
            control.calls.omd_dispatch.set_work(_SWITCH[code])
        click.echo(f"Tasks of ready work are switched {code}.", err=True)
        return
    filters: dict[str, Any] = {}
    if code is not None:
        filters["code"] = code
    if kind is not None:
        filters["module_kind_code"] = kind.upper()
    order = ["module_kind_code", "code"]
    rows: Sequence[Any]
    with open_control(dsn) as control:
        if is_ready:
            rows = control.report(ReadyWorkRow, order_by=order, **filters)
        else:
            rows = control.report(WorkRow, order_by=order, **filters)
        if code is not None and not rows:
            control.calls.omd.module_definition(code)
    show(rows, _READY if is_ready else _WORK, output)
