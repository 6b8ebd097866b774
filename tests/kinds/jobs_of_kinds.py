"""Jobs that Modules of kind JOB name in these tests; they need no session."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omd.rooms.control.run import Run


def load(run: Run) -> None:
    """Write the row of the run, as a job on Spark writes its rows."""
    with run._control.transaction() as conn:
        conn.execute("INSERT INTO app.job VALUES (1, %s)", [run.instance_id])
    run.rows(inserted=1)


def fail(run: Run) -> None:
    raise RuntimeError(f"{run.code} is bad")
