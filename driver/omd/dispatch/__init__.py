"""Dispatch: what is due, which worker takes it, what is suspended (schema omd_dispatch)."""

from typing import TYPE_CHECKING

from omd._core.lazy import lazily

if TYPE_CHECKING:
    from omd.dispatch.task import Task as Task
    from omd.dispatch.worker import Worker as Worker

__all__, __getattr__, __dir__ = lazily(
    __name__, {"omd.dispatch.task": ["Task"], "omd.dispatch.worker": ["Worker"]}
)
