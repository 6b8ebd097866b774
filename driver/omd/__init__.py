"""Operational metadata for data platforms.

    import omd

    with omd.connect() as control:
        with control.batch("b_flights") as batch:
            outcome = batch.run("m_hstg_flights", load)     # load(run) is called if it may proceed
            with batch.module("m_int_flight") as run:       # raises ModuleSkipped / ModuleAborted
                run.write(run.read(spark, "stg.flights"))

The database decides; this package calls its procedures around a job.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from omd import errors
    from omd._signals import Terminated
    from omd._types import (
        ExecutionStatus,
        NextRunIndicator,
        Outcome,
        ProcessingIndicator,
        StepOutcome,
        StepResult,
    )
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
    from omd.lineage import Lineage, StepRun
    from omd.run import Batch, ModuleRun

    __version__: str

__all__ = [
    "Batch",
    "BatchAborted",
    "BatchSkipped",
    "ConnectionFailed",
    "Control",
    "ExecutionStatus",
    "LeaseLost",
    "Lineage",
    "ModuleAborted",
    "ModuleRun",
    "ModuleSkipped",
    "NextRunIndicator",
    "NotInstalled",
    "NotStarted",
    "OmdError",
    "Outcome",
    "ProcessingIndicator",
    "StepOutcome",
    "StepResult",
    "StepRun",
    "Terminated",
    "__version__",
    "connect",
    "errors",
]

# Where each name is. Imported on first use: psycopg would cost every command 150 ms.
_HOMES = {
    "omd._signals": ("Terminated",),
    "omd._types": (
        "ExecutionStatus",
        "NextRunIndicator",
        "Outcome",
        "ProcessingIndicator",
        "StepOutcome",
        "StepResult",
    ),
    "omd.control": ("Control", "connect"),
    "omd.errors": (
        "BatchAborted",
        "BatchSkipped",
        "ConnectionFailed",
        "LeaseLost",
        "ModuleAborted",
        "ModuleSkipped",
        "NotInstalled",
        "NotStarted",
        "OmdError",
    ),
    "omd.lineage": ("Lineage", "StepRun"),
    "omd.run": ("Batch", "ModuleRun"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    value: Any
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    elif name == "errors":
        value = import_module("omd.errors")
    elif name == "__version__":
        value = _version()
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("omd")
    except PackageNotFoundError:  # run from a folder on the path, not installed
        return "0+unknown"
