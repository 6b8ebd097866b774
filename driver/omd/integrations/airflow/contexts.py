"""What a run keeps of the task of Airflow for which it runs: its execution context."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any

_log = logging.getLogger("omd.airflow")


def execution_context(context: Any, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the execution context of a run: what the user gives, and which task it is for."""
    ti = context["ti"]
    origin = {
        "dag_id": ti.dag_id,
        "task_id": ti.task_id,
        "run_id": ti.run_id,
        "map_index": ti.map_index,
        "try_number": ti.try_number,
    }
    return {**_lineage_parents(ti), **(given or {}), "airflow": origin}


def _lineage_parents(ti: Any) -> dict[str, str]:
    """Return the ids that Airflow's provider of OpenLineage gives to the task and its DAG run."""
    try:
        from airflow.providers.openlineage import conf
        from airflow.providers.openlineage.plugins import macros
    except ImportError:
        return {}
    try:
        if conf.is_disabled():
            return {}
        return {
            "openlineage_parent_id": macros.lineage_parent_id(ti),
            "openlineage_root_parent_id": macros.lineage_root_parent_id(ti),
        }
    except Exception:  # noqa: BLE001 - a run does not fail because of what others may show
        _log.warning("the OpenLineage parent of the task is not known", exc_info=True)
        return {}


def start_of(context: Any) -> datetime:
    """Return from when on the DAG run reads: its data interval, else when it was due."""
    return _moment(context, "data_interval_start")


def end_of(context: Any) -> datetime:
    """Return up to when the DAG run reads: its data interval, else when it was due."""
    return _moment(context, "data_interval_end")


def _moment(context: Any, name: str) -> datetime:
    moment: datetime = context.get(name) or context["dag_run"].run_after
    return moment


def moment_of(value: str | datetime) -> datetime:
    """Return a moment that a template has rendered as text."""
    moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    if moment.tzinfo is None:
        raise ValueError(f"{moment} has no time zone")
    return moment
