"""Every source row is in every destination exactly once, whatever dies in between.

There are ten sources, each the first of a chain of five topics. Sessions that commit late and out
of order write to them, with positions behind the clock and ahead of it; a row dated 2099 lies in
most of them. Four schedulers run, one of which is the real one. Sessions are ended and cancelled,
processes are killed, topics are released from their holders, sources are locked, and exchanged for
copies under their names. At the end one undisturbed scheduler finishes.

    OMD_LINEAGE_FAULT_WITHOUT   guard or fence: the part to remove, to see the test fail
"""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.lots import SEED, seconds
from support.scene import Scene

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SECONDS = seconds(15, least=10)
WITHOUT = os.environ.get("OMD_LINEAGE_FAULT_WITHOUT")
CHAINS, LEVELS, WRITERS, SCHEDULERS = 10, 5, 5, 3
SENTINEL, FAR_AHEAD = -1, -2  # ids of rows that are not compared
AHEAD = 1  # so many seconds the clock of some writers is ahead

# Half of the sources take the position of a row from a sequence, long ago; the others from the
# clock of the server, or from one that is ahead of it.
_SEQUENCE = "timestamptz '2020-01-01' + currval('dwh.numbers') * interval '1 second'"
PLACES = (
    "clock_timestamp()",
    _SEQUENCE,
    f"clock_timestamp() + interval '{AHEAD} second'",
    _SEQUENCE,
)


def table(chain: int, level: int) -> str:
    return f"dwh.s{chain}" if level == 0 else f"dwh.f{chain}_{level}"


def insert(conn: psycopg.Connection[Any], chain: int, id: int | None = None) -> None:
    # currval is read after nextval: a subquery in FROM comes first.
    conn.execute(
        f"INSERT INTO {table(chain, 0)} (pos, id) SELECT {PLACES[chain % 4]}, coalesce(%s, n.id)"
        " FROM (SELECT nextval('dwh.numbers') AS id) AS n".encode(),
        [id],
    )


class Writers:
    """Sessions that wait with their rows for a while before they commit or roll back."""

    def __init__(self, dsn: str, rng: random.Random) -> None:
        self.stopped = threading.Event()
        self.failed: list[Exception] = []
        self.threads = [
            threading.Thread(target=self._work, args=(dsn, random.Random(rng.random())))
            for _ in range(WRITERS)
        ]
        for thread in self.threads:
            thread.start()

    def _work(self, dsn: str, rng: random.Random) -> None:
        try:
            with psycopg.connect(dsn, application_name="writer") as conn:
                while not self.stopped.is_set():
                    for _ in range(rng.randint(1, 6)):
                        insert(conn, rng.randrange(CHAINS))
                        self.stopped.wait(rng.choice([0, 0, 0.01, 0.1]))
                    self.stopped.wait(rng.choice([0, 0.05, 0.3]))
                    conn.rollback() if rng.random() < 0.1 else conn.commit()
        except Exception as error:  # noqa: BLE001 (told by the test)
            self.failed.append(error)

    def stop(self) -> None:
        self.stopped.set()
        for thread in self.threads:
            thread.join(30)
        assert not self.failed, self.failed


class Schedulers:
    """Processes; one that is killed is replaced."""

    def __init__(self, dsn: str, rng: random.Random, log: Path) -> None:
        self.dsn, self.rng, self.log = dsn, rng, log
        self.started: list[subprocess.Popen[str]] = []
        self.running = [self._start(n) for n in range(SCHEDULERS + 1)]

    def _start(self, n: int) -> subprocess.Popen[str]:
        with self.log.open("a") as log:
            if n == SCHEDULERS:
                process = subprocess.Popen(
                    [Path(sys.executable).with_name("omd"), "worker", "--kind=TOPIC", "--poll=0.3",
                     "--workers=2"],
                    env={**os.environ, "OMD_DSN": self.dsn},
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log, text=True,
                )  # fmt: skip
            else:
                process = subprocess.Popen(
                    [sys.executable, Path(__file__).with_name("scheduler.py"),
                     str(self.rng.random())],
                    stdin=subprocess.PIPE, stdout=log, stderr=log, text=True,
                )  # fmt: skip
                assert process.stdin
                process.stdin.write(self.dsn)
                process.stdin.close()
        self.started.append(process)
        return process

    def kill(self) -> None:
        n = self.rng.randrange(len(self.running))
        self.running[n].kill()
        self.running[n].wait()
        self.running[n] = self._start(n)

    def stop(self) -> None:
        for process in self.running:
            process.terminate()
        for process in self.started:
            process.wait(30)


