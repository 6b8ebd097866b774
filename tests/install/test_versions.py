"""Which installation goes on: not an older one, and one at a time."""

from __future__ import annotations

import re
import subprocess
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

import omd
from omd import errors
from omd.programs import install

ROOT = install.sql_root()
MINE = install.product_version()


@pytest.fixture
def installed(dsn):
    with psycopg.connect(dsn, autocommit=True) as conn:
        yield conn


@pytest.fixture
def empty(empty_dsn):
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        yield conn


def state(conn):
    return conn.execute("SELECT * FROM omd.installed_file ORDER BY path").fetchall()


def call_it(conn, version, where=""):
    conn.execute(f"UPDATE omd.installed_file SET product_version = '{version}' {where}")


@pytest.mark.parametrize("where", ["", "WHERE kind = 'repeatable'", "WHERE path ~ 'V150'"])
@pytest.mark.parametrize("newer", ["99.0.0", f"{MINE}.1", "1.10.0rc1"])
def test_an_older_version_is_refused_before_it_writes(installed, dump, newer, where):
    call_it(installed, newer, where)
    before = state(installed)
    for refused in (install.install, install.plan, install.needs_install):
        with pytest.raises(install.InstallError) as caught:
            refused(installed)
        assert caught.value.sqlstate == "OM903"
        assert isinstance(caught.value, errors.lookup("OM903"))
        assert f"omd {newer}" in caught.value.message
        assert f"omd {MINE}" in caught.value.message
    assert state(installed) == before


def test_the_command_and_psql_name_both_versions(installed, omd_here, psql):
    call_it(installed, "99.0.0")
    before = state(installed)
    done = omd_here("install", dsn=installed.info.dsn)
    assert done.returncode == 1
    assert re.search(f"omd 99.0.0, and this is omd {MINE}.*OM903", done.stderr, re.DOTALL)
    done = omd_here("install", "--allow-downgrade", dsn=installed.info.dsn)
    assert done.returncode == 1  # it is another minor version
    assert omd_here("doctor", dsn=installed.info.dsn).returncode == 5
    done = psql(installed.info.dsn, ROOT / install.MANIFEST)
    assert done.returncode == 3
    assert f"this database has omd 99.0.0, and this is omd {MINE}" in done.stderr
    assert state(installed) == before


def test_a_downgrade_within_a_minor_version_may_be_allowed(installed, omd_here):
    newer = re.sub(r"[0-9]+$", "99", MINE)
    call_it(installed, newer)
    assert omd_here("install", dsn=installed.info.dsn).returncode == 1
    done = omd_here("install", "--allow-downgrade", dsn=installed.info.dsn)
    assert done.returncode == 0, done.stderr
    assert install.installed_version(installed) == MINE
    assert omd_here("install", dsn=installed.info.dsn).returncode == 0


@pytest.fixture
def ancient(empty):
    """The smallest database from before 1.0: a list with the first of its migrations."""
    with install.pinned(empty):
        for entry in install.read_manifest():
            if entry.kind is install.Kind.SETUP:
                empty.execute(entry.text)
        empty.execute(
            "INSERT INTO omd.installed_file (path, kind, checksum)"
            " VALUES ('migrations/V001__process_control.sql', 'migration', 'a')"
        )
    return empty


@pytest.mark.parametrize("way", ["install", "--plan", "--dry-run", "--script", "psql"])
def test_a_database_from_before_the_first_release_is_refused_and_stays(
    ancient, omd_here, psql, dump, way
):
    before = state(ancient), dump(ancient.info.dsn)
    if way == "psql":
        done = psql(ancient.info.dsn, ROOT / install.MANIFEST)
        assert done.returncode == 3
    else:
        done = omd_here("install", *[way][way == "install" :], dsn=ancient.info.dsn)
        assert done.returncode == 1
        assert "OM908" in done.stderr
        assert done.stdout == ""
    assert f"database has OMD from before 1.0, which omd {MINE} does not upgrade" in done.stderr
    assert "dump the data and load it into a new installation" in done.stderr
    assert (state(ancient), dump(ancient.info.dsn)) == before


def test_the_error_says_that_the_database_is_from_before_the_first_release(ancient, omd_here):
    for refused in (install.install, install.plan, install.needs_install):
        with pytest.raises(errors.lookup("OM908")) as caught:
            refused(ancient)
        assert caught.value.sqlstate == "OM908"
        assert isinstance(caught.value, install.InstallError)
    assert omd_here("doctor", dsn=ancient.info.dsn).returncode == 5


@pytest.mark.parametrize("former", [None, "0.0.9", "0+unknown"])
def test_a_newer_version_is_installed_where_no_file_differs(installed, former):
    call_it(installed, former or MINE)
    if former is None:
        installed.execute("UPDATE omd.installed_file SET product_version = NULL")
    install.install(installed)
    versions = installed.execute("SELECT DISTINCT product_version FROM omd.installed_file")
    assert versions.fetchall() == [(MINE,)]


