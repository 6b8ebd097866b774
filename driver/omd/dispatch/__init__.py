"""Dispatch: what is due, which worker takes it, what is suspended (schema omd_dispatch)."""

from typing import TYPE_CHECKING

from omd._core.lazy import lazily

if TYPE_CHECKING:
    from omd.dispatch.worker import Worker as Worker
    from omd.doors.task import Task as Task

__all__, __getattr__, __dir__ = lazily(
    __name__, {"omd.doors.task": ["Task"], "omd.dispatch.worker": ["Worker"]}
)