def strike(scene: Scene, schedulers: Schedulers, rng: random.Random) -> str:
    """Cause one fault; returns its name."""
    fault = rng.choice(
        ["end", "end", "cancel", "kill", "release", "release", "clear", "lock", "swap"]
    )
    if fault in {"lock", "swap"}:
        if not exchange(scene, rng.randrange(CHAINS), swap=fault == "swap"):
            return "none"
    elif fault == "kill":
        if rng.random() < 0.7:  # a new one needs some time to do anything
            return "none"
        schedulers.kill()
    elif fault in {"end", "cancel"}:
        function = {"end": "pg_terminate_backend", "cancel": "pg_cancel_backend"}[fault]
        struck = scene.rows(
            f"SELECT {function}(pid) FROM (SELECT pid FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND backend_type = 'client backend' AND application_name <> 'writer'"
            " ORDER BY random() LIMIT 1) AS s"
        )
        return fault if struck else "none"
    else:
        holders = scene.rows("SELECT topic FROM omd_lineage.offsets WHERE hostid <> ''")
        if not holders:
            return "none"
        topic = rng.choice(holders)["topic"]
        if fault == "release":
            scene.call("omd_lineage.release", topic=topic)
        else:
            scene.conn.execute(
                "UPDATE omd_lineage.offsets SET hostid = '' WHERE topic = %s", [topic]
            )
        if rng.random() < 0.5:  # and takes a step of its own at once
            scene.step(topic, hostid="administrator")
    return fault


def exchange(scene: Scene, chain: int, *, swap: bool) -> bool:
    """Lock a source for a moment, or put a copy in its place; returns whether that was possible."""
    name, view = table(chain, 0), f"dwh.v_dwh_f{chain}_1"
    refusals = (psycopg.errors.DeadlockDetected, psycopg.errors.LockNotAvailable)
    with contextlib.suppress(*refusals), scene.conn.transaction():
        scene.conn.execute("SET LOCAL lock_timeout = '1s'")
        scene.conn.execute(f"LOCK TABLE {name} IN ACCESS EXCLUSIVE MODE".encode())
        if not swap:
            time.sleep(0.2)
            return True
        scene.conn.execute(f"ALTER TABLE {name} RENAME TO former".encode())
        scene.base(name)
        scene.conn.execute(f"INSERT INTO {name} TABLE dwh.former".encode())
        scene.view(view, name)
        scene.conn.execute("DROP TABLE dwh.former")
        return True
    return False


def finish(scene: Scene) -> None:
    """Run one undisturbed scheduler until there is nothing to do."""
    scene.conn.execute(
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        " AND backend_type = 'client backend'"
    )
    time.sleep(AHEAD)  # the positions of the rows are no longer ahead of the clock
    for chain in range(CHAINS):
        insert(scene.conn, chain, SENTINEL)
    time.sleep(AHEAD)
    scene.owner(
        "UPDATE omd_lineage.topic SET before_sql = '{}', after_sql = '{}', maxstep = 1000000"
    )
    for _ in range(20):
        scene.probe()
        outcomes: Counter[str] = Counter()
        for level in range(1, LEVELS + 1):
            for chain in range(CHAINS):
                topic = table(chain, level)
                while (step := scene.step(topic)).outcome != "NOJOBS":
                    outcomes[step.outcome] += 1
                    assert step.outcome == "DONE", (topic, step)
        if not outcomes:
            return
    pytest.fail(f"it does not come to an end: {outcomes}")


