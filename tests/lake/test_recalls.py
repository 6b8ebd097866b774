"""A recall from the driver takes lake tables back in its own transaction, or leaves them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import make_conninfo

import omd
from omd.tables.run import LakeRun
from provenance.recalls import Recalls

from .programs import write, write_delta
from .test_crashes import seen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lake.conftest import Room

NOW = timedelta(0)


class Chain(Recalls):
    """The table dwh.a, and Modules that read it and write lake tables; the last writes dwh.c."""

    control: omd.Control

    def laid(self, control: omd.Control, folder: Path) -> None:
        self.control = control
        self.made("a")
        control.calls.omd_lake.register_namespace("lake", str(folder))
        self.into("one", "dwh.a")
        self.into("two", "lake.one")

    def into(self, name: str, reads: str, **attributes: Any) -> None:
        self.control.calls.omd.register_module(
            name,
            **{
                "area_code": "HSTG",
                "table_code": f"lake.{name}",
                "table_type_code": "HSTG",
                "platform_code": "SPARK",
                "table_format_code": "ICEBERG",
                **attributes,
            },
        )
        self.control.calls.omd.declare_inputs(name, [reads])

    def wrote(self, name: str, *ids: int, **options: Any) -> int:
        with self.control.module(name) as run:
            write(run, f"lake.{name}", list(ids), **options)
        return run.instance_id

    def planned(self, run: int) -> int:
        plan = self.control.calls.omd_provenance.plan_recall(module_instance_id=run, reason="wrong")
        assert plan.recall_id is not None
        return plan.recall_id

    def seen(self) -> list[list[int]]:
        return [seen(self.control, f"lake.{name}") for name in ("one", "two")]

    def operations(self) -> list[tuple[str, str]]:
        found = self.rows(
            "SELECT table_code AS t, operation AS o FROM omd_lake.table_commit ORDER BY commit_id"
        )
        return [(row["t"], row["o"]) for row in found]


@pytest.fixture
def chain(conn: Any, dsn: str, tmp_path: Path) -> Iterator[Chain]:
    conn.prepare_threshold = None
    chain = Chain(conn)
    with omd.connect(dsn, lease=None) as control:
        chain.laid(control, tmp_path)
        yield chain


def test_a_recall_takes_lake_tables_back_in_its_transaction(chain: Chain) -> None:
    first = [chain.go("a"), chain.wrote("one", 1), chain.wrote("two", 1)]
    bad = [chain.go("a"), chain.wrote("one", 2), chain.wrote("two", 2)]
    recall = chain.planned(bad[1])
    assert chain.items(recall, "action") == [("PENDING",)] * 2
    done = chain.control.provenance.recall(recall, wait=NOW)
    assert chain.seen() == [[1], [1]]
    assert chain.items(recall, "action", "module_instance_id") == [
        ("UNDO", bad[2]),
        ("UNDO", bad[1]),
    ]
    assert chain.operations()[-2:] == [("lake.one", "UNDO"), ("lake.two", "UNDO")]
    assert [chain.codes(module=run) for run in bad[1:]] == ["S P P"] * 2
    marks = chain.rows(
        "SELECT DISTINCT rolled_back_by_module_instance_id AS by FROM omd.module_instance"
        " WHERE module_instance_id = ANY (%s)",
        bad[1:],
    )
    assert marks == [{"by": done.instance_id}]
    assert chain.rows("SELECT FROM omd.pending_recall") == []
    assert set(first) <= set(chain.standing())
    # It comes again from outside, and nothing is rolled back a second time.
    again = [chain.wrote("one", 3), chain.wrote("two", 3)]
    assert chain.seen() == [[1, 3], [1, 3]]
    assert chain.rows("SELECT FROM omd.module_return WHERE ended_datetime IS NULL") == []
    assert set(again) <= set(chain.standing())


def test_plan_and_act_from_the_command_line_take_the_lake_along(
    chain: Chain, omd_here: Callable[..., Any], dsn: str
) -> None:
    bad = [chain.go("a"), chain.wrote("one", 1), chain.wrote("two", 1)]
    given = (f"run:{bad[0]}", "--reason", "wrong", "--execute", "--wait", "0")
    done = omd_here("recall", *given, "--output", "json", dsn=dsn)
    assert done.returncode == 0, done.stderr
    assert [row["action"] for row in json.loads(done.stdout)] == ["UNDO"] * 3
    assert chain.seen() == [[], []]
    assert chain.values("a") == []


def test_what_an_overwrite_removed_comes_back(chain: Chain) -> None:
    chain.go("a")
    chain.wrote("one", 1)
    bad = chain.wrote("one", 2, mode="overwrite")
    chain.control.provenance.recall(chain.planned(bad), wait=NOW)
    assert seen(chain.control, "lake.one") == [1]


@pytest.mark.parametrize("times", [1, 3])
def test_a_table_that_has_moved_on_is_staged_again_and_at_last_left(
    chain: Chain, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    from omd.tables.iceberg_run import IcebergUndo, Moved

    chain.go("a")
    bad = chain.wrote("one", 1)
    recall = chain.planned(bad)
    moved = []
    change = IcebergUndo.change

    def moving(self: Any, run: Any, table: Any) -> Any:
        if len(moved) < times:
            moved.append(table.code)
            raise Moved(table.code)
        return change(self, run, table)

    monkeypatch.setattr(IcebergUndo, "change", moving)
    if times < 3:
        chain.control.provenance.recall(recall, wait=NOW)
        assert seen(chain.control, "lake.one") == []
        return
    with pytest.raises(omd.errors.lookup("OM192")):
        chain.control.provenance.recall(recall, wait=NOW)
    assert seen(chain.control, "lake.one") == [1]
    moved.clear()
    chain.control.provenance.recall(recall, accept=["PENDING"], wait=NOW)
    assert chain.codes(module=bad) == "S P R"
    assert chain.items(recall, "action") == [("PENDING",)]


def test_a_commit_between_staging_and_act_stays(
    chain: Chain, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain.made("b")
    chain.into("other", "dwh.b", table_code="lake.one")
    chain.go("a")
    bad = chain.wrote("one", 1)
    recall = chain.planned(bad)
    committing = LakeRun._commit_tables
    others = []

    def meanwhile(self: LakeRun, *arguments: Any) -> None:
        monkeypatch.setattr(LakeRun, "_commit_tables", committing)
        with omd.connect(chain.control._dsn) as control, control.module("other") as run:
            write(run, "lake.one", [7])
        others.append(run.instance_id)
        committing(self, *arguments)

    monkeypatch.setattr(LakeRun, "_commit_tables", meanwhile)
    chain.control.provenance.recall(recall, wait=NOW)
    assert seen(chain.control, "lake.one") == [7]
    assert others[0] in chain.standing()


def test_a_refused_recall_leaves_the_lake_as_it_is(chain: Chain) -> None:
    chain.go("a")
    bad = chain.wrote("one", 1)
    recall = chain.planned(bad)
    chain.wrote("two", 2)  # has come since
    with pytest.raises(omd.errors.lookup("OM190")):
        chain.control.provenance.recall(recall, wait=NOW)
    assert chain.seen() == [[1], [2]]
    assert chain.rows("SELECT FROM omd_lake.table_commit WHERE operation = 'UNDO'") == []
    chain.control.provenance.recall(recall, accept=["GROWTH"], wait=NOW)
    assert chain.seen() == [[], []]


PROGRAM = """
import os, sys
import omd
from datetime import timedelta
from omd.rooms.lake.calls import LakeCalls
from omd.tables.run import LakeRun
from omd.rooms.provenance.calls import ProvenanceCalls

