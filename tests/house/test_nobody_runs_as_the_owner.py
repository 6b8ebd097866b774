"""The attacks of issue 52: a user's code meets a routine that has the rights of the owner.

Each is played by a login that has exactly the role that is named. What it leaves for OMD to meet
tells by sequences who has executed it: these keep their value when the statement rolls back.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from house.catalog import Catalog

    Connection = psycopg.Connection[dict[str, Any]]

pytestmark = pytest.mark.no_user_code("its own policies are what is met")

# Other suites may use the same server.
NAME = f"omd_test_{os.getpid()}"
LOGINS = {
    f"{NAME}_nobody": None,
    f"{NAME}_runner": "omd_runner",
    f"{NAME}_admin": "omd_admin",
    f"{NAME}_reader": "omd_reader",
    f"{NAME}_person": "omd_data_reader",
    f"{NAME}_writer": "omd_data_writer",
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
        IF current_user LIKE 'omd\\_%' AND current_user NOT LIKE 'omd\\_test\\_%'
            AND current_user <> 'omd_guest'
        THEN
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
        name = f"{NAME}_{login}"
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


def answer(session: Connection, statement: str) -> dict[str, Any]:
    row = session.execute(statement.encode()).fetchone()
    assert row
    return row


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


# C3: what a room begins with its own rights is rolled back by the room alone.

MODEL = """{"interface": "shop", "entities": [{"name": "orders", "key": ["nbr"],
    "attributes": [{"name": "nbr", "type": "integer"}]}]}"""


@pytest.fixture
def room(attack: Attack) -> Attack:
    """An interface with facts, an agreement, and templates that an administrator once left."""
    admin = attack.as_("admin")
    admin.execute("CALL omd_delivery.deploy_model(%s)", [MODEL])
    admin.execute("CALL omd_facts.deploy('shop')")
    admin.execute("CALL omd_delivery.register_tenant('t')")
    admin.execute("CALL omd_delivery.register_agreement('a', 't', 'shop')")
    admin.execute("CALL omd_delivery.register_agreement('w', 't', 'shop', p_layer_code => 'GDAL')")
    attack.conn.execute(
        "INSERT INTO omd.rollback_template (module_id, step, statement_template, count_template)"
        " SELECT module_id, 1, 'SELECT evil.look()', 'SELECT evil.look()::integer' FROM omd.module"
        " UNION ALL "
        "SELECT module_id, 2, 'SELECT evil.look_at(1)', NULL FROM omd.module"
        " ON CONFLICT (area_code, table_type_code, platform_code, table_format_code, module_id,"
        " step) DO UPDATE SET statement_template = excluded.statement_template"
    )
    return attack


ROOMS_OWN = ["lvl.shop.orders", "facts.shop", "gdal.w"]


@pytest.mark.parametrize("code", ROOMS_OWN)
def test_no_administrator_says_how_the_runs_of_a_room_are_undone(room: Attack, code: str) -> None:
    admin = room.as_("admin")
    with pytest.raises(psycopg.DatabaseError) as refused:
        admin.execute("CALL omd.register_rollback(%s, 'SELECT evil.look()')", [code])
    assert refused.value.sqlstate == "OM209"
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        admin.execute("UPDATE omd.rollback_template SET statement_template = 'SELECT evil.look()'")


def test_a_delivery_begins_again_without_a_template(room: Attack) -> None:
    runner = room.as_("runner")
    begin = "CALL omd_delivery.begin_delivery(1)"
    runner.execute("CALL omd_delivery.create_delivery('a', '2026-01-01 00:00:00+00')")
    runner.execute("CALL omd_delivery.report_loaded(1)")
    assert answer(runner, begin)["p_outcome"] == "RUN"
    runner.execute("CALL omd_delivery.fail_delivery(1, 1, 'broken')")
    assert answer(runner, begin)["p_outcome"] == "RUN"
    assert room.failed()
    assert room.value("met") == 0
    undone = room.conn.execute(
        "SELECT rolled_back_by_module_instance_id AS by FROM omd.module_instance"
        " WHERE execution_status_code = 'F'"
    ).fetchall()
    assert [row["by"] is None for row in undone] == [False]


def test_a_load_of_facts_begins_again_without_a_template(room: Attack) -> None:
    runner = room.as_("runner")
    begun = answer(runner, "CALL omd.begin_module('facts.shop')")["p_module_instance_id"]
    runner.execute("CALL omd.module_failure(%s, 'broken')", [begun])
    runner.execute("CALL omd_facts.load('shop')")
    assert room.failed()
    assert room.value("met") == 0
    rest = runner.execute(
        "SELECT FROM omd.module_instance WHERE execution_status_code = 'F'"
        " AND rolled_back_by_module_instance_id IS NULL"
    ).fetchall()
    assert rest == []


def test_who_begins_such_a_run_executes_no_template_either(room: Attack) -> None:
    runner = room.as_("runner")
    for code in ROOMS_OWN:
        begin = f"CALL omd.begin_module('{code}')"
        begun = answer(runner, begin)["p_module_instance_id"]
        runner.execute("CALL omd.module_failure(%s, 'broken')", [begun])
        assert answer(runner, begin)["p_processing_indicator"] == "P"
    assert (room.value("caught"), room.value("met")) == (0, 0)


# C2: who has read a run is found by where its rows are, which stand in tables of users.


@pytest.fixture
def chain(attack: Attack) -> Attack:
    """Two topics, the second of which reads the first by positions; nobody owns the first."""
    nobody = attack.as_("nobody")
    nobody.execute(
        "CREATE TABLE dwh.src (id bigint, pos timestamptz);"
        "INSERT INTO dwh.src SELECT n, '2020-01-01'::timestamptz + n * interval '1 s'"
        " FROM generate_series(1, 5) AS n;"
        "CREATE TABLE dwh.t1 (id bigint, omd_insert_module_instance_id bigint,"
        " omd_insert_datetime timestamptz DEFAULT clock_timestamp(),"
        " PRIMARY KEY (omd_insert_datetime, id));"
        "CREATE TABLE dwh.t2 (id bigint, omd_insert_module_instance_id bigint,"
        " omd_insert_datetime timestamptz DEFAULT clock_timestamp());"
        "GRANT ALL ON ALL TABLES IN SCHEMA dwh TO PUBLIC"
    )
    attack.as_("runner").execute(
        "CREATE VIEW dwh.v1 AS SELECT id FROM dwh.src WHERE omd_lineage.in_block(pos, id);"
        "CREATE VIEW dwh.v2 AS SELECT id FROM dwh.t1"
        " WHERE omd_lineage.in_block(omd_insert_datetime, id)"
    )
    admin = attack.as_("admin")
    admin.execute(
        "CALL omd_lineage.register_topic('dwh.src', p_source_offset => 'HAND');"
        "CALL omd_lineage.set_offset('dwh.src', '2020-01-01 00:00:05', 5)"
    )
    for name, before, pos in (("1", "src", "pos"), ("2", "t1", "omd_insert_datetime")):
        admin.execute(
            "CALL omd_lineage.register_topic(%s, p_depends_on => ARRAY[%s], p_transforms =>"
            " ARRAY[%s], p_maxstep => 2, p_repeat => '0', p_start_pos => '-infinity',"
            " p_pos_column => %s)",
            [f"dwh.t{name}", f"dwh.{before}", f"dwh.v{name}", pos],
        )
    runner = attack.as_("runner")
    for topic in ("dwh.t1", "dwh.t2"):
        for _ in range(5):
            runner.execute("CALL omd_lineage.step(%s)", [topic])
    attack.leave_a_policy("nobody", "dwh.t1")
    attack.leave_a_policy("nobody", "dwh.t2")
    return attack


def steps(attack: Attack, topic: str) -> list[int]:
    rows = attack.conn.execute(
        "SELECT module_instance_id AS id FROM omd.module_instance INNER JOIN omd.module"
        " USING (module_id) WHERE module_code = %s AND execution_status_code = 'S' ORDER BY 1",
        [topic],
    ).fetchall()
    return [row["id"] for row in rows]


def test_a_trace_is_no_look_of_the_owner(chain: Attack) -> None:
    first, last = steps(chain, "dwh.t1")[0], steps(chain, "dwh.t2")[-1]
    reader = chain.as_("reader")
    down = reader.execute("SELECT * FROM omd_provenance.trace(%s)", [first]).fetchall()
    up = reader.execute("SELECT * FROM omd_provenance.trace(%s, 'UP')", [last]).fetchall()
    assert chain.failed()
    assert chain.value("met") > 0
    assert {row["module_code"] for row in down} == {row["module_code"] for row in up}
    assert any(row["is_exact"] for row in down if row["direction"] == "DOWN")
    assert any(row["is_exact"] for row in up if row["direction"] == "UP")


@pytest.mark.parametrize("routine", ["readers_of", "sources_of"])
def test_readers_and_sources_are_no_look_of_the_owner(chain: Attack, routine: str) -> None:
    run = steps(chain, "dwh.t1" if routine == "readers_of" else "dwh.t2")[-1]
    reader = chain.as_("reader")
    assert reader.execute(f"SELECT * FROM omd_provenance.{routine}({run})".encode()).fetchall()
    assert chain.failed()


def test_where_a_row_comes_from_is_no_look_of_the_owner(chain: Attack) -> None:
    person = chain.as_("person")
    key = '{"id": 3}'
    told = person.execute("SELECT * FROM omd_provenance.explain('dwh.t2', %s, 'id')", [key])
    assert {"RUN", "SOURCE"} <= {row["step"] for row in told}
    traced = person.execute("SELECT * FROM omd_provenance.trace_row('dwh.t2', %s)", [key])
    assert any(row["is_exact"] for row in traced if row["direction"] == "UP")
    assert chain.failed()
    assert chain.value("met") > 0


def test_maintenance_and_recalls_are_no_look_of_the_owner(chain: Attack) -> None:
    run = steps(chain, "dwh.t1")[0]
    admin = chain.as_("admin")
    admin.execute("CALL omd.set_next_run_indicator('R', p_module_instance_id => %s)", [run])
    for login in ("admin", "runner", "reader"):
        chain.as_(login).execute("SELECT * FROM omd_report.stale_runs")
    chain.as_("runner").execute("SET omd.maintenance = 'omd_provenance.forget_unread'")
    chain.as_("runner").execute("SELECT omd_provenance.forget_unread()")
    for target in ("p_is_stale => TRUE", f"{run}"):
        # There may be nothing to recall.
        with contextlib.suppress(psycopg.DatabaseError), admin.transaction(force_rollback=True):
            admin.execute(f"CALL omd_provenance.plan_recall({target})".encode())
    assert chain.failed()


# H3: the SQL of a Module is parsed, which executes the checks of domains in it.


def test_the_sql_of_a_module_is_parsed_by_who_gives_it(attack: Attack) -> None:
    admin = attack.as_("admin")
    admin.execute(
        "CREATE TABLE dwh.t (id bigint, omd_insert_module_instance_id bigint);"
        "CREATE DOMAIN pg_temp.dom AS text CHECK (evil.look())"
    )
    admin.execute(
        "CALL omd.register_module('m', 'HSTG', 'dwh.t', p_executable => %s)",
        ["SELECT '{1}'::pg_temp.dom[], t.id FROM dwh.t AS t"],
    )
    assert attack.failed()
    assert attack.value("met") > 0
    told = admin.execute("SELECT table_code FROM omd.module_input").fetchall()
    assert [row["table_code"] for row in told] == ["dwh.t"]


# C4: a control is called where the owner writes, and its owner may change it at any moment.

CONTROL = """
    CREATE OR REPLACE FUNCTION dwh.control(p_operation text, p_old jsonb, p_new jsonb)
    RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN
        PERFORM evil.look();
        RETURN jsonb_build_object('name', current_user);
    END $$
