"""A stranger who may create in public gets no right when a superuser installs or removes OMD.

His traps are there before the first installation. Each one stands for something that the scripts,
the installer or the doctor name, fits better than what PostgreSQL has, and takes the rights of
whoever springs it. The search_path even puts public first.
"""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from unittest.mock import MagicMock

import psycopg
import pytest

import omd
from omd.programs import install
from omd.programs.demo.trust import place as demo
from omd.programs.demo.trust import story
from omd.programs.install import catalogue
from support.released import ON_THIS_SERVER, RELEASED
from support.strangers import assert_nothing_happened, plant

pytestmark = pytest.mark.server  # what a name means may differ between versions of PostgreSQL

ROOT = install.sql_root()
FOLDERS = ["sql/setup", "sql/cleanup"]
SCRIPTS = [
    *(ROOT / "sql").glob("*.sql"),
    *(f for folder in FOLDERS for f in (ROOT / folder).iterdir()),
    *Path(omd.__file__).parent.rglob("*.py"),
]


@pytest.fixture
def place(empty_databases):
    """A database of a server that has never had OMD."""
    yield empty_databases[0]
    with psycopg.connect(empty_databases[0], autocommit=True) as conn:
        if conn.execute("SELECT FROM pg_roles WHERE rolname = 'stranger'").fetchone() is not None:
            conn.execute("DROP OWNED BY stranger CASCADE")
            conn.execute("DROP ROLE stranger")


PATIENT = ("--hold-limit", "1min")  # the machine may be slow


def test_the_traps_are_sprung_by_whoever_does_not_look(place):
    dsn = plant(place, SCRIPTS)
    for careless in (
        "SELECT pg_has_role('omd_owner', 'pg_monitor', 'MEMBER')",
        "SELECT FROM pg_roles",
        "SELECT 'x'::text",
        "SELECT FROM pg_catalog.pg_class AS c WHERE c.relname = 'x'",
    ):
        with psycopg.connect(dsn) as conn, pytest.raises(psycopg.Error, match="is sprung"):
            conn.execute(careless)
    with psycopg.connect(place) as conn, pytest.raises(psycopg.Error, match="is sprung"):
        # As public comes last usually, a trap has to fit better.
        conn.execute("SELECT pg_has_role(r, r, r) FROM (SELECT 'pg_monitor'::text AS r) AS x")


def test_the_command_is_safe(place, omd_here, tree, monkeypatch):
    dsn = plant(place, SCRIPTS)

    def call(*arguments):
        done = omd_here(*arguments, dsn=dsn)
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)
        return done.stdout

    looking = (["--plan", "--all"], ["--script"], ["--dry-run", *PATIENT])
    for how in looking:
        assert call("install", *how)
        assert call("install", *how, "--only", "roles")
    for part in (["--only", "roles"], ["--only", "objects"], []):
        call("install", *part)
    for how in (*looking, ["--progress"]):
        call("install", *how)
    assert "server known" in call("doctor")
    assert "is_known" in call("report", "server")
    call("report", "server_changes")
    assert "module_instance" in call("report", "footprint", "--output", "json")
    with psycopg.connect(dsn, autocommit=True) as conn:
        assert install.installed_version(conn) == install.product_version()
        more = "-- phase: expand\nCREATE TABLE omd.more (i integer);"
        index = "-- phase: concurrent\nCREATE INDEX CONCURRENTLY ix_more ON omd.more (i);"
        tree.add_migration("V998__more", more)
        tree.add_migration("V999__index", index)
        install.install(conn, tree.root)
        # What an index is made with is the installer's, and ends with it.
        assert conn.execute("SHOW search_path").fetchone() == ("public,pg_catalog",)
    call("install", "--progress")
    monkeypatch.setattr(install.manifest, "sql_root", lambda: tree.root)
    tree.add_migration("V9991__once_more", "CREATE TABLE omd.once_more (i integer);")
    assert "omd.once_more" in call("install", "--dry-run", *PATIENT)
    assert "V9991__once_more" in call("install", "--plan") + call("install", "--script")
    call("uninstall", "--script")
    call("uninstall", "--yes")
    assert_nothing_happened(place)


