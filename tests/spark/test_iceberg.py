"""Iceberg tables: what a run writes is visible when it has succeeded, and is taken back if not."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import pytest
from pyiceberg.table import StaticTable

import omd
from omd.errors import CallerError
from omd.spark import UnsupportedType

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

STAMP = "omd_insert_module_instance_id"


class Lake:
    """The namespace lake in a folder, with Modules that load its tables."""

    def __init__(self, conn: Any, control: omd.Control, spark: SparkSession, folder: Path) -> None:
        self.conn, self.control, self.spark, self.folder = conn, control, spark, folder
        control.lake.register_namespace("lake", str(folder))

    def module(self, table: str = "t", **registered: Any) -> str:
        self.control.register_module(
            f"m_{table}",
            table_code=f"lake.{table}",
            platform_code="SPARK",
            **{
                "area_code": "HSTG",
                "table_type_code": "HSTG",
                "table_format_code": "ICEBERG",
                **registered,
            },
        )
        return f"m_{table}"

    def run(self, module: str) -> omd.ModuleRun:
        return self.control.module(module, spark=self.spark)

    def rows(self, first: int, last: int, note: str = "n") -> Any:
        return self.spark.range(first, last).selectExpr("id", f"'{note}' AS note")

    def seen(self, table: str = "t") -> list[dict[str, Any]]:
        """What an independent reader sees."""
        row = self.conn.execute(
            "SELECT metadata_location FROM omd_lake.iceberg_tables WHERE table_name = %s", [table]
        ).fetchone()
        return StaticTable.from_metadata(row["metadata_location"]).scan().to_arrow().to_pylist()

    def ids(self, table: str = "t") -> list[int]:
        return sorted(row["id"] for row in self.seen(table))

    def operations(self, table: str = "t") -> list[str]:
        rows = self.conn.execute(
            "SELECT operation FROM omd_lake.table_commit WHERE table_code = %s ORDER BY commit_id",
            [f"lake.{table}"],
        ).fetchall()
        return [row["operation"] for row in rows]


@pytest.fixture
def lake(conn: Any, control: omd.Control, spark: SparkSession, tmp_path: Path) -> Lake:
    return Lake(conn, control, spark, tmp_path)


class Stop(Exception):  # noqa: N818
    """The job fails."""


def test_two_writes_become_visible_together_with_the_success_and_readers_agree(lake: Lake) -> None:
    with lake.run(lake.module()) as run:
        assert run.write(lake.rows(0, 5)).rows == 5
        run.write(lake.rows(5, 8))
        assert lake.ids() == []
        assert run.read(lake.spark, "lake.t").count() == 8  # the run itself sees it
    assert lake.ids() == list(range(8))
    row = lake.seen()[0]
    assert row[STAMP] == run.module_instance_id
    assert lake.operations() == ["APPEND"]
    with lake.run("m_t") as second:
        read = second.read(lake.spark, "lake.t")
        assert sorted(r.id for r in read.collect()) == list(range(8))
        second.write(lake.rows(100, 101), mode="overwrite")
        assert read.count() == 8
        assert [r.id for r in second.read(lake.spark, "lake.t").collect()] == [100]
    assert lake.ids() == [100]


def test_a_failed_run_is_taken_back_whether_it_had_committed_or_not(lake: Lake) -> None:
    module = lake.module()
    with lake.run(module) as run:
        run.write(lake.rows(0, 3))
    with pytest.raises(Stop), lake.run(module) as run:
        run.write(lake.rows(3, 6))
        run.commit()
        run.write(lake.rows(6, 9))
        raise Stop
    assert lake.ids() == [0, 1, 2, 3, 4, 5]
    folders = list((lake.folder / "t/data/omd").glob(f"{run.module_instance_id}/*"))
    assert len(folders) == 2
    with lake.run(module) as run:
        assert lake.ids() == [0, 1, 2]
        run.write(lake.rows(6, 7), mode="overwrite")
    assert len(list(folders[0].parent.glob("*"))) == 1  # what was never committed is removed
    assert lake.operations() == ["APPEND", "APPEND", "UNDO", "OVERWRITE"]
    with pytest.raises(Stop), lake.run(module) as run:
        run.write(lake.rows(7, 8), mode="overwrite")
        run.commit()
        raise Stop
    assert lake.ids() == [7]
    with lake.run(module):
        assert lake.ids() == [6]
