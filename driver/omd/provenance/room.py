"""Provenance as Python sees it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from omd.control.connection import Door
from omd.provenance.calls import ProvenanceCalls
from omd.provenance.errors import PlanChanged, UnknownRecall
from omd.provenance.rows import (
    PlanRecallAnswer,
    RecallItemsRow,
    RecallReturnsRow,
    RecallsRow,
)

# How often a plan is made again when others come between it and its act.
_TRIES = 3


class Recalled(NamedTuple):
    """A recall that was planned and executed at once."""

    recall_id: int
    module_instance_id: int
    rows_gone: int
    rows_returned: int


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

        def plan() -> PlanRecallAnswer:
            return self.plan_recall(
                module_instance_id=module_instance_id,
                delivery_id=delivery_id,
                batch_instance_id=batch_instance_id,
                agreement_code=agreement_code,
                since=since,
                is_stale=is_stale,
                reason=reason,
                awaits_correction=awaits_correction,
            )

        with self._link.transaction() as connection:
            for left in reversed(range(_TRIES)):
                with connection.transaction(force_rollback=True):
                    self.wait_for_runs(plan().recall_id, wait=wait)
                try:
                    with connection.transaction():
                        planned = plan()
                        done = self.recall(planned.recall_id, accept=accept, wait=wait)
                        return Recalled(
                            planned.recall_id,
                            done.module_instance_id,
                            done.rows_gone,
                            done.rows_returned,
                        )
                except PlanChanged:
                    if not left:
                        raise
        raise AssertionError("it returns or raises")
