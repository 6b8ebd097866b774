"""omd.next_member says what a running Batch does next, for whoever runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from support.flow import Flow

LOAD = "INSERT INTO dwh.{} VALUES ('x', current_setting('omd.module_instance_id')::bigint)"
FAIL = "SELECT 1 / 0"


@pytest.fixture(autouse=True)
def scene(flow: Flow) -> None:
    flow.batch("b", "m", "n", "o")
    for code in ("m", "n", "o"):
        flow.call("register_module", module_code=code, executable=LOAD.format(code))
    flow.batch("child")
    flow.call("add_batch_to_parent_batch", batch_code="child", parent_batch_code="b")


def ask(flow: Flow, batch: int, *told: str | None) -> dict[str, Any]:
    marks = ", ".join(["%s"] * (1 + len(told)))
    (row,) = flow.rows(f"SELECT * FROM omd.next_member({marks})", batch, *told)
    assert list(row) == ["act", "member_type", "member_code", "detail"]
    return row


def member(flow: Flow, batch: int, *told: str | None) -> str | None:
    row = ask(flow, batch, *told)
    assert (row["act"] == "END") == (row["member_code"] is None)
    return row["member_code"]


def run(flow: Flow, code: str, batch: int) -> str:
    done = flow.call("run_module", module_code=code, batch_instance_id=batch)
    return str(done["execution_status_code"])


def fails(flow: Flow, code: str) -> None:
    flow.call("register_module", module_code=code, executable=FAIL)


def test_members_come_in_their_order_and_then_the_end(flow: Flow) -> None:
    batch = flow.begin_batch().id
    for code in ("m", "n", "o"):
        assert ask(flow, batch) == ask(flow, batch)  # it may be asked again
        row = ask(flow, batch)
        assert (row["act"], row["member_type"], row["member_code"]) == ("MEMBER", "MODULE", code)
        assert run(flow, code, batch) == "S"
    row = ask(flow, batch)
    assert (row["member_type"], row["member_code"]) == ("BATCH", "child")
    flow.call("run_batch", batch_code="child", parent_batch_instance_id=batch)
    end = {"act": "END", "member_type": None, "member_code": None, "detail": None}
    assert ask(flow, batch) == end
    flow.call("batch_success", batch_instance_id=batch)
    assert ask(flow, batch) == end


def test_after_a_failure_nothing_comes_next(flow: Flow) -> None:
    fails(flow, "m")
    batch = flow.begin_batch().id
    assert run(flow, "m", batch) == "F"
    assert ask(flow, batch)["detail"] == "Module m failed"
    assert member(flow, batch) is None


def test_a_batch_goes_on_when_it_says_so_and_names_each_failure(flow: Flow) -> None:
    flow.call("register_batch", batch_code="b", continue_on_failure=True)
    fails(flow, "m")
    flow.module("late", executable=FAIL)
    flow.call("add_module_to_batch", batch_code="child", module_code="late")
    batch = flow.begin_batch().id
    told = []
    while (code := member(flow, batch)) is not None:
        told.append(code)
        if code == "child":
            flow.call("run_batch", batch_code=code, parent_batch_instance_id=batch)
        else:
            run(flow, code, batch)
    assert told == ["m", "n", "o", "child"]
    assert ask(flow, batch)["detail"] == "Module m failed\nBatch child failed"


def test_what_was_skipped_or_refused_is_done(flow: Flow) -> None:
    flow.call("register_batch", batch_code="b", continue_on_failure=True)
    flow.call("register_module", module_code="m", inactive_indicator="Y")
    batch = flow.begin_batch().id
    assert run(flow, "m", batch) == "C"
    assert member(flow, batch) == "n"
    outside = flow.begin_module("n")  # it executes, so that the one of the Batch is aborted
    assert outside.pi == "P"
    assert run(flow, "n", batch) == "A"
    assert member(flow, batch) == "o"
    flow.call("module_failure", module_instance_id=outside.id)
    # What can't begin raises its error, and fails the Batch.
    flow.call("register_module", module_code="o", platform_code="SPARK")
    sqlstate = refused_run(flow, "o", batch)
    row = ask(flow, batch)
    assert row["member_code"] == "child"
    flow.call("run_batch", batch_code="child", parent_batch_instance_id=batch)
    detail = ask(flow, batch)["detail"]
    assert detail.startswith("Module o failed: ")
    assert detail.endswith(f"({sqlstate})")


def refused_run(flow: Flow, code: str, batch: int) -> str:
    """Have a run whose begin raises an error; return its SQLSTATE."""
    with pytest.raises(psycopg.Error) as caught:
        run(flow, code, batch)
    assert (
        flow.one(
            "SELECT count(*) FROM omd.module_instance WHERE module_id ="
            " (SELECT module_id FROM omd.module WHERE module_code = %s)",
            code,
        )
        == 0
    )
    return str(caught.value.sqlstate)


def test_whoever_ran_a_member_without_an_instance_says_so(flow: Flow) -> None:
    flow.call("register_batch", batch_code="b", continue_on_failure=True)
    batch = flow.begin_batch().id
    assert member(flow, batch, "MODULE", "m", None) == "n"
    assert member(flow, batch, "MODULE", "n", "") == "o"
    assert member(flow, batch, "MODULE", "o", "no file (OM036)") == "child"
    assert member(flow, batch, "BATCH", "child", None) is None
    lines = ["Module n failed", "Module o failed: no file (OM036)"]
    assert ask(flow, batch)["detail"].splitlines() == lines
    assert flow.one("SELECT count(*) FROM omd.module_instance WHERE module_id > 0") == 0


def test_what_was_left_before_a_member_comes_at_the_end(flow: Flow) -> None:
    batch = flow.begin_batch().id
    assert member(flow, batch, "MODULE", "n", None) == "o"
    assert member(flow, batch, "MODULE", "o", None) == "child"
    assert member(flow, batch, "BATCH", "child", None) == "m"
    assert member(flow, batch, "MODULE", "m", None) is None
    assert ask(flow, batch, "MODULE", "gone", None)["act"] == "END", "it is no member"


def test_a_member_that_has_failed_ends_the_batch_whatever_is_told_of_it(flow: Flow) -> None:
    fails(flow, "n")
    batch = flow.begin_batch().id
    assert run(flow, "m", batch) == "S"
    assert member(flow, batch, "MODULE", "m", None) == "n"
    assert run(flow, "n", batch) == "F"
    assert ask(flow, batch, "MODULE", "n", None)["detail"] == "Module n failed"
    flow.call("batch_failure", batch_instance_id=batch)
    assert member(flow, batch, "MODULE", "m", None) is None, "it executes no more"


def test_a_run_that_executes_is_offered_again(flow: Flow) -> None:
    batch = flow.begin_batch().id
    begun = flow.begin_module("m", batch)
    assert member(flow, batch) == "m"
    flow.call("module_success", module_instance_id=begun.id)
    assert member(flow, batch) == "n"


def test_runs_of_others_count_for_their_own_batch(flow: Flow) -> None:
    first = flow.begin_batch().id
    assert run(flow, "m", first) == "S"
    flow.call("batch_failure", batch_instance_id=first)
    second = flow.begin_batch().id
    assert member(flow, second) == "m"
    assert run(flow, "m", second) == "C"  # it has succeeded before
    assert member(flow, second) == "n"


def test_what_is_wrong_is_an_error(flow: Flow) -> None:
    for batch, sqlstate in ((None, "OM005"), (99, "OM003"), (0, "OM003")):
        with pytest.raises(psycopg.Error) as caught:
            flow.rows("SELECT * FROM omd.next_member(%s)", batch)
        assert caught.value.sqlstate == sqlstate


def test_a_batch_of_the_database_goes_by_it(flow: Flow) -> None:
    """What is told of a member holds for run_batch's rule too: the one event names all failures."""
    flow.call("register_batch", batch_code="b", continue_on_failure=True)
    fails(flow, "n")
    flow.call("register_module", module_code="o", platform_code="SPARK")
    done = flow.call("run_batch", batch_code="b")
    batch = done["batch_instance_id"]
    assert done["execution_status_code"] == "F"
    text = flow.one(
        "SELECT event_detail FROM omd.event_log WHERE batch_instance_id = %s"
        " AND module_instance_id = 0",
        batch,
    )
    assert text.splitlines()[0] == "Module n failed"
    assert text == ask(flow, batch)["detail"]
    assert len(text.splitlines()) == 2


