"""Jobs that write to two lake tables are killed at random: an independent reader sees each run that
has finished once, no other, and both tables alike. Some of the jobs replace all rows.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from deltalake import DeltaTable
from psycopg.rows import dict_row

import omd
from omd.programs.demo.reader import Reader
from omd.rooms.control.rows import ModuleExecutionLogRow
from support.lots import SEED, draws

from .connect_server import connect_server
from .killed_jobs import COLUMN, ROWS, TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.spark

JOBS = Path(__file__).with_name("killed_jobs.py")
KILLS = draws(16, least=12)  # jobs; the first two of a worker live
WORKERS = 2
OVERWRITES = 0.15  # so many jobs replace all rows
ON_SPARK = 5  # each fifth job writes through Spark, the others through pyarrow


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of Spark Connect: a driver is a process without a JVM, so it is killed at once."""
    with connect_server(tmp_path_factory.mktemp("connect")) as address:
        yield address


class Worker:
    """Starts jobs of one Module one after the other, and kills most of them."""

    def __init__(self, dsn: str, module: str, format: str, remote: str) -> None:
        self.dsn, self.module, self.format, self.remote = dsn, module, format, remote
        self.random = random.Random(f"{SEED} {module} {format}")
        self.lines: dict[bool, int] = {}
        self.seconds: dict[bool, float] = {}
        self.ended: Counter[int] = Counter()
        self.process = subprocess.Popen(
            [sys.executable, JOBS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONWARNINGS": "ignore"},
        )

    def run(self, number: int) -> None:
        on_spark = number % ON_SPARK == 0
        # The first job of its kind lives, and tells how long one is.
        known = on_spark in self.lines
        by_line = known and self.random.random() < 0.5
        self.send(
            dsn=self.dsn,
            module=self.module,
            format=self.format,
            remote=self.remote if on_spark else None,
            mode="overwrite" if known and self.random.random() < OVERWRITES else "append",
            lines=self.random.randint(1, int(self.lines[on_spark] * 1.3)) if by_line else 0,
        )
        started = time.monotonic()
        pid = self.told()["pid"]
        killer = None
        if known and not by_line:
            delay = self.random.uniform(0, self.seconds[on_spark] * 1.3)
            killer = threading.Timer(delay, os.kill, (pid, signal.SIGKILL))
            killer.start()
        told = self.told()
        if "lines" in told:
            if not known:
                self.lines[on_spark] = told["lines"]
                self.seconds[on_spark] = time.monotonic() - started
            told = self.told()
        if killer is not None:
            killer.cancel()
        self.ended[told["status"]] += 1
        assert told["status"] in (0, -signal.SIGKILL), told
        self.declare_dead()

    def declare_dead(self) -> None:
        """Do at once what the end of the lease would do."""
        with psycopg.connect(self.dsn, autocommit=True) as conn:
            # What the job has sent last, the server ends even so: a begin, or a commit.
            while conn.execute(
                "SELECT FROM pg_stat_activity WHERE datname = current_database()"
                " AND starts_with(application_name, %s)",
                [self.module],
            ).fetchall():
                time.sleep(0.01)
        with omd.connect(self.dsn) as control:
            for row in control.report(
                ModuleExecutionLogRow, module_code=self.module, execution_status_code="E"
            ):
                control.calls.omd.module_failure(row.module_instance_id)

    def send(self, **job: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()

    def told(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


@contextmanager
def one_moment(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(dsn, row_factory=dict_row) as conn:
        conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        yield conn


def finished(conn: psycopg.Connection[Any]) -> list[Counter[int]]:
    """The rows of each run that both tables must have: those of the runs that have succeeded."""
    found = []
    for code in TABLES:
        held: Counter[int] = Counter()
        for row in conn.execute(
            "SELECT operation, module_instance_id FROM omd_report.lake_commits"
            " WHERE table_code = %s AND execution_status_code = 'S' AND operation <> 'UNDO'"
            " ORDER BY commit_id",
            [code],
        ).fetchall():
            if row["operation"] == "OVERWRITE":
                held.clear()
            held[row["module_instance_id"]] = ROWS
        found.append(held)
    assert found[0] == found[1]
    return found


def visible_iceberg(conn: psycopg.Connection[Any]) -> list[Counter[int]]:
    """What a reader of the metadata sees in both tables."""
    rows = conn.execute(
        "SELECT metadata_location AS file FROM omd_lake.iceberg_tables ORDER BY table_name"
    ).fetchall()
    reader = Reader()
    assert reader.name == "DuckDB", reader.problem
    query = f"SELECT {COLUMN}, count(*) FROM held GROUP BY 1"
    return [Counter(dict(reader.rows(query, {"held": row["file"]}))) for row in rows]


def visible_delta(folder: Path) -> list[Counter[int]]:
    """What a reader of the logs sees in both tables."""
    held = [DeltaTable(folder / code.split(".")[1]).to_pyarrow_table() for code in TABLES]
    return [Counter(table[COLUMN].to_pylist()) for table in held]


@pytest.mark.random
@pytest.mark.kill
@pytest.mark.parametrize("format", ["ICEBERG", "DELTA"])
def test_each_finished_run_is_seen_once_in_both_tables_and_no_other_however_jobs_are_killed(
    dsn: str, remote: str, tmp_path: Path, format: str
) -> None:
    with omd.connect(dsn) as control:
        control.calls.omd_lake.register_namespace("lake", str(tmp_path))
        for n in range(WORKERS):
            control.calls.omd.register_module(
                f"m_{n}",
                area_code="HSTG",
                table_code=TABLES[0],
                table_type_code="HSTG",
                platform_code="SPARK",
                table_format_code=format,
            )
    workers = [Worker(dsn, f"m_{n}", format, remote) for n in range(WORKERS)]

    def work(worker: Worker) -> None:
        try:
            for number in range(KILLS // WORKERS):
                worker.run(number)
                if format == "ICEBERG" and number % 10 == 9:
                    # No reader ever sees a run that has not succeeded.
                    with one_moment(dsn) as conn:
                        assert visible_iceberg(conn) == finished(conn)
        finally:
            worker.close()

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(work, workers))
    ended = sum((worker.ended for worker in workers), Counter())
    print("ended:", dict(ended))
    assert ended[-signal.SIGKILL] > KILLS // 8
    with omd.connect(dsn, lease=None) as control:
        for worker in workers:
            with control.module(worker.module):
                pass
    with one_moment(dsn) as conn:
        visible = visible_iceberg(conn) if format == "ICEBERG" else visible_delta(tmp_path)
        assert visible == finished(conn)
        (done,) = conn.execute(
            "SELECT count(*) AS n FROM omd_lake.write_folder AS w"
            " JOIN omd.module_instance AS i USING (module_instance_id)"
            " WHERE i.execution_status_code = 'S' AND w.table_code = 'lake.one'"
        ).fetchall()
    assert done["n"] >= ended[0]
