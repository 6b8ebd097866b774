"""The blocks that a connection makes: Batches and Modules (docs/explanation/jobs.md, rule J1)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import timedelta
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from typing_extensions import Self

from omd.rooms.control.connection import Connection
from omd.rooms.control.outcome import Outcome
from omd.rooms.control.run import (
    BATCH_VARIABLE,
    Batch,
    ModuleRun,
    call_job,
    make_decorator,
    with_checksum,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


P = ParamSpec("P")
T = TypeVar("T")


class Blocks(Connection):
    """A connection that makes blocks around jobs."""

    def batch(
        self,
        code: str,
        *,
        parent: Batch[Any] | int | None = None,
        force: bool = False,
        lease: timedelta | EllipsisType | None = ...,
        context: Mapping[str, Any] | None = None,
    ) -> Batch[Self]:
        """Return a Batch as a block (rules P1 and P4).

        Args:
            code: the code of the Batch.
            parent: the Batch, or the Batch Instance ID, that this one is part of.
            force: run although the frequency says that it is too early.
            lease: a lease other than that of this control; None for none.
            context: values to add to the execution context.

        Raises, on entering the block:
            Skipped: there is no need to run now.
            Aborted: it must not run now.
        """
        instance = parent.batch_instance_id if isinstance(parent, Batch) else parent
        return Batch(
            self,
            code,
            parent=parent if isinstance(parent, Batch) else None,
            parent_batch_instance_id=instance,
            force=force,
            lease=lease,
            context=context,
        )

    def batch_from_environment(self) -> Batch[Self] | None:
        """Return the Batch that OMD_BATCH_INSTANCE_ID names, as a block; None when it names none.

        Leaving the block does not end the Batch: the process that began it does.
        ``with control.batch_from_environment() or control.batch("b_x") as batch:`` joins a Batch
        where the variable is set, and begins one where it is not.
        """
        instance = _environment_batch()
        return None if instance is None else Batch(self, None, joined=instance)

    def module(
        self,
        code: str,
        *,
        batch_instance_id: int | None = None,
        lease: timedelta | EllipsisType | None = ...,
        spark: SparkSession | None = None,
        rollback_executor: Callable[[str], object] | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> ModuleRun[Self]:
        """Return a Module as a block, alone or in the Batch of OMD_BATCH_INSTANCE_ID (rule P5).

        Args:
            code: the code of the Module.
            batch_instance_id: the Batch Instance to join; 0 for none, whatever the environment
                says.
            lease: a lease other than that of this control; None for none.
            spark: the Spark session of this run.
            rollback_executor: executes one Spark SQL statement of a rollback.
            context: values to add to the execution context.

        Raises, on entering the block:
            Skipped: there is no need to run now.
            Aborted: it must not run now.
        """
        return ModuleRun(
            self,
            code,
            batch_instance_id=(
                _environment_batch() if batch_instance_id is None else batch_instance_id
            ),
            lease=lease,
            spark=spark,
            rollback_executor=rollback_executor,
            context=context,
        )

    def run(self, code: str, job: Callable[[ModuleRun[Self]], T], **options: Any) -> Outcome[T]:
        """Call ``job(run)`` if the Module may proceed, and return the outcome; see `Batch.run`."""
        return call_job(self.module(code, **with_checksum(options, job)), job)

    def module_job(
        self, code: str, **options: Any
    ) -> Callable[[Callable[Concatenate[ModuleRun[Self], P], T]], Callable[P, Outcome[T]]]:
        """Return a decorator: a call of the function runs it as this Module, as `run` does.

        The first parameter of the function is the run; the caller gives the others.
        """
        return make_decorator(lambda **more: self.module(code, **more), options)


def _environment_batch() -> int | None:
    text = os.environ.get(BATCH_VARIABLE)
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{BATCH_VARIABLE} is not a Batch Instance ID: {text!r}") from None
