"""Install, upgrade and remove the database side of OMD.

``sql/install.sql`` is the only list of what is installed, and of the order. psql runs it as it is;
this module reads it and does the same in one transaction, but only what is needed: it applies a
migration once, a repeatable file (routine, view, trigger, reference rows) whenever it has changed,
and the grants whenever any file has changed.
A transaction before it and one after it are there for the calls that execute meanwhile.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row

from omd._core.errors import MigrationChanged, NewerInstalled, OmdError

logger = logging.getLogger("omd.install")

MANIFEST = "sql/install.sql"
ROLES = "sql/roles.sql"
UNINSTALL = "sql/uninstall.sql"
_ROOMS = "sql/install/"  # it holds one list per room
_PREPARE = "sql/prepare/"  # each is applied in a transaction of its own before the others
_CLEANUP = "sql/cleanup/"  # it is applied in a transaction after the others

_UPGRADE = "The database is newer than the package: upgrade omd."
_NEW_MIGRATION = "Restore the file as it was released and put the change into a new migration."


class InstallError(OmdError):
    """The installer can't continue; ``hint`` says what to do about it."""


class Refused(InstallError, NewerInstalled):  # noqa: N818 - named like the other errors of OMD
    """The database is newer than this package."""


class Kind(str, Enum):
    """The kind of a file of the manifest."""

    SETUP = "setup"
    MIGRATION = "migration"
    REPEATABLE = "repeatable"
    PREPARE = "prepare"
    CLEANUP = "cleanup"


class Action(str, Enum):
    """The action of the installer for a file."""

    RUN = "run"
    APPLY = "apply"
    REAPPLY = "re-apply"
    KEEP = "keep"
    FORGET = "forget"


@dataclass(frozen=True, slots=True)
class Entry:
    """One SQL file of the manifest; ``path`` is relative to the root."""

    path: str
    kind: Kind
    checksum: str
    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """The action for one file, and its reason. ``entry`` is None for a file that is forgotten."""

    action: Action
    path: str
    kind: Kind
    reason: str
    entry: Entry | None = None


def sql_root() -> Path:
    """Return the folder that holds ``migrations``, ``procedures`` and ``sql``."""
    here = Path(__file__).resolve().parent
    for root in (here / "_sql", here.parents[1]):
        if (root / MANIFEST).is_file():
            return root
    raise InstallError(
        f"{MANIFEST} is missing from this installation of pgomd.",
        hint="Install the package again: pip install --force-reinstall pgomd",
    )


def product_version() -> str:
    """Return the version of this package."""
    from omd._version import __version__

    return __version__


_NOISE = re.compile(
    r"\s*(--.*)?$|BEGIN;|COMMIT;|\\set (ON_ERROR_STOP|version) |\\if |\\endif|\\echo "
)
_SET = re.compile(r"\\set (?P<name>checksum|migration) '(?P<value>[^']*)'\s*$")
_INCLUDE = re.compile(r"\\ir (?P<path>[\w./-]+)\s*(--.*)?$")


def read_manifest(root: Path | None = None) -> list[Entry]:
    """Read the manifest and every SQL file that it names.

    Raises:
        InstallError: the manifest has a line that this reader does not know, or names a missing
            file.
        MigrationChanged: a migration does not have the checksum that the manifest gives.
    """
    root = (root or sql_root()).resolve()
    return list(_read_list(root / MANIFEST, root, {}))


def _read_list(file: Path, root: Path, variables: dict[str, str]) -> Iterator[Entry]:
    """Yield the SQL files that a list names; each room has a list of its own."""
    here = file.relative_to(root).as_posix()
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if match := _SET.match(line):
            variables[match["name"]] = match["value"]
        elif match := _INCLUDE.match(line):
            if match["path"].endswith(".psql"):
                continue
            named = (file.parent / match["path"]).resolve()
            if not named.is_file() or root not in named.parents:
                raise InstallError(f"{here}, line {number}: there is no file {match['path']}.")
            path = named.relative_to(root).as_posix()
            if path.startswith(_ROOMS):
                yield from _read_list(named, root, variables)
            else:
                yield _entry(named, path, variables)
        elif not _NOISE.match(line):
            raise InstallError(f"{here}, line {number} is not understood: {line}")


