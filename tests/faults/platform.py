"""Chaos over all rooms: whatever dies, each delivered row is once in all that is made of it.

    python tests/faults/platform.py --seconds 600 --seed 7

The flow of the platform's demo (driver/omd/programs/demo/platform) runs on a server of its own:
folders of CSV arrive all the time, some half-written, some refused and corrected, some wrong,
taken back and corrected. Workers, real processes of `omd worker`, make of them the validated
layer, facts, a topic, a stage with rules, an Iceberg table and exports of Parquet. Meanwhile these
happen, also at
the same time:

kill      SIGKILL of a worker, of a process that it has started (that of a task, or the JVM of
          Spark), or of all of them
restart   the server ends at once (as pg_ctl -m immediate does) and starts again, or one of its
          processes gets SIGKILL, and it recovers by itself
cancel    a statement of a worker is cancelled, its session is ended, or its task is to be ended
disk      the file system of the server's data, or of the lake, has not a byte left for a while
clock     the time of day of the server and of all workers jumps, back or forth, by up to an hour;
          at the end it is right. One thing waits for the clock: a run without a worker of dispatch,
          as those of --no-spark are, that died after a renewal of its lease while it was ahead
hang      SIGSTOP, and some seconds later SIGCONT, of a worker with all its processes, of a process
          of the server, or of the network (a process that forwards all bytes)

Workers that have ended are started again, as an init system does. Then all is quiet, and the
model must agree. It knows the accepted files and nothing else:

- each row of each accepted folder is once in each table and in the newest export, in its newest
  version, and carries a run that has succeeded; nothing that was taken back is left;
- no run is left executing, each run that failed was rolled back or left nothing, and nothing is
  ready, failed for good or held by a task;
- each begin and end of a run or Batch, and each status of a delivery, was published once, the
  numbers of events have no gap, and a program that takes them has met each of them, in order;
- the facts are sound, and the lake has no file that no commit names.

The seed decides what is done; when it hits what is up to the operating system. A limited file
system needs the right to mount (root); the clock needs a C compiler. What a machine can't do is
left out and told, unless it was asked for.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    # Not this folder: its platform.py would be found instead of Python's.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import argparse
import contextlib
import csv
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import traceback
from collections import Counter
from datetime import date, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import dict_row

import omd
import omd.programs.install
from omd.programs import embedded
from omd.programs.cli.common import PROGRAM
from omd.programs.demo.control.proof import Check, compare, contents_of
from omd.programs.demo.platform import night, proof
from omd.programs.demo.stage import Process, as_role
from support import orphans, spark_classes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Connection = psycopg.Connection[dict[str, Any]]
    Row = list[str]

JUMPS = (3, 20, 90, 3600)  # seconds by which the clock may be off
FAULTS = ("kill", "restart", "cancel", "disk", "clock", "hang")
NAME = proof.NAME
VERSION = int(os.environ.get("OMD_TEST_PG", embedded.DEFAULT_VERSION))
TTL = 4  # seconds until a silent worker counts as dead
PATIENCE = float(os.environ.get("OMD_CHAOS_PATIENCE", "300"))  # seconds until all is at rest
ROOM = {"server": 900, "lake": 400}  # megabytes of the limited file systems
SETTINGS = {
    "fsync": "off",  # the operating system survives
    "full_page_writes": "off",
    "jit": "off",
    "shared_buffers": "64MB",
    "max_wal_size": "96MB",
    "min_wal_size": "32MB",
    "max_connections": "100",
    "restart_after_crash": "on",
    "log_line_prefix": "'%m [%p] %a '",
}
# What a fault does to a program that only looks: it looks again.
PASSING = (psycopg.OperationalError, psycopg.errors.InternalError_, psycopg.InterfaceError)
CARRIERS = {"AA": "American", "B6": "JetBlue", "DL": "Delta", "UA": "United"}


# What arrives ---------------------------------------------------------------------------------


class Supplier(threading.Thread):
    """Writes a folder for each day, and corrects what was refused or taken back.

    Attributes:
        accepted: the rows of each day as they are right.
    """

    def __init__(self, chaos: Chaos, drop: Path) -> None:
        super().__init__(name="supplier", daemon=True)
        self.chaos, self.drop = chaos, drop
        self.rng = random.Random(f"{chaos.seed}-supplier")
        self.accepted: dict[int, list[Row]] = {}
        self.told: Counter[str] = Counter()
        self.over = threading.Event()
        self.state = ""

    def run(self) -> None:
        day = 0
        try:
            while not self.over.is_set():
                day += 1
                kind = self.rng.choices(
                    ("plain", "half", "refused", "wrong"), (60, 15, 10, 15 if day > 1 else 0)
                )[0]
                self.state = f"day {day}, {kind}"
                rows = self.rows(day)
                self.accepted[day] = rows
                getattr(self, kind)(day, rows)
                self.told[kind] += 1
                self.over.wait(self.rng.uniform(0.2, self.chaos.pace))
        except Exception:  # noqa: BLE001 - the thread tells it
            self.chaos.complain(f"the supplier ({self.state}) ended: {traceback.format_exc()}")

    def rows(self, day: int) -> list[Row]:
        """Return the flights of a day, and new versions of some of days before."""
        at = datetime(2013, 1, 1, tzinfo=timezone.utc) + timedelta(days=day - 1)
        rows = [
            [
                self.rng.choice([*CARRIERS]),
                str(day * 100 + number),
                f"{at + timedelta(minutes=number):%Y-%m-%dT%H:%M:%SZ}",
                f"{at:%Y-%m-%d}",
                self.rng.choice(("EWR", "JFK", "LGA")),
                self.rng.choice(("BOS", "LAX", "MIA")),
                self.delay(),
                str(self.rng.randrange(100, 3000)),
            ]
            for number in range(self.rng.randint(5, 40))
        ]
        former = [row for d in self.accepted for row in self.accepted[d]]
        known = {tuple(row[:3]): row for row in former}
        changed = self.rng.sample(sorted(known), min(len(known), self.rng.randint(0, 6)))
        return rows + [[*known[key][:6], self.delay(), known[key][7]] for key in changed]

    def delay(self) -> str:
        return "NA" if self.rng.random() < 0.1 else str(self.rng.randrange(-20, 300))

    # Kinds of days

    def plain(self, day: int, rows: list[Row]) -> None:
        self.write(day, rows)
        self.finish(day)

    def half(self, day: int, rows: list[Row]) -> None:
        self.write(day, rows[: len(rows) // 2])
        self.over.wait(self.rng.uniform(0.2, 2))
        self.write(day, rows)
        self.finish(day)

    def refused(self, day: int, rows: list[Row]) -> None:
        wrong = [list(row) for row in rows]
        wrong[-1][3] = "01/31/2013"
        self.plain(day, [*wrong, *rows[:3]])
        self.await_arrival(day, "REFUSED")
        self.plain(day, rows)
        self.await_arrival(day, "DONE")

    def wrong(self, day: int, rows: list[Row]) -> None:
        """Hours for minutes, and flights that nobody has flown; it is noticed some time later."""
        wrong = [
            [*row[:6], "NA" if row[6] == "NA" else str(int(row[6]) * 60), row[7]] for row in rows
        ]
        self.plain(day, [*wrong, *([row[0], f"{row[1]}9", *row[2:]] for row in rows[:5])])
        self.await_arrival(day, "DONE")
        self.over.wait(self.rng.uniform(0, 2))
        self.take_back(day)
        self.await_arrival(day, "REFUSED")
        self.plain(day, rows)
        self.await_arrival(day, "DONE")

    # Files

    def folder(self, day: int) -> Path:
        return self.drop / (date(2013, 1, 1) + timedelta(days=day - 1)).isoformat()

    def write(self, day: int, rows: list[Row]) -> None:
        folder = self.folder(day)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for entity, columns, lines in (
            ("carriers", ("carrier", "name"), CARRIERS.items()),
            ("flights", ("carrier", "flight", "time_hour", "day", "origin", "dest", "dep_delay",
                         "distance"), rows),
        ):  # fmt: skip
            with (folder / f"{entity}.csv").open("w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([columns, *lines])

    def finish(self, day: int) -> None:
        (self.folder(day) / "_SUCCESS").touch()

    # What it sees

    def await_arrival(self, day: int, status: str) -> None:
        """Wait until its folder has this status, however long the faults let it take."""
        self.state = f"day {day} shall be {status}"
        query = (
            "SELECT arrival_status AS status, problem FROM omd_report.arrivals"
            " WHERE agreement_code = %s AND folder = %s"
        )
        quiet_until = None
        while True:
            found = self.chaos.look(query, NAME, self.folder(day).name)
            if found and found[0]["status"] == status:
                return
            if self.chaos.is_quiet.is_set():
                quiet_until = quiet_until or time.monotonic() + PATIENCE
                if time.monotonic() > quiet_until:
                    raise TimeoutError(f"{self.state}, but is {found}")
            time.sleep(0.1)

    def take_back(self, day: int) -> None:
        """Undo the facts of its delivery, and revert it, as a person does at a terminal."""
        self.state = f"day {day} is to be taken back"
        at = f"{self.folder(day).name}T00:00:00Z"
        until = time.monotonic() + PATIENCE + self.chaos.seconds
        while True:
            found = self.chaos.look(
                "SELECT d.delivery_id, d.delivery_status AS status,"
                " max(l.module_instance_id) AS id"
                " FROM omd_report.delivery_log AS d LEFT JOIN omd_report.facts_loads AS l"
                " ON l.delivery_id = d.delivery_id"
                " WHERE d.agreement_code = %s AND d.snapshot_datetime = %s"
                " GROUP BY d.delivery_id, d.delivery_status ORDER BY d.delivery_id DESC LIMIT 1",
                NAME,
                at,
            )
            row = found[0] if found else {}
            if row.get("status") == "REVERTED":
                return
            if row.get("status", "").startswith("PERSISTED") and row["id"]:
                command = (
                    *("call", "omd_facts.undo", "--interface-code", NAME),
                    *("--module-instance-id", str(row["id"])),
                    *("--revert-reason", "hours for minutes"),
                )
                done = self.chaos.command(*command)
                if done.returncode not in (0, 6):
                    self.chaos.tell(f"undo {row['id']}: {done.stderr.strip()[-300:]}")
                    self.told["an undo that was to be tried again"] += 1
            if time.monotonic() > until:
                raise TimeoutError(self.state)
            time.sleep(0.2)


class Listener(threading.Thread):
    """A program that takes all events; it notes the number of each."""

    def __init__(self, chaos: Chaos) -> None:
        super().__init__(name="listener", daemon=True)
        self.chaos = chaos
        self.met: list[int] = []
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.is_set():
            try:
                with psycopg.connect(
                    make_conninfo(self.chaos.dsn, application_name="listener"),
                    autocommit=True,
                    row_factory=dict_row,
                ) as conn:
                    while not self.over.is_set():
                        self.take(conn)
                        self.over.wait(0.2)
            except PASSING:
                self.over.wait(0.2)
            except Exception:  # noqa: BLE001 - the thread tells it
                self.chaos.complain(f"the listener: {traceback.format_exc()}")
                self.over.wait(1)

    def take(self, conn: Connection) -> None:
        rows = conn.execute(
            "SELECT event_number FROM omd_event.take_events('chaos', 'chaos', 500)"
        ).fetchall()
        if rows:
            self.met += [row["event_number"] for row in rows]
            conn.execute(
                "CALL omd_event.confirm_events('chaos', 'chaos', %s)", [rows[-1]["event_number"]]
            )


# Processes ----------------------------------------------------------------------------------------


class Worker:
    """A program that is started again when it has ended."""

    def __init__(self, chaos: Chaos, name: str, command: list[str]) -> None:
        self.chaos, self.name, self.command = chaos, name, command
        self.log = chaos.folder / f"{name}.log"
        self.killed = False  # by a fault, so that its end is none of its own
        self.start()

    def start(self) -> None:
        self.killed = False
        with self.log.open("a") as log:
            self.process = Process(
                self.command,
                as_role("omd_runner", self.chaos.through),
                variables={**spark_classes.environment(), **self.chaos.variables},
                stdout=subprocess.DEVNULL,
                stderr=log,
            )

    def family(self) -> list[int]:
        """Return its process, and those that it has started."""
        return [self.process.pid, *night._children(self.process.pid)]

    def end(self) -> None:
        family = self.family()
        for pid in family:
            send(pid, signal.SIGCONT)
        night._end(self.process)
        for pid in family[1:]:
            send(pid, signal.SIGKILL)


def send(pid: int, number: signal.Signals) -> bool:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def send_all(pids: list[int], number: signal.Signals) -> bool:
    """Send a signal to all of them; return whether one has got it."""
    return [send(pid, number) for pid in pids].count(True) > 0


class Chaos:
    """A server, the flow, and what happens to them."""

    def __init__(
        self,
        seed: str,
        *,
        faults: tuple[str, ...] = FAULTS,
        spark: bool = True,
        workers: int = 2,
        pace: float = 3.0,
        jumps: tuple[int, ...] = JUMPS,
        tell: Callable[[str], None] = print,
        keep: bool = False,
    ) -> None:
        self.seed, self.faults, self.spark, self.pace = seed, faults, spark, pace
        self.told, self.keep, self.seconds = tell, keep, 0.0
        self.jumps = jumps
        self.rng = random.Random(seed)
        self.began = time.monotonic()
        self.problems: list[str] = []
        self.struck: Counter[str] = Counter()
        self.counted: Counter[str] = Counter()
        self.is_quiet = threading.Event()
        self.lock = threading.Lock()
        self.variables: dict[str, str] = {}
        self.undoing: list[tuple[float, Callable[[], object]]] = []  # what ends a fault, and when
        self.mounts: list[Path] = []
        self.ended = contextlib.ExitStack()
        self.workers: list[Worker] = []
        self.number_of_workers = workers
        memory = Path("/dev/shm")
        self.folder = Path(
            tempfile.mkdtemp(prefix="omd-chaos-", dir=memory if memory.is_dir() else None)
        )
        self.folder.chmod(0o755)
        if not keep:
            orphans.end_with_us(self.folder)
        self.clock = self.folder / "clock"

    # What is told

    def tell(self, text: str) -> None:
        self.told(f"{time.monotonic() - self.began:7.1f} {text}")

    def complain(self, text: str) -> None:
        with self.lock:
            self.problems.append(text)
        self.tell(f"PROBLEM {text}")

    # The place

    def __enter__(self) -> Chaos:
        try:
            self._build()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _build(self) -> None:
        for name, megabytes in ROOM.items():
            place = self.folder / name
            place.mkdir(mode=0o755)
            if "disk" in self.faults:
                options = ("-o", f"size={megabytes}m,mode=0755")
                subprocess.run(["mount", "-t", "tmpfs", *options, "tmpfs", place], check=True)
                self.mounts.append(place)
        self.home = self.folder / "server" / ("-" * 60)  # so its socket has a short path
        self.home.mkdir(mode=0o755)
        if "clock" in self.faults:
            library = self.folder / "clock.so"
            source = Path(__file__).with_name("clock.c")
            command = ("cc", "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl")
            subprocess.run(command, check=True)
            self.clock.write_bytes(struct.pack("q", 0))
            for file in (library, self.clock):
                file.chmod(0o644)
            self.variables = {"LD_PRELOAD": str(library), "CHAOS_CLOCK": str(self.clock)}
        self.start_server(new=True)
        self.dsn = embedded.dsn(self.home)
        self.tell(f"PostgreSQL {VERSION} and {self.number_of_workers} workers in {self.folder}")
        self.drop = self.folder / "drop"
        self.drop.mkdir()
        self._declare()
        self._open_network()
        self.supplier = Supplier(self, self.drop)
        self.listener = Listener(self)

    def _open_network(self) -> None:
        """Start the process that forwards the bytes of the workers."""
        wire = self.folder / "wire"
        wire.mkdir()
        part = conninfo_to_dict(self.dsn)
        target = f"{part['host']}/.s.PGSQL.{part['port']}"
        program = Path(__file__).with_name("network.py")
        self.network = subprocess.Popen(
            [sys.executable, str(program), str(wire / ".s.PGSQL.5432"), target]
        )
        self.ended.callback(self.network.wait)
        self.ended.callback(self.network.kill)
        self.through = make_conninfo(self.dsn, host=str(wire), port="5432")
        until = time.monotonic() + 30
        while True:
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
                probe.connect(str(wire / ".s.PGSQL.5432"))
                return
            assert time.monotonic() < until
            time.sleep(0.02)

    def _declare(self) -> None:
        """Declare the flow of the demo, and an export."""
        declared = self.folder / "declared"
        declared.mkdir()
        (self.folder / "lake" / "out").mkdir()
        here = Path(night.__file__).parent
        for file in (*here.glob("*.yaml"), *here.glob("*.sql"), *here.glob("*.json")):
            text = file.read_text(encoding="utf-8").replace("DROP_FOLDER", str(self.drop))
            text = text.replace("LAKE_FOLDER", str(self.folder / "lake" / "tables"))
            if not self.spark:
                text = text.split("-- Spark appends")[0]
                text = text.replace("kind: JDM", "kind: FUNCTION").replace(
                    '"@care.json"', f"mart_{NAME}.decide"
                )
                if file.name == "flow.sql":
                    text += (
                        f"; RESET ROLE; GRANT USAGE ON SCHEMA mart_{NAME} TO omd_admin; {DECIDE}"
                    )
            (declared / file.name).write_text(text, encoding="utf-8")
        with psycopg.connect(self.dsn, autocommit=True, row_factory=dict_row) as conn:
            omd.programs.install.install(conn)
            conn.execute("SET TIME ZONE 'UTC'")
            admin = as_role("omd_admin", self.dsn)
            night._declare(conn, admin, declared, NAME, Silent(), None)
            if self.spark:
                conn.execute(
                    "CALL omd_delivery.register_agreement('out', %s, %s, p_layer_code => 'EXPORT',"
                    " p_options => jsonb_build_object('export', jsonb_build_object("
                    "'target_uri', %s::text, 'mode', 'FULL', 'every', '5 seconds')))",
                    [NAME, NAME, str(self.folder / "lake" / "out")],
                )
            conn.execute("CALL omd_event.register_sink('chaos', 'PULL', p_from => 0)")
            # A failure pauses for seconds, so that there is always something to strike.
            conn.execute("SET ROLE omd_owner")
            conn.execute(
                "UPDATE omd.module SET backoff = '1 second', backoff_limit = '5 seconds',"
                " max_failures = 0"
            )
            conn.execute("RESET ROLE")
            conn.execute("CALL omd_dispatch.set_work(TRUE)")
            if not self.spark:
                conn.execute(
                    "UPDATE omd_dispatch.task_source SET inactive_indicator = 'Y'"
                    " WHERE task_type = 'SPARK'"
                )

    def start_server(self, *, new: bool = False) -> None:
        """Start the server by the clock that jumps."""
        before = {name: os.environ.get(name) for name in self.variables}
        os.environ.update(self.variables)
        try:
            if new:
                embedded.start(self.home, version=VERSION, settings=SETTINGS)
            else:
                embedded.start(self.home)
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value

    def __exit__(self, *_: object) -> None:
        self.is_quiet.set()
        for thread in (getattr(self, "supplier", None), getattr(self, "listener", None)):
            if thread is not None:
                thread.over.set()
        self.undo_all()
        for worker in self.workers:
            worker.end()
        self.ended.close()
        if self.keep:
            self.tell(f"kept: {self.folder}, {getattr(self, 'dsn', '')}")
            return
        state = embedded.status(self.home) if hasattr(self, "home") else None
        if state and state.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(state.pid, signal.SIGQUIT)
                for _ in range(1000):
                    os.kill(state.pid, 0)
                    time.sleep(0.01)
        with contextlib.suppress(Exception):
            shutil.rmtree(embedded._socket_folder(self.home / "postgres"))
        for place in self.mounts:
            subprocess.run(["umount", "-l", place], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    # Looks

    def connect(self) -> Connection:
        return psycopg.connect(
            make_conninfo(self.dsn, application_name="chaos", connect_timeout=5),
            autocommit=True,
            row_factory=dict_row,
        )

    def look(self, query: str, *values: Any) -> list[dict[str, Any]]:
        """Return the rows of a query; none while the server does not answer."""
        try:
            with contextlib.closing(self.connect()) as conn:
                conn.execute("SET statement_timeout = '20s'")
                return conn.execute(query.encode(), values or None).fetchall()
        except PASSING:
            return []

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Do what an administrator does at a terminal."""
        return subprocess.run(
            [*PROGRAM, *arguments],
            check=False,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env={**os.environ, **self.variables, "OMD_DSN": as_role("omd_admin", self.dsn)},
        )

    # Faults: each returns what it did, or None where it found nothing to strike

    def later(self, seconds: float, undo: Callable[[], object]) -> None:
        self.undoing.append((time.monotonic() + seconds, undo))

    def undo_due(self) -> None:
        now = time.monotonic()
        due = [undo for at, undo in self.undoing if at <= now]
        self.undoing = [each for each in self.undoing if each[0] > now]
        for undo in due:
            undo()

    def undo_all(self) -> None:
        undoing, self.undoing = self.undoing, []
        for _, undo in undoing:
            undo()

    def kill(self) -> str | None:
        worker = self.rng.choice(self.workers)
        if worker.process.poll() is not None:
            return None
        family = worker.family()
        what = self.rng.choice(("worker", "task", "task", "all"))
        pids = {"worker": family[:1], "all": family, "task": family[1:]}[what]
        if what == "task":
            if not pids:
                return None
            pids = [self.rng.choice(pids)]
        else:
            worker.killed = True
        names = [name_of(pid) for pid in pids]
        if not send_all(pids, signal.SIGKILL):
            return None
        return f"{what} of {worker.name}: {', '.join(names)}"

    def restart(self) -> str | None:
        if self.rng.random() < 0.4:
            backend = self.backend()
            if backend is None or not send(backend["pid"], signal.SIGKILL):
                return None
            return f"the process of {backend['application_name']} of the server"
        pid = embedded.status(self.home).pid
        if pid is None or not send(pid, signal.SIGQUIT):
            return None
        return "immediate"

    def cancel(self) -> str | None:
        what = self.rng.choice(("statement", "session", "task"))
        if what == "task":
            found = self.look(
                "SELECT task_id, criteria ->> 'CODE' AS code FROM omd_report.dispatch_running"
                " ORDER BY task_id"
            )
            if not found:
                return None
            task = self.rng.choice(found)
            with contextlib.suppress(omd.errors.OmdError, psycopg.Error), self.connect() as conn:
                conn.execute("CALL omd_dispatch.cancel_task(%s, TRUE)", [task["task_id"]])
                return f"the task of {task['code']}"
            return None
        backend = self.backend(active=what == "statement")
        if backend is None:
            return None
        call = "pg_cancel_backend" if what == "statement" else "pg_terminate_backend"
        if not any(row["it"] for row in self.look(f"SELECT {call}(%s) AS it", backend["pid"])):
            return None
        return f"a {what} of {backend['application_name']}"

    def backend(self, *, active: bool = False) -> dict[str, Any] | None:
        """Return a process of the server that works for a worker."""
        found = self.look(
            "SELECT pid, application_name FROM pg_stat_activity"
            " WHERE backend_type = 'client backend' AND datname = 'omd'"
            " AND application_name NOT IN ('chaos', 'listener')"
            f" {'AND state = $$active$$' if active else ''} ORDER BY pid"
        )
        return self.rng.choice(found) if found else None

    def disk(self) -> str | None:
        place = self.folder / self.rng.choice([*ROOM])
        filler = place / "filler"
        if filler.exists():
            return None
        fill(place, filler)
        self.later(self.rng.uniform(1, 5), lambda: filler.unlink(missing_ok=True))
        return f"that of the {place.name}"

    def time_is_off(self, seconds: int) -> None:
        with self.clock.open("r+b") as file:
            file.write(struct.pack("q", seconds))

    def jump(self) -> str | None:
        before = struct.unpack("q", self.clock.read_bytes())[0]
        size = self.rng.choice(self.jumps)
        off = self.rng.choice((0, size, -size))
        if off == before:
            return None
        self.time_is_off(off)
        return f"from {before} s to {off} s"

    def hang(self) -> str | None:
        what = self.rng.choice(("worker", "backend", "network"))
        if what == "worker":
            worker = self.rng.choice(self.workers)
            if worker.process.poll() is not None:
                return None
            pids, name = worker.family(), worker.name
        elif what == "backend":
            backend = self.backend()
            if backend is None:
                return None
            pids, name = [backend["pid"]], f"a process of the server: {backend['application_name']}"
        else:
            pids, name = [self.network.pid], "the network"
        if not send_all(pids, signal.SIGSTOP):
            return None
        seconds = self.rng.uniform(0.5, 2.5 * TTL)
        self.later(seconds, lambda: send_all(pids, signal.SIGCONT))
        return f"{name} for {seconds:.1f} s"

    def strike(self, fault: str) -> bool:
        try:
            done = self.jump() if fault == "clock" else getattr(self, fault)()
        except OSError as error:
            self.tell(f"{fault}: {error}")
            return False
        if done:
            self.struck[fault] += 1
            self.tell(f"{fault.upper()} {done}")
        return bool(done)

    def supervise(self) -> None:
        """Start what has ended, as an init system does."""
        for worker in self.workers:
            code = worker.process.poll()
            if code is not None:
                if not worker.killed:
                    self.counted[f"a worker ended by itself with {code}"] += 1
                    self.tell(f"{worker.name} ended with {code}: {tail(worker.log)}")
                worker.start()
        if (self.folder / "server" / "filler").exists():
            return  # pg_ctl waits two minutes for a server that can't write
        try:
            if not embedded.status(self.home).running:
                self.start_server()
        except embedded.EmbeddedError as error:
            self.counted["the server could not be started at once"] += 1
            if self.is_quiet.is_set():
                self.tell(f"the server does not start: {error}")

    # The play

    def play(self, seconds: float) -> None:
        """Let faults strike for so many seconds; then all must come to rest, and be right."""
        self.seconds = seconds
        run = [*PROGRAM, "worker", "--workers", "2", "--ttl", str(TTL)]
        run += ["--master", "local[1]"] if self.spark else []
        number = range(self.number_of_workers)
        self.workers = [Worker(self, f"worker{n}", run) for n in number]
        if not self.spark:
            program = Path(__file__).with_name("deliverer.py")
            deliver = [sys.executable, str(program), self.through, NAME]
            self.workers += [Worker(self, f"deliverer{n}", deliver) for n in number]
        self.supplier.start()
        self.listener.start()
        over = time.monotonic() + seconds
        bag: list[str] = []
        pause = time.monotonic() + 3
        while time.monotonic() < over:
            time.sleep(0.1)
            self.undo_due()
            self.supervise()
            if time.monotonic() < pause:
                continue
            bag = bag or self.rng.sample(self.faults, len(self.faults))
            if self.strike(bag[-1]):
                bag.pop()
            else:
                self.rng.shuffle(bag)  # there was nothing to strike
            pause = time.monotonic() + self.rng.uniform(0.2, self.pace)
        if self.rest():
            self.check()

    def rest(self) -> bool:
        """End all faults, and wait until nothing is left to do; return whether that came."""
        self.tell("quiet")
        self.undo_all()
        if "clock" in self.faults:
            self.time_is_off(0)
        self.is_quiet.set()
        self.supplier.over.set()
        began = time.monotonic()
        left: list[dict[str, Any]] | None = None
        patience = PATIENCE * (3 if self.spark else 1)  # a JVM takes its time
        while time.monotonic() < began + patience:
            self.supervise()
            if not self.supplier.is_alive():
                left = self.left()
                if left == []:
                    self.tell(f"at rest after {time.monotonic() - began:.1f} s")
                    break
            time.sleep(0.3)
        else:
            self.complain(f"it does not come to rest (the supplier: {self.supplier.state})")
            for row in left or self.left() or []:
                self.tell(f"    {row}")
        self.supplier.join(10)
        until = time.monotonic() + 30
        while time.monotonic() < until:
            behind = self.look("SELECT behind FROM omd_report.event_sinks WHERE behind > 0")
            if not behind:
                break
            time.sleep(0.2)
        self.listener.over.set()
        self.listener.join(10)
        for worker in self.workers:
            worker.end()
        return left == []

    def left(self) -> list[dict[str, Any]] | None:
        """Return what is left to do; None while the server does not answer."""
        try:
            with contextlib.closing(self.connect()) as conn:
                return [row for query in LEFT.values() for row in conn.execute(query).fetchall()]
        except PASSING:
            return None

    def check(self) -> None:
        """Compare the database, the lake and the exports with the accepted files."""
        with contextlib.closing(self.connect()) as conn:
            conn.execute("SET TIME ZONE 'UTC'")
            while True:
                published = conn.execute("CALL omd_event.publish(10000, NULL, NULL)").fetchone()
                if not published or not published["p_published"]:
                    break
            for name, query in CHECKS.items():
                wrong = conn.execute(query).fetchall()
                if wrong:
                    self.complain(f"NOT SO: {name} ({len(wrong)} rows)")
                for row in wrong[:8]:
                    self.tell(f"    {row}")
            for found in self.compare(conn):
                if not found.holds:
                    self.complain(f"{found.expected.table_code}: {found.problem}: {found}")
            if self.spark:
                self.check_export(conn)
            numbers = [row["event_number"] for row in conn.execute(NUMBERS).fetchall()]
        met = list(dict.fromkeys(self.listener.met))
        if met != sorted(met):
            self.complain("the listener met an event after a later one")
        if missed := sorted(set(numbers) - set(met) - set(numbers[-500:])):
            self.complain(f"the listener has not met {len(missed)} events: {missed[:10]}")

    def compare(self, conn: Connection) -> list[Check]:
        """Compare all tables with the accepted files, those of the lake too."""
        accepted = self.supplier.accepted
        if self.spark:
            return proof.prove(conn, NAME, accepted)
        wanted = [c for c in proof.expected(accepted, NAME) if not c.table_code.startswith("lake")]
        return compare(conn, Path(proof.__file__).with_name("proof.sql"), wanted)

    def check_export(self, conn: Connection) -> None:
        """Read the newest export: it has the accepted rows."""
        import pyarrow.parquet as pq

        found = conn.execute(
            "SELECT manifest, delivery_id, target_uri FROM omd_report.facts_exports"
            " WHERE delivery_status = 'EXPORTED' ORDER BY exported_datetime DESC LIMIT 1"
        ).fetchone()
        if found is None:
            self.complain("there is no export")
            return
        folder = Path(found["target_uri"]) / "out" / f"delivery={found['delivery_id']}"
        [entity] = [e for e in found["manifest"]["entities"] if e["entity_code"] == "flights"]
        rows = [
            row
            for file in entity["files"]
            for row in pq.read_table(folder / file["path"]).to_pylist()
        ]
        lines = [
            [row["carrier"], str(row["flight"]), f"{row['departs']:%Y-%m-%dT%H:%M:%SZ}",
             row["day"].isoformat(), row["origin"], row["dest"],
             "NA" if row["delay"] is None else str(row["delay"]), str(row["distance"])]
            for row in rows
        ]  # fmt: skip
        wanted = next(
            c
            for c in proof.expected(self.supplier.accepted, NAME)
            if c.table_code.startswith("gdal")
        )
        if contents_of(wanted.table_code, lines) != wanted:
            self.complain(f"the export {found['delivery_id']} has not the accepted rows")
        names = {str(file["path"]) for e in found["manifest"]["entities"] for file in e["files"]}
        there = {str(f.relative_to(folder)) for f in folder.rglob("*.parquet")}
        if there != names:
            self.complain(
                f"the folder of export {found['delivery_id']} has {there ^ names} besides"
            )

    def outcome(self) -> str:
        lines = [f"{count:8,} {fault}" for fault, count in sorted(self.struck.items())]
        lines += [f"{count:8,} days: {kind}" for kind, count in sorted(self.supplier.told.items())]
        lines += [f"{count:8,} {what}" for what, count in sorted(self.counted.items())]
        return "\n".join(lines)


