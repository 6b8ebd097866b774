"""A worker has nothing to do; from the row of a source to the end of the steps of ten topics."""

from __future__ import annotations

import atexit
import os
import subprocess
import time

from bench.lineage import copies
from bench.server import dsn_of
from bench.turns import Connection, Take

from omd.programs.cli.common import PROGRAM

ROUNDS = 15
TOPICS = [f"b{n}" for n in range(10)]
ENDED = """
    SELECT count(*) FROM omd.module_instance AS mi INNER JOIN omd.module AS m USING (module_id)
    WHERE m.module_code LIKE 'app.b%' AND mi.execution_status_code = 'S'
"""


def prepare(conn: Connection, size: float = 1) -> Take:
    copies(conn, "app", "src", TOPICS)
    conn.execute("CALL omd_dispatch.set_work(TRUE)")
    worker = subprocess.Popen(
        [*PROGRAM, "worker", "--workers", "2"],
        env={**os.environ, "OMD_DSN": dsn_of(conn)},
        stderr=subprocess.DEVNULL,
    )
    atexit.register(worker.wait)
    atexit.register(worker.terminate)

    def ended() -> int:
        (count,) = conn.execute(ENDED).fetchone() or (0,)
        return int(count)

    def feed() -> None:
        conn.execute("INSERT INTO app.src VALUES (clock_timestamp(), 1)")
        conn.execute("CALL omd_lineage.probe_sources()")

    def take() -> float:
        wanted = ended() + len(TOPICS)
        start = time.perf_counter()
        feed()
        while ended() < wanted:
            assert worker.poll() is None and time.perf_counter() - start < 60
            time.sleep(0.005)
        taken = time.perf_counter() - start
        time.sleep(0.7)  # the worker has nothing to do
        return taken

    feed()  # the newest row is read when there is one after it
    take()
    return take
