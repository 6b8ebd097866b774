"""A copy of the SQL that a test may change, and what psql and pg_dump say."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from typing import TYPE_CHECKING

import psycopg
import pytest

from omd import embedded, install

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

BIN = embedded.binaries()  # the clients of the newest version serve every older server


class Tree:
    """A copy of migrations, procedures and sql, as another release may have them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for folder in ("migrations", "procedures", "sql"):
            shutil.copytree(install.sql_root() / folder, root / folder)
        self.manifest = root / install.MANIFEST
        self.first_room = root / "sql/install/omd.sql"
        self.last_room = root / "sql/install/omd_lineage.sql"

    def append(self, path: str, text: str) -> None:
        """Add text to the end of a file."""
        with (self.root / path).open("a", encoding="utf-8") as file:
            file.write(text)

    def add_repeatable(self, path: str, text: str) -> None:
        """Add a file, last before the grants."""
        (self.root / path).write_text(text, encoding="utf-8")
        before, grants, after = self.last_room.read_text().partition("\\ir ../grants/")
        assert grants
        self.last_room.write_text(before + f"\\ir ../../{path}\n" + grants + after)

    def add_migration(self, name: str, text: str) -> None:
        """Add a migration, after the others."""
        file = self.root / "migrations" / f"{name}.sql"
        file.write_text(text, encoding="utf-8")
        before, endif, after = self.last_room.read_text().rpartition("\\endif\n")
        assert endif
        self.last_room.write_text(
            f"{before}{endif}"
            f"\\set checksum '{checksum(file)}'\n\\set migration '{name}'\n"
            "\\ir ../setup/claim.psql\n\\if :pending\n"
            f"\\ir ../../migrations/{name}.sql\n\\endif\n{after}"
        )

    def release(self, path: str) -> None:
        """Give the manifest the present checksum of a migration."""
        before = checksum(install.sql_root() / path)
        (room,) = (f for f in self.last_room.parent.iterdir() if before in f.read_text())
        room.write_text(room.read_text().replace(before, checksum(self.root / path)))


def checksum(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


@pytest.fixture(scope="session")
def psql() -> Callable[..., subprocess.CompletedProcess[str]]:
    """A function that runs a file with psql."""

    def run(dsn: str, file: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [BIN / "psql", "--no-psqlrc", "--quiet", "-f", file, dsn],
            check=False,
            capture_output=True,
            text=True,
        )

    return run


@pytest.fixture(scope="session")
def dump() -> Callable[[str], str]:
    """A function that returns all that is in a database, grants and reference rows included."""

    def run(dsn: str) -> str:
        done = subprocess.run(
            [BIN / "pg_dump", "--exclude-table-data=omd.installed_file", "--inserts", dsn],
            check=True,
            capture_output=True,
            text=True,
        )
        # Comments carry versions, \restrict a new key each time; a conflict burns sequence values.
        noise = ("--", "\\restrict", "\\unrestrict", "SELECT pg_catalog.setval(")
        lines = [line for line in done.stdout.splitlines() if line and not line.startswith(noise)]
        # Rows have no order; a second upsert moves them.
        rows = sorted(line for line in lines if line.startswith("INSERT"))
        return "\n".join([line for line in lines if not line.startswith("INSERT")] + rows)

    return run


@pytest.fixture(scope="module")
def fresh_server(new_home: Callable[[], Path]) -> str:
    """A server of its own, that has never seen OMD: roles belong to the whole server."""
    home = new_home()
    embedded.start(home, settings={"fsync": "off"})
    return embedded.dsn(home, "postgres")


@pytest.fixture
def empty_databases(fresh_server: str) -> Iterator[list[str]]:
    """Ten databases on the fresh server, dropped afterwards, and the roles with them."""
    names = [f"d{number}" for number in range(10)]
    with psycopg.connect(fresh_server, autocommit=True) as conn:
        for name in names:
            conn.execute(f"CREATE DATABASE {name}")
        yield [psycopg.conninfo.make_conninfo(fresh_server, dbname=name) for name in names]
        for name in names:
            conn.execute(f"DROP DATABASE {name} WITH (FORCE)")
        for role in roles(conn):
            conn.execute(f"DROP ROLE {role}")


def roles(conn: psycopg.Connection) -> list[str]:
    return [
        row[0] for row in conn.execute("SELECT rolname FROM pg_roles WHERE rolname LIKE 'omd\\_%'")
    ]
