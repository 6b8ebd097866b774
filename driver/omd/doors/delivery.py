"""What Python does for deliveries: it hands over files and DataFrames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from types import EllipsisType
from typing import TYPE_CHECKING, Any

from omd._core.former import refusal
from omd.doors.methods import DeliveryMethods
from omd.rooms.control.connection import Connection, Door
from omd.rooms.delivery.calls import DeliveryCalls
from omd.rooms.delivery.run import DeliveryBlock

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from omd.rooms.control.outcome import Outcome as Outcome


class Delivery(Door, DeliveryMethods):
    """Deliveries of files and DataFrames: ``control.delivery`` (docs/explanation/delivery.md).

    Examples:
        outcome = control.delivery.deliver("nyc", files="2013-01/")
        print(outcome.status, outcome.facts["delivery_status"])
        with control.delivery.create("nyc", entities={"flights": df}) as delivery:
            outcome = delivery.run()
    """

    _formerly = ("omd.Delivery",)

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._calls = DeliveryCalls(self._link)

    if not TYPE_CHECKING:

        def __call__(self, *_: object, **__: object) -> None:
            """Say what has its place."""
            raise TypeError(refusal("omd.Delivery.__call__"))

    def create(
        self,
        agreement_code: str | None = None,
        *,
        snapshot_datetime: datetime | None = None,
        entities: Mapping[str, Any] | None = None,
        files: Any | None = None,
        staging: str | None = None,
        loads: Mapping[str, Any] | Sequence[str] | None = None,
        context: Mapping[str, Any] | None = None,
        delete_type: str | None = None,
        include_existing: bool | None = None,
        allow_deletes: Sequence[str] | None = None,
        dry_run: bool | None = None,
        message: Mapping[str, Any] | None = None,
        delivery_id: int | None = None,
        wait: timedelta = timedelta(minutes=10),
        spark: SparkSession | None = None,
        lease: timedelta | EllipsisType | None = ...,
    ) -> DeliveryBlock:
        """Return a delivery as a block, which creates it; its `run` runs it.

        It is handed over in one way: ``entities``, ``files`` or ``staging``. It delivers what is
        there, and what ``loads`` names.

        Args:
            agreement_code: the agreement under which it is delivered.
            snapshot_datetime: the time T of the data; by default now.
            entities: DataFrames, or paths of files, by entity.
            files: a folder of ``<entity>.csv``, ``.json`` (lines), ``.parquet``, or of folders so
                named; nothing in it is changed.
            staging: ``"postgres"``: the staging tables of the agreement, which the creation
                empties; they are filled inside the block.
            loads: how entities are loaded: what ``p_entities`` of create_delivery takes.
            context: the keys that the delivery is about, {entity: [{attribute: value}]}.
            delete_type: LOGICAL or PHYSICAL.
            include_existing: previous versions of skipped rows stand for them.
            allow_deletes: entities whose threshold of deletes is lifted this once.
            dry_run: it is validated without effect.
            message: the words of the sender.
            delivery_id: resume this delivery instead of creating one; its data is read again.
            wait: for how long it waits until it may begin.
            spark: the session; by default that of the control, or the active one, or a new one.
            lease: a lease other than that of the control; None for none.
        """
        return DeliveryBlock(
            self._control,
            self._calls,
            agreement_code,
            created={
                "snapshot_datetime": snapshot_datetime,
                "context": context,
                "delete_type": delete_type,
                "include_existing": include_existing,
                "allow_deletes": allow_deletes,
                "dry_run": dry_run,
                "message": message,
            },
            loads=loads,
            entities=entities,
            files=None if files is None else str(files),
            staging=staging,
            delivery_id=delivery_id,
            wait=wait,
            spark=spark,
            lease=lease,
        )

    def deliver(
        self,
        agreement_code: str | None = None,
        *,
        snapshot_datetime: datetime | None = None,
        entities: Mapping[str, Any] | None = None,
        files: Any | None = None,
        staging: str | None = None,
        loads: Mapping[str, Any] | Sequence[str] | None = None,
        context: Mapping[str, Any] | None = None,
        delete_type: str | None = None,
        include_existing: bool | None = None,
        allow_deletes: Sequence[str] | None = None,
        dry_run: bool | None = None,
        message: Mapping[str, Any] | None = None,
        delivery_id: int | None = None,
        wait: timedelta = timedelta(minutes=10),
        spark: SparkSession | None = None,
        lease: timedelta | EllipsisType | None = ...,
    ) -> Outcome[None]:
        """Deliver, and wait for the end; the arguments are those of `create`.

        A delivery that could not begin in time is an outcome too, with the status A.
        """
        with self.create(
            agreement_code,
            snapshot_datetime=snapshot_datetime,
            entities=entities,
            files=files,
            staging=staging,
            loads=loads,
            context=context,
            delete_type=delete_type,
            include_existing=include_existing,
            allow_deletes=allow_deletes,
            dry_run=dry_run,
            message=message,
            delivery_id=delivery_id,
            wait=wait,
            spark=spark,
            lease=lease,
        ) as block:
            return block.run()
