"""Tables of another catalogue: committed there, recorded here, and taken back if a run dies."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException

import omd
from omd.programs.report.lake_table import described
from omd.rooms.lake.rows import LakeCommitsRow, LakeFoldersRow, LakeTablesRow
from omd.tables import elsewhere
from omd.tables.maintenance import maintain

from .programs import COLUMN, lake_of, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table

PROGRAM = Path(__file__).with_name("programs.py")
TABLES = ("prod.sales.one", "prod.sales.two")


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Catalog:
    """A catalogue of pyiceberg in a file, as its configuration names it."""
    settings = {"TYPE": "sql", "URI": f"sqlite:///{tmp_path}/c.db", "WAREHOUSE": f"{tmp_path}/w"}
    for name, value in settings.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__PROD__{name}", value)
    found = load_catalog(
        "prod", **{name.lower(): value for name, value in settings.items() if name != "TYPE"}
    )
    found.create_namespace("sales")
    return found


@pytest.fixture
def control(dsn: str, catalog: Catalog) -> Iterator[omd.Control]:
    with omd.connect(dsn, lease=None) as control:
        for module, table in (("m_lake", TABLES[0]), ("m_other", TABLES[0])):
            register(control, module, table)
        yield control


def register(control: omd.Control, module: str, table: str) -> None:
    control.calls.omd.register_module(
        module,
        area_code="HSTG",
        table_code=table,
        table_type_code="HSTG",
        platform_code="SPARK",
        table_format_code="ICEBERG",
    )


def run(control: omd.Control, ids: list[int], mode: str = "append", module: str = "m_lake") -> int:
    with control.module(module) as block:
        write(block, TABLES[0], ids, mode)
    return block.instance_id


class Stop(Exception):  # noqa: N818
    """The job fails."""


def fail(control: omd.Control, job: Callable[[omd.Run], object]) -> int:
    def failing(block: omd.Run) -> None:
        job(block)
        raise Stop

    outcome = control.run("m_lake", failing)
    assert isinstance(outcome.error, Stop), outcome.error
    return outcome.instance_id


def table_of(catalog: Catalog, code: str = TABLES[0]) -> Table:
    return catalog.load_table(tuple(code.split(".")[1:]))


def seen(catalog: Catalog, code: str = TABLES[0]) -> list[int]:
    rows: list[dict[str, Any]] = table_of(catalog, code).scan().to_arrow().to_pylist()
    return sorted(row["id"] for row in rows)


def append_foreign(catalog: Catalog, *ids: int) -> None:
    """Another engine appends rows."""
    table = table_of(catalog)
    table.append(pa.table({"id": list(ids), COLUMN: [None] * len(ids)}, table.schema().as_arrow()))


def operations(control: omd.Control) -> list[str]:
    rows = control.report(LakeCommitsRow, table_code=TABLES[0], order_by=("commit_id",))
    return [row.operation for row in rows]


def kill_at(dsn: str, point: str) -> int:
    done = subprocess.run(
        [sys.executable, PROGRAM, dsn, "m_lake", point, "ICEBERG", *TABLES],
        stdout=subprocess.PIPE,
        check=False,
    )
    assert done.returncode == 9
    return int(done.stdout)


def test_a_run_killed_anywhere_is_gone_from_both_tables_after_the_next_begin(
    control: omd.Control, catalog: Catalog, dsn: str
) -> None:
    finished: list[int] = []
    killed_at = {}
    for point in ("files", "half", "swapped"):
        with control.module("m_lake") as block:
            for code in TABLES:
                write(block, code, [block.instance_id])
        finished.append(block.instance_id)
        assert [seen(catalog, code) for code in TABLES] == [finished, finished], point
        killed = killed_at[point] = kill_at(dsn, point)
        control.calls.omd.module_failure(killed)
        maintain(control)  # it leaves to the next begin what a dead run has shown
        first = finished if point == "files" else [*finished, killed]
        second = first if point == "swapped" else finished
        assert [seen(catalog, code) for code in TABLES] == [first, second], point
    with control.module("m_lake"):
        assert [seen(catalog, code) for code in TABLES] == [finished, finished]
    told = control.report(LakeCommitsRow, table_code=TABLES[0], order_by=("commit_id",))[0]
    snapshot = table_of(catalog).metadata.snapshots[0]
    assert snapshot.summary is not None
    assert told.snapshot_id == snapshot.snapshot_id
    assert (told.added_rows, told.total_rows, told.sequence_number) == (1, 1, 1)
    assert snapshot.summary["omd.module-instance-id"] == str(told.module_instance_id)
    assert snapshot.summary["omd.module-code"] == "m_lake"
    (listed,) = control.report(LakeTablesRow, table_code=TABLES[1])
    assert listed.total_rows == len(finished)

    # What was visible stays for reads as of then, until another engine lets it expire.
    for expected in (["REMOVED", "ABANDONED", "ABANDONED"], ["REMOVED"] * 3):
        rows = control.report(LakeFoldersRow, table_code=TABLES[0])
        found = {row.module_instance_id: row.folder_state for row in rows}
        assert [found[id] for id in killed_at.values()] == expected
        for code in TABLES:
            table = table_of(catalog, code)
            old = [s.snapshot_id for s in table.snapshots()][:-1]
            table.maintenance.expire_snapshots().by_ids(old).commit()
        maintain(control)
        assert [seen(catalog, code) for code in TABLES] == [finished, finished]


def test_an_overwrite_is_taken_back_and_rows_of_other_engines_stay(
    control: omd.Control, catalog: Catalog
) -> None:
    run(control, [1])
    append_foreign(catalog, 2)

    def half(block: omd.Run) -> None:
        write(block, TABLES[0], [3], "overwrite")
        lake_of(block).commit()
        append_foreign(catalog, 4)

    fail(control, half)
    assert seen(catalog) == [3, 4]
    run(control, [5])
    assert seen(catalog) == [1, 2, 4, 5]
    assert operations(control) == ["APPEND", "OVERWRITE", "UNDO", "APPEND"]
    with control.module("m_lake"):
        pass
    assert operations(control)[4:] == []  # nothing to take back is no commit
    shown = described(control, TABLES[0])
    assert f"{COLUMN} long" in shown["columns"]
    assert str(table_of(catalog).location()) == shown["location"]


def test_a_commit_that_meets_another_is_staged_again_and_a_history_is_refused(
    control: omd.Control, catalog: Catalog
) -> None:
    run(control, [1])
    with control.module("m_lake") as block:
        write(block, TABLES[0], [2])
        append_foreign(catalog, 3)
    assert seen(catalog) == [1, 2, 3]

    def overtaken(block: omd.Run) -> None:
        write(block, TABLES[0], [4])
        lake = lake_of(block)
        (pending,) = lake._pending.values()
        pending.operation, pending.base = "HISTORY", lake.table(TABLES[0]).metadata.sequence_number
        append_foreign(catalog, 5)

    outcome = control.run("m_lake", overtaken)
    assert isinstance(outcome.error, omd.errors.lookup("OM120"))
    assert seen(catalog) == [1, 2, 3, 5]


def test_two_modules_write_to_one_table_at_once_and_each_row_is_there_once(
    control: omd.Control, catalog: Catalog, dsn: str
) -> None:
    def session(module: str) -> list[int]:
        with omd.connect(dsn, lease=None) as mine:
            done = []
            for _ in range(5):
                with mine.module(module) as block:
                    write(block, TABLES[0], [block.instance_id])
                done.append(block.instance_id)
            return done

    run(control, [0])
    with ThreadPoolExecutor(2) as pool:
        runs = [id for done in pool.map(session, ("m_lake", "m_other")) for id in done]
    assert seen(catalog) == sorted([0, *runs])
    assert operations(control) == ["APPEND"] * 11


def test_a_commit_whose_answer_is_lost_is_found_and_not_made_twice(
    control: omd.Control, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(control, [1])
    real = type(catalog).commit_table
    told: list[type[Exception]] = []

    def commit_table(self: Catalog, *arguments: Any) -> Any:
        """The server commits, or loses against another, and the connection breaks."""
        answer = real(self, *arguments)
        if told:
            raise told.pop()("no answer")
        return answer

    monkeypatch.setattr(type(catalog), "commit_table", commit_table)
    told = [CommitStateUnknownException]
    run(control, [2])
    told = [CommitFailedException]  # a retry of the client itself met its own first request
    run(control, [3], "overwrite")
    assert seen(catalog) == [3]
    assert operations(control) == ["APPEND", "APPEND", "OVERWRITE"]
    told = [ConnectionError]

    def half(block: omd.Run) -> None:
        write(block, TABLES[0], [4])
        lake_of(block).commit()

    fail(control, half)
    told = [ConnectionError]
    with control.module("m_lake"):
        assert seen(catalog) == [3]
    assert operations(control)[3:] == ["APPEND", "UNDO"]
    assert len(table_of(catalog).metadata.snapshots) == 5


def test_a_rollback_that_died_after_its_commit_keeps_the_files_that_it_wrote(
    control: omd.Control, catalog: Catalog
) -> None:
    """A file of a run that is rolling back holds rows of others, and its write is not recorded."""
    run(control, [1])

    def rolling(block: omd.Run) -> None:
        write(block, TABLES[0], [2])
        (pending,) = lake_of(block)._pending.values()
        change = elsewhere.Change("UNDO", added=pending.added)
        elsewhere.Elsewhere.load(TABLES[0]).commit(change)
        pending.added.clear()

    fail(control, rolling)
    folders = control.report(LakeFoldersRow, folder_state="ABANDONED")
    assert len(folders) == 1
    maintain(control)
    assert seen(catalog) == [1, 2]


def test_what_is_not_configured_or_not_there_is_refused_with_a_hint(
    control: omd.Control, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(table: str) -> omd.errors.OmdError:
        module = f"m_{table}"
        register(control, module, table)
        outcome = control.run(module, lambda block: write(block, table, [1]))
        assert isinstance(outcome.error, omd.errors.OmdError), outcome.error
        return outcome.error

    error = refused("nowhere.sales.one")
    assert isinstance(error, omd.errors.lookup("OM223"))
    assert "PYICEBERG_CATALOG__NOWHERE__URI" in str(error)
    assert isinstance(refused("prod.nowhere.one"), omd.errors.lookup("OM220"))
    assert "namespace.table" in str(refused("omd.sales.one"))
    monkeypatch.setenv("PYICEBERG_CATALOG__CLOUD__TYPE", "glue")
    assert isinstance(refused("cloud.sales.one"), omd.errors.lookup("OM223"))
    with pytest.raises(omd.errors.lookup("OM020")):
        lake_of(control.module("m_lake")).table("prod.sales.nothing")


def test_names_are_taken_as_they_are_where_the_catalogue_takes_them(
    control: omd.Control, catalog: Catalog
) -> None:
    for name in ("My Table", 'quo"te', "per%20cent", "ä*[x]{y}?", "semi;colon--"):
        quoted = name.replace('"', '""')
        code = f'prod.sales."{quoted}"'
        register(control, f"m_{name}", code)
        for id in (1, 2):
            with control.module(f"m_{name}") as block:
                write(block, code, [id])
        rows = catalog.load_table(("sales", name)).scan().to_arrow().to_pylist()
        assert sorted(row["id"] for row in rows) == [1, 2], name


def test_an_instant_is_that_of_the_record_and_of_other_engines_that_of_their_clock(
    control: omd.Control, catalog: Catalog
) -> None:
    before = datetime.now(timezone.utc)
    run(control, [1])
    append_foreign(catalog, 2)
    between = datetime.now(timezone.utc)
    run(control, [3])
    table = elsewhere.Elsewhere.load(TABLES[0])
    rows = control.report(LakeCommitsRow, table_code=TABLES[0], order_by=("commit_id",))
    recorded = {row.snapshot_id: row.commit_datetime for row in rows if row.snapshot_id}
    first, foreign, last = (s["snapshot-id"] for s in table.metadata.document["snapshots"])
    assert list(recorded) == [first, last]

    def found(instant: datetime) -> int | None:
        told = table.as_of(instant, recorded)
        return None if told is None else int(told["snapshot-id"])

    assert found(before) is None
    assert found(rows[0].commit_datetime) == first
    assert found(between) == foreign
    assert found(rows[1].commit_datetime) == last
    # The clock of the driver that committed last goes an hour ahead.
    table.metadata.document["snapshots"][-1]["timestamp-ms"] += 3_600_000
    assert found(rows[1].commit_datetime) == last