def _entry(file: Path, path: str, variables: dict[str, str]) -> Entry:
    content = file.read_bytes()
    checksum = hashlib.sha256(content).hexdigest()
    kind = Kind.REPEATABLE
    if path.startswith("sql/setup/") or path == ROLES:
        kind = Kind.SETUP
    elif path.startswith(_PREPARE):
        kind = Kind.PREPARE
    elif path.startswith(_CLEANUP):
        kind = Kind.CLEANUP
    elif path.startswith("migrations/"):
        kind = Kind.MIGRATION
        released = variables.pop("checksum", None)
        if variables.pop("migration", None) != file.stem or released is None:
            raise InstallError(f"{MANIFEST} does not announce {path} with its name and checksum.")
        if released != checksum:
            raise MigrationChanged(
                f"{path} was changed after its release: its checksum is {checksum}, "
                f"the manifest says {released}.",
                hint=_NEW_MIGRATION,
            )
    return Entry(path, kind, checksum, content.decode("utf-8"))


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
        raise Refused(f"This database has omd {newest}, and this is omd {mine}.", hint=_UPGRADE)


def _ordered(version: str) -> tuple[list[int], bool]:
    """Return the numbers of a version, and whether it is none before a release."""
    numbers = re.match(r"[0-9]+(?:[.][0-9]+)*", version)
    parts = [int(part) for part in numbers.group().split(".")] if numbers else []
    return parts, re.fullmatch(r"[0-9.]+", version) is not None


def needs_install(conn: psycopg.Connection[Any], root: Path | None = None) -> bool:
    """Return whether ``install`` would change this database."""
    return any(step.action not in (Action.RUN, Action.KEEP) for step in plan(conn, root))


def plan(
    conn: psycopg.Connection[Any], root: Path | None = None, *, allow_downgrade: bool = False
) -> list[Step]:
    """Return what ``install`` would do, in order, without changing anything."""
    return _plan_of(conn, read_manifest(root), allow_downgrade)


def _plan_of(
    conn: psycopg.Connection[Any], entries: list[Entry], allow_downgrade: bool
) -> list[Step]:
    _refuse_older(conn, allow_downgrade)
    return list(_plan(_recorded(conn), entries))


def _recorded(conn: psycopg.Connection[Any]) -> dict[str, str]:
    if not is_installed(conn):
        return {}
    with conn.cursor(row_factory=tuple_row) as cur:
        return dict(cur.execute("SELECT path, checksum FROM omd.installed_file").fetchall())


