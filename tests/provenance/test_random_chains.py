"""Chains of ten, diamonds, tables read twice, late commits and roles: nothing that stands is stale.

A Module makes rows, now and then in a transaction that commits while others read. Ten topics hand
them on, one after the other; more of them branch off, and Modules bring the branches together
again. Then an administrator, who owns nothing, recalls any run. After the flow forward each table
has what the one before it has, and no run that stands has read one that does not: that is judged
by stamps that the test reads right after each run.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from provenance.recalls import Recalls
from support.lots import seeds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ID = "omd_insert_module_instance_id"
STAMP = "current_setting('omd.module_instance_id')::bigint"
LENGTH = 10
BY_STAMP = {"pos_column": "omd_insert_datetime", "id_column": "row_id"}
STANDS = (
    "execution_status_code = 'S' AND rolled_back_by_module_instance_id IS NULL"
    " AND next_run_indicator <> 'R'"
)


class World:
    """The graph, and what each run has read."""

    def __init__(self, connect: Callable[..., Any], seed: int) -> None:
        self.lots = random.Random(seed)
        self.conn = connect()
        self.conn.prepare_threshold = None
        self.flow = Recalls(self.conn)
        self.late = Recalls(connect())
        self.admin = Recalls(connect(role="omd_admin"))
        self.base: dict[str, str] = {}  # of each topic
        self.whole: set[str] = set()  # topics that read their base beside the block
        self.read: dict[str, list[str]] = {"make": []}  # by each Module, besides the topics
        self.saw: dict[int, set[int]] = {}
        self.open: Iterator[None] | None = None
        self.log: list[Any] = []

    # The graph

    def table(self, name: str) -> None:
        self.conn.execute(
            f"CREATE TABLE app.{name} (v bigint, row_id bigint GENERATED ALWAYS AS IDENTITY,"
            f" {ID} bigint, omd_insert_datetime timestamptz NOT NULL DEFAULT clock_timestamp())"
        )

    def topic(self, name: str, base: str) -> None:
        self.table(name)
        self.base[name] = base
        self.conn.execute(
            f"CREATE VIEW app.v_{name} AS SELECT b.v FROM app.{base} AS b"
            " WHERE omd_lineage.in_block(b.omd_insert_datetime, b.row_id)"
        )
        how: dict[str, Any] = {"maxstep": self.lots.choice([3, 7, 100])}
        if self.lots.random() < 0.3:
            self.conn.execute(f"CREATE UNIQUE INDEX ON app.{name} (v)")
            how["merge_key"] = ["v"]
        self.flow.call(
            "omd_lineage.register_topic",
            topic=f"app.{name}",
            depends_on=[f"app.{base}"],
            transforms=[f"app.v_{name}"],
            start_pos="-infinity",
            **BY_STAMP,
            **how,
        )

    def beside(self, name: str, base: str) -> None:
        """A topic whose rows carry how many rows the base had, which it reads a second time."""
        self.topic(name, base)
        self.conn.execute(
            f"CREATE OR REPLACE VIEW app.v_{name} AS SELECT b.v FROM app.{base} AS b"
            " WHERE omd_lineage.in_block(b.omd_insert_datetime, b.row_id)"
            f" AND (SELECT count(*) FROM app.{base}) > 0"
        )
        self.whole.add(name)
        self.flow.call(
            "omd_lineage.register_topic", topic=f"app.{name}", depends_on=[f"app.{base}"]
        )

    def totals(self, name: str, base: str) -> None:
        """A topic with a total of each key: its second view reads the base whole."""
        self.conn.execute(
            f"CREATE TABLE app.{name} (k bigint, v numeric, {ID} bigint, omd_insert_datetime"
            " timestamptz NOT NULL DEFAULT clock_timestamp());"
            f"CREATE VIEW app.touched_{name} AS SELECT b.v % 3 AS k FROM app.{base} AS b"
            " WHERE omd_lineage.in_block(b.omd_insert_datetime, b.row_id);"
            f"CREATE VIEW app.v_{name} AS SELECT b.v % 3 AS k, sum(b.v) AS v FROM app.{base} AS b"
            " GROUP BY b.v % 3"
        )
        self.base[name] = base
        self.whole.add(name)
        self.flow.call(
            "omd_lineage.register_topic",
            topic=f"app.{name}",
            depends_on=[f"app.{base}"],
            transforms=[f"app.touched_{name}", f"app.v_{name}"],
            recompute_key=["k"],
            maxstep=self.lots.choice([3, 7, 100]),
            **BY_STAMP,
        )

    def module(self, name: str, *reads: str) -> None:
        self.table(name)
        self.read[name] = [*reads]
        rows = " UNION ALL ".join(f"SELECT v FROM app.{table}" for table in reads)
        self.flow.call(
            "register_module",
            module_code=name,
            area_code="HSTG",
            table_code=f"app.{name}",
            executable=f"INSERT INTO app.{name} (v, {ID}) SELECT v, {STAMP} FROM ({rows}) AS r",
        )
        self.flow.call(
            "declare_inputs", module_code=name, tables=[f"app.{table}" for table in reads]
        )

    def graph(self) -> None:
        self.conn.execute("CREATE SCHEMA app")
        self.table("n0")
        self.flow.call(
            "register_module",
            module_code="make",
            area_code="HSTG",
            table_code="app.n0",
            executable=f"INSERT INTO app.n0 (v, {ID}) SELECT {STAMP} * 10 + n, {STAMP}"
            " FROM generate_series(0, 2) AS n",
        )
        self.flow.call("declare_inputs", module_code="make", tables=[])
        for n in range(1, LENGTH + 1):
            self.topic(f"n{n}", f"n{n - 1}")
        at = self.lots.randrange(LENGTH)
        self.topic("west", f"n{at}")
        self.topic("east", f"n{at}")
        self.beside("beside", f"n{self.lots.randrange(LENGTH)}")
        self.totals("totals", f"n{self.lots.randrange(LENGTH)}")
        self.conn.execute("CREATE VIEW app.again AS SELECT w.v FROM app.west AS w")
        self.module("both", "west", "east", "again")  # a diamond, and a table twice
        self.module("last", f"n{LENGTH}", "both", f"n{self.lots.randrange(LENGTH)}")
        self.conn.execute(
            "GRANT USAGE ON SCHEMA app TO omd_admin;"
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA app TO omd_admin"
        )

    # Acts

    def go(self, code: str, *, by: Recalls | None = None) -> None:
        ran = (by or self.flow).call("run_module", module_code=code)
        self.log.append((code, ran["module_instance_id"], ran["execution_status_code"]))
        assert ran["execution_status_code"] in {"S", "C"}, (ran, self.log)
        if ran["execution_status_code"] == "S":
            self.note(code.removeprefix("app."), ran["module_instance_id"])

    def note(self, name: str, run: int) -> None:
        """Note whose rows the run could read: those in its window, or all."""
        rows = self.flow.rows
        if name in self.whole:
            found = rows(f"SELECT DISTINCT {ID} AS id FROM app.{self.base[name]}")
        elif name in self.base:
            found = rows(
                f"SELECT DISTINCT b.{ID} AS id FROM app.{self.base[name]} AS b"
                " CROSS JOIN omd.source_control AS w WHERE w.module_instance_id = %s"
                " AND (w.start_value IS NULL OR (b.omd_insert_datetime, b.row_id)"
                " > (w.start_value, coalesce(w.start_id, 9223372036854775807)))"
                " AND (b.omd_insert_datetime, b.row_id)"
                " <= (w.end_value, coalesce(w.end_id, 9223372036854775807))",
                run,
            )
        else:
            tables = ["west" if table == "again" else table for table in self.read[name]]
            found = [r for t in tables for r in rows(f"SELECT DISTINCT {ID} AS id FROM app.{t}")]
        self.saw[run] = {row["id"] for row in found}

    def commit_late(self) -> Iterator[None]:
        """Make rows that others do not see before they have gone on."""
        run = self.late.begin_module("make").id
        with self.late.conn.transaction():
            self.late.rows("SELECT omd.note_one_transaction(%s)", run)
            self.late.conn.execute(
                f"INSERT INTO app.n0 (v, {ID}) SELECT {run} * 10 + n, {run}"
                " FROM generate_series(0, 2) AS n"
            )
            self.late.call("module_success", module_instance_id=run)
            self.log.append(("late", run))
            yield
        self.saw[run] = set()

    def end_late(self) -> None:
        if self.open is not None:
            assert next(self.open, "ended") == "ended"
            self.open = None

    def drain(self, most: int = 100) -> None:
        for _ in range(most):
            ready = self.flow.rows(
                "SELECT code FROM omd_report.ready_work WHERE code <> 'make' OR reason = 'RECALLED'"
                " ORDER BY code"
            )
            if not ready:
                return
            for row in self.lots.sample(ready, len(ready)):
                self.go(row["code"])
        assert most < 100, f"it does not come to an end: {self.log[-30:]}"

    def play(self) -> None:
        for _ in range(self.lots.randint(3, 5)):
            dice = self.lots.random()
            if dice < 0.3 and self.open is None:
                self.open = self.commit_late()
                next(self.open)
            elif self.open is not None and dice < 0.7:
                self.end_late()
            elif self.open is None:
                self.go("make")
            self.drain(self.lots.choice([1, 3, 8]))
            self.go(self.lots.choice(["both", "last"]))
        self.end_late()
        self.drain()

    # What must be

    def standing(self) -> set[int]:
        rows = self.flow.rows(
            f"SELECT module_instance_id AS id FROM omd.module_instance WHERE {STANDS}"
        )
        return {row["id"] for row in rows}

    def values(self, name: str, where: str = "TRUE") -> list[int]:
        return [
            r["v"] for r in self.flow.rows(f"SELECT v FROM app.{name} WHERE {where} ORDER BY v")
        ]

    def check_reads(self) -> None:
        stands = self.standing()
        bad = {run: self.saw[run] - stands for run in stands & self.saw.keys()}
        assert {run: gone for run, gone in bad.items() if gone} == {}

    def check(self) -> None:
        stands = self.standing()
        for name, base in self.base.items():
            if name == "totals":
                assert self.flow.rows(
                    f"SELECT mod(v, 3) AS k, sum(v) AS v FROM app.{base} GROUP BY 1 ORDER BY 1"
                ) == self.flow.rows("SELECT k, v FROM app.totals ORDER BY k"), self.log
                continue
            assert self.values(name) == self.values(base), (name, self.log)
        made = [run for run in self.saw if self.kind(run) == "make" and run in stands]
        assert self.values("n0") == sorted(run * 10 + n for run in made for n in range(3))
        for row in self.flow.rows(
            "SELECT DISTINCT code FROM omd_report.recall_returns WHERE return_status = 'DONE'"
            " AND code <> 'make'"
        ):
            name = row["code"]
            run = max(r for r in stands & self.saw.keys() if self.kind(r) == name)
            assert self.saw[run] <= stands
        assert self.flow.rows("SELECT * FROM omd_report.stale_runs") == []
        left = self.flow.rows("SELECT * FROM omd_report.work WHERE reason = 'RECALLED'")
        assert left == []
        for table in ("window_return", "module_return"):
            count = f"SELECT count(*) FROM omd.{table} WHERE ended_datetime IS NULL"
            assert self.flow.one(count) == 0

    def kind(self, run: int) -> str:
        return str(
            self.flow.one(
                "SELECT module_code FROM omd.module_instance INNER JOIN omd.module USING"
                " (module_id) WHERE module_instance_id = %s",
                run,
            )
        )

    # The recall

    def recall(self, run: int) -> None:
        """Recall as one who may, after one who may not is told so."""
        before = self.standing()
        name = self.lots.choice(["n0", *self.base, "both"])
        self.conn.execute(f"REVOKE DELETE ON app.{name} FROM omd_admin")
        recall = self.admin.plan(run)
        items = self.admin.items(recall, "action", "table_code", "problem")
        blocked = {(action, p.partition(":")[0]) for action, _, p in items if p}
        assert blocked == (
            {("BLOCKED", "NO_RIGHT")} if f"app.{name}" in [t for _, t, _ in items] else set()
        )
        if blocked:
            self.admin.refused("OM191", "omd_provenance.recall", recall_id=recall, wait="0")
            assert self.standing() == before
        self.conn.execute(f"GRANT DELETE ON app.{name} TO omd_admin")
        recall = self.admin.plan(run)
        planned = self.admin.items(recall, "module_instance_id", "rows_go", "rows_back")
        self.log.append(("recall", run, planned))
        self.admin.recall(recall)
        assert planned == self.admin.items(
            recall, "module_instance_id", "rows_gone", "rows_returned"
        )
        assert before - self.standing() == {item[0] for item in planned}
        self.check_reads()


@pytest.mark.no_user_code("whoever recalls sees all rows, or the rest is unknown")
@pytest.mark.random
@pytest.mark.parametrize("seed", seeds(2))
def test_what_stands_on_a_recalled_run_goes_and_comes_again(
    connect: Callable[..., Any], seed: int
) -> None:
    world = World(connect, seed)
    world.graph()
    world.go("make")
    world.play()
    world.check()
    for _ in range(2):
        candidates = sorted(world.standing() & world.saw.keys())
        first = [run for run in candidates if world.kind(run) == "make"]
        world.recall(world.lots.choice(first if world.lots.random() < 0.5 else candidates))
        world.drain()
        world.check()
        world.check_reads()
