"""The attacks of issue 52: a user's code meets a routine that has the rights of the owner.

Each is played by a login that has exactly the role that is named. What it leaves for OMD to meet
tells by sequences who has executed it: these keep their value when the statement rolls back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Connection = psycopg.Connection[dict[str, Any]]

LOGINS = {
    "omd_test_nobody": None,
    "omd_test_runner": "omd_runner",
    "omd_test_admin": "omd_admin",
    "omd_test_reader": "omd_reader",
}
# A role of ours is caught. Who else executes it has met it, so that no attack misses by itself.
TRAP = """
    CREATE SCHEMA evil;
    GRANT USAGE ON SCHEMA evil TO PUBLIC;
    CREATE SEQUENCE evil.caught;
    CREATE SEQUENCE evil.met;
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA evil TO PUBLIC;
    CREATE FUNCTION evil.look() RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
    BEGIN
        IF current_user LIKE 'omd\\_%' AND current_user NOT LIKE 'omd\\_test\\_%' THEN
            PERFORM pg_catalog.nextval('evil.caught');
            RAISE WARNING 'caught %', current_user;
        ELSE
            PERFORM pg_catalog.nextval('evil.met');
        END IF;
        RETURN TRUE;
    END $$;
    -- What a policy calls, and what a function must claim to be.
    CREATE FUNCTION evil.look_at(anyelement) RETURNS boolean LANGUAGE sql STABLE
    AS 'SELECT evil.look()';
"""


class Attack:
    """Sessions of logins that have one role each, and what they have left in the way."""

    def __init__(self, conn: Connection, connect: Callable[..., Connection]) -> None:
        self.conn = conn  # a superuser's, who only prepares
        self.connect = connect
        self.sessions: dict[str, Connection] = {}

    def as_(self, login: str) -> Connection:
        name = f"omd_test_{login}"
        if name not in self.sessions:
            self.sessions[name] = self.connect(user=name)
        return self.sessions[name]

    def leave_a_policy(self, owner: str, table: str) -> None:
        """The owner of a table says what a look at it executes."""
        self.as_(owner).execute(
            f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;"
            f"CREATE POLICY look ON {table} USING (evil.look());"
            f"GRANT ALL ON {table} TO PUBLIC".encode()
        )

    def value(self, sequence: str) -> int:
        row = self.conn.execute(
            "SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS n"
            f" FROM evil.{sequence}".encode()
        ).fetchone()
        assert row
        return int(row["n"])

    def failed(self) -> bool:
        return self.value("caught") == 0


@pytest.fixture
def attack(conn: Connection, connect: Callable[..., Connection]) -> Iterator[Attack]:
    for login, role in LOGINS.items():
        conn.execute(f"DROP ROLE IF EXISTS {login}".encode())
        conn.execute(f"CREATE ROLE {login} LOGIN".encode())
        if role:
            conn.execute(f"GRANT {role} TO {login}".encode())
    conn.execute(TRAP.encode())
    conn.execute("CREATE SCHEMA dwh")
    conn.execute("GRANT ALL ON SCHEMA dwh TO PUBLIC")
    attack = Attack(conn, connect)
    yield attack
    for session in attack.sessions.values():
        session.close()
    conn.execute("RESET ROLE")
    for login in LOGINS:
        conn.execute(f"DROP OWNED BY {login} CASCADE".encode())
        conn.execute(f"DROP ROLE {login}".encode())


# C1: a destination is looked at when its offset goes back.


@pytest.fixture
def topic(attack: Attack) -> Attack:
    attack.as_("runner").execute(
        "CREATE TABLE dwh.src (pos timestamptz, id bigint, PRIMARY KEY (pos, id));"
        "CREATE TABLE dwh.dest (id bigint, omd_insert_module_instance_id bigint);"
        "INSERT INTO dwh.dest VALUES (1, 1);"
        "CREATE VIEW dwh.v AS SELECT s.id FROM dwh.src AS s WHERE omd_lineage.in_block(pos, id);"
        "GRANT ALL ON ALL TABLES IN SCHEMA dwh TO PUBLIC"
    )
    attack.as_("admin").execute(
        "CALL omd_lineage.register_topic('dwh.src', p_source_offset => 'HAND');"
        "CALL omd_lineage.register_topic('dwh.dest', p_depends_on => '{dwh.src}',"
        " p_transforms => '{dwh.v}', p_start_pos => '2020-01-01 00:00:00+00')"
    )
    attack.leave_a_policy("runner", "dwh.dest")
    return attack


def test_an_offset_that_goes_back_is_no_look_of_the_owner(topic: Attack) -> None:
    notices: list[str] = []
    runner = topic.as_("admin")
    runner.add_notice_handler(lambda n: notices.append(n.message_primary or ""))
    runner.execute("CALL omd_lineage.set_offset('dwh.dest', '2019-01-01 00:00:00+00')")
    assert topic.failed()
    assert topic.value("met") > 0
    assert any("loads the rows in between again" in notice for notice in notices)


def test_a_start_that_goes_back_is_no_look_of_the_owner(topic: Attack) -> None:
    notices: list[str] = []
    admin = topic.as_("admin")
    admin.add_notice_handler(lambda n: notices.append(n.message_primary or ""))
    admin.execute(
        "CALL omd_lineage.register_topic('dwh.dest', p_start_pos => '2019-01-01 00:00:00+00')"
    )
    assert topic.failed()
    assert topic.value("met") > 0
    assert any("loads the rows in between again" in notice for notice in notices)
