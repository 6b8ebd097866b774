"""run_module and run_batch: SQL that runs in the database itself (rule P13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from support.flow import Flow

    Another = Callable[..., Flow]
    Background = Callable[..., Future[Any]]
    UntilSettled = Callable[[Flow, Future[Any]], None]

LOAD = (
    "INSERT INTO dwh.{} SELECT g, current_setting('omd.module_instance_id')::bigint"
    " FROM generate_series(1, 5) g"
)
FAIL = "INSERT INTO dwh.{} SELECT g / (g - 3), 1 FROM generate_series(1, 5) g"
WAIT = LOAD + "; SELECT pg_advisory_xact_lock(42)"


@pytest.fixture(autouse=True)
def scene(flow: Flow) -> None:
    flow.batch("b")
    for code in ("m", "n", "o"):
        register(flow, code, LOAD)


def register(
    flow: Flow, code: str, executable: str, batch: str | None = "b", **attributes: Any
) -> None:
    flow.module(code, executable=executable.format(code), **attributes)
    if batch:
        sequence = "mno".index(code) + 1
        flow.call("add_module_to_batch", batch_code=batch, module_code=code, sequence=sequence)


def run_module(flow: Flow, code: str = "m", **arguments: Any) -> tuple[int, str]:
    row = flow.call("run_module", module_code=code, **arguments)
    return row["module_instance_id"], row["execution_status_code"]


def run_batch(flow: Flow, code: str = "b", **arguments: Any) -> tuple[int, str]:
    row = flow.call("run_batch", batch_code=code, **arguments)
    return row["batch_instance_id"], row["execution_status_code"]


def statuses(flow: Flow, batch: int) -> dict[str, str]:
    rows = flow.rows(
        "SELECT module_code, execution_status_code FROM omd_report.module_execution_log"
        " WHERE batch_instance_id = %s ORDER BY module_instance_id",
        batch,
    )
    return {row["module_code"]: row["execution_status_code"] for row in rows}


# A Module


def test_a_module_runs(flow: Flow) -> None:
    id, status = run_module(flow)
    assert status == "S"
    assert flow.codes(module=id) == "S P P"
    assert flow.stamps() == {id: 5}
    (row,) = flow.rows("SELECT * FROM omd.module_instance WHERE module_instance_id = %s", id)
    assert row["rows_inserted"] == 5
    assert row["execution_context"]


@pytest.mark.parametrize(
    ("executable", "counts"),
    [
        ("UPDATE dwh.m SET v = 'x' WHERE v::int <= 3", {"rows_updated": 3}),
        ("DELETE FROM dwh.m WHERE v::int <= 2", {"rows_deleted": 2}),
        ("INSERT INTO dwh.m SELECT 'x' FROM generate_series(1, 7)", {"rows_inserted": 7}),
        ("  -- a comment\n /* another */ DeLeTe FROM dwh.m", {"rows_deleted": 5}),
        ("UPDATE dwh.m SET v = 'x' WHERE false", {}),
    ],
)
def test_rows_are_counted_as_what_they_are(
    flow: Flow, executable: str, counts: dict[str, int]
) -> None:
    run_module(flow)
    id, status = run_module(flow, executable=executable)
    assert status == "S"
    (row,) = flow.rows("SELECT * FROM omd.module_instance WHERE module_instance_id = %s", id)
    assert {k: v for k, v in row.items() if k.startswith("rows_") and v} == counts


@pytest.mark.parametrize(
    ("executable", "sqlstate"),
    [
        (FAIL.format("m"), "22012"),
        ("this is no SQL", "42601"),
        ("SELECT * FROM dwh.nothing", "42P01"),
        ("DO $$ BEGIN RAISE EXCEPTION 'mine' USING ERRCODE = 'ZZ999'; END $$", "ZZ999"),
        ("DO $$ BEGIN ASSERT false, 'the sum is wrong'; END $$", "P0004"),
        ("COMMIT", "0A000"),
        (LOAD.format("m") + "; SELECT 1 / 0", "22012"),
    ],
    ids=["division", "syntax", "no table", "raised", "assert", "commit", "second statement"],
)
def test_a_failing_module_leaves_its_codes_one_event_and_no_rows(
    flow: Flow, executable: str, sqlstate: str
) -> None:
    id, status = run_module(flow, executable=executable)
    assert status == "F"
    assert flow.codes(module=id) == "F P R"
    assert flow.failures(module=id) == 1
    (event,) = flow.rows("SELECT * FROM omd.event_log WHERE module_instance_id = %s", id)
    assert event["event_return_code_details"] == sqlstate
    assert event["event_detail"]
    assert flow.stamps() == {}
    again, status = run_module(flow)
    assert status == "S"
    array = "SELECT rollback_instance_array FROM omd.module_instance WHERE module_instance_id = %s"
    assert flow.one(array, again) == [id]


def test_a_deferred_constraint_fails_the_module(flow: Flow) -> None:
    flow.conn.execute("CREATE TABLE dwh.parent (id int PRIMARY KEY)")
    flow.conn.execute(
        "CREATE TABLE dwh.child (id int REFERENCES dwh.parent DEFERRABLE INITIALLY DEFERRED)"
    )
    id, status = run_module(flow, executable="INSERT INTO dwh.child VALUES (1)")
    assert status == "F"
    assert flow.codes(module=id) == "F P R"
    assert flow.failures(module=id) == 1
    assert flow.one("SELECT count(*) FROM dwh.child") == 0
    _, status = run_module(
        flow, executable="INSERT INTO dwh.child VALUES (1); INSERT INTO dwh.parent VALUES (1)"
    )
    assert status == "S"


def test_no_text_is_substituted_into_the_executable(flow: Flow) -> None:
    text = "{module_instance_id} {table} %s %I $1 :x"
    flow.call("register_module", module_code="m", executable=f"INSERT INTO dwh.m VALUES ('{text}')")
    assert run_module(flow)[1] == "S"
    assert flow.one("SELECT v FROM dwh.m") == text


def test_the_instance_id_does_not_outlive_the_run(flow: Flow) -> None:
    run_module(flow)
    assert flow.one("SELECT current_setting('omd.module_instance_id', true)") in (None, "")


@pytest.mark.parametrize("executable", [None, "", "  \n"])
def test_a_module_without_sql_is_refused(flow: Flow, executable: str | None) -> None:
    flow.module("empty", executable=executable)
    flow.refused("OM214", "run_module", module_code="empty")
    assert flow.one("SELECT count(*) FROM omd.module_instance") == 1


def test_a_module_of_another_platform_is_refused(flow: Flow) -> None:
    flow.call("register_module", module_code="m", platform_code="SPARK")
    flow.refused("OM204", "run_module", module_code="m")
    assert flow.one("SELECT count(*) FROM omd.module_instance") == 1


@pytest.mark.parametrize(("scene_", "status"), [("running", "A"), ("inactive", "C"), ("skip", "C")])
def test_a_module_that_may_not_run_does_not(flow: Flow, scene_: str, status: str) -> None:
    id = flow.begin_module().id
    if scene_ != "running":
        flow.end_module(id, "S")
    if scene_ == "inactive":
        flow.deactivate("module", "module_code = 'm'")
    elif scene_ == "skip":
        flow.set_next("C", module=id)
    id, answered = run_module(flow)
    assert answered == status
    assert flow.codes(module=id) == f"{status} {status} P"
    assert flow.stamps() == {}


def test_a_run_inside_a_transaction_is_refused_and_leaves_nothing(flow: Flow) -> None:
    for routine, code in (("run_module", {"module_code": "m"}), ("run_batch", {"batch_code": "b"})):
        with pytest.raises(psycopg.Error) as caught, flow.conn.transaction():
            flow.call(routine, **code)
        assert caught.value.sqlstate == "OM018"
    assert flow.stamps() == {}
    assert run_module(flow)[1] == "S"
    assert run_batch(flow)[1] == "S"


@pytest.mark.parametrize(
    "call", ["run_module('m', NULL, NULL, i, s, NULL, NULL, s)", "run_batch('b', NULL, i, s)"]
)
def test_a_run_inside_a_block_with_exception_is_refused(flow: Flow, call: str) -> None:
    block = (
        f"DO $$ DECLARE i bigint; s text; BEGIN CALL omd.{call};"
        " EXCEPTION WHEN invalid_transaction_termination THEN NULL; END $$"
    )
    with pytest.raises(psycopg.Error) as caught:
        flow.conn.execute(block.encode())
    assert caught.value.sqlstate == "OM018"
    assert flow.stamps() == {}


def test_a_running_module_is_visible_and_keeps_others_out(
    flow: Flow, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    register(flow, "m", WAIT)
    flow.conn.execute("SELECT pg_advisory_lock(42)")
    runner = another()
    running = background(run_module, runner)
    until_settled(runner, running)
    (row,) = flow.rows("SELECT * FROM omd_report.current_processing")
    assert (row["instance_type"], row["code"]) == ("MODULE", "m")
    assert flow.codes(module=row["instance_id"]) == "E P P"
    assert flow.begin_module().answer == ("A", "RUNNING")
    assert flow.call("reap_expired_instances")["reaped"] == []
    flow.conn.execute("SELECT pg_advisory_unlock(42)")
    assert running.result(timeout=20) == (row["instance_id"], "S")


def test_a_cancelled_module_fails_and_tells_its_caller(
    flow: Flow, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    register(flow, "m", WAIT)
    flow.conn.execute("SELECT pg_advisory_lock(42)")
    runner = another()
    running = background(run_module, runner)
    until_settled(runner, running)
    flow.one("SELECT pg_cancel_backend(%s)", runner.conn.info.backend_pid)
    with pytest.raises(psycopg.errors.QueryCanceled):
        running.result(timeout=20)
    assert flow.codes(module=1) == "F P R"
    assert flow.failures(module=1) == 1
    assert flow.stamps() == {}
    begun = flow.begin_module()
    assert (begun.pi, begun.array) == ("P", [1])


def test_a_module_whose_session_is_killed_is_given_up_by_the_next_begin(
    flow: Flow, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    register(flow, "m", WAIT)
    flow.conn.execute("SELECT pg_advisory_lock(42)")
    runner = another()
    running = background(run_module, runner)
    until_settled(runner, running)
    assert flow.one("SELECT pg_terminate_backend(%s, 10000)", runner.conn.info.backend_pid)
    with pytest.raises(psycopg.OperationalError):
        running.result(timeout=20)
    assert flow.codes(module=1) == "E P P"
    begun = flow.begin_module()
    assert (begun.pi, begun.array) == ("P", [1])
    assert flow.codes(module=1) == "F P R"
    assert flow.failures(module=1) == 1


def test_a_killed_run_is_reaped(
    flow: Flow, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    register(flow, "m", WAIT)
    flow.conn.execute("SELECT pg_advisory_lock(42)")
    runner = another()
    running = background(run_batch, runner)
    until_settled(runner, running)
    assert flow.one("SELECT pg_terminate_backend(%s, 10000)", runner.conn.info.backend_pid)
    with pytest.raises(psycopg.OperationalError):
        running.result(timeout=20)
    assert 1 in flow.call("reap_expired_instances")["reaped"]
    assert flow.codes(module=1) == "F P R"
    assert flow.codes(batch=1) == "F P P"
    assert flow.failures(module=1) == flow.failures(batch=1) == 1


def test_a_run_that_another_ended_does_not_report_success(
    flow: Flow, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    register(flow, "m", WAIT)
    flow.conn.execute("SELECT pg_advisory_lock(42)")
    runner = another()
    running = background(run_module, runner)
    until_settled(runner, running)
    flow.end_module(1, "F")
    flow.conn.execute("SELECT pg_advisory_unlock(42)")
    assert running.result(timeout=20) == (1, "F")
    assert flow.failures(module=1) == 1
    assert flow.stamps() == {}


def test_runs_follow_each_other_in_one_session(flow: Flow, another: Another) -> None:
    for _ in range(3):
        assert run_module(flow)[1] == "S"
        assert run_module(flow, executable="SELECT 1 / 0")[1] == "F"
    assert run_batch(flow)[1] == "S"
    held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
    assert flow.one(held) == 0


# A Batch


def test_a_batch_runs_its_modules_by_sequence(flow: Flow) -> None:
    flow.call("add_module_to_batch", batch_code="b", module_code="m", sequence=9)
    id, status = run_batch(flow)
    assert status == "S"
    assert flow.codes(batch=id) == "S P P"
    assert list(statuses(flow, id).items()) == [("n", "S"), ("o", "S"), ("m", "S")]


def test_a_failing_module_fails_the_batch_and_the_rest_is_not_attempted(flow: Flow) -> None:
    register(flow, "n", FAIL)
    id, status = run_batch(flow)
    assert status == "F"
    assert flow.codes(batch=id) == "F P P"
    assert statuses(flow, id) == {"m": "S", "n": "F"}
    assert flow.failures(batch=id) == 1
    register(flow, "n", LOAD)
    id, status = run_batch(flow)
    assert status == "S"
    assert statuses(flow, id) == {"m": "C", "n": "S", "o": "S"}


def test_a_batch_that_continues_on_failure_attempts_the_rest(flow: Flow) -> None:
    flow.call("register_batch", batch_code="b", continue_on_failure=True)
    register(flow, "m", FAIL)
    id, status = run_batch(flow)
    assert status == "F"
    assert statuses(flow, id) == {"m": "F", "n": "S", "o": "S"}
    assert flow.codes(batch=id) == "F P P"


@pytest.mark.parametrize(
    "problem",
    [
        {"platform_code": "SPARK"},
        {"table_code": "dwh.nowhere", "pending": True},
        {"area_code": "PRES", "pending": True},
    ],
    ids=["another platform", "no target", "no template"],
)
def test_a_module_that_can_not_begin_fails_the_batch(flow: Flow, problem: dict[str, Any]) -> None:
    if "area_code" in problem:  # it can't change while a rollback waits
        flow.call("register_module", module_code="n", area_code=problem["area_code"])
    if problem.pop("pending", False):
        flow.run_module("n", "F")
    if "table_code" in problem:
        flow.conn.execute("DROP TABLE dwh.n")
    flow.call("register_module", module_code="n", **problem)
    id, status = run_batch(flow)
    assert status == "F"
    assert flow.codes(batch=id) == "F P P"
    assert "o" not in statuses(flow, id)
    detail = flow.one(
        "SELECT event_detail FROM omd.event_log"
        " WHERE batch_instance_id = %s AND module_instance_id = 0",
        id,
    )
    assert "Module n failed: " in detail


def test_inactive_members_are_skipped(flow: Flow) -> None:
    flow.batch("child", "c")
    flow.call(
        "add_batch_to_parent_batch",
        batch_code="child",
        parent_batch_code="b",
        inactive_indicator="Y",
    )
    flow.call("add_module_to_batch", batch_code="b", module_code="m", inactive_indicator="Y")
    flow.call("register_module", module_code="n", inactive_indicator="Y")
    id, status = run_batch(flow)
    assert status == "S"
    assert statuses(flow, id) == {"m": "C", "n": "C", "o": "S"}
    children = (
        "SELECT execution_status_code FROM omd.batch_instance WHERE parent_batch_instance_id = %s"
    )
    assert [row["execution_status_code"] for row in flow.rows(children, id)] in ([], ["C"])


@pytest.mark.parametrize(
    ("scene_", "status"), [("running", "A"), ("inactive", "C"), ("frequency", "C"), ("skip", "C")]
)
def test_a_batch_that_may_not_run_does_not(flow: Flow, scene_: str, status: str) -> None:
    id = flow.begin_batch().id
    if scene_ != "running":
        flow.end_batch(id, "S")
    if scene_ == "inactive":
        flow.deactivate("batch", "batch_code = 'b'")
    elif scene_ == "frequency":
        flow.call("register_batch", batch_code="b", frequency_code="Daily")
    elif scene_ == "skip":
        flow.set_next("C", batch=id)
    id, answered = run_batch(flow)
    assert answered == status
    assert flow.codes(batch=id) == f"{status} {status} P"
    assert statuses(flow, id) == {}


def nested(flow: Flow) -> None:
    """b (m, n, o) contains low (p) and high (q), which contains leaf (r)."""
    for batch, module in (("low", "p"), ("high", "q"), ("leaf", "r")):
        flow.batch(batch)
        flow.module(module, executable=LOAD.format(module), batches=(batch,))
    for child, parent, sequence in (("high", "b", 2), ("low", "b", 1), ("leaf", "high", 1)):
        flow.call(
            "add_batch_to_parent_batch",
            batch_code=child,
            parent_batch_code=parent,
            sequence=sequence,
        )


def tree(flow: Flow) -> list[tuple[str, int, str]]:
    rows = flow.rows("SELECT * FROM omd_report.batch_execution_log ORDER BY batch_instance_id")
    return [
        (row["batch_code"], row["parent_batch_instance_id"] or 0, row["execution_status_code"])
        for row in rows
    ]


def test_child_batches_run_after_the_modules_under_their_parent(flow: Flow) -> None:
    nested(flow)
    assert run_batch(flow) == (1, "S")
    assert tree(flow) == [("b", 0, "S"), ("low", 1, "S"), ("high", 1, "S"), ("leaf", 3, "S")]
    order = flow.rows(
        "SELECT module_code FROM omd_report.module_execution_log ORDER BY module_instance_id"
    )
    assert "".join(row["module_code"] for row in order) == "mnopqr"


def test_a_failing_leaf_fails_every_batch_above(flow: Flow) -> None:
    nested(flow)
    flow.call("register_module", module_code="r", executable="SELECT 1 / 0")
    assert run_batch(flow) == (1, "F")
    assert tree(flow) == [("b", 0, "F"), ("low", 1, "S"), ("high", 1, "F"), ("leaf", 3, "F")]
    assert [flow.failures(batch=id) for id in (1, 2, 3, 4)] == [1, 0, 1, 1]


def test_a_failing_child_keeps_the_next_child_from_running(flow: Flow) -> None:
    nested(flow)
    flow.call("register_module", module_code="p", executable="SELECT 1 / 0")
    assert run_batch(flow) == (1, "F")
    assert tree(flow) == [("b", 0, "F"), ("low", 1, "F")]


@pytest.mark.parametrize("depth", ["m", "r"])
def test_a_cancelled_batch_fails_with_every_batch_above(
    flow: Flow, another: Another, background: Background, until_settled: UntilSettled, depth: str
) -> None:
    nested(flow)
    flow.call("register_module", module_code=depth, executable=WAIT.format(depth))
    flow.conn.execute("SELECT pg_advisory_lock(42)")
    runner = another()
    running = background(run_batch, runner)
    until_settled(runner, running)
    flow.one("SELECT pg_cancel_backend(%s)", runner.conn.info.backend_pid)
    with pytest.raises(psycopg.errors.QueryCanceled):
        running.result(timeout=20)
    ended = {code: status for code, _, status in tree(flow)}
    assert ended == (
        {"b": "F"} if depth == "m" else {"b": "F", "low": "S", "high": "F", "leaf": "F"}
    )
    flow.conn.execute("SELECT pg_advisory_unlock(42)")
    assert run_batch(flow)[1] == "S"


def test_a_batch_cancelled_while_it_waits_for_a_module_does_not_hang_on(
    flow: Flow, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    holder, runner = another(), another()
    holder.conn.execute("BEGIN")
    holder.begin_module("n")  # the Batch must wait to see who is first
    running = background(run_batch, runner)
    until_settled(runner, running)
    flow.one("SELECT pg_cancel_backend(%s)", runner.conn.info.backend_pid)
    with pytest.raises(psycopg.errors.QueryCanceled):
        running.result(timeout=20)
    holder.conn.execute("ROLLBACK")
    assert run_batch(flow)[1] == "S"  # while the session of the cancelled run lives on
    assert flow.codes(batch=1) == "F P P"
    assert flow.failures(batch=1) == 1


def test_a_batch_whose_session_is_killed_restarts_in_part(
    flow: Flow, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    register(flow, "n", WAIT)
    flow.conn.execute("SELECT pg_advisory_lock(42)")
    runner = another()
    running = background(run_batch, runner)
    until_settled(runner, running)
    assert flow.one("SELECT pg_terminate_backend(%s, 10000)", runner.conn.info.backend_pid)
    with pytest.raises(psycopg.OperationalError):
        running.result(timeout=20)
    flow.conn.execute("SELECT pg_advisory_unlock(42)")
    id, status = run_batch(flow)
    assert status == "S"
    assert statuses(flow, id) == {"m": "C", "n": "S", "o": "S"}
    assert flow.codes(batch=1) == "F P P"
    assert flow.failures(batch=1) == 1


def test_a_running_batch_is_visible(
    flow: Flow, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    register(flow, "n", WAIT)
    flow.conn.execute("SELECT pg_advisory_lock(42)")
    runner = another()
    running = background(run_batch, runner)
    until_settled(runner, running)
    current = flow.rows("SELECT instance_type, code FROM omd_report.current_processing ORDER BY 1")
    assert [tuple(row.values()) for row in current] == [("BATCH", "b"), ("MODULE", "n")]
    assert flow.stamps() == {1: 5}  # what the first Module loaded is committed
    assert flow.begin_batch().answer == ("A", "RUNNING")
    flow.conn.execute("SELECT pg_advisory_unlock(42)")
    assert running.result(timeout=20)[1] == "S"


def test_a_rollback_happens_before_the_executable(flow: Flow) -> None:
    first = flow.begin_module().id
    flow.write(first)
    flow.end_module(first, "F")
    id, status = run_module(flow)
    assert status == "S"
    assert flow.stamps() == {id: 5}


def test_an_execution_context_is_kept_beside_what_is_known_of_the_session(flow: Flow) -> None:
    context = {"dag": "nightly", "application": "airflow"}
    module, _ = run_module(flow, execution_context=context)
    batch, _ = run_batch(flow, execution_context=context)
    for kind, id in (("module", module), ("batch", batch)):
        kept = flow.one(
            f"SELECT execution_context FROM omd.{kind}_instance WHERE {kind}_instance_id = %s", id
        )
        assert kept.items() >= {**context, "platform": "POSTGRES"}.items()
        assert kept["pid"] > 0
    members = flow.rows(
        "SELECT execution_context AS c FROM omd.module_instance WHERE batch_instance_id = %s", batch
    )
    assert all("dag" not in member["c"] for member in members)
    for call, of in (("run_module", {"module_code": "m"}), ("run_batch", {"batch_code": "b"})):
        for wrong in ([1], "text", 5):
            detail = flow.refused("OM013", call, **of, execution_context=Jsonb(wrong))
            assert detail["argument"] == "p_execution_context"
