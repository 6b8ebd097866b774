"""Dispatch: what is due, which worker takes it, what is suspended (schema omd_dispatch)."""

from typing import TYPE_CHECKING

from omd._core.lazy import lazily

if TYPE_CHECKING:
    from omd.doors.task import Task as Task
    from omd.programs.worker.worker import Worker as Worker

__all__, __getattr__, __dir__ = lazily(
    __name__, {"omd.doors.task": ["Task"], "omd.programs.worker.worker": ["Worker"]}
)