def test_psql_tells_the_version_too_and_knows_what_is_not_its_own(empty, psql, tree):
    done = psql(empty.info.dsn, ROOT / install.MANIFEST)
    assert (done.returncode, done.stderr) == (0, "")
    assert install.installed_version(empty) == MINE
    tree.add_migration("V999__more", "CREATE TABLE omd.more (i integer);")
    assert psql(empty.info.dsn, tree.manifest).returncode == 0
    before = state(empty)
    done = psql(empty.info.dsn, ROOT / install.MANIFEST)
    assert done.returncode == 3
    assert "V999__more.sql, which omd" in done.stderr
    assert state(empty) == before


def test_the_version_stands_in_one_file():
    """The package reads it there, and so do psql and the build."""
    told = r"(?m)^\\set version '(.*)'$"
    assert re.findall(told, (ROOT / "sql/setup/release.psql").read_text()) == [MINE]
    assert omd.__version__ == MINE
    manifest = (ROOT / install.MANIFEST).read_text()
    assert not re.search(told, manifest)
    assert manifest.index("\\ir setup/release.psql") < manifest.index("\\ir setup/version.psql")
    project = (ROOT / "pyproject.toml").read_text()
    assert 'path = "sql/setup/release.psql"' in project
    assert not re.search(r'(?m)^version = "', project)


@pytest.mark.parametrize("way", ["omd", "psql"])
def test_commands_and_database_tell_the_same_version(empty, psql, way):
    if way == "omd":
        install.install(empty)
    else:
        assert psql(empty.info.dsn, ROOT / install.MANIFEST).returncode == 0
    assert empty.execute("SELECT omd.product_version()").fetchone() == (MINE,)
    for command in ("omd", "pgomd"):
        program = Path(sysconfig.get_path("scripts")) / command
        done = subprocess.run([program, "--version"], check=True, capture_output=True, text=True)
        assert done.stdout == f"omd {MINE}\n"


def test_another_version_in_that_file_is_another_version_everywhere(empty, psql, tree):
    """psql tells the database what stands in the file beside it."""
    file = tree.root / "sql/setup/release.psql"
    file.write_text(file.read_text().replace(MINE, "1.77.0"))
    assert psql(empty.info.dsn, tree.manifest).returncode == 0
    assert install.installed_version(empty) == "1.77.0"


def test_the_first_installation_names_who_holds_its_lock(empty, psql):
    impatient = make_conninfo(empty.info.dsn, options="-c lock_timeout=200ms")
    with psycopg.connect(empty.info.dsn, autocommit=True, application_name="a stranger") as other:
        other.execute("SELECT pg_advisory_lock(7302500, 0)")
        pid = other.info.backend_pid
        with (
            psycopg.connect(impatient, autocommit=True) as conn,
            pytest.raises(install.InstallError, match=rf"{pid} of \w+ \(a stranger\)") as caught,
        ):
            install.install(conn)
        assert caught.value.sqlstate == "OM904"
        assert caught.value.hint == (
            f"Install again when it has ended, or end it: SELECT pg_terminate_backend({pid});"
        )
        done = psql(impatient, ROOT / install.MANIFEST)
        assert done.returncode == 3
        assert "(a stranger) holds the lock of the first installation" in done.stderr
    install.install(empty)


def test_who_waits_longer_than_that_waits_thirty_seconds(empty):
    """What bounds the wait is told, as a test that waits would be slow."""
    empty.execute("SET lock_timeout = '5min'")
    text = (ROOT / "sql/setup/lock.sql").read_text()
    seen = "RAISE NOTICE 'bound %', current_setting('lock_timeout'); PERFORM pg_advisory_xact_lock"
    told = []
    empty.add_notice_handler(lambda notice: told.append(notice.message_primary))
    with empty.transaction():
        empty.execute(
            text.replace("PERFORM pg_advisory_xact_lock", seen).replace("= warning", "= notice")
        )
        assert empty.execute("SHOW lock_timeout").fetchone() == ("5min",)
    assert told == ["bound 30s"]


def test_later_installations_take_no_lock_that_a_stranger_can_hold(installed, tree):
    """They lock a table that only OMD can write, one after the other."""
    tree.add_migration("V999__more", "CREATE TABLE omd.more (i integer);")

    def run(_):
        with psycopg.connect(installed.info.dsn, autocommit=True) as conn:
            return [s.path for s in install.install(conn, tree.root) if s.action.value == "apply"]

    installed.execute("SELECT pg_advisory_lock(7302500, 0)")
    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(run, range(3)))
    assert sorted(done) == [[], [], ["migrations/V999__more.sql"]]


@pytest.mark.parametrize("role", ["omd_admin", "omd_runner", "omd_data_writer", "pg_monitor"])
def test_nobody_else_can_hold_the_lock_of_later_installations(connect, dsn, role):
    conn = connect(dsn, role=role)
    for mode in ("ROW SHARE", "ROW EXCLUSIVE", "SHARE", "EXCLUSIVE"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege), conn.transaction():
            conn.execute(f"LOCK TABLE omd.installed_file IN {mode} MODE")


def test_a_schema_of_somebody_else_is_not_taken_for_ours(empty):
    empty.execute("CREATE SCHEMA omd")
    with pytest.raises(install.InstallError, match="the schema omd belongs to") as caught:
        install.install(empty)
    assert caught.value.sqlstate == "OM905"
