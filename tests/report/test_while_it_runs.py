"""While a failed Module runs again, nobody is told to start it; why it failed is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from support.flow import Flow

    Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("hint", [None, "airflow: dag nightly"])
def test_while_a_retry_runs_nobody_is_told_to_start_it(
    flow: Flow, omd_here: Command, dsn: str, hint: str | None
) -> None:
    flow.module("m", start_hint=hint)
    first = int(flow.call("begin_module", module_code="m")["module_instance_id"])
    flow.call("module_failure", module_instance_id=first, event_detail="disk full on h1\nline 2")
    told = omd_here("status", dsn=dsn).stdout
    assert "Start its job again" in told
    assert "disk full on h1" in told.partition("Problems")[2].partition("\n\n")[0]
    run = int(flow.call("begin_module", module_code="m")["module_instance_id"])
    for command in (("status",), ("status", "--output", "json"), ("show", str(first))):
        done = omd_here(*command, dsn=dsn)
        assert "Start its job again" not in done.stdout, done.stdout
        assert f"omd end run:{run}" in done.stdout
    for view in ("omd_report.problems", "omd_report.todo"):
        rows = flow.rows(f"SELECT t::text FROM {view} AS t")
        assert [row for row in rows if "Start its job again" in str(row)] == []
    done = omd_here("retry", "m", dsn=dsn)
    assert "Start its job again" not in done.stderr
    assert f"Module Instance {run} executes" in done.stderr
    flow.call("module_failure", module_instance_id=run, event_detail="disk full again")
    problems = omd_here("status", dsn=dsn).stdout.partition("Problems")[2].partition("\n\n")[0]
    assert "Start its job again" in problems
    assert "disk full again" in problems


def test_while_sql_runs_again_nobody_is_told_to_run_it(
    flow: Flow, omd_here: Command, dsn: str
) -> None:
    flow.module("m", executable="SELECT 1 / 0")
    first = int(flow.call("begin_module", module_code="m")["module_instance_id"])
    flow.call("module_failure", module_instance_id=first, event_detail="no")
    run = int(flow.call("begin_module", module_code="m")["module_instance_id"])
    done = omd_here("status", dsn=dsn)
    assert "omd run m" not in done.stdout
    assert "omd retry m" not in done.stdout
    assert f"omd end run:{run}" in done.stdout
