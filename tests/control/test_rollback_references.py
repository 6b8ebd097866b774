"""Rollback of targets that foreign keys refer to: the referring Modules are rolled back first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from support.flow import Flow

STAMP = "omd_insert_module_instance_id bigint"


def vault(flow: Flow, *, partitioned: bool = False) -> None:
    """hub <- link <- sat, each with a Module of that name, registered child first, in Batch b."""
    by = " PARTITION BY HASH (k)" if partitioned else ""
    flow.conn.execute(
        f"CREATE TABLE dwh.hub (k integer PRIMARY KEY, {STAMP});"
        f" CREATE TABLE dwh.link (k integer PRIMARY KEY REFERENCES dwh.hub, {STAMP}){by};"
        f" CREATE TABLE dwh.sat (k integer REFERENCES dwh.link, {STAMP})".encode()
    )
    if partitioned:
        flow.conn.execute(
            "CREATE TABLE dwh.link_0 PARTITION OF dwh.link FOR VALUES WITH (MODULUS 1, REMAINDER 0)"
        )
    for code in ("sat", "link", "hub"):
        flow.module(code, table_type_code="HUB")
    flow.batch("b", "hub", "link", "sat")


def load(flow: Flow, batch: int, k: int, *codes: str, status: str = "S") -> dict[str, int]:
    ids = {}
    for code in codes:
        begun = flow.begin_module(code, batch)
        assert begun.pi == "P", begun
        flow.conn.execute(f"INSERT INTO dwh.{code} VALUES (%s, %s)".encode(), [k, begun.id])
        ids[code] = flow.end_module(begun.id, status)
    return ids


def counts(flow: Flow) -> list[int]:
    return [flow.one(f"SELECT count(*) FROM dwh.{code}") for code in ("hub", "link", "sat")]


def undone_by(flow: Flow) -> dict[int, int | None]:
    return {
        row["module_instance_id"]: row["by"]
        for row in flow.rows(
            "SELECT module_instance_id, rolled_back_by_module_instance_id AS by"
            " FROM omd.module_instance WHERE module_instance_id > 0"
        )
    }


def mark_all(flow: Flow) -> None:
    flow.conn.execute(
        "UPDATE omd.module_instance SET next_run_indicator = 'R' WHERE module_instance_id > 0"
    )


@pytest.mark.parametrize("partitioned", [False, True])
def test_a_batch_marked_r_is_undone_although_its_rows_refer_to_each_other(
    flow: Flow, partitioned: bool
) -> None:
    vault(flow, partitioned=partitioned)
    first = flow.begin_batch().id
    load(flow, first, 1, "hub", "link", "sat")
    flow.end_batch(first, "S")
    second = flow.begin_batch().id
    wrong = load(flow, second, 2, "hub", "link", "sat")
    flow.end_batch(second, "S")
    flow.set_next("R", batch=second)

    third = flow.begin_batch().id
    planned = flow.rows("SELECT statement FROM omd.build_rollback_sql(%s)", wrong["hub"])
    assert [row["statement"].split()[2] for row in planned] == ["dwh.sat", "dwh.link", "dwh.hub"]
    begun = flow.begin_module("hub", third)
    assert (begun.pi, begun.array) == ("P", [wrong["hub"]])
    assert counts(flow) == [1, 1, 1]
    assert {id: by for id, by in undone_by(flow).items() if by} == dict.fromkeys(
        wrong.values(), begun.id
    )
    flow.end_module(begun.id, "S")
    again = flow.begin_module("link", third)
    assert (again.pi, again.array) == ("P", [])


def test_a_failed_link_goes_before_the_hub_it_refers_to(flow: Flow) -> None:
    vault(flow)
    hub = load(flow, 0, 1, "hub", status="S")["hub"]
    link = load(flow, 0, 1, "link", status="F")["link"]
    flow.set_next("R", module=hub)
    (row,) = flow.rows("SELECT * FROM omd_report.pending_rollbacks WHERE module_code = 'hub'")
    assert row["companion_instance_ids"] == [link]
    assert flow.begin_module("hub").array == [hub]
    assert counts(flow) == [0, 0, 0]


def test_a_link_alone_leaves_the_hub_alone(flow: Flow) -> None:
    vault(flow)
    hub = load(flow, 0, 1, "hub", status="F")["hub"]
    flow.owner("UPDATE omd.module_instance SET end_datetime = now() WHERE module_instance_id = 1")
    link = load(flow, 0, 1, "link", status="F")["link"]
    assert flow.begin_module("link").array == [link]
    assert counts(flow) == [1, 0, 0]
    assert undone_by(flow)[hub] is None


def test_what_goes_with_a_referring_module_goes_too(flow: Flow) -> None:
    """The Module is a companion of the link, in the same Batch Instance, but refers to nothing."""
    vault(flow)
    flow.module("copy", area_code="HSTG", table_type_code=None)
    flow.module("link", companion_module_codes=["copy"])
    flow.batch("b", "hub", "link", "copy")
    batch = flow.begin_batch().id
    ids = load(flow, batch, 1, "hub", "link")
    copy = flow.run_module("copy", "S", batch)
    flow.write(copy, "dwh.copy")
    flow.end_batch(batch, "S")
    flow.set_next("R", module=ids["hub"])
    flow.set_next("R", module=ids["link"])
    begun = flow.begin_module("hub")
    assert flow.stamps("dwh.copy") == {}
    assert undone_by(flow)[copy] == begun.id


def test_a_module_of_no_batch_with_a_window_goes_back_by_itself(flow: Flow) -> None:
    """A part that gives it load windows, such as a topic, must move its position back."""
    vault(flow)
    hub = load(flow, 0, 1, "hub")["hub"]
    flow.module("free", table_code="dwh.link")
    begun = flow.begin_module("free")
    flow.conn.execute("CALL omd.create_load_window(%s, p_end_id => 5, p_start_id => 0)", [begun.id])
    flow.conn.execute("INSERT INTO dwh.link VALUES (1, %s)", [begun.id])
    flow.end_module(begun.id, "S")
    mark_all(flow)
    detail = flow.refused("OM112", "begin_module", module_code="hub")
    assert detail["referencing_module_codes"] == ["free", "link"]
    assert flow.begin_module("free").array == [begun.id]
    assert flow.begin_module("hub").array == [hub]


def test_rows_of_a_run_that_stands_are_named(flow: Flow) -> None:
    vault(flow)
    hub = load(flow, 0, 1, "hub")["hub"]
    load(flow, 0, 1, "link")
    flow.set_next("R", module=hub)
    detail = flow.refused("OM112", "begin_module", module_code="hub")
    assert detail["referencing_table"] == "dwh.link"
    assert detail["referencing_module_codes"] == ["link"]
    assert detail["module_instance_ids"] == [hub]
    assert counts(flow) == [1, 1, 0]


def test_rows_that_no_module_loads_are_named_too(flow: Flow) -> None:
    vault(flow)
    hub = load(flow, 0, 1, "hub")["hub"]
    flow.conn.execute("CREATE TABLE dwh.manual (k integer REFERENCES dwh.hub ON DELETE RESTRICT)")
    flow.conn.execute("INSERT INTO dwh.manual VALUES (1)")
    flow.set_next("R", module=hub)
    detail = flow.refused("OM112", "begin_module", module_code="hub")
    assert (detail["referencing_table"], detail["referencing_module_codes"]) == ("dwh.manual", [])


def test_tables_that_refer_to_each_other_in_a_circle_come_to_an_end(flow: Flow) -> None:
    flow.conn.execute(
        f"CREATE TABLE dwh.hub (k integer PRIMARY KEY, {STAMP}, other integer);"
        f" CREATE TABLE dwh.link (k integer PRIMARY KEY REFERENCES dwh.hub, {STAMP});"
        " ALTER TABLE dwh.hub ADD FOREIGN KEY (other) REFERENCES dwh.link,"
        " ADD FOREIGN KEY (k) REFERENCES dwh.hub".encode()
    )
    flow.module("hub")
    flow.module("link", table_type_code="LINK")
    load(flow, 0, 1, "hub", "link")
    mark_all(flow)
    assert flow.begin_module("hub").pi == "P"
    assert flow.rows("SELECT FROM dwh.hub UNION ALL SELECT FROM dwh.link") == []


def test_a_staging_table_that_is_referred_to_loses_its_rows_one_by_one(flow: Flow) -> None:
    flow.module("m", area_code="STG")
    flow.conn.execute("ALTER TABLE dwh.m ADD k integer UNIQUE")
    flow.conn.execute("CREATE TABLE dwh.child (k integer REFERENCES dwh.m (k))")
    id = flow.begin_module().id
    flow.write(id)
    flow.end_module(id, "F")
    assert flow.begin_module().array == [id]
    assert flow.stamps() == {}


@pytest.mark.parametrize(("first", "second"), [("hub", "link"), ("link", "hub")])
@pytest.mark.parametrize("commits", [True, False])
def test_a_module_and_one_that_it_takes_with_it_begin_one_after_the_other(
    flow: Flow,
    another: Callable[..., Flow],
    background: Callable[..., Future[Any]],
    until_settled: Callable[[Flow, Future[Any]], None],
    first: str,
    second: str,
    commits: bool,
) -> None:
    vault(flow)
    ids = load(flow, 0, 1, "hub", "link")
    mark_all(flow)
    one, other = another(), another()
    with one.conn.transaction(force_rollback=not commits):
        begun = one.begin_module(first)
        waiting = background(other.begin_module, second)
        until_settled(other, waiting)
        assert not waiting.done()
    answer = waiting.result()
    assert (begun.pi, answer.pi) == ("P", "P")
    by = undone_by(flow)
    assert by[ids["link"]] == (begun.id if commits else answer.id)
    if first == "hub" and not commits:
        assert by[ids["hub"]] is None
        assert counts(flow) == [1, 0, 0]
    else:
        assert by[ids["hub"]] == (begun.id if first == "hub" else answer.id)
        assert counts(flow) == [0, 0, 0]


# Constraints that wait for the end of the transaction


def test_a_deferred_key_is_checked_in_the_rollback(flow: Flow) -> None:
    flow.conn.execute(
        f"CREATE TABLE dwh.hub (k integer PRIMARY KEY, {STAMP});"
        f" CREATE TABLE dwh.link (k integer REFERENCES dwh.hub DEFERRABLE INITIALLY DEFERRED,"
        f" {STAMP})".encode()
    )
    for code in ("hub", "link"):
        flow.module(code)
    hub = load(flow, 0, 1, "hub")["hub"]
    load(flow, 0, 1, "link")
    flow.set_next("R", module=hub)
    detail = flow.refused("OM112", "begin_module", module_code="hub")
    assert (detail["referencing_table"], detail["referencing_module_codes"]) == (
        "dwh.link",
        ["link"],
    )


def test_after_a_rollback_a_deferred_key_waits_again(flow: Flow) -> None:
    flow.conn.execute(
        f"CREATE TABLE dwh.hub (k integer PRIMARY KEY, {STAMP});"
        f" CREATE TABLE dwh.link (k integer REFERENCES dwh.hub DEFERRABLE INITIALLY DEFERRED,"
        f" {STAMP})".encode()
    )
    flow.module("hub")
    load(flow, 0, 1, "hub", status="F")
    with flow.conn.transaction():
        begun = flow.begin_module("hub")
        assert len(begun.array or []) == 1
        flow.conn.execute("INSERT INTO dwh.link VALUES (2, %s)", [begun.id])
        flow.conn.execute("INSERT INTO dwh.hub VALUES (2, %s)", [begun.id])


@pytest.mark.parametrize("action", ["", " ON DELETE RESTRICT"])
def test_two_hubs_that_refer_to_each_other_name_the_way_out(flow: Flow, action: str) -> None:
    flow.conn.execute(
        f"CREATE TABLE dwh.a (k integer PRIMARY KEY, {STAMP}, other integer);"
        f" CREATE TABLE dwh.b (k integer PRIMARY KEY, {STAMP}, other integer REFERENCES"
        f" dwh.a{action}); ALTER TABLE dwh.a ADD CONSTRAINT other FOREIGN KEY (other)"
        f" REFERENCES dwh.b{action}".encode()
    )
    ids = []
    for code in ("a", "b"):
        flow.module(code)
        id = flow.begin_module(code).id
        flow.conn.execute(f"INSERT INTO dwh.{code} VALUES (1, %s)".encode(), [id])
        ids.append(id)
    flow.conn.execute("UPDATE dwh.a SET other = 1")
    flow.conn.execute("UPDATE dwh.b SET other = 1")
    for id in ids:
        flow.end_module(id, "F")
    with pytest.raises(psycopg.Error) as caught:
        flow.begin_module("a")
    assert caught.value.sqlstate == "OM112"
    hint = caught.value.diag.message_hint or ""
    (command,) = re.findall(r"(ALTER TABLE dwh\.[^;]*;)", hint)
    flow.conn.execute(command.encode())
    assert flow.begin_module("a").array == [ids[0]]
    assert flow.rows("SELECT k FROM dwh.a UNION ALL SELECT k FROM dwh.b") == []
