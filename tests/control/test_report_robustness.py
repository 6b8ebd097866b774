"""One bad run breaks no report; reports show who set a directive, and what executes where."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from support.flow import Flow

    Another = Callable[..., Flow]

MOST = 2**63 - 1


def look_everywhere(flow: Flow) -> None:
    """Read every view as a whole, with a client that turns all values into Python values."""
    views = flow.rows(
        "SELECT relname AS name FROM pg_class"
        " WHERE relnamespace = 'omd_report'::regnamespace AND relkind = 'v'"
    )
    assert len(views) > 20
    for view in views:
        query = sql.SQL("SELECT * FROM omd_report.{}").format(sql.Identifier(view["name"]))
        flow.conn.execute(query).fetchall()


# Bad runs ---------------------------------------------------------------------------------------


def test_sums_of_row_counts_have_no_limit(flow: Flow) -> None:
    flow.batch("b", "m", "n")
    batch = flow.begin_batch().id
    counts = ("input", "inserted", "updated", "deleted", "discarded", "rejected")
    for module in ("m", "n"):
        id = flow.begin_module(module, batch).id
        flow.call(
            "module_success", module_instance_id=id, **{f"rows_{count}": MOST for count in counts}
        )
    flow.end_batch(batch, "S")
    look_everywhere(flow)
    for view, where in (("throughput_per_day", "TRUE"), ("cumulative_load_time", "code = 'b'")):
        rows = f"SELECT rows_inserted FROM omd_report.{view} WHERE {where}"
        assert flow.one(rows) == Decimal(2 * MOST)


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


CONTEXTS = {
    "a list": [1, 2],
    "a text": "x",
    "a number": 1,
    "JSON null": None,
    "too deep": nested(11),
    "very deep": nested(900),
    "too large": {"x": "y" * 20_000},
}


@pytest.mark.parametrize("given", CONTEXTS)
@pytest.mark.parametrize(
    "call",
    [
        "begin_module('m', p_execution_context => %s)",
        "create_module_instance('m', p_execution_context => %s)",
        "begin_batch('b', p_execution_context => %s)",
        "create_batch_instance('b', p_execution_context => %s)",
    ],
)
def test_a_context_is_an_object_of_limited_size_and_depth(
    flow: Flow, call: str, given: str
) -> None:
    flow.batch("b", "m")
    with pytest.raises(psycopg.Error) as caught:
        flow.conn.execute(f"CALL omd.{call}".encode(), [Jsonb(CONTEXTS[given])])
    assert caught.value.sqlstate == "OM013"
    assert "p_execution_context is" in (caught.value.diag.message_primary or "")
    assert len(caught.value.diag.message_primary or "") < 500
    assert flow.one("SELECT count(*) FROM omd.module_instance") == 1


def test_a_context_deep_enough_for_the_server_s_stack_is_refused_cleanly(flow: Flow) -> None:
    flow.module()
    for text in ("[" * 5000 + "]" * 5000, '{"a":' * 5000 + "1" + "}" * 5000):
        with pytest.raises(psycopg.Error) as caught:
            flow.conn.execute("CALL omd.begin_module('m', p_execution_context => %s)", [text])
        assert caught.value.sqlstate == "OM013"


def test_a_context_of_the_allowed_depth_is_kept(flow: Flow) -> None:
    flow.module()
    for context in ({}, nested(8), {"list": [{"x": [1, 2]}], "text": "y" * 10_000}):
        id = flow.begin_module("m", execution_context=context).id
        kept = "SELECT execution_context FROM omd.module_instance WHERE module_instance_id = %s"
        assert flow.one(kept, id) == context
        flow.end_module(id, "S")
    look_everywhere(flow)


@pytest.mark.parametrize(
    "text",
    ["", " ", "\n\n", "'" * 3000, '"`' * 3000, "9" * 3_000_000, "{table} %s", "x\ry", "\\", None],
    ids=["empty", "blank", "lines", "quotes", "open", "long", "marks", "return", "back", "null"],
)
def test_any_text_of_an_event_can_be_reported(flow: Flow, text: str | None) -> None:
    flow.batch("b", "m")
    batch = flow.begin_batch().id
    module = flow.begin_module("m", batch).id
    flow.call("log_event", event_detail="x", module_instance_id=module, event_type_code=1)
    for kind, id in (("module", module), ("batch", batch)):
        flow.conn.execute(f"CALL omd.{kind}_failure(%s, p_event_detail => %s)".encode(), [id, text])
    look_everywhere(flow)
    assert sum(r["event_count"] for r in flow.rows("SELECT * FROM omd_report.common_errors")) == 3


def test_dates_at_the_end_of_time_and_nulls_break_no_report(flow: Flow) -> None:
    flow.batch("b", "m", frequency_code="Daily")
    flow.module("open", insert_instance_column="", batches=("b",))
    flow.call("begin_module", module_code="m", lease=timedelta(days=36_000))
    flow.begin_batch("b", lease=timedelta(days=36_000))
    flow.run_module("open", "F")
    flow.conn.execute("CALL omd.create_load_window(1, p_end_value => '9999-12-31 00:00+00')")
    look_everywhere(flow)


@pytest.mark.parametrize(
    "lease", ["0", "-1 second", "101 years", "300000 years", "178000000 years", "infinity"]
)
def test_a_lease_is_a_span_that_a_run_could_live_for(flow: Flow, lease: str) -> None:
    if lease == "infinity" and flow.conn.info.server_version < 170000:
        pytest.skip("no such interval before PostgreSQL 17")
    flow.batch("b", "m")
    for call in (
        "begin_module('m', p_lease => %s)",
        "begin_batch('b', p_lease => %s)",
        "heartbeat(1, %s)",
        "heartbeat_batch(1, %s)",
    ):
        with pytest.raises(psycopg.Error) as caught:
            flow.conn.execute(f"CALL omd.{call}".encode(), [lease])
        assert caught.value.sqlstate == "OM011"
    assert flow.one("SELECT count(*) FROM omd.module_instance") == 1


@pytest.mark.parametrize(
    "call",
    [
        "register_batch(%s)",
        "register_module(%s, 'STG', 'dwh.x')",
        "set_parameter(%s, 'v', p_batch_code => 'b')",
        "register_area(%s, 'Staging')",
        "register_table_type(%s)",
        "register_frequency(%s)",
        "rename_batch('b', %s)",
    ],
)
def test_a_code_that_no_index_takes_is_refused(flow: Flow, call: str) -> None:
    flow.batch("b")
    random = flow.one(
        "SELECT string_agg(md5(n::text || random()), '') FROM generate_series(1, 100) AS n"
    )
    for code in (random, "é" * 1301, "x" * 1_000_000):
        with pytest.raises(psycopg.Error) as caught:
            flow.conn.execute(f"CALL omd.{call}".encode(), [code])
        assert caught.value.sqlstate == "OM013"
        assert len(str(caught.value)) < 2000
    longest = random[:2600]
    if "register_batch" in call or "rename" in call:
        flow.conn.execute(f"CALL omd.{call}".encode(), [longest])
        assert flow.begin_batch(longest).pi == "P"


# Errors -----------------------------------------------------------------------------------------


def test_no_error_says_null_or_leaves_a_brace(flow: Flow) -> None:
    """Every template of the catalogue is filled with no values, and with empty lists."""
    for row in flow.rows("SELECT * FROM omd.error_catalogue"):
        text = row["message_template"] + row["hint_template"]
        keys = set(flow.rows(
            "SELECT array_agg(DISTINCT regexp_replace(m[1], '_literal$', '')) AS keys"
            " FROM regexp_matches(%s, '\\{([a-z_]+)\\}', 'g') AS m", text,
        )[0]["keys"] or [])  # fmt: skip
        # A placeholder that a hint shows as an example stays as it is.
        keys -= {"table", "insert_instance_column", "instance_array"}
        for value in (None, []):
            with pytest.raises(psycopg.Error) as caught:
                flow.conn.execute(
                    "SELECT omd.raise_error(%s, %s)",
                    [row["sqlstate_code"], Jsonb(dict.fromkeys(keys, value))],
                )
            message = caught.value.diag.message_primary or ""
            assert "{" not in message
            assert "NULL" not in message
            assert "[]" not in message
            hint = (caught.value.diag.message_hint or "").replace("NULL for no lease", "")
            assert not [key for key in keys if f"{{{key}}}" in hint], hint


def test_a_module_that_has_run_says_how_it_may_go(flow: Flow) -> None:
    flow.module()
    flow.run_module()
    with pytest.raises(psycopg.Error) as caught:
        flow.conn.execute("DELETE FROM omd.module")
    assert caught.value.sqlstate == "OM106"
    assert caught.value.diag.message_primary == (
        'Module Instance 1 can\'t be edited like this: its Module "m" stays; to retire it,'
        " CALL omd.retire_module('m');"
    )


# Directives -------------------------------------------------------------------------------------


def directives(flow: Flow) -> list[tuple[Any, ...]]:
    rows = flow.rows("SELECT * FROM omd_report.directives ORDER BY instance_type, instance_id")
    columns = ("instance_type", "instance_id", "next_run_indicator", "set_by", "set_by_user")
    for row in rows:
        assert (row["set_by_user"] is None) == (row["set_datetime"] is None)
    return [tuple(row[column] for column in columns) for row in rows]


def test_a_directive_tells_whose_wish_it_is(flow: Flow) -> None:
    flow.batch("b", "m", "n", "o")
    batch = flow.begin_batch().id
    done = flow.run_module("m", "S", batch)
    failed = flow.run_module("n", "F", batch)
    flow.end_batch(batch, "F")
    batch = flow.begin_batch().id
    wished = flow.run_module("o", "S")
    flow.set_next("C", module=wished)
    who = flow.one("SELECT session_user") + " as omd_admin"
    assert directives(flow) == [
        ("MODULE", done, "C", "PARTIAL RESTART", None),
        ("MODULE", failed, "R", "FAILURE", None),
        ("MODULE", wished, "C", "ADMINISTRATOR", who),
    ]
    codes = flow.rows("SELECT restart_batch_code FROM omd_report.directives ORDER BY instance_id")
    assert [row["restart_batch_code"] for row in codes] == ["b", None, None]


def test_a_wish_for_a_batch_is_told_of_its_modules_too(flow: Flow) -> None:
    flow.batch("b", "m")
    run = flow.run_batch("b", m="S")
    flow.set_next("R", batch=run.id)
    who = flow.one("SELECT session_user") + " as omd_admin"
    assert directives(flow) == [("BATCH", run.id, "R", "ADMINISTRATOR", who)]
    flow.begin_batch()
    assert directives(flow) == [("MODULE", run["m"].id, "R", "ADMINISTRATOR", who)]


def test_the_last_who_set_it_is_told(flow: Flow, another: Another) -> None:
    flow.module()
    id = flow.run_module()
    flow.set_next("C", module=id)
    flow.set_next("P", module=id)
    other = another()
    other.call("set_next_run_indicator", next_run_indicator="C", module_instance_id=id)
    assert directives(flow) == [
        ("MODULE", id, "C", "ADMINISTRATOR", flow.one("SELECT session_user"))
    ]


# What executes ----------------------------------------------------------------------------------


def test_what_executes_tells_where(flow: Flow) -> None:
    flow.batch("b", "m")
    flow.begin_batch("b", lease="5 minutes")
    flow.begin_module("m", 1, execution_context={"host": "h", "pid": 7, "user": "anna"})
    rows = flow.rows("SELECT * FROM omd_report.current_processing ORDER BY instance_type")
    columns = ("host", "pid", "user_name", "session_lives")
    who = flow.one("SELECT session_user")
    assert [tuple(row[column] for column in columns) for row in rows] == [
        (None, None, who, None),
        ("h", "7", who, None),
    ]


def test_what_runs_in_a_session_tells_whether_it_lives(
    flow: Flow,
    another: Another,
    background: Callable[..., Future[Any]],
    until_settled: Callable[[Flow, Future[Any]], None],
) -> None:
    flow.module("m", executable="SELECT pg_advisory_xact_lock(1)")
    flow.conn.execute("SELECT pg_advisory_lock(1)")
    session, reader = another(), another(role="omd_reader")
    pid = session.conn.info.backend_pid
    call = background(session.call, "run_module", module_code="m")
    until_settled(session, call)
    now = "SELECT pid, session_lives FROM omd_report.current_processing"
    assert reader.rows(now) == [{"pid": str(pid), "session_lives": True}]
    flow.conn.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])
    assert isinstance(call.exception(), psycopg.OperationalError)
    assert reader.rows(now) == [{"pid": str(pid), "session_lives": False}]