class Silent:
    """A screen that shows nothing."""

    def title(self, text: str) -> None:
        pass

    def say(self, text: str) -> None:
        pass

    def table(self, rows: Any) -> None:
        pass

    def done(self, text: str, mark: str = "") -> None:
        pass

    @contextlib.contextmanager
    def step(self, text: str) -> Iterator[Silent]:
        yield self


def name_of(pid: int) -> str:
    """Return the name of a process."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return "?"


def tail(log: Path, lines: int = 6) -> str:
    return "\n        ".join(log.read_text(errors="replace").splitlines()[-lines:])


def fill(place: Path, filler: Path) -> None:
    """Leave no byte in a file system."""
    with filler.open("wb", buffering=0) as file:
        block = 2**20
        while block:
            try:
                file.write(b"\0" * block)
            except OSError:
                block //= 2


def possible() -> dict[str, str]:
    """Return the faults that this machine can't do, and why."""
    problems = {}
    if shutil.which("cc") is None:
        problems["clock"] = "there is no C compiler (cc)"
    with tempfile.TemporaryDirectory() as place:
        command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place]
        if (
            shutil.which("mount") is None
            or subprocess.run(command, check=False, capture_output=True).returncode
        ):
            problems["disk"] = "no file system can be mounted"
        else:
            subprocess.run(["umount", place], check=True)
    return problems


