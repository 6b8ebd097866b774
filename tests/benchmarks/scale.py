"""A company's platform: five years of history, one busy hour, and what it took.

* ``fill`` writes what five years leave: 10 million Module Instances, 50 million events, 100,000
  topics, 2,000 interfaces, 5,000 stages, 20 million ended and one million pending tasks, 10 million
  rows of the ledger. ``--scale`` takes a fraction of all of them, ``--history`` another one of what
  has been: runs, events, ended tasks and the ledger.
* ``hour`` takes ``--minutes`` of a busy hour: a million tasks an hour, runs, steps, loads, stages,
  late writers, failures, an administrator's bulk actions, the page in 100 tabs, retention and
  purges, each at its pace (``PACE``), also if there is less history. ``--sessions`` workers take
  tasks, as many run Modules. With ``--pace`` the hour is so many times as busy.
* ``report`` prints p50 and p99 of each path, the write-ahead log, bytes, dead rows, and the
  slowest statements with the pages that a call reads, if the server has pg_stat_statements.
  ``--save`` keeps the figures; ``--beside`` compares with kept ones. What reads more pages a call
  with the same ``--scale`` and ten times the ``--history`` grows with history, and is a defect.

Run: ``python tests/benchmarks/scale.py [--scale 1.0] [--minutes 60] [--dsn … | --home FOLDER]``.
Without a DSN it starts a server of its own, in a temporary folder or in ``--home``; only that one
is kept, for ``--only``. The folder should be on a disk. The database has the name ``omd_scale``.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import statistics
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
from bench import dispatch
from bench.company import FAMILY, LIVE_FACTS, LIVE_TOPICS, Size, fill, scalar
from bench.page import Page
from bench.server import new_database
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from omd.programs import embedded

Connection = psycopg.Connection[Any]
Run = Callable[[], None]

DATABASE = "omd_scale"
SETTINGS = {
    "shared_buffers": "'2GB'",
    "max_wal_size": "'16GB'",
    "maintenance_work_mem": "'512MB'",
    "max_connections": "300",
    "track_io_timing": "on",
}
LIBRARY = "pg_stat_statements"
TABS = 100
FAILING = 0.02
CREATED = 100  # tasks a call
CLAIMED = 25
READS = 240  # of each screen an hour


def new_worker(conn: Connection) -> str:
    """Register a worker of its own for this session."""
    member = f"w{conn.info.backend_pid}"
    dispatch.register(conn, member, f"G{FAMILY}")
    return member


def create(conn: Connection) -> Run:
    """A hundred tasks are created."""
    numbers = itertools.count(1)

    def run() -> None:
        many = [{"criteria": {"CODE": str(next(numbers) % 1000)}} for _ in range(CREATED)]
        conn.execute("CALL omd_dispatch.create_tasks(%s, 'T', %s)", (FAMILY, Jsonb(many)))

    return run


def work(conn: Connection) -> Run:
    """Tasks are claimed and ended; some fail."""
    member = new_worker(conn)

    def run() -> None:
        claimed = conn.execute(
            "SELECT task_id, claim_token FROM omd_dispatch.claim_tasks(%s, %s)", (member, CLAIMED)
        ).fetchall()
        results = [
            {"task_id": t, "claim_token": c, "outcome": "S"}
            if random.random() > FAILING
            else {"task_id": t, "claim_token": c, "outcome": "F", "error": "ValueError: no row"}
            for t, c in claimed
        ]
        conn.execute("CALL omd_dispatch.complete_tasks(%s, %s)", (member, Jsonb(results)))

    return run


def module(conn: Connection, code: str) -> None:
    """Run a Module; some fail, and the next run of it rolls back."""
    row = conn.execute("CALL omd.begin_module(%s)", (code,)).fetchone()
    assert row is not None
    if row[1] != "P":
        return
    if random.random() < FAILING:
        conn.execute("CALL omd.module_failure(%s, p_event_detail => 'no row')", (row[0],))
    else:
        conn.execute("CALL omd.module_success(%s, p_rows_inserted => 1)", (row[0],))


def any_module(conn: Connection) -> Run:
    """Any of the many Modules runs: what it reads has not been read for long."""
    codes = [
        code
        for (code,) in conn.execute(
            "SELECT module_code FROM public.scale_module WHERE kind = 'JOB' AND NOT is_busy"
        )
    ]
    return lambda: module(conn, random.choice(codes))


def busy_module(conn: Connection) -> Run:
    """A Module with a deep history runs."""
    return lambda: module(conn, "live.m9")


def batch(conn: Connection) -> Run:
    """A Batch of ten with a deep history runs."""

    def run() -> None:
        row = conn.execute("CALL omd.begin_batch('b_live')").fetchone()
        assert row is not None
        if row[1] != "P":
            return
        for n in range(9):
            begun = conn.execute("CALL omd.begin_module(%s, %s)", (f"live.m{n}", row[0])).fetchone()
            assert begun is not None, n
            if begun[1] == "P":
                conn.execute("CALL omd.module_success(%s, p_rows_inserted => 1)", (begun[0],))
        conn.execute("CALL omd.batch_success(%s)", (row[0],))

    return run


def write(conn: Connection) -> Run:
    """A writer of the source commits; each tenth is a second late."""
    turns = itertools.count(1)

    def run() -> None:
        with conn.transaction():
            conn.execute(
                "INSERT INTO public.base (pos, id)"
                " SELECT clock_timestamp(), nextval('public.scale_id') FROM generate_series(1, 10)"
            )
            if next(turns) % 10 == 0:
                time.sleep(1)

    return run


def probe(conn: Connection) -> Run:
    """A scheduler looks for what is new in the sources."""
    return lambda: conn.execute("CALL omd_lineage.probe_sources()") and None


def step(conn: Connection) -> Run:
    """A step of a topic with a deep history."""
    topics = itertools.cycle(range(1, LIVE_TOPICS + 1))
    return lambda: (
        conn.execute("CALL omd_lineage.step(%s)", (f"public.topic{next(topics)}",)) and None
    )


def facts(conn: Connection) -> Run:
    """A delta of ten rows is written, accepted and loaded."""
    interfaces = itertools.cycle(LIVE_FACTS)

    def run() -> None:
        interface = next(interfaces)
        delivery = scalar(
            conn,
            "SELECT omd_delivery.insert_delivery(%s, 'LVL', clock_timestamp())",
            interface,
        )
        conn.execute(
            f"INSERT INTO wrk_{interface}.delta_orders SELECT %s, 'N', 0, %s + n, n, 'open',"
            " md5(n::text), md5(n::text) FROM generate_series(1, 10) AS n".encode(),
            (delivery, scalar(conn, "SELECT (nextval('public.scale_id') * 10)::integer")),
        )
        conn.execute(
            "UPDATE omd_delivery.delivery SET delivery_status = 'ACCEPTED', verdict = 'ACCEPTED'"
            " WHERE delivery_id = %s",
            (delivery,),
        )
        conn.execute(
            "INSERT INTO omd_delivery.delta_queue (delivery_id, interface_id, snapshot_datetime,"
            " entity_ids, delivered_entity_ids) SELECT d.delivery_id, d.interface_id,"
            " d.snapshot_datetime, e.ids, e.ids FROM omd_delivery.delivery AS d, LATERAL (SELECT"
            " array_agg(entity_id) AS ids FROM omd_delivery.entity AS e"
            " WHERE e.interface_id = d.interface_id) AS e WHERE d.delivery_id = %s",
            (delivery,),
        )
        row = conn.execute("CALL omd_facts.load(%s)", (interface,)).fetchone()
        assert row is not None and row[0] == "PERSISTED", row

    return run


def call(statement: str, *given: object) -> Callable[[Connection], Run]:
    """Return the path of one call."""
    return lambda conn: lambda: conn.execute(statement.encode(), given) and None


def take_events(conn: Connection) -> Run:
    """A sink takes events and confirms them."""

    def run() -> None:
        taken = conn.execute("SELECT * FROM omd_event.take_events('scale', 'h', 1000)").fetchall()
        if taken:
            conn.execute("CALL omd_event.confirm_events('scale', 'h', %s)", (taken[-1][0],))

    return run


def heartbeat(conn: Connection) -> Run:
    """The lease of a run is renewed."""
    code = f"beat{conn.info.backend_pid}"
    conn.execute("CALL omd.register_module(%s, 'HSTG', 'public.target')", (code,))
    row = conn.execute("CALL omd.begin_module(%s, p_lease => '1 day')", (code,)).fetchone()
    assert row is not None and row[1] == "P", row
    return lambda: conn.execute("CALL omd.heartbeat(%s, '1 day')", (row[0],)) and None


def in_parts(conn: Connection, statement: str, given: object) -> None:
    """Take a bulk action part by part, as the page does."""
    counted_at, last, more = scalar(conn, "SELECT clock_timestamp()"), None, True
    while more:
        row = conn.execute(statement.encode(), (Jsonb(given), counted_at, last)).fetchone()
        assert row is not None
        last, more = row[2:]


def bulk(statement: str, given: dict[str, object]) -> Callable[[Connection], Run]:
    """Return the path of a bulk action."""
    return lambda conn: lambda: in_parts(conn, statement, given)


def count_tasks(conn: Connection) -> Run:
    """The page counts what a bulk action would change."""
    given = Jsonb({"family_code": FAMILY, "statuses": ["DEAD"]})
    return lambda: (
        conn.execute("SELECT omd_dispatch.count_tasks(%s, clock_timestamp())", (given,)) and None
    )


def suspend(conn: Connection) -> Run:
    """What has one value of a criterion is suspended, and resumed."""

    def run() -> None:
        row = conn.execute(
            "CALL omd_dispatch.suspend(%s, p_criteria => %s)", (FAMILY, Jsonb({"CODE": "7"}))
        ).fetchone()
        assert row is not None
        conn.execute("CALL omd_dispatch.resume(%s)", (row[0],))

    return run


def restart(conn: Connection) -> Run:
    """An administrator asks for the rollback of a failed run, and takes it back."""
    failed = [
        i
        for (i,) in conn.execute(
            # The indicator of one whose rollback is pending can't be taken back.
            "SELECT module_instance_id FROM omd.module_instance WHERE execution_status_code = 'F'"
            " AND rolled_back_by_module_instance_id IS NOT NULL"
            " ORDER BY module_instance_id LIMIT 1000"
        )
    ]

    def run() -> None:
        instance = random.choice(failed)
        for indicator in ("C", "P"):
            conn.execute(
                "CALL omd.set_next_run_indicator(p_module_instance_id => %s,"
                " p_next_run_indicator => %s)",
                (instance, indicator),
            )

    return run


# Calls an hour, how the session is prepared, and how many sessions (0: as --sessions says).
PACE: dict[str, tuple[int, Callable[[Connection], Run], int]] = {
    f"create {CREATED} tasks": (1_000_000 // CREATED, create, 1),
    f"claim and end {CLAIMED} tasks": (1_000_000 // CLAIMED, work, 0),
    "run of any Module": (36_000, any_module, 0),
    "run of a busy Module": (3_600, busy_module, 1),
    "run of a Batch of ten": (1_200, batch, 1),
    "heartbeat": (36_000, heartbeat, 1),
    "a writer of the source": (3_600, write, 2),
    "probe of sources": (720, probe, 1),
    "step": (3_600, step, 1),
    "load of facts": (600, facts, 1),
    "run of a stage": (600, call("CALL omd_decision.run_stage('s')"), 1),
    "publish": (3_600, call("CALL omd_event.publish()"), 1),
    "a sink takes events": (3_600, take_events, 1),
    "ready_work": (720, call("SELECT * FROM omd_report.ready_work"), 1),
    "work_summary": (360, call("SELECT * FROM omd_report.work_summary"), 1),
    "problems": (360, call("SELECT * FROM omd_report.problems"), 1),
    "metrics": (240, call("SELECT * FROM omd_report.metrics"), 1),
    "maintain of dispatch": (3_600, call("CALL omd_dispatch.maintain()"), 1),
    "maintain of rooms": (360, call("CALL omd.maintain_rooms()"), 1),
    "bulk: reschedule": (
        20,
        bulk(
            "CALL omd_dispatch.reschedule_tasks(%s, %s, 10000, %s, p_priority => 4)",
            {"family_code": FAMILY, "statuses": ["PENDING"], "criteria": {"CODE": "8"}},
        ),
        1,
    ),
    "bulk: cancel": (
        20,
        bulk(
            "CALL omd_dispatch.cancel_tasks(%s, %s, 10000, %s)",
            {"family_code": FAMILY, "statuses": ["PENDING"], "criteria": {"CODE": "9"}},
        ),
        1,
    ),
    "bulk: revive": (
        20,
        bulk(
            "CALL omd_dispatch.revive_tasks(%s, %s, 10000, %s)",
            {"family_code": FAMILY, "statuses": ["DEAD"]},
        ),
        1,
    ),
    "count of dead tasks": (60, count_tasks, 1),
    "suspend and resume": (60, suspend, 1),
    "restart of a run": (120, restart, 1),
    "purge of runs": (4, call("CALL omd.purge(make_interval(days => 5 * 365 - 1), 'omd')"), 1),
    "purge of events": (4, call("CALL omd.purge('0', 'omd_event')"), 1),
    "purge of tasks": (4, call("CALL omd_dispatch.purge_family(%s)", FAMILY), 1),
}
SCREENS = ("/", "/todo", "/grid", "/queue", "/graph", "/log", "/module/live.m9", "/batch/b_live")


class Hour:
    """Sessions that each take their path at its pace, and how long each call took."""

    def __init__(self, dsn: str, minutes: float, pace: float) -> None:
        self._dsn = dsn
        self._seconds = 60 * minutes
        self._pace = pace
        self._lock = threading.Lock()
        self.took: dict[str, list[float]] = defaultdict(list)
        self.failed: dict[str, list[str]] = defaultdict(list)
        self._threads: list[threading.Thread] = []
        self._ready = threading.Event()
        self._end = 0.0

    def _take(self, name: str, run: Run) -> None:
        start = time.perf_counter()
        try:
            run()
        except (psycopg.Error, AssertionError, OSError) as error:
            with self._lock:
                self.failed[name].append(f"{type(error).__name__}: {error}".splitlines()[0])
        else:
            with self._lock:
                self.took[name].append(time.perf_counter() - start)

    def _session(self, name: str, per_hour: float, prepare: Callable[[Connection], Run]) -> None:
        try:
            with psycopg.connect(
                self._dsn, autocommit=True, options="-c client_min_messages=error"
            ) as conn:
                run = prepare(conn)
                self._loop(name, per_hour, run)
        except (psycopg.Error, AssertionError) as error:
            self.failed[name].append(f"{type(error).__name__}: {error}".splitlines()[0])

    def _loop(self, name: str, per_hour: float, run: Run) -> None:
        self._ready.wait()
        pause = 3600 / per_hour
        due = time.perf_counter() + random.random() * min(pause, self._seconds / 4)
        while due < self._end:
            time.sleep(max(0, due - time.perf_counter()))
            if time.perf_counter() >= self._end:
                break
            self._take(name, run)
            # Who is late does not hurry: it goes on from now.
            due = max(due + pause, time.perf_counter())

    def add(
        self, name: str, per_hour: float, prepare: Callable[[Connection], Run], sessions: int
    ) -> None:
        """Add the sessions of a path, which share its pace."""
        for _ in range(sessions):
            given = (name, self._pace * per_hour / sessions, prepare)
            self._threads.append(threading.Thread(target=self._session, args=given, daemon=True))

    def add_reader(self, name: str, per_hour: float, run: Run) -> None:
        """Add what needs no connection."""
        given = (name, per_hour, run)
        self._threads.append(threading.Thread(target=self._loop, args=given, daemon=True))

    def play(self) -> float:
        """Take all paths until the time is over; return the seconds."""
        for thread in self._threads:
            thread.start()
        time.sleep(2)  # the sessions have connected
        start = time.perf_counter()
        self._end = start + self._seconds
        self._ready.set()
        for thread in self._threads:
            thread.join()
        return time.perf_counter() - start


def drained(stream: Any, stop: threading.Event) -> None:
    """Read what a tab gets."""
    with suppress(OSError, ValueError, AttributeError):
        while not stop.is_set() and stream.read1(65536):
            pass


def wal(conn: Connection) -> int:
    return int(scalar(conn, "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn"))


SIZES = """
SELECT
    c.oid::regclass::text, pg_total_relation_size(c.oid), coalesce(s.n_dead_tup, 0),
    greatest(c.reltuples, 0)::bigint
