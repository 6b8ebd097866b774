"""Who is no superuser installs, upgrades and removes OMD: administrators as managed servers have.

Each is built from the documents of a service: what its first login may do, and of which groups it
is a member.
"""

from __future__ import annotations

import subprocess

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from facts.store import Store
from omd.programs import embedded, install
from provenance.persons import erase, find, set_up
from support.events import published
from support.flow import Flow
from support.programs import BIN
from support.scene import Scene
from support.server import QUICK, VERSION

pytestmark = pytest.mark.server  # what a role may do differs between versions of PostgreSQL

ADMINISTRATORS = {
    "rds": """
        CREATE ROLE service NOLOGIN;
        GRANT pg_monitor, pg_signal_backend, pg_read_all_data, pg_write_all_data, {checkpoint}
        TO service {admin};
        CREATE ROLE administrator LOGIN CREATEDB CREATEROLE IN ROLE service;
        ALTER DATABASE place OWNER TO administrator""",
    "cloudsql": """
        CREATE ROLE service NOLOGIN CREATEDB CREATEROLE;
        CREATE ROLE administrator LOGIN CREATEDB CREATEROLE IN ROLE service;
        ALTER DATABASE place OWNER TO service""",
    "azure": """
        CREATE ROLE service NOLOGIN;
        GRANT pg_monitor, pg_read_all_stats, pg_read_all_settings, pg_stat_scan_tables
        TO service {admin};
        CREATE ROLE administrator LOGIN CREATEDB CREATEROLE REPLICATION IN ROLE service;
        GRANT CREATE ON DATABASE place TO administrator WITH GRANT OPTION""",
}
AFTERWARDS = """
    DROP OWNED BY administrator;
    DROP ROLE administrator;
    DROP OWNED BY service;
    DROP ROLE service
"""
ADDED = "CREATE OR REPLACE FUNCTION omd.added() RETURNS integer LANGUAGE sql AS 'SELECT 1';\n"
# Something of each room.
ALL_ROOMS = """
    GRANT omd_admin, omd_runner, omd_data_writer TO CURRENT_USER;
    CREATE SCHEMA dwh;
    CREATE TABLE dwh.base (pos timestamptz, id bigint, PRIMARY KEY (pos, id));
    CREATE TABLE dwh.t (id bigint, omd_insert_module_instance_id bigint);
    CREATE VIEW dwh.v AS SELECT b.id FROM dwh.base AS b WHERE omd_lineage.in_block(b.pos, b.id);
    CALL omd.register_module('m', 'INT', 'dwh.t', 'HUB', p_executable =>
        'INSERT INTO dwh.t SELECT 1, current_setting(''omd.module_instance_id'')::bigint');
    CALL omd.run_module('m');
    CALL omd_lineage.register_topic('dwh.base');
    CALL omd_dispatch.register_family('PARCEL', '{"DEPOT": "text"}');
    CALL omd_dispatch.register_task_type('PARCEL', 'LABEL', 'PYTHON', 'depot:label');
    CALL omd_dispatch.create_task('PARCEL', 'LABEL', '{"DEPOT": "Lyon"}');
    CALL omd_delivery.deploy_model('{"interface": "shop", "entities": [{"name": "orders",
        "key": ["nbr"], "attributes": [{"name": "nbr", "type": "integer"}]}]}');
    CALL omd_delivery.register_tenant('t');
    CALL omd_delivery.register_agreement('a', 't', 'shop');
    CALL omd_facts.deploy('shop');
    CALL omd_lake.register_namespace('lake', 'file:///tmp/nowhere')
"""


@pytest.fixture(scope="module")
def server(new_home) -> str:
    """A new server without OMD, since roles belong to the whole server."""
    home = new_home()
    embedded.start(home, version=VERSION, settings=QUICK)
    return embedded.dsn(home, "postgres")


@pytest.fixture
def place(server):
    """A database of the server, as a superuser."""
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute("CREATE DATABASE place")
        yield make_conninfo(server, dbname="place")
        conn.execute("DROP DATABASE place WITH (FORCE)")
        conn.execute(AFTERWARDS)


