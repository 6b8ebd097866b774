"""Bring a database to the present version."""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg

from omd.install.manifest import Entry, Kind, product_version, read_manifest
from omd.install.planning import Action, Step, plan_of
from omd.install.running import execute, pinned, require_idle

logger = logging.getLogger("omd.install")


def install(
    conn: psycopg.Connection[Any], root: Path | None = None, *, allow_downgrade: bool = False
) -> list[Step]:
    """Bring this database to the present version, in one transaction; returns what was done.

    Runs that execute meanwhile go on. What only they still need is dropped in a transaction of its
    own, now or by a later call.

    It may be repeated, and several may start at once: the others wait and find nothing to do.

    Args:
        conn: the connection.
        root: the folder with the SQL; the default is that of this package.
        allow_downgrade: go back to an older version of the same minor version.

    Raises:
        InstallError: a file failed (the message names file and line), or ``conn`` is in a
            transaction.
        Refused: the database is newer than this package; nothing is changed.
        MigrationChanged: a migration differs from what was applied.
    """
    require_idle(conn)
    entries = read_manifest(root)
    # It is refused before anything is written. Who may not look yet is let in by the setup.
    with suppress(psycopg.errors.InsufficientPrivilege), pinned(conn):
        plan_of(conn, entries, allow_downgrade)
    for entry in entries:
        if entry.kind is Kind.PREPARE:
            # What one has locked must not wait for the next.
            with pinned(conn):
                execute(conn, entry.path, entry.text)
    with pinned(conn):
        steps = _apply(conn, entries, allow_downgrade)
    with pinned(conn):
        _run(conn, entries, Kind.CLEANUP)
    return steps


def _run(conn: psycopg.Connection[Any], entries: list[Entry], kind: Kind) -> None:
    for entry in entries:
        if entry.kind is kind:
            execute(conn, entry.path, entry.text)


def _apply(
    conn: psycopg.Connection[Any], entries: list[Entry], allow_downgrade: bool
) -> list[Step]:
    # The setup comes first and takes the lock; what is recorded is read only after that.
    _run(conn, entries, Kind.SETUP)
    steps = plan_of(conn, entries, allow_downgrade)
    with conn.cursor() as cur:
        for step in steps:
            if step.action is Action.FORGET:
                cur.execute(
                    "DELETE FROM omd.installed_file AS f WHERE f.path OPERATOR(pg_catalog.=) %s",
                    [step.path],
                )
            elif step.entry is not None and step.action in (Action.APPLY, Action.REAPPLY):
                execute(conn, step.path, step.entry.text)
                cur.execute(
                    """
                    INSERT INTO omd.installed_file AS f
                           (path, kind, checksum, applied_at, applied_by, product_version)
                    VALUES (%s, %s, %s, pg_catalog.clock_timestamp(), session_user, %s)
                    ON CONFLICT (path) DO UPDATE
                       SET checksum = excluded.checksum,
                           applied_at = excluded.applied_at,
                           applied_by = excluded.applied_by,
                           product_version = excluded.product_version
                    """,
                    [step.path, step.kind.value, step.entry.checksum, product_version()],
                )
                logger.info("%s %s", step.action.value, step.path)
        cur.execute(
            "UPDATE omd.installed_file AS f SET product_version = %(version)s"
            " WHERE f.product_version IS NULL"
            " OR f.product_version OPERATOR(pg_catalog.<>) %(version)s",
            {"version": product_version()},
        )
    return steps