def test_it_costs_what_the_batch_has_and_not_what_history_has(flow: Flow) -> None:
    """10,000 runs of other Batch Instances are not read."""
    batch = flow.begin_batch().id
    flow.owner(
        "INSERT INTO omd.module_instance (module_id, batch_instance_id, start_datetime,"
        " end_datetime, execution_status_code, processing_indicator, next_run_indicator)"
        " SELECT m.module_id, 0, now(), now(), 'S', 'P', 'P'"
        " FROM omd.module AS m, generate_series(1, 10000) WHERE m.module_code = 'm'"
    )
    flow.owner("ANALYZE omd.module_instance")
    assert member(flow, batch) == "m"
    read = blocks(flow, batch)
    assert read < 200, read


def test_after_a_member_only_what_follows_it_is_read(flow: Flow) -> None:
    """Else a Batch of m members costs m * m."""
    for n in range(40):
        flow.module(f"x{n:02}", executable=LOAD.format("x"))
        flow.call("add_module_to_batch", batch_code="b", module_code=f"x{n:02}")
    batch = flow.begin_batch().id
    assert member(flow, batch, "MODULE", "x20", None) == "x21"
    blocks(flow, batch, ", 'MODULE', 'x20'")  # the first call of a session reads the catalog
    assert blocks(flow, batch, ", 'MODULE', 'x20'") * 2 < blocks(flow, batch)


def blocks(flow: Flow, batch: int, told: str = "") -> int:
    """Return how many blocks a call reads."""
    call = f"omd.next_member({batch}{told})"
    plan = flow.one(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM {call}")[0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])
