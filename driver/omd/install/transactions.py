"""What an installation executes, in order: transactions, each with its statements.

Whatever executes, prints or tries an installation walks over the same list. The statements of a
transaction are made when they are asked for, since what is to be done is read only after the setup
has taken the lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from omd.install.manifest import ROLES, Entry, Kind, product_version
from omd.install.planning import Action, Part, Step


class Mode(str, Enum):
    """How the statements of a `Transaction` are executed."""

    TRANSACTION = "transaction"
    ALONE = "alone"  # each outside a transaction, as CREATE INDEX CONCURRENTLY wants it


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL that is executed at once: a file, or what records it.

    Attributes:
        text: one statement, or several.
        path: the file that it is or belongs to; an error names it.
        checksum: of the file; None for what is not a file.
        records: what ``omd.installed_file`` knows afterwards: path and checksum, which is None for
            a file that is forgotten.
    """

    text: str
    path: str
    checksum: str | None = None
    records: tuple[str, str | None] | None = None


@dataclass(frozen=True, slots=True)
class Transaction:
    """Statements that are executed together.

    Attributes:
        phase: its name.
        statements: to be walked over once, while they are executed.
        mode: whether it is a transaction.
        is_tried: whether a dry run executes it, or only names its files.
    """

    phase: str
    statements: Iterable[Statement]
    mode: Mode = Mode.TRANSACTION
    is_tried: bool = True


def transactions_of(
    entries: list[Entry],
    planned: Callable[[], list[Step]],
    *,
    only: Part | None = None,
    installer: str | None = None,
) -> Iterator[Transaction]:
    """Yield what an installation executes.

    Args:
        entries: the files of the manifest.
        planned: it is asked once, after the setup; what it returns is done.
        only: a part of the installation.
        installer: the role that gets the right to act as ``omd_owner``.
    """
    if only is Part.ROLES:
        yield Transaction("roles", _roles(entries, only, installer))
        return
    for entry in entries:
        if entry.kind is Kind.PREPARE:
            # What one has locked must not wait for the next.
            yield Transaction("prepare", [_file(entry)])
    yield Transaction("install", _install(entries, planned, only, installer))
    yield Transaction("cleanup", [_file(e) for e in entries if e.kind is Kind.CLEANUP])


def _file(entry: Entry) -> Statement:
    return Statement(entry.text, entry.path, entry.checksum)


def _roles(entries: list[Entry], only: Part | None, installer: str | None) -> Iterator[Statement]:
    for entry in entries:
        if entry.path == ROLES:
            yield from _settings(only, installer)
            yield _file(entry)


def _settings(only: Part | None, installer: str | None) -> Iterator[Statement]:
    """Yield the settings that sql/roles.sql reads."""
    if installer is not None:
        yield Statement(f"SET LOCAL omd_install.installer = {quoted(installer)}", ROLES)
    if only is not None:
        yield Statement(f"SET LOCAL omd_install.part = {quoted(only.value)}", ROLES)


def _install(
    entries: list[Entry],
    planned: Callable[[], list[Step]],
    only: Part | None,
    installer: str | None,
) -> Iterator[Statement]:
    # The setup comes first and takes the lock; what is recorded is read only after that.
    for entry in entries:
        if entry.path == ROLES:
            if only is not Part.OBJECTS:
                yield from _roles(entries, only, installer)
        elif entry.kind is Kind.SETUP:
            yield _file(entry)
    for step in planned():
        if step.action is Action.FORGET:
            yield _forget(step.path)
        elif step.entry is not None and step.action in (Action.APPLY, Action.REAPPLY):
            yield _file(step.entry)
            yield record(step.entry)
    version = quoted(product_version())
    yield Statement(
        f"UPDATE omd.installed_file AS f SET product_version = {version}"  # noqa: S608 - quoted
        " WHERE f.product_version IS NULL"
        f" OR f.product_version OPERATOR(pg_catalog.<>) {version}",
        "omd.installed_file",
    )


def record(entry: Entry) -> Statement:
    """Return the statement that records a file as applied."""
    values = (entry.path, entry.kind.value, entry.checksum)
    return Statement(
        "INSERT INTO omd.installed_file AS f"
        " (path, kind, checksum, applied_at, applied_by, product_version)\n"
        f"VALUES ({', '.join(map(quoted, values))}, pg_catalog.clock_timestamp(), session_user,"
        f" {quoted(product_version())})\n"
        "ON CONFLICT (path) DO UPDATE SET checksum = excluded.checksum,"
        " applied_at = excluded.applied_at, applied_by = excluded.applied_by,"
        " product_version = excluded.product_version",
        entry.path,
        records=(entry.path, entry.checksum),
    )


def _forget(path: str) -> Statement:
    known = f"f.path OPERATOR(pg_catalog.=) {quoted(path)}"
    text = f"DELETE FROM omd.installed_file AS f WHERE {known}"  # noqa: S608 - quoted
    return Statement(text, path, records=(path, None))


def quoted(value: str) -> str:
    """Return a literal of SQL, also where backslashes escape."""
    if "\\" in value:
        return " E'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
    return "'" + value.replace("'", "''") + "'"
