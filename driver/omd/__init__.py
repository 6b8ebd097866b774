"""Operational metadata for data platforms.

    import omd

    with omd.connect() as control:
        with control.batch("b_flights") as batch:
            outcome = batch.run("m_hstg_flights", load)     # calls load(run) if it may proceed
            with batch.module("m_int_flight") as run:       # raises Skipped / Aborted
                run.write(run.read(spark, "stg.flights"))

The database decides; this package calls its procedures around a job.
"""

import sys
from typing import TYPE_CHECKING, TypeAlias

from omd._core.former import Former
from omd._core.lazy import lazily

if TYPE_CHECKING:
    from omd import errors as errors
    from omd._core.version import __version__ as __version__
    from omd.doors.control import Control as Control
    from omd.doors.control import connect as connect
    from omd.rooms.control.codes import Status as Status
    from omd.rooms.control.outcome import Outcome as Outcome
    from omd.rooms.control.run import Batch as _Batch
    from omd.rooms.control.run import Run as _Run

    # The blocks of users have an `omd.Control`.
    Batch: TypeAlias = _Batch[Control]
    Run: TypeAlias = _Run[Control]

# The names are imported on first use: psycopg would cost every command 150 ms.
__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "omd.errors": ["errors"],
        "omd._core.version": ["__version__"],
        "omd.rooms.control.codes": ["Status"],
        "omd.rooms.control.outcome": ["Outcome"],
        "omd.rooms.control.run": ["Batch", "Run"],
        "omd.doors.control": ["Control", "connect"],
    },
)

if Former not in sys.meta_path:
    sys.meta_path.append(Former)
