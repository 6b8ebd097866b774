"""Dagster in one process: a line of stdin says what to do, a line of stdout is the answer."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import dagster as dg

from omd.integrations.dagster import omd_definitions

answers = os.fdopen(os.dup(1), "w")
printed = os.open("dagster.out", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
for stream in (1, 2):
    os.dup2(printed, stream)
instance = dg.DagsterInstance.ephemeral()


def plain(metadata: Any) -> dict[str, Any]:
    return {name: value.value for name, value in metadata.items()}


def event(given: Any) -> dict[str, Any]:
    if isinstance(given, dg.AssetCheckEvaluation):
        return {
            "check": f"{given.asset_key.to_user_string()}:{given.check_name}",
            "passed": given.passed,
            "severity": given.severity.value,
            **plain(given.metadata),
        }
    kind = "observed" if isinstance(given, dg.AssetObservation) else "made"
    return {kind: given.asset_key.to_user_string(), **plain(given.metadata)}


def describe(defs: dg.Definitions, _asked: Any) -> Any:
    graph = defs.resolve_asset_graph()
    return {
        "assets": {
            key.to_user_string(): {
                "deps": sorted(parent.to_user_string() for parent in graph.get(key).parent_keys),
                "executable": graph.get(key).is_executable,
            }
            for key in graph.get_all_asset_keys()
        },
        "checks": sorted(
            f"{k.asset_key.to_user_string()}:{k.name}" for k in graph.asset_check_keys
        ),
    }


def materialize(defs: dg.Definitions, asked: Any) -> Any:
    keys = [dg.AssetKey(path) for path in asked["assets"]]
    job = defs.resolve_implicit_global_asset_job_def()
    done = job.execute_in_process(instance=instance, asset_selection=keys, raise_on_error=False)
    failures = [
        str(e.step_failure_data.user_failure_data.description)
        if e.step_failure_data.user_failure_data
        else str(e.step_failure_data.error)
        for e in done.all_events
        if e.is_step_failure
    ]
    return {
        "success": done.success,
        "failures": failures,
        "run_id": done.run_id,
        "events": [
            event(e.step_materialization_data.materialization)
            for e in done.all_events
            if e.event_type_value == "ASSET_MATERIALIZATION"
        ],
    }


def sense(defs: dg.Definitions, asked: Any) -> Any:
    context = dg.build_sensor_context(instance=instance, cursor=asked["cursor"], definitions=defs)
    result = defs.get_sensor_def("omd_events").evaluate_tick(context)
    return {"cursor": result.cursor, "events": [event(e) for e in result.asset_events or ()]}


for line in sys.stdin:
    asked = json.loads(line)
    answer = globals()[asked["do"]](omd_definitions(asked["dsn"]), asked)
    print(json.dumps(answer), file=answers, flush=True)
