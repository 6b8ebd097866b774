"""Handlers that the tests of workers register; most tell what they do over the channel seen."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

if TYPE_CHECKING:
    from omd.dispatch import Task
    from omd.rooms.control.run import Batch, Run


def tell(*told: object) -> None:
    with psycopg.connect(os.environ["OMD_DSN"], autocommit=True) as conn:
        conn.execute("SELECT pg_notify('seen', %s)", [" ".join(map(str, told))])


def nothing(_task: Task) -> None:
    pass


def answer(task: Task) -> Any:
    return task.payload


def fail(_task: Task) -> None:
    raise ValueError("it is \0 bad")


def leave(_task: Task) -> None:
    sys.exit("no handler should")


def where(task: Task) -> None:
    """Tell the parent of its process, and what it has got."""
    tell(
        os.getppid(), task.task_id, task._claim.task_type, task.criteria, task.payload, task.attempt
    )
    with task.control.transaction() as conn:
        conn.execute("SET search_path = dwh")  # the next task does not see that


def begin(task: Task) -> None:
    """Begin a Module over the connection of the task."""
    with task.control.module(task.criteria["CODE"]) as run:
        tell(run.instance_id)


def job_of_batch(batch: Batch) -> None:
    """A job with one Module, as a Spark job is one."""
    batch.run("m_good")


def job_of_module(run: Run) -> None:
    raise RuntimeError(f"{run} is bad")


def wait(task: Task) -> str | None:
    """Run until the task is ended; at the second attempt it has nothing to do."""
    if task.attempt > 1:
        tell("again", task.task_id, "alive" if is_alive(task) else "alone")
        return None
    if task.payload:
        Path(task.payload["pid"]).write_text(str(os.getpid()))
    tell("began", task.task_id)
    while not task.cancelled:
        time.sleep(0.01)
    return "S"


def sleep(_task: Task) -> None:
    time.sleep(600)


def is_alive(task: Task) -> bool:
    """Whether the process of the first attempt still runs."""
    try:
        stat = Path(f"/proc/{Path(task.payload['pid']).read_text()}/stat").read_text()
    except (OSError, TypeError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def block(task: Task) -> None:
    """Wait for the advisory lock that the test holds, if the payload names one."""
    if task.payload:
        tell("blocks")
        with psycopg.connect(os.environ["OMD_DSN"], autocommit=True) as conn:
            conn.execute("SELECT pg_advisory_lock(%s)", [task.payload])


def note(task: Task) -> None:
    """Note in dwh.calls that the task was begun, and then that it has ended."""
    key = (task.task_id, task._claim.claim_token)
    with psycopg.connect(os.environ["OMD_DSN"], autocommit=True) as conn:
        conn.execute("INSERT INTO dwh.calls VALUES (%s, %s)", key)
        conn.execute("SELECT dwh.pause()")
        conn.execute(
            "UPDATE dwh.calls SET ended_at = clock_timestamp()"
            " WHERE task_id = %s AND claim_token = %s",
            key,
        )


def count(task: Task) -> None:
    """Write its number to the file that the payload names."""
    with Path(task.payload).open("a") as file:
        file.write(f"{task.task_id}\n")
