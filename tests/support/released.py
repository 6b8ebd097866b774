"""The released versions.

``tests/install/released/Vnnn.sql.gz`` is what the release with that last migration installs:
``pg_dump --inserts`` of an empty database after its ``psql -f sql/install.sql``, on PostgreSQL 15.
A test that has one of these marks gets the fixture
``upgraded``, a database with that version in it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

RELEASED = sorted((Path(__file__).parents[1] / "install" / "released").glob("V*.sql.gz"))


def _each(files: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("upgraded", files, indirect=True, ids=lambda file: file.name[:4])


released = _each(RELEASED)
released_with_lineage = _each([file for file in RELEASED if file.name >= "V004"])