def wrong(scene: Scene) -> Iterator[str]:
    """Return what is wrong."""
    for chain in range(CHAINS):
        for level in range(1, LEVELS + 1):
            name = table(chain, level)
            lost = scene.rows(
                f"SELECT id FROM {table(chain, 0)} WHERE id >= 0 EXCEPT ALL SELECT id FROM {name}"
            )
            more = scene.rows(
                f"SELECT id FROM {name} WHERE id >= 0 EXCEPT ALL SELECT id FROM {table(chain, 0)}"
            )
            if lost:
                yield f"{name} has lost {len(lost)}: {[row['id'] for row in lost][:5]}"
            if more:
                yield f"{name} has {len(more)} too many: {[row['id'] for row in more][:5]}"
            unstamped = scene.one(
                f"SELECT count(*) FROM {name} AS t WHERE NOT EXISTS ("
                " SELECT FROM omd.module_instance AS mi"
                " WHERE mi.module_instance_id = t.omd_insert_module_instance_id"
                " AND mi.execution_status_code = 'S')"
            )
            if unstamped:
                yield f"{name} has {unstamped} rows of runs that have not succeeded"
    for row in scene.rows("SELECT topic, kind, module_instance_id FROM omd_report.lineage_gaps"):
        yield f"{row}"
    for row in scene.rows(
        "SELECT topic, hostid, state FROM omd_lineage.offsets"
        " WHERE hostid <> '' OR next IS NOT NULL"
    ):
        yield f"not at rest: {row}"
    executing = scene.one(
        "SELECT count(*) FROM omd.module_instance WHERE execution_status_code = 'E'"
    )
    if executing:
        yield f"{executing} instances are still executing"


def take_out(replaced: Callable[[str, str, str], None]) -> None:
    if WITHOUT == "guard":
        replaced("omd.oldest_writer", "ORDER BY", "AND FALSE ORDER BY")
    elif WITHOUT == "fence":
        # Both fences: the number of the plan, and that a run that was ended can't succeed.
        replaced(
            "omd_lineage._advance_offset", "PERFORM omd_lineage._raise_fenced", "PERFORM concat"
        )
        replaced("omd.module_success", "AND mi.execution_status_code = 'E'", "")


@pytest.mark.random
@pytest.mark.kill
def test_every_row_once_whatever_dies(
    scene: Scene, dsn: str, tmp_path: Path, replaced: Callable[[str, str, str], None]
) -> None:
    rng = random.Random(SEED)
    take_out(replaced)
    scene.conn.execute("CREATE SEQUENCE dwh.numbers")
    for chain in range(CHAINS):
        offset = {"source_offset": "CLOCK"} if chain % 4 == 0 else {}
        scene.source(table(chain, 0), **offset)
        if not offset:
            scene.conn.execute(
                f"INSERT INTO {table(chain, 0)} (pos, id) VALUES ('2099-01-01', %s)".encode(),
                [FAR_AHEAD],
            )
        for level in range(1, LEVELS + 1):
            # A topic can wait only for one whose positions are of the same time: the next but one.
            neighbour = [table((chain + 2) % CHAINS, level - 1)] if chain % 3 == level % 3 else []
            scene.topic(
                table(chain, level),
                table(chain, level - 1),
                *neighbour,
                maxstep=rng.choice([3, 10, 1000]),
                repeat=timedelta(seconds=rng.choice([0, 0.1])),
                before_sql=["SELECT pg_sleep(0.2 * random() ^ 3)"],
                after_sql=["SELECT pg_sleep(0.2 * random() ^ 3)"],
            )
    log = tmp_path / "schedulers.log"
    struck: Counter[str] = Counter()
    with contextlib.ExitStack() as stack:
        writers = Writers(dsn, rng)
        stack.callback(writers.stop)
        schedulers = Schedulers(dsn, rng, log)
        stack.callback(schedulers.stop)
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            time.sleep(rng.uniform(0, 0.2))  # the pace of the faults
            struck[strike(scene, schedulers, rng)] += 1
    stepped = scene.one("SELECT count(*) FROM omd_lineage.log")
    finish(scene)
    found = [f"seed {SEED}", f"{dict(struck)}", f"{stepped} steps", *wrong(scene)]
    print(*found, sep="\n")
    print(log.read_text()[-3000:])
    assert len(found) == 3, "\n".join(found)
    assert stepped > 0