"""


def test_a_control_is_a_copy_without_rights(room: Attack) -> None:
    admin, nobody = room.as_("admin"), room.as_("nobody")
    nobody.execute(CONTROL)
    admin.execute(
        "CALL omd_delivery.deploy_model(%s)",
        [MODEL.replace('"integer"}', '"integer"}, {"name": "name", "type": "text(64)"}')],
    )
    admin.execute("CALL omd_facts.deploy('shop')")
    admin.execute(
        "CALL omd_facts.register_control('shop', 'orders', 'c', 'INSERT', 'BEFORE', 'dwh.control')"
    )
    nobody.execute("ALTER FUNCTION dwh.control SECURITY INVOKER")
    writer = room.as_("writer")
    writer.execute("CALL omd_facts.open_delivery('w')")
    writer.execute("INSERT INTO gdal_shop.orders (nbr) VALUES (1)")
    assert room.failed()
    assert room.value("met") == 1
    assert answer(writer, "SELECT name FROM gdal_shop.orders")["name"] == "omd_guest"
    copy = "cfl_shop.control_"
    names = room.conn.execute(
        "SELECT p.oid::regprocedure::text AS name FROM pg_proc AS p"
        " WHERE p.proowner = 'omd_guest'::regrole"
    ).fetchall()
    assert [row["name"].startswith(copy) for row in names] == [True]
    for login in ("nobody", "admin", "runner", "writer"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            room.as_(login).execute(f"ALTER FUNCTION {names[0]['name']} SECURITY INVOKER".encode())


# M3: what holds the begins of unrelated Modules ends with its statement.


@pytest.mark.parametrize(
    "call",
    [
        "CALL omd_dispatch.maintain()",
        "CALL omd.maintain_rooms()",
        "SELECT omd.look_at_inputs()",
        "SELECT omd_lineage.declare_missing()",
        "SELECT omd_delivery.declare_missing()",
        "SELECT omd_decision.declare_missing()",
        "SELECT omd_provenance.forget_unread()",
    ],
)
def test_nobody_holds_maintenance_in_a_transaction(attack: Attack, call: str) -> None:
    runner = attack.as_("runner")
    with pytest.raises(psycopg.DatabaseError) as refused, runner.transaction():
        runner.execute(call.encode())
    assert refused.value.sqlstate == "OM018"
    runner.execute("CALL omd_dispatch.maintain()")
    for _ in range(6):
        runner.execute("CALL omd.maintain_rooms()")


# M2: a login without a role fills the queue of notifications.


def test_no_run_depends_on_notifications(catalog: Catalog) -> None:
    """Each notification looks at the queue first; to fill 8 GB of it would take minutes."""
    blind = {
        routine.name
        for routine in catalog
        if "pg_notify(" in routine.text and "pg_notification_queue_usage()" not in routine.text
    }
    assert blind == set()
