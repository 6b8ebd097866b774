"""The ways in which a program writes by `run.connect()`; as a program it writes in one of them.

A way commits a row, writes a second one, calls `pause`, and commits that.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg

import omd

if TYPE_CHECKING:
    from collections.abc import Callable

    Pause = Callable[[], object]

LEASE = timedelta(seconds=1)


def insertion(run: omd.Run) -> str:
    return f"INSERT INTO {run._module.table_code} VALUES (%s)"


def insert(run: omd.Run, db: psycopg.Connection[Any]) -> None:
    db.execute(insertion(run).encode(), [run.instance_id])


def first(run: omd.Run) -> None:
    with run.connect() as db:
        insert(run, db)


def by_commit(run: omd.Run, pause: Pause) -> None:
    db = run.connect()
    insert(run, db)
    db.commit()
    insert(run, db)
    pause()
    db.commit()
    db.close()


def by_with(run: omd.Run, pause: Pause) -> None:
    first(run)
    with run.connect() as db:
        insert(run, db)
        pause()


def by_transaction(run: omd.Run, pause: Pause) -> None:
    db = run.connect()
    with db.transaction():
        insert(run, db)
    with db.transaction():
        insert(run, db)
        pause()


def by_named_transaction(run: omd.Run, pause: Pause) -> None:
    first(run)
    db = run.connect()
    with db.transaction("outer"), db.transaction():
        insert(run, db)
        pause()


def by_copy(run: omd.Run, pause: Pause) -> None:
    first(run)
    text = f"COPY {run._module.table_code} FROM STDIN".encode()
    with run.connect() as db, db.cursor().copy(text) as copy:
        copy.write_row([run.instance_id])
        pause()


def by_executemany(run: omd.Run, pause: Pause) -> None:
    first(run)
    with run.connect() as db:
        db.cursor().executemany(insertion(run).encode(), [[run.instance_id]])
        pause()


def by_stream(run: omd.Run, pause: Pause) -> None:
    first(run)
    with run.connect() as db:
        text = f"{insertion(run)} RETURNING omd_insert_module_instance_id".encode()
        for (instance,) in db.cursor().stream(text, [run.instance_id]):
            assert instance == run.instance_id
            pause()


def by_server_cursor(run: omd.Run, pause: Pause) -> None:
    with run.connect() as db, db.cursor("some") as cursor:
        cursor.execute("SELECT n FROM generate_series(1, 2) AS n")
        for (number,) in cursor:
            insert(run, db)
            if number == 2:
                pause()


def by_pipeline(run: omd.Run, pause: Pause) -> None:
    with run.connect() as db, db.pipeline():
        insert(run, db)
        db.commit()
        insert(run, db)
        pause()
        db.commit()


def by_transaction_in_a_pipeline(run: omd.Run, pause: Pause) -> None:
    first(run)
    with run.connect() as db, db.pipeline(), db.transaction():
        insert(run, db)
        pause()


def by_prepared(run: omd.Run, pause: Pause) -> None:
    with run.connect() as db:
        text = insertion(run).encode()
        db.execute(text, [run.instance_id], prepare=True)
        db.commit()
        pause()
        db.execute(text, [run.instance_id], prepare=True)


def by_savepoint(run: omd.Run, pause: Pause) -> None:
    first(run)
    with run.connect() as db:
        with suppress(psycopg.errors.DivisionByZero), db.transaction():
            insert(run, db)
            db.execute("SELECT 1 / 0")
        with db.transaction():
            insert(run, db)
            pause()


def by_client_cursor(run: omd.Run, pause: Pause) -> None:
    first(run)
    with run.connect(cursor_factory=psycopg.ClientCursor) as db:
        insert(run, db)
        pause()


WAYS: list[Callable[[omd.Run, Pause], None]] = [
    value for name, value in list(globals().items()) if name.startswith("by_")
]


def stopped() -> None:
    """Freeze this process, until somebody wakes it."""
    os.kill(os.getpid(), signal.SIGSTOP)


def main() -> None:
    """Write in a way, and freeze before its end; or write rows for ever: ``DSN MODULE [WAY]``."""
    dsn, module, *ways = sys.argv[1:]
    with omd.connect(dsn, lease=LEASE) as control, control.module(module) as run:
        if ways == ["holding"]:
            first(run)
            with run.connect() as db:
                db.execute(f"SELECT FROM {run._module.table_code} FOR UPDATE".encode())
                stopped()
                insert(run, db)
        for way in WAYS:
            if way.__name__ in ways:
                way(run, stopped)
        if not ways:
            with run.connect() as db:
                print("writes", flush=True)
                while True:
                    insert(run, db)
                    db.commit()


if __name__ == "__main__":
    main()
