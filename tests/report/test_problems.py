"""Each problem is seen in `omd_report.problems`, and is gone when its way out was taken."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from delivery.runs import Shop
from delivery.test_arrivals import Drop, file, folder
from dispatch.conftest import Room
from facts.conftest import store
from facts.test_stages import define
from facts.test_stages import shop as decisions
from facts.test_topics import load, revert, shop, steps, topic
from support.flow import PASSED, Flow

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    import psycopg

    from facts.store import Store
    from support.scene import Scene

    Connection = psycopg.Connection[dict[str, Any]]
    Command = Callable[..., subprocess.CompletedProcess[str]]

__all__ = ["decisions", "shop", "store"]

HOSTILE = ["a b", 'it\'s; rm -rf "$HOME" `id`', "-rf", "\x1b[31mé\n|", "--help", "$(id)"]
COLUMNS = "problem_code severity room object_kind object_key subject since text way_out"


class Seen:
    """What is seen of problems over one connection, and their ways out on a shell."""

    def __init__(self, conn: Connection, command: Command, dsn: str) -> None:
        self.flow = Flow(conn)
        self._command = command
        self._dsn = dsn

    def omd(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self._command(*arguments, dsn=self._dsn)

    def problems(self, **equal: str) -> list[dict[str, Any]]:
        conditions = "".join(f" AND {name} = %s" for name in equal)
        return self.flow.rows(
            f"SELECT * FROM omd_report.problems WHERE true{conditions}"
            " ORDER BY problem_code, object_key",
            *equal.values(),
        )

    def keys(self) -> list[tuple[str, str, str]]:
        return [(p["problem_code"], p["object_kind"], p["object_key"]) for p in self.problems()]

    def problem(self, **equal: str) -> dict[str, Any]:
        (row,) = self.problems(**equal)
        return row

    def go_out(self, problem: dict[str, Any]) -> None:
        """Do what its way out says."""
        words = shlex.split(problem["way_out"])
        while words:
            end = words.index("&&") if "&&" in words else len(words)
            program, *arguments = words[:end]
            assert program == "omd", problem
            done = self.omd(*arguments)
            assert done.returncode == 0, (problem, done.stdout, done.stderr)
            words = words[end + 1 :]


@pytest.fixture
def seen(conn: Connection, omd_here: Command, dsn: str) -> Seen:
    return Seen(conn, omd_here, dsn)


def module(seen: Seen, code: str = "m", **attributes: Any) -> str:
    """Register a Module that fails as long as a row stands in app.bad."""
    seen.flow.conn.execute(
        "CREATE SCHEMA IF NOT EXISTS app; CREATE TABLE IF NOT EXISTS app.bad (v integer);"
        "CREATE TABLE IF NOT EXISTS app.made (v integer, omd_insert_module_instance_id bigint);"
        "DELETE FROM app.bad; INSERT INTO app.bad VALUES (0)"
    )
    seen.flow.call(
        "omd.register_module",
        module_code=code,
        area_code="STG",
        table_code="app.made",
        executable="INSERT INTO app.made SELECT 4711 / b.v, 0 FROM app.bad AS b",
        **attributes,
    )
    return code


def fail(seen: Seen, code: str = "m") -> None:
    assert seen.flow.call("omd.run_module", module_code=code)["execution_status_code"] == "F"


def test_the_columns_are_those_of_the_contract(seen: Seen) -> None:
    found = seen.flow.conn.execute("SELECT * FROM omd_report.problems").description
    assert [column.name for column in found or ()] == COLUMNS.split()


@pytest.mark.parametrize("code", ["m", *HOSTILE])
def test_a_module_that_failed_is_a_problem_until_it_ran(seen: Seen, code: str) -> None:
    module(seen, code)
    assert seen.problems() == []
    fail(seen, code)
    problem = seen.problem()
    assert (problem["problem_code"], problem["severity"], problem["room"]) == (
        "LAST_RUN_FAILED", "ERROR", "control",
    )  # fmt: skip
    assert (problem["object_kind"], problem["object_key"]) == ("MODULE", code)
    assert problem["since"] is not None
    assert "division by zero" in problem["text"]
    with seen.flow.conn.transaction():
        seen.flow.conn.execute("SET LOCAL ROLE omd_reader")
        shown = seen.problem()["text"]
    assert "4711" not in shown
    assert "22012" in shown
    seen.flow.conn.execute("DELETE FROM app.bad")
    seen.go_out(problem)
    assert seen.problems() == []


def test_a_module_that_is_given_up_is_a_problem_until_it_is_retried(seen: Seen) -> None:
    module(seen, max_failures=2)
    fail(seen)
    fail(seen)
    problem = seen.problem()
    assert problem["problem_code"] == "GIVEN_UP"
    assert problem["way_out"] == "omd retry m"
    assert problem["text"].startswith("It has failed 2 times since its last success")
    seen.go_out(problem)
    assert seen.problems() == []


def test_a_module_whose_job_is_started_elsewhere_has_no_command(seen: Seen) -> None:
    flow = seen.flow
    flow.conn.execute("CREATE TABLE dwh.s (omd_insert_module_instance_id bigint)")
    flow.module("s", table_code="dwh.s")
    flow.run_module("s", "F")
    assert seen.problem()["way_out"] == "Start its job again."
    flow.run_module("s")
    assert seen.problems() == []


def test_a_batch_that_failed_is_a_problem_until_it_ran(seen: Seen) -> None:
    module(seen, "-m")
    seen.flow.call("omd.register_batch", batch_code="-n 'x", frequency_code="Adhoc")
    seen.flow.call("omd.add_module_to_batch", batch_code="-n 'x", module_code="-m")
    seen.flow.call("omd.run_batch", batch_code="-n 'x")
    assert seen.keys() == [
        ("LAST_RUN_FAILED", "MODULE", "-m"), ("LAST_RUN_FAILED", "BATCH", "-n 'x"),
    ]  # fmt: skip
    seen.flow.conn.execute("DELETE FROM app.bad")
    seen.go_out(seen.problem(object_kind="BATCH"))
    assert seen.problems() == []


def test_dead_tasks_are_one_problem_of_their_type(seen: Seen) -> None:
    room = Room(seen.flow.conn)
    room.family()
    room.type("U", max_attempts=1)
    first, *_ = (room.create(str(number), task_type="U") for number in range(3))
    room.member()
    tasks = room.claim()
    room.complete(tasks, "F", error="ValueError: 4711")
    problem = seen.problem()
    assert (problem["problem_code"], problem["object_kind"], problem["object_key"]) == (
        "TASKS_DEAD", "TASK_TYPE", "F/U",
    )  # fmt: skip
    assert problem["severity"] == "ERROR"
    assert problem["text"] == (
        f"3 are dead, the first is task:{first}: their attempts are used up."
    )
    assert problem["way_out"] == (
        "omd call omd_dispatch.revive_tasks --counted-at now --filter"
        """ '{"statuses": ["DEAD"], "task_types": ["U"], "family_code": "F"}'"""
    )
    seen.go_out(problem)
    assert seen.problems() == []


@pytest.mark.parametrize("name", ["dwh.src", "dwh.it's; x"])
def test_a_source_that_nobody_registered_is_a_problem(seen: Seen, scene: Scene, name: str) -> None:
    quoted = f'dwh."{name[4:]}"' if " " in name else name
    scene.conn.execute(
        f"CREATE TABLE {quoted} (pos timestamptz, id bigint, v integer);"
        f"CREATE INDEX ON {quoted} (pos, id)".encode()
    )
    scene.topic("dwh.f", quoted)
    problem = seen.problem()
    assert (problem["problem_code"], problem["object_kind"]) == ("SOURCE_PROBLEM", "SOURCE")
    assert problem["object_key"] == quoted
    assert "not registered" in problem["text"]
    seen.go_out(problem)
    assert seen.problems() == []


def test_a_source_that_is_too_old_says_since_when(seen: Seen, scene: Scene) -> None:
    scene.base("dwh.src")
    scene.register("dwh.src", source_offset="HAND", max_age="1 hour")
    scene.call("omd_lineage.set_offset", topic="dwh.src", pos="2020-01-01")
    scene.topic("dwh.f", "dwh.src")
    problem = seen.problem()
    assert "too old" in problem["text"]
    assert problem["since"].year == 2020
    assert problem["way_out"] == "omd call omd_lineage.set_offset --topic dwh.src --pos INSTANT"
    scene.call("omd_lineage.set_offset", topic="dwh.src", pos=scene.one("SELECT now()"))
    assert seen.problems() == []


def test_what_a_probe_meets_shows_no_values_even_to_who_may_see_them(
    seen: Seen, scene: Scene
) -> None:
    scene.source("dwh.src", 1, 2)
    scene.topic("dwh.f")
    scene.owner(
        "UPDATE omd_lineage.source_probe SET problem = 'value 4711', shown_problem = 'error 22012'"
    )
    assert "4711" in scene.one("SELECT problem FROM omd_report.sources WHERE source = 'dwh.src'")
    assert seen.problem()["text"] == "error 22012"


def test_who_has_read_what_was_undone_is_a_problem_until_it_reads_again(
    seen: Seen, shop: Store
) -> None:
    topic(shop)
    load(shop, 1, orders=[("N", 1, 10)])
    assert steps(shop) == [1]
    bad = load(shop, 2, orders=[("N", 2, 20)])
    assert steps(shop) == [1]
    reader = shop.one("SELECT max(omd_insert_module_instance_id) FROM app.f")
    assert seen.problems() == []
    shop.undo(bad)
    revert(shop)
    problem = seen.problem()
    assert (problem["problem_code"], problem["severity"], problem["room"]) == (
        "UNDONE_READ", "WARNING", "provenance",
    )  # fmt: skip
    assert (problem["object_kind"], problem["object_key"]) == ("MODULE_INSTANCE", str(reader))
    seen.go_out(problem)
    assert seen.problems() == []


def test_a_stage_whose_window_passes_rows_over_is_a_problem_until_it_goes_by_changes(
    seen: Seen, decisions: Store
) -> None:
    define(decisions)
    decisions.owner(
        "UPDATE omd_decision.stage_version SET definition ="
        ' definition || \'{"window": {"column": "acm_start_dt", "delay": "00:00:00"}}\''
    )
    decisions.owner("SELECT omd_decision._save_window(s.stage_id) FROM omd_decision.stage AS s")
    problem = seen.problem()
    assert (problem["problem_code"], problem["severity"], problem["room"]) == (
        "WINDOW_UNSAFE", "WARNING", "decision",
    )  # fmt: skip
    assert (problem["object_kind"], problem["object_key"]) == ("STAGE", "care")
    assert '"by": "CHANGES"' in problem["way_out"]
    define(decisions)
    assert seen.problems() == []


@pytest.fixture
def drop(conn: Connection, tmp_path: Path) -> Drop:
    """The agreement a has a location, which is there."""
    shop = Shop(conn)
    shop.deploy()
    drop = Drop(shop)
    drop.agree(location=str(tmp_path), zone="UTC")
    return drop


def test_a_delivery_that_was_refused_is_a_problem_until_another_is_accepted(
    seen: Seen, drop: Drop
) -> None:
    drop.see(folder("2020-01-01", file()))
    delivery_id, _ = drop.take()
    assert delivery_id is not None
    drop.shop.call("report_loaded", delivery_id=delivery_id)
    run = drop.shop.begin(delivery_id)
    run.measure(1, {"customer.customer_pk": 0}, customer={"rows_delivered": 1})
    drop.shop.owner(
        "UPDATE omd_delivery.constraint_result SET threshold = 0, violations = 1"
        " WHERE constraint_id = (SELECT min(constraint_id) FROM omd_delivery.constraint_result)"
    )
    run.verdict(1)
    assert drop.shop.status(delivery_id) == "REFUSED"
    problem = seen.problem()
    assert (problem["problem_code"], problem["object_kind"], problem["object_key"]) == (
        "DELIVERY_REFUSED", "DELIVERY", str(delivery_id),
    )  # fmt: skip
    assert problem["severity"] == "WARNING"
    assert problem["way_out"] == "omd deliver a --arrived"
    drop.see(folder("2020-01-01", file(modified=2)))
    corrected, _ = drop.take()
    assert seen.problem()["object_key"] == str(delivery_id), "it is not accepted yet"
    assert corrected is not None
    drop.accept(corrected)
    assert seen.problems() == []


def test_a_folder_of_which_no_delivery_can_be_made_is_a_problem(seen: Seen, drop: Drop) -> None:
    drop.shop.accept("2019-12-31")
    drop.see(folder("2018-01-01", file()))
    assert drop.take() == (None, None)
    problem = seen.problem()
    assert (problem["problem_code"], problem["object_kind"]) == ("DELIVERY_REFUSED", "ARRIVAL")
    assert "2018-01-01" in problem["subject"]
    drop.see(folder("2020-01-01", file()))
    delivery_id, _ = drop.take()
    assert delivery_id is not None
    drop.accept(delivery_id)
    assert seen.problems() == []


def test_an_unfit_folder_is_a_problem_until_it_is_gone(
    seen: Seen, drop: Drop, tmp_path: Path
) -> None:
    (tmp_path / "it's $(x)").mkdir()
    assert seen.omd("deliver", "a", "--arrived", "--dry-run").returncode == 0
    problem = seen.problem()
    assert (problem["problem_code"], problem["object_kind"]) == ("ARRIVAL_UNFIT", "ARRIVAL")
    assert "it's $(x)" in problem["subject"]
    (tmp_path / "it's $(x)").rmdir()
    seen.go_out(problem)
    assert seen.problems() == []


@pytest.mark.parametrize("status", ["RECEIVED", "ACCEPTED"])
def test_a_folder_that_changed_is_a_problem_until_its_delivery_went(
    seen: Seen, drop: Drop, tmp_path: Path, status: str
) -> None:
    path = tmp_path / "2020-01-01"
    path.mkdir()
    (path / "customer.csv").write_text("nbr\n1\n")
    (path / "_SUCCESS").touch()
    seen.omd("deliver", "a", "--arrived", "--dry-run")
    delivery_id, _ = drop.take()
    assert delivery_id is not None
    if status == "ACCEPTED":
        drop.accept(delivery_id)
        drop.shop.call("finish_arrival", delivery_id=delivery_id)
    (path / "customer.csv").write_text("nbr\n1\n2\n")
    seen.omd("deliver", "a", "--arrived", "--dry-run")
    problem = seen.problem(problem_code="ARRIVAL_CHANGED")
    assert "2020-01-01" in problem["subject"]
    seen.go_out(problem)
    seen.omd("deliver", "a", "--arrived", "--dry-run")
    assert drop.states() == {"2020-01-01": "FOUND"}
    assert seen.problems() == []


def test_a_location_that_can_not_be_read_is_a_problem(
    seen: Seen, drop: Drop, tmp_path: Path
) -> None:
    tmp_path.rmdir()
    assert seen.omd("deliver", "a", "--arrived", "--dry-run").returncode == 1
    problem = seen.problem()
    assert (problem["problem_code"], problem["object_kind"], problem["object_key"]) == (
        "LOCATION_UNREADABLE", "LOCATION", "a",
    )  # fmt: skip
    tmp_path.mkdir()
    seen.go_out(problem)
    assert seen.problems() == []


# Who may see it, and what the shell hears -------------------------------------------------------


def test_a_reader_sees_all_that_stands_over_the_rooms_and_nobody_else_does(
    seen: Seen, scene: Scene
) -> None:
    module(seen)
    fail(seen)
    views = ["problems", "flow", "flow_nodes", "work_summary", "arrival_summary"]
    with scene.role("omd_reader"):
        assert [p["problem_code"] for p in seen.problems()] == ["LAST_RUN_FAILED"]
        for view in views:
            scene.conn.execute(f"SELECT * FROM omd_report.{view} LIMIT 1".encode())
    scene.conn.execute("CREATE ROLE nobody_of_problems")
    try:
        assert not scene.one(
            "SELECT has_table_privilege('nobody_of_problems', 'omd_report.problems', 'SELECT')"
        )
    finally:
        scene.conn.execute("DROP ROLE nobody_of_problems")


def test_status_ends_with_1_when_a_problem_is_an_error(
    seen: Seen, drop: Drop, tmp_path: Path
) -> None:
    assert seen.omd("status").returncode == 0
    tmp_path.rmdir()
    seen.omd("deliver", "a", "--arrived", "--dry-run")
    done = seen.omd("status")
    assert done.returncode == 0, "a warning is no error"
    assert "LOCATION_UNREADABLE" in done.stdout
    module(seen)
    fail(seen)
    done = seen.omd("status", "--output", "json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert [(p["severity"], p["problem_code"]) for p in found["problems"]] == [
        ("ERROR", "LAST_RUN_FAILED"), ("WARNING", "LOCATION_UNREADABLE"),
    ]  # fmt: skip
    assert {(w["state"], w["modules"]) for w in found["work"]} >= {("FAILED", 1)}
    assert found.keys() >= {"deliveries", "queue", "tasks", "arrivals", "rejects", "running_now"}


# What stands still ------------------------------------------------------------------------------


def test_a_batch_that_was_not_run_for_two_intervals_is_a_problem_until_it_runs(
    seen: Seen,
) -> None:
    seen.flow.batch("late", "m", frequency_code="Daily")
    problem = seen.problem()
    assert (problem["problem_code"], problem["severity"]) == ("NOT_RUN", "WARNING")
    assert (problem["object_kind"], problem["object_key"]) == ("BATCH", "late")
    seen.flow.run_batch("late", m="S")
    assert seen.problems() == []
    for age, expected in (("47 hours", 0), ("49 hours", 1)):
        seen.flow.owner(
            f"UPDATE omd.batch_instance SET start_datetime = now() - interval '{age}'"
            " WHERE batch_id IS NOT NULL"
        )
        assert len(seen.problems(problem_code="NOT_RUN")) == expected, age
    seen.flow.call("register_batch", batch_code="late", inactive_indicator="Y")
    assert seen.problems() == []


def test_a_run_whose_lease_has_expired_is_a_problem_until_it_is_declared_dead(seen: Seen) -> None:
    seen.flow.batch("b", "m")
    batch = seen.flow.begin_batch("b")
    seen.flow.begin_module("m", batch.id, lease=PASSED)
    problem = seen.problem()
    assert (problem["problem_code"], problem["severity"]) == ("LEASE_EXPIRED", "WARNING")
    assert (problem["object_kind"], problem["object_key"]) == ("MODULE", "m")
    seen.flow.conn.execute(problem["way_out"].encode())
    assert seen.problems(problem_code="LEASE_EXPIRED") == []


def test_a_rollback_that_was_asked_for_is_a_problem_until_the_next_begin(seen: Seen) -> None:
    module(seen)
    seen.flow.conn.execute("UPDATE app.bad SET v = 1")
    assert seen.omd("run", "m").returncode == 0
    run = seen.flow.one("SELECT max(module_instance_id) FROM omd.module_instance")
    seen.flow.set_next("R", module=run)
    problem = seen.problem()
    assert (problem["problem_code"], problem["severity"]) == ("ROLLBACK_PENDING", "WARNING")
    assert str(run) in problem["text"]
    seen.go_out(problem)
    assert seen.problems() == []


def test_a_source_that_gave_nothing_is_stale_and_one_that_can_not_be_read_is_not(
    seen: Seen, scene: Scene
) -> None:
    scene.base("dwh.src")
    scene.register("dwh.src", source_offset="HAND", max_age="1 hour")
    scene.call("omd_lineage.set_offset", topic="dwh.src", pos="2020-01-01")
    scene.topic("dwh.f", "dwh.src")
    assert seen.problem()["problem_code"] == "SOURCE_STALE"


def test_tasks_that_nobody_takes_are_a_problem_until_a_worker_lives(
    seen: Seen, conn: Connection
) -> None:
    room = Room(conn)
    room.type("LONELY", family_code="CALL", handler="SQL", target="x.y", deliver_id="LONELY")
    task = room.call("create_task", family_code="CALL", task_type="LONELY")["task_id"]
    try:
        problem = seen.problem()
        assert (problem["problem_code"], problem["severity"]) == ("NO_BACKEND", "WARNING")
        assert (problem["object_kind"], problem["object_key"]) == ("TASK_TYPE", "CALL/LONELY")
        assert problem["way_out"] == "omd worker --group LONELY"
        room.member("lonely", "LONELY", ttl="1 hour")
        assert seen.problems() == []
        room.call("leave_backend", backend_id="lonely")
        assert len(seen.problems()) == 1
    finally:
        room.call("cancel_task", task_id=task)
    assert seen.problems() == []


def test_a_schedule_whose_firing_fails_is_a_problem_and_shows_no_values(
    seen: Seen, conn: Connection
) -> None:
    room = Room(conn)
    conn.execute(
        "CREATE TABLE dwh.texts (v text); INSERT INTO dwh.texts VALUES ('value 4711');"
        "CREATE VIEW dwh.bad AS SELECT v::integer AS priority FROM dwh.texts"
    )
    room.type("LONELY", family_code="CALL", handler="SQL", target="x.y", deliver_id="LONELY")
    room.call(
        "register_schedule", schedule_code="s", family_code="CALL", task_type="LONELY",
        every="1 hour", source="dwh.bad",
    )  # fmt: skip
    try:
        seen.flow.owner("UPDATE omd_dispatch.task_schedule SET next_time = now() - interval '1 s'")
        room.call("fire_schedule", schedule_code="s")
        problem = seen.problem()
        assert (problem["problem_code"], problem["severity"]) == ("SCHEDULE_PROBLEM", "WARNING")
        assert (problem["object_kind"], problem["object_key"]) == ("SCHEDULE", "s")
        assert problem["text"]
        assert "4711" not in problem["text"]
    finally:
        room.call("remove_schedule", schedule_code="s")
    assert seen.problems() == []


def test_a_sink_that_can_not_send_and_one_whose_events_are_gone_are_problems(seen: Seen) -> None:
    seen.flow.owner(
        "INSERT INTO omd_event.sink (sink_code, sink_kind, event_number, taken_upto, problem,"
        " purged_unsent) VALUES ('a', 'PULL', 7, 7, 'HTTP 503', 0), ('b', 'PULL', 7, 7, NULL, 3)"
    )
    assert seen.keys() == [("EVENTS_PURGED", "SINK", "b"), ("SINK_PROBLEM", "SINK", "a")]
    assert seen.problems(object_key="a")[0]["text"] == "HTTP 503"
    way_out = seen.problems(object_key="b")[0]["way_out"]
    seen.flow.conn.execute(way_out.encode())
    assert seen.keys() == [("SINK_PROBLEM", "SINK", "a")]
    seen.flow.owner("UPDATE omd_event.sink SET inactive_indicator = 'Y'")
    assert seen.problems() == []
