"""A rollback takes no row of another run with it through a foreign key (recovery.md, rule R2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.flow import checked

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from support.flow import Flow

    UntilSettled = Callable[[Flow, Future[Any]], None]

STAMP = "omd_insert_module_instance_id bigint"
ACTIONS = ["CASCADE", "SET NULL", "SET DEFAULT", "SET NULL (k)", "SET DEFAULT (k)"]
# Where the key refers to and where it stands: the target, and the table that the other Module
# loads.
SHAPES = {
    "tables": "CREATE TABLE dwh.hub (k integer PRIMARY KEY, {stamp});"
    " CREATE TABLE dwh.link (k integer DEFAULT 0, {stamp});",
    "both partitioned": "CREATE TABLE dwh.hub (k integer PRIMARY KEY, {stamp})"
    " PARTITION BY RANGE (k);"
    " CREATE TABLE dwh.hub_1 PARTITION OF dwh.hub DEFAULT PARTITION BY HASH (k);"
    " CREATE TABLE dwh.hub_2 PARTITION OF dwh.hub_1 FOR VALUES WITH (MODULUS 1, REMAINDER 0);"
    " CREATE TABLE dwh.link (k integer DEFAULT 0, {stamp}) PARTITION BY LIST (k);"
    " CREATE TABLE dwh.link_1 PARTITION OF dwh.link DEFAULT;",
    "the target is a partition": "CREATE TABLE dwh.whole (k integer PRIMARY KEY, {stamp})"
    " PARTITION BY RANGE (k);"
    " CREATE TABLE dwh.hub PARTITION OF dwh.whole DEFAULT;"
    " CREATE TABLE dwh.link (k integer DEFAULT 0, {stamp});",
    "the key is on a partition": "CREATE TABLE dwh.hub (k integer PRIMARY KEY, {stamp})"
    " PARTITION BY RANGE (k); CREATE TABLE dwh.part PARTITION OF dwh.hub DEFAULT;"
    " CREATE TABLE dwh.link (k integer DEFAULT 0, {stamp});",
    "an inheriting table": "CREATE TABLE dwh.hub (k integer, {stamp});"
    " CREATE TABLE dwh.part (PRIMARY KEY (k)) INHERITS (dwh.hub);"
    " CREATE TABLE dwh.link (k integer DEFAULT 0, {stamp});",
    "the target is a view": "CREATE TABLE dwh.base (k integer PRIMARY KEY, by_run bigint);"
    " CREATE VIEW dwh.inner AS SELECT by_run AS a_run, k FROM dwh.base;"
    " CREATE VIEW dwh.hub AS SELECT k, a_run AS omd_insert_module_instance_id FROM dwh.inner;"
    " CREATE TABLE dwh.link (k integer DEFAULT 0, {stamp});",
}
REFERENCED = {
    "the target is a partition": "whole",
    "the key is on a partition": "part",
    "an inheriting table": "part",
    "the target is a view": "base",
}


def shape(flow: Flow, name: str = "tables", action: str = "CASCADE") -> None:
    """Make hub <- link, a Module for each, and a row 0 of a good run in the hub."""
    flow.conn.execute(SHAPES[name].format(stamp=STAMP).encode())
    referenced = REFERENCED.get(name, "hub")
    flow.conn.execute(
        f"ALTER TABLE dwh.link ADD CONSTRAINT fk_link FOREIGN KEY (k) REFERENCES dwh.{referenced}"
        f" (k) ON DELETE {action}".encode()
    )
    for code in ("hub", "link"):
        flow.module(code)
    insert(flow, "hub", 0, flow.run_module("hub"), at=REFERENCED.get(name))


def insert(flow: Flow, table: str, k: int, id: int | None, at: str | None = None) -> None:
    flow.conn.execute(f"INSERT INTO dwh.{at or table} VALUES (%s, %s)".encode(), [k, id])


def load(flow: Flow, code: str, k: int, status: str, at: str | None = None) -> int:
    begun = flow.begin_module(code)
    assert begun.pi == "P"
    insert(flow, code, k, begun.id, at)
    return flow.end_module(begun.id, status)


def rows(flow: Flow, table: str = "link") -> list[tuple[Any, ...]]:
    found = flow.conn.execute(f"SELECT * FROM dwh.{table}".encode(), prepare=False)
    return sorted((tuple(row.values()) for row in found), key=repr)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("name", SHAPES)
def test_a_row_of_a_succeeded_run_stays_as_it_is(flow: Flow, name: str, action: str) -> None:
    shape(flow, name, action)
    failed = load(flow, "hub", 1, "F", REFERENCED.get(name))
    good = load(flow, "link", 1, "S")
    before = rows(flow), rows(flow, "hub")
    with pytest.raises(psycopg.Error) as caught:
        flow.begin_module("hub")
    detail = checked(caught.value, "OM112")
    assert detail["module_instance_ids"] == [failed]
    assert (detail["referencing_table"], detail["referencing_module_codes"]) == (
        "dwh.link", ["link"],
    )  # fmt: skip
    assert detail["referencing_instance_ids"] == [str(good)]
    assert (rows(flow), rows(flow, "hub")) == before

    # the solution that the HINT names
    hint = caught.value.diag.message_hint or ""
    command = f"CALL omd.set_next_run_indicator('R', p_module_instance_id => {good});"
    assert command in hint
    flow.conn.execute(command.encode())
    assert flow.begin_module("hub").array == [failed]
    assert [row[0] for row in rows(flow, "hub")] == [0]
    assert rows(flow) == []


@pytest.mark.parametrize("action", ACTIONS[:3])
@pytest.mark.parametrize("name", SHAPES)
def test_nothing_is_refused_where_only_the_undone_run_refers(
    flow: Flow, name: str, action: str
) -> None:
    shape(flow, name, action)
    id = flow.begin_module("hub").id
    insert(flow, "hub", 1, id, REFERENCED.get(name))
    insert(flow, "link", 1, id)
    load(flow, "link", 0, "S")
    flow.end_module(id, "F")
    assert flow.begin_module("hub").array == [id]
    kept = [row for row in rows(flow) if row[1] != id]
    assert [row[0] for row in kept] == [0]


@pytest.mark.parametrize("action", ACTIONS[:3])
def test_the_last_of_a_chain_is_seen(flow: Flow, action: str) -> None:
    """hub <- detail <- detail (itself) <- link; nobody loads detail, and it has no stamp."""
    flow.conn.execute(
        f"CREATE TABLE dwh.hub (k integer PRIMARY KEY, {STAMP});"
        " CREATE TABLE dwh.detail (k integer PRIMARY KEY, hub integer REFERENCES dwh.hub"
        " ON DELETE CASCADE, above integer REFERENCES dwh.detail ON DELETE CASCADE);"
        f" CREATE TABLE dwh.link (k integer REFERENCES dwh.detail ON DELETE {action}, {STAMP})"
        .encode()
    )  # fmt: skip
    for code in ("hub", "link"):
        flow.module(code)
    failed = load(flow, "hub", 1, "F")
    # A circle in the data, and a chain from it to the row that the link refers to.
    flow.conn.execute(
        "INSERT INTO dwh.detail VALUES (1, 1, 3), (2, NULL, 1), (3, NULL, 2), (4, NULL, 3),"
        " (9, NULL, NULL)"
    )
    good = load(flow, "link", 4, "S")
    detail = flow.refused("OM112", "begin_module", module_code="hub")
    assert detail["referencing_instance_ids"] == [str(good)]
    assert len(rows(flow, "detail")) == 5
    flow.conn.execute("UPDATE dwh.link SET k = 9")
    assert flow.begin_module("hub").array == [failed]
    assert rows(flow, "detail") == [(9, None, None)]
    assert rows(flow) == [(9, good)]


def test_a_table_without_a_stamp_goes_with_its_parent_unless_a_module_loads_it(flow: Flow) -> None:
    flow.conn.execute(
        f"CREATE TABLE dwh.hub (k integer PRIMARY KEY, {STAMP});"
        " CREATE TABLE dwh.link (k integer REFERENCES dwh.hub ON DELETE CASCADE);"
        " CREATE VIEW dwh.door AS SELECT * FROM dwh.link"
    )
    flow.module("hub")
    load(flow, "hub", 1, "F")
    flow.conn.execute("INSERT INTO dwh.link VALUES (1)")
    flow.module("loader", table_code="dwh.door")
    detail = flow.refused("OM112", "begin_module", module_code="hub")
    assert detail["referencing_module_codes"] == ["loader"]
    flow.call("retire_module", module_code="loader")
    flow.conn.execute("DELETE FROM omd.module WHERE module_code = 'loader'")
    flow.begin_module("hub")
    assert rows(flow) == []


@pytest.mark.parametrize("loaded", [False, True])
def test_a_row_without_a_stamp_counts_as_one_of_a_table_without(flow: Flow, loaded: bool) -> None:
    flow.conn.execute(
        f"CREATE TABLE dwh.hub (k integer PRIMARY KEY, {STAMP});"
        f" CREATE TABLE dwh.link (k integer REFERENCES dwh.hub ON DELETE CASCADE, {STAMP})".encode()
    )
    flow.module("hub")
    if loaded:
        flow.module("link")
    load(flow, "hub", 1, "F")
    insert(flow, "link", 1, None)
    if loaded:
        flow.refused("OM112", "begin_module", module_code="hub")
        assert rows(flow) == [(1, None)]
    else:
        flow.begin_module("hub")
        assert rows(flow) == []


@pytest.mark.parametrize("stamp", [0, 999_999, "executing"])
def test_whoever_is_not_undone_is_a_stranger(flow: Flow, stamp: Any) -> None:
    shape(flow)
    load(flow, "hub", 1, "F")
    insert(flow, "link", 1, flow.begin_module("link").id if stamp == "executing" else stamp)
    flow.refused("OM112", "begin_module", module_code="hub")


def test_a_tree_in_the_target_itself(flow: Flow) -> None:
    flow.conn.execute(
        f"CREATE TABLE dwh.hub (k integer PRIMARY KEY, {STAMP},"
        " above integer REFERENCES dwh.hub ON DELETE CASCADE)".encode()
    )
    flow.module("hub")
    failed = load(flow, "hub", 1, "F")
    flow.conn.execute("INSERT INTO dwh.hub VALUES (2, %s, 1), (3, 777, 2)", [failed])
    flow.refused("OM112", "begin_module", module_code="hub")
    flow.conn.execute("UPDATE dwh.hub SET above = NULL WHERE k = 3")
    flow.begin_module("hub")
    assert rows(flow, "hub") == [(3, 777, None)]


def test_a_module_that_keeps_rows_is_not_refused(flow: Flow) -> None:
    shape(flow)
    failed = load(flow, "hub", 1, "F")
    load(flow, "link", 1, "S")
    flow.call(
        "register_rollback", module_code="hub", statement_template="SELECT 1", keeps_rows=True
    )
    assert flow.begin_module("hub").array == [failed]
    assert len(rows(flow)) == 1


def test_a_column_that_can_not_be_null_is_told(flow: Flow) -> None:
    flow.conn.execute(
        f"CREATE TABLE dwh.hub (k integer PRIMARY KEY, {STAMP});"
        " CREATE TABLE dwh.note (k integer NOT NULL REFERENCES dwh.hub ON DELETE SET NULL)".encode()
    )
    flow.module("hub")
    load(flow, "hub", 1, "F")
    flow.conn.execute("INSERT INTO dwh.note VALUES (1)")
    detail = flow.refused("OM112", "begin_module", module_code="hub")
    assert detail["referencing_table"] == "dwh.note"


# Who may not see


@pytest.fixture
def runner(flow: Flow, another: Callable[..., Flow]) -> Flow:
    """A session of omd_runner that may load and undo the hub, and may not see the link."""
    shape(flow)
    flow.conn.execute("GRANT USAGE ON SCHEMA dwh TO omd_runner")
    flow.conn.execute("GRANT SELECT, INSERT, DELETE ON dwh.hub TO omd_runner")
    return another(role="omd_runner")


@pytest.mark.parametrize("may_update", [True, False])
@pytest.mark.no_user_code("what has a policy a runner may not see")
def test_who_may_not_see_the_link_is_told_the_grant(
    flow: Flow, runner: Flow, may_update: bool
) -> None:
    if may_update:
        flow.conn.execute("GRANT UPDATE ON dwh.hub TO omd_runner")
    failed = load(runner, "hub", 1, "F")
    good = load(flow, "link", 1, "S")
    with pytest.raises(psycopg.Error) as caught:
        runner.begin_module("hub")
    assert checked(caught.value, "OM112")["referencing_table"] == "dwh.link"
    grant = caught.value.diag.message_hint or ""
    assert grant == "GRANT SELECT ON dwh.link TO omd_runner;"
    flow.conn.execute(grant.encode())
    detail = runner.refused("OM112", "begin_module", module_code="hub")
    assert detail["referencing_instance_ids"] == [str(good)]
    flow.conn.execute("DELETE FROM dwh.link")
    assert runner.begin_module("hub").array == [failed]


@pytest.mark.no_user_code("what has a policy a runner may not see")
def test_who_may_not_use_the_schema_of_the_link_is_told_so(flow: Flow, runner: Flow) -> None:
    flow.conn.execute('CREATE SCHEMA "My other"; ALTER TABLE dwh.link SET SCHEMA "My other"')
    load(runner, "hub", 1, "F")
    grants = (
        'GRANT USAGE ON SCHEMA "My other" TO omd_runner;'
        ' GRANT SELECT ON "My other".link TO omd_runner;'
    )
    with pytest.raises(psycopg.Error) as caught:
        runner.begin_module("hub")
    assert checked(caught.value, "OM112")
    assert caught.value.diag.message_hint == grants
    flow.conn.execute(grants.encode())
    runner.begin_module("hub")


def test_a_policy_on_the_link_hides_nothing(flow: Flow, runner: Flow) -> None:
    load(runner, "hub", 1, "F")
    load(flow, "link", 1, "S")
    flow.conn.execute("GRANT SELECT ON dwh.link TO omd_runner")
    flow.conn.execute("ALTER TABLE dwh.link ENABLE ROW LEVEL SECURITY")
    detail = runner.refused("OM112", "begin_module", module_code="hub")
    assert "row-level security" in detail["problem"]
    assert len(rows(flow)) == 1


@pytest.mark.no_user_code("what has a policy a runner may not see")
def test_nobody_needs_a_right_on_what_no_run_wrote(flow: Flow, runner: Flow) -> None:
    flow.conn.execute("DROP TABLE dwh.link")
    flow.conn.execute("CREATE TABLE dwh.note (k integer REFERENCES dwh.hub ON DELETE CASCADE)")
    load(runner, "hub", 1, "F")
    flow.conn.execute("INSERT INTO dwh.note VALUES (1)")
    flow.call("retire_module", module_code="link")
    runner.begin_module("hub")
    assert rows(flow, "note") == []


# A session refers to a row while the rollback is under way


@pytest.mark.parametrize("commits", [True, False])
def test_a_reference_before_the_look_is_waited_for_and_seen(
    flow: Flow,
    another: Callable[..., Flow],
    background: Callable[..., Future[Any]],
    until_settled: UntilSettled,
    commits: bool,
) -> None:
    shape(flow)
    failed = load(flow, "hub", 1, "F")
    one, other = another(), another()
    id = one.begin_module("link").id
    with one.conn.transaction(force_rollback=not commits):
        insert(one, "link", 1, id)
        waiting = background(other.begin_module, "hub")
        until_settled(other, waiting)
        assert not waiting.done()
    if commits:
        with pytest.raises(psycopg.Error) as caught:
            waiting.result()
        assert checked(caught.value, "OM112")["referencing_instance_ids"] == [str(id)]
        assert rows(flow) == [(1, id)]
    else:
        assert waiting.result().array == [failed]
    assert len(rows(flow)) == commits


@pytest.mark.parametrize("commits", [True, False])
@pytest.mark.parametrize("depth", ["hub", "detail"])
def test_a_reference_after_the_look_waits_for_the_rollback(
    flow: Flow,
    another: Callable[..., Flow],
    background: Callable[..., Future[Any]],
    until_settled: UntilSettled,
    commits: bool,
    depth: str,
) -> None:
    """The rows to undo are locked before the look; so are the rows that go with them."""
    shape(flow)
    flow.conn.execute(
        "CREATE TABLE dwh.detail (k integer PRIMARY KEY REFERENCES dwh.hub ON DELETE CASCADE);"
        f" CREATE TABLE dwh.last (k integer REFERENCES dwh.detail ON DELETE CASCADE, {STAMP});"
        " CREATE FUNCTION dwh.pause() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NULL; END $$;"
        " CREATE TRIGGER pause BEFORE DELETE ON dwh.hub EXECUTE FUNCTION dwh.pause()".encode()
    )
    failed = load(flow, "hub", 1, "F")
    flow.conn.execute("INSERT INTO dwh.detail VALUES (1)")
    table = {"hub": "link", "detail": "last"}[depth]
    one, other = another(), another()
    id = other.begin_module("link").id
    with one.conn.transaction(force_rollback=not commits):
        flow.conn.execute("SELECT pg_advisory_lock(7)")
        undoing = background(one.begin_module, "hub")
        until_settled(one, undoing)  # it has looked, and stands before the DELETE
        assert not undoing.done()
        referring = background(insert, other, table, 1, id)
        until_settled(other, referring)
        assert not referring.done()
        flow.conn.execute("SELECT pg_advisory_unlock(7)")
        assert undoing.result().array == [failed]
    if commits:
        with pytest.raises(psycopg.errors.ForeignKeyViolation):
            referring.result()
        assert rows(flow, table) == []
    else:
        referring.result()
        assert rows(flow, table) == [(1, id)]


def test_a_snapshot_from_before_can_not_look(flow: Flow) -> None:
    flow.module()
    failed = flow.begin_module().id
    flow.write(failed)
    flow.end_module(failed, "F")
    id = flow.create_module()
    flow.rows("SELECT * FROM omd._answer_module(%s)", id)
    with flow.conn.transaction():
        flow.conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        flow.refused("OM014", "rollback_module", module_instance_id=id)