def make(place: str, kind: str, *, with_admin: bool) -> str:
    """Create an administrator; return the connection string."""
    text = ADMINISTRATORS[kind].format(
        admin="WITH ADMIN OPTION" if with_admin else "",
        checkpoint="pg_checkpoint",
    )
    with psycopg.connect(place, autocommit=True) as conn:
        conn.execute(text)
    return make_conninfo(place, user="administrator")


def dumped(dsn: str) -> tuple[str, str]:
    """Return the schema of a database, and the roles of its server."""

    def run(program: str, *arguments: str) -> str:
        done = subprocess.run(
            [BIN / program, *arguments], check=True, capture_output=True, text=True
        )
        noise = ("\\restrict", "\\unrestrict")
        return "\n".join(x for x in done.stdout.splitlines() if not x.startswith(noise))

    return run("pg_dump", "-s", dsn), run("pg_dumpall", "--roles-only", "-d", dsn)


def test_the_command_tells_every_warning(place, omd_here):
    dsn = make(place, "cloudsql", with_admin=False)
    hint = "Hint: As a superuser: GRANT pg_read_all_stats TO omd_owner;"
    done = omd_here("install", dsn=dsn)
    assert done.returncode == 0, done.stderr
    first, *warned = done.stderr.splitlines()
    assert first.startswith("Installed omd")  # the result comes first
    told = [] if knows("cloudsql", False) else [hint]
    assert [line for line in warned if line.startswith("Hint")] == told
    assert len(warned) == 2 * len(told)
    done = omd_here("uninstall", "--yes", dsn=dsn)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("kind", "with_admin"),
    [("rds", True), ("cloudsql", False), ("azure", True), ("rds", False), ("azure", False)],
)
def test_an_administrator_installs_upgrades_and_removes(place, tree, psql, kind, with_admin):
    dsn = make(place, kind, with_admin=with_admin)
    before = dumped(place)
    with psycopg.connect(dsn, autocommit=True) as conn:
        told = []
        conn.add_notice_handler(
            lambda notice: told.append((notice.severity_nonlocalized, notice.message_hint))
        )
        install.install(conn)
        grant = "As a superuser: GRANT pg_read_all_stats TO omd_owner;"
        assert told == ([] if knows(kind, with_admin) else [("WARNING", grant)])
        if with_admin or kind == "cloudsql":  # the others differ in the installation only
            for statement in ALL_ROOMS.split(";\n"):
                conn.execute(statement)
            assert conn.execute("SELECT count(*) FROM dwh.t").fetchone() == (1,)
        tree.add_repeatable("procedures/omd/added.sql", ADDED)
        install.install(conn, tree.root)
    if with_admin:
        with psycopg.connect(dsn, autocommit=True) as conn:
            install.uninstall(conn)
    else:
        done = psql(dsn, install.sql_root() / install.UNINSTALL)
        assert "ERROR" not in done.stderr
    with psycopg.connect(dsn, autocommit=True) as conn:
        kept = conn.execute(
            "SELECT string_agg(quote_ident(nspname), ', ') FROM pg_namespace"
            " WHERE nspname ~ '^(lvl|wrk|stg|cfl|gdal|asof|history|dwh)'"
        ).fetchone()
        if kept[0] is not None:
            conn.execute(f"DROP SCHEMA {kept[0]} CASCADE")
    assert dumped(place) == before


def test_psql_installs_as_an_administrator_too(place, psql):
    dsn = make(place, "azure", with_admin=True)
    before = dumped(place)
    done = psql(dsn, install.sql_root() / install.MANIFEST)
    assert (done.returncode, done.stderr) == (0, "")
    with psycopg.connect(dsn, autocommit=True) as conn:
        install.uninstall(conn)
    assert dumped(place) == before


@pytest.mark.parametrize(
    ("takes", "lacks"),
    [
        ("ALTER ROLE administrator NOCREATEROLE", "CREATEROLE"),
        (
            "ALTER DATABASE place OWNER TO postgres",
            "CREATE on the database place WITH GRANT OPTION",
        ),
    ],
)
def test_what_the_installer_lacks_is_named(place, takes, lacks):
    dsn = make(place, "rds", with_admin=True)
    with psycopg.connect(place, autocommit=True) as conn:
        conn.execute(takes)
    before = dumped(place)
    with (
        psycopg.connect(dsn, autocommit=True) as conn,
        pytest.raises(install.InstallError, match=lacks) as caught,
    ):
        install.install(conn)
    assert caught.value.sqlstate == "OM906"
    assert caught.value.hint
    assert dumped(place) == before


