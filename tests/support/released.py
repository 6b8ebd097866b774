"""The released versions.

``tests/install/released/1.0.0.sql.gz`` is what that release installs: ``pg_dump --inserts`` of an
empty database after its ``psql -f sql/install.sql``, on PostgreSQL 15. A test with the mark
``released`` or ``oldest`` gets the fixture ``upgraded``, a database with such a version in it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "install" / "released"
RELEASED = sorted(
    FOLDER.glob("[0-9]*.sql.gz"),
    key=lambda file: [int(number) for number in re.findall(r"\d+", file.name)],
)


def _each(files: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "upgraded", files, indirect=True, ids=lambda file: file.name.removesuffix(".sql.gz")
    )


released = _each(RELEASED)
# What its upgrade locks and retires is known.
oldest = _each(RELEASED[:1])
# The dump is as of this server: its IDs begin at 1, and do not leave out a million.
ON_THIS_SERVER = """
    UPDATE omd.installation SET (system_identifier, database_oid, timeline_id, server_start,
        table_oid) = (SELECT s.system_identifier, s.database_oid, s.timeline_id, s.server_start,
        s.table_oid FROM omd._server_now() AS s)
"""


def unnamed(dump: str) -> str:
    """Return a dump without the names of NOT NULL: what 15 has dumped has none of its own."""
    return re.sub(r" CONSTRAINT \w+_not_null NOT NULL", " NOT NULL", dump)
