"""A worker of the kind TOPIC, run as a user runs it."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import omd
from omd.doors.lineage import Lineage
from omd.programs.cli.worker import _STEP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Command = Callable[..., subprocess.CompletedProcess[str]]
    Connection = psycopg.Connection[dict[str, Any]]

TOPICS = ("worker", "--kind", "TOPIC")
LOCK = 4711
HOLD = f"SELECT pg_advisory_xact_lock_shared({LOCK})"
SCHEMA = """
CREATE SCHEMA stg; CREATE SCHEMA etl; CREATE SCHEMA fact;
CREATE TABLE stg.a (pos timestamptz, id bigint, v int);
CREATE INDEX ON stg.a (pos, id);
INSERT INTO stg.a
SELECT timestamptz '2020-01-01 12:00+00' + i * interval '1 minute', i, 1
  FROM generate_series(1, 41) AS i;
CREATE TABLE fact.a (id bigint, v int, pos timestamptz, omd_insert_module_instance_id bigint);
CREATE INDEX ON fact.a (pos, id);
CREATE VIEW etl.a AS
SELECT a.id, 100 / a.v AS v, a.pos FROM stg.a AS a WHERE omd_lineage.in_block(a.pos, a.id);
CREATE TABLE fact.b (id bigint, omd_insert_module_instance_id bigint);
CREATE VIEW etl.b AS
SELECT a.id FROM fact.a AS a WHERE omd_lineage.in_block(a.pos, a.id);
GRANT USAGE ON SCHEMA stg, etl, fact TO omd_owner;
GRANT ALL ON ALL TABLES IN SCHEMA stg, etl, fact TO omd_owner;
"""


@pytest.fixture
def room(dsn: str) -> Iterator[Lineage]:
    """stg.a with 41 rows (the last one waits) feeds fact.a in blocks of 10, which feeds fact.b."""
    with omd.connect(dsn) as control:
        with control.transaction() as connection:
            connection.execute(SCHEMA)
        lineage = Lineage(control)
        lineage.register_topic("stg.a")
        lineage.register_topic(
            "fact.a",
            depends_on=["stg.a"],
            transforms=["etl.a"],
            maxstep=10,
            repeat=timedelta(0),
        )
        lineage.register_topic(
            "fact.b", depends_on=["fact.a"], transforms=["etl.b"], repeat=timedelta(0)
        )
        yield lineage


@pytest.fixture
def omd_(omd_command: Command, dsn: str, room: Lineage) -> Command:
    return lambda *arguments, **options: omd_command(*TOPICS, *arguments, dsn=dsn, **options)


class Process:
    """A worker in the background; what it prints is read line by line."""

    def __init__(self, dsn: str, *arguments: str) -> None:
        self.told = ""
        self.process = subprocess.Popen(
            [Path(sys.executable).with_name("omd"), *TOPICS, *arguments],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "OMD_DSN": dsn},
        )

    def until(self, pattern: str) -> re.Match[str]:
        """Read on until a line matches."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.told += line
            if found := re.search(pattern, line):
                return found
        raise AssertionError(f"ended without telling {pattern}:\n{self.told}")

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def wait(self) -> int:
        """Read to the end and return the exit code."""
        assert self.process.stderr is not None
        self.told += self.process.stderr.read()
        return self.process.wait(timeout=60)


@pytest.fixture
def start(dsn: str) -> Iterator[Callable[..., Process]]:
    with contextlib.ExitStack() as stack:

        def start(*arguments: str) -> Process:
            process = Process(dsn, *arguments)
            stack.callback(process.process.wait, 60)
            stack.callback(process.process.kill)
            return process

        yield start


def run(start: Callable[..., Process], *arguments: str) -> Process:
    return start("--poll", "0.2", *arguments)


def wait_until(condition: Callable[[], Any], seconds: float = 60) -> Any:
    until = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < until
        time.sleep(0.05)
    return found


@pytest.fixture
def held(room: Lineage, conn: Connection) -> Callable[[], int]:
    """Let steps of fact.a wait for a lock of ``conn``; returns the backend of the first one."""
    room.register_topic("fact.a", before_sql=[HOLD])
    conn.execute(f"SELECT pg_advisory_lock({LOCK})")

    def waiting() -> int:
        row = wait_until(
            lambda: conn.execute(
                "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = %s"
                " AND NOT granted AND database = (SELECT oid FROM pg_database"
                " WHERE datname = current_database())",
                [LOCK],
            ).fetchone()
        )
        return int(row["pid"])

    return waiting


