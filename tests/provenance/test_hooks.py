"""Rooms that were made a moment ago are recalled and erased by their hooks, in their positions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from provenance.persons import erase
from support.flow import Flow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from facts.store import Store
    from provenance.recalls import Recalls

# A room that keeps rows of runs and of persons, and notes when it is called.
ROOM = """
CREATE SCHEMA IF NOT EXISTS {room};
CREATE TABLE {room}.used (module_instance_id bigint, nbr bigint);
CREATE FUNCTION {room}.recall_locks(p_runs bigint[]) RETURNS void LANGUAGE sql AS
$$ INSERT INTO omd_quota.note (what) VALUES ('{room}'); LOCK TABLE {room}.used IN EXCLUSIVE MODE $$;
CREATE FUNCTION {room}.recall_follows(p_runs bigint[], p_again bigint[])
RETURNS SETOF omd.hook_follower LANGUAGE sql STABLE AS
$$ SELECT u.module_instance_id + 0, u.nbr FROM {room}.used AS u WHERE u.nbr = ANY(p_runs) $$;
CREATE FUNCTION {room}.recall_effects(p_runs bigint[], p_is_counted boolean)
RETURNS SETOF omd.hook_effect LANGUAGE sql STABLE AS $$
    SELECT
        u.module_instance_id, NULL::bigint, '{room}.used', 'UNDO', count(*), 0::bigint, NULL, NULL
    FROM {room}.used AS u WHERE u.module_instance_id = ANY(p_runs) GROUP BY 1
$$;
CREATE FUNCTION {room}.take_back(p_runs bigint[], p_by bigint, p_recall_id bigint, p_reason text)
RETURNS TABLE (module_instance_id bigint, table_code text, rows_gone bigint, rows_returned bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH gone AS (
        DELETE FROM {room}.used AS u WHERE u.module_instance_id = ANY(p_runs)
        RETURNING u.module_instance_id
    )
    SELECT g.module_instance_id, '{room}.used', count(*), 0::bigint FROM gone AS g GROUP BY 1;
    PERFORM omd.mark_taken_back(p_runs, p_by);
END $$;
CREATE FUNCTION {room}.erase_subject(p_subject jsonb) RETURNS SETOF omd.hook_erased
LANGUAGE sql AS $$
    WITH gone AS (
        DELETE FROM {room}.used AS u USING jsonb_array_elements(p_subject -> 'keys') AS k (key)
        WHERE u.nbr = (k.key ->> 'nbr')::bigint RETURNING u.nbr
    )
    SELECT 'TABLE', '{room}.used', 'DELETED', NULL::bigint, count(*), NULL, NULL::text[] FROM gone
$$;
INSERT INTO omd.module_kind (module_kind_code) VALUES ('{kind}');
INSERT INTO omd.room_hook (hook, for_code, room, routine, position) VALUES
('RECALL_LOCKS', '', '{room}', '{room}.recall_locks', {position}),
('RECALL_FOLLOWS', '', '{room}', '{room}.recall_follows', {position}),
('RECALL_EFFECTS_OWN', '', '{room}', '{room}.recall_effects', {position}),
('TAKE_BACK_OWN', '{kind} %%', '{room}', '{room}.take_back', {position}),
('ERASE', '', '{room}', '{room}.erase_subject', {position});
"""
GONE = """
DELETE FROM omd.room_hook WHERE room IN ('omd_quota', 'omd_early');
UPDATE omd.module SET module_kind_code = 'SQL' WHERE module_kind_code IN ('QUOTA', 'EARLY');
DELETE FROM omd.module_kind WHERE module_kind_code IN ('QUOTA', 'EARLY');
DROP SCHEMA IF EXISTS omd_early CASCADE; DROP SCHEMA IF EXISTS omd_quota CASCADE
"""


@pytest.fixture
def rooms(recalls: Recalls) -> Iterator[Recalls]:
    """The rooms omd_early, behind facts, and omd_quota, before all others."""
    database = recalls.one("SELECT current_database()")
    recalls.conn.execute(f'GRANT CREATE ON DATABASE "{database}" TO omd_owner'.encode())
    try:
        recalls.owner(
            "CREATE SCHEMA omd_quota; CREATE TABLE omd_quota.note (n serial, what text);"
            + ROOM.format(room="omd_early", kind="EARLY", position=25)
            + ROOM.format(room="omd_quota", kind="QUOTA", position=5)
        )
        yield recalls
    finally:
        recalls.owner(GONE)


def test_a_new_room_is_recalled_in_its_position(rooms: Recalls) -> None:
    for name in ("q", "e"):
        rooms.made(name)
    quota, early, other = rooms.go("q"), rooms.go("e"), rooms.go("q")
    for room, kind, name, run, follows in (
        ("omd_quota", "QUOTA", "q", quota, 0),
        ("omd_early", "EARLY", "e", early, quota),
        ("omd_quota", "QUOTA", "q", other, 0),
    ):
        rooms.owner(f"INSERT INTO {room}.used VALUES (%s, %s), (%s, 0)", run, follows, run)
        rooms.owner(
            f"UPDATE omd.module SET module_kind_code = '{kind}' WHERE module_code = %s", name
        )
    recall = rooms.plan(quota)
    assert sorted(rooms.items(recall, "table_code", "action", "rows_go", "relation")) == [
        ("omd_early.used", "UNDO", 2, "FOLLOWS"),
        ("omd_quota.used", "UNDO", 2, "TARGET"),
    ]
    assert rooms.recall(recall)["rows_gone"] == 4
    assert (
        rooms.rows("SELECT module_instance_id AS run FROM omd_quota.used") == [{"run": other}] * 2
    )
    assert rooms.rows("SELECT FROM omd_early.used") == []
    assert set(rooms.standing()) == {other}
    called = [row["what"] for row in rooms.rows("SELECT what FROM omd_quota.note ORDER BY n")]
    assert called == ["omd_quota", "omd_early"]  # by position, and neither by name nor by row


def test_a_new_room_is_erased_in_its_position(rooms: Recalls, persons: Store) -> None:
    for room in ("omd_early", "omd_quota"):
        Flow.owner(persons, f"INSERT INTO {room}.used VALUES (1, 7), (1, 8)")
    answer = erase(persons)
    tables = [item["table_code"] for item in answer["items"]]
    assert answer["by"]["TABLE", "omd_early.used", "DELETED"]["row_count"] == 1
    assert tables.index("omd_quota.used") < tables.index("lvl_shop.person")
    assert tables.index("omd_early.used") > max(
        n for n, item in enumerate(answer["items"]) if item["layer"] in ("CONTEXT", "ANCHOR")
    )
    for room in ("omd_early", "omd_quota"):
        assert persons.rows(f"SELECT nbr FROM {room}.used") == [{"nbr": 8}]
