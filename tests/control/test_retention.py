"""The purge: what it deletes, what it keeps for the evaluation, and that no run waits for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.events import publish

if TYPE_CHECKING:
    from support.flow import Flow

    Another = Callable[..., Flow]

PURGE = "CALL omd.purge(interval '1 year', 'omd')"


def age(flow: Flow) -> None:
    """Move everything so far two years into the past."""
    for table in ("batch_instance", "module_instance"):
        flow.owner(
            f"UPDATE omd.{table} SET start_datetime = start_datetime - interval '2 years',"
            f" end_datetime = end_datetime - interval '2 years' WHERE {table}_id > 0"
            " AND start_datetime > now() - interval '1 year'"
        )
    flow.owner(
        "UPDATE omd.event_log SET event_datetime = event_datetime - interval '2 years'"
        " WHERE event_datetime > now() - interval '1 year'"
    )


@pytest.fixture(autouse=True)
def small(flow: Flow) -> Iterator[None]:
    before = flow.rows("SELECT schema_name, position, rows_per_step FROM omd.purge_step")
    steps(flow, 3)
    yield
    for row in before:
        flow.owner(
            "UPDATE omd.purge_step SET rows_per_step = %s WHERE schema_name = %s AND position = %s",
            row["rows_per_step"],
            row["schema_name"],
            row["position"],
        )


def steps(flow: Flow, rows: int) -> None:
    """Let a step of a purge look at so many rows."""
    flow.owner("UPDATE omd.purge_step SET rows_per_step = %s", rows)


def purge(flow: Flow) -> tuple[int, int, int]:
    (row,) = flow.rows(PURGE)
    assert row["p_failed"] is None
    tables = ("omd.module_instance", "omd.batch_instance", "omd.event_log")
    modules, batches, events = (row["p_deleted"][table] for table in tables)
    return modules, batches, events


def left(flow: Flow, kind: str = "module") -> list[int]:
    query = f"SELECT {kind}_instance_id AS id FROM omd.{kind}_instance WHERE {kind}_instance_id > 0"
    return [row["id"] for row in flow.rows(f"{query} ORDER BY 1")]


def window(flow: Flow, end: int, status: str = "S") -> tuple[int, Any]:
    """Run with a load window up to ``end``; returns its id and the start of the window."""
    id = flow.begin_module().id
    flow.conn.execute("CALL omd.create_load_window(%s, p_end_id => %s)", [id, end])
    flow.end_module(id, status)
    return id, flow.one("SELECT start_id FROM omd.source_control WHERE module_instance_id = %s", id)


def test_what_is_old_and_done_goes(flow: Flow) -> None:
    flow.batch("b", "m")
    for _ in range(5):
        flow.run_batch("b", m="S")
    flow.call("log_event", event_detail="a note of nobody")
    flow.call("log_event", event_detail="a note", module_instance_id=1)
    age(flow)
    kept = flow.run_batch("b", m="S")
    flow.call("log_event", event_detail="a note of today")
    assert purge(flow) == (5, 5, 2)
    assert left(flow) == [kept["m"].id]
    assert left(flow, "batch") == [kept.id]
    assert flow.one(
        "SELECT array_agg(event_detail) FROM omd.event_log WHERE event_type_code <> 4"
    ) == ["a note of today"]
    assert flow.one("SELECT count(*) FROM omd.module_instance WHERE module_instance_id = 0") == 1
    assert flow.one("SELECT count(*) FROM omd.batch_instance WHERE batch_instance_id = 0") == 1


def test_what_is_recent_stays(flow: Flow) -> None:
    flow.module()
    ids = [flow.run_module() for _ in range(4)]
    assert purge(flow) == (0, 0, 0)
    assert left(flow) == ids


def test_the_last_real_run_stays_and_the_skips_after_it_go(flow: Flow) -> None:
    flow.batch("b", "m", frequency_code="Monthly")
    flow.run_batch("b", m="S")
    real = flow.begin_batch("b", force=True)
    last = flow.run_module("m", "S", real.id)
    flow.end_batch(real.id, "S")
    flow.begin_batch("b")
    flow.deactivate("module", "TRUE")
    flow.begin_module("m")
    age(flow)
    purge(flow)
    assert left(flow) == [last]
    assert left(flow, "batch") == [real.id]
    assert flow.rows("SELECT * FROM omd.previous_module_instance('m')")


@pytest.mark.parametrize("mark", ["F", "R", "C", "E"])
def test_what_waits_stays_with_all_that_came_after(flow: Flow, mark: str) -> None:
    flow.module()
    flow.run_module()
    before = flow.run_module()
    if mark == "E":
        waiting = flow.begin_module().id
    else:
        waiting = flow.run_module("m", "F" if mark == "F" else "S")
        if mark in "RC":
            flow.set_next(mark, module=waiting)
    age(flow)
    purge(flow)
    # While a run executes, the last real run is the one before it.
    assert left(flow) == ([before, waiting] if mark == "E" else [waiting])
    assert flow.one("SELECT count(*) FROM omd.event_log WHERE event_type_code = 2") == (mark == "F")
    if mark == "E":
        flow.end_module(waiting, "S")
    else:
        begun = flow.begin_module()
        assert (begun.pi, begun.array) == (("C", []) if mark == "C" else ("P", [waiting]),)[0]


def test_a_rolled_back_failure_goes_with_its_event(flow: Flow) -> None:
    flow.module()
    flow.run_module("m", "F")
    flow.run_module()
    age(flow)
    now = flow.run_module()
    assert purge(flow) == (2, 0, 2)
    assert left(flow) == [now]


def test_a_batch_that_waits_for_its_restart_keeps_what_it_would_skip(flow: Flow) -> None:
    flow.batch("b", "m1", "m2")
    flow.run_batch("b", m1="S", m2="S")
    failed = flow.run_batch("b", m1="S", m2="F")
    # The Module later runs elsewhere and succeeds.
    age(flow)
    flow.batch("other", "m1")
    flow.run_batch("other", m1="S")
    purge(flow)
    assert failed["m1"].id in left(flow)
    again = flow.begin_batch("b")
    assert flow.begin_module("m1", again.id).answer == ("C", "ALREADY_SUCCEEDED")
    assert flow.begin_module("m2", again.id).array == [failed["m2"].id]


def test_parents_go_after_their_children_in_one_purge(flow: Flow) -> None:
    for code in ("top", "middle", "leaf"):
        flow.batch(code)
    flow.call("add_batch_to_parent_batch", batch_code="middle", parent_batch_code="top")
    flow.call("add_batch_to_parent_batch", batch_code="leaf", parent_batch_code="middle")
    for _ in range(4):
        ids = [flow.begin_batch("top").id]
        ids.append(flow.begin_batch("middle", parent_batch_instance_id=ids[0]).id)
        ids.append(flow.begin_batch("leaf", parent_batch_instance_id=ids[1]).id)
        for id in reversed(ids):
            flow.end_batch(id, "S")
    age(flow)
    assert purge(flow)[1] == 9
    assert left(flow, "batch") == ids


def test_the_next_window_follows_on_from_one_that_was_purged(flow: Flow) -> None:
    flow.module()
    for end in (10, 20):
        window(flow, end)
    age(flow)
    third, start = window(flow, 30)
    assert start == 20
    assert purge(flow)[0] == 2
    assert flow.one("SELECT count(*) FROM omd.source_control") == 1
    # This holds even when the only one left is withdrawn.
    flow.set_next("R", module=third)
    assert window(flow, 40)[1] == 20


def test_the_newest_window_that_counts_stays(flow: Flow) -> None:
    flow.module()
    counts, _ = window(flow, 10)
    age(flow)
    plain = flow.run_module()
    purge(flow)
    assert left(flow) == [counts, plain]
    assert window(flow, 20)[1] == 10


def test_a_purge_is_done_in_steps_and_called_again_finds_nothing(flow: Flow) -> None:
    flow.module()
    for _ in range(20):
        flow.run_module()
    age(flow)
    steps(flow, 1)
    assert purge(flow)[0] == 19
    assert purge(flow) == (0, 0, 0)


def test_a_mark_that_is_being_set_is_not_run_over(flow: Flow, another: Another) -> None:
    flow.module()
    first = flow.run_module()
    second = flow.run_module()
    age(flow)
    last = flow.run_module()
    admin = another()
    with admin.conn.transaction():
        admin.set_next("R", module=first)
        assert purge(flow)[0] == 1
    assert left(flow) == [first, last]
    assert flow.begin_module().array == [first]
    assert second not in left(flow)


def test_a_begin_does_not_wait_for_a_purge(flow: Flow, another: Another) -> None:
    flow.batch("b", "m")
    flow.run_batch("b", m="S")
    flow.run_batch("b", m="F")
    age(flow)
    flow.run_batch("b", m="S")
    publish(flow)
    purger = another()
    runner = another()
    runner.conn.execute("SET lock_timeout = '2s'")
    with purger.conn.transaction():
        step = "SELECT * FROM omd._purge_module_instances(now() - interval '1 year', 100, 0, 0)"
        assert purger.rows(step)[0]["p_deleted"] == 2
        assert runner.run_batch("b", m="S")["m"].pi == "P"


def test_two_purges_at_once_share_the_work(flow: Flow, another: Another) -> None:
    flow.module()
    ids = [flow.run_module() for _ in range(3)]
    age(flow)
    flow.run_module()
    publish(flow)
    other = another()
    step = "SELECT * FROM omd._purge_module_instances(now() - interval '1 year', 2, %s, 0)"
    with other.conn.transaction():
        assert other.rows(step, 0)[0]["p_deleted"] == 2
        assert purge(flow)[0] == 1
    assert ids[2] not in left(flow)


@pytest.mark.parametrize(
    ("sqlstate", "arguments"),
    [
        ("OM005", {"keep": None, "room": "omd"}),
        ("OM013", {"keep": "-1 day"}),
        ("OM013", {"keep": "1 year", "room": "omd_web"}),
    ],
)
def test_a_senseless_retention_is_refused(
    flow: Flow, sqlstate: str, arguments: dict[str, Any]
) -> None:
    flow.refused(sqlstate, "purge", **arguments)


def test_a_purge_inside_a_transaction_deletes_nothing(flow: Flow) -> None:
    flow.module()
    for _ in range(2):
        flow.run_module()
    age(flow)
    with pytest.raises(psycopg.Error) as caught, flow.conn.transaction():
        purge(flow)
    assert caught.value.sqlstate == "OM018"
    assert len(left(flow)) == 2


def test_an_administrator_may_purge_and_a_runner_may_not(flow: Flow, another: Another) -> None:
    flow.module()
    for _ in range(2):
        flow.run_module()
    age(flow)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        purge(another(role="omd_runner"))
    assert purge(another(role="omd_admin"))[0] == 1


def test_a_purge_of_everything_leaves_the_trace_of_who_did_what(
    flow: Flow, another: Callable[..., Flow]
) -> None:
    flow.module()
    flow.run_module()
    id = flow.run_module()
    flow.set_next("R", module=id)
    flow.call("set_parameter", parameter_code="p", parameter_value="v", module_code="m")
    flow.call("log_event", event_detail="a note of nobody")
    admin = another(role="omd_admin")
    flow.conn.execute("SELECT pg_sleep(0.001)")  # they are older than the purge
    for _ in range(2):
        admin.call("purge", keep="0", room="omd")
    events = [
        (row["code"], row["detail"].split(": ")[-1])
        for row in flow.rows(
            "SELECT event_return_code_details AS code, event_detail AS detail FROM omd.event_log"
            " WHERE event_type_code = 4 ORDER BY event_id"
        )
    ]
    assert ("PURGE", "begins") in events
    assert [code for code, _ in events].count("PURGE") == 4
    assert ("PURGE", "deleted 1 of omd.event_log, 1 of omd.module_instance") in events
    assert "P -> R" in {code for code, _ in events}
    assert flow.rows("SELECT FROM omd.event_log WHERE event_detail = 'a note of nobody'") == []
    who = flow.rows("SELECT event_detail AS d FROM omd.event_log WHERE event_type_code = 4")
    assert sum("omd_admin" in row["d"] for row in who) >= 4

    flow.conn.execute(
        "UPDATE omd.event_log SET event_datetime = event_datetime - interval '91 days'"
    )
    admin.call("purge", keep="1 day", room="omd")
    assert flow.one("SELECT count(*) FROM omd.event_log WHERE event_type_code = 4") <= 3
