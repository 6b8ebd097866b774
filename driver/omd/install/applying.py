"""Bring a database to the present version."""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg

from omd.install.manifest import read_manifest
from omd.install.planning import Action, Part, Step, plan_of
from omd.install.running import execute, pinned, require_idle
from omd.install.transactions import Mode, transactions_of

logger = logging.getLogger("omd.install")


def install(
    conn: psycopg.Connection[Any],
    root: Path | None = None,
    *,
    allow_downgrade: bool = False,
    only: Part | None = None,
    installer: str | None = None,
) -> list[Step]:
    """Bring this database to the present version, in one transaction; returns what was done.

    Runs that execute meanwhile go on. What only they still need is dropped in a transaction of its
    own, now or by a later call.

    It may be repeated, and several may start at once: the others wait and find nothing to do.

    Args:
        conn: the connection.
        root: the folder with the SQL; the default is that of this package.
        allow_downgrade: go back to an older version of the same minor version.
        only: a part of the installation: what lies outside the schemas, or the rest.
        installer: the role that gets the right to act as ``omd_owner``.

    Raises:
        InstallError: a file failed (the message names file and line), or ``conn`` is in a
            transaction.
        Refused: the database is newer than this package; nothing is changed.
        MigrationChanged: a migration differs from what was applied.
    """
    require_idle(conn)
    entries = read_manifest(root)
    steps: list[Step] = []

    def planned() -> list[Step]:
        steps.extend(plan_of(conn, entries, allow_downgrade))
        return steps

    # It is refused before anything is written. Who may not look yet is let in by the setup.
    with suppress(psycopg.errors.InsufficientPrivilege), pinned(conn):
        plan_of(conn, entries, allow_downgrade)
    for transaction in transactions_of(entries, planned, only=only, installer=installer):
        if transaction.mode is Mode.ALONE:
            for statement in transaction.statements:
                execute(conn, statement.path, statement.text)
            continue
        with pinned(conn):
            for statement in transaction.statements:
                execute(conn, statement.path, statement.text)
    for step in steps:
        if step.action in (Action.APPLY, Action.REAPPLY):
            logger.info("%s %s", step.action.value, step.path)
    return steps
