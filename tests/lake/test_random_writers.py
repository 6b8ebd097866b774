"""Random runs and random other writers on one table, against a model of which rows must stand.

The model is the rule itself: after a rollback the table holds what the history of its current
version gives when the runs that are undone had never been there. Others append, delete, overwrite,
return to former versions, expire and vacuum in between.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import DeltaError
from pyiceberg.expressions import EqualTo
from pyiceberg.table import StaticTable

import omd
import omd.lake
from omd.tables.maintenance import maintain
from support.lots import seeds

from .programs import lake_of, write, write_delta
from .test_crashes import control
from .test_other_writers import Engine, modules, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["control", "modules"]

STEPS = 10


@dataclass
class Op:
    """What one version of the table has done.

    Attributes:
        kind: ADD, OVERWRITE, REMOVE, CLEAR (nothing of what was live is left) or NONE.
        rows: what came; of a REMOVE, what went.
        run: who did it; None: no run.
        after: the rows of the table since.
        parent: the version that it was made from.
    """

    kind: str
    rows: set[int]
    run: int | None
    after: set[int]
    parent: Any


@dataclass
class Model:
    """The table as it must be."""

    rows: set[int] = field(default_factory=set)
    stamps: dict[int, int | None] = field(default_factory=dict)
    history: dict[Any, Op] = field(default_factory=dict)
    current: Any = None
    gone: set[int] = field(default_factory=set)
    dead: set[int] = field(default_factory=set)  # nobody has their files any more
    next_row: int = 0

    def new(self, count: int, run: int | None = None) -> list[int]:
        rows = list(range(self.next_row, self.next_row + count))
        self.next_row += count
        self.stamps.update(dict.fromkeys(rows, run))
        return rows

    def did(self, version: Any, kind: str, rows: Any = (), run: int | None = None) -> None:
        now = set(self.rows)
        if kind in ("ADD", "OVERWRITE"):
            now = now | set(rows) if kind == "ADD" else set(rows)
        elif kind == "REMOVE":
            now -= set(rows)
        elif kind == "CLEAR":
            now &= set(rows)
        self.history[version] = Op(kind, set(rows), run, now, self.current)
        self.rows, self.current = now, version

    def lineage(self) -> list[Op]:
        found = []
        version = self.current
        while version in self.history:
            found.append(self.history[version])
            version = self.history[version].parent
        return found[::-1]

    def revives(self, version: Any) -> bool:
        """Whether rows or overwrites of runs that are undone would live again."""
        was, self.current = self.current, version
        alive = self.without(set())
        told = self.history[version].after
        self.current = was
        return alive != told

    def without(self, runs: set[int]) -> set[int]:
        """Return the rows that stand if these runs, and those undone before, had never been."""
        gone = self.gone | runs
        lineage = self.lineage()
        if not lineage:
            return set()
        first, *others = lineage
        rows = set(first.after)
        if first.parent is None and first.run in gone and first.kind != "NONE":
            rows = set()
        for op in others:
            if op.run in gone:
                continue
            if op.kind == "ADD":
                rows |= op.rows
            elif op.kind == "OVERWRITE":
                rows = set(op.rows)
            elif op.kind == "REMOVE":
                rows -= op.rows
            elif op.kind == "CLEAR":
                rows &= op.after
        rows = {row for row in rows if self.stamps[row] not in gone}
        return rows - (self.dead - self.rows)

    def undid(self, version: Any, runs: set[int]) -> None:
        expected = self.without(runs)
        self.gone |= runs
        if version != self.current:
            self.history[version] = Op("NONE", set(), None, expected, self.current)
        self.rows, self.current = expected, version


class Fails(Exception):  # noqa: N818
    """The job fails."""


class World:
    """The real table, and the model beside it."""

    def __init__(self, control: omd.Control, seed: int) -> None:
        self.control = control
        self.chance = random.Random(seed)
        self.model = Model()
        self.pending: dict[str, set[int]] = {"m_lake": set(), "m_other": set()}
        self.succeeded: dict[int, str] = {}
        self.log: list[str] = []

    # Of a format --------------------------------------------------------------------------------

    def put(self, run: Any, ids: list[int], mode: str) -> None:
        raise NotImplementedError

    def version(self) -> Any:
        raise NotImplementedError

    def read(self) -> list[int]:
        raise NotImplementedError

    def other(self) -> None:
        raise NotImplementedError

    def maintained(self, keep: timedelta) -> None:
        done = maintain(self.control, ["lake.one"], keep=keep)
        assert all(row.problem is None for row in done), done

    # Of OMD -------------------------------------------------------------------------------------

    def begin(self, module: str, job: Callable[[Any], None]) -> Any:
        """Run a Module; what is pending is taken back first."""
        undone, self.pending[module] = self.pending[module], set()
        before = set(self.model.rows)

        def all_of_it(run: Any) -> None:
            if undone:
                self.model.undid(self.version(), undone)
                self.check(f"{run} has taken back {undone}, before {sorted(before)}")
            job(run)

        outcome = self.control.run(module, all_of_it)
        assert outcome.error is None or isinstance(outcome.error, Fails), outcome.error
        return outcome

    def run(self, mode: str = "", end: str = "") -> int:
        module = self.chance.choice(list(self.pending))
        mode = mode or self.chance.choice(["append", "append", "overwrite"])
        end = end or self.chance.choice(["succeeds", "fails", "fails after its commit"])

        def job(run: Any) -> None:
            ids = self.model.new(self.chance.randint(1, 3), run.instance_id)
            self.log.append(f"{run.instance_id} of {module}: {mode} {ids}, {end}")
            self.put(run, ids, mode)
            if end != "fails":
                lake_of(run).commit()
                kind = "ADD" if mode == "append" else "OVERWRITE"
                self.model.did(self.version(), kind, ids, run.instance_id)
            if end != "succeeds":
                raise Fails

        outcome = self.begin(module, job)
        if end == "succeeds":
            self.succeeded[outcome.instance_id] = module
        else:
            self.pending[module].add(outcome.instance_id)
        return int(outcome.instance_id)

    def duel(self) -> None:
        """A run overwrites the table, others follow, and it is taken back."""
        runs = [self.run("overwrite", "succeeds") for _ in range(self.chance.randint(1, 2))]
        for _ in range(self.chance.randint(1, 2)):
            self.other()
            self.check("other")
        if self.chance.random() < 0.5:
            self.run("append", "succeeds")
        self.take_back(self.chance.choice(runs))

    def take_back(self, first: int = 0) -> None:
        first = first or self.chance.choice([*self.succeeded, 0])
        if first not in self.succeeded:
            return
        module = self.succeeded[first]
        ours = [run for run, of in self.succeeded.items() if of == module and run != first]
        more = self.chance.sample(ours, min(len(ours), self.chance.choice([0, 0, 1])))
        for run in (first, *more):
            self.log.append(f"take back {run} of {module}")
            self.control.calls.omd.set_next_run_indicator("R", module_instance_id=run)
            self.pending[module].add(run)
            del self.succeeded[run]
        self.begin(module, lambda _: None)

    def check(self, what: str) -> None:
        found = self.read()
        assert found == sorted(self.model.rows), "\n".join([*self.log, what])

    def go(self) -> None:
        self.run()
        for _ in range(STEPS):
            step = self.chance.choices(
                [self.run, self.duel, self.take_back, self.other, self.maintain],
                [3, 5, 2, 3, 1],
            )[0]
            step()
            self.check(step.__name__)

    def maintain(self) -> None:
        keep = timedelta(0 if self.chance.random() < 0.4 else 1)
        self.log.append(f"maintain {keep}")
        self.maintained(keep)


# Iceberg ------------------------------------------------------------------------------------------


class Iceberg(World):
    def __init__(self, control: omd.Control, seed: int, conn: Any) -> None:
        super().__init__(control, seed)
        self.catalogues = [Engine(control, conn), omd.lake.catalog(control)]

    def put(self, run: Any, ids: list[int], mode: str) -> None:
        write(run, "lake.one", ids, mode)

    def table(self) -> Any:
        try:
            return self.chance.choice(self.catalogues).load_table("lake.one")
        except omd.errors.OmdError:
            return None

    def version(self) -> Any:
        return self.table().metadata.current_snapshot_id

    def read(self) -> list[int]:
        location = self.table().metadata_location
        static = StaticTable.from_metadata(location)
        rows: list[int] = static.scan().to_arrow()["id"].to_pylist()
        return sorted(rows)

    def maintained(self, keep: timedelta) -> None:
        super().maintained(keep)
        kept = {s.snapshot_id for s in self.table().snapshots()}
        self.model.history = {v: op for v, op in self.model.history.items() if v in kept}

    def other(self) -> None:
        table = self.table()
        rows = self.model.rows
        how = self.chance.choice(
            ["append", "overwrite", "delete", "delete all", "return", "expire"]
        )
        if how == "append":
            ids = self.model.new(2)
            self.log.append(f"another appends {ids}")
            table.append(rows_of(ids))
            self.model.did(self.version(), "ADD", ids)
        elif how == "return":
            known = [s.snapshot_id for s in table.snapshots()][-6:]
            version = self.chance.choice([*known, None])
            if version not in self.model.history or self.model.revives(version):
                return
            self.log.append(f"another returns to {sorted(self.model.history[version].after)}")
            table.manage_snapshots().set_current_snapshot(version).commit()
            self.model.current = version
            self.model.rows = set(self.model.history[version].after)
        elif how == "expire":
            old = [s.snapshot_id for s in table.snapshots()]
            old = [s for s in old if s != self.model.current]
            if old and self.chance.random() < 0.3:
                version = self.chance.choice(old)
                self.log.append(f"another expires {version}: {self.model.history.get(version)}")
                table.maintenance.expire_snapshots().by_id(version).commit()
                self.model.history.pop(version, None)
        elif rows:
            ids = [self.chance.choice(sorted(rows))] if how == "delete" else []
            new = self.model.new(1) if how == "overwrite" else []
            self.log.append(f"another: {how} {ids} {new}")
            before = {task.file.file_path for task in table.scan().plan_files()}
            known = {s.snapshot_id for s in table.snapshots()}
            if how == "overwrite":
                table.overwrite(rows_of(new))
            else:
                table.delete(EqualTo("id", ids[0]) if ids else "id >= 0")
            table = self.table()
            removals = [
                s.snapshot_id
                for s in table.snapshots()
                if s.snapshot_id not in known and s.summary.operation.value != "append"
            ]
            for version in removals:
                scan = table.scan(snapshot_id=version)
                after = {task.file.file_path for task in scan.plan_files()}
                left = set(scan.to_arrow()["id"].to_pylist())
                kind = "REMOVE" if before & after else "CLEAR"
                self.model.did(version, kind, left if kind == "CLEAR" else rows - left)
                before = after
            if new:
                self.model.did(self.version(), "ADD", new)


@pytest.mark.random
@pytest.mark.parametrize("seed", seeds(1))
def test_of_iceberg_stands_what_the_runs_that_stand_and_the_others_have_left(
    modules: omd.Control, conn: Any, seed: int
) -> None:
    Iceberg(modules, seed, conn).go()


# Delta --------------------------------------------------------------------------------------------


class DeltaWorld(World):
    def __init__(self, control: omd.Control, seed: int, folder: Path) -> None:
        super().__init__(control, seed)
        self.folder = folder

    def put(self, run: Any, ids: list[int], mode: str) -> None:
        write_delta(run, "lake.one", ids, mode)

    def version(self) -> int:
        return DeltaTable(self.folder).version()

    def read(self) -> list[int]:
        table = DeltaTable(self.folder)
        paths = table.file_uris()
        assert len(paths) == len(set(paths)), self.log
        rows: list[int] = table.to_pyarrow_table()["id"].to_pylist()
        return sorted(rows)

    def follow(self) -> None:
        """Take over versions that change nothing."""
        version = self.version()
        if version != self.model.current:
            self.model.did(version, "NONE")

    def maintained(self, keep: timedelta) -> None:
        super().maintained(keep)
        self.follow()
        if keep == timedelta(0):
            first = min(int(path.stem) for path in (self.folder / "_delta_log").glob("*.json"))
            self.model.history = {v: op for v, op in self.model.history.items() if v >= first}
            self.model.dead |= set(self.model.stamps) - self.model.rows

    def other(self) -> None:
        table = DeltaTable(self.folder)
        rows = self.model.rows
        how = self.chance.choice(
            ["append", "overwrite", "delete", "delete all", "return", "vacuum"]
        )
        if how == "append":
            ids = self.model.new(2)
            self.log.append(f"another appends {ids}")
            write_deltalake(self.folder, rows_of(ids), mode="append")
            self.model.did(self.version(), "ADD", ids)
        elif how == "overwrite":
            ids = self.model.new(1)
            self.log.append(f"another overwrites {ids}")
            write_deltalake(self.folder, rows_of(ids), mode="overwrite")
            self.model.did(self.version(), "OVERWRITE", ids)
        elif how == "return":
            version = self.chance.randint(max(1, table.version() - 5), table.version())
            if version not in self.model.history or self.model.revives(version):
                return
            self.log.append(f"another returns to {sorted(self.model.history[version].after)}")
            try:
                table.restore(version)
            except DeltaError:  # a file of it is gone
                return
            self.model.current = version
            self.model.rows = set(self.model.history[version].after)
            self.model.did(self.version(), "NONE")
        elif how == "vacuum":
            self.log.append("another vacuums")
            table.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
            self.follow()
            self.model.dead |= set(self.model.stamps) - self.model.rows
        elif rows:
            ids = [self.chance.choice(sorted(rows))] if how == "delete" else sorted(rows)
            self.log.append(f"another: {how} {ids}")
            table.delete(f"id = {ids[0]}" if how == "delete" else None)
            if how == "delete":
                self.model.did(self.version(), "REMOVE", ids)
            else:
                self.model.did(self.version(), "CLEAR")


@pytest.mark.random
@pytest.mark.parametrize("modules", ["DELTA"], indirect=True)
@pytest.mark.parametrize("seed", seeds(1))
def test_of_delta_stands_what_the_runs_that_stand_and_the_others_have_left(
    modules: omd.Control, tmp_path: Path, seed: int
) -> None:
    DeltaWorld(modules, seed, tmp_path / "one").go()
