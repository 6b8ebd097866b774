"""The load window of a run over the commits of a lake table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omd.rooms.control.reads import LoadWindow
from omd.rooms.lake.calls import LakeCalls

if TYPE_CHECKING:
    from omd.rooms.control.run import Run


def window(run: Run, table: str) -> LoadWindow:
    """Record the load window of a run: from the end of the last one to the newest commit.

    Its values are times of commits, its ids their sequence numbers. A table without a commit has no
    window: all are None.
    """
    row = LakeCalls(run._control._link).create_load_window(run.instance_id, table)
    return LoadWindow(row.start_value, row.start_id, row.end_value, row.end_id)
