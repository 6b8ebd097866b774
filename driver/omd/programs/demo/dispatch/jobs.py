"""The job of the flights Batch: a worker runs it in a process, inside the Batch.

It needs no Spark. The first Module reads the files that have arrived, a transaction per file; the
second one keeps what was read, in one transaction.
"""

from __future__ import annotations

import csv
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

import omd
from omd.programs.demo.files import MISSING

if TYPE_CHECKING:
    from omd.rooms.control.run import Batch, Run

COLUMNS = "day, carrier, flight, origin, dest, sched_dep_time, dep_delay"


def load_flights(batch: Batch) -> None:
    """Load the files that have arrived and are not kept yet.

    A rerun skips a Module that has succeeded.
    """
    with suppress(omd.errors.Skipped), batch.module("m_night_stage") as run:
        _stage(run)
    with suppress(omd.errors.Skipped), batch.module("m_night_flight") as run:
        _keep(run)
    # The rows are those of a run that has succeeded. Only now do the topics get to know of them.
    with psycopg.connect(batch._control._executor_dsn, autocommit=True) as connection:
        connection.execute("CALL omd_lineage.set_offset('night.flight', clock_timestamp())")


def _stage(run: Run) -> None:
    with run.connect() as connection:
        connection.execute("TRUNCATE night.stage")
        arrived = connection.execute(
            "SELECT f.path FROM night.file AS f"
            " WHERE NOT EXISTS (SELECT FROM night.flight AS k WHERE k.day = f.day)"
            " ORDER BY f.day"
        ).fetchall()
        connection.commit()
        for (path,) in arrived:
            rows = _copy(connection, run.instance_id, Path(path))
            connection.commit()  # nobody who was declared dead commits here
            run.rows(inserted=rows)


def _copy(connection: psycopg.Connection[Any], instance: int, path: Path) -> int:
    rows = 0
    with (
        path.open(newline="", encoding="utf-8") as file,
        connection.cursor().copy(
            f"COPY night.stage ({COLUMNS}, omd_insert_module_instance_id) FROM STDIN".encode()
        ) as copy,
    ):
        for row in csv.reader(file):
            copy.write_row([None if value == MISSING else value for value in (*row, instance)])
            rows += 1
    return rows


def _keep(run: Run) -> None:
    with run.connect() as connection:
        kept = connection.execute(
            f"INSERT INTO night.flight ({COLUMNS}, omd_insert_module_instance_id)"  # noqa: S608
            f" SELECT {COLUMNS}, %s FROM night.stage ORDER BY day",
            [run.instance_id],
        ).rowcount
    run.rows(inserted=kept)