def _plan(recorded: dict[str, str], entries: list[Entry]) -> Iterator[Step]:
    changed = False
    migrated = any(e.kind is Kind.MIGRATION and e.path not in recorded for e in entries)
    for entry in entries:
        known = recorded.get(entry.path)
        action, reason = Action.KEEP, "unchanged"
        if entry.kind in (Kind.PREPARE, Kind.SETUP, Kind.CLEANUP):
            action, reason = Action.RUN, "always"
        elif known is None:
            action, reason = Action.APPLY, "new"
        elif entry.kind is Kind.MIGRATION:
            if known != entry.checksum:
                raise MigrationChanged(
                    f"{entry.path} was changed after it was applied to this database: its checksum "
                    f"is {entry.checksum}, the one applied had {known}.",
                    hint=_NEW_MIGRATION,
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
    for path in sorted(recorded.keys() - listed):
        if path.startswith("migrations/"):
            raise Refused(
                f"This database has {path}, which omd {product_version()} does not know.",
                hint=_UPGRADE,
            )
        yield Step(Action.FORGET, path, Kind.REPEATABLE, "no longer listed")


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
    _require_idle(conn)
    entries = read_manifest(root)
    # It is refused before anything is written. Who may not look yet is let in by the setup.
    with suppress(psycopg.errors.InsufficientPrivilege), pinned(conn):
        _plan_of(conn, entries, allow_downgrade)
    for entry in entries:
        if entry.kind is Kind.PREPARE:
            # What one has locked must not wait for the next.
            with pinned(conn):
                _execute(conn, entry.path, entry.text)
    with pinned(conn):
        steps = _apply(conn, entries, allow_downgrade)
    with pinned(conn):
        _run(conn, entries, Kind.CLEANUP)
    return steps


def _run(conn: psycopg.Connection[Any], entries: list[Entry], kind: Kind) -> None:
    for entry in entries:
        if entry.kind is kind:
            _execute(conn, entry.path, entry.text)


@contextmanager
def pinned(conn: psycopg.Connection[Any]) -> Iterator[None]:
    """Open a transaction in which names mean those of PostgreSQL, whatever is in public.

    Whoever may create functions there would otherwise take over the rights of a superuser: a
    function whose parameters fit better wins over one of pg_catalog.
    """
    with conn.transaction():
        conn.execute("SET LOCAL search_path = pg_catalog, pg_temp")
        yield


def _apply(
    conn: psycopg.Connection[Any], entries: list[Entry], allow_downgrade: bool
) -> list[Step]:
    # The setup comes first and takes the lock; what is recorded is read only after that.
    _run(conn, entries, Kind.SETUP)
    steps = _plan_of(conn, entries, allow_downgrade)
    with conn.cursor() as cur:
        for step in steps:
            if step.action is Action.FORGET:
                cur.execute(
                    "DELETE FROM omd.installed_file AS f WHERE f.path OPERATOR(pg_catalog.=) %s",
                    [step.path],
                )
            elif step.entry is not None and step.action in (Action.APPLY, Action.REAPPLY):
                _execute(conn, step.path, step.entry.text)
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


def uninstall(conn: psycopg.Connection[Any], root: Path | None = None) -> None:
    """Remove OMD and what it recorded from this database, in one transaction.

    Business rows stay; a warning of the server names the schemas that hold delivered ones.
    """
    _require_idle(conn)
    text = ((root or sql_root()) / UNINSTALL).read_text(encoding="utf-8")
    with pinned(conn):  # the file's own transaction is for psql
        _execute(conn, UNINSTALL, re.sub(r"(?m)^(BEGIN|COMMIT);$", "", text))


def _require_idle(conn: psycopg.Connection[Any]) -> None:
    if conn.info.transaction_status is not TransactionStatus.IDLE:
        raise InstallError(
            "The connection is in a transaction.", hint="Commit or roll back, then try again."
        )


def _execute(conn: psycopg.Connection[Any], path: str, text: str) -> None:
    try:
        conn.execute(text)
    except psycopg.Error as error:
        if error.sqlstate is None:  # the connection was lost; the file has no fault
            raise
        hint = error.diag.message_hint
        if isinstance(error, psycopg.errors.InsufficientPrivilege):
            hint = hint or "Install as a superuser, or as who has installed OMD."
        elif isinstance(error, psycopg.errors.OutOfMemory):
            # Each object that is made is locked to the end of the transaction.
            hint = (
                "Nothing was changed. Set max_locks_per_transaction to 256, restart the server, "
                "and install again; one installation at a time needs less."
            )
        failure = InstallError(_where(error, path, text), hint=hint)
        failure.sqlstate = error.sqlstate
        raise failure from error


def _where(error: psycopg.Error, path: str, text: str) -> str:
    diag = error.diag
    if diag.statement_position:
        # The position counts characters from 1; the line breaks before it tell the line.
        line = text.count("\n", 0, int(diag.statement_position) - 1) + 1
        path = f"{path}, line {line}"
    context = f" ({diag.context.splitlines()[0]})" if diag.context else ""
    return f"{path}: {diag.message_primary or error}{context}"
