"""A stranger who may create in public gets no right when a superuser installs or removes OMD.

His traps are there before the first installation. Each one stands for something that the scripts,
the installer or the doctor name, fits better than what PostgreSQL has, and takes the rights of
whoever springs it. The search_path even puts public first.
"""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import psycopg
import pytest

from omd import install
from omd.cli import doctor
from support.released import RELEASED
from support.strangers import assert_nothing_happened, plant

pytestmark = pytest.mark.server  # what a name means may differ between versions of PostgreSQL

ROOT = install.sql_root()
FOLDERS = ["sql/setup", "sql/cleanup", "migrations/before_1_0/prepare"]
SCRIPTS = [
    *(ROOT / "sql").glob("*.sql"),
    *(f for folder in FOLDERS for f in (ROOT / folder).iterdir()),
    Path(install.__file__),
    Path(doctor.__file__),
]


@pytest.fixture
def place(empty_databases):
    """A database of a server that has never had OMD."""
    yield empty_databases[0]
    with psycopg.connect(empty_databases[0], autocommit=True) as conn:
        if conn.execute("SELECT FROM pg_roles WHERE rolname = 'stranger'").fetchone() is not None:
            conn.execute("DROP OWNED BY stranger CASCADE")
            conn.execute("DROP ROLE stranger")


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


def test_the_command_is_safe(place, omd_here, tree):
    dsn = plant(place, SCRIPTS)
    done = omd_here("install", dsn=dsn)
    assert done.returncode == 0, done.stderr
    assert omd_here("install", "--plan", dsn=dsn).returncode == 0
    done = omd_here("doctor", dsn=dsn)
    assert done.returncode == 0, done.stdout
    with psycopg.connect(dsn, autocommit=True) as conn:
        assert install.installed_version(conn) == install.product_version()
        tree.add_migration("V999__more", "CREATE TABLE omd.more (i integer);")
        install.install(conn, tree.root)
    done = omd_here("uninstall", "--yes", dsn=dsn)
    assert done.returncode == 0, done.stderr
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
    """The scripts before and after the installation do something for an old version only."""
    (old,) = (file for file in RELEASED if file.name.startswith("V004"))
    dumped = tmp_path / "released.sql"
    roles = (ROOT / install.ROLES).read_bytes()
    dumped.write_bytes(b"BEGIN;\n" + roles + b"COMMIT;\n" + gzip.decompress(old.read_bytes()))
    loaded = psql(place, dumped)
    assert "ERROR" not in loaded.stderr, loaded.stderr
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
        if e.kind in (install.Kind.SETUP, install.Kind.PREPARE, install.Kind.CLEANUP)
    ]
    + [install.UNINSTALL],
)
def test_the_search_path_is_set_before_anything_else(file):
    text = re.sub(r"(?m)^--.*$", "", (ROOT / file).read_text())
    if file == install.UNINSTALL:
        text = text.replace("BEGIN;", "", 1)
    assert text.lstrip().startswith("SET LOCAL search_path = pg_catalog, pg_temp;")
