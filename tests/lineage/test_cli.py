"""The commands of lineage and its scheduler, run as a user runs them."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import omd
from omd.doors.lineage import Lineage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Command = Callable[..., subprocess.CompletedProcess[str]]
    Connection = psycopg.Connection[dict[str, Any]]

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
    return lambda *arguments, **options: omd_command("lineage", *arguments, dsn=dsn, **options)


class Process:
    """``omd lineage …`` in the background; what it prints is read line by line."""

    def __init__(self, dsn: str, *arguments: str) -> None:
        self.told = ""
        self.process = subprocess.Popen(
            [Path(sys.executable).with_name("omd"), "lineage", *arguments],
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
    return start("run", "--poll", "0.2", *arguments)


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
                    if b"--one-line" in words and topic.encode() in words:
                        return int(folder.name)
        return None

    return int(wait_until(found))


# Commands that show and register ------------------------------------------------------------------


def test_status_tells_lag_blocker_and_state(omd_: Command) -> None:
    omd_("step", "fact.a")
    done = omd_("status", "--output", "json")
    rows = {row["topic"]: row for row in json.loads(done.stdout)}
    assert rows["fact.a"]["blocker"] == "stg.a"
    assert (rows["fact.a"]["lag"], rows["fact.a"]["state"]) == (31 * 60, "DONE")
    table = omd_("status", "fact.b").stdout
    assert "fact.b" in table
    assert "reason" in table.splitlines()[0]
    assert "\nfact.a" not in table


def test_plan_shows_the_block_and_why_there_is_none(omd_: Command) -> None:
    done = omd_("plan", "fact.a", "--output", "json")
    [plan] = json.loads(done.stdout)
    assert (done.returncode, plan["row_count"], plan["end_id"]) == (0, 10, 10)
    nothing = omd_("plan", "fact.b")
    assert nothing.returncode == 3
    assert nothing.stderr
    unknown = omd_("plan", "no.where")
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert "OM015" in unknown.stderr


def test_register_keeps_what_is_not_told_and_empties_what_is_empty(
    omd_: Command, room: Lineage
) -> None:
    done = omd_(
        "register",
        "fact.a",
        "--before-sql",
        "SELECT 1",
        "--before-sql",
        "SELECT 2",
        "--delay",
        "5 minutes",
        "--run-window",
        "22:00-06:00 Europe/Amsterdam",
    )
    assert done.returncode == 0, done.stderr
    definition = room.topic_definition("fact.a")
    assert definition.before_sql == ["SELECT 1", "SELECT 2"]
    assert definition.transforms == ["etl.a"]
    assert omd_("register", "fact.a", "--before-sql", "").returncode == 0
    assert room.topic_definition("fact.a").before_sql == []
    wrong = omd_("register", "fact.a", "--engine", "ABACUS")
    assert (wrong.returncode, "OM013" in wrong.stderr) == (1, True)


def test_a_topic_can_be_removed_released_retried_and_moved_by_hand(
    omd_: Command, room: Lineage
) -> None:
    assert omd_("register", "stg.h", "--source-offset", "HAND").returncode == 0
    assert omd_("register", "fact.a", "--depends-on", "stg.a", "--depends-on", "stg.h")
    assert omd_("offset", "stg.h", "2020-01-01T12:03:00Z").returncode == 0
    plan = room.plan("fact.a")
    assert plan is not None
    assert plan.row_count == 2
    assert omd_("offset", "stg.h", "yesterday").returncode == 2
    for command in ("release", "remove"):
        assert omd_(command, "fact.b").returncode == 0
        assert omd_(command, "no.where").returncode == 1
    assert [row.topic for row in room.ready_list()] == ["fact.a"]


def test_a_range_is_restated_down_the_chain_and_told(
    omd_: Command, room: Lineage, conn: Connection
) -> None:
    for topic in ("fact.a", "fact.b"):
        while omd_("step", topic).returncode == 0:
            pass
    [first] = conn.execute("SELECT min(omd_insert_module_instance_id) AS id FROM fact.a").fetchall()
    readers = json.loads(omd_("readers", str(first["id"]), "--output", "json").stdout)
    assert [row["topic"] for row in readers] == ["fact.b"]
    conn.execute("UPDATE stg.a SET v = 50")
    given = ("fact.a", "--from", "2020-01-01T12:00Z", "--to", "2020-01-01T12:05Z")
    done = omd_("restate", *given, "--cascade")
    assert (done.returncode, done.stdout) == (0, "")
    assert re.match(r"DONE: 2 blocks with \d+ rows were taken again", done.stderr)
    found = conn.execute("SELECT v, count(*) AS n FROM fact.a GROUP BY v ORDER BY v").fetchall()
    assert [tuple(row.values()) for row in found] == [(2, 10), (100, 30)]
    assert omd_("restate", "fact.a", "--from", "2020-01-01T12:00Z").returncode == 2
    conn.execute("UPDATE stg.a SET v = 0")
    assert omd_("restate", *given).returncode == 1
    assert omd_("cancel-restate", "fact.a").returncode == 0
    assert room.ready_list("fact.a")[0].reason == "DEPENDENCY"


def test_the_exit_code_of_a_step_tells_how_it_went(
    omd_: Command, room: Lineage, conn: Connection
) -> None:
    done = omd_("step", "fact.a", "--output", "json")
    [outcome] = json.loads(done.stdout)
    assert (done.returncode, outcome["outcome"], outcome["rows"]) == (0, "DONE", 10)
    conn.execute("UPDATE stg.a SET v = 0")
    failed = omd_("step", "fact.a", "--one-line")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert re.fullmatch(r"fact\.a: ERROR \(instance \d+\): .*division by zero.*\n", failed.stderr)
    room.register_topic("fact.b", inactive_indicator="Y")
    assert omd_("step", "fact.b").returncode == 3
    assert omd_("step", "no.where").returncode == 1


def test_hostile_names_do_not_break_a_graph(omd_: Command, room: Lineage) -> None:
    hostile = 'stg."</text><script>&\\""];n0 -> n1; --> %% \x1b[31m\n|"'
    room.register_topic(hostile, source_offset="HAND")
    room.register_topic("fact.b", depends_on=["fact.a", hostile])

    svg = ET.fromstring(omd_("graph", "--format", "svg").stdout)
    told = [e.text or "" for e in svg.iter("{http://www.w3.org/2000/svg}title")]
    assert sum("</text><script>" in title for title in told) == 1
    assert not list(svg.iter("{http://www.w3.org/2000/svg}script"))
    assert len([e for e in svg.iter() if e.get("class") == "edge"]) == 3

    dot = omd_("graph", "--format", "dot").stdout
    strings = re.sub(r'"(?:[^"\\]|\\.)*"', '""', dot)
    assert strings.count("->") == 3
    assert "script" not in strings

    mermaid = omd_("graph", "--format", "mermaid").stdout
    labels = re.findall(r'^  n\d+\["([^"]*)"\]:::\w+$', mermaid, re.MULTILINE)
    assert len(labels) == 4
    assert all(not set('<>"`{}|%') & set(label.replace("<br/>", "")) for label in labels)
    for told_as in (dot, mermaid, omd_("graph").stdout):
        assert "\x1b" not in told_as


def test_the_graph_as_text_shows_what_is_fed(omd_: Command) -> None:
    lines = omd_("graph").stdout.splitlines()
    assert lines[0] == "stg.a"
    assert lines[1].startswith("└─ fact.a")
    assert lines[2].startswith("   └─ fact.b")
    near = omd_("graph", "--topic", "stg.*").stdout
    assert "fact.a" in near
    assert "fact.b" not in near


# The scheduler ------------------------------------------------------------------------------------


def test_it_runs_what_is_ready_down_the_chain(omd_: Command, conn: Connection) -> None:
    done = omd_("run", "--until-quiet", "--workers", "2")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert ids(conn) == list(range(1, 41))
    assert ids(conn, "fact.b") == list(range(1, 41))
    assert len(re.findall(r"^fact\.a: DONE, 10 rows", done.stderr, re.MULTILINE)) == 4


def test_once_runs_what_is_ready_now(omd_: Command, conn: Connection) -> None:
    done = omd_("run", "--once")
    assert done.returncode == 0, done.stderr
    assert ids(conn) == list(range(1, 11))


def test_only_the_topics_that_are_named(omd_: Command, conn: Connection) -> None:
    assert omd_("run", "--until-quiet", "--topic", "*.b").returncode == 0
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
    done = omd_("run", "--until-quiet")
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
    scheduler = start("run", "--poll", "3600")
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
    done = omd_command("lineage", "run", dsn="postgresql://127.0.0.1:1/x")
    assert done.returncode == 6


def test_a_database_without_omd_is_told(omd_command: Command, empty_dsn: str) -> None:
    assert omd_command("lineage", "run", dsn=empty_dsn).returncode == 5
