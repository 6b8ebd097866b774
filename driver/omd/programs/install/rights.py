"""The rights of a release: what an installation grants and takes back, and what it leaves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import tuple_row

from omd.programs.install.manifest import Kind, read_manifest
from omd.programs.install.planning import Action, Part, Step, is_installed
from omd.programs.install.running import execute, pinned

_COMPARED = "omd_install.rights_compared"  # sql/rights/settle.sql fills it


def plan_rights(
    conn: psycopg.Connection[Any], root: Path | None = None, *, only: Part | None = None
) -> list[Step]:
    """Return what ``install`` would grant and revoke, and the rights that it leaves to others.

    It compares the objects that are there now with the rows of this release; changes nothing.
    """
    if only is Part.ROLES or not is_installed(conn):
        return []
    with pinned(conn):
        conn.execute("SET LOCAL omd_install.only_look = 'yes'")
        for entry in read_manifest(root):
            if entry.kind is Kind.FINISH:
                execute(conn, entry.path, entry.text)
    return compared_rights(conn)


def compared_rights(conn: psycopg.Connection[Any]) -> list[Step]:
    """Return what the last comparison of this session has shown, and forget it."""
    with conn.transaction(), conn.cursor(row_factory=tuple_row) as cur:
        cur.execute("SELECT pg_catalog.current_setting(%s, TRUE)", [_COMPARED])
        row = cur.fetchone()
        cur.execute("SELECT pg_catalog.set_config(%s, '', FALSE)", [_COMPARED])
    rights = json.loads((row and row[0]) or "[]")
    return [
        Step(Action(right["action"]), right["right"], Kind.RIGHT, _reason(right))
        for right in rights
    ]


def _reason(right: dict[str, Any]) -> str:
    if right["action"] == Action.GRANT:
        return "the release grants it"
    if right["action"] == Action.REVOKE:
        return "the release does not grant it: grant it to a role of your own"
    grantor = f"granted by {right['grantor']}"
    option = " WITH GRANT OPTION" if right["is_grantable"] else ""
    return f"{grantor}{option}" + (", handed on" if right["is_ours"] else "")
