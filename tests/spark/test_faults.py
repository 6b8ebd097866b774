"""Executors and whole jobs are killed during writes: a finished write has each row exactly once.

The next begin removes the rows of a failed write.
"""

from __future__ import annotations

import contextlib
import os
import queue
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pyspark
import pytest

from support.lots import IS_LONG, SEED, draws

from .faulty_job import PARTITIONS, ROWS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.spark

SPARK_HOME = Path(pyspark.__file__).parent
JOB = Path(__file__).with_name("faulty_job.py")
PATIENCE = 180  # seconds

# A commit takes some time, and ends even if its client has died.
SLOW_COMMIT = """
CREATE FUNCTION t.commit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN {} RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER commit AFTER INSERT ON t.target DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW WHEN (NEW.id % 2000 = 0) EXECUTE FUNCTION t.commit();
"""
NO_LEDGER = """
CREATE OR REPLACE FUNCTION omd.recorded_write(
    p_module_instance_id bigint, p_write_number bigint, p_partition_number integer,
    p_table_code text, p_read_count bigint DEFAULT NULL
) RETURNS bigint LANGUAGE sql AS 'SELECT NULL::bigint';
CREATE OR REPLACE PROCEDURE omd.record_write(
    p_module_instance_id bigint, p_write_number bigint, p_partition_number integer,
    p_table_code text, p_row_count bigint, INOUT p_is_first boolean DEFAULT NULL,
    INOUT p_recorded_row_count bigint DEFAULT NULL, p_read_count bigint DEFAULT NULL
) LANGUAGE plpgsql AS $$
BEGIN
    CALL omd.fence(p_module_instance_id);
    p_is_first := true;
    p_recorded_row_count := p_row_count;
END $$;
"""


