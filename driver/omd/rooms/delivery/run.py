"""A delivery as a block, and a run of it (docs/explanation/delivery.md).

`DeliveryBlock` creates a delivery or takes one up, `DeliveryRun` is one attempt at it: what the
engine does happens inside. The database decides whether it begins, what it checks and what follows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from types import EllipsisType, TracebackType
from typing import TYPE_CHECKING, Any

from omd._core.engines import SPARK
from omd._core.error_codes import AttemptFenced, WrongDeliveryState
from omd._core.errors import CallerError, ConnectionFailed, LeaseLost, StateError, one_line
from omd.rooms.control.block import Block
from omd.rooms.control.calls import ControlCalls
from omd.rooms.control.codes import Status
from omd.rooms.control.connection import Connection
from omd.rooms.control.outcome import Outcome
from omd.rooms.control.reads import Reads
from omd.rooms.delivery.calls import DeliveryCalls
from omd.rooms.delivery.rows import BeginDeliveryAnswer, DeliveryLogRow, DeliveryQueueRow
from omd.rooms.delivery.source import SourceFolder, SourceTables, source_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_LONGEST_PAUSE = 2.0  # seconds between two questions whether a delivery may begin


class DeliveryBlock:
    """A delivery as a block; `Delivery.create` makes one.

    Entering creates the delivery, or finds the one to resume; `run` runs it. A delivery that was
    created here is cancelled when an exception leaves the block before its data was complete.

    Attributes:
        delivery_id: the delivery; 0 before the block is entered.
    """

    def __init__(
        self,
        connection: Connection,
        calls: DeliveryCalls,
        agreement_code: str | None,
        *,
        created: Mapping[str, Any],
        loads: Mapping[str, Any] | Sequence[str] | None,
        entities: Mapping[str, Any] | None,
        files: str | None,
        staging: str | None,
        delivery_id: int | None,
        wait: timedelta,
        spark: SparkSession | None,
        lease: timedelta | EllipsisType | None,
    ) -> None:
        self._control = connection
        self._calls = calls
        self.delivery_id = 0
        self._agreement_code = agreement_code
        self._created = dict(created)
        self._loads = loads
        self._resumed = delivery_id
        self._wait = wait
        self._spark = spark
        self._lease = lease
        self._is_complete = False
        self._free: Callable[[], None] = lambda: None
        # Raises when what was handed over is not what it was when it was found; a run calls it when
        # it has read it, before anything is decided.
        self._confirm: Callable[[], None] | None = None
        self._source = source_of(entities=entities, files=files, staging=staging)
        if delivery_id is None and agreement_code is None:
            raise CallerError(
                "neither an agreement nor a delivery is named",
                hint='control.delivery.create("agreement", …) or, to resume one, delivery_id=…',
            )
        given = [name for name, value in {**created, "loads": loads}.items() if value is not None]
        if delivery_id is not None and given:
            raise CallerError(
                f"delivery {delivery_id} was created with its {given[0]}",
                hint=f"Leave {given[0]} out to resume it, or create another delivery.",
            )

    def __enter__(self) -> DeliveryBlock:
        if self._resumed is not None:
            document = self._calls.delivery_receipt(self._resumed)
            if self._agreement_code not in (None, document["agreement"]):
                raise CallerError(
                    f"delivery {self._resumed} is of the agreement {document['agreement']}"
                )
            self._reserve()
            self.delivery_id = self._resumed
            return self
        assert self._agreement_code is not None  # noqa: S101 - the constructor requires it
        self._reserve()
        try:
            answer = self._calls.create_delivery(
                self._agreement_code, entities=self._entities(), **self._created
            )
        except BaseException:
            self._free()
            raise
        self.delivery_id = answer.delivery_id
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._free()
        if error is None or self._resumed is not None or self._is_complete:
            return
        try:
            self._calls.cancel_delivery(self.delivery_id, one_line(error))
        except Exception as failure:  # noqa: BLE001 - the exception of the block is raised on
            if hasattr(error, "add_note"):  # Python 3.11
                error.add_note(f"Delivery {self.delivery_id} could not be cancelled: {failure}")

    def run(self) -> Outcome[None]:
        """Run the delivery to its end, and return what became of it; its facts have the receipt.

        It waits while another delivery of the interface runs, and while a run of this one that died
        may still live. A delivery that is decided already is not run again. A failure is returned
        as data, and so is that it could not begin: C or A.
        """
        if not self.delivery_id:
            raise CallerError("the block of the delivery was not entered", hint="Use it by `with`.")
        self._is_complete = True
        with suppress(WrongDeliveryState):  # loaded already, or decided, which its begin says
            self._calls.report_loaded(self.delivery_id)
        run = DeliveryRun(self, lease=self._lease, spark=self._spark)
        until = time.monotonic() + self._wait.total_seconds()
        pause = 0.1
        while True:
            try:
                with run:
                    run.work()
                return self._outcome()
            except _Later as later:
                waits = later.outcome in ("WAIT", "RUNNING")
                if not waits or time.monotonic() + pause > until:
                    return self._outcome(later=later)
            except ConnectionFailed:
                raise
            except WrongDeliveryState as error:
                return self._outcome(error if run.attempt else None)  # None: it is decided
            except Exception as error:
                if not run.attempt:
                    raise
                return self._outcome(error)
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _outcome(
        self, error: Exception | None = None, *, later: _Later | None = None
    ) -> Outcome[None]:
        """Return what has become of the delivery by now.

        Args:
            error: what its run has raised here.
            later: why it has not begun.
        """
        (row,) = self._calls.report(DeliveryLogRow, delivery_id=self.delivery_id)
        items = self._calls.report(DeliveryQueueRow, delivery_id=self.delivery_id)
        status, reason, detail = row.execution_status_code, row.delivery_status, None
        if status is Status.EXECUTING and later is not None:
            status, reason = later.status, later.outcome
        elif status is Status.EXECUTING:
            status, reason = Status.FAILED, "FAILED"
        elif status is Status.FAILED:
            reason = "REJECTED"
        if later is not None:
            detail = later.detail
        elif error is not None:
            detail = one_line(error)
        return Outcome(
            "DELIVERY",
            row.agreement_code,
            row.batch_instance_id,
            status,
            None if status is Status.SUCCEEDED else reason,
            detail,
            error=error,
            facts={
                "delivery_id": row.delivery_id,
                "attempt": row.attempt,
                "delivery_status": row.delivery_status,
                "verdict": row.verdict,
                "queue_id": items[0].queue_id if items else None,
                "document": self._calls.delivery_receipt(self.delivery_id),
            },
        )

    def _reserve(self) -> None:
        """Reserve the session, where it can work for one delivery only."""
        engines = self._control._engines
        session = self._spark or self._control._spark or engines.active_session()
        if session is not None:
            self._free = engines[SPARK].reserve(session, self)

    def _entities(self) -> dict[str, Any] | None:
        """Return what is delivered: what `loads` says, and in full what else was given."""
        loads = self._loads
        if loads is not None and not isinstance(loads, Mapping):
            loads = dict.fromkeys(loads, "FULL")
        if isinstance(self._source, SourceTables):  # the agreement has them, or `loads` says it
            return None if loads is None else dict(loads)
        if isinstance(self._source, SourceFolder):
            engine = self._control._engines[SPARK]
            spark = self._spark or self._control._spark or engine.active()
            names = engine.delivered_in(self._source.path, spark)
        else:
            names = self._source.entities
        return {**dict.fromkeys(names, "FULL"), **(loads or {})}


def is_decided(outcome: Outcome[None]) -> bool:
    """Return whether a delivery has come to its end, whatever that is."""
    return outcome.succeeded or outcome.reason in ("REJECTED", "CANCELLED", "REVERTED")


class _Later(Exception):  # noqa: N818 - it is an answer
    """The delivery has not begun."""

    def __init__(self, answer: BeginDeliveryAnswer) -> None:
        super().__init__(answer.outcome, answer.detail)
        self.outcome = answer.outcome
        self.status = answer.execution_status_code
        self.detail = answer.detail


class DeliveryRun(Block):
    """One attempt at a delivery, as a block. Its end is the verdict, the queue, or the failure."""

    _kind = "delivery"
    _span_name = "delivery"
    _refusals = (_Later,)

    def __init__(
        self,
        block: DeliveryBlock,
        *,
        lease: timedelta | EllipsisType | None,
        spark: SparkSession | None,
    ) -> None:
        super().__init__(block._control, None, lease=lease, context=None)
        self._reads = Reads(self, spark)
        self.calls = block._calls
        self.delivery_id = self._instance_id = block.delivery_id
        self.block = block
        self.source = block._source  # what was handed over
        self._confirm = block._confirm
        self._agreement_code = block._agreement_code  # None: the delivery was resumed
        self.attempt = 0  # its number; 0 before the begin
        self.instances: dict[str, int] = {}  # the Module Instance of each entity
        self._refusal: StateError | None = None

    def work(self) -> None:
        """Validate and apply the delivery on its engine."""
        try:
            self._reads.engine.deliver(self)
        except StateError as refusal:
            self._fenced(refusal)
            raise

    def confirm(self) -> None:
        """Raise when what was handed over is not what it was when it was found."""
        if self._confirm is not None:
            self._confirm()

    def __str__(self) -> str:
        return str(self.delivery_id)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            super().__exit__(kind, error, trace)
        except LeaseLost:
            if self._refusal is not None:
                raise self._refusal from error
            raise

    @property
    def _tag(self) -> str:
        """The tag on the Spark jobs of this run."""
        return f"omd-delivery-{self.delivery_id}-{self.attempt}"

    def _measures(self) -> dict[str, Any]:
        return {
            "agreement_code": self._agreement_code,
            "delivery_id": self.delivery_id,
            "attempt": self.attempt or None,
        }

    def _begin(self) -> None:
        spark = self._reads.find_session()
        granted = time.monotonic()
        answer = self.calls.begin_delivery(
            self.delivery_id,
            lease=self._lease.length,
            execution_context=self._execution_context(spark),
        )
        if answer.execution_status_code is not Status.EXECUTING:
            raise _Later(answer)
        self.attempt = answer.attempt or 0
        self.instances = dict(answer.instances or {})
        self._began = self._open = True
        self._lease.start(self._control, granted, self._renew)

    def _cancel(self) -> None:
        self._reads.cancel()

    def _interrupted(self) -> None:
        self._reads.interrupted()

    def _closed(self) -> None:
        self._reads.close()

    def _renew(self, calls: ControlCalls, lease: timedelta) -> None:
        renewing = DeliveryCalls(calls._link)
        try:
            renewing.heartbeat_delivery(self.delivery_id, self.attempt, lease)
        except StateError as refusal:
            if isinstance(refusal, WrongDeliveryState) and self._has_decided(renewing):
                return  # the block is about to learn it
            self._fenced(refusal)
            raise

    def _has_decided(self, calls: DeliveryCalls) -> bool:
        """Return whether this run, the newest one, has ended its delivery."""
        (row,) = calls.report(DeliveryLogRow, delivery_id=self.delivery_id)
        by_others = row.delivery_status in ("REJECTED", "CANCELLED")
        return row.verdict is not None and not by_others

    def _fenced(self, refusal: StateError) -> None:
        """Note that somebody else has ended the run, so that there is nothing left to record."""
        if isinstance(refusal, (AttemptFenced, WrongDeliveryState)) and self._refusal is None:
            self._refusal = refusal

    def _succeed(self) -> None:
        """Do no more: the verdict, or what applied the delta, has ended the instances."""
        self._lease.stop()

    def _fail(self, detail: str, name: str) -> None:
        if self._refusal is None:
            self.calls.fail_delivery(
                self.delivery_id,
                self.attempt,
                event_detail=detail,
                event_return_code_details=name,
            )