FROM pg_class AS c
LEFT JOIN pg_stat_user_tables AS s ON s.relid = c.oid
WHERE c.relkind = 'r' AND c.relnamespace::regnamespace::text ~ '^omd'
"""

STATEMENTS = """
SELECT
    s.query, s.toplevel, s.calls::bigint, s.mean_exec_time, s.max_exec_time,
    (s.shared_blks_hit + s.shared_blks_read)::float8 / s.calls,
    s.shared_blks_read::float8 / s.calls, s.wal_bytes::float8 / s.calls
FROM public.pg_stat_statements AS s
INNER JOIN pg_database AS d ON d.oid = s.dbid AND d.datname = current_database()
WHERE s.calls > 0
"""

WAL = """
SELECT coalesce(sum(s.wal_bytes), 0)
FROM public.pg_stat_statements AS s
INNER JOIN pg_database AS d ON d.oid = s.dbid AND d.datname = current_database()
WHERE s.toplevel
"""


def has_statements(conn: Connection) -> bool:
    """Say whether the server counts statements; create what shows them."""
    if LIBRARY not in scalar(conn, "SHOW shared_preload_libraries"):
        return False
    conn.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements SCHEMA public")
    conn.execute("SELECT set_config('pg_stat_statements.track', 'all', FALSE)")
    return True


def play(dsn: str, minutes: float, sessions: int, pace: float) -> dict[str, Any]:
    """Take the busy hour and return its figures."""
    with ExitStack() as stack:
        conn = stack.enter_context(psycopg.connect(dsn, autocommit=True))
        counts = has_statements(conn)
        name = scalar(conn, "SELECT current_database()")
        if counts:
            conn.execute(f"ALTER DATABASE {name} SET pg_stat_statements.track = 'all'".encode())
            conn.execute("SELECT public.pg_stat_statements_reset()")
        conn.execute("CREATE SEQUENCE IF NOT EXISTS public.scale_id START 1000000")
        before = {row[0]: row[1] for row in conn.execute(SIZES.encode())}
        log = wal(conn)
        hour = Hour(dsn, minutes, pace)
        for path, (per_hour, prepare, own) in PACE.items():
            hour.add(path, per_hour, prepare, own or sessions)
        page = stack.enter_context(closing(Page(dsn)))
        stop = threading.Event()
        for stream in page.streams("/", TABS):
            stack.callback(stream.close)
            threading.Thread(target=drained, args=(stream, stop), daemon=True).start()
        for screen in SCREENS:
            hour.add_reader(f"page: {screen}", READS, lambda path=screen: page.get(path) and None)
        seconds = hour.play()
        stop.set()
        figures: dict[str, Any] = {
            "seconds": 60 * minutes,
            "last_ended_after": seconds,  # a long call goes on when the time is over
            "wal": wal(conn) - log,
            # Others may write to the log of the server.
            "wal_of_statements": int(scalar(conn, WAL)) if counts else None,
            "bytes": scalar(conn, "SELECT pg_database_size(current_database())"),
            "paths": {
                path: [
                    len(took),
                    PACE[path][0] * pace if path in PACE else READS,
                    statistics.median(took),
                    sorted(took)[int(len(took) * 0.99)],
                    max(took),
                ]
                for path, took in hour.took.items()
            },
            "failed": hour.failed,
            "tables": [
                [table, size, size - before.get(table, 0), dead, rows]
                for table, size, dead, rows in conn.execute(SIZES.encode())
            ],
            "statements": [list(row) for row in conn.execute(STATEMENTS.encode())]
            if counts
            else [],
        }
        return figures


def one_line(text: str, width: int = 110) -> str:
    return " ".join(text.split())[:width]


def report(figures: dict[str, Any]) -> None:
    """Print the figures of an hour."""
    minutes = figures["seconds"] / 60
    print(f"\n{minutes:.1f} minutes; {figures['bytes'] / 1e9:.2f} GB; ", end="")
    log = figures["wal_of_statements"] or figures["wal"]
    print(f"{log / 1e6:.0f} MB of the log, {log / minutes / 1e6:.1f} a minute")
    print(
        f"\n{'path':<26} {'calls':>7} {'an hour':>9} {'pace':>9} {'p50 ms':>8} {'p99 ms':>8} max ms"
    )
    for path, (calls, pace, p50, p99, most) in figures["paths"].items():
        rate = calls / minutes * 60
        print(
            f"{path:<26} {calls:>7,} {rate:>9,.0f} {pace:>9,.0f}"
            f" {1e3 * p50:>8.1f} {1e3 * p99:>8.1f} {1e3 * most:.0f}"
        )
    for path, errors in figures["failed"].items():
        if errors:
            print(f"{path}: {len(errors)} have failed; the first: {errors[0]}")
    print(f"\n{'the largest tables':<44} {'MB':>8} {'grown':>8} {'dead':>9} {'rows':>11}")
    tables = sorted(figures["tables"], key=lambda row: -row[1])[:15]
    for table, size, grown, dead, rows in tables:
        print(f"{table:<44} {size / 1e6:>8.1f} {grown / 1e6:>8.1f} {dead:>9,} {rows:>11,}")
    if not figures["statements"]:
        print("\nThe server has no pg_stat_statements: there is no list of statements.")
        return
    for title, toplevel in (
        ("statements of the sessions", True),
        ("statements within them", False),
    ):
        print(f"\nthe slowest {title}, by all their time\n  calls     mean ms    max ms     pages")
        mine = [row for row in figures["statements"] if row[1] is toplevel]
        for query, _, calls, mean, most, pages, *_ in sorted(mine, key=lambda r: -r[2] * r[3])[:15]:
            print(f"{calls:>7,} {mean:>11.2f} {most:>9.1f} {pages:>9,.0f}  {one_line(query)}")


def compare(now: dict[str, Any], other: dict[str, Any], least: int = 2) -> None:
    """Print what reads more pages a call than in the other figures."""
    former = {(row[0], row[1]): row for row in other["statements"]}
    grown = []
    for row in now["statements"]:
        old = former.get((row[0], row[1]))
        if old is None or min(row[2], old[2]) < least:
            continue
        grown.append((row[5] - old[5], row, old))
    print(
        "\nwhat reads more pages a call than there: calls, pages there and here, ms there and here"
    )
    for more, row, old in sorted(grown, key=lambda g: -g[0] * g[1][2] ** 0.5)[:40]:
        if more < 20:
            continue
        kind = "session" if row[1] else "within "
        print(
            f"{row[2]:>7,} {old[5]:>9,.0f} {row[5]:>9,.0f} {row[5] / max(old[5], 1):>6.2f}x"
            f" {old[3]:>9.2f} {row[3]:>9.2f} {kind} {one_line(row[0], 140)}"
        )


@contextmanager
def server(dsn: str | None, home: Path | None, version: int) -> Iterator[str]:
    """Yield a server: a given one, one in a folder that stays, or one of its own."""
    if dsn:
        yield dsn
        return
    with ExitStack() as stack:
        if home is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="omd-bench-")))
            folder.chmod(0o755)
            home = folder / "home"
        library = embedded.binaries(version).parent / "lib"
        settings = dict(SETTINGS)
        if any(library.rglob(f"{LIBRARY}.so")):
            settings["shared_preload_libraries"] = f"'{LIBRARY}'"
        found = embedded.start(home, version=version, settings=settings).dsn
        stack.callback(embedded.stop, home)
        assert found is not None
        yield found


def main() -> None:
    """Fill, take the hour, and report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dsn", help="a server, as a superuser; the default is one of its own")
    parser.add_argument("--home", type=Path, help="a folder for a server that stays")
    parser.add_argument("--version", type=int, default=embedded.DEFAULT_VERSION)
    parser.add_argument("--scale", type=float, default=1.0, help="the fraction of the five years")
    parser.add_argument("--history", type=float, help="the fraction of what has been; as --scale")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--sessions", type=int, default=8)
    parser.add_argument("--pace", type=float, default=1.0, help="how many times as busy")
    parser.add_argument("--only", choices=["fill", "hour", "report"])
    parser.add_argument("--save", type=Path, help="a file that keeps the figures of the hour")
    parser.add_argument("--beside", type=Path, help="figures of another scale to compare with")
    parser.add_argument("--database", default=DATABASE)
    given = parser.parse_args()
    if given.only == "report" and given.save is None:
        parser.error("--only report reads the figures that --save names")
    if given.only == "report":
        figures = json.loads(given.save.read_text())
    else:
        with server(given.dsn, given.home, given.version) as address:
            dsn = make_conninfo(address, dbname=given.database)
            if given.only != "hour":
                new_database(address, given.database)
                with psycopg.connect(dsn, autocommit=True) as conn:
                    fill(
                        conn,
                        Size.of(given.scale, given.history or given.scale),
                        lambda text: print(text, flush=True),
                    )
            if given.only == "fill":
                return
            figures = play(dsn, given.minutes, given.sessions, given.pace)
        if given.save:
            given.save.write_text(json.dumps(figures))
    report(figures)
    if given.beside:
        compare(figures, json.loads(given.beside.read_text()))


if __name__ == "__main__":
    main()
