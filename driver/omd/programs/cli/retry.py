"""``omd retry`` makes work ready again that waits after its failures."""

from __future__ import annotations

import click

from omd.programs.cli.common import dsn_option, open_control
from omd.programs.cli.things import find
from omd.rooms.report.rows import ProblemsRow


@click.command()
@click.argument("code")
@dsn_option
def retry(code: str, dsn: str) -> None:
    """Forget the failures of CODE, a Module or a topic: its work is ready again at once."""
    with open_control(dsn) as control:
        module = find(control, code, among=("module", "topic", "stage")).module_code
        was = control.calls.omd.retry(module)
        # Of a job that a program outside begins nothing was forgotten: it says how to start it.
        its = (
            []
            if was
            else control.report(
                ProblemsRow, object_kind="MODULE", object_key=module, severity="ERROR"
            )
        )
    for row in its[:1]:
        click.echo(f"Module {module} stays as it is. {row.way_out}", err=True)
        if row.way_out.startswith("Start its job again"):
            literal = module.replace("'", "''")
            click.echo(f"To undo what it left: CALL omd.undo_left('{literal}');", err=True)
        return
    click.echo(
        f"Module {module} is ready again." if was else f"Module {module} did not wait.", err=True
    )
