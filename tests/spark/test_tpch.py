"""A small TPC-H: eight tables are written and read back. The large one is a benchmark."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    import omd

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def tpch(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The benchmark as a module."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    spec = importlib.util.spec_from_file_location("tpch", BENCHMARKS / "tpch_round_trip.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "tpch", module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.spark
def test_the_tables_of_tpc_h_come_back_as_they_went(
    tpch: Any, spark: SparkSession, conn: Any, control: omd.Control, tmp_path: Path
) -> None:
    tpch.generate(tmp_path, 0.01)
    files = sorted(tmp_path.glob("*.parquet"))
    assert len(files) == 8
    conn.execute("CREATE SCHEMA tpch")
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "10000")
    try:
        rows = {file.stem: tpch.round_trip(spark, control, conn, file)[0] for file in files}
    finally:
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "100")
    assert rows["lineitem"] == 60_175