def test_another_administrator_gets_to_know_what_he_lacks(place):
    dsn = make(place, "cloudsql", with_admin=False)
    with psycopg.connect(dsn, autocommit=True) as conn:
        install.install(conn)
    with psycopg.connect(place, autocommit=True) as conn:
        conn.execute("CREATE ROLE second LOGIN CREATEROLE IN ROLE service")
    second = make_conninfo(place, user="second")
    try:
        with psycopg.connect(second, autocommit=True) as conn:
            if VERSION < 16:  # there CREATEROLE is enough
                install.install(conn)
            else:
                for refused in (install.install, install.uninstall):
                    with pytest.raises(install.InstallError, match="omd_owner") as caught:
                        refused(conn)
                    assert caught.value.sqlstate == "OM906"
    finally:
        with psycopg.connect(place, autocommit=True) as conn:
            install.uninstall(conn)
            conn.execute("DROP OWNED BY second; DROP ROLE second")


KINDS = [(kind, with_admin) for kind in ADMINISTRATORS for with_admin in (True, False)]


@pytest.mark.parametrize(("kind", "with_admin"), KINDS)
def test_all_rooms_run_as_an_administrator(place, kind, with_admin):
    """His login has the roles, as it may grant them, and no right that he did not give."""
    dsn = make(place, kind, with_admin=with_admin)
    with psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as conn:
        conn.prepare_threshold = None
        install.install(conn)
        conn.execute("GRANT omd_admin, omd_runner, omd_data_writer TO CURRENT_USER")
        conn.execute("CREATE SCHEMA dwh")
        # Process control: a run that fails, its rollback, and the server's own runs.
        flow = Flow(conn)
        flow.batch("b", "m")
        flow.run_module("m", status="F")
        batch = flow.begin_batch()
        flow.run_module("m", batch=batch.id)
        flow.end_batch(batch.id, "S")
        conn.execute(
            "CALL omd.register_module('sql', 'INT', 'dwh.t', 'HUB', p_executable => "
            "'INSERT INTO dwh.t SELECT current_setting(''omd.module_instance_id'')::bigint')"
        )
        conn.execute("CREATE TABLE dwh.t (omd_insert_module_instance_id bigint)")
        assert flow.call("run_module", module_code="sql")["execution_status_code"] == "S"
        assert flow.one("SELECT count(*) FROM dwh.t") == 1
        assert flow.one(
            "SELECT lease_expires_at > now() + interval '23 hours' FROM omd.module_instance"
            " WHERE is_session_bound"
        ) == (None if knows(kind, with_admin) else True)
        # Lineage
        scene = Scene(conn, changes_role=False)
        scene.source("dwh.src", 1, 2, 3)
        scene.topic()
        step = scene.step()
        assert (step.outcome, step.rows) == (
            ("DONE", 2) if knows(kind, with_admin) else (step.outcome, step.rows)
        )
        assert step.outcome in ("DONE", "NOJOBS"), step
        # Tasks
        conn.execute("CALL omd_dispatch.register_family('PARCEL', '{\"DEPOT\": \"text\"}')")
        conn.execute(
            "CALL omd_dispatch.register_task_type('PARCEL', 'LABEL', 'PYTHON', 'depot:label')"
        )
        conn.execute("CALL omd_dispatch.create_task('PARCEL', 'LABEL', '{\"DEPOT\": \"Lyon\"}')")
        flow.call("omd_dispatch.register_backend", backend_type="WORKER", backend_id="w1")
        (task,) = flow.rows("SELECT * FROM omd_dispatch.claim_tasks('w1', 1)")
        done = {"task_id": task["task_id"], "claim_token": task["claim_token"], "outcome": "S"}
        answer = flow.call("omd_dispatch.complete_tasks", backend_id="w1", results=Jsonb([done]))
        assert answer["refused"] == []
        # Deliveries, facts and provenance
        store = Store(conn)
        set_up(store)
        assert store.now("person", "nbr, name") != []
        erased = erase(store)
        assert erased["erasure_id"] is not None
        assert find(store) == []
        conn.execute(
            "SELECT * FROM omd_provenance.explain('gdal_shop.person', %s, 'name')",
            [Jsonb({"nbr": 8})],
        )
        # Events, lakes, purges
        assert ("RUN_FAILED", 1) in published(flow)
        conn.execute("CALL omd_lake.register_namespace('lake', 'file:///tmp/nowhere')")
        conn.execute("CALL omd.purge(interval '1 day')")
        for view in conn.execute(
            "SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'v'"
            " AND relnamespace = 'omd_report'::regnamespace"
        ).fetchall():
            conn.execute(f"SELECT * FROM {view['name']} LIMIT 1")
        install.uninstall(conn)


