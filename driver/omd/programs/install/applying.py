"""Bring a database to the present version."""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg

from omd.programs.install.manifest import read_manifest
from omd.programs.install.planning import Action, Part, Step, plan_of
from omd.programs.install.rights import compared_rights
from omd.programs.install.running import pinned, require_idle
from omd.programs.install.transactions import transactions_of
from omd.programs.install.upgrading import WAIT, Upgrade

logger = logging.getLogger("omd.install")


def install(
    conn: psycopg.Connection[Any],
    root: Path | None = None,
    *,
    allow_downgrade: bool = False,
    only: Part | None = None,
    installer: str | None = None,
    wait: timedelta = WAIT,
) -> list[Step]:
    """Bring this database to the present version; returns what was done.

    The installation is one transaction. Migrations of other phases come before and after it, each
    in transactions of its own; a call that was killed is continued by the next.

    Runs that execute meanwhile go on. What only they still need is dropped in a transaction of its
    own, now or by a later call.

    It may be repeated, and several may start at once: the others wait and find nothing to do.

    Args:
        conn: the connection.
        root: the folder with the SQL; the default is that of this package.
        allow_downgrade: go back to an older version of the same minor version.
        only: a part of the installation: what lies outside the schemas, or the rest.
        installer: the role that gets the right to act as ``omd_owner``.
        wait: how long a step waits at most for the locks and transactions of others.

    Raises:
        InstallError: a file failed (the message names file and line), or ``conn`` is in a
            transaction.
        NewerInstalled: the database is newer than this package; nothing is changed.
        MigrationChanged: a migration differs from what was applied.
    """
    require_idle(conn)
    entries = read_manifest(root)
    steps: list[Step] = []

    def planned() -> list[Step]:
        steps.extend(plan_of(conn, entries, allow_downgrade))
        return steps

    def look() -> list[Step] | None:
        # It is refused before anything is written. Who may not look yet is let in by the setup.
        try:
            with pinned(conn):
                return plan_of(conn, entries, allow_downgrade)
        except psycopg.errors.InsufficientPrivilege:
            return None

    upgrade = Upgrade(conn, wait)
    with upgrade.alone(entries, look):
        for transaction in transactions_of(
            entries, planned, look=look, only=only, installer=installer
        ):
            upgrade.perform(transaction)
    if only is not Part.ROLES:
        steps += compared_rights(conn)
    for step in steps:
        if step.action in (Action.APPLY, Action.REAPPLY, Action.GRANT, Action.REVOKE):
            logger.info("%s %s", step.action.value, step.path)
    return steps
