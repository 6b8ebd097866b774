"""Modules of every kind, and Batches of them, as the driver and its commands perform them."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import omd
from omd.doors.task import Task
from omd.programs.worker.handlers import (
    Ending,
    TaskType,
    run_in_database,
    run_in_python,
)

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    from kinds.conftest import Platform

    Omd = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def control(platform: Platform, dsn: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[omd.Control]:
    monkeypatch.syspath_prepend(Path(__file__).parent)
    platform.conn.execute("CREATE TABLE app.job (v integer, omd_insert_module_instance_id bigint)")
    with omd.connect(dsn, lease=None) as control:
        control.calls.omd.register_module(
            "job", area_code="INT", table_code="app.job", table_type_code="HUB",
            job="jobs_of_kinds:load",
        )  # fmt: skip
        yield control


def mixed(platform: Platform, **attributes: Any) -> None:
    """A Batch of the database's Modules around a job, with a child Batch of the job's kind."""
    platform.night("mixed", "made", "job", "app.dst")
    platform.call("omd.register_batch", batch_code="mixed", **attributes)


def test_perform_runs_a_job_inside_its_module(platform: Platform, control: omd.Control) -> None:
    done = control.run("job", context={"dag": "nightly"})
    assert (done.status, done.detail, done.succeeded) == ("S", None, True)
    assert platform.values_of("job") == [1]
    (row,) = platform.rows(
        "SELECT rows_inserted, execution_context FROM omd.module_instance"
        " WHERE module_instance_id = %s",
        done.instance_id,
    )
    assert row["rows_inserted"] == 1
    assert row["execution_context"]["dag"] == "nightly"
    assert row["execution_context"]["job"] == "jobs_of_kinds.load"
    control.calls.omd.register_module("job", inactive_indicator="Y")
    skipped = control.run("job")
    assert (skipped.status, skipped.instance_id, skipped.detail) == ("C", None, "INACTIVE")


def test_programs_of_a_former_version_run(platform: Platform, control: omd.Control) -> None:
    """Their kind was SPARK: with a newer client, and until an upgrade has changed the rows."""
    platform.owner(
        "INSERT INTO omd.module_kind (module_kind_code) VALUES ('SPARK');"
        "INSERT INTO omd.room_hook (hook, for_code, room, routine) VALUES"
        " ('BEGIN_RUN', 'SPARK', 'omd', 'omd.begin_run'),"
        " ('END_RUN', 'SPARK', 'omd', 'omd.end_run');"
        "UPDATE omd.module SET module_kind_code = 'SPARK', engine_code = 'SPARK'"
        " WHERE module_code = 'job'"
    )
    assert control.run("job").succeeded
    given = platform.go("job", executable="INSERT INTO app.job VALUES (2)")
    assert given["execution_status_code"] == "S"
    assert platform.values_of("job") == [1, 2]
    runs = "SELECT cardinality(p_standing) FROM omd._recall_runs(ARRAY(SELECT module_instance_id"
    assert platform.one(f"{runs} FROM omd.module_instance))") == 2
    control.calls.omd.register_module("job", module_description="as it is now")
    assert control.calls.omd.module_definition("job").module_kind_code == "JOB"


def test_perform_runs_what_the_database_performs_there(
    platform: Platform, control: omd.Control
) -> None:
    platform.queue(1, item=[("N", 1, 10)])
    platform.come(1, 2, 3)
    for code in ("made", "facts.shop", "app.dst", "s"):
        assert control.run(code).succeeded, code
    assert control.run("facts.shop").status == "C"
    for code in ("delivery.a",):
        nothing = control.run(code)
        assert (nothing.status, nothing.instance_id) == ("C", None)


def test_what_nobody_can_perform_is_refused(platform: Platform, control: omd.Control) -> None:
    control.calls.omd.register_module("job", job="")
    with pytest.raises(omd.errors.lookup("OM214")) as caught:
        control.run("job")
    assert "p_job" in (caught.value.diag.message_hint or "")
    with pytest.raises(omd.errors.lookup("OM219")):
        control.run("lvl.shop.item")
    with pytest.raises(omd.errors.lookup("OM002")):
        control.run("none")
    with pytest.raises(omd.errors.lookup("OM001")):
        control.run_batch("none")
    control.calls.omd.register_module("job", job="jobs_of_kinds:missing")
    with pytest.raises(ImportError, match="jobs_of_kinds:missing"):
        control.run("job")
    assert platform.one("SELECT count(*) FROM omd.module_instance WHERE module_id > 0") == 0


def test_a_job_that_fails_is_recorded_and_returned(
    platform: Platform, control: omd.Control
) -> None:
    control.calls.omd.register_module("job", job="jobs_of_kinds:fail")
    failed = control.run("job")
    assert failed.status == "F"
    assert failed.detail == "RuntimeError: job is bad"
    assert isinstance(failed.error, RuntimeError)
    control.calls.omd.register_module("job", job="jobs_of_kinds:load")
    assert control.run("job").succeeded
    assert platform.values_of("job") == [1]


def test_a_batch_of_mixed_kinds_goes_on_where_it_stopped(
    platform: Platform, control: omd.Control
) -> None:
    platform.come(1, 2, 3, 4, 5)
    mixed(platform)
    control.calls.omd.register_module("job", job="jobs_of_kinds:fail")
    with pytest.raises(omd.errors.lookup("OM214")):
        control.calls.omd.run_batch("mixed")
    failed = control.run_batch("mixed")
    assert (failed.status, failed.detail) == ("F", "Module job failed")
    assert isinstance(failed.error, omd.errors.lookup("OM142"))
    assert failed.instance_id is not None
    assert platform.of_batch(failed.instance_id) == [("made", "S"), ("job", "F")]
    event = (
        "SELECT event_return_code_details AS code, event_detail AS text FROM omd.event_log"
        " WHERE batch_instance_id = %s AND module_instance_id = 0"
    )
    assert platform.rows(event, failed.instance_id) == [
        {"code": "MEMBER FAILED", "text": "Module job failed"}
    ]
    control.calls.omd.register_module("job", job="jobs_of_kinds:load")
    done = control.run_batch("mixed")
    assert done.succeeded
    assert done.instance_id is not None
    assert platform.of_batch(done.instance_id) == [
        ("made", "C"),
        ("job", "S"),
        ("app.dst", "S"),
        ("app.dst", "S"),
    ]
    assert platform.values_of("dst") == [1, 2, 3, 4]
    assert platform.values_of("made") == [1]


def test_a_batch_goes_on_behind_a_failure_when_it_says_so(
    platform: Platform, control: omd.Control
) -> None:
    platform.come(1, 2, 3)
    mixed(platform, continue_on_failure=True)
    platform.night("below", "job")
    platform.call("omd.add_batch_to_parent_batch", batch_code="below", parent_batch_code="mixed")
    control.calls.omd.register_module("job", job="jobs_of_kinds:missing")
    failed = control.run_batch("mixed")
    assert failed.status == "F"
    assert failed.detail is not None
    lines = platform.one(
        "SELECT event_detail FROM omd.event_log WHERE batch_instance_id = %s"
        " AND module_instance_id = 0",
        failed.instance_id,
    ).splitlines()
    assert lines == ["Module job failed", "Batch below failed"]
    assert platform.values_of("dst") == [1, 2]
    platform.call("omd.register_batch", batch_code="mixed", inactive_indicator="Y")
    skipped = control.run_batch("mixed")
    assert (skipped.status, skipped.detail) == ("C", "INACTIVE")


def test_a_batch_of_the_database_alone_is_run_there(
    platform: Platform, control: omd.Control
) -> None:
    done = control.run_batch("night")
    assert done.succeeded
    (row,) = platform.rows(
        "SELECT is_session_bound FROM omd.batch_instance WHERE batch_instance_id = %s",
        done.instance_id,
    )
    assert row["is_session_bound"]


@pytest.mark.spark
def test_commands_run_modules_and_batches_of_every_kind(
    platform: Platform, control: omd.Control, omd_here: Omd, dsn: str
) -> None:
    mixed(platform)
    done = omd_here("run", "batch:mixed", dsn=dsn)
    assert done.returncode == 0, done.stderr
    assert omd_here("run", "job", dsn=dsn).returncode == 0
    nothing = omd_here("run", "facts.shop", dsn=dsn)
    assert nothing.returncode == 3
    control.calls.omd.register_module("job", job="jobs_of_kinds:fail")
    failed = omd_here("run", "job", dsn=dsn)
    assert failed.returncode == 1
    assert "job is bad" in failed.stderr
    part = omd_here("run", "lvl.shop.item", dsn=dsn)
    assert part.returncode == 1
    assert "OM219" in part.stderr
    given = omd_here(
        "call", "run_module", "--module-code", "job", "--executable", "SELECT 1", dsn=dsn
    )
    assert given.returncode == 0
    assert isinstance(platform.conn, psycopg.Connection)


@pytest.mark.spark
def test_a_task_whose_module_needs_a_process_is_performed_there(
    platform: Platform, control: omd.Control
) -> None:
    mixed(platform)
    for handler, code in (("MODULE", "job"), ("BATCH", "mixed")):
        kind = TaskType("RUN", handler, handler, None, "", None)
        now = datetime.now(timezone.utc)
        task = Task(None, 1, "RUN", handler, f'{{"CODE": "{code}"}}', None, now, 1, 1, 0)
        task._opens(lambda _task: control)
        assert run_in_database(task, kind, control._new_link()) is None, code
        assert run_in_python(task, kind) == Ending("S"), code
    assert platform.values_of("job") == [1, 1]
    kind = TaskType("RUN", "MODULE", "MODULE", None, "", None)
    nothing = Task(None, 1, "RUN", "MODULE", '{"CODE": "facts.shop"}', None, now, 1, 1, 0)
    assert run_in_database(nothing, kind, control._new_link()) == Ending("C")
