"""Each check of the doctor about the server, in a good state and in a bad one."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from omd._core import packages
from omd.programs import embedded, install
from omd.programs.cli.doctor import of_embedded
from support.server import QUICK, VERSION
from support.servers import Servers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Doctor = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def doctor(omd_here) -> Doctor:
    """What the doctor finds in one check; a function that returns its rows."""

    def run(check: str, dsn: str, code: int | None = None) -> list[dict[str, Any]]:
        done = omd_here("doctor", "--output", "json", dsn=dsn)
        assert code is None or done.returncode == code, done.stdout
        rows = [row for row in json.loads(done.stdout) if row["check"] == check]
        assert all(row["mend"] for row in rows if row["verdict"] != "ok")
        return rows

    return run


@pytest.fixture
def reader(dsn: str) -> Iterator[str]:
    """The connection string of a user who may only read."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CREATE ROLE test_reader LOGIN IN ROLE omd_reader")
    yield make_conninfo(dsn, user="test_reader")
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("DROP ROLE test_reader")


def test_every_check_speaks_where_all_is_well(doctor, reader):
    for check in (
        "installation",
        "server known",
        "pooler",
        "standby",
        "replica identity",
        "upgrade",
        "jit",
        "schemas",
        "sessions",
    ):
        [found] = doctor(check, reader, 0)
        assert (found["verdict"], found["mend"]) == ("ok", ""), check


def test_a_database_without_omd_has_a_server_all_the_same(doctor, empty_dsn):
    assert [row["verdict"] for row in doctor("standby", empty_dsn, 5)] == ["ok"]
    assert doctor("server known", empty_dsn) == []


# durability -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def durable(new_home) -> str:
    """A server with PostgreSQL's own settings; those of the tests are faster."""
    home = new_home()
    embedded.start(home, version=VERSION)
    dsn = embedded.dsn(home, "postgres")
    with psycopg.connect(dsn, autocommit=True) as conn:
        install.install(conn)
    return dsn


def test_what_a_crash_would_lose_is_named(doctor, durable):
    def found() -> list[dict[str, Any]]:
        return doctor("durability", durable)

    assert [row["verdict"] for row in found()] == ["ok"]
    with psycopg.connect(durable, autocommit=True) as conn:
        for name in ("fsync", "full_page_writes", "synchronous_commit"):
            conn.execute(f"ALTER SYSTEM SET {name} = off")
            reload_settings(conn, name, "off")
            [row] = found()
            assert row["verdict"] == "warning"
            assert row["found"].startswith(f"{name} is off")
            for statement in row["mend"].rstrip(";").split(";"):
                conn.execute(statement)
            reload_settings(conn, name, "on")
            assert [row["verdict"] for row in found()] == ["ok"]
        conn.execute("ALTER ROLE postgres SET synchronous_commit = off")
        [row] = found()
        assert "RESET synchronous_commit" in row["mend"]
        conn.execute("ALTER ROLE postgres RESET synchronous_commit")
        assert [row["verdict"] for row in found()] == ["ok"]


def reload_settings(conn: psycopg.Connection, name: str, value: str) -> None:
    conn.execute("SELECT pg_reload_conf()")
    until = time.monotonic() + 30
    while True:  # a session that begins now may still get the setting before
        with psycopg.connect(conn.info.dsn, password=conn.info.password) as other:
            if other.execute(f"SHOW {name}").fetchone() == (value,):
                return
        assert time.monotonic() < until
        time.sleep(0.05)


# version ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("theirs", "verdict"), [("99.0.0", "bad"), ("MINOR", "ok"), ("PATCH", "ok")]
)
def test_another_version_is_told(doctor, dsn, theirs, verdict):
    major, minor, _ = install.product_version().split(".")[:3]
    theirs = {"MINOR": f"{major}.{int(minor) + 1}.0", "PATCH": f"{major}.{minor}.99"}.get(
        theirs, theirs
    )
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("UPDATE omd.installed_file SET product_version = %s", [theirs])
    [found] = doctor("installation", dsn)
    assert found["verdict"] == verdict
    assert theirs in found["found"]
    if verdict == "bad":
        assert found["mend"] == packages.install_version(99)


