"""Each task has its effect once, whatever dies.

Real workers take tasks of all kinds from a server of their own: Modules and Batches in the
database, topics that become ready, procedures, and functions in threads and in processes. A feeder
creates tasks all the time. Meanwhile these faults strike:

kill      SIGKILL of a worker
freeze    SIGSTOP of a worker, mostly for longer than its TTL, then SIGCONT
leave     SIGTERM of a worker
join      one worker more
forget    an administrator deletes the row of a member, sometimes of one that is frozen
late      a member claims tasks, is declared dead, and tells results when others have the tasks
end       the server ends a session
cancel    the server cancels a statement
restart   the server is stopped at once and started again
suspend   a suspension, which is resumed after a moment
postpone  a task is rescheduled

At the end all goes on, one undisturbed worker finishes, and the tables are compared with the tasks.

    OMD_DISPATCH_FAULT_WITHOUT   fence, settlement or wait: the part to remove, to see the test fail
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from support.lots import SEED, seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.crashes import Server

    Connection = psycopg.Connection[dict[str, Any]]
    Rows = list[dict[str, Any]]

SECONDS = seconds(10)
WITHOUT = os.environ.get("OMD_DISPATCH_FAULT_WITHOUT")
WORKERS, MOST_WORKERS, SLOTS = 3, 4, 4
MODULES, BATCHES, TOPICS = 12, 4, 2
TTL = 1.5  # seconds
BACKLOG = 100  # so many live tasks the feeder keeps

# A part taken out: the old text of a function of dispatch, and the new one.
PARTS = {
    "fence": [
        ("AND t.claimed_by = r.holder", ""),
        ("AND t.claim_token = r.claim_token", ""),
    ],
    "settlement": [("WHEN $1 IS NULL THEN NOT EXISTS", "WHEN $1 IS NULL THEN FALSE AND EXISTS")],
    "wait": [("OR p.earlier = 'E' THEN", "THEN"), ("WHEN p.earlier = 'S'", "WHEN FALSE")],
}

# A load takes a moment, now and then longer than a TTL, and fails now and then.
SCENE = """
    CREATE SCHEMA dwh;
    CREATE SEQUENCE dwh.numbers;
    CREATE FUNCTION dwh.pause(long float DEFAULT 0.01) RETURNS void LANGUAGE sql AS $$
        SELECT pg_sleep(CASE WHEN random() < long THEN 3 ELSE 0.3 * random() ^ 4 END)
    $$;
    CREATE FUNCTION dwh.load(target regclass) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM dwh.pause(0.1);
        FOR i IN 1..2 LOOP
            EXECUTE format('INSERT INTO %s VALUES (%s,
                current_setting(''omd.module_instance_id'')::bigint)', target, i);
            PERFORM pg_sleep(0.05 * random() ^ 3);
        END LOOP;
        IF random() < 0.03 THEN RAISE 'a load fails now and then'; END IF;
    END $$;
    CREATE TABLE dwh.calls (
        task_id bigint, claim_token bigint, ended_at timestamptz,
        PRIMARY KEY (task_id, claim_token)
    );
    CREATE PROCEDURE dwh.note(payload jsonb) LANGUAGE plpgsql AS $$
    DECLARE
        told jsonb := current_setting('omd.execution_context')::jsonb;
    BEGIN
        INSERT INTO dwh.calls VALUES (
            (told ->> 'task_id')::bigint, (told ->> 'claim_token')::bigint);
        COMMIT;
        PERFORM dwh.pause();
        UPDATE dwh.calls SET ended_at = clock_timestamp()
        WHERE claim_token = (told ->> 'claim_token')::bigint
            AND task_id = (told ->> 'task_id')::bigint;
    END $$;
