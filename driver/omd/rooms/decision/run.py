"""A run of a stage, and what became of it (docs/explanation/decision.md, rule C7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, NoReturn

import psycopg

from omd._core.calls import Routine
from omd._core.engines import POSTGRES
from omd._core.errors import one_line, recorded_instance
from omd._core.link import Link
from omd.rooms.control.codes import Status
from omd.rooms.control.outcome import Outcome
from omd.rooms.control.run import Batch
from omd.rooms.decision.calls import DecisionCalls
from omd.rooms.decision.rows import DecisionRunLogRow

_RAISE_ERROR = Routine(
    "omd.raise_error", {"p_sqlstate": "text", "p_detail": "jsonb"}, required=2, is_function=True
)


KIND = "STAGE"


def run_in_database(
    link: Link,
    stage: str,
    batch: Batch | int | None,
    end_value: datetime | None,
    effective_at: datetime | None,
    end_id: int | None = None,
) -> Outcome[None]:
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
        return ended(
            stage,
            recorded_instance(error),
            Status.FAILED,
            POSTGRES,
            detail=one_line(error),
            error=error,
        )
    return ended(
        stage,
        answer.module_instance_id,
        answer.execution_status_code,
        POSTGRES,
        detail=answer.detail,
    )


def ended(
    stage: str, instance: int | None, status: Status, engine: str, **why: Any
) -> Outcome[None]:
    """Return the outcome of a run of a stage; the counts are still missing."""
    return Outcome(KIND, stage, instance, status, facts={"engine": engine}, **why)


def outcome_of(calls: DecisionCalls, ended: Outcome[None]) -> Outcome[None]:
    """Return the outcome of a run that has ended, with the counts of the database."""
    if not ended.succeeded:
        return ended
    [run] = calls.report(DecisionRunLogRow, module_instance_id=ended.instance_id)
    counts = {
        "waves": run.waves,
        "cycles": run.cycles,
        "rows_input": run.rows_input,
        "rows_output": run.rows_inserted,
        "rows_rejected": run.rows_rejected,
    }
    return replace(ended, facts={**ended.facts, **counts})


def raise_error(calls: DecisionCalls, sqlstate: str, detail: Mapping[str, Any]) -> NoReturn:
    """Let the database raise an error of its catalogue."""
    calls._value(_RAISE_ERROR, sqlstate, detail)
    raise AssertionError(sqlstate)
