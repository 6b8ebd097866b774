"""What all blocks share: the signal, the span, and the end of an instance.

Entering a block begins an instance. Leaving it ends the instance: with success, or, when an
exception was raised, with failure. The database decides whether and how a run proceeds.
"""

from __future__ import annotations

import logging
import platform
import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from datetime import timedelta
from types import EllipsisType, TracebackType
from typing import Any, Generic, NoReturn, TypeVar

from omd._core import signals, spans, versions
from omd._core.engines import SPARK
from omd._core.error_codes import InstanceNotExecuting, LeaseExpired, MembersFailed
from omd._core.errors import Aborted, ConnectionFailed, NotStarted, Skipped, name_in_events
from omd._core.former import Renamed
from omd.rooms.control.calls import ControlCalls
from omd.rooms.control.codes import ProcessingIndicator
from omd.rooms.control.connection import C, callers
from omd.rooms.control.death import identity, who_runs
from omd.rooms.control.lease import Lease

B = TypeVar("B", bound="Block")

_log = logging.getLogger("omd.run")

UNKNOWN_INDICATOR = "UNKNOWN_INDICATOR"  # a reason that only a client gives


class Block(Renamed, ABC, Generic[C]):
    """What the blocks share: the signal, the span, and the end of an instance; each has a lease."""

    _kind: str
    _span_name = "module"
    _may_be_fenced = False
    # What is raised where it did not begin, and nothing has failed.
    _refusals: tuple[type[BaseException], ...] = (NotStarted,)

    def __init__(
        self,
        control: C,
        code: str | None,
        *,
        lease: timedelta | EllipsisType | None,
        context: Mapping[str, Any] | None,
    ) -> None:
        self._control: C = control
        self._code = code
        self._instance_id = 0  # 0 before the begin
        self._lease = Lease(control._lease if isinstance(lease, EllipsisType) else lease, self)
        self._context = dict(context or {})
        self._began = False
        self._open = False
        # Nothing of this run can write without its fence: what could is not given out.
        self._is_fenced = self._may_be_fenced
        self._give_out_lock = threading.Lock()
        self._span: spans.Span | None = None
        self._reason: str | None = None

    @property
    def _tag(self) -> str:
        """The tag on the Spark jobs of this run."""
        return f"omd-{self._instance_id}"

    def __enter__(self: B) -> B:
        signals.enter(self._interrupted)
        self._span = self._begin_span()
        try:
            self._await_turn()
            with signals.held():
                self._begin()
            signals.deliver()
            self._prepare()
        except BaseException as error:
            try:
                if self._open:
                    with signals.held():
                        self._end(error)
            finally:
                signals.leave()
                self._end_span(error)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        failure = error
        try:
            with signals.held():
                self._end(error)
            if error is None:
                signals.deliver()
        except BaseException as raised:
            failure = raised
            raise
        finally:
            signals.leave()
            self._end_span(failure)

    def _begin_span(self) -> spans.Span | None:
        """Begin the span of the block, below that of the block that it is part of."""
        above = self._above()
        span = None if above is None else above._span
        return spans.begin(self._span_name, span, self._context)

    def _end_span(self, error: BaseException | None) -> None:
        """End the span of the block, if there is one."""
        if self._span is None:
            return
        is_refused = isinstance(error, self._refusals)
        status = None if is_refused and not isinstance(error, NotStarted) else "F"
        if error is None:
            status = "S"
        elif isinstance(error, NotStarted):
            status = "C" if isinstance(error, Skipped) else "A"
        said = {"code": self._code, "status": status, "reason": self._reason, **self._measures()}
        self._span.end(said, None if is_refused else error)

    def _above(self) -> Block[Any] | None:
        """Return the block that this one is part of."""
        return None

    @abstractmethod
    def _measures(self) -> dict[str, Any]:
        """Return the ids of this run, and what it has counted."""

    def _execution_context(self, spark: Any = None) -> dict[str, Any]:
        """Return the execution context of the instance: where it runs."""
        context: dict[str, Any] = {
            "platform": "python",
            **identity(),
            "python": platform.python_version(),
        }
        if spark is not None:
            self._is_fenced = False  # its executors write by themselves
            context |= self._control._engines[SPARK].context(spark)
        elif self._is_fenced:
            context["writers"] = "FENCED"
        return {**context, **callers(), **self._context}

    def _give_out(self) -> None:
        """Say, before something is given out that could write without the fence, that it may.

        From now on the death of this process proves nothing: only the lease says when it is dead.
        """
        with self._give_out_lock:
            if self._is_fenced and self._open:
                with self._control._calls_of_its_own() as calls:
                    calls.withdraw_fenced(self._kind.upper(), self._instance_id)
            self._is_fenced = False

    def _end(self, error: BaseException | None) -> None:
        """End the instance. An exception of the job is raised on, whatever happens here."""
        self._open = False
        self._control._fenced.discard(self)
        if error is not None:
            self._lease.stop()
            if not isinstance(error, Exception):
                self._interrupted()
            self._cancel()
        try:
            if not self._lease.is_lost and error is None:
                self._succeed()
                return
        except (InstanceNotExecuting, LeaseExpired) as refusal:
            self._lease.lost = refusal.message
            error = refusal
        except ConnectionFailed as failure:
            _note(failure, f"The success of {self._kind} {self} is perhaps not recorded.")
            raise
        except Exception as refusal:
            self._record(refusal)
            raise
        finally:
            self._lease.stop()
            self._closed()
        if not self._lease.is_lost:
            assert error is not None  # noqa: S101 - no error and no loss has returned above
            self._record(error)
            return
        lost = self._lease.error()
        self._record(error or lost)
        if error is not None and not isinstance(error, Exception):
            _note(error, str(lost))  # Ctrl-C and SIGTERM are raised as they are
            return
        raise lost from error

    def _record(self, error: BaseException) -> None:
        """Record a failure; when that fails, add a note to the error and do not replace it."""
        self._lease.stop()
        detail, name = describe(error)
        try:
            self._fail(detail, name)
        except (InstanceNotExecuting, LeaseExpired) as refusal:
            # The run was declared dead already, which records the failure as well.
            _log.info("%s %s: %s", self._kind, self, refusal.message)
        except Exception as failure:  # noqa: BLE001 - the job's own exception is raised on
            _log.exception("the failure of %s %s could not be recorded", self._kind, self)
            _note(error, f"The failure of {self._kind} {self} could not be recorded: {failure}")

    def _proceed(
        self,
        indicator: ProcessingIndicator,
        abort: Callable[..., None],
        *others: ProcessingIndicator,
        **code: Any,
    ) -> None:
        """Open the block, or raise why it may not proceed.

        Args:
            indicator: what the database has said.
            abort: ends an instance of which it has said what this client does not know.
            others: with which it may proceed too.
            code: the Module or the Batch, by the name of the column.
        """
        self._began = True
        ((column, name),) = code.items()
        kind = column.removesuffix("_code")
        if indicator is ProcessingIndicator.CANCEL:
            raise Skipped(name, self._instance_id, self._reason, kind=kind)
        if indicator is ProcessingIndicator.ABORT:
            running = who_runs(self._control, **code) if self._reason == "RUNNING" else None
            raise Aborted(name, self._instance_id, self._reason, running, kind=kind)
        if indicator not in (ProcessingIndicator.PROCEED, *others):
            self._refuse_indicator(indicator, Aborted, abort)
        self._open = True
        self._control._fenced.add(self)

    def _refuse_indicator(
        self, indicator: object, refusal: type[NotStarted], abort: Callable[..., None]
    ) -> NoReturn:
        """End an instance of which the database has said what this client does not know."""
        said = "no indicator" if indicator is None else f"indicator {indicator}"
        self._reason = UNKNOWN_INDICATOR
        error = refusal(str(self._code), self._instance_id, self._reason, said, kind=self._kind)
        try:
            if self._instance_id:
                abort(
                    self._instance_id,
                    event_detail=f"{self._reason}: {said}, which the client"
                    f" of version {versions.mine()} does not know",
                )
        except Exception as failure:  # noqa: BLE001 - the refusal is what matters
            _note(error, f"{self._kind} {self} could not be ended: {failure}")
        raise error

    def __str__(self) -> str:
        return f"{self._code} (instance {self._instance_id})"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"

    def _await_turn(self) -> None:
        """Wait for a run that stands in the way, if the control waits."""

    @abstractmethod
    def _begin(self) -> None: ...

    def _prepare(self) -> None:
        """Do what follows a begin and may take long."""

    @abstractmethod
    def _renew(self, calls: ControlCalls, lease: timedelta) -> None: ...

    @abstractmethod
    def _cancel(self) -> None:
        """Cancel what this run does elsewhere, as its Spark jobs; it does not end the block."""

    def _interrupted(self) -> None:
        """Clean up after a signal that ended the job at any point."""

    @abstractmethod
    def _succeed(self) -> None:
        """End the instance with success; it stops the heartbeat before."""

    @abstractmethod
    def _fail(self, detail: str, name: str) -> None: ...

    def _closed(self) -> None:
        """Do what follows the end of the instance, whatever its outcome."""


def describe(error: BaseException) -> tuple[str, str]:
    """Return the event detail of an error (type, message, last frame, traceback), and its type."""
    if isinstance(error, MembersFailed):
        return error.message, "MEMBER FAILED"
    kind = type(error)
    name = name_in_events(kind)
    message = "".join(traceback.format_exception_only(kind, error)).strip()
    frames = traceback.extract_tb(error.__traceback__)
    where = f"\nat {frames[-1].filename}:{frames[-1].lineno} in {frames[-1].name}" if frames else ""
    trace = "".join(traceback.format_exception(kind, error, error.__traceback__))
    detail = f"{message}{where}\n\n{trace}"
    return detail.replace(f"{kind.__module__}.{kind.__qualname__}:", f"{name}:"), name


def _note(error: BaseException, text: str) -> None:
    if hasattr(error, "add_note"):  # Python 3.11
        error.add_note(text)
