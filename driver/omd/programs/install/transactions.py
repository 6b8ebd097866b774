"""What an installation executes, in order: transactions, each with its statements.

Whatever executes, prints or tries an installation walks over the same list. The statements of a
transaction are made when they are asked for, since what is to be done is read only after the setup
has taken the lock.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from omd.programs.install.manifest import (
    ROLES,
    Entry,
    InstallError,
    Kind,
    Phase,
    product_version,
)
from omd.programs.install.planning import Action, Part, Step, is_settled, pending


class Mode(str, Enum):
    """How the statements of a `Transaction` are executed."""

    TRANSACTION = "transaction"
    ALONE = "alone"  # each outside a transaction, as CREATE INDEX CONCURRENTLY wants it
    PATIENT = "patient"  # a transaction that is tried again when a lock is not to be had in 200 ms
    REPEATED = "repeated"  # a transaction that is repeated until its file changes no more row


_SERVER = "sql/cleanup/server.sql"
_INSTALL = "install"  # the step that is shown while the installation itself is at work
ONLINE = (Phase.EXPAND, Phase.BACKFILL, Phase.CONCURRENT)
_MODES = {
    Phase.EXPAND: Mode.PATIENT,
    Phase.BACKFILL: Mode.REPEATED,
    Phase.CONCURRENT: Mode.ALONE,
    Phase.CONTRACT: Mode.PATIENT,
}


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL that is executed at once: a file, or what records it.

    Attributes:
        text: one statement, or several.
        path: the file that it is or belongs to; an error names it.
        checksum: of the file; None for what is not a file.
        records: what ``omd.installed_file`` knows afterwards: path and checksum, which is None for
            a file that is forgotten.
        locks: the tables that it locks, if it does nothing else.
    """

    text: str
    path: str
    checksum: str | None = None
    records: tuple[str, str | None] | None = None
    locks: str | None = None


@dataclass(frozen=True, slots=True)
class Transaction:
    """Statements that are executed together.

    Attributes:
        phase: its name.
        statements: to be walked over once, while they are executed.
        mode: whether it is a transaction.
        is_tried: whether a dry run executes it, or only names its files: they take their time, or
            change what a rollback does not take back.
        step: the step of ``omd.upgrade_step`` that it belongs to.
    """

    phase: str
    statements: Iterable[Statement]
    mode: Mode = Mode.TRANSACTION
    is_tried: bool = True
    step: str | None = None


def transactions_of(
    entries: list[Entry],
    planned: Callable[[], list[Step]],
    *,
    look: Callable[[], list[Step] | None] = lambda: None,
    only: Part | None = None,
    installer: str | None = None,
) -> Iterator[Transaction]:
    """Yield what an installation executes.

    Args:
        entries: the files of the manifest.
        planned: it is asked once, after the setup; what it returns is done.
        look: the plan before anything is done; None if the installer may not look yet.
        only: a part of the installation.
        installer: the role that gets the right to act as ``omd_owner``.
    """
    if only is Part.ROLES:
        yield Transaction("roles", _roles(entries, only, installer))
        return
    first = look()
    is_upgrade = first is not None and is_settled(first)
    has_work = first is None or any(s.action not in (Action.KEEP, Action.RUN) for s in first)
    if has_work and (is_upgrade or (first is None and any(e.phase in ONLINE for e in entries))):
        # It lets the installer act as omd_owner, and look.
        yield Transaction("setup", _setup(entries, only, installer))
        first = look()
        is_upgrade = first is not None and is_settled(first)
    before = pending(first, *ONLINE) if first is not None and is_upgrade else []
    for entry in before:
        yield from _phase(entry)
    if is_upgrade and has_work:
        note = [Statement("SET LOCAL ROLE omd_owner", _INSTALL), _started(_INSTALL, _INSTALL)]
        yield Transaction("install", note, is_tried=False, step=_INSTALL)
    steps: list[Step] = []

    def noted() -> list[Step]:
        steps.extend(planned())
        return steps

    done = {entry.path for entry in before}
    statements = _install(entries, noted, done, only, installer)
    yield Transaction("install", statements, step=_INSTALL if is_upgrade else None)
    cleanup = [entry for entry in entries if entry.kind is Kind.CLEANUP]
    yield Transaction("cleanup", [_file(e) for e in cleanup if e.path != _SERVER])
    # It may set sequences, which no rollback takes back.
    yield Transaction("cleanup", [_file(e) for e in cleanup if e.path == _SERVER], is_tried=False)
    # The indexes of a database that was built in one transaction are left for now.
    for entry in (*pending(steps, Phase.CONCURRENT), *pending(steps, Phase.CONTRACT)):
        if entry.path not in done:
            yield from _phase(entry)


