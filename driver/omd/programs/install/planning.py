"""What the installer would do with each file, and whether it may do anything at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import tuple_row

from omd._core.error_codes import MigrationChanged, NewerInstalled, OlderInstalled
from omd.programs.install.manifest import (
    NEW_MIGRATION,
    ROLES,
    Entry,
    Kind,
    Phase,
    product_version,
    read_manifest,
)

# sql/setup has the same for psql.
_BEFORE_1_0 = re.compile(r"migrations/V(0[0-9]|1[0-4])[0-9]__")
_UPGRADE = "The database is newer than the package: upgrade omd."


class Part(str, Enum):
    """A part of the installation that can be done by itself."""

    ROLES = "roles"
    OBJECTS = "objects"


class Action(str, Enum):
    """The action of the installer for a file, or a right."""

    RUN = "run"
    APPLY = "apply"
    REAPPLY = "re-apply"
    KEEP = "keep"
    FORGET = "forget"
    GRANT = "grant"
    REVOKE = "revoke"
    LEAVE = "leave"


@dataclass(frozen=True, slots=True)
class Step:
    """The action for one file or right, and its reason; ``entry`` is a file that is listed."""

    action: Action
    path: str
    kind: Kind
    reason: str
    entry: Entry | None = None


def is_installed(conn: psycopg.Connection[Any]) -> bool:
    """Return whether OMD is in this database, in any version."""
    with conn.cursor(row_factory=tuple_row) as cur:
        # to_regclass would be refused to a role that may not look into the schema.
        tables = cur.execute(
            "SELECT FROM pg_catalog.pg_tables AS t WHERE t.schemaname OPERATOR(pg_catalog.=) 'omd'"
            " AND t.tablename OPERATOR(pg_catalog.=) 'installed_file'"
        )
        return tables.fetchone() is not None


def installed_version(conn: psycopg.Connection[Any]) -> str | None:
    """Return the version of OMD that changed this database last; None if it is not installed."""
    if not is_installed(conn):
        return None
    with conn.cursor(row_factory=tuple_row) as cur:
        row = cur.execute(
            "SELECT product_version FROM omd.installed_file ORDER BY applied_at DESC, path LIMIT 1"
        ).fetchone()
    return row[0] if row else None


def _refuse_older(conn: psycopg.Connection[Any], allow_downgrade: bool) -> None:
    """Refuse to put older routines back; sql/setup/version.psql is the same for psql.

    Within a minor version the migrations are the same, so that a downgrade may be allowed.
    """
    if not is_installed(conn):
        return
    with conn.cursor(row_factory=tuple_row) as cur:
        rows = cur.execute("SELECT DISTINCT f.product_version FROM omd.installed_file AS f")
        versions = [version for (version,) in rows if version is not None]
    mine = product_version()
    newest = max(versions, key=_ordered, default=mine)
    if _ordered(newest) <= _ordered(mine):
        return
    if not (allow_downgrade and _ordered(newest)[0][:2] == _ordered(mine)[0][:2]):
        raise NewerInstalled(
            f"This database has omd {newest}, and this is omd {mine}.", hint=_UPGRADE
        )


def _ordered(version: str) -> tuple[list[int], bool]:
    """Return the numbers of a version, and whether it is none before a release."""
    numbers = re.match(r"[0-9]+(?:[.][0-9]+)*", version)
    parts = [int(part) for part in numbers.group().split(".")] if numbers else []
    return parts, re.fullmatch(r"[0-9.]+", version) is not None


def needs_install(conn: psycopg.Connection[Any], root: Path | None = None) -> bool:
    """Return whether ``install`` would change this database."""
    return any(step.action not in (Action.RUN, Action.KEEP) for step in plan(conn, root))


def plan(
    conn: psycopg.Connection[Any],
    root: Path | None = None,
    *,
    allow_downgrade: bool = False,
    only: Part | None = None,
) -> list[Step]:
    """Return what ``install`` would do, in order, without changing anything."""
    entries = read_manifest(root)
    if only is Part.ROLES:
        return [Step(Action.RUN, e.path, e.kind, "always", e) for e in entries if e.path == ROLES]
    steps = plan_of(conn, entries, allow_downgrade)
    return steps if only is None else [step for step in steps if step.path != ROLES]


def plan_of(
    conn: psycopg.Connection[Any], entries: list[Entry], allow_downgrade: bool
) -> list[Step]:
    """Return what would be done with these entries; some databases are refused."""
    _refuse_older(conn, allow_downgrade)
    return list(_plan(recorded(conn), entries))


def recorded(conn: psycopg.Connection[Any]) -> dict[str, str]:
    """Return the files that this database has applied, and their checksums."""
    if not is_installed(conn):
        return {}
    with conn.cursor(row_factory=tuple_row) as cur:
        rows = cur.execute("SELECT path, checksum FROM omd.installed_file").fetchall()
        return dict(rows)


def _plan(known_files: dict[str, str], entries: list[Entry]) -> Iterator[Step]:
    """Yield a step for each entry, and for each file that is recorded and no longer listed."""
    migrations = [entry for entry in entries if entry.kind is Kind.MIGRATION]
    former = {path for path in known_files if _BEFORE_1_0.match(path)}
    if former and not any(e.phase is Phase.BASELINE and e.path in known_files for e in migrations):
        raise OlderInstalled(
            f"This database has OMD from before 1.0, which omd {product_version()} does not"
            " upgrade.",
            hint="Nothing was changed: dump the data and load it into a new installation.",
        )
    changed = False
    migrated = any(e.path not in known_files for e in migrations)
    for entry in entries:
        known = known_files.get(entry.path)
        action, reason = Action.KEEP, "unchanged"
        if entry.kind in (Kind.SETUP, Kind.CLEANUP, Kind.FINISH):
            action, reason = Action.RUN, "always"
        elif known is None:
            action, reason = Action.APPLY, "new"
            if entry.phase not in (Phase.BASELINE, Phase.INSTALL):
                reason = f"new, {entry.phase.value}"
        elif entry.kind is Kind.MIGRATION:
            if known != entry.checksum:
                raise MigrationChanged(
                    f"{entry.path} was changed after it was applied to this database: its checksum "
                    f"is {entry.checksum}, the one applied had {known}.",
                    hint=NEW_MIGRATION,
                )
        elif known != entry.checksum:
            action, reason = Action.REAPPLY, "changed"
        elif migrated:
            action, reason = Action.REAPPLY, "the tables changed"
        elif changed and entry.path.startswith("sql/grants/"):
            # GRANT ... ON ALL TABLES reaches only the tables of that moment, no later view.
            action, reason = Action.REAPPLY, "other files changed"
        changed |= action in (Action.APPLY, Action.REAPPLY)
        yield Step(action, entry.path, entry.kind, reason, entry)

    listed = {entry.path for entry in entries}
    for path in sorted(known_files.keys() - listed):
        if path in former:
            yield Step(Action.FORGET, path, Kind.MIGRATION, "from before 1.0")
            continue
        if path.startswith("migrations/"):
            raise NewerInstalled(
                f"This database has {path}, which omd {product_version()} does not know.",
                hint=_UPGRADE,
            )
        yield Step(Action.FORGET, path, Kind.REPEATABLE, "no longer listed")


def is_settled(steps: list[Step]) -> bool:
    """Return whether the database has OMD, so that it is upgraded while it works."""
    baselines = [step for step in steps if step.entry and step.entry.phase is Phase.BASELINE]
    return all(step.action is Action.KEEP for step in baselines)


def pending(steps: list[Step], *phases: Phase) -> list[Entry]:
    """Return the migrations of these phases that are to be applied, in order."""
    return [
        step.entry
        for step in steps
        if step.entry is not None
        and step.kind is Kind.MIGRATION
        and step.action is Action.APPLY
        and step.entry.phase in phases
    ]
