"""The blocks that a connection makes: Batches and Modules (docs/explanation/jobs.md, rule J1)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import timedelta
from types import EllipsisType
from typing import TYPE_CHECKING, Any

from typing_extensions import Self

from omd.rooms.control.connection import Connection
from omd.rooms.control.run import (
    BATCH_VARIABLE,
    Batch,
    Run,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Blocks(Connection):
    """A connection that makes blocks around jobs."""

    def batch(
        self,
        code: str,
        *,
        parent: Batch[Any] | int | None = None,
        force: bool = False,
        join: bool = False,
        lease: timedelta | EllipsisType | None = ...,
        context: Mapping[str, Any] | None = None,
    ) -> Batch[Self]:
        """Return a Batch as a block (rules P1 and P4).

        Args:
            code: the code of the Batch.
            parent: the Batch, or the Batch Instance ID, that this one is part of.
            force: run although the frequency says that it is too early.
            join: join the Batch Instance of OMD_BATCH_INSTANCE_ID where that is set, and begin one
                where it is not. Leaving the block does not end a Batch that was joined: the process
                that began it does.
            lease: a lease other than that of this control; None for none.
            context: values to add to the execution context.

        Raises, on entering the block:
            Skipped: there is no need to run now.
            Aborted: it must not run now.
        """
        return Batch(
            self,
            code,
            parent=parent if isinstance(parent, Batch) else None,
            parent_batch_instance_id=instance_of(parent),
            force=force,
            lease=lease,
            context=context,
            joined=environment_batch() if join else None,
        )

    def module(
        self,
        code: str,
        *,
        batch: Batch[Any] | int | None = None,
        lease: timedelta | EllipsisType | None = ...,
        spark: SparkSession | None = None,
        rollback_executor: Callable[[str], object] | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> Run[Self]:
        """Return a Module as a block, alone or in the Batch of OMD_BATCH_INSTANCE_ID (rule P5).

        Args:
            code: the code of the Module.
            batch: the Batch, or the Batch Instance ID, that it is part of; 0 for none, whatever the
                environment says.
            lease: a lease other than that of this control; None for none.
            spark: the Spark session of this run.
            rollback_executor: executes one Spark SQL statement of a rollback.
            context: values to add to the execution context.

        Raises, on entering the block:
            Skipped: there is no need to run now.
            Aborted: it must not run now.
        """
        return Run(
            self,
            code,
            batch=batch if isinstance(batch, Batch) else None,
            batch_instance_id=_instance_or_environment(batch),
            lease=lease,
            spark=spark,
            rollback_executor=rollback_executor,
            context=context,
        )


def _instance_or_environment(batch: Batch[Any] | int | None) -> int | None:
    """Return the Batch Instance of a Module: the given one, else that of the environment."""
    return environment_batch() if batch is None else instance_of(batch)


def instance_of(batch: Batch[Any] | int | None) -> int | None:
    """Return the Batch Instance of a Batch that is given as a block or by its ID; None: none is."""
    return batch if batch is None or isinstance(batch, int) else batch.instance_id


def environment_batch() -> int | None:
    """Return the Batch Instance that OMD_BATCH_INSTANCE_ID names; None: it names none."""
    text = os.environ.get(BATCH_VARIABLE)
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{BATCH_VARIABLE} is not a Batch Instance ID: {text!r}") from None