"""
HASTE = {"max_attempts": 10000, "backoff": "100 ms", "backoff_limit": "500 ms"}
KINDS = ["MODULE"] * 12 + ["BATCH"] * 6 + ["NOTE"] * 15 + ["THREAD"] * 15 + ["PROCESS"]


def connect(dsn: str) -> Connection:
    """Connect as soon as the server is there."""
    until = time.monotonic() + 30
    while True:
        try:
            return psycopg.connect(
                dsn,
                autocommit=True,
                row_factory=dict_row,
                application_name="tester",
                options="-c statement_timeout=20s",
            )
        except psycopg.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def call(conn: Connection, routine: str, /, **arguments: Any) -> dict[str, Any]:
    given = {k: Jsonb(v) if isinstance(v, dict) else v for k, v in arguments.items()}
    told = ", ".join(f"p_{name} => %({name})s" for name in given)
    name = routine if "." in routine else f"omd_dispatch.{routine}"
    cursor = conn.execute(f"CALL {name}({told})".encode(), given)
    row = cursor.fetchone() if cursor.description else None
    return {k.removeprefix("p_"): v for k, v in (row or {}).items()}


def build(conn: Connection) -> None:
    conn.execute(SCENE.encode())
    for n in range(MODULES + BATCHES * 2):
        conn.execute(
            f"CREATE TABLE dwh.m{n} (part int, omd_insert_module_instance_id bigint);"
            f" CREATE INDEX ON dwh.m{n} (omd_insert_module_instance_id)".encode()
        )
        call(
            conn,
            "omd.register_module",
            module_code=f"m{n}",
            area_code="INT",
            table_type_code="HUB",
            table_code=f"dwh.m{n}",
            executable=f"SELECT dwh.load('dwh.m{n}')",
        )
    for n in range(BATCHES):
        call(conn, "omd.register_batch", batch_code=f"b{n}", frequency_code="Adhoc")
        for k in range(2):
            module = f"m{MODULES + 2 * n + k}"
            call(conn, "omd.add_module_to_batch", batch_code=f"b{n}", module_code=module)
    for n in range(TOPICS):
        conn.execute(
            f"""
            CREATE TABLE dwh.s{n} (pos timestamptz, id bigint);
            CREATE INDEX ON dwh.s{n} (pos, id);
            CREATE TABLE dwh.f{n} (
                pos timestamptz, id bigint, omd_insert_module_instance_id bigint);
            CREATE INDEX ON dwh.f{n} (pos, id);
            CREATE VIEW dwh.v{n} AS SELECT t.pos, t.id FROM dwh.s{n} AS t
                WHERE omd_lineage.in_block(t.pos, t.id);
            CALL omd_lineage.register_topic('dwh.s{n}');
            CALL omd_lineage.register_topic('dwh.f{n}', ARRAY['dwh.s{n}'],
                p_transforms => ARRAY['dwh.v{n}'], p_repeat => '0',
                p_before_sql => ARRAY['SELECT dwh.pause()']);
            """.encode()
        )
    for task_type in ("MODULE", "BATCH", "TOPIC"):
        call(conn, "register_task_type", family_code="RUN", task_type=task_type,
             later_after="200 ms", **HASTE)  # fmt: skip
    for task_type, handler, target, more in (
        ("NOTE", "SQL", "dwh.note", {"max_running": 6}),
        ("THREAD", "PYTHON", "handlers_of_tests:note", {}),
        ("PROCESS", "PYTHON", "handlers_of_tests:note", {"timeout": "1 minute"}),
    ):
        call(conn, "register_task_type", family_code="CALL", task_type=task_type,
             handler=handler, target=target, later_after="200 ms", **HASTE, **more)  # fmt: skip
    call(conn, "register_schedule", schedule_code="topics", family_code="RUN", task_type="TOPIC",
         every="1 second", source="omd_report.ready_topic_tasks")  # fmt: skip


def take_out(conn: Connection) -> None:
    for old, new in PARTS.get(WITHOUT or "", []):
        found = conn.execute(
            "SELECT pg_get_functiondef(p.oid) AS text FROM pg_proc AS p"
            " WHERE p.pronamespace = 'omd_dispatch'::regnamespace AND p.prokind = 'f'"
            " AND strpos(p.prosrc, %s) > 0",
            [old],
        ).fetchall()
        assert found, old
        for row in found:
            conn.execute(row["text"].replace(old, new).encode())


class Feeder:
    """Creates tasks and rows of sources; what it is told counts as created.

    Attributes:
        created: the tasks of which the database has said that they are there.
    """

    def __init__(self, dsn: str, seed: float) -> None:
        self.created: set[int] = set()
        self.failed: list[Exception] = []
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, args=(dsn, random.Random(seed)))
        self._thread.start()

    def _work(self, dsn: str, rng: random.Random) -> None:
        while not self._stopped.is_set():
            try:
                with connect(dsn) as conn:
                    while not self._stopped.wait(0.05):
                        self._feed(conn, rng)
            except (psycopg.OperationalError, psycopg.errors.QueryCanceled):
                pass  # it was struck
            except Exception as error:  # noqa: BLE001 (told by the test)
                self.failed.append(error)
                return

    def _feed(self, conn: Connection, rng: random.Random) -> None:
        for n in range(TOPICS):
            conn.execute(
                f"INSERT INTO dwh.s{n} VALUES (clock_timestamp(), nextval('dwh.numbers'))".encode()
            )
        for _ in range(BACKLOG - len(live(conn))):
            kind = rng.choice(KINDS)
            numbers = {"MODULE": ("m", MODULES), "BATCH": ("b", BATCHES)}.get(kind)
            self.created.add(
                call(
                    conn,
                    "create_task",
                    family_code="RUN" if numbers else "CALL",
                    task_type=kind,
                    criteria={"CODE": f"{numbers[0]}{rng.randrange(numbers[1])}"}
                    if numbers
                    else None,
                    priority=rng.choice([5, 5, 5, 3]),
                    on_duplicate="EXISTING",
                )["task_id"]
            )

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join(40)
        assert not self.failed, self.failed


class Workers:
    """Processes of `omd worker`."""

    def __init__(self, dsn: str, rng: random.Random, log: Path) -> None:
        self.dsn, self.rng, self.log = dsn, rng, log
        self.started: list[subprocess.Popen[bytes]] = []
        self.running: list[subprocess.Popen[bytes]] = []
        self.frozen: dict[subprocess.Popen[bytes], float] = {}  # and when they go on
        for _ in range(WORKERS):
            self.join()

    def join(self, ttl: float = TTL) -> None:
        with self.log.open("a") as log:
            worker = subprocess.Popen(
                [Path(sys.executable).with_name("omd"), "worker", "--poll=0.3",
                 f"--workers={SLOTS}", f"--ttl={ttl}", "--grace=2"],
                env={**os.environ, "OMD_DSN": self.dsn,
                     "PYTHONPATH": os.pathsep.join(
                         [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        self.started.append(worker)
        self.running.append(worker)

    def any(self) -> subprocess.Popen[bytes] | None:
        there = [worker for worker in self.running if worker not in self.frozen]
        return self.rng.choice(there) if there else None

    def freeze(self, worker: subprocess.Popen[bytes], seconds: float) -> None:
        worker.send_signal(signal.SIGSTOP)
        self.frozen[worker] = time.monotonic() + seconds

    def let_go_on(self, *, all: bool = False) -> None:
        for worker, at in list(self.frozen.items()):
            if all or time.monotonic() > at:
                del self.frozen[worker]
                worker.send_signal(signal.SIGCONT)

    def end(self, worker: subprocess.Popen[bytes], number: signal.Signals) -> None:
        self.running.remove(worker)
        worker.send_signal(number)

    def stop(self) -> None:
        self.let_go_on(all=True)
        for worker in list(self.running):
            self.end(worker, signal.SIGTERM)
        for worker in self.started:
            try:
                worker.wait(40)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
                raise

    def codes(self) -> set[int]:
        return {worker.wait() for worker in self.started}


class Faults:
    """Each method causes a fault; it returns whether there was something to strike."""

    KINDS = (
        *["end", "cancel", "postpone", "suspend", "late"] * 3,
        *["freeze"] * 5, *["forget"] * 2, "kill", "kill", "leave", "join", "join", "restart",
    )  # fmt: skip

    def __init__(self, server: Server, dsn: str, workers: Workers, rng: random.Random) -> None:
        self.server, self.dsn, self.workers, self.rng = server, dsn, workers, rng
        self.struck: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.suspended: dict[int, float] = {}  # and when they are resumed
        self.claimed: Rows = []  # by members that are dead
        self.members = 0
        self.restarted_at = time.monotonic()
        self.conn = connect(dsn)

    def strike(self) -> None:
        fault = self.rng.choice(self.KINDS)
        try:
            self.workers.let_go_on()
            self.resume()
            self.tell_late()
            if getattr(self, fault)():
                self.struck[fault] += 1
        except (psycopg.OperationalError, psycopg.errors.QueryCanceled):
            self.conn = connect(self.dsn)
        while len(self.workers.running) < WORKERS:
            self.workers.join()

    def rows(self, query: str, *parameters: Any) -> Rows:
        cursor = self.conn.execute(query.encode(), parameters)
        return cursor.fetchall() if cursor.description else []

    def kill(self) -> bool:
        # A frozen one may be killed too.
        worker = self.rng.choice(self.workers.running)
        self.workers.frozen.pop(worker, None)
        self.workers.end(worker, signal.SIGKILL)
        return True

    def leave(self) -> bool:
        worker = self.workers.any()
        if worker is not None:
            self.workers.end(worker, signal.SIGTERM)
        return worker is not None

    def join(self) -> bool:
        if len(self.workers.running) >= MOST_WORKERS:
            return False
        self.workers.join()
        return True

    def freeze(self) -> bool:
        """Freeze a worker, preferably one whose load takes long; half of them are forgotten too."""
        worker = self.workers.any()
        if worker is None or len(self.workers.frozen) >= 2:
            return False
        loading = {
            row["claimed_by"].split(":")[-2]
            for row in self.rows(
                "SELECT claimed_by FROM omd_report.dispatch_running"
                " WHERE task_type IN ('MODULE', 'BATCH') AND claimed_by ~ ':'"
                " AND claimed_at < now() - interval '0.5 s'"
            )
        }
        for other in self.workers.running:
            if str(other.pid) in loading and other not in self.workers.frozen:
                worker = other
        self.workers.freeze(worker, self.rng.choice([0.3, TTL + 0.5, TTL + 1, TTL + 3]))
        if self.rng.random() < 0.5:
            self.rows(
                "DELETE FROM omd_dispatch.backend_registration WHERE backend_id LIKE %s",
                f"%:{worker.pid}:%",
            )
        return True

    def forget(self) -> bool:
        return bool(
            self.rows(
                "DELETE FROM omd_dispatch.backend_registration WHERE backend_id = ("
                " SELECT backend_id FROM omd_dispatch.backend_registration"
                " ORDER BY random() LIMIT 1) RETURNING 1"
            )
        )

    def late(self) -> bool:
        if self.claimed:
            return False
        self.members += 1
        name = f"late {self.members}"
        with self.conn.transaction():
            call(self.conn, "register_backend", backend_type="WORKER", backend_id=name)
            for task_type in ("NOTE", "THREAD"):
                call(self.conn, "create_task", family_code="CALL", task_type=task_type, priority=0)
            claimed = self.rows("SELECT * FROM omd_dispatch.claim_tasks(%s, 4)", name)
        self.rows("DELETE FROM omd_dispatch.backend_registration WHERE backend_id = %s", name)
        self.claimed = claimed
        return bool(claimed)

    def tell_late(self) -> None:
        """Tell results for tasks that are no longer claimed by the member that tells them."""
        if not self.claimed:
            return
        tokens = {task["claim_token"] for task in self.claimed}
        if any(row["claim_token"] in tokens for row in live(self.conn)):
            return
        results = [
            {"task_id": task["task_id"], "claim_token": task["claim_token"], "outcome": "S"}
            for task in self.claimed
        ]
        refused = call(self.conn, "complete_tasks", backend_id=f"late {self.members}",
                       results=Jsonb(results))["refused"]  # fmt: skip
        self.struck["refused"] += 1
        wanted = sorted(task["task_id"] for task in self.claimed)
        self.claimed = []
        if refused != wanted:
            self.wrong.append(f"of the late results for {wanted} only {refused} were refused")

    def end(self) -> bool:
        return self._session("pg_terminate_backend")

    def cancel(self) -> bool:
        return self._session("pg_cancel_backend")

    def _session(self, function: str) -> bool:
        return bool(
            self.rows(
                f"SELECT {function}(pid) FROM (SELECT pid FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                " AND backend_type = 'client backend' ORDER BY random() LIMIT 1) AS s"
            )
        )

    def restart(self) -> bool:
        if time.monotonic() < self.restarted_at + 4:
            return False
        self.server.restart()
        self.restarted_at = time.monotonic()
        self.conn.close()
        self.conn = connect(self.dsn)
        return True

    def suspend(self) -> bool:
        if len(self.suspended) >= 2:
            return False
        given = self.rng.choice([
            {"family_code": "CALL"},
            {"family_code": "CALL", "task_types": ["NOTE", "THREAD"]},
            {"family_code": "RUN", "criteria": {"CODE": ["m1", "m2", "m3", "b1"]}},
            {"family_code": "RUN", "task_types": ["TOPIC"]},
        ])  # fmt: skip
        suspension = call(self.conn, "suspend", reason="a fault", **given)["suspension_id"]
        self.suspended[suspension] = time.monotonic() + self.rng.uniform(0.1, 1.5)
        return True

    def resume(self, *, all: bool = False) -> None:
        for suspension, at in list(self.suspended.items()):
            if all or time.monotonic() > at:
                with contextlib.suppress(psycopg.DatabaseError):
                    call(self.conn, "resume", suspension_id=suspension)
                    del self.suspended[suspension]

    def postpone(self) -> bool:
        tasks = [row["task_id"] for row in live(self.conn) if row["status"] == "PENDING"]
        if not tasks:
            return False
        try:
            self.rows(
                "CALL omd_dispatch.reschedule_task(%s,"
                " clock_timestamp() + random() * interval '1 second', 4)",
                self.rng.choice(tasks),
            )
        except psycopg.Error as refusal:
            if refusal.sqlstate != "OM171":  # it was claimed meanwhile
                raise
        return True


def live(conn: Connection) -> Rows:
    return conn.execute(
        " UNION ALL ".join(
            f"SELECT task_id, status, claim_token FROM omd_dispatch.task_data_{family}"
            f" WHERE status = '{status}'"
            for family in ("run", "call")
            for status in ("PENDING", "CLAIMED")
        ).encode()
    ).fetchall()


def finish(dsn: str, workers: Workers, faults: Faults) -> Iterator[str]:
    """Let one undisturbed worker finish; returns what it has left."""
    workers.stop()
    conn = connect(dsn)
    faults.conn = conn
    for row in conn.execute("SELECT suspension_id FROM omd_dispatch.task_suspension").fetchall():
        call(conn, "resume", suspension_id=row["suspension_id"])
    for n in range(TOPICS):
        conn.execute(f"INSERT INTO dwh.s{n} VALUES (clock_timestamp(), -1)".encode())
    workers.join(ttl=30)
    until = time.monotonic() + 60
    while (left := live(conn)) or any(rows_of_topic(conn, n)[0] for n in range(TOPICS)):
        if time.monotonic() > until:
            break
        time.sleep(0.1)
    if left:
        for row in conn.execute(
            "SELECT e.* FROM unnest(%s::bigint[]) AS t (id), omd_dispatch.explain_task(t.id) AS e",
            [[row["task_id"] for row in left[:10]]],
        ).fetchall():
            yield f"stuck: {row}"
    conn.execute("UPDATE omd_dispatch.task_schedule SET inactive_indicator = 'Y'")
    workers.stop()
    code = workers.started[-1].returncode
    if code:
        yield f"the last worker ended with {code}"


def rows_of_topic(conn: Connection, n: int) -> tuple[int, int]:
    """Return how many rows are missing in the destination of a topic, and how many too many."""
    row = conn.execute(
        f"SELECT (SELECT count(*) FROM (SELECT id FROM dwh.s{n} WHERE id >= 0"
        f" EXCEPT ALL SELECT id FROM dwh.f{n}) AS l) AS lost,"
        f" (SELECT count(*) FROM (SELECT id FROM dwh.f{n} WHERE id >= 0"
        f" EXCEPT ALL SELECT id FROM dwh.s{n}) AS m) AS more".encode()
    ).fetchone()
    assert row
    return row["lost"], row["more"]


# The successes that tasks have begun, of runs without a caller, and not undone.
SUCCESSES = """
    CREATE TEMPORARY TABLE success AS
    SELECT (execution_context ->> 'task_id')::bigint AS task_id, 'BATCH' AS kind,
        batch_instance_id AS id
    FROM omd.batch_instance
    WHERE execution_status_code = 'S' AND parent_batch_instance_id = 0 AND batch_instance_id > 0
    UNION ALL
    SELECT (execution_context ->> 'task_id')::bigint, 'MODULE', module_instance_id
    FROM omd.module_instance AS mi INNER JOIN omd.module AS m USING (module_id)
    WHERE execution_status_code = 'S' AND batch_instance_id = 0 AND module_instance_id > 0
        AND m.module_code ~ '^m[0-9]+$'