class Job:
    """A driver process with its executors, which writes on command."""

    def __init__(self, master: str, script: Path = JOB, **environment: str) -> None:
        self.master = master
        self.process = subprocess.Popen(
            [sys.executable, script, master],
            env={**os.environ, "PYSPARK_PYTHON": sys.executable, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        self._answers: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        assert self.answer(3 * PATIENCE) == "ready"

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._answers.put(line.strip())
        self._answers.put("killed")

    def write(self, order: str) -> None:
        """Let it write; its script says what the order is, by default the database."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{order}\n")

    def answer(self, seconds: float = PATIENCE) -> str:
        """Return how the write has ended: S, F, or killed. Raises queue.Empty if it has not."""
        return self._answers.get(timeout=seconds)

    def executors(self) -> list[psutil.Process]:
        """Return the executors, and the Python processes that they have started."""
        jvms = [
            process
            for process in psutil.Process(self.process.pid).children(recursive=True)
            if "CoarseGrainedExecutorBackend" in " ".join(cmdline(process))
        ]
        return jvms + [child for jvm in jvms for child in children(jvm)]

    def kill(self) -> None:
        """Kill the driver with all that it has started, at once."""
        everybody = children(psutil.Process(self.process.pid))
        self.process.kill()
        for process in everybody:
            kill(process)
        self.process.wait()

    def close(self) -> None:
        if self.process.poll() is None:
            self.kill()


def cmdline(process: psutil.Process) -> list[str]:
    with contextlib.suppress(psutil.Error):
        return process.cmdline()
    return []


def children(process: psutil.Process) -> list[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.children(recursive=True)
    return []


def kill(process: psutil.Process) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):  # psutil knows a number that is used again
        process.send_signal(signal.SIGKILL)


@pytest.fixture(scope="session")
def blindness(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PYTHONPATH with which no worker sees whether its rows ended early."""
    folder = tmp_path_factory.mktemp("blind")
    folder.joinpath("sitecustomize.py").write_text(
        "import types\n"
        "import omd.spark.whole_input as whole_input\n"
        "whole_input.sys = types.SimpleNamespace(_getframe=lambda: None)\n"
    )
    return str(folder)


@pytest.fixture(scope="module")
def jobs(blindness: str) -> Iterator[Callable[..., Job]]:
    """A function that returns the running job, or a new one."""
    running: dict[bool, Job] = {}

    def job(*, is_blind: bool = False) -> Job:
        if is_blind not in running or running[is_blind].process.poll() is not None:
            more = {"PYTHONPATH": blindness} if is_blind else {}
            running[is_blind] = Job("local-cluster[2,1,1024]", **more)
        return running[is_blind]

    yield job
    for started in running.values():
        started.close()


@pytest.fixture
def two_machines() -> Iterator[str]:
    """The URL of a cluster with two hosts: Spark does not speculate twice on the same host."""
    with contextlib.ExitStack() as stack:

        def start(kind: str, host: str, *arguments: str, log: int = subprocess.DEVNULL) -> Any:
            process = subprocess.Popen(
                [
                    *(SPARK_HOME / "bin/spark-class", f"org.apache.spark.deploy.{kind}"),
                    *("--host", host, "--port", "0", "--webui-port", "0", *arguments),
                ],
                env={
                    **{
                        name: value
                        for name, value in os.environ.items()
                        if name != "SPARK_LOCAL_IP"
                    },
                    "SPARK_HOME": str(SPARK_HOME),
                    "SPARK_DAEMON_MEMORY": "256m",
                    "SPARK_WORKER_DIR": stack.enter_context(tempfile.TemporaryDirectory()),
                },
                stdout=subprocess.DEVNULL,
                stderr=log,
                text=True,
            )
            stack.callback(process.wait)
            stack.callback(process.terminate)
            return process.stderr

        told = start("master.Master", "127.0.0.1", log=subprocess.PIPE)
        found = (re.search(r"Starting Spark master at (spark://\S+)", line) for line in told)
        url = next(match[1] for match in found if match)
        threading.Thread(target=told.read, daemon=True).start()  # otherwise the pipe fills up
        for host in ("127.0.0.1", "127.0.0.2"):
            start("worker.Worker", host, "--cores", "1", "--memory", "1g", url)
        yield url


@pytest.fixture
def module(target: Callable[..., str]) -> str:
    return target("id bigint, note text")


def until(conn: Any, question: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not conn.execute(question).fetchone()["yes"]:
        assert time.monotonic() < deadline


def settle(conn: Any, module: str) -> list[int]:
    """Let the lease of a killed job expire, begin and end the Module; returns the undone runs."""
    with conn.transaction():
        # Without its guard the row can be changed, and the test need not wait.
        conn.execute("SET LOCAL session_replication_role = replica")
        conn.execute(
            "UPDATE omd.module_instance SET lease_expires_at = now() - interval '1 second'"
            " WHERE execution_status_code = 'E'"
        )
    begun = conn.execute("CALL omd.begin_module(%s)", [module]).fetchone()
    assert begun["p_processing_indicator"] == "P"
    conn.execute("CALL omd.module_success(%s)", [begun["p_module_instance_id"]])
    return begun["p_instance_array"] or []


def assert_each_row_once(conn: Any) -> None:
    """Check that every finished write is there once and as a whole, and nothing else is."""
    conn.execute(
        "CREATE TEMP TABLE IF NOT EXISTS due AS SELECT id, md5(id::text) AS note"
        " FROM generate_series(0::bigint, %s) AS id",
        [ROWS - 1],
    )
    wrong = conn.execute(
        """
        SELECT mi.module_instance_id, mi.execution_status_code, mi.rows_inserted, f.*
        FROM omd.module_instance AS mi
        FULL JOIN (
            SELECT omd_insert_module_instance_id AS by, count(*) AS n,
                sum(hashtextextended(id || note, 0)) AS checksum
            FROM t.target GROUP BY 1
        ) AS f ON f.by = mi.module_instance_id
        CROSS JOIN (SELECT count(*) AS n, sum(hashtextextended(id || note, 0)) AS checksum FROM due)
            AS d
        WHERE CASE WHEN mi.execution_status_code = 'S' AND mi.rows_inserted > 0
            THEN (mi.rows_inserted, f.n, f.checksum) IS DISTINCT FROM (d.n, d.n, d.checksum)
            ELSE f.n > 0 END
        """
    ).fetchall()
    assert wrong == []


@pytest.mark.kill
@pytest.mark.parametrize("ledger", [True, False], ids=["", "the test sees it without the ledger"])
def test_executors_that_die_between_a_commit_and_its_answer(
    jobs: Callable[[], Job], conn: Any, dsn: str, module: str, ledger: bool
) -> None:
    conn.execute(SLOW_COMMIT.format("PERFORM pg_advisory_xact_lock_shared(42);"))
    if not ledger:
        conn.execute(NO_LEDGER)
    job = jobs()
    conn.execute("SELECT pg_advisory_lock(42)")
    job.write(dsn)
    until(conn, "SELECT count(*) > 0 AS yes FROM pg_locks WHERE NOT granted")
    for process in job.executors():
        kill(process)
    conn.execute("SELECT pg_advisory_unlock(42)")
    assert job.answer() == "S"
    if ledger:
        assert_each_row_once(conn)
        found = conn.execute("SELECT partition_count AS n FROM omd_report.write_log").fetchone()
        assert found == {"n": PARTITIONS}
    else:
        found = conn.execute("SELECT count(*) AS n FROM t.target").fetchone()
        assert found["n"] > ROWS


@pytest.mark.kill
@pytest.mark.parametrize(
    "ledger",
    [
        True,
        pytest.param(False, marks=pytest.mark.skipif(not IS_LONG, reason="with OMD_SOAK=2")),
    ],
    ids=["", "the test sees it without the ledger"],
)
def test_a_partition_that_is_tried_twice_at_a_time(
    two_machines: str, conn: Any, dsn: str, module: str, ledger: bool
) -> None:
    conn.execute(
        SLOW_COMMIT.format("IF NEW.id = 0 THEN PERFORM pg_advisory_xact_lock_shared(42); END IF;")
    )
    if not ledger:
        conn.execute(NO_LEDGER)
    job = Job(two_machines)
    try:
        conn.execute("SELECT pg_advisory_lock(42)")
        job.write(dsn)
        # One attempt waits for a lock and the other one for its end, or both wait for the lock.
        until(conn, "SELECT count(DISTINCT pid) = 2 AS yes FROM pg_locks WHERE NOT granted")
        conn.execute("SELECT pg_advisory_unlock(42)")
        assert job.answer() == "S"
    finally:
        job.close()
    if ledger:
        assert_each_row_once(conn)
    else:
        settle(conn, module)  # both attempts have ended
        found = conn.execute("SELECT count(*) AS n FROM t.target").fetchone()
        assert found["n"] > ROWS


@pytest.mark.random
@pytest.mark.kill
@pytest.mark.parametrize("is_blind", [False, True], ids=["", "no task sees an early end"])
def test_executors_killed_at_random(
    jobs: Callable[..., Job], conn: Any, dsn: str, module: str, is_blind: bool
) -> None:
    conn.execute(SLOW_COMMIT.format("PERFORM pg_sleep(random() / 5);"))
    chance = random.Random(SEED)
    job = jobs(is_blind=is_blind)
    for _ in range(2):  # the second one is warm
        started = time.monotonic()
        job.write(dsn)
        assert job.answer() == "S"
    usual = time.monotonic() - started
    answers, killed = [], 0
    for _ in range(draws(3, least=3)):
        job.write(dsn)
        try:
            answers.append(job.answer(chance.uniform(0, usual)))
        except queue.Empty:
            processes = job.executors()
            for process in chance.sample(processes, min(len(processes), chance.randint(1, 3))):
                kill(process)
            killed += 1
            answers.append(job.answer())
        if answers[-1] == "F":
            settle(conn, module)
        assert_each_row_once(conn)
    print(f"{killed} writes hit:", "".join(answers))
    assert "S" in answers


@pytest.mark.random
@pytest.mark.kill
def test_jobs_killed_at_random(jobs: Callable[[], Job], conn: Any, dsn: str, module: str) -> None:
    conn.execute(SLOW_COMMIT.format("PERFORM pg_sleep(random() / 5);"))
    chance = random.Random(SEED)
    for _ in range(draws(1)):
        job = jobs()
        job.write(dsn)
        with contextlib.suppress(queue.Empty):
            job.answer(chance.uniform(0.2, 6))
            job.write(dsn)  # now that Python is warm
            job.answer(chance.uniform(0, 2))
        job.kill()
        settle(conn, module)
        assert_each_row_once(conn)
