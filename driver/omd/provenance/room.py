"""Provenance as Python sees it: the routines as methods."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from omd._core.calls import Repeat, Routine
from omd.control.connection import Door
from omd.provenance.act import Act, Recalled
from omd.provenance.calls import ProvenanceCalls
from omd.provenance.errors import UnknownRecall
from omd.provenance.rows import (
    PlanRecallAnswer,
    RecallAnswer,
    RecallItemsRow,
    RecallReturnsRow,
    RecallsRow,
    RedeliverAnswer,
)

# What it answers is what it is given too.
_REDELIVER = Routine(
    "omd_provenance.redeliver",
    {"p_recall_id": "bigint", "p_delivery_id": "bigint", "p_files": "jsonb"},
    required=1,
    repeat=Repeat(),
)


class Provenance(Door, ProvenanceCalls):
    """The room provenance: ``control.provenance``.

    Examples:
        with omd.connect() as control:
            planned = control.provenance.plan_recall(delivery_id=7, reason="of another branch")
            for item in control.provenance.items(planned.recall_id):
                print(item.position, item.action, item.module_code, item.rows_go)
            control.provenance.recall(planned.recall_id, accept=["BY_HAND"])
    """

    def items(self, recall_id: int) -> list[RecallItemsRow]:
        """Return the plan of a recall, in the order of the act."""
        return self.report(RecallItemsRow, recall_id=recall_id, order_by=["position"])

    def returns(self, recall_id: int) -> list[RecallReturnsRow]:
        """Return what of a recall must come again from outside, and whether it has."""
        return self.report(RecallReturnsRow, recall_id=recall_id, order_by=["position"])

    def recall_of(self, recall_id: int) -> RecallsRow:
        """Return a recall.

        Raises:
            UnknownRecall: there is none of this id.
        """
        rows = self.report(RecallsRow, recall_id=recall_id)
        if not rows:
            raise UnknownRecall(
                f"there is no recall {recall_id}", hint="omd recall list shows them."
            )
        return rows[0]

    def recall_at_once(
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
            self.control,
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
    ) -> RecallAnswer:
        """Execute a recall; what it takes back in lake tables of our catalogue goes with it.

        It is one transaction of its own. Inside of `control.transaction()`, and where the wait is
        no timedelta, it is the routine alone, to which the lake is PENDING: so is a run that has
        written to a Delta table or to another catalogue. See `ProvenanceCalls.recall`.

        Args:
            recall_id: the recall.
            accept: the actions of the plan that the caller consents to.
            wait: for how long it waits for runs at work; by default a minute.
        """
        if self._link.is_in_transaction or isinstance(wait, str) or recall_id is None:
            return super().recall(recall_id, accept=accept, wait=wait)
        done = Act(
            self.control,
            lambda _: recall_id,
            is_new=False,
            accept=accept or (),
            wait=timedelta(minutes=1) if wait is None else wait,
        ).execute()
        return RecallAnswer(done.module_instance_id, done.rows_gone, done.rows_returned)

    def redeliver(
        self,
        recall_id: int,
        *,
        delivery_id: int | None = None,
        files: Sequence[dict[str, Any]] | None = None,
    ) -> RedeliverAnswer:
        """Create the next delivery that comes again, or find it; see `ProvenanceCalls.redeliver`.

        Args:
            recall_id: the recall.
            delivery_id: only this one; by default any.
            files: the files that are there now; by default nobody has looked.
        """
        seen = None if files is None else list(files)
        return self._answer(_REDELIVER, RedeliverAnswer, recall_id, delivery_id, seen)