def test_the_doctor_of_a_copy_is_safe(place, omd_here):
    """It says that nobody has confirmed the server, and who confirms it is safe too."""
    with psycopg.connect(place, autocommit=True) as conn:
        install.install(conn)
        conn.execute(
            "UPDATE omd.installation SET system_identifier = system_identifier - 1,"
            " server_start = server_start - interval '1 day'"
        )
    dsn = plant(place, SCRIPTS)
    done = omd_here("doctor", dsn=dsn)
    assert "copied, restored or moved" in done.stdout, done.stdout
    assert omd_here("report", "server", dsn=dsn).returncode == 0
    done = omd_here("call", "confirm_server", "--as", "moved", "--reason", "new", dsn=dsn)
    assert done.returncode == 0, done.stderr
    assert "copied, restored or moved" not in omd_here("doctor", dsn=dsn).stdout
    assert_nothing_happened(place)


def test_the_demo_of_trust_is_safe(place):
    """Its session keeps its path, whatever installs and removes OMD."""
    dsn = plant(place, SCRIPTS)
    where, screen = demo.look(dsn), MagicMock()
    assert story.play(where, screen, rows=1000, kills=()), screen.mock_calls
    assert where.left == []
    assert_nothing_happened(place)


def test_what_a_dry_run_reads_does_not_depend_on_the_session(place):
    dsn = plant(place, SCRIPTS)
    with psycopg.connect(dsn) as conn:  # in a transaction, and outside of one
        assert catalogue.look(conn) == catalogue.look(conn)
        conn.rollback()
        conn.autocommit = True
        catalogue.look(conn)
    assert_nothing_happened(place)


def test_temporary_names_are_not_found_either(place):
    """What a program has left in its own session comes before every schema of a path."""
    with psycopg.connect(place, autocommit=True) as conn:
        for relation in ("pg_roles", "pg_namespace", "pg_class", "installed_file"):
            conn.execute(f"CREATE TEMP TABLE {relation} (x integer)")
        for type_ in ("text", "regclass", "timestamptz", "jsonb", "record"):
            conn.execute(f"CREATE DOMAIN pg_temp.{type_} AS pg_catalog.text CHECK (value IS NULL)")
        install.install(conn)
        assert install.is_installed(conn)
        install.uninstall(conn)
        assert not install.is_installed(conn)


def test_psql_is_safe(place, psql):
    dsn = plant(place, SCRIPTS)
    for script in (install.MANIFEST, install.MANIFEST, install.UNINSTALL):
        done = psql(dsn, ROOT / script)
        assert done.returncode == 0, done.stderr
        assert "ERROR" not in done.stderr
    assert_nothing_happened(place)


@pytest.mark.parametrize("way", ["omd", "psql"])
def test_an_upgrade_is_safe(place, psql, tmp_path, omd_here, way):
    """The steps before and after the installation do something for an old version only."""
    dumped = tmp_path / "released.sql"
    roles, old = (ROOT / install.ROLES).read_bytes(), gzip.decompress(RELEASED[0].read_bytes())
    dumped.write_bytes(b"BEGIN;\n" + roles + b"COMMIT;\n" + old)
    loaded = psql(place, dumped)
    assert "ERROR" not in loaded.stderr, loaded.stderr
    with psycopg.connect(place) as conn:
        conn.execute(ON_THIS_SERVER)
    dsn = plant(place, SCRIPTS)
    for _ in range(2):  # the second one drops what the first one has retired
        by_omd = way == "omd"
        done = omd_here("install", dsn=dsn) if by_omd else psql(dsn, ROOT / install.MANIFEST)
        assert done.returncode == 0, done.stderr
    assert omd_here("doctor", dsn=dsn).returncode in (0, 5)  # psql keeps no checksums
    assert_nothing_happened(place)


@pytest.mark.parametrize(
    "file",
    [
        e.path
        for e in install.read_manifest()
        if e.kind in (install.Kind.SETUP, install.Kind.CLEANUP)
    ]
    + [install.UNINSTALL],
)
def test_the_search_path_is_set_before_anything_else(file):
    text = re.sub(r"(?m)^--.*$", "", (ROOT / file).read_text())
    if file == install.UNINSTALL:
        text = text.replace("BEGIN;", "", 1)
    assert text.lstrip().startswith("SET LOCAL search_path = pg_catalog, pg_temp;")