"""
TASKS = """
    CREATE TEMPORARY TABLE task AS
    SELECT task_id, task_type, status, outcome, attempt, error,
        coalesce(batch_instance_id, module_instance_id) AS instance_id
    FROM omd_dispatch.task_data_run
    UNION ALL
    SELECT task_id, task_type, status, outcome, attempt, error, NULL
    FROM omd_dispatch.task_data_call
"""
# What must have no rows.
CHECKS = {
    "not done": "SELECT * FROM task WHERE status <> 'DONE'",
    "more than one success": """
        SELECT t.task_id, t.task_type, array_agg(s.id) FROM success AS s
        INNER JOIN task AS t USING (task_id) GROUP BY 1, 2 HAVING count(*) > 1""",
    "done without a success": """
        SELECT t.* FROM task AS t LEFT JOIN success AS s
            ON s.task_id = t.task_id AND s.kind = t.task_type AND s.id = t.instance_id
        WHERE t.task_type IN ('MODULE', 'BATCH') AND t.outcome = 'S' AND s.id IS NULL""",
    "a success without its task": """
        SELECT s.* FROM success AS s LEFT JOIN task AS t USING (task_id)
        WHERE t.outcome IS DISTINCT FROM 'S'""",
    "done without a call": """
        SELECT t.* FROM task AS t
        WHERE t.task_type IN ('NOTE', 'THREAD', 'PROCESS') AND NOT EXISTS (
            SELECT FROM dwh.calls AS c WHERE c.task_id = t.task_id AND c.ended_at IS NOT NULL)""",
    "more calls than attempts": """
        SELECT t.task_id, t.task_type, t.attempt, count(*) FROM task AS t
        INNER JOIN dwh.calls AS c USING (task_id)
        GROUP BY 1, 2, 3 HAVING count(*) > t.attempt""",
    "a key that is left": "SELECT * FROM omd_dispatch.mutex",
    "executing": """
        SELECT module_instance_id FROM omd.module_instance WHERE execution_status_code = 'E'
        UNION ALL
        SELECT batch_instance_id FROM omd.batch_instance WHERE execution_status_code = 'E'""",
    "a gap": "SELECT topic, kind, module_instance_id FROM omd_report.lineage_gaps",
}
# Each success of a Module has its two rows, and nothing else has rows.
ROWS = """
    SELECT i.module_instance_id, i.execution_status_code, r.id, r.n
    FROM (
        SELECT mi.module_instance_id, mi.execution_status_code FROM omd.module_instance AS mi
        INNER JOIN omd.module AS m USING (module_id)
        WHERE m.module_code = %s AND mi.execution_status_code = 'S'
            AND mi.rolled_back_by_module_instance_id IS NULL
    ) AS i
    FULL JOIN (
        SELECT omd_insert_module_instance_id AS id, count(*) AS n FROM dwh.{} GROUP BY 1
    ) AS r ON r.id = i.module_instance_id
    WHERE r.n IS DISTINCT FROM 2 OR i.module_instance_id IS NULL
