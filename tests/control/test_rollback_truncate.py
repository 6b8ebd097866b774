"""A staging table is truncated only where nobody else's row is in it (recovery.md, rule R2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from support.flow import Flow

COLUMNS = "v text, omd_insert_module_instance_id bigint"
# The target dwh.m, and the table through which the other Module loads rows of it.
SHAPES = {
    "a partition": "CREATE TABLE dwh.m ({c}) PARTITION BY LIST (v);"
    " CREATE TABLE dwh.sub PARTITION OF dwh.m DEFAULT PARTITION BY RANGE (v);"
    " CREATE TABLE dwh.other PARTITION OF dwh.sub DEFAULT",
    "the parent": "CREATE TABLE dwh.other ({c}) PARTITION BY LIST (v);"
    " CREATE TABLE dwh.m PARTITION OF dwh.other DEFAULT",
    "an inheriting table": "CREATE TABLE dwh.m ({c}); CREATE TABLE dwh.other () INHERITS (dwh.m)",
    "a view": "CREATE TABLE dwh.m ({c}); CREATE VIEW dwh.inner AS SELECT * FROM dwh.m;"
    " CREATE VIEW dwh.other AS SELECT * FROM dwh.inner",
    "a view on a partition": "CREATE TABLE dwh.m ({c}) PARTITION BY LIST (v);"
    " CREATE TABLE dwh.part PARTITION OF dwh.m DEFAULT;"
    " CREATE VIEW dwh.other AS SELECT * FROM dwh.part",
    "a rule": "CREATE TABLE dwh.m ({c}); CREATE TABLE dwh.other ({c});"
    " CREATE RULE r AS ON INSERT TO dwh.other DO INSTEAD INSERT INTO dwh.m"
    " VALUES (NEW.v, NEW.omd_insert_module_instance_id)",
}
PARTITIONED = ("a partition", "a view on a partition")


def failed_with_rows(flow: Flow, code: str = "m") -> int:
    id = flow.begin_module(code).id
    flow.write(id, f"dwh.{code}")
    return flow.end_module(id, "F")


@pytest.mark.parametrize("is_registered", [True, False])
@pytest.mark.parametrize("name", SHAPES)
def test_rows_of_another_module_stay(flow: Flow, name: str, is_registered: bool) -> None:
    """The catalogue tells who loads it; the table itself tells who did, if he is gone."""
    flow.conn.execute(SHAPES[name].format(c=COLUMNS).encode())
    flow.module("m", area_code="STG")
    flow.module("other", area_code="STG")
    good = flow.begin_module("other").id
    flow.write(good, "dwh.other")
    flow.end_module(good, "S")
    if not is_registered:
        flow.conn.execute("UPDATE omd.module SET table_code = 'dwh.gone' WHERE module_id = 2")
    failed = failed_with_rows(flow)
    (row,) = flow.rows("SELECT * FROM omd.preview_rollback(%s)", failed)
    assert (row["row_count"], row["statement"][:6]) == (2, "DELETE")
    assert flow.begin_module().array == [failed]
    assert flow.stamps() == {good: 2}


STRANGERS = {
    "another run": "SELECT module_instance_id FROM omd.module_instance WHERE module_id = 2",
    "a purged run": "SELECT 12345",
    "the placeholder": "SELECT 0",
    "nobody": "SELECT NULL::bigint",
    "no number of a run": "SELECT -7",
}


@pytest.mark.parametrize("index", [None, "", "v, "])
@pytest.mark.parametrize("stranger", STRANGERS)
def test_one_row_of_a_stranger_is_enough(flow: Flow, stranger: str, index: str | None) -> None:
    flow.module("m", area_code="STG")
    flow.module("other")
    flow.run_module("other")
    if index is not None:
        flow.conn.execute(f"CREATE INDEX ON dwh.m ({index}omd_insert_module_instance_id)".encode())
    flow.conn.execute(f"INSERT INTO dwh.m VALUES ('theirs', ({STRANGERS[stranger]}))".encode())
    for status in ("S", "F"):
        id = flow.begin_module().id
        flow.write(id)
        flow.end_module(id, status)
    flow.begin_module()
    assert [row["v"] for row in flow.rows("SELECT v FROM dwh.m WHERE v IS NOT NULL")] == ["theirs"]
    assert id not in flow.stamps()


@pytest.mark.parametrize("type", ["bigint", "integer", "numeric", "numeric(12, 2)", "real", "text"])
@pytest.mark.parametrize("indexed", [True, False])
def test_without_a_stranger_it_is_emptied_at_once(flow: Flow, type: str, indexed: bool) -> None:
    flow.module("m", area_code="STG")
    flow.conn.execute(f"ALTER TABLE dwh.m ALTER omd_insert_module_instance_id TYPE {type}".encode())
    if indexed:
        flow.conn.execute("CREATE INDEX ON dwh.m (omd_insert_module_instance_id)")
    for status in ("S", "S", "F"):
        id = flow.begin_module().id
        flow.write(id)
        flow.end_module(id, status)
    file = "SELECT pg_relation_filenode('dwh.m')"
    before = flow.one(file)
    flow.begin_module()
    assert flow.stamps() == {}
    assert flow.one(file) != before


def test_the_look_walks_from_stamp_to_stamp(flow: Flow) -> None:
    """In a partitioned table too: a few pages for each stamp and partition, not each row."""
    flow.conn.execute(
        f"CREATE TABLE dwh.m ({COLUMNS}) PARTITION BY LIST (v);"
        " CREATE TABLE dwh.a PARTITION OF dwh.m FOR VALUES IN ('a');"
        " CREATE TABLE dwh.b PARTITION OF dwh.m DEFAULT;"
        " CREATE INDEX ON dwh.m (omd_insert_module_instance_id)".encode()
    )
    flow.module("m", area_code="STG")
    ids = [flow.run_module() for _ in range(3)]
    flow.conn.execute(
        "INSERT INTO dwh.m SELECT CASE n %% 2 WHEN 0 THEN 'a' END, (%s::bigint[])[1 + n %% 3]"
        " FROM generate_series(1, 30000) AS n",
        [ids],
    )
    flow.conn.execute("VACUUM ANALYZE dwh.m")
    with flow.conn.transaction():
        assert flow.one("SELECT omd._has_strangers(1)") is False
        rows = flow.one(
            "SELECT sum(pg_stat_get_xact_tuples_returned(c)) FROM unnest(ARRAY['dwh.a'::regclass,"
            " 'dwh.b', 'dwh.a_omd_insert_module_instance_id_idx',"
            " 'dwh.b_omd_insert_module_instance_id_idx']) AS c"
        )
    assert 0 < rows < 40


def test_a_stranger_who_writes_before_the_lock_is_seen(
    flow: Flow,
    another: Callable[..., Flow],
    background: Callable[..., Future[Any]],
    until_settled: Callable[[Flow, Future[Any]], None],
) -> None:
    flow.module("m", area_code="STG")
    failed = failed_with_rows(flow)
    one, other = another(), another()
    with one.conn.transaction():
        one.write(777)
        waiting = background(other.begin_module)
        until_settled(other, waiting)
        assert not waiting.done()
    assert waiting.result().array == [failed]
    assert flow.stamps() == {777: 2}


def test_a_table_that_only_a_partition_of_it_is_referred_to(flow: Flow) -> None:
    flow.conn.execute(
        f"CREATE TABLE dwh.m ({COLUMNS}) PARTITION BY LIST (v);"
        " CREATE TABLE dwh.part PARTITION OF dwh.m (UNIQUE (v)) DEFAULT;"
        " CREATE TABLE dwh.child (v text REFERENCES dwh.part (v))".encode()
    )
    flow.module("m", area_code="STG")
    failed = failed_with_rows(flow)
    assert flow.begin_module().array == [failed]
    assert flow.stamps() == {}


def test_a_table_without_a_stamp_that_is_referred_to_can_not_be_undone(flow: Flow) -> None:
    flow.conn.execute(
        "CREATE TABLE dwh.m (v text UNIQUE); CREATE TABLE dwh.child (v text REFERENCES dwh.m (v))"
    )
    flow.module("m", area_code="STG")
    flow.run_module("m", "F")
    flow.refused("OM205", "begin_module", module_code="m")
