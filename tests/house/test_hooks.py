"""Rooms are called by rows of omd.room_hook: no room is forgotten, and what is called is ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from house.catalog import SCHEMAS
from house.exceptions import NO_HOOK
from support.offenders import assert_none

if TYPE_CHECKING:
    from collections.abc import Iterator

    Connection = psycopg.Connection[dict[str, Any]]

# What each room with tables must do, and by which hooks it does it.
DUTIES = {
    "erases a person": ("ERASE",),
    "takes its runs back": ("TAKE_BACK", "TAKE_BACK_OWN"),
}


def forgotten(conn: Connection) -> Iterator[tuple[str, str]]:
    """Return the rooms with tables that have neither a hook nor a reason for a duty, or both."""
    rooms = conn.execute(
        "SELECT DISTINCT relnamespace::regnamespace::text AS room FROM pg_class"
        f" WHERE relnamespace IN ({SCHEMAS}) AND relkind IN ('r', 'p') ORDER BY 1"
    ).fetchall()
    for row in rooms:
        for duty, hooks in DUTIES.items():
            found = conn.execute(
                "SELECT FROM omd.room_hook WHERE room = %s AND hook = ANY(%s)",
                [row["room"], list(hooks)],
            ).fetchall()
            reason = NO_HOOK.get((row["room"], hooks[0]))
            if not found and not reason:
                yield row["room"], f"no hook of it {duty}: {' or '.join(hooks)}"
            if found and reason:
                yield row["room"], f"a hook of it {duty}, and house.exceptions says that none does"


def test_each_room_with_tables_erases_and_takes_back_or_says_why_not(installed: Connection) -> None:
    assert_none(forgotten(installed))


def test_an_invented_room_would_be_found(conn: Connection) -> None:
    with conn.transaction(force_rollback=True):
        conn.execute("CREATE SCHEMA omd_quota; CREATE TABLE omd_quota.used (customer text)")
        assert {what.split(":")[0] for room, what in forgotten(conn) if room == "omd_quota"} == {
            "no hook of it erases a person",
            "no hook of it takes its runs back",
        }


def test_a_room_has_one_position_and_no_other_room_has_it(installed: Connection) -> None:
    rows = installed.execute(
        "SELECT room, array_agg(DISTINCT position) AS positions FROM omd.room_hook GROUP BY room"
    ).fetchall()
    assert all(len(row["positions"]) == 1 for row in rows), rows
    assert len({row["positions"][0] for row in rows}) == len(rows)


def test_each_hook_is_called_by_its_name(installed: Connection) -> None:
    """A hook that nobody calls, and a routine that calls one that is not there, are found."""
    rows = installed.execute(
        "SELECT h.hook, EXISTS (SELECT FROM omd.room_hook AS r WHERE r.hook = h.hook) AS used,"
        " EXISTS (SELECT FROM pg_proc AS p"
        f" WHERE p.pronamespace IN ({SCHEMAS}) AND p.prokind <> 'a'"
        " AND pg_get_functiondef(p.oid) ~ format('''%s''', h.hook)) AS called FROM omd.hook AS h"
    ).fetchall()
    assert len(rows) > 20
    assert_none((r["hook"], "no room has it") for r in rows if not r["used"])
    assert_none((r["hook"], "nobody calls it") for r in rows if not r["called"])


HEAD = "CREATE FUNCTION {} LANGUAGE plpgsql AS $$ BEGIN END $$"


@pytest.mark.parametrize(
    ("made", "hook", "room", "routine"),
    [
        ("", "HEAR_SERVER", "omd_lake", "omd_lake._none"),
        ("omd_lake._own(p int) RETURNS void", "HEAR_SERVER", "omd_lake", "omd_lake._own"),
        ("omd_lake._own(p text) RETURNS int", "HEAR_SERVER", "omd_lake", "omd_lake._own"),
        ("omd_lake._own(p text) RETURNS void", "HEAR_SERVER", "omd_event", "omd_lake._own"),
        ("omd_lake._own(p text) RETURNS void", "HEAR_SERVER", "omd_lake", "omd_lake._own; x"),
        ("public._own(p text) RETURNS void", "HEAR_SERVER", "omd_lake", "public._own"),
        ("omd_lake._own(p jsonb) RETURNS TABLE (a int)", "ERASE", "omd_lake", "omd_lake._own"),
        ("omd_lake._own(p jsonb) RETURNS omd.hook_erased", "ERASE", "omd_lake", "omd_lake._own"),
        (
            "omd_lake._own(bigint, text, boolean) RETURNS boolean",
            "END_RUN",
            "omd_lake",
            "omd_lake._own",
        ),
        ("", "NONE", "omd_lake", "omd_lake._hear_server"),
        ("", "HEAR_SERVER", "omd_lake", ""),
    ],
)
def test_a_routine_that_its_caller_could_not_call_is_refused(
    conn: Connection, made: str, hook: str, room: str, routine: str
) -> None:
    with conn.transaction(force_rollback=True):
        conn.execute("GRANT CREATE ON SCHEMA public TO omd_owner; SET LOCAL ROLE omd_owner")
        if made:
            conn.execute(HEAD.format(made).encode())
        with pytest.raises(psycopg.Error) as caught, conn.transaction():
            conn.execute(
                "INSERT INTO omd.room_hook (hook, for_code, room, routine)"
                " VALUES (%s, 'x', %s, %s)",
                [hook, room, routine],
            )
        assert caught.value.sqlstate in ("OM013", "P0002")
        assert hook in str(caught.value) or caught.value.sqlstate == "P0002"


def test_a_routine_of_somebody_else_is_refused_and_nobody_else_writes(conn: Connection) -> None:
    entered = (
        "INSERT INTO omd.room_hook (hook, room, routine)"
        " VALUES ('SKIP_COUNTERS', 'omd_lake', 'omd_lake._own')"
    )
    with conn.transaction(force_rollback=True):
        conn.execute(HEAD.format("omd_lake._own(bigint) RETURNS void").encode())  # a superuser's
        conn.execute("SET LOCAL ROLE omd_owner")
        with pytest.raises(psycopg.Error) as caught, conn.transaction():
            conn.execute(entered)
        assert caught.value.sqlstate == "OM013"
        assert "of the owner of OMD" in str(caught.value.diag.message_detail)
        conn.execute("RESET ROLE; ALTER FUNCTION omd_lake._own OWNER TO omd_owner")
        for role in ("omd_reader", "omd_runner", "omd_admin", "omd_data_reader"):
            conn.execute(f"SET LOCAL ROLE {role}".encode())
            with pytest.raises(psycopg.errors.InsufficientPrivilege), conn.transaction():
                conn.execute(entered)
            conn.execute("RESET ROLE")
        conn.execute("SET LOCAL ROLE omd_owner")
        conn.execute(entered)
