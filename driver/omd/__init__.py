"""Operational metadata for data platforms.

    import omd

    with omd.connect() as control:
        with control.batch("b_flights") as batch:
            outcome = batch.run("m_hstg_flights", load)     # load(run) is called if it may proceed
            with batch.module("m_int_flight") as run:       # raises ModuleSkipped / ModuleAborted
                run.write(run.read(spark, "stg.flights"))

The database decides; this package calls its procedures around a job.
"""

from importlib.metadata import PackageNotFoundError, version

from omd import errors
from omd._signals import Terminated
from omd._types import ExecutionStatus, NextRunIndicator, Outcome, ProcessingIndicator
from omd.control import Control, connect
from omd.errors import (
    BatchAborted,
    BatchSkipped,
    ConnectionFailed,
    LeaseLost,
    ModuleAborted,
    ModuleSkipped,
    NotInstalled,
    NotStarted,
    OmdError,
)
from omd.run import Batch, ModuleRun

try:
    __version__ = version("omd")
except PackageNotFoundError:  # run from a folder on the path, not installed
    __version__ = "0+unknown"

__all__ = [
    "Batch",
    "BatchAborted",
    "BatchSkipped",
    "ConnectionFailed",
    "Control",
    "ExecutionStatus",
    "LeaseLost",
    "ModuleAborted",
    "ModuleRun",
    "ModuleSkipped",
    "NextRunIndicator",
    "NotInstalled",
    "NotStarted",
    "OmdError",
    "Outcome",
    "ProcessingIndicator",
    "Terminated",
    "__version__",
    "connect",
    "errors",
]
