"""A step of a topic as a task of dispatch: the type TOPIC (docs/explanation/lineage.md, rule L8).

Lineage names no room above its own, so the task is known here by what this needs of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from omd._core.engines import SPARK
from omd.doors.lineage import Lineage
from omd.rooms.control.connection import Connection
from omd.rooms.lineage.calls import LineageCalls
from omd.rooms.lineage.step import in_words


class Task(Protocol):
    """A task whose criterion CODE names a topic."""

    criteria: Mapping[str, Any]
    _master: str | None

    @property
    def control(self) -> Connection:
        """A connection to the control plane."""


def run(task: Task) -> str:
    """Run one step of the topic, in PostgreSQL or on Spark.

    Returns:
        the status of the step: S, C or A.

    Raises:
        RuntimeError: the step ended with ERROR.
    """
    topic = str(task.criteria["CODE"])
    outcome = Lineage(task.control).step(
        topic, session=lambda: task.control._engines[SPARK].session(task._master)
    )
    if outcome.status not in ("S", "C", "A"):
        raise RuntimeError(in_words(outcome)) from outcome.error
    return str(outcome.status)


def refresh(control: Connection) -> None:
    """Probe the sources, so that the topics that read them get ready (rule L13)."""
    LineageCalls(control._link).probe_sources()
