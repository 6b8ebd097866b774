"""``omd run`` runs a Module of any kind, or a Batch of them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from omd._core.engines import SPARK
from omd.doors.registry import ENGINES
from omd.programs.cli.common import dsn_option, open_control
from omd.programs.cli.log import BATCH_RUN, MODULE_RUN, newest
from omd.programs.cli.things import find
from omd.programs.terminal.commands import ExitCode
from omd.programs.terminal.options import document_option, instant, json_value, seconds
from omd.programs.terminal.tables import show, show_document, show_pairs
from omd.programs.terminal.text import row_dict, short
from omd.rooms.control.codes import exit_code

if TYPE_CHECKING:
    from omd.doors.control import Control
    from omd.rooms.control.outcome import Outcome

# A run of these is never the last one: there is always something to do.
_ENDLESS = ("BATCH", "JOB", "SQL")


@click.command()
@click.argument("code")
@dsn_option
@document_option
@click.option("--dry-run", is_flag=True, help="Say what it would do, and begin nothing.")
@click.option(
    "--wait",
    metavar="DURATION",
    callback=seconds,
    help="How long to wait while another run of it executes, as 90s or 10m; else it is aborted.",
)
@click.option(
    "--until-done", is_flag=True, help="Run again until there is nothing to do, or it fails."
)
@click.option(
    "--batch-instance", type=int, metavar="ID", help="The Batch Instance that it is part of."
)
@click.option(
    "--context",
    callback=json_value,
    metavar="JSON",
    help='An object about where it runs, such as \'{"dag": "nightly"}\'.',
)
@click.option(
    "--master", metavar="URL", help="Spark's master for runs on Spark; local[*] by default."
)
@click.option(
    "--engine",
    type=click.Choice(list(ENGINES), case_sensitive=False),
    help="Of a stage: by default the database, or Spark where the kind of the ruleset needs it.",
)
@click.option(
    "--end-value",
    callback=instant,
    metavar="INSTANT",
    help="Of a stage with a window: up to where it reads, by default now less its delay.",
)
@click.option(
    "--end-id",
    type=int,
    metavar="CHANGE",
    help="Of a stage whose window goes by changes: the last one that it reads.",
)
@click.option(
    "--effective-at",
    callback=instant,
    metavar="INSTANT",
    help="Of a stage: the moment for which the version of its ruleset is chosen, by default now.",
)
def run(
    code: str,
    dsn: str,
    output: str,
    dry_run: bool,
    wait: float | None,
    until_done: bool,
    batch_instance: int | None,
    context: Any,
    master: str | None,
    **of_stage: Any,
) -> int:
    """Run a Module of any kind, or a Batch.

    CODE is that of a Module, or the name of the topic or stage that it performs, or batch:CODE: its
    Modules by sequence, then its child Batches. The database runs what it can; the rest runs in
    this process. A topic takes one step, and inside of a Batch all that are full.

    \b
    Exit codes: 0 it succeeded, 1 it failed, 3 it was skipped or there was nothing to do, 4 it was
                aborted, 7 it was rejected.

    \b
    Examples:
      omd run m_orders
      omd run batch:b_night --wait 10m
      omd run mart.order_fact --until-done
    """
    with open_control(dsn) as control:
        target = find(control, code, among=("module", "batch", "topic", "stage"))
        is_batch = target.kind == "batch"
        of_stage = {name: value for name, value in of_stage.items() if value is not None}
        if of_stage and (target.kind != "stage" or context is not None or dry_run):
            option = next(iter(of_stage)).replace("_", "-")
            raise click.UsageError(f"--{option} is for the run of a stage, without a context.")
        its = str(target.key) if is_batch else target.module_code
        if dry_run:
            _preview(control, its, is_batch, batch_instance, output)
            return ExitCode.OK
        if until_done:
            kind = (
                "BATCH" if is_batch else control.calls.omd.module_definition(its).module_kind_code
            )
            if kind in _ENDLESS:
                raise click.UsageError(
                    f"--until-done is for what can be done: {target} is of kind {kind}, and each"
                    " run of it does something."
                )
        control._wait = None if wait is None else timedelta(seconds=wait)
        engines = control._engines

        def once() -> Outcome[Any]:
            def session() -> Any:
                return engines[SPARK].session(master)

            if of_stage:
                its_session = session() if of_stage.get("engine") == SPARK else None
                return control.decision.run(
                    str(target.key), spark=its_session, batch=batch_instance, **of_stage
                )
            if is_batch:
                return control.run_batch(
                    its, parent=batch_instance, session=session, context=context
                )
            return control.run(its, session=session, batch=batch_instance or 0, context=context)

        done = once()
        _tell(control, done, output)
        while until_done and done.succeeded:
            following = once()
            if following.status == "C":  # nothing is left, and what was there is done
                break
            done = following
            _tell(control, done, output)
        return exit_code(done.status, done.reason)


def _preview(
    control: Control, code: str, is_batch: bool, batch_instance: int | None, output: str
) -> None:
    """Print what a run would do."""
    if is_batch:
        (begin,) = control.calls.omd.explain_begin(
            batch_code=code, batch_instance_id=batch_instance
        )
        members = control.calls.omd.batch_members(code)
        if output == "json":
            show_document({**row_dict(begin), "members": members})
            return
        show_pairs(row_dict(begin))
        click.secho("\nMembers", bold=True)
        show(members, {name.replace("_", " "): name for name in _MEMBER}, output)
        return
    next_ = row_dict(control.calls.omd.next_act(code))
    if output == "json":
        show_document(next_)
    else:
        show_pairs(next_)


_MEMBER = ("sequence", "member_type", "member_code", "inactive_indicator", "module_kind_code")


def _tell(control: Control, done: Outcome[Any], output: str) -> None:
    """Print how a run ended; stderr has its events, or why there are none."""
    kind = "batch" if done.kind == "BATCH" else "module"
    of = {f"{kind}_instance_id": done.instance_id}
    runs = newest(control, kind, 1, **of) if done.instance_id else []
    members = newest(control, "module", 1000, **of) if runs and kind == "batch" else []
    if output == "json":
        names = ("kind", "code", "instance_id", "status", "reason", "detail")
        document = {name: getattr(done, name) for name in names}
        more = {"modules": members} if kind == "batch" else {}
        show_document({**document, **done.facts, "run": next(iter(runs), None), **more})
    else:
        show(runs, BATCH_RUN if kind == "batch" else MODULE_RUN, output)
        if facts := {n.replace("_", " "): f for n, f in done.facts.items() if f is not None}:
            click.echo()
            show_pairs(facts)
        if kind == "batch":
            click.echo()
            show(members, MODULE_RUN, output)
    logged = newest(control, "event", 10, **of) if runs else []
    for event in logged:
        click.echo(f"{event.module_code or event.batch_code or ''}: {event.event_detail}", err=True)
    # No event tells why a start was refused, or that there was nothing to do.
    if done.detail and (done.status == "A" or not runs):
        click.echo(f"{short(done.code)}: {done.detail}", err=True)