def test_a_database_that_needs_an_installation_is_told(doctor, dsn):
    with psycopg.connect(dsn, autocommit=True) as conn:
        # One before the release fits, and is older.
        before = f"{install.product_version()}a1"
        conn.execute("UPDATE omd.installed_file SET product_version = %s", [before])
        conn.execute(
            "UPDATE omd.installed_file SET checksum = repeat('0', 64) WHERE path ~ '^sql/views'"
        )
        # What a check asks for is not there in the older one: that check alone has no answer.
        conn.execute("ALTER FUNCTION omd.find_left_rows() RENAME TO find_left_rows_anew")
        conn.execute("ALTER VIEW omd_report.history RENAME COLUMN keep TO keep_anew")
    mend = "omd install --plan, then: omd install"
    [found] = doctor("installation", dsn, 5)
    assert (found["verdict"], found["mend"]) == ("bad", mend)


# server known -----------------------------------------------------------------------------------


def test_a_server_that_nobody_confirmed_is_bad(doctor, dsn):
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("UPDATE omd.installation SET system_identifier = 1, database_oid = 1")
        [found] = doctor("server known", dsn, 1)
        assert found["verdict"] == "bad"
        assert "omd call confirm_server --as MOVED" in found["mend"]
        conn.execute("CALL omd.confirm_server('moved', 'a test')")
    [found] = doctor("server known", dsn)
    assert found["verdict"] == "ok"


# statistics -------------------------------------------------------------------------------------


def test_who_may_not_see_others_is_told(doctor, dsn):
    with psycopg.connect(dsn, autocommit=True) as conn:
        assert [row["verdict"] for row in doctor("statistics", dsn)] == ["ok"]
        conn.execute("REVOKE pg_read_all_stats FROM omd_owner")
        try:
            [found] = doctor("statistics", dsn)
            assert found["verdict"] == "warning"
            assert "GRANT pg_read_all_stats TO omd_owner;" in found["mend"]
        finally:
            conn.execute("GRANT pg_read_all_stats TO omd_owner")


# pooler -----------------------------------------------------------------------------------------


