"""Fault test: drivers, sessions and the server die, and the next run repairs the targets.

Each round has a real PostgreSQL, real processes and real kills. Nothing is imitated.

1. A driver process for each Batch (scenario.py) starts; the Modules move rows in several committed
   slices, so that a death leaves half a load. New source rows arrive meanwhile.
2. At random moments one to four faults strike:
   kill      SIGKILL of a driver
   freeze    SIGSTOP of a driver until its lease has expired and another one has taken over, then
             SIGCONT: it must neither write nor report success
   rival     a second driver starts the same Batch
   cut       the server ends a driver's control, heartbeat or data connection, or an in-database run
   hang      SIGSTOP of a driver's server process: its statements do not return
   crash     SIGKILL of a server process: PostgreSQL restarts itself
   restart   the server is stopped at once (as pg_ctl -m immediate) and started again
   edit      an administrator sets next_run_indicator of some instance to R, C or back to P
3. Each satellite is begun on its own: after the rollback its chain is whole.
4. A clean run: every Batch is run again until all succeed and no directive is left.
5. The checks (checks.py): every source row is in each target exactly once; no satellite key has a
   gap, an overlap or two open rows; nothing executes; every failure has exactly one event; each row
   is stamped by a run that succeeded and was not rolled back; windows follow on from each other.

A few rounds run in CI. To repeat a failure by hand, use the seed that it has printed:

    OMD_SOAK=30 OMD_SEED=1234 pytest tests/faults -s

The seed decides what is done and when; the operating system decides which process is faster. So the
same seed causes the same faults, but not always the same result. A failure prints what happened
when, the last Module Instances, and the wrong rows. A database is used for 20 rounds, then a new
one is created; with OMD_FAULT_KEEP=1 the test stops before it removes the server of a failed round.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import re
import signal
import tempfile
import time
import traceback
from collections import Counter
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

import omd
from faults import checks, scenario
from faults.scenario import DRIVEN, LEASE, SUBJECTS, Subject
from support.lots import SEED, draws

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.crashes import Server

ROUNDS = draws(6)
ROUNDS_PER_DATABASE = 20
PACE = 0.12  # seconds between the slices of a load, at most
_fork = multiprocessing.get_context("fork")  # much faster than a new interpreter


class Round:
    """One round on a database; the seed decides what it does."""

    def __init__(self, server: Server, dsn: str, number: int) -> None:
        self.server, self.dsn, self.number = server, dsn, number
        self.struck: Counter[str] = Counter()
        self.rng = random.Random(f"{SEED}-{number}")
        self.drivers: list[tuple[str, Subject, BaseProcess]] = []
        self.stopped: list[int] = []
        self.began = time.monotonic()
        handle, name = tempfile.mkstemp(prefix="omd-faults-", suffix=".log")
        os.close(handle)
        self.log = Path(name)

    def tell(self, text: str) -> None:
        """Add a line to the report; drivers write to it too, so it is a file."""
        with self.log.open("a") as file:
            file.write(f"{time.monotonic() - self.began:7.3f} {text}\n")

    def connect(self, user: str = "postgres") -> psycopg.Connection[dict[str, Any]]:
        deadline = time.monotonic() + 30
        while True:
            try:
                dsn = make_conninfo(self.dsn, user=user)
                return psycopg.connect(dsn, autocommit=True, row_factory=dict_row)
            except psycopg.OperationalError:  # the server recovers from a crash
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def start(self, subject: Subject, pace: float = PACE) -> BaseProcess:
        name = f"d{len(self.drivers)}"
        seed = f"{SEED}-{self.number}-{name}"
        dsn = make_conninfo(self.dsn, user="fault_runner")

        def main() -> None:
            def tell(text: str) -> None:
                self.tell(f"  {name}: {text}")

            try:
                status = scenario.drive(dsn, subject, name, seed, pace, tell)
            except BaseException as error:  # noqa: BLE001 - it is on its way out anyway
                tell("raises " + "".join(traceback.format_exception_only(error)).strip())
                os._exit(1)
            tell(f"{subject.batch} is {status}")
            os._exit(0 if status == "S" else 2)

        process = _fork.Process(target=main, name=name, daemon=True)
        process.start()
        self.drivers.append((name, subject, process))
        self.tell(f"{name} starts {subject.batch}")
        return process

    # Faults -------------------------------------------------------------------------------------

    def strike(self, fault: str) -> None:
        """Cause one fault; if it has no target, nothing happens."""
        try:
            done = getattr(self, fault)()
        except psycopg.OperationalError:  # another fault hit us
            done = None
        if done:
            self.tell(f"{fault.upper()} {done}")
            self.struck[fault] += 1

    def _driver(self) -> tuple[str, Subject, BaseProcess] | None:
        alive = [driver for driver in self.drivers if driver[2].is_alive()]
        return self.rng.choice(alive) if alive else None

    def _backend(self) -> tuple[int, str] | None:
        with self.connect() as conn:
            found = conn.execute(
                "SELECT pid, application_name AS name FROM pg_stat_activity"
                " WHERE usename = 'fault_runner' AND datname = current_database() ORDER BY 2"
            ).fetchall()
        # A driver has many heartbeat connections, but one connection for its work.
        names = sorted({row["name"] for row in found})
        if not names:
            return None
        name = self.rng.choice(names)
        return self.rng.choice([row["pid"] for row in found if row["name"] == name]), name

    def kill(self) -> str | None:
        driver = self._driver()
        if driver is None or driver[2].pid is None:
            return None
        os.kill(driver[2].pid, signal.SIGKILL)
        return driver[0]

    def freeze(self) -> str | None:
        driver = self._driver()
        if driver is None or driver[2].pid is None or driver[1] not in DRIVEN:
            return None
        os.kill(driver[2].pid, signal.SIGSTOP)
        self.stopped.append(driver[2].pid)
        return driver[0]

    def rival(self) -> str:
        subject = self.rng.choice(SUBJECTS)
        self.start(subject)
        return subject.batch

    def cut(self) -> str | None:
        backend = self._backend()
        if backend is None:
            return None
        with self.connect() as conn:
            conn.execute("SELECT pg_terminate_backend(%s)", [backend[0]])
        return backend[1]

    def hang(self) -> str | None:
        backend = self._backend()
        if backend is None:
            return None
        with contextlib.suppress(ProcessLookupError):
            os.kill(backend[0], signal.SIGSTOP)
            self.stopped.append(backend[0])
        return backend[1]

    def crash(self) -> str | None:
        backend = self._backend()
        if backend is None:
            return None
        with contextlib.suppress(ProcessLookupError):
            os.kill(backend[0], signal.SIGKILL)
        return backend[1]

    def restart(self) -> str:
        self.proceed()  # a stopped process does not receive the server's signals
        self.server.restart()
        return "the server"

    def edit(self) -> str | None:
        """Do an administrator's UPDATE, if it makes sense.

        STG and HSTG of a delta belong together: to skip one of them loses or doubles a load, and
        HSTG is rolled back with STG.
        """
        with self.connect("fault_admin") as conn:
            kind = self.rng.choice(["module", "module", "module", "batch"])
            rows = conn.execute(
                """SELECT module_instance_id AS id, module_code AS code,
                    execution_status_code AS es, next_run_indicator AS nri
                FROM omd.module_instance INNER JOIN omd.module USING (module_id)
                WHERE execution_status_code IN ('S', 'F')
                    AND rolled_back_by_module_instance_id IS NULL AND module_instance_id > 0
                ORDER BY 1 DESC LIMIT 60"""
                if kind == "module"
                else """SELECT batch_instance_id AS id, batch_code AS code,
                    execution_status_code AS es, next_run_indicator AS nri
                FROM omd.batch_instance INNER JOIN omd.batch USING (batch_id)
                WHERE execution_status_code IN ('S', 'F') AND batch_instance_id > 0
                ORDER BY 1 DESC LIMIT 10"""
            ).fetchall()
            if not rows:
                return None
            row = self.rng.choice(rows)
            wanted = self.rng.choice(["R", "R", "C", "P"])
            if row["code"] in ("m_delta_stg", "m_delta_hstg") or (
                kind == "module" and self.rng.random() < 0.25  # a rare story, else
            ):
                staged = [row for row in rows if row["code"] == "m_delta_stg"]
                if not staged:
                    return None
                row, wanted = self.rng.choice(staged), "R"
            try:
                conn.execute(
                    f"UPDATE omd.{kind}_instance SET next_run_indicator = %s"
                    f" WHERE {kind}_instance_id = %s",
                    [wanted, row["id"]],
                )
            except psycopg.Error as refusal:
                if refusal.sqlstate != "OM106":  # it was rolled back meanwhile
                    raise
                return None
        return f"{row['code']} {row['id']} ({row['es']}): {row['nri']} -> {wanted}"

    # The round ----------------------------------------------------------------------------------

    def proceed(self) -> None:
        """Continue the processes that were stopped."""
        while self.stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.stopped.pop(), signal.SIGCONT)

    def wait(self, until: Callable[[], bool], seconds: float, what: str) -> None:
        deadline = time.monotonic() + seconds
        while not until():
            assert time.monotonic() < deadline, f"{what} within {seconds} s"
            time.sleep(0.01)

    def alive(self) -> bool:
        return any(process.is_alive() for _, _, process in self.drivers)

    def play(self) -> None:
        """Load, and cause the faults meanwhile."""
        faults = ["kill", "freeze", "cut", "edit", "edit"] * 3 + ["rival", "restart", "hang"] * 2
        faults += ["crash"]
        plan = [(0.0, "arrive")]
        plan += [(self.rng.uniform(0.1, 0.9), "arrive") for _ in range(2)]
        chosen = [self.rng.choice(faults) for _ in range(self.rng.randint(1, 4))]
        plan += [(self.rng.uniform(0.05, 1.2), fault) for fault in chosen]
        plan += [(0.02 * n, subject.name) for n, subject in enumerate(SUBJECTS)]
        self.tell(f"round {self.number} of seed {SEED}: {', '.join(chosen)}")
        began = time.monotonic()
        for moment, what in sorted(plan):
            self.wait(lambda m=moment: time.monotonic() - began >= m, 60, "a moment passes")  # type: ignore[misc]
            subject = next((s for s in SUBJECTS if s.name == what), None)
            if subject is not None:
                self.start(subject)
            elif what == "arrive":
                with contextlib.suppress(psycopg.OperationalError), self.connect() as conn:
                    scenario.arrive(conn, self.rng, self.rng.randint(5, 40))
            else:
                self.strike(what)
        if self.stopped:
            over = time.monotonic() + LEASE.total_seconds()
            self.wait(lambda: time.monotonic() > over, 10, "a lease passes")
            for subject in SUBJECTS:  # who takes over
                self.start(subject)
            over = time.monotonic() + self.rng.uniform(0, 0.6)
            self.wait(lambda: time.monotonic() > over, 10, "the others are at work")
            self.tell("what was stopped goes on")
            self.proceed()
        self.wait(lambda: not self.alive(), 30, "every driver ends")

    def roll_back(self) -> None:
        """Begin each satellite on its own, and check what the rollback leaves."""
        dsn = make_conninfo(self.dsn, user="fault_runner")
        with self.connect() as conn, omd.connect(dsn) as control:
            for subject, (name, query) in zip(SUBJECTS, checks.CHAINS.items(), strict=True):
                code = subject.module("sat")
                indicator = "A"
                over = time.monotonic() + 15
                while indicator == "A":  # a run is dead, but its lease has not expired
                    assert time.monotonic() < over, f"{code} begins within 15 s"
                    answer = control.calls.omd.begin_module(code)
                    time.sleep(0.01)
                    indicator = answer.processing_indicator.value
                if indicator == "P":  # and not C: an administrator has asked for a skip
                    self.tell(f"{code} {answer.module_instance_id} undid {answer.instance_array}")
                    control.calls.omd.module_success(answer.module_instance_id)
                    found = checks.violations(conn, {name: query})
                    assert not found, found

    def clean_run(self) -> None:
        """Run all Batches until all of them succeed as a whole."""
        self.tell("clean run")
        deadline = time.monotonic() + 15
        while True:
            assert time.monotonic() < deadline, "the Batches succeed within 15 s"
            with self.connect() as conn:
                query = "SELECT max(module_instance_id) AS id FROM omd.module_instance"
                newest = conn.execute(query).fetchone()["id"]
            processes = [self.start(subject, pace=0) for subject in SUBJECTS]
            self.wait(lambda: not self.alive(), 20, "every driver ends")
            if any(process.exitcode != 0 for process in processes):
                continue
            with self.connect() as conn:
                left = conn.execute(
                    """SELECT FROM omd.module_instance
                    WHERE module_instance_id > %s AND execution_status_code = 'C'
                    UNION ALL SELECT FROM omd.module_instance WHERE next_run_indicator <> 'P'
                        AND rolled_back_by_module_instance_id IS NULL
                    UNION ALL SELECT FROM omd.batch_instance WHERE next_run_indicator <> 'P'""",
                    [newest],
                )
                if not left.rowcount:
                    return

    def check(self) -> None:
        with self.connect() as conn:
            found = checks.violations(conn, checks.QUERIES)
            assert not found, found

    def failure(self) -> str:
        """Return everything that helps to understand a failure."""
        told = [f"OMD_SEED={SEED}, round {self.number}", self.log.read_text()]
        with contextlib.suppress(Exception), self.connect() as conn:
            told += ["Module Instances:", checks.history(conn)]
        return "\n".join(told)

    def close(self) -> str:
        self.proceed()
        for _, _, process in self.drivers:
            if process.is_alive():
                process.kill()
            process.join()
        told = self.log.read_text()
        self.log.unlink()
        return told


@pytest.mark.random
@pytest.mark.kill
def test_after_any_death_the_next_run_makes_good(fault_server: Server) -> None:
    struck: Counter[str] = Counter()
    raised: Counter[str] = Counter()  # how drivers have ended
    began = time.monotonic()
    for number in range(ROUNDS):
        if number % ROUNDS_PER_DATABASE == 0:
            dsn = fault_server.new_database()
            scenario.build(dsn)
        round_ = Round(fault_server, dsn, number)
        try:
            round_.play()
            round_.roll_back()
            round_.clean_run()
            round_.check()
        except BaseException as error:
            print(round_.failure(), error, "", sep="\n\n")
            if os.environ.get("OMD_FAULT_KEEP"):
                input(f"{dsn}\nEnter removes the server: ")
            raise
        finally:
            told = round_.close()
        struck += round_.struck
        raised += Counter(re.findall(r": raises ([\w.]+)", told))
        print(f"{number:4} {time.monotonic() - began:6.1f} s", dict(struck), flush=True)
    print("drivers raised", dict(raised))
