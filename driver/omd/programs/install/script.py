"""Print an installation for psql, with the transactions and statements that it executes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import psycopg

from omd.programs.install.manifest import product_version, read_manifest
from omd.programs.install.planning import Part, plan_of, recorded
from omd.programs.install.removing import removal
from omd.programs.install.running import pinned
from omd.programs.install.transactions import (
    Mode,
    Statement,
    Transaction,
    looped,
    patient,
    quoted,
    transactions_of,
)

_RECORDED = "sql/setup/begin.sql"  # it makes omd.installed_file, or locks it
_GUARD = """\
DO $omd_guard$
DECLARE
    v_recorded text := '';
BEGIN
    PERFORM FROM pg_catalog.pg_tables AS t
    WHERE t.schemaname OPERATOR(pg_catalog.=) 'omd'
        AND t.tablename OPERATOR(pg_catalog.=) 'installed_file';
    IF FOUND THEN
        SELECT coalesce(
            pg_catalog.string_agg(
                pg_catalog.concat(f.path, ' ', f.checksum), E'\\n' ORDER BY f.path COLLATE "C"
            ),
            ''
        ) INTO v_recorded
        FROM omd.installed_file AS f;
    END IF;
    IF pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(v_recorded, 'UTF8')), 'hex')
        OPERATOR(pg_catalog.<>) {expected}
    THEN
        RAISE EXCEPTION USING
            ERRCODE = 'OM907',
            MESSAGE = 'this script was made for another state of OMD than this database has',
            DETAIL = '{{}}',
            HINT = 'Make it again here: omd install --script';
    END IF;
EXCEPTION
    WHEN insufficient_privilege THEN
        NULL; -- as omd_owner it is asked again
END
$omd_guard$;
"""


def script(
    conn: psycopg.Connection[Any],
    root: Path | None = None,
    *,
    allow_downgrade: bool = False,
    only: Part | None = None,
    installer: str | None = None,
) -> Iterator[str]:
    """Yield the lines of what ``install`` would execute here and now; nothing is changed.

    The arguments and errors are those of ``install``. The script refuses a database in which other
    files are recorded than in this one.
    """
    entries = read_manifest(root)
    known, steps = None, []
    if only is not Part.ROLES:
        with pinned(conn):
            conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            known = recorded(conn)
            steps = plan_of(conn, entries, allow_downgrade)
    yield from script_of(
        transactions_of(entries, lambda: steps, look=lambda: steps, only=only, installer=installer),
        about=f"What omd {product_version()} would execute in database {conn.info.dbname}.",
        known=known,
    )


def removal_script(root: Path | None = None, *, keep_roles: bool = False) -> Iterator[str]:
    """Yield the lines of what ``uninstall`` would execute."""
    return script_of(
        removal(root, keep_roles=keep_roles),
        about=f"What omd {product_version()} would execute to remove itself.",
    )


def script_of(
    transactions: Iterable[Transaction], *, about: str, known: dict[str, str] | None = None
) -> Iterator[str]:
    """Yield the lines of a script for psql.

    Args:
        transactions: what it executes.
        about: the first line.
        known: the files that are recorded where it is executed, and their checksums; it refuses
            others.
    """
    yield f"-- {_in_one_line(about)}"
    yield "-- Execute it with psql: psql -X -f FILE"
    yield "\\set ON_ERROR_STOP on"
    yield "\\encoding UTF8"
    is_first = True
    for transaction in transactions:
        yield ""
        if transaction.mode in (Mode.TRANSACTION, Mode.PATIENT):
            yield f"-- {transaction.phase}: one transaction"
            yield "BEGIN;"
            yield "SET LOCAL search_path = pg_catalog, pg_temp;"
        else:
            yield f"-- {transaction.phase}: each statement by itself"
            yield "SET search_path = pg_catalog, pg_temp;"
            yield "SET ROLE omd_owner;"
        if known is not None and is_first:
            yield _guard(known)
        is_first = False
        path = None
        for statement in transaction.statements:
            if statement.checksum is not None:
                yield f"\n-- file: {statement.path}\n-- checksum: {statement.checksum}"
            elif statement.path != path:
                yield f"\n-- {statement.path}"
            path = statement.path
            yield _ended(_text(statement, transaction.mode))
            if known is not None:
                known = _noted(statement, known)
                if statement.path == _RECORDED:
                    yield _guard(known)
        if transaction.mode in (Mode.TRANSACTION, Mode.PATIENT):
            yield "COMMIT;"
        else:
            yield "RESET ROLE;"
            yield "RESET search_path;"


def _text(statement: Statement, mode: Mode) -> str:
    if statement.locks is not None:
        return patient(statement.locks)
    if mode is Mode.REPEATED:
        return looped(statement).text
    return statement.text


def _in_one_line(text: str) -> str:
    # The name of a database may have line breaks, and what follows them would be executed.
    return " ".join(text.splitlines())


def _noted(statement: Statement, known: dict[str, str]) -> dict[str, str]:
    if statement.records is None:
        return known
    path, checksum = statement.records
    others = {file: value for file, value in known.items() if file != path}
    return others if checksum is None else {**others, path: checksum}


def _guard(known: dict[str, str]) -> str:
    # Bytes of UTF-8 are in the order of COLLATE "C".
    files = sorted(known.items(), key=lambda file: file[0].encode())
    text = "\n".join(f"{path} {checksum}" for path, checksum in files)
    expected = hashlib.sha256(text.encode()).hexdigest()
    return _GUARD.format(expected=quoted(expected))


def _ended(text: str) -> str:
    """Return statements whose last one has its semicolon."""
    text = text.rstrip()
    last = text.rpartition("\n")[2].partition("--")[0].rstrip()
    return text if last.endswith(";") else f"{text}\n;" if "--" in text else f"{text};"