def let_go(conn: Connection) -> None:
    conn.execute(f"SELECT pg_advisory_unlock({LOCK})")


def ids(conn: Connection, table: str = "fact.a") -> list[int]:
    return [row["id"] for row in conn.execute(f"SELECT id FROM {table} ORDER BY id")]


def step_process(topic: str) -> int:
    """Return the process that runs a step of a topic."""

    def found() -> int | None:
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                with contextlib.suppress(OSError):
                    words = (folder / "cmdline").read_bytes().split(b"\0")
                    if _STEP[-1].encode() in words and topic.encode() in words:
                        return int(folder.name)
        return None

    return int(wait_until(found))


def test_a_step_of_its_own_process_tells_its_outcome_and_ends_with_its_status(
    dsn: str, room: Lineage, conn: Connection
) -> None:
    def step(topic: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "OMD_DSN": dsn}
        return subprocess.run([*_STEP, topic], capture_output=True, text=True, env=environment)

    done = step("fact.a")
    assert (done.returncode, done.stdout) == (0, "")
    assert re.fullmatch(r"fact\.a: DONE, 10 rows \(instance \d+\)\n", done.stderr)
    conn.execute("UPDATE stg.a SET v = 0")
    failed = step("fact.a")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert re.fullmatch(r"fact\.a: ERROR \(instance \d+\): .*division by zero.*\n", failed.stderr)
    room.register_topic("fact.b", inactive_indicator="Y")
    assert step("fact.b").returncode == 3
    unknown = step("no.where")
    assert (unknown.returncode, "OM015" in unknown.stderr) == (1, True)


# The scheduler ------------------------------------------------------------------------------------


def test_it_runs_what_is_ready_down_the_chain(omd_: Command, conn: Connection) -> None:
    done = omd_("--until-quiet", "--workers", "2")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert ids(conn) == list(range(1, 41))
    assert ids(conn, "fact.b") == list(range(1, 41))
    assert len(re.findall(r"^fact\.a: DONE, 10 rows", done.stderr, re.MULTILINE)) == 4


def test_once_runs_what_is_ready_now(omd_: Command, conn: Connection) -> None:
    done = omd_("--once")
    assert done.returncode == 0, done.stderr
    assert ids(conn) == list(range(1, 11))


def test_only_the_topics_that_are_named(omd_: Command, conn: Connection) -> None:
    assert omd_("--until-quiet", "--topic", "*.b").returncode == 0
    assert ids(conn) == []


def test_a_failing_topic_stops_nobody_and_is_told_by_the_exit_code(
    omd_: Command, room: Lineage, conn: Connection
) -> None:
    conn.execute("CREATE TABLE fact.c (LIKE fact.a); UPDATE stg.a SET v = 0 WHERE id = 25")
    conn.execute("GRANT ALL ON fact.c TO omd_owner")
    conn.execute(
        "CREATE VIEW etl.c AS SELECT a.id FROM stg.a AS a WHERE omd_lineage.in_block(a.pos, a.id)"
    )
    room.register_topic("fact.c", depends_on=["stg.a"], transforms=["etl.c"])
    done = omd_("--until-quiet")
    assert done.returncode == 1
    assert "division by zero" in done.stderr
    assert ids(conn) == list(range(1, 21))
    assert ids(conn, "fact.c") == list(range(1, 41))


def test_two_schedulers_give_every_row_once(
    room: Lineage, start: Callable[..., Process], conn: Connection
) -> None:
    room.register_topic("fact.a", maxstep=3)
    both = [run(start, "--until-quiet", "--workers", "2") for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0], [p.told for p in both]
    # None is quiet while the other runs the last block of fact.a, which fact.b reads.
    assert ids(conn) == list(range(1, 41))
    assert ids(conn, "fact.b") == list(range(1, 41))
    assert room._control.report("lineage_gaps") == []


def test_it_wakes_before_the_next_poll_when_an_offset_moves(
    room: Lineage, start: Callable[..., Process], conn: Connection
) -> None:
    scheduler = start("--poll", "3600")
    for _ in range(4):
        scheduler.until("fact.a: DONE")
    with psycopg.connect(room._control._dsn, autocommit=True) as other:
        other.execute("INSERT INTO stg.a VALUES ('2020-01-01 13:00+00', 99, 1)")
        other.execute("CALL omd_lineage.probe_sources()")
    scheduler.until("fact.a: DONE, 1 row")
    scheduler.signal(signal.SIGTERM)
    assert scheduler.wait() == 0


