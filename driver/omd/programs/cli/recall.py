"""``omd recall`` takes a bad run or delivery back, with all that was made of it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from omd.programs.cli.common import dsn_option, open_control
from omd.programs.cli.things import find
from omd.programs.terminal.commands import ExitCode, Group
from omd.programs.terminal.options import document_option, instant, output_option
from omd.programs.terminal.tables import show, show_document, show_pairs, titled
from omd.programs.terminal.text import row_dict
from omd.rooms.control.codes import exit_code

if TYPE_CHECKING:
    from omd.doors.control import Control

# What is shown of the items of a plan.
PLAN = titled(
    "position AS pos, action, module_instance_id AS run, module_code AS module,"
    " table_code AS table, relation, because_of AS because, is_exact AS exact, rows_go, rows_back,"
    " comes_again, problem"
)
# The argument of plan_recall for each kind of target.
_TARGETS = {
    "run": "module_instance_id",
    "delivery": "delivery_id",
    "batchrun": "batch_instance_id",
    "agreement": "agreement_code",
}


class _Recall(Group):
    """A group whose first word is a command of it, or else a target that is planned."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Return the context of the command that the first word names, or that of the plan."""
        command = self.commands.get(args[0]) if args else None
        if command is None:
            return super().make_context(info_name, args, parent, **extra)
        of_group = click.Context(self, parent, info_name)
        return command.make_context(args[0], args[1:], of_group, **extra)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write both ways."""
        formatter.write_usage(ctx.command_path, "TARGET --reason TEXT [OPTIONS]")
        formatter.write_usage(ctx.command_path, "COMMAND [ARGS]...", prefix="       ")


_accept = click.option(
    "--accept",
    multiple=True,
    metavar="ACTION",
    help="An action of the plan that needs consent: BY_HAND, GIVE_UP, WITHDRAW, PENDING or"
    " UNKNOWN; GROWTH: what has come since the plan goes too. Once per action.",
)
_wait = click.option(
    "--wait",
    type=click.FloatRange(min=0),
    default=60,
    show_default=True,
    metavar="SECONDS",
    help="For how long it waits for runs at work.",
)


@click.group(
    cls=_Recall,
    invoke_without_command=True,
    context_settings={"allow_interspersed_args": True, "allow_extra_args": False},
)
@click.argument("target")
@click.option("--reason", required=True, metavar="TEXT", help="Why, for the record.")
@click.option(
    "--since",
    callback=instant,
    metavar="INSTANT",
    help="Of an agreement, from this snapshot on; without a zone it is local.",
)
@click.option(
    "--await-correction",
    is_flag=True,
    help="The target itself is to come again, by hand; what stands on it waits for it.",
)
@click.option("--execute", is_flag=True, help="Plan and take back, in one transaction.")
@_accept
@_wait
@dsn_option
@output_option
def recall(
    target: str,
    reason: str,
    since: datetime | None,
    await_correction: bool,
    execute: bool,
    accept: tuple[str, ...],
    wait: float,
    dsn: str,
    output: str,
) -> int:
    """Take a bad delivery or run back, with all that was made of it.

    TARGET is run:ID, delivery:ID, batchrun:ID (its runs), agreement:CODE with --since, or stale:
    all runs that stand although what they read does not. It is planned, and nothing else happens.

    \b
    Examples:
      omd recall delivery:7 --reason "of another branch"       what would go, and why
      omd recall execute 3 --accept BY_HAND                    takes it back, in one transaction
      omd recall run:4711 --reason "wrong rate" --execute      plans and takes back at once
      omd show recall:3                                        what went, and what comes again
    """
    with open_control(dsn) as control:
        room = control.provenance
        of = {**_target(control, target, since), "reason": reason}
        of["awaits_correction"] = await_correction
        if execute:
            done = room._recall_at_once(**of, accept=accept, wait=timedelta(seconds=wait))
            show(room._items(done.recall_id), PLAN, output)
            _tell(done.recall_id, done.rows_gone, done.rows_returned)
            return ExitCode.OK
        planned = room._calls.plan_recall(**of)
        show(room._items(planned.recall_id), PLAN, output)
    blocked = f", {planned.blocked:,} of them in the way" if planned.blocked else ""
    click.echo(
        f"Recall {planned.recall_id} is planned: {planned.items:,} items{blocked}. Nothing has"
        f" happened yet: omd recall execute {planned.recall_id}",
        err=True,
    )
    return ExitCode.FAILURE if planned.blocked else ExitCode.OK


def _target(control: Control, text: str, since: datetime | None) -> dict[str, Any]:
    """Return the target as `plan_recall` takes it."""
    if text == "stale":
        kind, target = text, {"is_stale": True}
    else:
        thing = find(control, text, among=tuple(_TARGETS))
        kind, target = thing.kind, {_TARGETS[thing.kind]: thing.key}
    if (since is None) == (kind == "agreement"):
        raise click.UsageError(
            "An agreement needs --since." if since is None else f"{text} takes no --since."
        )
    return target if since is None else {**target, "since": since}


def _tell(recall_id: int, rows_gone: int, rows_returned: int) -> None:
    click.echo(
        f"Recall {recall_id} is executed. Rows that went: {rows_gone:,};"
        f" came back: {rows_returned:,}.",
        err=True,
    )


_id = click.argument("recall_id", metavar="ID", type=int)


@recall.command()
@_id
@_accept
@_wait
@dsn_option
@output_option
def execute(recall_id: int, accept: tuple[str, ...], wait: float, dsn: str, output: str) -> int:
    """Execute a planned recall: all of its plan is taken back in one transaction, or nothing."""
    with open_control(dsn) as control:
        done = control.provenance.recall(recall_id, accept=accept, wait=timedelta(seconds=wait))
        show(control.provenance._items(recall_id), PLAN, output)
    if done.succeeded:
        _tell(recall_id, done.facts["rows_gone"], done.facts["rows_returned"])
    else:
        click.echo(f"Recall {recall_id}: {done.detail}", err=True)
    return exit_code(done.status)


@recall.command()
@_id
@click.argument("position", type=int)
@click.argument("reason")
@dsn_option
def drop(recall_id: int, position: int, reason: str, dsn: str) -> None:
    """Say that an entry of what must come again will not come: what waits for it goes on."""
    with open_control(dsn) as control:
        control.calls.omd_provenance.drop_return(recall_id, position, reason)
    click.echo(f"Entry {position} of recall {recall_id} is dropped.", err=True)


@recall.command()
@_id
@dsn_option
@document_option
def redeliver(recall_id: int, dsn: str, output: str) -> None:
    """Create the next delivery that a recall wants to come again from its files, for a worker."""
    with open_control(dsn) as control:
        values = row_dict(control.calls.omd_provenance.redeliver(recall_id))
    (show_document if output == "json" else show_pairs)(values)
