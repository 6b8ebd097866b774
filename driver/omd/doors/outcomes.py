"""What the database knows of a run that has ended, as the facts of its outcome."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from omd._core.engines import POSTGRES
from omd.rooms.control.rows import TraceRow
from omd.rooms.decision.calls import DecisionCalls
from omd.rooms.decision.run import outcome_of

if TYPE_CHECKING:
    from omd.rooms.control.connection import Connection
    from omd.rooms.control.outcome import Outcome

_ROWS = ("input", "inserted", "updated", "deleted", "discarded", "rejected")


def with_facts(control: Connection, outcome: Outcome[Any]) -> Outcome[Any]:
    """Return the outcome of a run in the database with what that has recorded of it."""
    if not outcome.succeeded or outcome.kind not in ("TOPIC", "FACTS", "STAGE"):
        return outcome
    if outcome.kind == "STAGE":
        there = replace(outcome, facts={"engine": POSTGRES})
        return outcome_of(DecisionCalls(control._link), there)
    [run] = control.report(TraceRow, module_instance_id=outcome.instance_id)
    facts: dict[str, Any]
    if outcome.kind == "TOPIC":
        facts = {
            "rows": run.rows_inserted,
            "start": (run.window_start_value, run.window_start_id),
            "end": (run.window_end_value, run.window_end_id),
        }
    else:
        facts = {"rows": {name: getattr(run, f"rows_{name}") for name in _ROWS}}
    return replace(outcome, facts={**facts, **outcome.facts})