def test_sigterm_lets_a_running_step_end(
    start: Callable[..., Process], held: Callable[[], int], conn: Connection
) -> None:
    scheduler = run(start)
    held()
    scheduler.signal(signal.SIGTERM)
    scheduler.until("waiting for fact.a")
    let_go(conn)
    assert scheduler.wait() == 0
    assert "fact.a: DONE, 10 rows" in scheduler.told
    assert ids(conn) == list(range(1, 11))


def test_after_its_grace_a_step_is_ended_and_its_failure_recorded(
    room: Lineage, start: Callable[..., Process], held: Callable[[], int], conn: Connection
) -> None:
    scheduler = run(start, "--grace", "0")
    held()
    scheduler.signal(signal.SIGINT)
    scheduler.until("fact.a: .* its statement is cancelled")
    assert scheduler.wait() == 0
    wait_until(lambda: room._control.report("lineage_errors", topic="fact.a"))
    let_go(conn)
    assert ids(conn) == []
    wait_until(lambda: room.ready_list("fact.a")[0].is_ready)
    assert room.step("fact.a").facts["rows"] == 10


@pytest.mark.kill
def test_a_killed_scheduler_does_not_stop_its_steps(
    room: Lineage, start: Callable[..., Process], held: Callable[[], int], conn: Connection
) -> None:
    scheduler = run(start)
    held()
    scheduler.signal(signal.SIGKILL)
    scheduler.process.wait()
    [row] = room.ready_list("fact.a")
    assert row.reason == "HELD"
    other = run(start, "--once", "--topic", "fact.a")
    assert other.wait() == 0
    assert "DONE" not in other.told
    let_go(conn)
    wait_until(lambda: room.ready_list("fact.a")[0].reason != "HELD")
    assert run(start, "--until-quiet").wait() == 0
    assert ids(conn) == list(range(1, 41))


@pytest.mark.kill
def test_a_killed_process_of_a_step_on_spark_is_told(
    room: Lineage, start: Callable[..., Process], conn: Connection
) -> None:
    room.register_topic("fact.s", depends_on=["stg.a"], engine="SPARK", transforms=["SELECT 1"])
    conn.execute("CREATE TABLE fact.s (LIKE fact.a)")
    with psycopg.connect(room._control._dsn) as other:  # the step waits for the Module
        other.execute("SELECT FROM omd.module WHERE module_code = 'fact.s' FOR NO KEY UPDATE")
        scheduler = run(start, "--topic", "fact.s")
        os.kill(step_process("fact.s"), signal.SIGKILL)
        scheduler.until(r"fact\.s: its process was killed by SIGKILL")
        scheduler.signal(signal.SIGTERM)
        assert scheduler.wait() == 0


def test_a_killed_backend_fails_the_step_alone(
    start: Callable[..., Process], held: Callable[[], int], conn: Connection
) -> None:
    scheduler = run(start)
    backend = held()
    conn.execute("SELECT pg_terminate_backend(%s)", [backend])
    scheduler.until(r"fact\.a: AnswerLost: the connection was lost")
    let_go(conn)
    wait_until(lambda: ids(conn) == list(range(1, 41)))
    scheduler.signal(signal.SIGTERM)
    assert scheduler.wait() == 0


def test_a_lost_connection_is_made_again(
    start: Callable[..., Process], room: Lineage, conn: Connection
) -> None:
    scheduler = run(start)
    for _ in range(4):
        scheduler.until("fact.a: DONE")
    conn.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE application_name LIKE 'omd-cli%' AND datname = current_database()"
    )
    scheduler.until("no connection, trying again")
    scheduler.until("the connection is back")
    conn.execute("INSERT INTO stg.a VALUES ('2020-01-01 13:00+00', 99, 1)")
    scheduler.until("fact.a: DONE, 1 row")
    scheduler.signal(signal.SIGTERM)
    assert scheduler.wait() == 0


def test_the_first_connection_must_succeed(omd_command: Command) -> None:
    done = omd_command(*TOPICS, dsn="postgresql://127.0.0.1:1/x")
    assert done.returncode == 6


def test_a_database_without_omd_is_told(omd_command: Command, empty_dsn: str) -> None:
    assert omd_command(*TOPICS, dsn=empty_dsn).returncode == 5
