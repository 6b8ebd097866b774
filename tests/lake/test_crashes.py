"""A run is killed at each point of the crash table: both tables hold the finished runs, alike."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyiceberg.table import StaticTable

import omd
from omd.rooms.lake.rows import LakeFoldersRow

from .programs import forty_commits, lake_of, write

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = Path(__file__).with_name("programs.py")
TABLES = ("lake.one", "lake.two")


@pytest.fixture
def control(dsn: str, tmp_path: Path) -> Iterator[omd.Control]:
    with omd.connect(dsn, lease=None) as control:
        control.calls.omd_lake.register_namespace("lake", str(tmp_path))
        control.calls.omd.register_module(
            "m_lake",
            area_code="HSTG",
            table_code="lake.one",
            table_type_code="HSTG",
            platform_code="SPARK",
            table_format_code="ICEBERG",
        )
        yield control


def seen(control: omd.Control, code: str) -> list[int]:
    found = control.calls.omd_lake.find_table(code)
    location = (
        found.metadata_location
        or control.calls.omd_lake.find_table(code, table_format_code="ICEBERG").metadata_location
    )
    assert location is not None
    rows: list[dict[str, Any]] = StaticTable.from_metadata(location).scan().to_arrow().to_pylist()
    return sorted(row["id"] for row in rows)


def kill_at(dsn: str, point: str, kind: str = "ICEBERG") -> int:
    """Let a run die at a point; return it, or 0 if it had not begun to work."""
    done = subprocess.run(
        [sys.executable, PROGRAM, dsn, "m_lake", point, kind], stdout=subprocess.PIPE, check=False
    )
    assert done.returncode == 9
    return int(done.stdout or 0)


def test_a_run_killed_anywhere_before_its_success_leaves_no_row_behind_its_next_begin(
    control: omd.Control, dsn: str, tmp_path: Path
) -> None:
    finished = []
    for point in ("files", "staged", "swapped", "committed", "recorded"):
        with control.module("m_lake") as run:
            for code in TABLES:
                write(run, code, [run.instance_id])
        finished.append(run.instance_id)
        killed = kill_at(dsn, point)
        visible = [*finished, killed] if point == "committed" else finished
        assert [seen(control, code) for code in TABLES] == [visible, visible], point
        control.calls.omd.module_failure(killed)
    with control.module("m_lake"):
        assert [seen(control, code) for code in TABLES] == [finished, finished]
        left = [path.parent for path in tmp_path.rglob("*.parquet")]
        assert {path.parent.name for path in left} >= set(map(str, finished))
    # What was never committed is removed; what was committed and undone stays for reads as of then.
    states = {row.folder_state for row in control.report(LakeFoldersRow, table_code="lake.one")}
    assert states == {"COMMITTED", "REMOVED"}


def test_forty_commits_by_eight_sessions_are_staged_once_each(
    control: omd.Control, dsn: str
) -> None:
    runs = forty_commits(control, dsn, "ICEBERG", write)
    assert seen(control, "lake.one") == runs
    found = control.calls.omd_lake.find_table("lake.one").metadata_location
    assert found is not None
    folder = Path(found).parent
    assert len(list(folder.glob("snap-*.avro"))) == 40
    assert len(list(folder.glob("*.metadata.json"))) >= 41


def test_a_rollback_gives_back_what_an_overwrite_removed_unless_a_later_one_stands(
    control: omd.Control,
) -> None:
    class Stop(Exception):  # noqa: N818
        pass

    def run(ids: list[int], mode: str, fails: bool = False) -> int:
        try:
            with control.module("m_lake") as block:
                write(block, "lake.one", ids, mode)
                if fails:
                    lake_of(block).commit()
                    raise Stop
        except Stop:
            pass
        return block.instance_id

    run([1], "append")
    run([2], "append")
    run([3], "overwrite", fails=True)
    assert seen(control, "lake.one") == [3]
    run([4], "append")
    assert seen(control, "lake.one") == [1, 2, 4]
    for mode, expected in (("append", [1, 2, 4, 6, 7]), ("overwrite", [6, 7])):
        mistaken = run([5], "overwrite")
        run([6], mode)
        control.calls.omd.set_next_run_indicator("R", module_instance_id=mistaken)
        run([7], "append")
        assert seen(control, "lake.one") == expected


def test_rows_that_were_taken_back_stay_away_when_the_overwrite_that_hid_them_is_taken_back(
    control: omd.Control,
) -> None:
    control.calls.omd.register_module(
        "m_other",
        area_code="HSTG",
        table_code="lake.one",
        table_type_code="HSTG",
        platform_code="SPARK",
        table_format_code="ICEBERG",
    )

    def run(module: str, ids: list[int], mode: str = "append") -> int:
        with control.module(module) as block:
            write(block, "lake.one", ids, mode)
        return block.instance_id

    run("m_lake", [1])
    hidden = run("m_lake", [2])
    mistaken = run("m_other", [3], "overwrite")
    for module, instance in (("m_lake", hidden), ("m_other", mistaken)):
        control.calls.omd.set_next_run_indicator("R", module_instance_id=instance)
        run(module, [4])
    assert seen(control, "lake.one") == [1, 4, 4]
    # Of two overwrites the first is taken back first; what it removed comes back with the other.
    first = run("m_lake", [5], "overwrite")
    second = run("m_other", [6], "overwrite")
    for module, instance in (("m_lake", first), ("m_other", second)):
        control.calls.omd.set_next_run_indicator("R", module_instance_id=instance)
        with control.module(module):
            pass
    assert seen(control, "lake.one") == [1, 4, 4]
