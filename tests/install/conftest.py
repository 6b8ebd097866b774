"""A copy of the SQL that a test may change, and servers that have never had OMD."""

from __future__ import annotations

import gzip
import hashlib
import re
import shutil
from typing import TYPE_CHECKING

import psycopg
import pytest

from omd.programs import embedded, install
from support.released import ON_THIS_SERVER
from support.server import QUICK, VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class Tree:
    """A copy of migrations, procedures and sql, which a test changes into another release."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for folder in ("migrations", "procedures", "sql"):
            shutil.copytree(install.sql_root() / folder, root / folder)
        self.manifest = root / install.MANIFEST
        self.first_room = root / "sql/install/omd.sql"
        self.last_room = root / "sql/install/omd_event.sql"

    def append(self, path: str, text: str) -> None:
        """Add text to the end of a file."""
        with (self.root / path).open("a", encoding="utf-8") as file:
            file.write(text)

    def add_repeatable(self, path: str, text: str) -> None:
        """Add a file, as the last one before the grants."""
        (self.root / path).write_text(text, encoding="utf-8")
        before, grants, after = self.last_room.read_text().partition("\\ir ../grants/")
        assert grants
        self.last_room.write_text(before + f"\\ir ../../{path}\n" + grants + after)

    def add_migration(
        self, name: str, text: str, *, locks: str = "", room: str = "omd_event"
    ) -> None:
        """Add a migration, after the others of its room; its first line may name its phase."""
        file = self.root / "migrations" / f"{name}.sql"
        file.write_text(text, encoding="utf-8")
        phase = re.match("-- phase: (.*)\n", text)
        told = f"\\set phase '{phase[1]}'\n" if phase else ""
        told += f"\\set locks '{locks}'\n" if locks else ""
        listed = self.root / f"sql/install/{room}.sql"
        before, install, after = listed.read_text().partition("\\if :is_install\n")
        assert install
        listed.write_text(
            f"{before}\\set checksum '{checksum(file)}'\n{told}\\set migration '{name}'\n"
            "\\ir ../setup/claim.psql\n\\if :pending\n"
            f"\\ir ../../migrations/{name}.sql\n\\endif\n\n{install}{after}"
        )

    def relist(self, name: str) -> None:
        """Give the list the present checksum of a migration that was added here."""
        for listed in self.last_room.parent.iterdir():
            text = re.sub(
                rf"'\w+'(\n(?:\\set (?:phase|locks) .*\n)*\\set migration '{name}')",
                lambda m: f"'{checksum(self.root / 'migrations' / f'{name}.sql')}'{m[1]}",
                listed.read_text(),
            )
            listed.write_text(text)

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


@pytest.fixture(scope="module")
def fresh_server(new_home: Callable[[], Path]) -> str:
    """A new server without OMD, because roles belong to the whole server."""
    home = new_home()
    embedded.start(home, version=VERSION, settings=QUICK)
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


@pytest.fixture
def upgraded(empty_dsn: str, request: pytest.FixtureRequest, psql, tmp_path) -> str:
    """A database as the release has installed it, with a Module whose run has failed."""
    dsn = empty_dsn
    dumped = tmp_path / "released.sql"
    roles = install.sql_root() / "sql" / "roles.sql"
    dumped.write_bytes(roles.read_bytes() + gzip.decompress(request.param.read_bytes()))
    loaded = psql(dsn, dumped)
    assert "ERROR" not in loaded.stderr, loaded.stderr
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(ON_THIS_SERVER)
        conn.execute("CREATE SCHEMA dwh")
        conn.execute("CREATE TABLE dwh.t (omd_insert_module_instance_id bigint)")
        conn.execute("CALL omd.register_module('m', 'HSTG', 'dwh.t')")
        conn.execute("CALL omd.begin_module('m')")
        conn.execute("INSERT INTO dwh.t VALUES (1)")
        conn.execute("CALL omd.module_failure(1, 'gone')")
    return dsn
