"""omd.next_act says what a worker does next for a Module of any kind, and changes nothing."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import omd
from support.lots import SEED, draws

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from kinds.conftest import Platform

    Others = Callable[..., Platform]
    Background = Callable[..., Future[Any]]
    UntilSettled = Callable[[Platform, Future[Any]], None]

OF_DATABASE = {"made": "STATEMENT", "facts.shop": "LOAD", "app.dst": "STEP", "s": "STAGE"}


def next_act(platform: Platform, code: str | None) -> dict[str, Any]:
    """Ask in a transaction that may not write, and return the one row."""
    with platform.conn.transaction():
        platform.conn.execute("SET TRANSACTION READ ONLY")
        (row,) = platform.rows("SELECT * FROM omd.next_act(%s)", code)
    assert list(row) == ["act", "arguments", "status", "detail"]
    assert row["arguments"]["module_code"] == code
    return row


def said(platform: Platform, code: str) -> tuple[str, str | None]:
    row = next_act(platform, code)
    return row["act"], row["status"]


def program(platform: Platform, **attributes: Any) -> None:
    platform.call(
        "omd.register_module", module_code="job", area_code="STG", table_code="app.made",
        **attributes,
    )  # fmt: skip


def test_each_kind_that_the_database_performs_has_its_act(platform: Platform) -> None:
    assert said(platform, "made") == ("STATEMENT", None)
    assert said(platform, "s") == ("STAGE", None)
    for code in ("facts.shop", "app.dst"):
        nothing = next_act(platform, code)
        assert (nothing["act"], nothing["status"]) == ("NOTHING", "C"), code
        assert nothing["detail"]
    delivery = platform.queue(1, item=[("N", 1, 10)])
    platform.come(1, 2, 3)
    rows = {code: next_act(platform, code) for code in OF_DATABASE}
    assert {code: row["act"] for code, row in rows.items()} == OF_DATABASE
    for code, row in rows.items():
        assert row["status"] is None
        assert row["arguments"]["engine_code"] == "POSTGRES"
        assert platform.go(code)["execution_status_code"] == "S", code
    needed = {code: row["arguments"] for code, row in rows.items()}
    assert needed["facts.shop"]["interface_code"] == "shop"
    assert needed["facts.shop"]["delivery_id"] == delivery
    assert needed["app.dst"]["topic"] == "app.dst"
    assert needed["s"]["stage_code"] == "s"


def test_a_topic_whose_block_was_full_takes_another_step(platform: Platform) -> None:
    platform.come(1, 2, 3, 4, 5)
    assert next_act(platform, "app.dst")["arguments"]["reason"] == "DUE"
    assert platform.go("app.dst")["execution_status_code"] == "S"
    again = next_act(platform, "app.dst")
    assert (again["act"], again["arguments"]["reason"]) == ("STEP", "FULL")


def test_a_program_is_called_by_its_job_and_without_one_begun_by_somebody(
    platform: Platform,
) -> None:
    program(platform, job="jobs_of_kinds:load")
    row = next_act(platform, "job")
    assert (row["act"], row["status"]) == ("FUNCTION", None)
    assert row["arguments"]["job"] == "jobs_of_kinds:load"
    assert row["arguments"]["engine_code"] == "SPARK"
    program(platform, job="")
    row = next_act(platform, "job")
    assert (row["act"], row["status"]) == ("BY_HAND", None)
    assert row["detail"] == "it has neither SQL nor a job"


def test_what_is_wrong_is_an_error(platform: Platform) -> None:
    for code, sqlstate in ((None, "OM005"), ("none", "OM002"), ("lvl.shop.item", "OM219")):
        with pytest.raises(psycopg.Error) as caught:
            platform.rows("SELECT * FROM omd.next_act(%s)", code)
        assert caught.value.sqlstate == sqlstate, code
    with platform.conn.transaction(force_rollback=True):
        platform.conn.execute("CREATE ROLE stranger_to_acts")
        stranger = b"SET LOCAL ROLE stranger_to_acts; SELECT * FROM omd.next_act('made')"
        with pytest.raises(psycopg.errors.InsufficientPrivilege), platform.conn.transaction():
            platform.conn.execute(stranger)
    with platform.conn.transaction():
        platform.conn.execute("SET LOCAL ROLE omd_reader")
        for code in (*OF_DATABASE, "delivery.a"):
            assert len(platform.rows("SELECT * FROM omd.next_act(%s)", code)) == 1, code


def test_nothing_is_next_for_an_inactive_module(platform: Platform) -> None:
    platform.queue(1, item=[("N", 1, 10)])
    platform.come(1, 2, 3)
    program(platform, job="jobs_of_kinds:load")
    platform.agree("x", layer_code="EXPORT", options={"export": {"target_uri": "/out"}})
    for code in (*OF_DATABASE, "job", "export.x", "delivery.a"):
        platform.call("omd.register_module", module_code=code, inactive_indicator="Y")
        row = next_act(platform, code)
        assert (row["act"], row["status"], row["detail"]) == ("NOTHING", "C", "INACTIVE"), code


@pytest.mark.parametrize("code", ["made", "app.dst"])
def test_another_that_works_at_it_is_waited_for(
    platform: Platform,
    others: Others,
    background: Background,
    until_settled: UntilSettled,
    code: str,
) -> None:
    platform.come(1, 2, 3)
    platform.conn.execute(
        "CREATE OR REPLACE VIEW app.new AS SELECT s.v"
        " FROM app.src AS s, (SELECT pg_advisory_xact_lock_shared(42)) AS gate"
        " WHERE omd_lineage.in_block(s.pos, s.id)"
    )
    other = others()
    with platform.conn.transaction():
        platform.conn.execute("SELECT pg_advisory_xact_lock(42)")
        running = background(other.go, code)
        until_settled(other, running)
        (row,) = platform.rows("SELECT * FROM omd.next_act(%s)", code)
    assert (row["act"], row["status"]) == ("NOTHING", "A"), row
    assert row["detail"]
    assert running.result(60)["execution_status_code"] == "S"
    assert said(platform, code)[1] != "A"


def test_an_export_is_due_then_resumed_then_there_is_nothing(platform: Platform) -> None:
    platform.agree("x", layer_code="EXPORT", options={"export": {"target_uri": "/out"}})
    assert said(platform, "export.x") == ("NOTHING", "C")
    platform.put(1, item=[("N", 1, 10)])
    due = next_act(platform, "export.x")
    assert (due["act"], due["status"]) == ("EXPORT", None)
    assert due["arguments"]["agreement_code"] == "x"
    created = platform.call("omd_facts.due_export", agreement_code="x")["delivery_id"]
    resumed = next_act(platform, "export.x")
    assert (resumed["act"], resumed["arguments"]["delivery_id"]) == ("RESUME", created)
    begun = platform.call("omd_facts.begin_export", delivery_id=created)
    busy = next_act(platform, "export.x")
    assert (busy["act"], busy["status"], busy["detail"]) == ("NOTHING", "A", "RUNNING")
    platform.call("omd.module_failure", module_instance_id=begun["module_instance_id"])
    assert next_act(platform, "export.x")["arguments"]["delivery_id"] == created
    platform.call("omd_facts.cancel_export", delivery_id=created, reason="no")
    assert said(platform, "export.x") == ("EXPORT", None)


def test_an_export_that_was_only_ordered_is_run_by_who_asks(platform: Platform) -> None:
    platform.agree("x", layer_code="EXPORT")
    platform.put(1, item=[("N", 1, 10)])
    assert said(platform, "export.x") == ("NOTHING", "C")
    order = "omd_facts.create_export"
    ordered = [
        platform.call(order, agreement_code="x", target_uri=f"/{n}")["delivery_id"] for n in (1, 2)
    ]
    assert next_act(platform, "export.x")["arguments"]["delivery_id"] == ordered[0]
    platform.call("omd_facts.cancel_export", delivery_id=ordered[0], reason="no")
    row = next_act(platform, "export.x")
    assert (row["act"], row["arguments"]["delivery_id"]) == ("RESUME", ordered[1])


def test_a_delivery_without_a_place_is_for_a_person(platform: Platform, dsn: str) -> None:
    assert said(platform, "delivery.a") == ("NOTHING", "C")
    delivery = platform.create(1)
    row = next_act(platform, "delivery.a")
    assert (row["act"], row["status"]) == ("BY_HAND", None)
    assert row["arguments"]["delivery_id"] == delivery
    with (
        omd.connect(dsn, lease=None) as control,
        pytest.raises(omd.errors.CallerError, match=f"data of delivery {delivery} is"),
    ):
        control.run("delivery.a")


def test_folders_are_delivered_in_their_order(platform: Platform) -> None:
    platform.agree("a", arrival={"location": "/drop", "every": "1 hour"})
    look = next_act(platform, "delivery.a")
    assert (look["act"], look["arguments"]["is_look_due"]) == ("DELIVER", True)
    assert look["arguments"]["location"] == "/drop"
    platform.call("omd_delivery.claim_look", agreement_code="a")
    assert said(platform, "delivery.a") == ("NOTHING", "C")
    files = [
        {"path": path, "bytes": 10, "modified": "2020-01-01T00:00:00Z"}
        for path in ("item.csv", "_SUCCESS")
    ]
    seen = [{"folder": f"2020-01-0{day}", "kind": "FOLDER", "files": files} for day in (2, 1)]
    platform.call("report_arrivals", agreement_code="a", seen=seen)
    found = next_act(platform, "delivery.a")
    assert (found["act"], found["arguments"]["folder"]) == ("DELIVER", "2020-01-01")
    taken = platform.call("take_arrival", agreement_code="a")
    row = next_act(platform, "delivery.a")
    assert (row["act"], row["arguments"]["delivery_id"]) == ("RESUME", taken["delivery_id"])
    assert row["arguments"]["folder"] == "2020-01-01"


@pytest.mark.random
def test_a_run_ends_as_was_said(platform: Platform) -> None:
    """Where nothing is next, a run ends with that status; else it does what the act says."""
    chance = random.Random(SEED)
    codes = list(OF_DATABASE)
    day, rows = 0, 0
    for _ in range(draws(120, least=30)):
        what = chance.random()
        code = chance.choice(codes)
        if what < 0.2:
            day += 1
            platform.queue(day, item=[("N", day, 10)])
        elif what < 0.4:
            rows += chance.randint(1, 3)
            platform.come(rows)
        elif what < 0.5:
            on = chance.choice(["Y", "N"])
            platform.call("omd.register_module", module_code=code, inactive_indicator=on)
        row = next_act(platform, code)
        before = platform.one("SELECT max(module_instance_id) FROM omd.module_instance")
        done = platform.go(code)
        status = done["execution_status_code"]
        if row["act"] == "NOTHING":
            assert row["status"] == status == "C", (code, row, done)
        else:
            assert row["act"] == OF_DATABASE[code]
            # Only a step itself sees that no row lies before the newest instant.
            assert status == "S" or (code, status) == ("app.dst", "C"), (code, row, done)
            assert (done["module_instance_id"] or 0) > before or status == "C"
