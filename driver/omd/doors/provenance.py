"""What Python does for provenance: a recall and an erasure reach the lake too."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from omd._core.error_codes import PlanChanged
from omd.doors.methods import ProvenanceMethods
from omd.doors.recall import Act, Recalled
from omd.rooms.control.codes import Status
from omd.rooms.control.connection import Connection, Door
from omd.rooms.control.outcome import Outcome
from omd.rooms.provenance.calls import ProvenanceCalls
from omd.rooms.provenance.rows import (
    EraseAnswer,
    ErasureItemsRow,
    PlanRecallAnswer,
    RecallItemsRow,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from omd.rooms.control.blocks import Blocks

_log = logging.getLogger("omd.provenance")


class Provenance(Door, ProvenanceMethods):
    """Recalls and erasures, the lake's part too: ``control.provenance``.

    Examples:
        with omd.connect() as control:
            planned = control.calls.omd_provenance.plan_recall(
                delivery_id=7, reason="of another branch"
            )
            for item in control.report("recall_items", recall_id=planned.recall_id):
                print(item.position, item.action, item.module_code, item.rows_go)
            control.provenance.recall(planned.recall_id, accept=["BY_HAND"])
    """

    _formerly = ("omd.Provenance",)

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._calls = ProvenanceCalls(self._link)

    def _items(self, recall_id: int) -> list[RecallItemsRow]:
        """Return the plan of a recall, in the order of the act."""
        return self._calls.report(RecallItemsRow, recall_id=recall_id, order_by=["position"])

    def _recall_at_once(
        self,
        *,
        module_instance_id: int | None = None,
        delivery_id: int | None = None,
        batch_instance_id: int | None = None,
        agreement_code: str | None = None,
        since: datetime | None = None,
        is_stale: bool | None = None,
        reason: str,
        awaits_correction: bool = False,
        accept: Sequence[str] = (),
        wait: timedelta = timedelta(minutes=1),
    ) -> Recalled:
        """Plan a recall and execute it, in one transaction: both, or nothing.

        It waits for runs at work before it plans, so that the plan is that of the act.

        Args:
            module_instance_id: a run; that of an entity means its delivery.
            delivery_id: a delivery.
            batch_instance_id: the runs of a Batch Instance.
            agreement_code: the deliveries of an agreement, with `since`.
            since: from this snapshot on.
            is_stale: all runs of omd_report.stale_runs.
            reason: why, for the record.
            awaits_correction: the target itself is to come again, by hand.
            accept: the actions that the caller consents to; see `recall`.
            wait: for how long it waits for runs at work.
        """

        def plan(calls: ProvenanceCalls) -> PlanRecallAnswer:
            return calls.plan_recall(
                module_instance_id=module_instance_id,
                delivery_id=delivery_id,
                batch_instance_id=batch_instance_id,
                agreement_code=agreement_code,
                since=since,
                is_stale=is_stale,
                reason=reason,
                awaits_correction=awaits_correction,
            )

        return Act(
            self._control,
            lambda calls: plan(calls).recall_id,
            is_new=True,
            accept=accept,
            wait=wait,
        ).execute()

    def recall(
        self,
        recall_id: int,
        *,
        accept: Sequence[str] | None = None,
        wait: timedelta | str | None = None,
    ) -> Outcome[None]:
        """Execute a recall; what it takes back in lake tables of our catalogue goes with it.

        It is one transaction of its own. Inside of `control.transaction()`, and where the wait is
        no timedelta, it is the routine alone, to which the lake is PENDING: so is a run that has
        written to a Delta table or to another catalogue. See `ProvenanceCalls.recall`. Where
        nothing of the target stands any more, the status is C.

        Args:
            recall_id: the recall.
            accept: the actions of the plan that the caller consents to.
            wait: for how long it waits for runs at work; by default a minute.
        """
        if self._link.is_in_transaction or isinstance(wait, str) or recall_id is None:
            answer = self._calls.recall(recall_id, accept=accept, wait=wait)
            return _recalled(
                recall_id, answer.module_instance_id, answer.rows_gone, answer.rows_returned
            )
        act = Act(
            self._control,
            lambda _: recall_id,
            is_new=False,
            accept=accept or (),
            wait=timedelta(minutes=1) if wait is None else wait,
        )
        try:
            return _recalled(*act.execute())
        except PlanChanged as changed:
            planned = {item.module_instance_id for item in self._items(recall_id)} - {None}
            if changed.detail["come"] or not planned <= set(changed.detail["gone"]):
                raise
            return Outcome(
                "RECALL",
                str(recall_id),
                None,
                Status.SKIPPED,
                "NOTHING",
                "nothing of its target stands any more",
                error=changed,
            )

    def erase(
        self,
        interface_code: str,
        entity_code: str,
        keys: Sequence[Mapping[str, Any]],
        reference: str,
        *,
        is_dry_run: bool | None = None,
        with_references: bool | None = None,
    ) -> EraseAnswer:
        """Erase persons, in lake tables of our catalogue too.

        The database is one transaction; then Spark rewrites the tables of the lake. Inside of
        `control.transaction()`, or where Spark is not there, these are PENDING: a second call with
        the same reference rewrites them too.

        Args:
            interface_code: the interface.
            entity_code: the entity.
            keys: the keys, each {attribute: value}.
            reference: the request, for the proof.
            is_dry_run: only answer what would happen; the default.
            with_references: erase rows of other entities that refer to them too.
        """
        answer = self._calls.erase(
            interface_code,
            entity_code,
            keys,
            reference,
            is_dry_run=is_dry_run,
            with_references=with_references,
        )
        if answer.erasure_id is None or self._link.is_in_transaction:
            return answer
        waiting = self._calls.report(
            "erasures", reference=reference, erasure_status="PENDING", order_by=["erasure_id"]
        )
        if not waiting:
            return answer
        try:
            for former in waiting:
                self._finish(former.erasure_id)
            items = self._finish(answer.erasure_id)
        except Exception as error:  # noqa: BLE001 - what is erased stays erased
            _log.warning("the lake's part of the erasure is PENDING: %s", error)
            return answer
        shown = [asdict(item) for item in items]
        for item in shown:
            del item["erasure_id"]
        return EraseAnswer(answer.erasure_id, cast("dict[str, Any]", shown))

    def _finish(
        self, erasure_id: int, *, spark: SparkSession | None = None
    ) -> list[ErasureItemsRow]:
        """Rewrite the lake tables that an erasure has still to reach; return its proof.

        Each table is finished for itself: what was done before an error stays done.

        Args:
            erasure_id: the erasure.
            spark: the session; by default that of the connection, or one is started.
        """
        pending = self._calls.pending_erasures(erasure_id)
        if pending:
            from omd.tables.erasure import Wanted, erase  # the extra lake is needed

            for row in pending:
                wanted = Wanted(
                    row.table_code, row.columns, row.action, cast("list[Any]", row.keys)
                )
                key_count, row_count = erase(cast("Blocks", self._control), wanted, spark=spark)
                self._calls.finish_erasure(row.pending_id, key_count, row_count)
        return self._calls.report(ErasureItemsRow, erasure_id=erasure_id)


def _recalled(
    recall_id: int, module_instance_id: int, rows_gone: int, rows_returned: int
) -> Outcome[None]:
    return Outcome(
        "RECALL",
        str(recall_id),
        module_instance_id,
        Status.SUCCEEDED,
        facts={"rows_gone": rows_gone, "rows_returned": rows_returned},
    )