# The rules of care.json, for a flow that the database performs.
DECIDE = f"""
    CREATE FUNCTION mart_{NAME}.decide(p jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
        SELECT jsonb_build_object('care', CASE
            WHEN p #>> '{{flights,acm_record_ind}}' = 'R'
            THEN '{{"care": "taken back", "dollars": 0}}'
            WHEN p #>> '{{flights,delay}}' IS NULL
            THEN '{{"care": "another flight", "dollars": 250}}'
            WHEN (p #>> '{{flights,delay}}')::int >= 180
            THEN '{{"care": "a hotel", "dollars": 250}}'
            WHEN (p #>> '{{flights,delay}}')::int >= 60
            THEN '{{"care": "a meal", "dollars": 0}}'
            ELSE '{{"care": "nothing", "dollars": 0}}' END::jsonb)
    $$"""
# What is left to do
LEFT = {
    "work": """
        SELECT 'work' AS what, code, state, reason, waits_for, not_before, failures, last_problem,
            task_id
        FROM omd_report.work WHERE state <> 'IDLE' OR task_id IS NOT NULL""",
    "arrivals": """
        SELECT 'arrival' AS what, folder, arrival_status, problem FROM omd_report.arrivals
        WHERE arrival_status <> 'DONE'""",
    "tasks": """
        SELECT 'task' AS what, task_id, status, execution_time, claimed_by, suspension_id
        FROM omd_dispatch.task_data_work WHERE status IN ('PENDING', 'CLAIMED')""",
}
NUMBERS = "SELECT event_number FROM omd_event.event ORDER BY event_number"
CHECKS = {
    "no run is left executing": """
        SELECT 'module' AS kind, module_instance_id AS id FROM omd.module_instance
        WHERE execution_status_code = 'E'
        UNION ALL SELECT 'batch', batch_instance_id FROM omd.batch_instance
        WHERE execution_status_code = 'E'""",
    "the facts are sound": f"SELECT * FROM omd_facts.verify('{NAME}')",
    "each happening was published once, and nothing else": """
        WITH status (code, ending) AS (
            VALUES ('S', 'SUCCEEDED'), ('F', 'FAILED'), ('A', 'ABORTED'), ('C', 'ABORTED')
        ),
        happened AS (
            SELECT 'RUN_BEGAN' AS event_type, module_instance_id AS id FROM omd.module_instance
            WHERE module_instance_id > 0 AND has_proceeded
            UNION ALL
            SELECT 'RUN_' || s.ending, i.module_instance_id FROM omd.module_instance AS i
            INNER JOIN status AS s ON i.execution_status_code = s.code
            WHERE i.module_instance_id > 0 AND i.has_proceeded
            UNION ALL
            SELECT 'RUN_UNDONE', module_instance_id FROM omd.module_instance
            WHERE rolled_back_by_module_instance_id IS NOT NULL AND has_proceeded
            UNION ALL
            SELECT 'BATCH_BEGAN', batch_instance_id FROM omd.batch_instance
            WHERE batch_instance_id > 0 AND has_proceeded
            UNION ALL
            SELECT 'BATCH_' || s.ending, i.batch_instance_id FROM omd.batch_instance AS i
            INNER JOIN status AS s ON i.execution_status_code = s.code
            WHERE i.batch_instance_id > 0 AND i.has_proceeded
            UNION ALL
            SELECT 'DELIVERY_' || to_status, delivery_id FROM omd_delivery.delivery_event
            WHERE to_status IN ('ACCEPTED', 'REFUSED', 'PERSISTED', 'REVERTED', 'EXPORTED')
                AND from_status IS DISTINCT FROM to_status
        ),
        published AS (
            SELECT event_type, subject_id AS id FROM omd_event.event
            WHERE event_type ~ '^(RUN|BATCH|DELIVERY)_'
        )
        SELECT 'missing' AS what, * FROM (TABLE happened EXCEPT ALL TABLE published) AS m
        UNION ALL
        SELECT 'too many', * FROM (TABLE published EXCEPT ALL TABLE happened) AS m""",
    "the numbers of events have no gap": """
        SELECT * FROM (
            SELECT event_number, lag(event_number) OVER (ORDER BY event_number) AS before
            FROM omd_event.event
        ) AS e WHERE event_number <> before + 1""",
    "no folder of the lake is being written": """
        SELECT * FROM omd_report.lake_folders WHERE folder_state = 'WRITING'""",
    "every failure is rolled back, or followed by a success": """
        SELECT m.module_code, i.module_instance_id FROM omd.module_instance AS i
        INNER JOIN omd.module AS m USING (module_id)
        WHERE i.execution_status_code = 'F' AND i.rolled_back_by_module_instance_id IS NULL
            AND NOT EXISTS (
                SELECT FROM omd.module_instance AS n
                WHERE n.module_id = i.module_id AND n.execution_status_code IN ('S', 'A')
                    AND n.module_instance_id > i.module_instance_id
            )""",
}


