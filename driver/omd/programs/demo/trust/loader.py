"""The loader that is killed: a program of a user, which copies rows in several transactions.

It is started twice with the same arguments but one: in its first life it waits in the middle of a
transaction, so that SIGKILL meets it there.
"""

from __future__ import annotations

import sys
import time
from datetime import timedelta

import psycopg

import omd
from omd.programs.demo.trust.place import NAME
from omd.programs.terminal.commands import ExitCode

BATCH, MODULE, TABLE = "b_trust_demo", "m_trust_demo_orders", f"{NAME}.orders"
LEASE = timedelta(seconds=3)  # so soon a killed run counts as dead
PARTS = 10  # the transactions of a load
WAITS_IN = 6  # the one in which it is killed


def amount(order_id: int) -> int:
    """Return the amount of an order, in cents; it is computed, so that a proof can be too."""
    return order_id * 7919 % 100_000


def main() -> None:
    """Load so many rows: ``rows``, and ``wait`` or ``go``."""
    rows, is_waiting = int(sys.argv[1]), sys.argv[2] == "wait"
    try:
        with omd.connect(lease=LEASE, application_name="omd demo trust") as control:
            load(control, rows, is_waiting=is_waiting)
    except omd.errors.NotStarted as answer:
        print(f"aborted {answer.reason}", flush=True)
        sys.exit(ExitCode.ABORTED)


def load(control: omd.Control, rows: int, *, is_waiting: bool) -> None:
    """Load the rows. All that a program needs of OMD: two blocks, their connection, a stamp."""
    with control.batch(BATCH) as batch, batch.module(MODULE) as run:
        print(f"begun {run.instance_id}", flush=True)
        with run.connect(application_name="omd demo trust load") as connection:
            for part in range(PARTS):
                first, last = rows * part // PARTS, rows * (part + 1) // PARTS
                copy_rows(connection, run, first, last, waits=is_waiting and part + 1 == WAITS_IN)
                connection.commit()  # with the fence of the run
                print(f"committed {last}", flush=True)
        run.rows(inserted=rows)


def copy_rows(
    connection: psycopg.Connection[tuple[object, ...]],
    run: omd.Run,
    first: int,
    last: int,
    *,
    waits: bool,
) -> None:
    """Copy the orders of a part, each with the ID of its run."""
    statement = f"COPY {TABLE} (order_id, amount_cents, omd_insert_module_instance_id) FROM STDIN"
    with connection.cursor().copy(statement.encode()) as copy:
        for order_id in range(first, last):
            if waits and order_id == (first + last) // 2:
                print("waits", flush=True)
                time.sleep(600)
            copy.write_row((order_id, amount(order_id), run.instance_id))
