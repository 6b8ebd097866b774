"""SIGTERM as an exception while a block is open (docs/explanation/jobs.md, rule J4).

Python handles signals in the main thread only, so blocks in other threads change nothing. A call
that must reach the database as a whole (a begin, an end) holds the signal back: a SIGTERM that
arrives meanwhile is raised after the call.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar


class Terminated(SystemExit):
    """SIGTERM has arrived. Like Ctrl-C, it passes ``except Exception``; the exit code is 143."""

    __module__ = "omd"  # the name that users import, and that the event log shows

    def __init__(self) -> None:
        super().__init__(128 + signal.SIGTERM)

    def __str__(self) -> str:
        return "terminated by SIGTERM"


class _State:
    # For each open block of the main thread, what is called before the exception is raised.
    open: ClassVar[list[Callable[[], None]]] = []
    held = 0
    pending = False
    previous: Any = None


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _handle(_signal: int, _frame: object) -> None:
    _State.pending = True
    deliver()


def enter(interrupted: Callable[[], None]) -> None:
    """Open a block: take the signal over, unless the process ignores it or C code handles it."""
    if not _in_main_thread():
        return
    if not _State.open:
        _State.previous = signal.getsignal(signal.SIGTERM)
        if _State.previous not in (None, signal.SIG_IGN):
            signal.signal(signal.SIGTERM, _handle)
    _State.open.append(interrupted)


def leave() -> None:
    """Close a block: the last one restores the handler, and sends it a signal not yet raised."""
    if not _in_main_thread():
        return
    _State.open.pop()
    if _State.open:
        return
    if signal.getsignal(signal.SIGTERM) is _handle:
        signal.signal(signal.SIGTERM, _State.previous)
    if _State.pending:
        _State.pending = False
        signal.raise_signal(signal.SIGTERM)


@contextmanager
def raised() -> Iterator[None]:
    """Let SIGTERM be an exception inside, so that what is open there is closed."""
    enter(lambda: None)
    try:
        yield
    finally:
        leave()


@contextmanager
def held() -> Iterator[None]:
    """Hold SIGTERM back inside; the caller calls `deliver` where it may be raised."""
    if not _in_main_thread():
        yield
        return
    _State.held += 1
    try:
        yield
    finally:
        _State.held -= 1


def deliver() -> None:
    """Raise the SIGTERM that arrived while it was held back."""
    if _State.pending and _State.held == 0 and _State.open and _in_main_thread():
        _State.pending = False
        for interrupted in _State.open:
            interrupted()
        raise Terminated
