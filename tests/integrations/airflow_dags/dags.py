"""DAGs of tests. As a program it runs those that are named, and writes what became of them."""

from __future__ import annotations

import json
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

from airflow.sdk import DAG

from omd.integrations.airflow import (
    OmdBatchOperator,
    OmdDeliverySensor,
    OmdModuleOperator,
    OmdRunSensor,
    OmdTopicSensor,
)

LONG_AGO = datetime(2020, 1, 1, tzinfo=timezone.utc)
DAY = datetime(2026, 1, 2, tzinfo=timezone.utc)
SOON = {"abort_timeout": timedelta(seconds=1), "abort_interval": 0.5}


DAGS: dict[str, DAG] = {}


def dag(name: str, **options: object) -> DAG:
    # Airflow finds what stands in globals.
    DAGS[name] = globals()[name] = DAG(name, schedule=None, start_date=LONG_AGO, **options)
    return DAGS[name]


for way, deferrable in (("here", False), ("deferred", True)):
    with dag(f"done_{way}"):
        OmdBatchOperator(task_id="batch", batch_code="b_done", deferrable=deferrable)
        OmdModuleOperator(
            task_id="module",
            module_code="m_{{ dag.dag_id[:4] }}",
            execution_context={"for": "{{ dag.dag_id }}"},
            deferrable=deferrable,
        )

    # Each ends in another state. With retries a task that fails would be tried again.
    with dag(f"ends_{way}", default_args={"retries": 1, "retry_delay": timedelta(seconds=0)}):
        OmdModuleOperator(task_id="skipped", module_code="m_inactive", deferrable=deferrable)
        OmdModuleOperator(task_id="fails", module_code="m_fails", deferrable=deferrable)
        OmdModuleOperator(
            task_id="busy", module_code="m_busy", deferrable=deferrable, retries=0, **SOON
        )
        OmdModuleOperator(task_id="unknown", module_code="m_unknown", deferrable=deferrable)
        OmdModuleOperator(task_id="unready", module_code="m_unready", deferrable=deferrable)

    with dag(f"sensors_{way}", default_args={"poke_interval": 0.2, "timeout": 60}):
        OmdRunSensor(task_id="run", code="m_seen", since=LONG_AGO, deferrable=deferrable)
        OmdRunSensor(
            task_id="batch", code="b_seen", subject="batch", since=LONG_AGO, deferrable=deferrable
        )
        OmdTopicSensor(task_id="topic", topic="app.events", upto=LONG_AGO, deferrable=deferrable)
        OmdDeliverySensor(
            task_id="unknown", agreement="a_unknown", since=LONG_AGO, deferrable=deferrable
        )

with dag("later"):
    OmdRunSensor(task_id="run", code="m_later", deferrable=True, timeout=60)

with dag("waits"):
    OmdModuleOperator(task_id="long", module_code="m_long")

with dag("slow"):
    OmdModuleOperator(task_id="long", module_code="m_slow", execution_timeout=timedelta(seconds=1))


def run(name: str) -> dict[str, object]:
    """Run a DAG, and return the state of each task, its tries, what it answered and its link."""
    from airflow.models.xcom import XComModel
    from airflow.utils.session import create_session
    from sqlalchemy import select

    done = DAGS[name].test(logical_date=DAY)
    with create_session() as session:
        rows = session.execute(
            select(XComModel.task_id, XComModel.key, XComModel.value).where(
                XComModel.dag_id == name, XComModel.run_id == done.run_id
            )
        )
        xcoms = {(task, key): value for task, key, value in rows}
        return {
            ti.task_id: {
                "state": ti.state,
                "tries": ti.try_number,
                "value": xcoms.get((ti.task_id, "return_value")),
                "link": xcoms.get((ti.task_id, "_link_OmdRunLink")),
                "run_id": done.run_id,
            }
            for ti in done.get_task_instances(session=session)
        }


if __name__ == "__main__":
    import nightly  # of the how-to page; Airflow finds its DAG there

    DAGS["nightly"] = nightly.dag
    file, *names = sys.argv[1:]
    Path(file).write_text(json.dumps({name: run(name) for name in names}))
