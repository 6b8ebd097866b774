"""What a handler of tasks gets."""

from typing import TYPE_CHECKING

from omd._core.lazy import lazily

if TYPE_CHECKING:
    from omd.doors.task import Task as Task

__all__, __getattr__, __dir__ = lazily(__name__, {"omd.doors.task": ["Task"]})
