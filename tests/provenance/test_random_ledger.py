"""Runs of many Modules in several sessions, in any order of their commits: no reader is missed.

Each run notes for itself whose rows each of its reads showed; that is the truth. The ledger knows
only what Modules declare and what runs record. So each reader that the truth has must be among
those of `readers_of`, in whatever order the sessions commit; where the ledger claims to be exact,
the truth must have it; and who began after an undo was committed has not read what it undid.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from support.lots import seeds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.database import Connection

pytestmark = pytest.mark.random

STAMP = "omd_insert_module_instance_id"
# Each Module reads these and writes one table of its own name.
READS = {"a": [], "b": ["a"], "c": ["a", "b"], "d": ["v_b", "p1"], "p": ["a"], "e": ["a", "d"]}
UNDER = {"v_b": "b", "p1": "p"}  # a view stands for its table, a partition for its parent


class World:
    """The sessions, the runs, and what each of them saw."""

    def __init__(self, connect: Callable[..., Connection], seed: int) -> None:
        self.lots = random.Random(seed)
        self.connect = connect
        self.conn = connect()
        self.free: list[Connection] = []
        self.saw: dict[int, set[int]] = {}  # what the reads of a run showed
        self.module: dict[int, str] = {}
        self.clock = 0
        self.began: dict[int, int] = {}
        self.undone_at: dict[int, int] = {}  # when an undo was committed
        self.busy: set[str] = set()
        self.failed: set[int] = set()  # and not yet undone
        for code in READS:
            if code == "p":
                self.conn.execute(
                    f"CREATE TABLE w.p (n integer, {STAMP} bigint) PARTITION BY LIST (n);"
                    " CREATE TABLE w.p1 PARTITION OF w.p DEFAULT".encode()
                )
            else:
                self.conn.execute(f"CREATE TABLE w.{code} (n integer, {STAMP} bigint)".encode())
            if code == "b":
                self.conn.execute("CREATE VIEW w.v_b AS SELECT * FROM w.b")
            self.conn.execute("CALL omd.register_module(%s, 'HSTG', %s)", (code, f"w.{code}"))
        for code, reads in READS.items():
            if code != "e":  # it records what it reads
                tables = [f"w.{table}" for table in reads]
                self.conn.execute("CALL omd.declare_inputs(%s, %s::text[])", (code, tables))

    def session(self) -> Connection:
        return self.free.pop() if self.free else self.connect()

    def read(self, conn: Connection, run: int, code: str) -> None:
        """Read some inputs, and note whose rows were there."""
        for table in READS[code]:
            if self.lots.random() < 0.4:
                continue
            if code == "e":
                chosen = self.chosen(run, table)
                rows = conn.execute(
                    f"SELECT DISTINCT {STAMP} AS s FROM w.{table}"
                    f" WHERE %(c)s::bigint[] IS NULL OR {STAMP} = ANY(%(c)s)".encode(),
                    {"c": chosen},
                )
            else:
                rows = conn.execute(f"SELECT DISTINCT {STAMP} AS s FROM w.{table}".encode())
            self.saw[run].update(row["s"] for row in rows)

    def chosen(self, run: int, table: str) -> list[int] | None:
        """Record a read before it is made: of certain runs, or of all that is visible."""
        ids = [i for i, code in self.module.items() if code == table and self.lots.random() < 0.5]
        chosen = ids if self.lots.random() < 0.6 else None
        self.conn.execute("CALL omd.record_input(%s, %s, %s)", (f"w.{table}", run, chosen))
        return chosen

    def write(self, conn: Connection, run: int, code: str) -> None:
        conn.execute(f"INSERT INTO w.{code} VALUES (1, %s)".encode(), (run,))

    def begin(self, conn: Connection, code: str) -> tuple[int, list[int]]:
        row = conn.execute("CALL omd.begin_module(%s)", (code,)).fetchone()
        assert row is not None
        assert row["p_processing_indicator"] == "P"
        run = row["p_module_instance_id"]
        self.module[run] = code
        self.saw[run] = set()
        return run, row["p_instance_array"] or []

    def undone(self, runs: list[int]) -> None:
        self.failed -= set(runs)
        for run in runs:
            self.undone_at.setdefault(run, self.clock)

    def run(self, code: str) -> Iterator[None]:
        """One run of a Module, which stops between any two of its statements."""
        conn = self.session()
        is_whole = self.lots.random() < 0.5  # rows and success are one transaction
        undoes_late = self.lots.random() < 0.4
        began = self.clock
        if undoes_late:
            conn.execute("BEGIN")
        run, array = self.begin(conn, code)
        self.began[run] = began
        if undoes_late:
            for _ in range(12):  # others begin and read what is not committed yet
                yield
            if self.lots.random() < 0.3:  # undo and success are one commit
                conn.execute("CALL omd.module_success(%s)", (run,))
                yield
                conn.execute("COMMIT")
                self.undone(array)
                self.free.append(conn)
                return
            conn.execute("COMMIT")
        self.undone(array)
        yield
        if is_whole:
            conn.execute("BEGIN")
            conn.execute("SELECT omd.note_one_transaction(%s)", (run,))
        steps: list[Callable[..., None]] = [self.read, self.write, self.read]
        for step in steps:
            step(conn, run, code)
            yield
        if self.lots.random() < 0.2:
            if is_whole:
                conn.execute("ROLLBACK")
            conn.execute("CALL omd.module_failure(%s)", (run,))
            self.failed.add(run)
        else:
            conn.execute("CALL omd.module_success(%s)", (run,))
            yield
            if is_whole:
                conn.execute("COMMIT")
        self.free.append(conn)

    def play(self, steps: int) -> None:
        """Go on with any of the runs at work, or begin another, or ask for an undo."""
        at_work: list[tuple[str, Iterator[None]]] = []
        for number in range(steps):
            self.clock = number + 1
            idle = [code for code in READS if code not in self.busy]
            if number < steps - 60 and idle and self.lots.random() < 0.35:
                code = self.lots.choice(idle)
                self.busy.add(code)
                at_work.append((code, self.run(code)))
            elif number < steps - 60 and self.lots.random() < 0.12:
                self.ask_undo()
            if not at_work:
                continue
            at = self.lots.randrange(len(at_work))
            code, generator = at_work[at]
            try:
                next(generator)
            except StopIteration:
                at_work.pop(at)
                self.busy.discard(code)
        for _, generator in at_work:
            for _ in generator:
                pass

    def ask_undo(self) -> None:
        idle = [code for code in READS if code not in self.busy]
        self.conn.execute(
            "UPDATE omd.module_instance SET next_run_indicator = 'R' WHERE module_instance_id = ("
            " SELECT mi.module_instance_id FROM omd.module_instance AS mi JOIN omd.module"
            " USING (module_id) WHERE module_code = ANY(%s) AND execution_status_code = 'S'"
            " AND rolled_back_by_module_instance_id IS NULL ORDER BY hashint8("
            " mi.module_instance_id + %s) LIMIT 1)",
            (idle, self.clock),
        )

    def standing(self) -> set[int]:
        rows = self.conn.execute(
            "SELECT module_instance_id AS id FROM omd.module_instance WHERE"
            " execution_status_code = 'S' AND rolled_back_by_module_instance_id IS NULL"
            " AND next_run_indicator <> 'R' AND module_id IS NOT NULL"
        )
        return {row["id"] for row in rows}

    def closure(self, run: int, standing: set[int]) -> set[int]:
        found: set[int] = set()
        level = {run}
        while level:
            level = {r for r in standing if self.saw[r] & level} - found - {run}
            found |= level
        return found


@pytest.mark.parametrize("seed", seeds(6))
def test_no_reader_is_missed_in_any_order_of_commits(
    connect: Callable[..., Connection], seed: int
) -> None:
    connect().execute("CREATE SCHEMA w")
    world = World(connect, seed)
    world.play(500)
    standing = world.standing()
    readers = {
        run: world.conn.execute("SELECT * FROM omd_provenance.readers_of(%s)", (run,)).fetchall()
        for run in world.module
    }
    assert sum(map(bool, world.saw.values())) > 20, "the world has hardly any reader"
    assert len(world.undone_at) > 3, "the world has hardly any undo"
    for run, found in readers.items():
        ids = {row["module_instance_id"] for row in found}
        assert len(ids) == len(found), f"{run}: a reader is found twice"
        direct = {row["module_instance_id"] for row in found if row["distance"] == 1}
        missed = {r for r in standing if run in world.saw[r]} - {run} - direct
        assert not missed, f"{missed} have read {run}"
        missed = world.closure(run, standing) - ids
        assert not missed, f"{missed} have read what was made of {run}"
        assert ids <= standing
        for row in found:
            if row["is_exact"]:
                assert row["module_code"] == "e"
            began_later = (
                run in world.undone_at
                and row["distance"] == 1
                and (world.began[row["module_instance_id"]] > world.undone_at[run])
            )
            # What a run has recorded by ids it has read, whether the rows were there or not.
            assert not began_later or row["is_exact"], f"{row} began after {run} was undone"
    # The way back is the same way.
    edges = {
        way: {
            (row[a], row[b], row["table_code"])
            for row in world.conn.execute(
                f"SELECT * FROM omd_provenance.direct_{way}s(%s, TRUE)".encode(),
                (list(world.module),),
            )
        }
        for way, a, b in (
            ("reader", "source_instance_id", "module_instance_id"),
            ("source", "module_instance_id", "reader_instance_id"),
        )
    }
    assert edges["reader"] == edges["source"]
    stale = world.conn.execute("SELECT * FROM omd_report.stale_runs").fetchall()
    pairs = {(row["module_instance_id"], row["source_instance_id"]) for row in stale}
    assert pairs == {
        (row["module_instance_id"], run)
        for run, found in readers.items()
        for row in found
        if row["distance"] == 1 and run not in standing and run not in world.failed
    }
    # What nobody has read is forgotten, and nothing else.
    world.conn.execute("SET omd.maintenance = 'omd_provenance.forget_unread'")
    world.conn.execute("SELECT omd_provenance.forget_unread()")
    left = world.conn.execute("SELECT * FROM omd_report.stale_runs").fetchall()
    assert sorted(map(repr, left)) == sorted(map(repr, stale))
    every = {
        row["module_instance_id"]
        for row in world.conn.execute(
            "SELECT * FROM omd_provenance.direct_readers(%s, TRUE)", (list(world.module),)
        )
    }
    assert {r for r, saw in world.saw.items() if saw - {r}} <= every
