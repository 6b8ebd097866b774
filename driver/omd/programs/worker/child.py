"""Tasks in a process of their own: the side of the worker, and that of the process.

The process gets a task on its standard input and reports over a pipe that it has it, and its
ending. The worker also writes to the input, again and again, that it lives: the process ends itself
when the worker is gone, or is silent for so long that others may have the task.

A process that has started Spark waits for the next task, because that takes seconds.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import json
import os
import queue
import select
import signal
import sys
import threading
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from omd._core import signals
from omd._core.functions import Permitted
from omd._core.program import python
from omd.doors.task import Claim, Task
from omd.programs.service.loop import Child
from omd.programs.worker.handlers import Ending, TaskType, run_in_python, session_of
from omd.rooms.control.connection import Connection

_COMMAND = python("from omd.programs.worker.child import main; main()")
_PR_SET_PDEATHSIG = 1
_GRACE = 10.0  # so long the process may take to end when its worker is gone


class TaskProcess:
    """A process for tasks, one after the other, as the worker has it.

    Args:
        name: of the first task, for messages.
        dsn: the database; empty where libpq's own settings name it.
        ttl: seconds of silence of the worker after which the process ends itself.
        permitted: what it executes.
    """

    def __init__(self, name: str, dsn: str, ttl: float, permitted: Permitted) -> None:
        self.may_go_on = False  # whether it waits for another task
        self._has_run = False
        self.idle_since = 0.0  # since when it does, in seconds of `time.monotonic`
        self._ttl = ttl
        self._permitted = permitted
        self._lock = threading.Lock()
        stdin, self._feed = os.pipe()
        heard, self._tell = os.pipe()
        self._reports = os.fdopen(heard, "rb")
        try:
            self._child = Child(
                name,
                _COMMAND,
                {**os.environ, **({"OMD_DSN": dsn} if dsn else {})},
                sys.stderr.fileno(),  # the output of a task is no data of the worker
                stdin=stdin,
                keeps=[self._tell],
            )
        finally:
            os.close(stdin)
            os.close(self._tell)

    def beat(self) -> None:
        """Tell the process that its worker lives."""
        if self._lock.acquire(blocking=False):  # else it has not read its task yet
            try:
                self._write(b"\n")
            finally:
                self._lock.release()

    def run(self, task: Task, kind: TaskType) -> Ending | None:
        """Let it run a task, and wait for its end; return how the task went.

        None: it had waited for a task, and was gone before it had this one.
        """
        is_new, self._has_run, self.may_go_on = not self._has_run, True, False
        with self._lock:
            self._write(self._line(task, kind))
        has_it = bool(self._reports.readline())
        report = self._reports.readline() if has_it else b""
        because = task._ended_because
        if report:
            said = json.loads(report)
            ending = Ending(*said["ending"])
            self.idle_since = time.monotonic()
            self.may_go_on = said["may_go_on"] and because is None
            if not self.may_go_on:
                self.close()
                self._child.wait()
            if because is not None and ending.error is not None:
                return kind.failure(ending.error.partition("\n")[0], because)
            return ending
        self._child.wait()
        self.close()
        if not (has_it or is_new) and because is None:
            return None
        end = (
            f"was ended by {self._child.killer}"
            if self._child.killer
            else f"ended with exit code {self._child.code}"
        )
        return kind.failure(f"its process {end} and reported no outcome", because)

    def stop(self) -> str:
        """Send SIGTERM."""
        return self._child.stop()

    def kill(self) -> str:
        """Send SIGKILL."""
        return self._child.kill()

    def close(self) -> None:
        """Give it no more tasks: it ends when it has none."""
        with self._lock:
            if self._feed >= 0:
                os.close(self._feed)
            self._feed = -1

    def _write(self, data: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):
            while self._feed >= 0 and data:
                data = data[os.write(self._feed, data) :]

    def _line(self, task: Task, kind: TaskType) -> bytes:
        line = {
            "claim": task._claim._asdict(),
            "handler": kind.handler,
            "target": kind.target,
            "master": task._master,
            "tell": self._tell,
            "ttl": self._ttl,
            "parent": os.getpid(),
            "path": sys.path,
            "jobs": self._permitted.jobs,
            "sql": self._permitted.sql,
        }
        return json.dumps(line, default=datetime.isoformat).encode() + b"\n"


# In the process ---------------------------------------------------------------------------------


def main() -> None:
    """Run the tasks that standard input names, and report how each went."""
    feed = os.dup(0)  # the handler must not read what the worker writes
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    line = _first_line(feed)
    tell = line["tell"]
    os.set_inheritable(tell, False)
    sys.path[:] = line["path"]
    tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
    _end_with(line["parent"], feed, line["ttl"], tasks)
    # Who brings new code expects that the next task has it; the worker starts another process then.
    while line is not None and not any(map(_has_changed, list(sys.modules.values()))):
        _report(tell, {"has": "it"})
        claim = line["claim"]
        claim["execution_time"] = datetime.fromisoformat(claim["execution_time"])
        task = Task._of(Claim(**claim), line["master"])
        jobs = line["jobs"]
        permitted = Permitted(None if jobs is None else tuple(jobs), line["sql"])
        task._opens(functools.partial(_connected, permitted))
        kind = TaskType(
            task._claim.family_code,
            task._claim.task_type,
            line["handler"],
            line["target"],
            "",
            None,
        )
        with _at_work, signals.raised():  # so a run records its failure
            ending = run_in_python(task, kind, permitted)
        may_go_on = kind.may_share_process and _may_go_on(task, ending)
        _report(tell, {"ending": ending, "may_go_on": may_go_on})
        line = tasks.get() if may_go_on else None


_at_work = threading.Lock()  # it is held while a task runs


def _may_go_on(task: Task, ending: Ending) -> bool:
    """Return whether this process waits for another task, and prepare it for that.

    It does when it has started Spark and nothing has failed.
    """
    if ending.error is not None or not task._has_control:
        return False
    try:
        may_go_on = task.control._engines.renew()
        task.control.close()
    except Exception:  # noqa: BLE001 - whatever it is, the next task begins anew
        return False
    return may_go_on


def _has_changed(module: Any) -> bool:
    """Return whether the file of a module has changed since this process began."""
    file = getattr(module, "__file__", None)
    if not file:
        return False
    try:
        return Path(file).stat().st_mtime > _BEGAN
    except NotADirectoryError:
        return False  # it stands in an archive
    except OSError:
        return True


_BEGAN = time.time()


def _report(tell: int, said: dict[str, Any]) -> None:
    os.write(tell, json.dumps(said).encode() + b"\n")


def _first_line(descriptor: int) -> Any:
    line = b""
    while b"\n" not in line:
        more = os.read(descriptor, 65536)
        if not more:
            sys.exit("the worker is gone")
        line += more
    return json.loads(line)


def _connected(permitted: Permitted, task: Task) -> Connection:
    from omd.doors.control import connect

    control = connect(application_name="omd-task")
    control._set(**session_of(task))
    control._permitted = permitted
    return control


def _end_with(
    parent: int, feed: int, ttl: float, tasks: queue.SimpleQueue[dict[str, Any] | None]
) -> None:
    """Hand on what the worker writes; end with it, also when it is silent for too long."""

    def watch() -> None:
        rest = b""
        # What others do with the task begins when the claim has expired, so this ends before.
        while select.select([feed], [], [], ttl * 0.9)[0] and (more := os.read(feed, 65536)):
            *lines, rest = (rest + more).split(b"\n")
            for line in filter(None, lines):
                tasks.put(json.loads(line))
        tasks.put(None)
        if _at_work.locked():
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