def _phase(entry: Entry) -> Iterator[Transaction]:
    """Yield the transactions of a migration that has one of its own, or several."""
    phase, mode = entry.phase.value, _MODES[entry.phase]
    as_owner = Statement("SET LOCAL ROLE omd_owner", entry.path)
    done = [as_owner, record(entry), _ended(entry.name)]
    yield Transaction(phase, [as_owner, _started(entry.name, phase)], step=entry.name)
    if mode is Mode.PATIENT:
        locks = []
        if entry.locks:
            text = f"LOCK TABLE {entry.locks} IN ACCESS EXCLUSIVE MODE"
            locks.append(Statement(text, entry.path, locks=entry.locks))
        # That something is not there to be dropped is nobody's concern.
        quiet = Statement("SET LOCAL client_min_messages = warning", entry.path)
        statements = [as_owner, quiet, *locks, _file(entry), *done[1:]]
        yield Transaction(phase, statements, mode, step=entry.name)
        return
    yield Transaction(phase, [_file(entry)], mode, is_tried=False, step=entry.name)
    yield Transaction(phase, done, step=entry.name)


def _started(step: str, phase: str) -> Statement:
    return Statement(
        "INSERT INTO omd.upgrade_step AS s (version, step_code, phase, started_at)\n"
        f"VALUES ({quoted(product_version())}, {quoted(step)}, {quoted(phase)},"
        " pg_catalog.clock_timestamp())\n"
        "ON CONFLICT (step_code) DO UPDATE SET version = excluded.version, error = NULL",
        step,
    )


def _ended(step: str) -> Statement:
    return Statement(
        "UPDATE omd.upgrade_step AS s"  # noqa: S608 - quoted
        " SET ended_at = pg_catalog.clock_timestamp(), error = NULL"
        f" WHERE s.step_code OPERATOR(pg_catalog.=) {quoted(step)}",
        step,
    )


def patient(locks: str, wait: int = 600) -> str:
    """Return a statement that waits 200 ms for these tables and tries again each two seconds.

    Args:
        locks: the tables, as LOCK TABLE wants them.
        wait: the seconds after which it ends with an error.
    """
    return (
        "DO $lock$ DECLARE v_began CONSTANT timestamptz := pg_catalog.clock_timestamp();\n"
        "BEGIN\n"
        "PERFORM pg_catalog.set_config('lock_timeout', '200ms', TRUE);\n"
        "LOOP\n"
        f"BEGIN LOCK TABLE {locks} IN ACCESS EXCLUSIVE MODE; EXIT;\n"
        "EXCEPTION WHEN lock_not_available OR deadlock_detected THEN\n"
        "IF pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) v_began"
        f" OPERATOR(pg_catalog.>) '{wait} s'::interval THEN RAISE; END IF;\n"
        # An autovacuum is cancelled for who has waited for it so long; this stops no load.
        "BEGIN PERFORM pg_catalog.set_config('lock_timeout', pg_catalog.concat(\n"
        "pg_catalog.date_part('epoch', pg_catalog.current_setting('deadlock_timeout')::interval)\n"
        "OPERATOR(pg_catalog.+) 0.5, 's'), TRUE);\n"
        f"LOCK TABLE {locks} IN SHARE UPDATE EXCLUSIVE MODE;\n"
        "EXCEPTION WHEN lock_not_available OR deadlock_detected THEN NULL; END;\n"
        "PERFORM pg_catalog.set_config('lock_timeout', '200ms', TRUE);\n"
        "PERFORM pg_catalog.pg_sleep(2); END;\n"
        "END LOOP; END $lock$"
    )