@pytest.fixture
def pooled(dsn: str) -> Iterator[str]:
    """The same database through a PgBouncer in transaction mode."""
    program = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin")
    if program is None:
        assert not os.environ.get("OMD_REQUIRE_PGBOUNCER")
        pytest.skip("there is no pgbouncer")
    given = conninfo_to_dict(dsn)
    with tempfile.TemporaryDirectory() as name, socket.socket() as free:
        folder = Path(name)
        folder.chmod(0o755)
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        users = folder / "users"
        users.write_text(f'"{given["user"]}" ""\n')
        settings = folder / "pgbouncer.ini"
        settings.write_text(
            f"[databases]\nplace = host={given['host']} port={given.get('port', 5432)}"
            f" dbname={given['dbname']} user={given['user']}\n[pgbouncer]\n"
            f"listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
            f"pool_mode = transaction\nauth_type = any\nauth_file = {users}\n"
        )
        # The server lets in its own account only, and pgbouncer refuses to be root.
        account = Path(given["host"]).stat().st_uid
        as_whom = ["-u", pwd.getpwuid(account).pw_name] if account else []
        process = subprocess.Popen(
            [program, *as_whom, settings], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        try:
            until = time.monotonic() + 30
            while True:
                with socket.socket() as client:
                    if client.connect_ex(("127.0.0.1", port)) == 0:
                        break
                assert time.monotonic() < until
                assert process.poll() is None, process.stdout.read()
                time.sleep(0.05)
            yield f"host=127.0.0.1 port={port} dbname=place user={given['user']}"
        finally:
            process.terminate()
            process.communicate()


def test_a_pooler_is_noticed(doctor, dsn, pooled, monkeypatch):
    assert [row["verdict"] for row in doctor("pooler", dsn)] == ["ok"]
    [found] = doctor("pooler", pooled)
    assert found["verdict"] == "warning"
    assert "OMD_POOLER is auto" in found["found"]
    monkeypatch.setenv("OMD_POOLER", "session")
    assert [row["verdict"] for row in doctor("pooler", pooled)] == ["ok"]


# standby ----------------------------------------------------------------------------------------


@pytest.mark.kill
def test_a_standby_is_told_and_a_primary_that_has_one(doctor):
    with Servers() as place:
        primary = place.with_omd(VERSION)
        standby = place.standby(primary)
        [found] = doctor("standby", primary.dsn())
        assert (found["verdict"], "1 standby" in found["found"]) == ("ok", True)
        [found] = doctor("standby", standby.dsn())
        assert found["verdict"] == "warning"
        assert "Name the primary" in found["mend"]
        assert [row["verdict"] for row in doctor("installation", standby.dsn())] == ["ok"]


# jit ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cost", [0, -1])
def test_a_server_that_compiles_the_views_for_each_look_is_told(doctor, reader, cost):
    asked = make_conninfo(reader, options=f"-c jit=on -c jit_above_cost={cost}")
    with psycopg.connect(asked) as conn:
        [(compiles, database)] = conn.execute(
            "SELECT pg_jit_available(), quote_ident(current_database())"
        )
    [found] = doctor("jit", asked, 0)
    if compiles and cost == 0:
        assert found["verdict"] == "warning"
        assert f"ALTER DATABASE {database} SET jit = off;" in found["mend"]
    else:
        assert found["verdict"] == "ok"


# replica identity -------------------------------------------------------------------------------

TABLES = """
    CREATE SCHEMA dwh;
    CREATE TABLE dwh.bare (id bigint, omd_insert_module_instance_id bigint);
    CREATE TABLE dwh.keyed (id bigint PRIMARY KEY, omd_insert_module_instance_id bigint);
    CREATE TABLE dwh.strange (id bigint);
    CREATE TABLE dwh.parts (id bigint, omd_insert_module_instance_id bigint)
        PARTITION BY LIST (id);
    CREATE TABLE dwh."parts 1" PARTITION OF dwh.parts FOR VALUES IN (1);
    CALL omd.register_module('m_bare', 'INT', 'dwh.bare', 'HUB');
    CALL omd.register_module('m_keyed', 'INT', 'dwh.keyed', 'HUB');
    CALL omd.register_module('m_parts', 'INT', 'dwh.parts', 'HUB')
"""


def test_a_published_table_without_an_identity_is_bad(doctor, dsn, reader):
    def tables(code: int | None = None) -> list[str]:
        rows = doctor("replica identity", reader, code)
        return sorted(r["found"].partition(" is in")[0] for r in rows if r["verdict"] == "bad")

    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(TABLES)
        assert tables() == []
        conn.execute("CREATE PUBLICATION inserts FOR ALL TABLES WITH (publish = 'insert')")
        assert tables() == []
        for options in ("", " WITH (publish_via_partition_root)"):
            conn.execute(f"CREATE PUBLICATION everything FOR ALL TABLES{options}")
            assert tables(1) == ['dwh."parts 1"', "dwh.bare"]
            with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
                conn.execute("DELETE FROM dwh.bare")  # as the check says
            conn.execute("DROP PUBLICATION everything")
        conn.execute("CREATE PUBLICATION everything FOR ALL TABLES")
        for row in doctor("replica identity", reader):
            conn.execute(row["mend"].partition(";")[0])
        assert tables() == []
        conn.execute("DELETE FROM dwh.bare; DELETE FROM dwh.parts")
        conn.execute("ALTER TABLE dwh.keyed REPLICA IDENTITY NOTHING")
        assert tables(1) == ["dwh.keyed"]
        conn.execute("CREATE UNIQUE INDEX k ON dwh.keyed (id)")
        conn.execute("ALTER TABLE dwh.keyed REPLICA IDENTITY USING INDEX k")
        assert tables() == []
        conn.execute("DROP INDEX dwh.k")
        assert tables(1) == ["dwh.keyed"]
        conn.execute("DROP PUBLICATION inserts, everything")


def test_the_database_says_which_table_lacks_an_identity(doctor, dsn):
    """A target on Spark may have the name of a table that is here, which no rollback touches."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(TABLES)
        conn.execute("CREATE TABLE dwh.elsewhere (id bigint)")
        conn.execute(
            "CALL omd.register_module('m_spark', 'INT', 'dwh.elsewhere', 'HUB',"
            " p_platform_code => 'SPARK');"
            "CALL omd.register_module('m_other', 'INT', 'dwh.bare', 'HUB')"
        )
        conn.execute("CREATE PUBLICATION everything FOR ALL TABLES")
        commands = conn.execute(
            "SELECT DISTINCT command FROM omd.targets_without_identity() ORDER BY 1"
        ).fetchall()
    found = [row["mend"].partition(";")[0] + ";" for row in doctor("replica identity", dsn, 1)]
    assert [(command,) for command in found] == commands
    assert len(commands) == 2


def test_many_such_tables_are_counted(doctor, dsn):
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CREATE SCHEMA dwh")
        for number in range(13):
            conn.execute(f"CREATE TABLE dwh.t{number:02} (omd_insert_module_instance_id bigint)")
            conn.execute(
                f"CALL omd.register_module('m{number:02}', 'INT', 'dwh.t{number:02}', 'HUB')"
            )
        conn.execute("CREATE PUBLICATION everything FOR ALL TABLES")
        found = doctor("replica identity", dsn)
        assert len(found) == 11
        assert found[-1]["found"] == "and 3 problems more"
        assert found[-1]["mend"] == "omd report server_problems"


# upgrade ----------------------------------------------------------------------------------------


def test_an_index_that_a_kill_left_is_told(doctor, dsn, reader):
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CREATE INDEX left_here ON omd.batch (batch_description)")
        assert [row["verdict"] for row in doctor("upgrade", reader)] == ["ok"]
        conn.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'omd.left_here'::regclass"
        )
        [found] = doctor("upgrade", reader)
        assert (found["verdict"], "omd.left_here" in found["found"]) == ("warning", True)
        conn.execute(found["mend"].partition(": ")[2].rstrip(";"))
        assert [row["verdict"] for row in doctor("upgrade", reader)] == ["ok"]


def test_a_step_that_has_not_ended_is_told(doctor, dsn):
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(
            "INSERT INTO omd.upgrade_step (version, step_code, phase, started_at, ended_at, error)"
            " VALUES ('9.8.0', 'V999__x', 'backfill', now(), NULL, 'canceled on purpose')"
        )
        [found] = doctor("upgrade", dsn)
        assert found["verdict"] == "warning"
        assert "9.8.0" in found["found"]
        assert "canceled on purpose" in found["found"]
        conn.execute("UPDATE omd.upgrade_step SET ended_at = now(), error = NULL")
        assert [row["verdict"] for row in doctor("upgrade", dsn)] == ["ok"]


# embedded ---------------------------------------------------------------------------------------


def test_an_embedded_server_that_trusts_the_network_is_bad(new_home, monkeypatch):
    home = new_home()
    monkeypatch.setenv("OMD_HOME", str(home))
    assert list(of_embedded()) == []  # it does not run
    embedded.start(home, version=VERSION, settings=QUICK)
    [found] = of_embedded()
    assert (found.verdict.value, found.found) == ("ok", "it listens on its Unix socket only")

    dsn = embedded.dsn(home, "postgres")
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("ALTER SYSTEM SET listen_addresses = 'localhost'")
        hba = Path(conn.execute("SHOW hba_file").fetchone()[0])
    before = hba.read_text()
    hba.write_text(f"{before}\nhost all all 0.0.0.0/0 trust\n")
    restart(home)
    [found] = of_embedded()
    assert found.verdict.value == "bad"
    assert "trusts" in found.found
    assert str(hba) in found.mend

    hba.write_text("local all all trust\nhost all all 0.0.0.0/0 scram-sha-256\n")
    restart(home)
    [found] = of_embedded()
    assert found.verdict.value == "ok"
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("ALTER SYSTEM SET listen_addresses = ''")
    restart(home)
    [found] = of_embedded()
    assert found.found == "it listens on its Unix socket only"


def restart(home: Path) -> None:
    embedded.stop(home)
    embedded.start(home)


def test_the_doctor_asks_for_the_embedded_server(new_home, monkeypatch, doctor):
    home = new_home()
    monkeypatch.setenv("OMD_HOME", str(home))
    embedded.start(home, version=VERSION, settings=QUICK)
    [found] = doctor("embedded", embedded.dsn(home))
    assert found["verdict"] == "ok"


def test_an_embedded_server_of_somebody_else_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setenv("OMD_HOME", str(tmp_path / "none"))
    assert list(of_embedded()) == []


@pytest.mark.parametrize(
    ("where", "code", "last"),
    [
        ("reader", 0, "All that is needed is there."),
        ("empty_dsn", 5, "Not all that is needed is there: installation"),
    ],
)
def test_the_last_sentence_says_whether_all_is_there(request, omd_here, where, code, last):
    done = omd_here("doctor", dsn=request.getfixturevalue(where))
    assert done.returncode == code
    assert done.stdout.splitlines()[-1].startswith(last)
