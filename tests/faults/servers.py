"""The attack on servers: whatever becomes of them under load, no ID is given twice (V24).

    python tests/faults/servers.py --seconds 600 --seed 7

Twenty sessions load: into tables of the database, into a lake (folders named by run, as those of
Iceberg tables are), through Batches, as a worker, and as deliveries. Each writes every ID that it
is given into a ledger of its own, a file outside of the database that is flushed to the disk before
the ID is used. Half of the sessions commit asynchronously. Meanwhile one of these happens:

restart   the server ends at once, as after a crash, and recovers
failover  a standby that is behind is promoted
rewind    the same, and the former primary is rewound, follows, and is promoted next
recover   a base backup and the archive are recovered into the middle of the runs
dump      a dump that was taken under load is restored on a new server, of 18
upgrade   pg_upgrade from 16 to 18
snapshot  a copy of the files comes back, and the administrator calls omd.skip_ids, since nobody
          can tell it from a restart
copy      a base backup becomes a second primary for a while, on which others load
template  the database is copied on its own server, confirmed as a copy, and loaded into

After each of them all sessions go on by themselves, and these hold:

- no ID of a kind is twice in the ledgers of an installation;
- nobody finds anything of a stranger in the folder of his run;
- a run that has succeeded, as far as the database knows, has all its rows and files;
- once each Module has begun again, there is no row of a run that has not succeeded, and no file of
  one that the database knows.

The seed decides what happens and when; which session is faster is up to the operating system.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from omd.programs import embedded
from support.servers import Server, Servers, wait

if TYPE_CHECKING:
    from collections.abc import Callable

    Connection = psycopg.Connection[dict[str, Any]]

KINDS = ("table",) * 8 + ("lake",) * 6 + ("batch",) * 4 + ("worker", "delivery")
LEASE = "1 second"
ROWS = 5  # of each of the two transactions of a load
EVENTS = (
    *("restart", "failover", "rewind", "recover", "dump"),
    *("upgrade", "snapshot", "copy", "template"),
)
# A run that was lost, or was declared dead meanwhile; and a worker on a server that nobody knows.
LOST = {"OM003", "OM004", "OM101", "OM107", "OM103", "OM102", "OM172"}
NOT_CONFIRMED = "OM109"


@dataclass(frozen=True)
class Place:
    """A database that sessions load into, and the ledger of its installation."""

    dsn: str
    installation: str


class Session(threading.Thread):
    """One client: it loads, and connects again wherever the primary is."""

    def __init__(self, attack: Attack, name: str, kind: str, fixed: Place | None = None) -> None:
        super().__init__(name=name, daemon=True)
        self.attack, self.kind, self.fixed = attack, kind, fixed
        self.rng = random.Random(f"{attack.seed}-{name}")
        self.over = threading.Event()
        self.turns = 0
        self.place: Place | None = None
        self.lazy = self.rng.random() < 0.5

    @property
    def code(self) -> str:
        return self.name

    def run(self) -> None:
        while not self.over.is_set():
            self.place = self.fixed or self.attack.place
            if self.place is None:
                time.sleep(0.02)
                continue
            try:
                with psycopg.connect(
                    make_conninfo(
                        self.place.dsn,
                        options=f"-c synchronous_commit={'off' if self.lazy else 'on'}",
                        connect_timeout=5,
                        application_name=self.name,
                    ),
                    autocommit=True,
                    row_factory=dict_row,
                ) as conn:
                    while not self.over.is_set():
                        self.turn(conn)
            except psycopg.OperationalError as error:
                if error.sqlstate not in (
                    None,
                    "57P01",
                    "57P02",
                    "57P03",
                    "08006",
                    "3D000",
                    "55000",
                ):
                    self.attack.complain(f"{self.name}: {error.sqlstate} {error}")
                time.sleep(0.05)
            except Exception as error:  # noqa: BLE001 - the thread tells it
                self.attack.complain(f"{self.name}: {type(error).__name__} {error}")
                time.sleep(0.05)

    def turn(self, conn: Connection) -> None:
        try:
            getattr(self, f"turn_{self.kind}")(conn)
            self.turns += 1
        except psycopg.OperationalError:
            raise
        except psycopg.Error as error:
            if error.sqlstate in LOST:
                self.attack.count(f"lost: {error.sqlstate}")
            elif error.sqlstate == NOT_CONFIRMED and self.kind == "worker":
                self.attack.count("a worker waited")
                time.sleep(0.05)
            else:
                raise
        time.sleep(self.rng.random() * 0.02)

    def note(self, kind: str, number: int) -> int:
        """Write an ID into the ledger before it is used."""
        assert self.place is not None
        self.attack.note(self, self.place.installation, kind, number)
        return number

    def call(self, conn: Connection, routine: str, **arguments: Any) -> dict[str, Any]:
        given = ", ".join(f"p_{name} => %({name})s" for name in arguments)
        cursor = conn.execute(f"CALL {routine}({given})".encode(), arguments)
        row = cursor.fetchone() if cursor.description else None
        return {name.removeprefix("p_"): value for name, value in (row or {}).items()}

    def begin(self, conn: Connection, **arguments: Any) -> dict[str, Any] | None:
        """Begin the Module; None: it may not proceed now."""
        row = self.call(conn, "omd.begin_module", module_code=self.code, lease=LEASE, **arguments)
        self.note("Module Instance", row["module_instance_id"])
        if row["processing_indicator"] in ("A", "C"):
            time.sleep(self.rng.random() * 0.2)
            return None
        return row

    # Loads

    def turn_table(self, conn: Connection, batch: int = 0) -> None:
        run = self.begin(conn, batch_instance_id=batch)
        if run is None:
            return
        number = run["module_instance_id"]
        for _ in range(2):
            with conn.transaction():
                conn.execute(
                    f"INSERT INTO load.{self.code} SELECT %s FROM generate_series(1, %s)".encode(),
                    [number, ROWS],
                )
                self.call(conn, "omd.fence", module_instance_id=number)
            if self.rng.random() < 0.05:
                return  # it dies in the middle
        self.call(conn, "omd.module_success", module_instance_id=number)

    def turn_batch(self, conn: Connection) -> None:
        row = self.call(conn, "omd.begin_batch", batch_code=f"b_{self.code}", lease=LEASE)
        number = self.note("Batch Instance", row["batch_instance_id"])
        if row["processing_indicator"] != "P":
            time.sleep(self.rng.random() * 0.2)
            return
        self.turn_table(conn, number)
        status = conn.execute(
            "SELECT execution_status_code AS it FROM omd.module_instance"
            " WHERE batch_instance_id = %s ORDER BY module_instance_id DESC LIMIT 1",
            [number],
        ).fetchone()
        end = "success" if status and status["it"] in ("S", "C") else "failure"
        self.call(conn, f"omd.batch_{end}", batch_instance_id=number)

    def turn_lake(self, conn: Connection) -> None:
        run = self.begin(conn)
        if run is None:
            return
        number = run["module_instance_id"]
        if run["processing_indicator"] == "R":
            for former in run["instance_array"]:
                self.undo(former)
            self.call(conn, "omd.confirm_rollback", module_instance_id=number)
        folder = self.folder(number)
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            self.attack.complain(f"{self.name}: the folder of run {number} is there already")
            return
        for part in (1, 2):
            (folder / f"part-{part}").write_text(self.token(number))
            if self.rng.random() < 0.05:
                return
        self.call(conn, "omd.module_success", module_instance_id=number)

    def folder(self, number: int) -> Path:
        assert self.place is not None
        return self.attack.folder / "lake" / self.place.installation / self.code / str(number)

    def token(self, number: int) -> str:
        return f"{self.name} {number}\n"

    def undo(self, number: int) -> None:
        folder = self.folder(number)
        if not folder.is_dir():
            return
        for file in folder.iterdir():
            if file.read_text() not in ("", self.token(number)):
                self.attack.complain(f"{self.name}: {file} is of a stranger")
        shutil.rmtree(folder)

    def turn_worker(self, conn: Connection) -> None:
        """Create tasks, and perform them as a worker; the token of a claim is a fence."""
        for _ in range(3):
            row = self.call(
                conn,
                "omd_dispatch.create_task",
                family_code="PARCEL",
                task_type="LABEL",
                criteria=Jsonb({"DEPOT": str(self.rng.random())}),
            )
            self.note("task", row["task_id"])
        backend = f"{self.name}-{self.rng.random()}"
        self.call(conn, "omd_dispatch.register_backend", backend_type="WORKER", backend_id=backend)
        claimed = conn.execute(
            "SELECT * FROM omd_dispatch.claim_tasks(%s, 5)", [backend]
        ).fetchall()
        for token in {task["claim_token"] for task in claimed}:
            self.note("claim", token)
        results = [
            {"task_id": t["task_id"], "claim_token": t["claim_token"], "outcome": "S"}
            for t in claimed
        ]
        if results:
            self.call(
                conn, "omd_dispatch.complete_tasks", backend_id=backend, results=Jsonb(results)
            )
        self.call(conn, "omd_dispatch.leave_backend", backend_id=backend)

    def turn_delivery(self, conn: Connection) -> None:
        try:
            row = self.call(conn, "omd_delivery.create_delivery", agreement_code="a", dry_run=True)
            number = self.note("delivery", row["delivery_id"])
        except psycopg.Error as error:
            if error.sqlstate != "OM131":
                raise
            # The one before was created, and the connection was lost before it was cancelled.
            number = json.loads(error.diag.message_detail or "")["delivery_id"]
        self.call(conn, "omd_delivery.cancel_delivery", delivery_id=number, reason="tried")


class Attack:
    """Servers, sessions, and what happens to them."""

    def __init__(
        self,
        seed: str,
        *,
        kinds: tuple[str, ...] = KINDS,
        first: int = 16,
        tell: Callable[[str], None] = print,
    ) -> None:
        self.seed, self.kinds, self.first, self.told = seed, kinds, first, tell
        self.rng = random.Random(seed)
        self.began = time.monotonic()
        self.servers = Servers()
        self.folder = self.servers.folder / "outside"
        (self.folder / "ledger").mkdir(parents=True)
        self.lock = threading.Lock()
        self.problems: list[str] = []
        self.counted: Counter[str] = Counter()
        self.given: dict[tuple[str, str, int], str] = {}
        self.ledgers: dict[str, Any] = {}
        self.place: Place | None = None
        self.sessions: list[Session] = []
        self.primary: Server
        self.epochs = 0

    def __enter__(self) -> Attack:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop_sessions()
        for file in self.ledgers.values():
            file.close()
        self.servers.close()

    # What is told

    def tell(self, text: str) -> None:
        self.told(f"{time.monotonic() - self.began:7.1f} {text}")

    def complain(self, text: str) -> None:
        with self.lock:
            self.problems.append(text)
        self.tell(f"PROBLEM {text}")

    def count(self, what: str) -> None:
        with self.lock:
            self.counted[what] += 1

    def note(self, session: Session, installation: str, kind: str, number: int) -> None:
        """Write an ID into the ledger of a session, and compare it with all others."""
        file = self.ledgers.get(session.name)
        if file is None:
            file = self.ledgers[session.name] = (self.folder / "ledger" / session.name).open("a")
        file.write(f"{installation}\t{kind}\t{number}\n")
        file.flush()
        os.fsync(file.fileno())
        with self.lock:
            key = (installation, kind, number)
            if key in self.given:
                text = f"{kind} {number} was given to {self.given[key]} and to {session.name}"
                self.problems.append(text)
                self.told(f"TWICE {text}")
            self.given[key] = session.name
            self.counted[kind] += 1

    # The servers

    def new_world(self) -> None:
        """Make a first server, with what the sessions need."""
        self.epochs += 1
        self.primary = self.servers.with_omd(self.first)
        with contextlib.closing(self.primary.connect()) as conn:
            prepare(conn, self.kinds)
        self.open()

    def open(self, installation: str | None = None) -> None:
        """Let the sessions find the primary."""
        self.place = Place(self.primary.dsn(), installation or identity(self.primary))

    def start_sessions(self) -> None:
        self.sessions = [
            Session(self, f"{kind}_{number}", kind) for number, kind in enumerate(self.kinds)
        ]
        for session in self.sessions:
            session.start()

    def stop_sessions(self) -> None:
        for session in self.sessions:
            session.over.set()
        for session in self.sessions:
            session.join(30)
        self.sessions = []

    def load_for(self, seconds: float) -> None:
        time.sleep(seconds)

    def change(self, primary: Server, *, remove: bool = True) -> None:
        """Let the sessions go to another server."""
        former, self.primary = self.primary, primary
        self.open()
        if remove and former is not primary:
            self.servers.remove(former)

    # What happens

    def restart(self) -> str:
        self.primary.die()
        self.primary.start()
        return "the server recovered"

    def cut_off(self, standby: Server) -> None:
        """Let a standby fall behind its primary, which goes on for a while and dies."""
        standby.follow(self.primary)
        standby.execute("ALTER SYSTEM SET primary_conninfo TO ''", database="postgres")
        standby.execute("SELECT pg_reload_conf()", database="postgres")
        self.load_for(self.rng.uniform(0.1, 1.0))
        self.primary.die()

    def behind(self, standby: Server) -> str:
        return f"it had replayed {standby.position()}"

    def failover(self) -> str:
        standby = self.servers.standby(self.primary)
        self.cut_off(standby)
        told = self.behind(standby)
        standby.promote()
        self.change(standby)
        return told

    def rewind(self) -> str:
        former = self.primary
        standby = self.servers.standby(former)
        self.cut_off(standby)
        standby.promote()
        self.change(standby, remove=False)
        standby.execute("CHECKPOINT", database="postgres")
        self.servers.rewound(former, standby)
        self.load_for(self.rng.uniform(0.2, 1.0))
        self.cut_off(former)
        former.promote()
        self.change(former)
        return "there and back"

    def recover(self) -> str:
        backup = self.servers.backup(self.primary)
        self.load_for(self.rng.uniform(0.3, 1.5))
        position = self.primary.position()
        self.load_for(self.rng.uniform(0.1, 1.5))
        self.primary.archive_all()
        self.primary.die()
        self.servers.recovered(backup, self.primary.archive, lsn=position)
        self.change(backup)
        return f"to {position}"

    def dump(self) -> str:
        version = self.primary.version
        dump = self.servers.dump(self.primary, 18)
        self.load_for(self.rng.uniform(0.1, 1.0))
        self.primary.die()
        self.change(self.servers.restored(self.primary, 18, dump))
        self.confirm_later("MOVED")
        return f"from {version} to 18"

    def upgrade(self) -> str | None:
        if self.primary.version >= 18:
            return None
        self.change(self.servers.upgraded(self.primary, 18))
        self.confirm_later("MOVED")
        return "16 to 18"

    def confirm_later(self, what: str) -> None:
        """Confirm the server after a while; begins by hand go on meanwhile."""
        before = self.turns()
        self.load_for(self.rng.uniform(0.1, 0.6))
        wait(lambda: self.turns() > before, "begins by hand go on")
        self.primary.execute("CALL omd.confirm_server(%s, %s)", what, "it was tried")

    def snapshot(self) -> str:
        self.primary.stop()
        kept = self.servers.files_of(self.primary)
        self.primary.start()
        self.load_for(self.rng.uniform(0.2, 1.0))
        self.place = None
        self.primary.die()
        self.servers.put_back(self.primary, kept)
        self.primary.start()
        self.primary.execute("CALL omd.skip_ids()")
        self.open()
        return "ids were skipped"

    def copy(self) -> str:
        """Two primaries at once: nobody has confirmed anything, and still no ID is the same."""
        backup = self.servers.backup(self.primary)
        position = self.primary.position()
        self.load_for(self.rng.uniform(0.1, 0.5))
        self.primary.archive_all()
        self.servers.recovered(backup, self.primary.archive, lsn=position)
        # Not into the lake: what runs at this moment runs in both, and each would undo what it
        # finds dead. Whoever promotes a standby must stop the former primary.
        self.load_aside(Place(backup.dsn(), identity(backup)), "table")
        self.servers.remove(backup)
        return "two primaries"

    def template(self) -> str:
        place, self.place = self.place, None
        with contextlib.closing(self.primary.connect("postgres")) as conn:
            while True:
                conn.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'omd'"
                )
                try:
                    conn.execute("CREATE DATABASE beside TEMPLATE omd STRATEGY file_copy")
                    break
                except psycopg.errors.ObjectInUse:
                    time.sleep(0.05)
        self.place = place
        dsn = self.primary.dsn("beside")
        with psycopg.connect(dsn, autocommit=True) as conn:
            conn.execute("CALL omd.confirm_server('COPY', 'it was tried')")
            [[installation]] = conn.execute(IDENTITY).fetchall()
        assert place is not None
        assert str(installation) != place.installation
        self.load_aside(Place(dsn, str(installation)), "table", "lake")
        self.primary.execute("DROP DATABASE beside WITH (FORCE)", database="postgres")
        return "a copy beside"

    def load_aside(self, place: Place, *kinds: str) -> None:
        """Let others load into another database for a while."""
        aside = [Session(self, f"{kind}_{self.kinds.index(kind)}", kind, place) for kind in kinds]
        for session in aside:
            session.start()
        self.load_for(self.rng.uniform(0.3, 1.0))
        for session in aside:
            session.over.set()
        for session in aside:
            session.join(30)

    # What holds

    def turns(self) -> int:
        return sum(session.turns for session in self.sessions)

    def go_on(self) -> None:
        """Wait until each session has done something on the present server."""
        before = {session.name: session.turns for session in self.sessions}

        def all_have() -> bool:
            return all(session.turns > before[session.name] for session in self.sessions)

        try:
            wait(all_have, "each session goes on", 60)
        except AssertionError:
            still = [s.name for s in self.sessions if s.turns <= before[s.name]]
            self.complain(f"sessions that do not go on: {still}")

    def check(self) -> None:
        """Compare what the database knows with what is there."""
        assert self.place is not None
        with contextlib.closing(self.primary.connect()) as conn:
            conn.execute("SET TIME ZONE 'UTC'")
            for number, kind in enumerate(self.kinds):
                code = f"{kind}_{number}"
                if kind in ("table", "batch"):
                    wrong = conn.execute(WHOLE.format(code=code).encode(), [2 * ROWS]).fetchall()
                    for row in wrong[:3]:
                        self.complain(f"{code} has not what has succeeded: {row}")
                elif kind == "lake":
                    self.check_lake(conn, code)

    def check_lake(self, conn: Connection, code: str) -> None:
        assert self.place is not None
        folder = self.folder / "lake" / self.place.installation / code
        done = conn.execute(SUCCEEDED.encode(), [code]).fetchall()
        for row in done:
            number = row["id"]
            token = f"{code} {number}\n"
            for part in (1, 2):
                file = folder / str(number) / f"part-{part}"
                if not file.is_file() or file.read_text() != token:
                    self.complain(f"{code} has not the files of run {number}, which succeeded")

    def check_at_rest(self) -> None:
        """Begin each Module once more; then nothing half-written is left."""
        self.stop_sessions()
        with contextlib.closing(self.primary.connect()) as conn:
            for number, kind in enumerate(self.kinds):
                if kind in ("worker", "delivery"):
                    continue
                code = f"{kind}_{number}"
                last = Session(self, code, kind, self.place)
                last.place = self.place
                last.rng = random.Random(8)  # it does not die in the middle
                deadline = time.monotonic() + 30
                while True:
                    newest = conn.execute(NEWEST.encode(), [code]).fetchone()
                    if newest and newest["it"] == "S":
                        break
                    assert time.monotonic() < deadline, f"{code} succeeds within 30 s"
                    last.turn(conn)
                if kind in ("table", "batch"):
                    left = conn.execute(LEFT.format(code=code).encode()).fetchall()
                    if left:
                        self.complain(f"{code} has rows of runs that did not succeed: {left[:3]}")
                else:
                    self.check_left(conn, code)
        self.check()

    def check_left(self, conn: Connection, code: str) -> None:
        assert self.place is not None
        folder = self.folder / "lake" / self.place.installation / code
        for row in conn.execute(NOT_SUCCEEDED.encode(), [code]).fetchall():
            if (folder / str(row["id"])).exists():
                self.complain(f"{code} has files of run {row['id']}, which did not succeed")
        known = {str(r["id"]) for r in conn.execute(KNOWN.encode(), [code]).fetchall()}
        self.counted["lake folders of runs that were lost"] += len(
            [each for each in folder.iterdir() if each.name not in known]
        )

    def ledger(self) -> Counter[tuple[str, str, str]]:
        """Read all ledgers from the disk."""
        found: Counter[tuple[str, str, str]] = Counter()
        for file in (self.folder / "ledger").iterdir():
            for line in file.read_text().splitlines():
                installation, kind, number = line.split("\t")
                found[installation, kind, number] += 1
        return found

    def play(self, seconds: float, events: tuple[str, ...] = EVENTS, *, rest: float = 3.0) -> None:
        """Let things happen for so many seconds; each of `events` happens once in a row."""
        left: list[str] = []
        self.new_world()
        self.start_sessions()
        over = time.monotonic() + seconds
        while time.monotonic() < over:
            self.load_for(self.rng.uniform(0.2, rest))
            left = left or self.rng.sample(events, len(events))
            name = left.pop()
            if name == "upgrade" and self.primary.version >= 18:
                self.anew()
            began = time.monotonic()
            try:
                told = getattr(self, name)()
            except Exception as error:  # noqa: BLE001 - it is told with what came before
                self.complain(f"{name}: {type(error).__name__} {error}")
                return
            self.counted[name] += 1
            self.go_on()
            self.check()
            self.tell(f"{name}: {told} ({time.monotonic() - began:.1f} s, {self.turns()} turns)")
        self.check_at_rest()
        twice = [key for key, count in self.ledger().items() if count > 1]
        if twice:
            self.complain(f"twice in the ledgers: {twice[:10]}")

    def anew(self) -> None:
        """Begin with a new server of the first version, for pg_upgrade."""
        self.check_at_rest()
        former = self.primary
        self.place = None
        self.new_world()
        self.servers.remove(former)
        self.start_sessions()
        self.tell("a new world")


IDENTITY = "SELECT installation_id::text FROM omd.installation"
WHOLE = """
    SELECT mi.module_instance_id AS id, count(t.omd_insert_module_instance_id) AS rows
    FROM omd.module_instance AS mi INNER JOIN omd.module AS m USING (module_id)
    LEFT JOIN load.{code} AS t ON mi.module_instance_id = t.omd_insert_module_instance_id
    WHERE m.module_code = '{code}' AND mi.execution_status_code = 'S'
    GROUP BY 1 HAVING count(t.omd_insert_module_instance_id) <> %s"""
LEFT = """
    SELECT t.omd_insert_module_instance_id AS id, mi.execution_status_code AS status
    FROM load.{code} AS t
    LEFT JOIN omd.module_instance AS mi ON mi.module_instance_id = t.omd_insert_module_instance_id
    WHERE mi.execution_status_code IS DISTINCT FROM 'S'"""
_OF = """
    SELECT mi.module_instance_id AS id
    FROM omd.module_instance AS mi INNER JOIN omd.module AS m USING (module_id)
    WHERE m.module_code = %s"""
KNOWN = _OF
SUCCEEDED = f"{_OF} AND mi.execution_status_code = 'S'"
NOT_SUCCEEDED = f"{_OF} AND mi.execution_status_code <> 'S'"
NEWEST = """
    SELECT mi.execution_status_code AS it
    FROM omd.module_instance AS mi INNER JOIN omd.module AS m USING (module_id)
    WHERE m.module_code = %s ORDER BY mi.module_instance_id DESC LIMIT 1"""


def identity(server: Server) -> str:
    return str(server.one(IDENTITY))


def prepare(conn: Connection, kinds: tuple[str, ...]) -> None:
    """Register what the sessions load."""
    conn.execute("CREATE SCHEMA load")
    for number, kind in enumerate(kinds):
        code = f"{kind}_{number}"
        if kind in ("worker", "delivery"):
            continue
        if kind == "lake":
            given = {"table": f"lake.{code}", "platform": "SPARK"}
        else:
            given = {"table": f"load.{code}", "platform": "POSTGRES"}
            conn.execute(
                f"CREATE TABLE load.{code} (omd_insert_module_instance_id bigint)".encode()
            )
            # A replica of the tables needs it.
            conn.execute(f"ALTER TABLE load.{code} REPLICA IDENTITY FULL".encode())
        conn.execute(
            "CALL omd.register_module(p_module_code => %(code)s, p_area_code => 'INT',"
            " p_table_code => %(table)s, p_table_type_code => 'HUB',"
            " p_platform_code => %(platform)s)",
            {"code": code, **given},
        )
        if kind == "batch":
            conn.execute("CALL omd.register_batch(%s, p_frequency_code => 'Adhoc')", [f"b_{code}"])
            conn.execute("CALL omd.add_module_to_batch(%s, %s)", [f"b_{code}", code])
    if "worker" in kinds:
        conn.execute(
            "CALL omd_dispatch.register_family("
            "'PARCEL', '{\"DEPOT\": \"text\"}', p_migration_status => 0)"
        )
        conn.execute(
            "CALL omd_dispatch.register_task_type('PARCEL', 'LABEL', 'PYTHON', 'depot:label')"
        )
    if "delivery" in kinds:
        model = {
            "interface": "shop",
            "entities": [
                {
                    "name": "customers",
                    "key": ["nbr"],
                    "attributes": [{"name": "nbr", "type": "integer"}],
                }
            ],
        }
        conn.execute("CALL omd_delivery.deploy_model(%s)", [Jsonb(model)])
        conn.execute("CALL omd_delivery.register_tenant('t')")
        conn.execute("CALL omd_delivery.register_agreement('a', 't', 'shop')")


def main() -> int:
    """Run the attack; the exit code is 0 when all held."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", default=str(random.SystemRandom().randrange(10**6)))
    parser.add_argument("--first", type=int, default=16, help="The version of the first server.")
    parser.add_argument("--events", nargs="+", choices=EVENTS, default=list(EVENTS))
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    with Attack(given.seed, first=given.first, tell=lambda text: print(text, flush=True)) as attack:
        attack.play(given.seconds, tuple(given.events))
        print(f"{len(attack.given):,} IDs in {attack.epochs} installations of production")
        for what, count in sorted(attack.counted.items()):
            print(f"{count:10,} {what}")
        for problem in attack.problems[:20]:
            print("PROBLEM", problem)
        print("no ID twice" if not attack.problems else f"{len(attack.problems)} problems")
        return 1 if attack.problems else 0


if __name__ == "__main__":
    assert embedded.binaries(16)
    sys.exit(main())
