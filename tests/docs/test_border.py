"""SECURITY.md says who may make whom execute what, and the catalogue says the same."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[dict[str, Any]]

SECURITY = Path(__file__).parents[2] / "SECURITY.md"
ROUTINE = re.compile(r"`(omd\w*\.\w+)`")
RIGHTS = """
    SELECT p.prosecdef AS is_of_owner, ARRAY(
        SELECT x.grantee::regrole::text FROM aclexplode(p.proacl) AS x
        WHERE x.grantee <> p.proowner ORDER BY 1
    ) AS roles
    FROM pg_proc AS p WHERE p.oid = to_regproc(%s)"""


def border() -> list[list[str]]:
    """Return the cells of the table, without its head."""
    text = SECURITY.read_text(encoding="utf-8").partition("## Who may make whom execute what")[2]
    rows = [line for line in text.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[1:]]


def rights(conn: Connection, cell: str) -> dict[str, Any] | None:
    """Return who may call the routine that a cell names, and whether it has the owner's rights."""
    named = ROUTINE.fullmatch(cell)
    if named is None:
        return None
    found = conn.execute(RIGHTS, [named[1]]).fetchone()
    assert found, f"there is no {named[1]}"
    return found


def test_the_border_is_what_the_catalogue_says(conn: Connection) -> None:
    compared = 0
    for what, who, given_by, run_by, as_whom in border():
        if given := rights(conn, given_by):
            assert [f"`{role}`" for role in given["roles"]] == who.split(" or "), what
            compared += 1
        if run := rights(conn, run_by):
            assert (as_whom == "the caller") == (not run["is_of_owner"]), what
            assert run["roles"], what
            compared += 1
    assert compared >= 10


def test_nothing_is_executed_as_a_role_of_omd() -> None:
    assert border()
    for what, _, _, _, as_whom in border():
        assert "omd_" not in as_whom or as_whom == "`omd_guest`", what
