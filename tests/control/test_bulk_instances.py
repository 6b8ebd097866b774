"""Bulk actions on instances: one call over a filter, which never touches more than was counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege
from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.flow import Flow

    Connection = psycopg.Connection[dict[str, Any]]

MODULES = {"instance_type": "MODULE"}
BATCHES = {"instance_type": "BATCH"}


ALL = (
    "SELECT module_instance_id, start_datetime::text, end_datetime::text, clock_timestamp()::text"
    " FROM omd.module_instance"
)


def now(flow: Flow) -> Any:
    return flow.one("SELECT clock_timestamp()")


def count(flow: Flow, given: Any, counted_at: Any = None) -> int:
    at = counted_at or now(flow)
    return int(flow.one("SELECT omd.count_instances(%s, %s)", Jsonb(given), at))


def act(flow: Flow, routine: str, given: Any, /, **more: Any) -> tuple[int, int, bool]:
    """Call it over instances as they are now; return what it changed, passed over, and left."""
    answer = flow.call(routine, **{"counted_at": now(flow), "filter": Jsonb(given), **more})
    return answer["changed"], answer["passed"], answer["more"]


def column(flow: Flow, name: str, table: str = "module") -> str:
    rows = flow.rows(
        f"SELECT {name} AS value FROM omd.{table}_instance WHERE {table}_instance_id > 0"
        f" ORDER BY {table}_instance_id"
    )
    return "".join(row["value"] for row in rows)


def events(flow: Flow) -> int:
    return int(flow.one("SELECT count(*) FROM omd.event_log WHERE event_type_code = 4"))


def test_indicators_are_set_in_parts_as_one_is(flow: Flow) -> None:
    for code in "abc":
        flow.module(code)
        flow.run_module(code)
    counted_at = now(flow)
    assert count(flow, MODULES, counted_at) == 3
    given = {"filter": MODULES, "counted_at": counted_at, "next_run_indicator": "r"}
    before = events(flow)
    first = flow.call("set_next_run_indicators", **given, limit=2)
    assert first == {"changed": 2, "passed": 0, "last_instance_id": 2, "more": True}
    assert column(flow, "next_run_indicator") == "RRP"
    rest = flow.call("set_next_run_indicators", **given)
    assert rest == {"changed": 1, "passed": 0, "last_instance_id": 3, "more": False}
    none = flow.call("set_next_run_indicators", **given)
    assert none == {"changed": 0, "passed": 0, "last_instance_id": None, "more": False}
    assert events(flow) == before + 3
    for n, code in enumerate("abc"):
        assert flow.begin_module(code).array == [n + 1]


def test_what_the_single_call_refuses_is_passed_over(flow: Flow) -> None:
    flow.module("failed")
    flow.module("done")
    flow.run_module("failed", "F")
    flow.run_module("done")
    assert act(flow, "set_next_run_indicators", MODULES, next_run_indicator="P") == (0, 1, False)
    assert act(flow, "set_next_run_indicators", MODULES, next_run_indicator="C") == (2, 0, False)
    flow.refused("OM106", "set_next_run_indicator", next_run_indicator="P", module_instance_id=1)
    assert act(flow, "set_next_run_indicators", MODULES, next_run_indicator="R") == (2, 0, False)
    assert column(flow, "next_run_indicator") == "RR"
    assert flow.begin_module("done").pi == "P"  # the success is rolled back now
    rolled_back = {**MODULES, "codes": ["done"], "statuses": ["S"]}
    assert act(flow, "set_next_run_indicators", rolled_back, next_run_indicator="P") == (
        1,
        0,
        False,
    )
    assert act(flow, "set_next_run_indicators", rolled_back, next_run_indicator="R") == (
        0,
        1,
        False,
    )


def test_instances_of_batches_are_told_apart_from_those_of_modules(flow: Flow) -> None:
    flow.batch("b", "m")
    flow.run_batch("b", m="S")
    assert act(flow, "set_next_run_indicators", BATCHES, next_run_indicator="C") == (1, 0, False)
    assert column(flow, "next_run_indicator", "batch") == "C"
    assert column(flow, "next_run_indicator") == "P"


def test_what_executes_is_ended_as_one_is_with_its_members(flow: Flow) -> None:
    flow.batch("b", "m")
    flow.module("alone")
    batch = flow.begin_batch("b").id
    member = flow.begin_module("m", batch).id
    flow.begin_module("alone")
    flow.module("done")
    flow.run_module("done")
    executing = {**BATCHES, "statuses": ["E"]}
    assert act(flow, "end_instances", executing, event_detail="it hangs") == (1, 0, False)
    assert (column(flow, "execution_status_code", "batch")) == "F"
    assert column(flow, "execution_status_code") == "FES"
    assert act(flow, "end_instances", MODULES) == (1, 2, False)
    assert column(flow, "execution_status_code") == "FFS"
    assert act(flow, "end_instances", {**MODULES, "statuses": ["E"]}) == (0, 0, False)
    details = flow.rows(
        "SELECT event_type_code AS type, module_instance_id AS id, event_detail AS d"
        " FROM omd.event_log WHERE event_detail LIKE '%%it hangs%%' ORDER BY event_id"
    )
    assert [(row["type"], row["id"]) for row in details] == [(2, 0), (4, 0)]
    assert member == 1


def test_what_has_begun_or_ended_since_the_count_is_left_alone(flow: Flow) -> None:
    for code in "abc":
        flow.module(code)
    flow.begin_module("a")
    first = flow.begin_module("b").id
    counted_at = now(flow)
    assert count(flow, MODULES, counted_at) == 2
    flow.end_module(first, "F")
    flow.begin_module("c")
    given = {"counted_at": counted_at}
    indicator = {**given, "next_run_indicator": "C"}
    assert act(flow, "set_next_run_indicators", MODULES, **indicator) == (1, 0, False)
    assert column(flow, "next_run_indicator") == "CRP"
    assert act(flow, "end_instances", MODULES, **given) == (1, 0, False)
    assert column(flow, "execution_status_code") == "FFE"


def test_what_another_session_holds_is_skipped(
    flow: Flow, connect: Callable[..., Connection]
) -> None:
    for code in "ab":
        flow.module(code)
        flow.begin_module(code)
    counted_at = now(flow)
    holder = connect(autocommit=False)
    holder.execute("SELECT FROM omd.module_instance WHERE module_instance_id = 1 FOR UPDATE")
    given = {"counted_at": counted_at}
    indicator = {**given, "next_run_indicator": "C"}
    assert act(flow, "set_next_run_indicators", MODULES, **indicator) == (1, 0, False)
    assert act(flow, "end_instances", MODULES, **given) == (1, 0, False)
    holder.rollback()
    assert act(flow, "end_instances", MODULES, **given) == (1, 0, False)
    assert column(flow, "execution_status_code") == "FF"


def test_a_filter_means_what_it_says(flow: Flow) -> None:
    hostile = "'); DROP TABLE omd.module; --"
    flow.module(hostile, table_code="dwh.x")
    flow.conn.execute("CREATE TABLE dwh.x (v text, omd_insert_module_instance_id bigint)")
    flow.run_module(hostile)
    flow.batch("b", "m", "n")
    run = flow.run_batch("b", m="S", n="F")
    started = flow.rows(
        "SELECT start_datetime::text AS at FROM omd.module_instance ORDER BY start_datetime"
    )
    for expected, more in (
        (3, {}), (1, {"codes": [hostile]}), (2, {"codes": [hostile, "m", "x"]}),
        (0, {"codes": ["'"]}),
        (2, {"batch_instance_ids": [run.id]}), (0, {"batch_instance_ids": [run.id + 1]}),
        (2, {"statuses": ["S"]}), (3, {"statuses": ["F", "S", "E"]}), (0, {"statuses": ["E"]}),
        (2, {"since": started[-2]["at"]}), (2, {"until": started[-1]["at"]}),
        (1, {"since": started[-2]["at"], "until": started[-1]["at"]}),
        (1, {"codes": ["m", "n"], "statuses": ["F"]}),
    ):  # fmt: skip
        given = {**MODULES, **more}
        assert count(flow, given) == expected, (given, flow.rows(ALL))
        with flow.conn.transaction(force_rollback=True):
            done = act(flow, "set_next_run_indicators", given, next_run_indicator="C")
            assert done == (expected, 0, False)
    assert count(flow, {**BATCHES, "batch_instance_ids": [run.id], "codes": ["b"]}) == 1


WRONG: list[Any] = [
    None, [], {}, {"codes": ["m"]}, {"instance_type": "module"}, {"instance_type": None},
    {"instance_type": ["MODULE"]}, {**MODULES, "module_instance_ids": [1]},
    {**MODULES, "codes": []},
    {**MODULES, "codes": "m"}, {**MODULES, "codes": None}, {**MODULES, "statuses": ["X"]},
    {**MODULES, "statuses": ["E') --"]}, {**MODULES, "batch_instance_ids": ["1"]},
    {**MODULES, "since": "soon"}, {**MODULES, "until": None}, {**MODULES, "' OR TRUE --": 1},
]  # fmt: skip


def test_anything_else_is_refused_and_nothing_is_changed(flow: Flow) -> None:
    flow.module("m")
    flow.begin_module("m")
    for given in WRONG:
        arguments = {"filter": Jsonb(given), "counted_at": now(flow)}
        with pytest.raises(psycopg.Error) as caught:
            count(flow, given)
        assert (caught.value.sqlstate, given) == ("OM099", given)
        flow.refused("OM099", "end_instances", **arguments)
        flow.refused("OM099", "set_next_run_indicators", **arguments, next_run_indicator="C")
    good = {"filter": MODULES, "counted_at": now(flow)}
    flow.refused("OM006", "set_next_run_indicators", **good, next_run_indicator="X")
    flow.refused("OM005", "set_next_run_indicators", **good, next_run_indicator=None)
    flow.refused("OM005", "end_instances", filter=MODULES, counted_at=None)
    flow.refused("OM013", "end_instances", filter=MODULES, counted_at="-infinity")
    flow.refused("OM013", "end_instances", **good, limit=0)
    assert column(flow, "execution_status_code") == "E"


def test_the_rights_are_those_of_the_single_routines(
    flow: Flow, connect: Callable[..., Connection]
) -> None:
    flow.module("m")
    flow.begin_module("m")
    for role in ("omd_reader", "omd_runner"):
        session = type(flow)(connect(role=role))
        assert count(session, MODULES) == 1
        for routine, more in (
            ("end_instances", {}), ("set_next_run_indicators", {"next_run_indicator": "C"})
        ):  # fmt: skip
            with pytest.raises(InsufficientPrivilege):
                act(session, routine, MODULES, **more)
    admin = type(flow)(connect(role="omd_admin"))
    assert act(admin, "set_next_run_indicators", MODULES, next_run_indicator="C") == (1, 0, False)
    assert act(admin, "end_instances", MODULES) == (1, 0, False)


def test_ending_what_executes_reads_no_history(flow: Flow) -> None:
    flow.module("m")
    flow.run_module("m")
    flow.owner(
        "INSERT INTO omd.module_instance (module_id, start_datetime, end_datetime,"
        " execution_status_code, processing_indicator, next_run_indicator)"
        " SELECT module_id, now(), now(), 'S', 'P', 'P' FROM omd.module,"
        " generate_series(1, 20000) WHERE module_code = 'm'"
    )
    flow.owner("ANALYZE omd.module_instance")
    flow.begin_module("m")
    read = (
        "SELECT sum(seq_tup_read) + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes"
        " WHERE relname = 'module_instance') AS n FROM pg_stat_user_tables"
        " WHERE relname = 'module_instance'"
    )
    flow.conn.execute("SELECT pg_stat_force_next_flush()")
    before = flow.one(read)
    assert act(flow, "end_instances", {**MODULES, "statuses": ["E"]}) == (1, 0, False)
    flow.conn.execute("SELECT pg_stat_force_next_flush()")
    assert flow.one(read) - before < 200
