"""Sinks take events under a lease, in order and at least once."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from support.events import confirm, publish, published, take
from support.flow import PASSED, Flow

LONG = timedelta(minutes=5)


@pytest.fixture
def sink(flow: Flow) -> Flow:
    """Three runs of m were published, and the sink s gets them all."""
    flow.module("m")
    flow.call("omd_event.register_sink", sink_code="s", sink_kind="PULL")
    for _ in range(3):
        flow.run_module("m")
    published(flow)
    return flow


def state(flow: Flow, *columns: str) -> tuple[Any, ...]:
    (row,) = flow.rows(f"SELECT {', '.join(columns)} FROM omd_event.sink WHERE sink_code = 's'")
    return tuple(row.values())


# Taking and confirming ----------------------------------------------------------------------------


def test_what_is_confirmed_does_not_come_again_and_all_else_does(sink: Flow) -> None:
    assert take(sink, limit=2) == [1, 2]
    assert take(sink) == [1, 2, 3, 4, 5, 6]
    confirm(sink, 3)
    assert take(sink) == [4, 5, 6]
    confirm(sink, 6)
    assert take(sink) == []
    assert state(sink, "event_number", "sent", "refused") == (6, 6, 0)


def test_the_body_of_a_pull_is_the_row_of_the_view_and_its_bytes_stay(sink: Flow) -> None:
    query = "SELECT event_number, body FROM omd_event.take_events('s', 'h')"
    first = sink.rows(query)
    sink.conn.execute("SET timezone = 'Asia/Tokyo'")
    sink.conn.execute("SET datestyle = 'German, DMY'")
    sink.conn.execute("SET intervalstyle = 'iso_8601'")
    assert sink.rows(query) == first
    sink.conn.execute("SET timezone = 'UTC'")
    for row in first:
        expected = sink.one(
            "SELECT to_jsonb(e) FROM omd_report.events AS e WHERE event_number = %s",
            row["event_number"],
        )
        assert json.loads(row["body"]) == expected


def test_no_other_holder_gets_events_while_the_lease_lasts(sink: Flow) -> None:
    assert take(sink, holder="a", lease=LONG) == [1, 2, 3, 4, 5, 6]
    assert take(sink, holder="b", lease=LONG) == []
    sink.refused("OM195", "omd_event.confirm_events", sink_code="s", holder="b", event_number=1)
    assert state(sink, "holder", "event_number") == ("a", 0)


def test_a_sender_past_its_lease_confirms_nothing(sink: Flow) -> None:
    take(sink, holder="frozen", lease=PASSED)
    sink.conn.execute("SELECT pg_sleep(0.02)")
    stale = {"sink_code": "s", "holder": "frozen", "event_number": 6}
    sink.refused("OM195", "omd_event.confirm_events", **stale)
    assert take(sink, holder="b", limit=2) == [1, 2]
    sink.refused("OM195", "omd_event.confirm_events", **stale)
    confirm(sink, 2, holder="b")
    sink.refused("OM195", "omd_event.confirm_events", **stale)
    assert state(sink, "event_number") == (2,)


def test_a_confirmation_goes_neither_backwards_nor_over_what_was_taken(sink: Flow) -> None:
    take(sink, limit=4)
    confirm(sink, 3)
    held = {"sink_code": "s", "holder": "h"}
    sink.refused("OM195", "omd_event.confirm_events", **held, event_number=2)
    sink.refused("OM195", "omd_event.confirm_events", **held, event_number=5)
    confirm(sink, 3)
    confirm(sink, 4)
    assert state(sink, "event_number", "sent") == (4, 4)


def test_a_confirmation_begins_the_lease_anew(sink: Flow) -> None:
    take(sink, lease=LONG)
    before = state(sink, "lease_expires_at")[0]
    confirm(sink, 1)
    assert state(sink, "lease_expires_at")[0] > before


def test_a_taken_batch_may_be_confirmed_after_a_smaller_one_was_taken(sink: Flow) -> None:
    take(sink)
    take(sink, limit=1)
    confirm(sink, 6)


def test_a_clock_that_was_set_back_ends_the_lease_and_the_pause(sink: Flow) -> None:
    take(sink, holder="dead")
    assert take(sink) == []
    sink.owner("UPDATE omd_event.sink SET lease_expires_at = lease_expires_at + interval '1 hour'")
    assert take(sink, holder="lives") == [1, 2, 3, 4, 5, 6]
    confirm(sink, None, holder="lives", problem="it is down")
    assert take(sink, holder="lives") == []
    sink.owner("UPDATE omd_event.sink SET not_before = not_before + interval '1 hour'")
    assert take(sink, holder="lives") == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    "act",
    [
        "CALL omd_event.send_again('s', 2)",
        "CALL omd_event.register_sink('s', p_codes => '{m}')",
        "CALL omd_event.remove_sink('s')",
        "CALL omd_event.continue_as('SAME')",
        "CALL omd_event.continue_as('NEW')",
    ],
)
def test_an_administrator_ends_the_lease(sink: Flow, act: str) -> None:
    take(sink, lease=LONG)
    sink.conn.execute(act.encode())
    with pytest.raises(psycopg.Error) as caught:
        confirm(sink, 1)
    assert caught.value.sqlstate == ("OM095" if "remove" in act else "OM195")


def test_to_take_events_holds_up_no_publisher(sink: Flow, another: Callable[..., Flow]) -> None:
    """A program without autocommit takes, and thinks for long."""
    sink.run_module("m")
    program = another(autocommit=False)
    assert take(program) == [1, 2, 3, 4, 5, 6]
    assert publish(sink) == 2
    assert take(another(), holder="b") == []  # nor does it wait for the program
    confirm(program, 6)
    program.conn.commit()
    assert state(sink, "event_number") == (6,)


# Problems and refusals ----------------------------------------------------------------------------


def test_a_problem_pauses_the_sink_longer_each_time_and_success_ends_it(sink: Flow) -> None:
    pauses = []
    for _ in range(8):
        sink.owner("UPDATE omd_event.sink SET not_before = NULL")
        assert take(sink, limit=1)
        confirm(sink, None, problem="down")
        pauses.append(state(sink, "pause")[0].total_seconds())
        assert take(sink) == []
        assert sink.one("SELECT not_before > clock_timestamp() FROM omd_report.event_sinks")
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60]
    assert state(sink, "problem", "event_number", "sent") == ("down", 0, 0)
    sink.owner("UPDATE omd_event.sink SET not_before = NULL")
    assert take(sink, limit=2) == [1, 2]
    confirm(sink, 2)
    assert state(sink, "problem", "not_before", "pause") == (None, None, None)


def test_refused_events_are_kept_and_passed(sink: Flow) -> None:
    take(sink)
    refused = [
        {"event_number": 2, "status": 422, "answer": "x" * 2000},
        {"event_number": 3, "status": "65", "answer": None},
    ]
    sink.conn.execute("CALL omd_event.confirm_events('s', 'h', 4, %s)", [json.dumps(refused)])
    assert sink.rows(
        "SELECT event_number, status, length(answer) AS length FROM omd_event.refused_event"
        " ORDER BY event_number"
    ) == [
        {"event_number": 2, "status": "422", "length": 1000},
        {"event_number": 3, "status": "65", "length": None},
    ]
    # The answer was lost, so it is confirmed again.
    sink.conn.execute("CALL omd_event.confirm_events('s', 'h', 4, %s)", [json.dumps(refused)])
    assert take(sink) == [5, 6]
    assert state(sink, "sent", "refused") == (2, 2)


@pytest.mark.parametrize(
    "refused",
    [
        {"event_number": 1},
        [1],
        [None],
        [{}],
        [{"event_number": "1"}],
        [{"event_number": 1.5}],
        [{"event_number": 0}],
        [{"event_number": 5}],
        "text",
    ],
)
def test_refusals_that_are_none_are_refused(sink: Flow, refused: object) -> None:
    take(sink)
    with pytest.raises(psycopg.Error) as caught:
        sink.conn.execute("CALL omd_event.confirm_events('s', 'h', 4, %s)", [json.dumps(refused)])
    assert caught.value.sqlstate == "OM013"
    assert state(sink, "event_number") == (0,)


# What a sink asks for -----------------------------------------------------------------------------


def test_what_a_sink_did_not_ask_for_passes_by_itself(sink: Flow) -> None:
    sink.module("n%_", table_code="dwh.m")
    sink.run_module("n%_", "F")
    published(sink)
    sink.call(
        "omd_event.register_sink",
        sink_code="f",
        sink_kind="PULL",
        event_types=["RUN_FAILED"],
        **{"from": 0},
    )
    assert take(sink, "f") == [8]
    confirm(sink, 8, "f")
    sink.call(
        "omd_event.register_sink", sink_code="c", sink_kind="PULL", codes=["n\\%%"], **{"from": 0}
    )
    assert take(sink, "c") == [7, 8]
    confirm(sink, 8, "c")
    sink.call(
        "omd_event.register_sink", sink_code="x", sink_kind="PULL", codes=["x"], **{"from": 0}
    )
    assert take(sink, "x") == []
    behind = sink.rows(
        "SELECT sink_code, event_number, behind, sent"
        " FROM omd_report.event_sinks ORDER BY sink_code"
    )
    assert [tuple(row.values()) for row in behind if row["sink_code"] != "s"] == [
        ("c", 8, 0, 2),
        ("f", 8, 0, 1),
        ("x", 8, 0, 0),
    ]


def test_a_sink_of_openlineage_gets_runs_and_batches_only(sink: Flow) -> None:
    sink.owner(
        "INSERT INTO omd_event.outbox (event_type, subject_type, subject_id, code)"
        " VALUES ('TASK_DEAD', 'TASK', 1, 'f/t')"
    )
    sink.call("omd_event.register_sink", sink_code="o", sink_kind="OPENLINEAGE", **{"from": 0})
    sink.run_module("m")
    published(sink)
    types = sink.rows("SELECT event_type FROM omd_event.take_events('o', 'h')")
    assert len(types) == 8
    assert {row["event_type"] for row in types} == {"RUN_BEGAN", "RUN_SUCCEEDED"}


def test_a_call_looks_at_ten_thousand_events_at_most(sink: Flow) -> None:
    """It moves to what it has looked at."""
    sink.owner(
        "INSERT INTO omd_event.event SELECT n, 'TASK_DEAD', 'TASK', n, 'f/t', NULL,"
        " clock_timestamp(), clock_timestamp(), gen_random_uuid(), '{}'"
        " FROM generate_series(7, 20006) AS n"
    )
    sink.owner("UPDATE omd_event.setting SET event_number = 20006")
    last = sink.run_module("m")
    assert publish(sink) == 2
    sink.call("omd_event.register_sink", sink_code="s", codes=["m"], **{"from": 6})
    assert take(sink) == []
    assert state(sink, "event_number") == (10006,)
    assert take(sink) == []
    assert state(sink, "event_number") == (20006,)
    assert take(sink) == [20007, 20008]
    assert sink.one("SELECT subject_id FROM omd_event.event WHERE event_number = 20007") == last


def test_a_sink_begins_after_the_newest_event_or_where_it_is_told(sink: Flow) -> None:
    new = {"sink_kind": "PULL"}
    answer = sink.call("omd_event.register_sink", sink_code="new", **new)
    assert answer == {"event_number": 6}
    answer = sink.call("omd_event.register_sink", sink_code="all", **new, **{"from": 0})
    assert answer == {"event_number": 0}
    assert take(sink, "all", limit=1) == [1]
    answer = sink.call("omd_event.register_sink", sink_code="some", **new, **{"from": 4})
    assert take(sink, "some") == [5, 6]
    for wrong in (-1, 7):
        sink.refused("OM013", "omd_event.register_sink", sink_code="w", **new, **{"from": wrong})


def test_null_keeps_what_is_registered(sink: Flow) -> None:
    given = {
        "sink_kind": "WEBHOOK",
        "event_types": ["RUN_FAILED"],
        "codes": ["m%"],
        "target": "https://example.org/hook?token=x",
        "format": "TEXT",
        "secret_name": "OMD_SECRET_HOOK",
        "timeout": timedelta(seconds=3),
        "inactive_indicator": "Y",
    }
    sink.call("omd_event.register_sink", sink_code="w", **given)
    sink.call("omd_event.register_sink", sink_code="w")
    (row,) = sink.rows("SELECT * FROM omd_event.sink_definition('w')")
    assert row == {"sink_code": "w", **given}
    assert take(sink, "w") == []
    assert "token" not in str(sink.rows("SELECT * FROM omd_report.event_sinks"))
    sink.call("omd_event.register_sink", sink_code="w", inactive_indicator="N", **{"from": 0})
    assert state(sink, "holder") == (None,)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"sink_code": None, "sink_kind": "PULL"}, "OM005"),
        ({"sink_code": "new"}, "OM005"),
        ({"sink_code": " ", "sink_kind": "PULL"}, "OM013"),
        ({"sink_code": "s", "sink_kind": "MAIL"}, "OM013"),
        ({"sink_code": "s", "event_types": ["RUN"]}, "OM013"),
        ({"sink_code": "s", "codes": ["a\\"]}, "OM013"),
        ({"sink_code": "s", "codes": ["a\\\\\\"]}, "OM013"),
        ({"sink_code": "s", "codes": [None]}, "OM013"),
        ({"sink_code": "s", "format": "XML"}, "OM013"),
        ({"sink_code": "s", "secret_name": "OMD_SECRET_A B"}, "OM013"),
        ({"sink_code": "s", "secret_name": "PGPASSWORD"}, "OM013"),
        ({"sink_code": "s", "secret_name": "OMD_SECRET_"}, "OM013"),
        ({"sink_code": "s", "timeout": timedelta(0)}, "OM013"),
        ({"sink_code": "s", "inactive_indicator": "X"}, "OM013"),
        ({"sink_code": "new", "sink_kind": "WEBHOOK"}, "OM013"),
        ({"sink_code": "new", "sink_kind": "WEBHOOK", "target": "ftp://x"}, "OM013"),
        ({"sink_code": "new", "sink_kind": "COMMAND", "target": "ls"}, "OM013"),
    ],
)
def test_a_sink_that_cannot_be_sent_to_is_refused(
    sink: Flow, wrong: dict[str, Any], error: str
) -> None:
    sink.refused(error, "omd_event.register_sink", **wrong)


def test_a_pattern_may_end_in_an_escaped_backslash(sink: Flow) -> None:
    sink.call("omd_event.register_sink", sink_code="s", codes=["m\\\\"], **{"from": 0})
    assert take(sink) == []


# Again --------------------------------------------------------------------------------------------


def test_send_again_gives_that_event_next(sink: Flow) -> None:
    take(sink)
    confirm(sink, 6)
    sink.call("omd_event.send_again", sink_code="s", event_number=3)
    assert take(sink) == [3, 4, 5, 6]
    sink.call("omd_event.register_sink", sink_code="s", event_types=["RUN_SUCCEEDED"])
    for wrong in (0, 7, 3):
        sink.refused("OM013", "omd_event.send_again", sink_code="s", event_number=wrong)
    sink.refused("OM005", "omd_event.send_again", sink_code="s", event_number=None)


def test_acts_on_no_sink_are_refused(flow: Flow) -> None:
    named = {"sink_code": "none"}
    flow.refused("OM095", "omd_event.remove_sink", **named)
    flow.refused("OM095", "omd_event.send_again", **named, event_number=1)
    flow.refused("OM095", "omd_event.confirm_events", **named, holder="h", event_number=1)
    flow.refused("OM005", "omd_event.remove_sink", sink_code=None)
    flow.refused("OM005", "omd_event.confirm_events", sink_code="s", holder=None, event_number=1)
    flow.refused("OM005", "omd_event.confirm_events", sink_code="s", holder="h", event_number=None)
    for query, error in (
        ("omd_event.take_events('none', 'h')", "OM095"),
        ("omd_event.take_events(NULL, 'h')", "OM005"),
        ("omd_event.take_events('s', NULL)", "OM005"),
        ("omd_event.take_events('s', 'h', 0)", "OM013"),
        ("omd_event.take_events('s', 'h', NULL)", "OM013"),
        ("omd_event.take_events('s', 'h', 1, '0')", "OM013"),
        ("omd_event.take_events('s', 'h', 1, '2 days')", "OM013"),
        ("omd_event.take_events('s', 'h', 1, NULL)", "OM013"),
        ("omd_event.sink_definition('none')", "OM095"),
    ):
        with pytest.raises(psycopg.Error) as caught:
            flow.rows(f"SELECT * FROM {query}")
        assert caught.value.sqlstate == error, query


def test_acts_leave_events_and_roles_are_kept(sink: Flow, another: Callable[..., Flow]) -> None:
    admin, runner, reader = (another(role=f"omd_{role}") for role in ("admin", "runner", "reader"))
    admin.call("omd_event.register_sink", sink_code="x", sink_kind="PULL")
    admin.call("omd_event.send_again", sink_code="s", event_number=1)
    admin.call("omd_event.configure")
    admin.call("omd_event.configure", keep=timedelta(days=1))
    admin.call("omd_event.continue_as", identity="SAME")
    admin.call("omd_event.remove_sink", sink_code="x")
    logged = sink.rows(
        "SELECT event_return_code_details AS what FROM omd.event_log WHERE event_type_code = 4"
        " AND event_return_code_details IN ('SINK', 'EVENTS') ORDER BY event_id"
    )
    assert [row["what"] for row in logged] == ["SINK", "SINK", "SINK", "EVENTS", "EVENTS", "SINK"]
    assert take(runner, limit=1) == [1]
    confirm(runner, 1)
    for session, call in (
        (reader, "SELECT * FROM omd_event.take_events('s', 'h')"),
        (reader, "CALL omd_event.confirm_events('s', 'h', 1)"),
        (runner, "CALL omd_event.register_sink('s')"),
        (runner, "CALL omd_event.remove_sink('s')"),
        (runner, "CALL omd_event.send_again('s', 1)"),
        (runner, "CALL omd_event.continue_as('SAME')"),
        (runner, "CALL omd_event.configure()"),
        (runner, "CALL omd.confirm_server('moved')"),
        (runner, "CALL omd.purge('0', 'omd_event')"),
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            session.conn.execute(call.encode())


@pytest.mark.parametrize(
    "namespace", ["prod", "https://host:8080", "team a.b", "Größe:1", "s3://b"]
)
def test_a_namespace_is_read_back_from_a_parent_as_it_was_written(
    flow: Flow, namespace: str
) -> None:
    flow.call("omd_event.configure", job_namespace=namespace)
    flow.module("m")
    run = flow.run_module("m")
    parent = flow.one("SELECT omd_event.parent_id('MODULE', %s)", run)
    back = flow.one(
        "SELECT omd_event._context_parent(jsonb_build_object('p', %s::text), 'p') -> 'job'", parent
    )
    assert back["namespace"] == namespace
    assert parent.startswith(f"{namespace}/{back['name']}/")


def test_the_settings_are_kept_and_wrong_ones_refused(flow: Flow) -> None:
    flow.call("omd_event.configure", job_namespace="prod", web_url="https://omd.example/")
    flow.call("omd_event.configure", dataset_namespace="postgres://db:5432")
    (row,) = flow.rows(
        "SELECT job_namespace, dataset_namespace, web_url, keep FROM omd_event.setting"
    )
    assert tuple(row.values()) == (
        "prod",
        "postgres://db:5432",
        "https://omd.example",
        timedelta(days=30),
    )
    for wrong in (
        {"job_namespace": " "},
        {"job_namespace": "team/a"},
        {"job_namespace": "https://host/prod"},
        {"job_namespace": "https://host/"},
        {"job_namespace": "/a"},
        {"job_namespace": "a\tb"},
        {"job_namespace": "n" * 2000},
        {"dataset_namespace": ""},
        {"web_url": "omd.example"},
        {"web_url": "javascript://x"},
        {"keep": timedelta(0)},
        {"keep": timedelta(days=-1)},
        {"keep": timedelta(days=40000)},
    ):
        flow.refused("OM013", "omd_event.configure", **wrong)
