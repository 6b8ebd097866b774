"""How a RELOAD replaces the content, seen by foreign keys, older snapshots and plain roles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.scene import Scene

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    Another = Callable[..., Scene]
    Background = Callable[..., Future[Any]]
    UntilSettled = Callable[[Scene, Future[Any]], None]


@pytest.fixture
def reloaded(scene: Scene) -> Scene:
    """dwh.f holds ids 1 to 4, and its source has lost 2, changed 3 and got 5 since."""
    scene.source("dwh.src", *range(1, 5))
    scene.base("dwh.f")
    scene.conn.execute(
        b"ALTER TABLE dwh.f ADD PRIMARY KEY (id);"
        b"CREATE VIEW dwh.v AS SELECT pos, id, v FROM dwh.src"
    )
    scene.topic(processor="RELOAD", transforms=["dwh.v"])
    assert scene.step().outcome == "DONE"
    scene.conn.execute(b"DELETE FROM dwh.src WHERE id = 2; UPDATE dwh.src SET v = 7 WHERE id = 3")
    scene.insert(5)
    scene.probe()
    return scene


def content(scene: Scene, table: str = "dwh.f") -> list[tuple[int, int]]:
    return [(row["id"], row["v"]) for row in scene.rows(f"SELECT id, v FROM {table} ORDER BY id")]


BEFORE, AFTER = [(i, 1) for i in range(1, 5)], [(1, 1), (3, 7), (4, 1), (5, 1)]


def test_an_older_snapshot_sees_the_old_content_and_no_empty_table(
    reloaded: Scene, another: Another
) -> None:
    reader = another()
    reader.conn.execute(b"BEGIN ISOLATION LEVEL REPEATABLE READ")
    reader.one("SELECT count(*) FROM dwh.src")
    assert reloaded.plan()["detail"] == "by DELETE"
    step = reloaded.step()
    assert (step.outcome, step.rows) == ("DONE", 4)
    assert content(reader) == BEFORE
    assert content(reloaded) == AFTER
    assert reloaded.stamps("dwh.f") == {step.id: 4}
    log = "SELECT reload_method FROM omd_lineage.log WHERE module_instance_id = %s"
    assert reloaded.one(log, step.id) == "DELETE"


@pytest.mark.parametrize("method", ["DELETE", "TRUNCATE", "SWAP"])
def test_rows_that_a_foreign_key_refers_to_stay_and_are_updated(
    reloaded: Scene, method: str
) -> None:
    told: list[str] = []
    reloaded.conn.add_notice_handler(lambda notice: told.append(notice.message_primary or ""))
    reloaded.register("dwh.f", reload_method=method)
    reloaded.conn.execute(
        b"GRANT UPDATE ON dwh.f TO omd_runner;"
        b"CREATE TABLE dwh.c (id bigint REFERENCES dwh.f); INSERT INTO dwh.c VALUES (3), (4)"
    )
    assert "the foreign key c_id_fkey of dwh.c refers to it" in reloaded.plan()["detail"]
    step = reloaded.step()
    assert (step.outcome, step.rows) == ("DONE", 4), step
    assert (content(reloaded), reloaded.stamps("dwh.f")) == (AFTER, {step.id: 4})
    assert any("dwh.f was replaced by DELETE: the foreign key c_id_fkey" in text for text in told)


def test_a_row_that_is_gone_and_referred_to_is_refused_and_nothing_changes(
    reloaded: Scene,
) -> None:
    reloaded.conn.execute(
        b"GRANT UPDATE ON dwh.f TO omd_runner;"
        b"CREATE TABLE dwh.c (id bigint REFERENCES dwh.f); INSERT INTO dwh.c VALUES (2)"
    )
    step = reloaded.step()
    assert step.outcome == "ERROR"
    assert "dwh.c refers to" in (step.detail or "")
    assert content(reloaded) == BEFORE
    (event,) = reloaded.rows(
        "SELECT event_return_code_details AS code FROM omd.event_log"
        " WHERE module_instance_id = %s AND event_return_code_details LIKE 'OM%%'",
        step.id,
    )
    assert event["code"] == "OM118"
    reloaded.conn.execute(b"DELETE FROM dwh.c")
    assert reloaded.step().outcome == "DONE"
    assert content(reloaded) == AFTER


def test_a_key_that_the_table_makes_itself_tells_no_row_from_another(reloaded: Scene) -> None:
    reloaded.conn.execute(
        b"ALTER TABLE dwh.f DROP CONSTRAINT f_pkey,"
        b" ADD own bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY;"
        b"CREATE TABLE dwh.c (own bigint REFERENCES dwh.f); INSERT INTO dwh.c VALUES (1)"
    )
    step = reloaded.step()
    assert step.outcome == "ERROR"
    assert 'no column "own"' in (step.detail or "")
    assert content(reloaded) == BEFORE


def test_two_new_rows_with_one_key_are_an_error_and_not_one_row(reloaded: Scene) -> None:
    reloaded.conn.execute(b"CREATE TABLE dwh.c (id bigint REFERENCES dwh.f)")
    reloaded.insert((3.5, 4))
    reloaded.probe()
    assert reloaded.step().outcome == "ERROR"
    assert content(reloaded) == BEFORE


def test_a_plain_role_reloads_with_select_insert_and_delete(
    reloaded: Scene, another: Another
) -> None:
    reloaded.conn.execute(
        b"GRANT USAGE ON SCHEMA dwh TO omd_runner;"
        b"GRANT SELECT ON ALL TABLES IN SCHEMA dwh TO omd_runner;"
        b"GRANT INSERT, DELETE ON dwh.f TO omd_runner"
    )
    runner = another(role="omd_runner")
    step = runner.step()
    assert step.outcome == "DONE", step
    assert content(reloaded) == AFTER


@pytest.mark.no_user_code("the policy is its own")
def test_a_policy_hides_no_row_from_a_reload(reloaded: Scene, another: Another) -> None:
    reloaded.conn.execute(
        b"GRANT USAGE ON SCHEMA dwh TO omd_runner;"
        b"GRANT SELECT, INSERT, DELETE ON ALL TABLES IN SCHEMA dwh TO omd_runner;"
        b"ALTER TABLE dwh.f DROP CONSTRAINT f_pkey, ENABLE ROW LEVEL SECURITY;"
        b"CREATE POLICY p ON dwh.f USING (id > 2) WITH CHECK (TRUE)"
    )
    step = another(role="omd_runner").step()
    assert step.outcome == "ERROR"
    assert "row-level security" in (step.detail or "")
    assert content(reloaded) == BEFORE


def test_a_reload_is_undone_by_loading_it_again(reloaded: Scene) -> None:
    """A foreign key does not let its rows go, and restate needs no undo."""
    reloaded.step()
    reloaded.conn.execute(
        b"GRANT UPDATE ON dwh.f TO omd_runner;"
        b"CREATE TABLE dwh.c (id bigint REFERENCES dwh.f); INSERT INTO dwh.c VALUES (3);"
        b"UPDATE dwh.src SET v = 8 WHERE id = 3"
    )
    given: dict[str, Any] = {"from": "2000-01-01", "to": "2030-01-01"}
    answer = reloaded.call("omd_lineage.restate", topic="dwh.f", **given)
    assert (answer["outcome"], answer["blocks"], answer["rows"]) == ("DONE", 1, 4), answer
    assert content(reloaded) == [(1, 1), (3, 8), (4, 1), (5, 1)]


# A foreign key that deletes or changes what refers to a row

STAMP = "omd_insert_module_instance_id bigint"
ACTIONS = ["CASCADE", "SET NULL", "SET DEFAULT"]


def refer(scene: Scene, action: str, stamp: int | None, id: int = 2) -> None:
    """Create dwh.c with a row of the run `stamp` that refers to a row of dwh.f."""
    scene.conn.execute(
        f"CREATE TABLE dwh.c (id bigint DEFAULT 1 REFERENCES dwh.f ON DELETE {action}, {STAMP});"
        "GRANT UPDATE ON dwh.f TO omd_runner;"
        "GRANT SELECT ON ALL TABLES IN SCHEMA dwh TO omd_runner".encode()
    )
    scene.conn.execute("INSERT INTO dwh.c VALUES (%s, %s)", [id, stamp])


def referring(scene: Scene) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in scene.rows("SELECT * FROM dwh.c")]


def refused(scene: Scene) -> str:
    """Try a step, which OM118 refuses; return what it says."""
    step = scene.step()
    assert step.outcome == "ERROR", step
    assert scene.one("SELECT max(error_code) FROM omd_lineage.error_log") == "OM118", step
    return str(step.detail)


@pytest.mark.parametrize("action", ACTIONS)
def test_a_reload_takes_no_row_of_another_run_with_it(reloaded: Scene, action: str) -> None:
    refer(reloaded, action, 999)
    detail = refused(reloaded)
    assert "lacks rows that dwh.c refers to" in detail
    assert "c_id_fkey would delete or change" in detail
    assert content(reloaded) == BEFORE
    assert referring(reloaded) == [(2, 999)]
    reloaded.conn.execute("UPDATE dwh.c SET id = 3")
    assert reloaded.step().outcome == "DONE"
    assert content(reloaded) == AFTER
    assert referring(reloaded) == [(3, 999)]


def test_what_the_replaced_run_itself_wrote_goes_with_its_rows(reloaded: Scene) -> None:
    (run,) = reloaded.stamps("dwh.f")
    refer(reloaded, "CASCADE", run)
    assert reloaded.step().outcome == "DONE"
    assert content(reloaded) == AFTER
    assert referring(reloaded) == []


def test_the_last_of_a_chain_is_seen_by_a_reload(reloaded: Scene) -> None:
    refer(reloaded, "CASCADE", None)
    reloaded.conn.execute(
        "ALTER TABLE dwh.c DROP omd_insert_module_instance_id, ADD PRIMARY KEY (id);"
        f"CREATE TABLE dwh.d (id bigint REFERENCES dwh.c ON DELETE SET NULL, {STAMP});"
        "INSERT INTO dwh.d VALUES (2, 999);"
        "GRANT SELECT, UPDATE ON ALL TABLES IN SCHEMA dwh TO omd_runner".encode()
    )
    assert "dwh.d refers to" in refused(reloaded)
    assert (content(reloaded), referring(reloaded)) == (BEFORE, [(2,)])
    reloaded.conn.execute("DROP TABLE dwh.d")
    assert reloaded.step().outcome == "DONE"
    assert referring(reloaded) == []


def test_a_key_on_a_partition_counts_although_all_rows_are_replaced(scene: Scene) -> None:
    scene.source("dwh.src", 1)
    scene.conn.execute(
        f"CREATE TABLE dwh.f (pos timestamptz, id bigint, v int, {STAMP}) PARTITION BY LIST (v);"
        "CREATE TABLE dwh.part PARTITION OF dwh.f DEFAULT;"
        "ALTER TABLE dwh.part ADD PRIMARY KEY (id);"
        f"CREATE TABLE dwh.c (id bigint REFERENCES dwh.part ON DELETE CASCADE, {STAMP});"
        "CREATE VIEW dwh.v AS SELECT pos, id, v FROM dwh.src".encode()
    )
    scene.topic(processor="RELOAD", transforms=["dwh.v"])
    assert scene.step().outcome == "DONE"
    scene.conn.execute("INSERT INTO dwh.c VALUES (1, 999)")
    scene.insert(2)
    scene.probe()
    assert "dwh.c refers to" in refused(scene)
    assert referring(scene) == [(1, 999)]


def test_who_may_not_see_what_refers_is_told_the_grant(reloaded: Scene, another: Another) -> None:
    reloaded.conn.execute(
        b"GRANT USAGE ON SCHEMA dwh TO omd_runner;"
        b"GRANT SELECT ON ALL TABLES IN SCHEMA dwh TO omd_runner;"
        b"GRANT INSERT, DELETE ON dwh.f TO omd_runner"
    )
    refer(reloaded, "CASCADE", 999)
    reloaded.conn.execute("REVOKE SELECT ON dwh.c FROM omd_runner")
    runner = another(role="omd_runner")
    refused(runner)
    told = runner.one("SELECT max(error) FROM omd_lineage.error_log")
    assert "Nothing was replaced. GRANT SELECT ON dwh.c TO omd_runner;" in told
    assert referring(reloaded) == [(2, 999)]


def test_a_reference_that_is_not_yet_committed_is_waited_for_and_seen(
    reloaded: Scene, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    refer(reloaded, "CASCADE", 999, id=3)
    writer = another()
    with writer.conn.transaction():
        writer.conn.execute("INSERT INTO dwh.c VALUES (2, 999)")
        step = background(reloaded.step)
        until_settled(reloaded, step)
        assert not step.done()
    assert step.result().outcome == "ERROR"
    assert content(reloaded) == BEFORE
    assert sorted(referring(reloaded)) == [(2, 999), (3, 999)]