def looped(statement: Statement, *, commits: bool = True) -> Statement:
    """Return a backfill as one statement for psql: a loop that ends when no row is changed."""
    body = statement.text.strip().rstrip(";")
    commit = "COMMIT;" if commits else ""
    text = (
        "DO $loop$ DECLARE v_rows bigint; BEGIN LOOP\n"
        f"EXECUTE $chunk${body}$chunk$; GET DIAGNOSTICS v_rows = ROW_COUNT;\n"
        f"{commit} EXIT WHEN v_rows = 0; END LOOP; END $loop$"
    )
    return Statement(text, statement.path, statement.checksum)


def _file(entry: Entry) -> Statement:
    return Statement(entry.text, entry.path, entry.checksum)


_VIEW = re.compile(
    r"^CREATE OR REPLACE VIEW (?P<name>[\w.]+)(?P<options> WITH \([^)]*\))? AS\n(?P<query>.*?);\n",
    re.MULTILINE | re.DOTALL,
)


def _view(entry: Entry) -> Statement:
    """Return a file of views that replaces only those whose definition differs."""
    text = _VIEW.sub(
        lambda view: (
            f"CALL omd.put_view('{view['name']}', {quoted(view['options'] or '')}, $view$\n"
            f"{view['query']}$view$);\n"
        ),
        entry.text,
    )
    return Statement(text, entry.path, entry.checksum)


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


def _setup(entries: list[Entry], only: Part | None, installer: str | None) -> Iterator[Statement]:
    for entry in entries:
        if entry.path == ROLES:
            if only is not Part.OBJECTS:
                yield from _roles(entries, only, installer)
        elif entry.kind is Kind.SETUP:
            yield _file(entry)


def _install(
    entries: list[Entry],
    planned: Callable[[], list[Step]],
    done: set[str],
    only: Part | None,
    installer: str | None,
) -> Iterator[Statement]:
    # The setup comes first and takes the lock; what is recorded is read only after that.
    yield from _setup(entries, only, installer)
    steps = planned()
    is_upgrade = is_settled(steps)
    for step in steps:
        entry = step.entry
        if step.action is Action.FORGET:
            yield _forget(step.path)
        elif entry is None or step.action in (Action.KEEP, Action.RUN) or step.path in done:
            continue
        elif entry.phase in (Phase.CONCURRENT, Phase.CONTRACT):
            continue  # it comes after the installation
        elif is_upgrade and entry.phase in ONLINE:
            raise InstallError(
                f"{entry.path} must come before the installation, and is new since it was looked"
                " at.",
                hint="Install again.",
            )
        else:
            if entry.phase is Phase.BACKFILL:
                # In a database that nobody uses yet there is no need for many transactions.
                yield _started(entry.name, entry.phase.value)
                yield looped(_file(entry), commits=False)
                yield _ended(entry.name)
            elif entry.path.startswith("sql/views/") and is_upgrade:
                yield _view(entry)
            else:
                yield _file(entry)
            yield record(entry)
    for entry in entries:
        if entry.kind is Kind.FINISH:
            yield _file(entry)
    if is_upgrade:
        yield Statement(
            "DELETE FROM omd.upgrade_step AS s"  # noqa: S608 - quoted
            f" WHERE s.step_code OPERATOR(pg_catalog.=) {quoted(_INSTALL)}",
            _INSTALL,
        )
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