dsn, recall, point = sys.argv[1:]
def die(*_, **__):
    os._exit(9)
def dying(call):
    def wrapper(*arguments, **named):
        call(*arguments, **named)
        die()
    return wrapper
if point == "staged":
    ProvenanceCalls.recall = die
else:
    LakeCalls.commit_tables = dying(LakeCalls.commit_tables)
with omd.connect(dsn) as control:
    control.provenance.recall(int(recall), wait=timedelta(0))
"""


@pytest.mark.kill
@pytest.mark.parametrize("point", ["staged", "swapped"])
def test_a_killed_driver_has_done_nothing(chain: Chain, dsn: str, point: str) -> None:
    chain.go("a")
    bad = [chain.wrote("one", 1), chain.wrote("two", 1)]
    recall = chain.planned(bad[0])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, dsn, str(recall), point], check=False, env=os.environ
    )
    assert done.returncode == 9
    assert chain.seen() == [[1], [1]]
    assert chain.items(recall, "action") == [("PENDING",)] * 2
    assert set(bad) <= set(chain.standing())
    helper = chain.one(
        "SELECT max(module_instance_id) FROM omd.module_instance INNER JOIN omd.module AS m"
        " USING (module_id) WHERE module_code = 'omd_lake_recall'"
    )
    chain.control.calls.omd.module_failure(helper)
    chain.control.provenance.recall(recall, wait=NOW)
    assert chain.seen() == [[], []]


def test_from_sql_and_without_our_catalogue_its_readers_wait(chain: Chain) -> None:
    from omd.rooms.provenance.calls import ProvenanceCalls

    chain.go("a")
    bad = chain.wrote("one", 1)
    recall = chain.planned(bad)
    # A session that can't touch files: the routine alone.
    chain.refused("OM192", "omd_provenance.recall", recall_id=recall)
    ProvenanceCalls(chain.control._link).recall(recall, accept=["PENDING"], wait=NOW)
    assert chain.codes(module=bad) == "S P R"
    assert seen(chain.control, "lake.one") == [1]
    with chain.control.module("one"):
        pass
    assert seen(chain.control, "lake.one") == []


def test_an_administrator_recalls_where_nothing_is_rewritten(chain: Chain, dsn: str) -> None:
    bad = chain.wrote("one", 1)
    recall = chain.planned(bad)
    with omd.connect(make_conninfo(dsn, options="-c role=omd_admin")) as control:
        control.provenance.recall(recall, wait=NOW)
    assert seen(chain.control, "lake.one") == []
    assert chain.codes(module=bad) == "S P P"
    assert chain.operations()[-1] == ("lake.one", "UNDO")
    chain.wrote("one", 2)
    assert seen(chain.control, "lake.one") == [2]


@pytest.mark.parametrize("kind", ["DELTA", "elsewhere", "template"])
def test_what_no_transaction_can_hold_is_left_to_its_module(chain: Chain, kind: str) -> None:
    delta = {"table_format_code": "DELTA"} if kind == "DELTA" else {}
    chain.into("d", "dwh.a", **delta)
    if kind == "template":
        chain.control.calls.omd.register_rollback(
            module_code="d", statement_template="DELETE FROM {table} WHERE {instance_array}"
        )
    with chain.control.module("d") as run:
        (write_delta if delta else write)(run, "lake.d", [1])
        if kind == "elsewhere":
            chain.control.calls.omd_lake.commit_tables(
                run.instance_id,
                [
                    {
                        "table": "other.lake.d",
                        "format": "ICEBERG",
                        "to": "/data/d.json",
                        "sequence_number": 1,
                        "operation": "APPEND",
                    }
                ],
            )
    recall = chain.planned(run.instance_id)
    with pytest.raises(omd.errors.lookup("OM192")):
        chain.control.provenance.recall(recall, wait=NOW)
    chain.control.provenance.recall(recall, accept=["PENDING"], wait=NOW)
    assert chain.codes(module=run.instance_id) == "S P R"
    assert chain.rows("SELECT FROM omd_lake.table_commit WHERE operation = 'UNDO'") == []


def test_only_what_stands_and_is_open_is_opened_for_a_recall(chain: Chain) -> None:
    from omd.rooms.lake.calls import LakeCalls

    run = chain.wrote("one", 1)
    link = chain.control._link

    def refused(runs: list[int]) -> str:
        with pytest.raises(omd.errors.lookup("OM022")) as caught:
            LakeCalls(link).open_recall(runs)
        return str(caught.value)

    assert "which is not open" in refused([run])
    assert "does not stand" in refused([run, run + 1000])
    chain.control.provenance.recall(chain.planned(run), wait=NOW)
    assert "does not stand" in refused([run])


def test_who_writes_a_lake_table_that_is_not_its_target_is_found_from_both_ends(
    room: Room,
) -> None:
    room.scene("t")
    room.module("other", table_code="lake.elsewhere")
    room.module("reader", table_code="lake.made")
    writer = room.begin("other")
    room.append(writer, "lake.t")
    room.end_module(writer, "S")
    reader = room.begin("reader")
    room.call("omd.record_input", table_code="lake.t", module_instance_id=reader)
    room.end_module(reader, "S")
    found = "SELECT module_instance_id AS id, table_code FROM omd_provenance.{}(%s)"
    assert room.rows(found.format("readers_of"), writer) == [{"id": reader, "table_code": "lake.t"}]
    assert room.rows(found.format("sources_of"), reader) == [{"id": writer, "table_code": "lake.t"}]