OUTSIDE = """
    SELECT 'role ' || rolname FROM pg_roles
    UNION
    SELECT format('membership of %I in %I', member::regrole, roleid::regrole) FROM pg_auth_members
    UNION
    SELECT format('%s on database %I', a.privilege_type, d.datname)
    FROM pg_database AS d CROSS JOIN LATERAL aclexplode(d.datacl) AS a
    WHERE d.datname = current_database() AND a.grantee = to_regrole('omd_owner')
"""


@pytest.mark.parametrize(("kind", "with_admin"), KINDS)
def test_the_plan_of_an_administrator_names_what_then_lies_outside(place, kind, with_admin):
    dsn = make(place, kind, with_admin=with_admin)

    def seen() -> set[str]:
        return {row[0] for row in conn.execute(OUTSIDE)}

    with psycopg.connect(dsn, autocommit=True) as conn:
        before = seen()
        planned = {step.path for step in install.plan_outside(conn)}
        install.install(conn, only=install.Part.ROLES)
        assert planned == seen() - before
        assert {step.action for step in install.plan_outside(conn)} == {install.Action.KEEP}
        install.uninstall(conn)
        assert seen() == before


@pytest.mark.skipif(VERSION < 16, reason="there whoever may create roles may grant that")
def test_a_run_whose_statement_was_broken_off_ends_with_its_lease(place):
    """A pool keeps its connection open, and omd_owner can't see that its statement has ended."""
    dsn = make(place, "cloudsql", with_admin=False)
    with (
        psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as conn,
        psycopg.connect(dsn, autocommit=True) as pooled,
    ):
        install.install(conn)
        flow = Flow(conn)
        conn.execute("GRANT omd_admin, omd_runner TO CURRENT_USER; CREATE SCHEMA dwh")
        flow.module()
        pooled.execute("CALL omd.begin_in_database_run('m', 0, 'SELECT 1')")
        assert flow.begin_module("m").pi == "A"
        state = "SELECT execution_status_code FROM omd.module_instance WHERE module_instance_id = 1"
        assert flow.one(state) == "E"
        flow.owner("UPDATE omd.module_instance SET lease_expires_at = now() - interval '1 s'")
        assert flow.begin_module("m").pi in ("P", "R")
        assert flow.one(state) == "F"
        with psycopg.connect(place, autocommit=True) as superuser:
            superuser.execute("GRANT pg_read_all_stats TO omd_owner")
        pooled.execute("CALL omd.begin_in_database_run('m', 0, 'SELECT 1')")
        assert (
            flow.rows(
                "SELECT FROM omd.module_instance WHERE module_instance_id > 3"
                " AND lease_expires_at IS NOT NULL"
            )
            == []
        )
        install.uninstall(conn)


@pytest.mark.skipif(VERSION < 16, reason="there a membership says nothing of it")
@pytest.mark.parametrize("grants", ["INHERIT FALSE, SET TRUE", "INHERIT FALSE, SET FALSE"])
def test_a_removal_takes_the_rights_that_it_needs(place, grants):
    """DROP OWNED BY needs INHERIT, not only SET."""
    dsn = make(place, "azure", with_admin=True)
    before = dumped(place)
    with psycopg.connect(dsn, autocommit=True) as conn:
        install.install(conn)
        for role in ("omd_owner", "omd_runner"):
            conn.execute(f"GRANT {role} TO CURRENT_USER WITH {grants}")
        install.uninstall(conn)
    assert dumped(place) == before


def knows(kind: str, with_admin: bool) -> bool:
    """Return whether omd_owner may see the statements of other roles."""
    # On 15 who may create roles may also grant those of PostgreSQL.
    return VERSION < 16 or (with_admin and kind != "cloudsql")
