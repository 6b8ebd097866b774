"""Delta tables without Spark: kills at each point, the commits of other engines, maintenance."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, write_deltalake

import omd
from omd.programs.report.lake_table import described
from omd.rooms.control.rows import EventLogRow, ModuleExecutionLogRow
from omd.rooms.lake.rows import LakeCommitsRow, LakeFoldersRow, LakeTablesRow
from omd.tables.delta import Delta
from omd.tables.maintenance import maintain

from .programs import COLUMN, forty_commits, lake_of, write_delta
from .test_crashes import kill_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

TABLES = ("lake.one", "lake.two")


class Stop(Exception):  # noqa: N818
    """The job fails."""


@pytest.fixture
def control(dsn: str, tmp_path: Path) -> Iterator[omd.Control]:
    with omd.connect(dsn, lease=None) as control:
        control.calls.omd_lake.register_namespace("lake", str(tmp_path))
        for module in ("m_lake", "m_other"):
            control.calls.omd.register_module(
                module,
                area_code="HSTG",
                table_code="lake.one",
                table_type_code="HSTG",
                platform_code="SPARK",
                table_format_code="DELTA",
            )
        yield control


@pytest.fixture
def seen(tmp_path: Path) -> Callable[..., list[int]]:
    """A function that returns what an independent reader sees."""

    def read(code: str = "lake.one", version: int | None = None) -> list[int]:
        folder = tmp_path / code.rpartition(".")[2]
        table = DeltaTable(folder, version=version).to_pyarrow_table()
        return sorted(table["id"].to_pylist())

    return read


def put(control: omd.Control, ids: list[int], mode: str = "append", fails: bool = False) -> int:
    """Write ids with a run, which may fail after its commit."""

    def job(run: omd.Run) -> None:
        write_delta(run, "lake.one", ids, mode)
        if fails:
            lake_of(run).commit()
            raise Stop

    outcome = control.run("m_lake", job)
    assert fails == isinstance(outcome.error, Stop), outcome.error
    return outcome.instance_id


def operations(control: omd.Control, code: str = "lake.one") -> list[tuple[int, str]]:
    rows = control.report(LakeCommitsRow, table_code=code, order_by=["commit_id"])
    return [(row.sequence_number, row.operation) for row in rows]


def to_read(control: omd.Control, as_of: Any = None) -> int | None:
    """Return the version that a run reads."""
    with control.module("m_other") as run:
        first = lake_of(run).held_version("lake.one", as_of)[2]
        assert lake_of(run).held_version("lake.one", as_of)[2] == first
    return first


def test_a_run_killed_anywhere_leaves_no_row_behind_its_next_begin(
    control: omd.Control, dsn: str, seen: Callable[..., list[int]], tmp_path: Path
) -> None:
    finished = []
    for point in ("files", "landed", "committed"):
        with control.module("m_lake") as run:
            for code in TABLES:
                write_delta(run, code, [run.instance_id])
        finished.append(run.instance_id)
        killed = kill_at(dsn, point, "DELTA")
        early = [] if point == "files" else [killed]
        assert [seen(code) for code in TABLES] == [[*finished, *early]] * 2, point
        control.calls.omd.module_failure(killed)
        maintain(control, keep=timedelta(days=1))  # it deletes nothing that a log names
        assert seen() == [*finished, *early]
        if point == "landed":
            kill_at(dsn, "undone", "DELTA")
            assert seen() == finished
            (dead,) = control.report(ModuleExecutionLogRow, execution_status_code="E")
            control.calls.omd.module_failure(dead.module_instance_id)
            with control.module("m_other") as run:
                for code in TABLES:
                    write_delta(run, code, [run.instance_id])
            finished.append(run.instance_id)
    with control.module("m_lake"):
        assert [seen(code) for code in TABLES] == [finished] * 2
    # Version 3, of the killed run, stands in the log only. What took it back in version 4 is
    # recorded after version 5, so it has got another one: positions are in the order of versions.
    assert operations(control) == [
        (1, "APPEND"),
        (2, "APPEND"),
        (5, "APPEND"),
        (6, "UNDO"),
        (7, "APPEND"),
        (8, "APPEND"),
        (9, "UNDO"),
    ]
    assert to_read(control) == DeltaTable(tmp_path / "one").version()


def test_rows_that_were_taken_back_stay_away_when_the_overwrite_that_hid_them_is_taken_back(
    control: omd.Control, seen: Callable[..., list[int]]
) -> None:
    put(control, [1])
    hidden = put(control, [2])
    with control.module("m_other") as mistaken:
        write_delta(mistaken, "lake.one", [3], "overwrite")
    for module, instance in (("m_lake", hidden), ("m_other", mistaken.instance_id)):
        control.calls.omd.set_next_run_indicator("R", module_instance_id=instance)
        with control.module(module):
            pass
    assert seen() == [1]
    assert [operation for _, operation in operations(control)][3:] == ["UNDO", "UNDO"]
    # Of two overwrites the first is taken back first; what it removed comes back with the other.
    first = put(control, [5], "overwrite")
    with control.module("m_other") as second:
        write_delta(second, "lake.one", [6], "overwrite")
    for module, instance in (("m_lake", first), ("m_other", second.instance_id)):
        control.calls.omd.set_next_run_indicator("R", module_instance_id=instance)
        with control.module(module):
            pass
    assert seen() == [1]


def test_a_read_sees_what_other_engines_commit_and_no_run_that_may_be_taken_back(
    control: omd.Control, dsn: str, tmp_path: Path
) -> None:
    folder = tmp_path / "one"

    def by_another(ids: list[int]) -> int:
        rows = pa.table({"id": ids, COLUMN: pa.array([None] * len(ids), pa.int64())})
        write_deltalake(folder, rows, mode="append")
        return DeltaTable(folder).version()

    first = put(control, [1])
    assert to_read(control) == 1
    (commit,) = control.report(LakeCommitsRow)
    with control.module("m_other") as run:
        assert lake_of(run).held_version("lake.one", None)[2] == 1
        second = by_another([10])
        assert lake_of(run).held_version("lake.one", None)[2] == 1  # a run reads one moment
        run.snapshot(renew=True)
        assert lake_of(run).held_version("lake.one", None)[2] == second
        put(control, [2])  # it is not in the moment of the reader, so what follows is not either
        by_another([11])
        assert lake_of(run).held_version("lake.one", None)[2] == second
    assert to_read(control) == 4
    assert to_read(control, commit.commit_datetime) == 1  # as of an instant, our commits count
    killed = kill_at(dsn, "landed", "DELTA")
    by_another([12])
    assert to_read(control) == 4
    control.calls.omd.module_failure(killed)
    with control.module("m_lake"):
        pass
    assert to_read(control) == DeltaTable(folder).version() == 7
    with control.module("m_other") as run:
        span = run.window(table="lake.one")
        runs = lake_of(run).window_instances("lake.one", span)
        files = Delta(str(folder)).files()
        window = [file.share(COLUMN, runs) for file in files]
    assert first in runs
    assert sorted(window) == ["ALL", "ALL", "NONE", "NONE", "NONE"]  # NONE: of the other engine


def test_old_versions_expire_with_their_files_and_a_crash_leaves_nothing_for_ever(
    control: omd.Control, dsn: str, seen: Callable[..., list[int]], tmp_path: Path
) -> None:
    def files() -> set[str]:
        return {path.parent.name for path in tmp_path.rglob("*.parquet")} - {"_delta_log"}

    put(control, [1])
    put(control, [2], "overwrite")
    put(control, [3])
    write_deltalake(
        tmp_path / "one",
        pa.table({"id": [4], COLUMN: pa.array([None], pa.int64())}),
        mode="append",
        commit_properties=CommitProperties(custom_metadata={"note": "by another engine"}),
    )
    assert maintain(control, keep=timedelta(days=1)) == []
    planned = maintain(control, keep=timedelta(0), dry_run=True)
    assert [(row.action, row.files) for row in planned] == [("EXPIRE", 1)]
    assert seen(version=1) == [1]
    kill_at(dsn, "expired", "DELTA")
    (dead,) = control.report(ModuleExecutionLogRow, execution_status_code="E")
    control.calls.omd.module_failure(dead.module_instance_id)
    assert len(files()) == 4
    assert maintain(control, keep=timedelta(0)) == planned
    assert len(files()) == 3
    assert seen() == [2, 3, 4]
    assert maintain(control, keep=timedelta(0)) == []
    with control.module("m_other") as run:
        for as_of in (1, 2, 3):
            location, version = lake_of(run).held_version("lake.one", as_of)[1:]
            with pytest.raises(omd.errors.lookup("OM021")):
                Delta(location, version)
    assert seen(version=4) == [2, 3, 4]
    # What an overwrite removed does not come back after its version has expired.
    failed = put(control, [5], "overwrite", fails=True)
    maintain(control, keep=timedelta(0))
    with control.module("m_lake"):
        assert seen() == []
    told = [row.event_detail for row in control.report(EventLogRow)]
    assert any("removed has expired" in (detail or "") for detail in told)
    assert [row.folder_state for row in control.report(LakeFoldersRow)] == ["COMMITTED"] * 4
    assert failed


def test_a_rollback_does_not_give_back_what_expires_while_it_is_planned(
    control: omd.Control, seen: Callable[..., list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from omd.tables import delta_run

    put(control, [1])
    put(control, [2], "overwrite", fails=True)
    real = delta_run.plan_delta_undo
    planned = []

    def overtaken(*args: Any) -> Any:
        undo = real(*args)
        planned.append(len(undo.restored))
        if len(planned) == 1:
            maintain(control, keep=timedelta(0))
        return undo

    monkeypatch.setattr(delta_run, "plan_delta_undo", overtaken)
    with control.module("m_lake"):
        assert seen() == []
    assert planned == [1, 0]


def test_a_bucket_is_reached_with_the_one_configuration_of_all_lake_tables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = {"S3__ENDPOINT": "http://127.0.0.1:1", "S3__ACCESS_KEY_ID": "me", "S3__REGION": "x"}
    for name, value in told.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__OMD__{name}", value)
    monkeypatch.setenv("PYICEBERG_CATALOG__OMD__S3__SECRET_ACCESS_KEY", "hunter2")
    with pytest.raises(OSError, match=r"127\.0\.0\.1:1"):
        Delta("s3a://bucket/lake/one")


def test_a_table_of_delta_is_shown_and_its_log_gets_checkpoints(
    control: omd.Control, tmp_path: Path
) -> None:
    put(control, [1])
    kept = {"delta.deletedFileRetentionDuration": "interval 2 weeks"}
    DeltaTable(tmp_path / "one").alter.set_table_properties(kept)
    table = Delta(str(tmp_path / "one"))
    for _ in range(100):
        table._table.create_write_transaction([], "append", table._table.schema())
    put(control, [2], "overwrite")
    assert maintain(control, keep=timedelta(0)) == []  # the table promises two weeks
    assert list((tmp_path / "one/_delta_log").glob("*.checkpoint.parquet"))
    shown = described(control, "lake.one")
    assert f"{COLUMN} long" in shown["columns"]
    assert str(tmp_path / "one") in shown["location"]
    (row,) = control.report(LakeTablesRow, table_code="lake.one")
    assert (row.total_files, row.total_rows) == (1, 1)


def test_forty_commits_by_eight_sessions_all_land(
    control: omd.Control, dsn: str, seen: Callable[..., list[int]]
) -> None:
    put(control, [0])
    runs = forty_commits(control, dsn, "DELTA", write_delta)
    assert seen() == [0, *runs]
    assert [version for version, _ in operations(control)] == list(range(1, 42))