def main() -> int:
    """Let chaos rule; the exit code is 0 when all held and each fault that was asked for struck."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", default=str(random.SystemRandom().randrange(10**6)))
    parser.add_argument("--faults", help="Those to strike, of: " + ",".join(FAULTS))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--pace", type=float, default=3.0, help="Seconds between faults, at most.")
    parser.add_argument("--no-spark", action="store_true", help="Deliver by SQL, without a lake.")
    parser.add_argument("--keep", action="store_true", help="Leave all as it is at the end.")
    given = parser.parse_args()
    asked = tuple(given.faults.split(",")) if given.faults else FAULTS
    if unknown := set(asked) - set(FAULTS):
        parser.error(f"there is no fault {', '.join(sorted(unknown))}")
    print(f"seed {given.seed}", flush=True)
    lacking = possible()
    for fault, why in lacking.items():
        print(f"no {fault}: {why}", flush=True)
    faults = tuple(fault for fault in asked if fault not in lacking)
    with Chaos(
        given.seed,
        faults=faults,
        spark=not given.no_spark,
        workers=given.workers,
        pace=given.pace,
        tell=lambda text: print(text, flush=True),
        keep=given.keep,
    ) as chaos:
        chaos.play(given.seconds)
        for fault in asked if given.faults else faults:
            if not chaos.struck[fault]:
                chaos.complain(f"no {fault} has struck")
        print(chaos.outcome())
        for problem in chaos.problems[:20]:
            print("PROBLEM", problem)
        print("all is there, once" if not chaos.problems else f"{len(chaos.problems)} problems")
        return 1 if chaos.problems else 0


if __name__ == "__main__":
    sys.exit(main())
