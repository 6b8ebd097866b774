"""Jobs that Modules of kind JOB name in these tests; they need no session."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omd.rooms.control.run import ModuleRun


def load(run: ModuleRun) -> None:
    """Write the row of the run, as a job on Spark writes its rows."""
    with run.control.transaction() as conn:
        conn.execute("INSERT INTO app.job VALUES (1, %s)", [run.module_instance_id])
    run.rows(inserted=1)


def fail(run: ModuleRun) -> None:
    raise RuntimeError(f"{run.module_code} is bad")
