"""The released versions.

``tests/install/released/Vnnn.sql.gz`` is what the release with that last migration installs:
``pg_dump --inserts`` of an empty database after its ``psql -f sql/install.sql``, on PostgreSQL 15.
A test that has one of these marks gets the fixture
``upgraded``, a database with that version in it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import psycopg
import pytest

from omd import install

FOLDER = Path(__file__).parents[1] / "install" / "released"
OLDEST = ("V001.sql.gz", "V003.sql.gz")  # they have no lineage
# The last of them is what 0.1.0 was in the end; the others are of long ago.
BEFORE_1_0 = sorted(FOLDER.glob("V*.sql.gz"))
RELEASED = BEFORE_1_0 + sorted(
    FOLDER.glob("[0-9]*.sql.gz"),
    key=lambda file: [int(number) for number in re.findall(r"\d+", file.name)],
)


def _each(files: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "upgraded", files, indirect=True, ids=lambda file: file.name.removesuffix(".sql.gz")
    )


released = _each(RELEASED)
released_with_lineage = _each([file for file in RELEASED if file.name not in OLDEST])
# Their upgrade locks what is in use, renames, and retires dozens of routines.
LONG_AGO = BEFORE_1_0[:-1]
long_ago_with_lineage = _each([file for file in LONG_AGO if file.name not in OLDEST])
last_before_1_0 = _each(BEFORE_1_0[-1:])


def unnamed(dump: str) -> str:
    """Return a dump without the names of NOT NULL: what 15 has dumped has none of its own."""
    return re.sub(r" CONSTRAINT \w+_not_null NOT NULL", " NOT NULL", dump)


def begin_as_before(conn: psycopg.Connection[Any]) -> None:
    """Make the smallest database of before 1.0: one that has the first of all migrations."""
    entries = install.read_manifest()
    (first,) = (entry for entry in entries if entry.name == "V001__process_control")
    with install.pinned(conn):
        for entry in entries:
            if entry.kind is install.Kind.SETUP:
                conn.execute(entry.text.encode())
        conn.execute(first.text.encode())
        conn.execute(
            "INSERT INTO omd.installed_file (path, kind, checksum) VALUES (%s, 'migration', %s)",
            [first.recorded, first.checksum],
        )


def install_as_before(conn: psycopg.Connection[Any]) -> None:
    """Install OMD by the migrations of before 1.0, as it was before there were baselines."""
    begin_as_before(conn)
    install.install(conn)
    conn.execute("DELETE FROM omd.installed_file WHERE path ~ '^migrations/V15'")
