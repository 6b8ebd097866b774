"""The end of the rows of a task, as the worker of Spark sees it: the one look at its insides.

When what feeds a task fails, or the task is killed, Spark closes the stream to the Python worker,
and pyarrow takes a closed stream for a complete one: half a partition looks like a whole one. After
a complete stream Spark sends a mark, which is in the buffer of the worker's input. There is no
interface to that input, so it is searched in the frames of the worker.

Nothing is lost or doubled where it is not found: see `omd.spark.writer.Writer`. Where it is found,
an attempt that has read half of its rows does not commit them, so that the next one need not fail.
"""

from __future__ import annotations

import functools
import logging
import sys
from types import FrameType
from typing import Any

_log = logging.getLogger("omd.spark")


def is_whole() -> bool | None:
    """Return whether all rows of this task have come; None where that can't be seen."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        source: Any = frame.f_locals.get("infile")
        if hasattr(source, "peek"):
            return bool(source.peek(1))
        frame = frame.f_back
    _tell()
    return None


@functools.cache
def _tell() -> None:
    """Log it, once in a process."""
    _log.warning(
        "with this version of Spark a task does not see that its rows ended early: where they do,"
        " the run fails, and its next begin rolls it back"
    )
