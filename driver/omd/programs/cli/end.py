"""``omd end`` ends a run that hangs."""

from __future__ import annotations

import click

from omd.programs.cli.common import dsn_option, open_control
from omd.programs.cli.things import find


@click.command()
@click.argument("run", metavar="RUN")
@dsn_option
@click.option("--reason", metavar="TEXT", help="Why it is ended; its events say it.")
def end(run: str, dsn: str, reason: str | None) -> None:
    """End a run that hangs, as failed; its program is not stopped.

    RUN is run:ID of a Module, or batchrun:ID of a Batch, with which ends what executes in it. The
    next begin of a Module rolls back what its run has left.

    \b
    Examples:
      omd end run:4711
      omd end batchrun:12 --reason 'the server was moved'
    """
    with open_control(dsn) as control:
        target = find(control, run, among=("run", "batchrun"))
        if target.kind == "run":
            control.calls.omd.end_module_instance(int(target.key), reason)
        else:
            control.calls.omd.end_batch_instance(int(target.key), reason)
    click.echo(f"{target} has ended with status F.", err=True)
