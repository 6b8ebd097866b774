"""A run of a stage, and what became of it (docs/explanation/decision.md, rule C7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NoReturn

import psycopg

from omd._core.calls import Routine
from omd._core.engines import POSTGRES
from omd._core.errors import one_line, recorded_instance
from omd._core.link import Link
from omd.rooms.control.codes import Status
from omd.rooms.control.run import Batch
from omd.rooms.decision.calls import DecisionCalls
from omd.rooms.decision.rows import DecisionRunLogRow

_RAISE_ERROR = Routine(
    "omd.raise_error", {"p_sqlstate": "text", "p_detail": "jsonb"}, required=2, is_function=True
)


@dataclass(frozen=True, slots=True)
class DecisionOutcome:
    """What became of a run of a stage (docs/explanation/decision.md, rule C7).

    Attributes:
        stage: the stage.
        module_instance_id: its Module Instance; None where there was none: its window has nothing
            to read, and the status is C.
        status: the execution status: S, F, C or A.
        engine: POSTGRES or SPARK.
        waves: how many waves it had; None where it has not succeeded, as for the other counts.
        cycles: how many attempts succeeded.
        invocations: how often the ruleset was called.
        rows_input: how many records were read.
        rows_output: how many output records were written.
        rows_rejected: how many records were rejected.
        detail: why it has failed, in one line.
        error: the exception of a run that was cancelled, or of a job on Spark.
    """

    stage: str
    module_instance_id: int | None
    status: Status
    engine: str
    waves: int | None = None
    cycles: int | None = None
    invocations: int | None = None
    rows_input: int | None = None
    rows_output: int | None = None
    rows_rejected: int | None = None
    detail: str | None = None
    error: BaseException | None = None

    @property
    def succeeded(self) -> bool:
        """Whether it ran to its end."""
        return self.status is Status.SUCCEEDED


def run_in_database(
    link: Link,
    stage: str,
    batch: Batch | int | None,
    end_value: datetime | None,
    effective_at: datetime | None,
    end_id: int | None = None,
) -> DecisionOutcome:
    """Run a stage over a connection that nobody else uses; the counts are still missing."""
    try:
        answer = DecisionCalls(link).run_stage(
            stage,
            batch_instance_id=batch.instance_id if isinstance(batch, Batch) else batch,
            end_value=end_value,
            effective_at=effective_at,
            end_id=end_id,
        )
    except psycopg.errors.QueryCanceled as error:
        return DecisionOutcome(
            stage,
            recorded_instance(error),
            Status.FAILED,
            POSTGRES,
            detail=one_line(error),
            error=error,
        )
    return DecisionOutcome(
        stage,
        answer.module_instance_id,
        answer.execution_status_code,
        POSTGRES,
        detail=answer.detail,
    )


def outcome_of(calls: DecisionCalls, ended: DecisionOutcome) -> DecisionOutcome:
    """Return the outcome of a run that has ended, with the counts of the database."""
    if not ended.succeeded:
        return ended
    [run] = calls.report(DecisionRunLogRow, module_instance_id=ended.module_instance_id)
    return replace(
        ended,
        waves=run.waves,
        cycles=run.cycles,
        invocations=run.invocations,
        rows_input=run.rows_input,
        rows_output=run.rows_inserted,
        rows_rejected=run.rows_rejected,
    )


def raise_error(calls: DecisionCalls, sqlstate: str, detail: Mapping[str, Any]) -> NoReturn:
    """Let the database raise an error of its catalogue."""
    calls._value(_RAISE_ERROR, sqlstate, detail)
    raise AssertionError(sqlstate)
