"""Whose process is gone, and for whom a start waits (docs/explanation/process-control.md, P11).

A process that runs on the machine of a run can see whether the process of that run is gone. It
reports what it has seen; the database decides whether that proves a death.
"""

from __future__ import annotations

import functools
import os
import select
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from omd._core.listener import Listener
from omd.rooms.control.rows import BatchExecutionLogRow, ModuleExecutionLogRow

if TYPE_CHECKING:
    from omd.rooms.control.connection import Connection

T = TypeVar("T")

_PLACE = ("host", "boot_id", "pid_namespace")
_PROCESS = ("pid", "start_time")
_GONE = "ZX"  # the states of a process that is gone, in its stat
_RUNS = {"module": "run", "batch": "batchrun"}  # how omd end names what executes
_LOOKS = 5  # so often at most a begin is preceded by a look
_TICK = 1.0  # seconds between two looks, while a start waits


def identity() -> dict[str, Any]:
    """Return which process this is; without boot_id, pid_namespace and start_time outside Linux."""
    return dict(_identity(os.getpid()))


@functools.cache
def _identity(pid: int) -> Mapping[str, Any]:
    known: dict[str, Any] = {"host": socket.gethostname(), "pid": pid}
    try:
        known["boot_id"] = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        known["pid_namespace"] = Path("/proc/self/ns/pid").stat().st_ino
        known["start_time"] = _stat(pid)[1]
    except (OSError, ValueError, IndexError):
        return {key: known[key] for key in ("host", "pid")}
    return known


def _stat(pid: int) -> tuple[str, int]:
    """Return the state of a process, and when it started, in ticks since the boot."""
    # The name of the program, in brackets, may hold anything.
    fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    return fields[0].decode(), int(fields[19])


def evidence_of(context: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the evidence that the process of a run is gone; None: nothing proves that.

    Args:
        context: the execution context of the run.
    """
    mine, theirs = identity(), context or {}
    if any(key not in mine or theirs.get(key) != mine[key] for key in _PLACE):
        return None
    pid, start_time = (theirs.get(key) for key in _PROCESS)
    if not isinstance(pid, int) or not isinstance(start_time, int) or pid <= 0:
        return None
    seen = _seen_gone(pid, start_time)
    if seen is None:
        return None
    return {**{key: theirs[key] for key in (*_PLACE, *_PROCESS)}, "seen": seen}


def _seen_gone(pid: int, start_time: int) -> str | None:
    """Return how it is seen that a process is gone; None: it is not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return "no process has this pid"
    except OSError:
        pass  # somebody else's; its stat may say that it is another process
    try:
        state, started = _stat(pid)
    except (OSError, ValueError, IndexError):
        return None
    if started != start_time:
        return "a later process has this pid"
    return f"its state is {state}" if state in _GONE else None


# What is known before a begin ---------------------------------------------------------------------


def begun(
    begin: Callable[[dict[str, Any]], T],
    is_begun: Callable[[T], bool],
    report: Callable[[], list[int]],
    context: dict[str, Any],
) -> T:
    """Begin a run; before that report the deaths of others that the database asks about.

    Args:
        begin: begins it, with an execution context.
        is_begun: whether that has made an instance.
        report: reports deaths, and returns the instances that may live.
        context: the execution context.
    """
    if all(key in context for key in (*_PLACE, *_PROCESS)):
        seen_alive: list[int] = []
        for _ in range(_LOOKS):
            answer = begin({**context, "seen_alive": seen_alive})
            if is_begun(answer):
                return answer
            seen_alive = report()
    return begin(context)


def report_modules(control: Connection, **which: Any) -> list[int]:
    """Report the deaths among the Module Instances that execute; return those that may live."""
    rows = control.report(ModuleExecutionLogRow, execution_status_code="E", **which)
    return [
        row.module_instance_id
        for row in rows
        if not _reported(control, "MODULE", row.module_instance_id, row.execution_context)
    ]


def report_batches(control: Connection, **which: Any) -> list[int]:
    """The same for Batch Instances, the members of each one first."""
    alive = []
    for row in control.report(BatchExecutionLogRow, execution_status_code="E", **which):
        instance = row.batch_instance_id
        if evidence_of(row.execution_context) is not None:
            report_modules(control, batch_instance_id=instance)
            report_batches(control, parent_batch_instance_id=instance)
        if not _reported(control, "BATCH", instance, row.execution_context):
            alive.append(instance)
    return alive


def _reported(
    control: Connection, kind: str, instance_id: int, context: Mapping[str, Any] | None
) -> bool:
    """Report the death of a run, if there is evidence; return whether it executes no more."""
    evidence = evidence_of(context)
    return evidence is not None and control._omd.report_death(kind, instance_id, evidence)


# Who runs -----------------------------------------------------------------------------------------


def who_runs(
    control: Connection,
    *,
    module_code: str | None = None,
    batch_code: str | None = None,
    batch_instance_id: int | None = None,
) -> str | None:
    """Return the sentence about the run for which a begin is refused; None: none executes now."""
    (answer,) = control._omd.explain_begin(
        module_code=module_code, batch_code=batch_code, batch_instance_id=batch_instance_id
    )
    details = answer.details if isinstance(answer.details, dict) else {}
    if answer.reason != "RUNNING" or not details:
        return None
    kind = "module" if module_code is not None else "batch"
    instance = details.get(f"{kind}_instance_id")
    context = details.get("execution_context") or {}
    where = f" on {context['host']}" if context.get("host") else ""
    pid = details.get("backend_pid") or context.get("pid")
    whose = f" with pid {pid}" if pid else ""
    until = details.get("lease_expires_at")
    lives = (
        f"without news it counts as alive until {until}"
        if until
        else "it counts as alive until somebody ends it"
    )
    return (
        f"instance {instance} executes since {details.get('start_datetime')}{where}{whose};"
        f" {lives}; if it hangs: omd end {_RUNS[kind]}:{instance}"
    )


def await_turn(
    control: Connection,
    wait: timedelta | None,
    *,
    module_code: str | None = None,
    batch_code: str | None = None,
    batch_instance_id: int | None = None,
) -> None:
    """Wait, at most so long, until no other run stands in the way of a begin.

    Nothing is begun meanwhile. It looks at each event of process control, and each second.
    """
    if wait is None:
        return
    deadline = time.monotonic() + wait.total_seconds()
    with ExitStack() as ending:
        listener: Listener | None = None
        while True:
            (answer,) = control._omd.explain_begin(
                module_code=module_code, batch_code=batch_code, batch_instance_id=batch_instance_id
            )
            another_begins = answer.processing_indicator is None and not answer.details
            if answer.reason != "RUNNING" and not another_begins:
                return
            if module_code is not None:
                report_modules(control, module_code=module_code)
            else:
                report_batches(control, batch_code=batch_code)
            left = deadline - time.monotonic()
            if left <= 0:
                return
            if listener is None:
                link = control._new_link(name="-wait")
                listener = ending.enter_context(Listener(link, "omd_event"))
                continue  # it may have ended before somebody listened
            select.select([listener], [], [], min(_TICK, left))
            listener.heard()