"""


def wrong(dsn: str, created: set[int]) -> Iterator[str]:
    """Return what is wrong."""
    with connect(dsn) as conn:
        conn.execute(SUCCESSES)
        conn.execute(TASKS)
        # A begin rolls back what a dead run has left; these have had none since.
        lost = conn.execute(
            "SELECT t.id FROM unnest(%s::bigint[]) AS t (id) WHERE NOT EXISTS ("
            " SELECT FROM task WHERE task_id = t.id)", [list(created)],
        ).fetchall()  # fmt: skip
        if lost:
            yield f"lost: {lost[:5]}"
        for name, query in CHECKS.items():
            found = conn.execute(query.encode()).fetchall()
            if found:
                yield f"{name}: {len(found)}, {found[:5]}"
        for n in range(MODULES + 2 * BATCHES):
            found = conn.execute(ROWS.format(f"m{n}").encode(), [f"m{n}"]).fetchall()
            if found:
                yield f"rows of m{n}: {found[:5]}"
        for n in range(TOPICS):
            if rows_of_topic(conn, n) != (0, 0):
                yield f"topic {n} has lost, and has too many: {rows_of_topic(conn, n)}"


@pytest.mark.random
@pytest.mark.kill
def test_each_task_has_its_effect_once_whatever_dies(fault_server: Server, tmp_path: Path) -> None:
    rng = random.Random(SEED)
    dsn = fault_server.new_database()
    with connect(dsn) as conn:
        build(conn)
        take_out(conn)
    log = tmp_path / "workers.log"
    with contextlib.ExitStack() as stack:
        workers = Workers(dsn, rng, log)
        stack.callback(workers.stop)
        feeder = Feeder(dsn, rng.random())
        stack.callback(feeder.stop)
        faults = Faults(fault_server, dsn, workers, rng)
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            time.sleep(rng.uniform(0, 0.6))  # the pace of the faults
            faults.strike()
        feeder.stop()
        found = list(finish(dsn, workers, faults))
    found += [*faults.wrong, *wrong(dsn, feeder.created)]
    with connect(dsn) as conn:
        counts = conn.execute(
            "SELECT task_type, count(*) AS tasks, sum(attempt) AS attempts FROM ("
            " SELECT task_type, attempt FROM omd_dispatch.task_data_run UNION ALL"
            " SELECT task_type, attempt FROM omd_dispatch.task_data_call) AS t"
            " GROUP BY 1 ORDER BY 1"
        ).fetchall()
    told = [f"seed {SEED}", f"{dict(faults.struck)}", *map(str, counts)]
    print(*told, *found, sep="\n")
    if found:
        print(log.read_text()[-6000:])
    assert not found, "\n".join([*told, *found])
    assert counts
