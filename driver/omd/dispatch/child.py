"""A task in a process of its own: the side of the worker, and that of the process.

The process gets its task on its standard input and reports the ending over a pipe. The worker also
writes to the input, again and again, that it lives: the process ends itself when the worker is
gone, or is silent for so long that others may have the task.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import sys
import threading
import time
from datetime import datetime
from typing import Any

from omd._core import signals
from omd._core.loop import Child
from omd._core.program import python
from omd.control.connection import Connection
from omd.dispatch.handlers import Ending, TaskType, run_in_python, session_of
from omd.dispatch.task import Claim, Task

_COMMAND = python("from omd.dispatch.child import main; main()")
_PR_SET_PDEATHSIG = 1
_GRACE = 10.0  # so long the process may take to end when its worker is gone


class TaskProcess:
    """The process of a task, as the worker has it.

    Args:
        kind: its type.
        dsn: the database; empty where libpq's own settings name it.
        ttl: seconds of silence of the worker after which the process ends itself.
    """

    def __init__(self, task: Task, kind: TaskType, dsn: str, ttl: float) -> None:
        self._task = task
        self._kind = kind
        self._lock = threading.Lock()
        stdin, self._feed = os.pipe()
        self._heard, tell = os.pipe()
        try:
            self._child = Child(
                str(task),
                _COMMAND,
                {**os.environ, **({"OMD_DSN": dsn} if dsn else {})},
                sys.stderr.fileno(),  # the output of a task is no data of the worker
                stdin=stdin,
                keeps=[tell],
            )
        finally:
            os.close(stdin)
            os.close(tell)
        with self._lock:
            self._write(_task_line(task, kind, tell, ttl))

    def beat(self) -> None:
        """Tell the process that its worker lives."""
        if self._lock.acquire(blocking=False):  # else it has not read its task yet
            try:
                self._write(b"\n")
            finally:
                self._lock.release()

    def wait(self) -> Ending:
        """Wait for the end of the process; return how its task went."""
        self._child.wait()
        with self._lock:
            os.close(self._feed)
            self._feed = -1
        os.set_blocking(self._heard, False)
        with os.fdopen(self._heard, "rb") as pipe:
            report = pipe.read() or b""
        because = self._task.ended_because
        if report:
            ending = Ending(*json.loads(report))
            if because is not None and ending.error is not None:
                return self._kind.failure(ending.error.partition("\n")[0], because)
            return ending
        end = (
            f"was ended by {self._child.killer}"
            if self._child.killer
            else f"ended with exit code {self._child.code}"
        )
        return self._kind.failure(f"its process {end} and reported no outcome", because)

    def stop(self) -> str:
        """Send SIGTERM."""
        return self._child.stop()

    def kill(self) -> str:
        """Send SIGKILL."""
        return self._child.kill()

    def _write(self, data: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):
            while self._feed >= 0 and data:
                data = data[os.write(self._feed, data) :]


def _task_line(task: Task, kind: TaskType, tell: int, ttl: float) -> bytes:
    line = {
        "claim": task._claim._asdict(),
        "handler": kind.handler,
        "target": kind.target,
        "master": task.master,
        "tell": tell,
        "ttl": ttl,
        "parent": os.getpid(),
        "path": sys.path,
    }
    return json.dumps(line, default=datetime.isoformat).encode() + b"\n"


# In the process ---------------------------------------------------------------------------------


def main() -> None:
    """Run the task that standard input names, and report how it went."""
    feed = os.dup(0)  # the handler must not read what the worker writes
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    line = json.loads(_first_line(feed))
    os.set_inheritable(line["tell"], False)
    sys.path[:] = line["path"]
    _end_with(line["parent"], feed, line["ttl"])
    claim = line["claim"]
    claim["execution_time"] = datetime.fromisoformat(claim["execution_time"])
    task = Task._of(Claim(**claim), line["master"])
    task.opens(_connected)
    kind = TaskType(task.family_code, task.task_type, line["handler"], line["target"], "", None)

    with signals.raised():  # so a run records its failure
        ending = run_in_python(task, kind)
    os.write(line["tell"], json.dumps(ending).encode())


def _first_line(descriptor: int) -> bytes:
    line = b""
    while b"\n" not in line:
        more = os.read(descriptor, 65536)
        if not more:
            sys.exit("the worker is gone")
        line += more
    return line


def _connected(task: Task) -> Connection:
    from omd.doors import connect

    control = connect(application_name="omd-task")
    control.set(**session_of(task))
    return control


def _end_with(parent: int, feed: int, ttl: float) -> None:
    """End this process when its worker ends, or is silent for too long."""

    def watch() -> None:
        # What others do with the task begins when the claim has expired, so this ends before.
        while select.select([feed], [], [], ttl * 0.9)[0] and os.read(feed, 4096):
            pass
        print("the worker is gone: its task ends", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_GRACE)
        os._exit(128 + signal.SIGTERM)

    threading.Thread(target=watch, name="omd-worker", daemon=True).start()
    if sys.platform == "linux":
        # The kernel does it too, should this process be too busy to notice.
        libc: Any = ctypes.CDLL(None)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit("the worker is gone")
