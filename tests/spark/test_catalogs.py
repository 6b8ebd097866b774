"""Tables of another catalogue through Spark, and what only the native jar of the format reads."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.types import ListType, StringType

import omd
import omd.lake
from omd.errors import CallerError, lookup

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyiceberg.catalog import Catalog
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

T = "prod.sales.t"


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Catalog:
    """A catalogue of pyiceberg in a file, as its configuration names it."""
    settings = {"uri": f"sqlite:///{tmp_path}/c.db", "warehouse": f"file://{tmp_path}/w"}
    for name, value in {**settings, "type": "sql"}.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__PROD__{name.upper()}", value)
    found = load_catalog("prod", **settings)
    found.create_namespace("sales")
    return found


def register(control: omd.Control, table: str = T, **registered: Any) -> str:
    given = {
        "area_code": "HSTG",
        "table_type_code": "HSTG",
        "platform_code": "SPARK",
        "table_format_code": "ICEBERG",
        **registered,
    }
    control.calls.omd.register_module(f"m_{table}", table_code=table, **given)
    return f"m_{table}"


class Stop(Exception):  # noqa: N818
    """The job fails."""


def fail(
    control: omd.Control, spark: SparkSession, module: str, job: Callable[[omd.Run], object]
) -> None:
    def failing(run: omd.Run) -> None:
        job(run)
        raise Stop

    outcome = control.run(module, failing, spark=spark)
    assert isinstance(outcome.error, Stop), outcome.error


def seen(catalog: Catalog, name: str = "t") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (
        catalog.load_table(("sales", name)).scan().to_arrow().sort_by("id").to_pylist()
    )
    return rows


def ids(rows: Any) -> list[int]:
    return sorted(row["id"] for row in (rows if isinstance(rows, list) else rows.collect()))


def test_a_table_of_another_catalogue_is_created_written_read_and_taken_back(
    control: omd.Control, spark: SparkSession, catalog: Catalog
) -> None:
    module = register(control)

    def rows(first: int, last: int) -> Any:
        return spark.range(first, last).selectExpr("id", "date_add(date'2020-01-30', int(id)) AS d")

    with control.module(module, spark=spark) as run:
        assert run.write(rows(0, 4), partition_by=["d"]) == 4
        assert ids(seen(catalog)) == []
        assert ids(run.read(spark, T)) == [0, 1, 2, 3]
    assert len(list(catalog.load_table("sales.t").scan("d < '2020-02-01'").plan_files())) == 2
    table = catalog.load_table("sales.t")
    foreign = {"id": 100, "d": date(2020, 1, 1)}
    table.append(pa.Table.from_pylist([foreign], table.schema().as_arrow()))

    with control.module(register(control, "prod.sales.reader"), spark=spark) as reader:
        first = reader.read(spark, T)
        fail(control, spark, module, lambda run: (run.write(rows(10, 11)), run.commit()))
        assert ids(seen(catalog)) == [0, 1, 2, 3, 10, 100]
        # All that a run reads of the table is of one moment.
        assert ids(reader.read(spark, T)) == ids(first) == [0, 1, 2, 3, 100]
        (made, *_) = control.report(omd.rooms.lake.rows.LakeCommitsRow, order_by=("commit_id",))
        assert ids(reader.read(spark, T, as_of=made.commit_datetime)) == [0, 1, 2, 3]
        assert ids(reader.read(spark, T, as_of=made.snapshot_id)) == [0, 1, 2, 3]
        with pytest.raises(omd.errors.lookup("OM021")):
            reader.read(spark, T, as_of=42)
        assert reader.window(table=T).end_id == 3
        assert ids(reader.read(spark, T, window=True)) == [0, 1, 2, 3, 10]
    with control.module(module, spark=spark) as run:
        run.write(rows(20, 21), mode="overwrite")
        assert ids(run.read(spark, T)) == [20]
    assert ids(seen(catalog)) == [20]
    with control.module("m_prod.sales.reader", spark=spark) as reader:
        reader.window(table=T)
        assert ids(reader.read(spark, T, window=True)) == [20]
    with (
        pytest.raises(CallerError, match="partitioned otherwise"),
        control.module(module, spark=spark) as run,
    ):
        run.write(rows(0, 1), partition_by=["id"])


def test_a_history_and_files_of_several_runs_are_repaired_through_the_other_catalogue(
    control: omd.Control, spark: SparkSession, catalog: Catalog
) -> None:
    module = register(control, area_code="INT", table_type_code="SAT", business_key_columns=["id"])

    def version(id: int, day: str) -> Any:
        return spark.sql(f"SELECT {id}L AS id, date'{day}' AS omd_effective_date")

    def chain() -> list[tuple[Any, ...]]:
        return sorted(
            (row["id"], str(row["omd_effective_date"]), str(row["omd_expiry_date"]))
            for row in seen(catalog)
        )

    with control.module(module, spark=spark) as run:
        run.write(version(1, "2020-01-01"), mode="history")

    def late(run: omd.Run) -> None:
        run.write(version(1, "2021-01-01"), mode="history")
        run.commit()

    fail(control, spark, module, late)
    assert chain() == [(1, "2020-01-01", "2021-01-01"), (1, "2021-01-01", "9999-12-31")]

    def overtaken(run: omd.Run) -> None:
        assert chain() == [(1, "2020-01-01", "9999-12-31")]
        run.write(version(1, "2022-01-01"), mode="history")
        table = catalog.load_table("sales.t")
        table.append(table.scan().to_arrow())

    outcome = control.run(module, overtaken, spark=spark)
    assert isinstance(outcome.error, lookup("OM120")), outcome.error
    # Another engine puts the rows of all runs into one file; then one of them is taken back.
    with control.module(module, spark=spark) as run:
        run.write(version(2, "2020-01-01"))
    with control.module(module, spark=spark) as last:
        last.write(version(3, "2020-01-01"))
    table = catalog.load_table("sales.t")
    table.overwrite(table.scan().to_arrow())
    control.calls.omd.set_next_run_indicator("R", module_instance_id=last.instance_id)
    with control.module(module, spark=spark):
        assert ids(seen(catalog)) == [1, 1, 2]


def test_names_that_are_patterns_to_spark_are_taken_as_they_are(
    control: omd.Control, spark: SparkSession, catalog: Catalog
) -> None:
    for name in ("My *[x]{y}", 'quo"te %20 ä'):
        quoted = name.replace('"', '""')
        code = f'prod.sales."{quoted}"'
        with control.module(register(control, code), spark=spark) as run:
            run.write(spark.range(2))
            assert ids(run.read(spark, code)) == [0, 1]
        assert ids(seen(catalog, name)) == [0, 1]


# What only the native jar reads -------------------------------------------------------------------


@pytest.fixture
def native(spark: SparkSession, tmp_path: Path) -> SparkSession:
    """A session with catalogues `omd` and `prod` of its own, which hold other rows.

    The jar of Iceberg is not at hand, so a catalogue that is part of Spark stands in its place. It
    shows which reads go through the catalogue of the session, and under which names.
    """
    session = spark.newSession()
    for name in ("omd", "prod"):
        settings = {
            "": "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
            ".url": f"jdbc:derby:memory:{name}{tmp_path.name};create=true",
            ".driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver",
        }
        for key, value in settings.items():
            session.conf.set(f"spark.sql.catalog.{name}{key}", value)
    return session


def hold(native: SparkSession, table: str, instance: int) -> None:
    """Let the catalogue of the session hold a row of this run, and one of another."""
    native.sql(f"CREATE NAMESPACE {table.rpartition('.')[0]}")
    native.sql(f"CREATE TABLE {table} (id bigint, omd_insert_module_instance_id bigint)")
    native.sql(f"INSERT INTO {table} VALUES (7, {instance}), (8, 0)")


def test_a_session_with_the_native_catalogue_reads_what_would_be_refused(
    control: omd.Control,
    spark: SparkSession,
    native: SparkSession,
    catalog: Catalog,
    tmp_path: Path,
) -> None:
    control.calls.omd_lake.register_namespace("lake", str(tmp_path / "lake"))
    for code in ("lake.t", T):
        module = register(control, code)
        with control.module(module, spark=spark) as run:
            run.write(spark.range(1))
        hold(native, f"omd.{code}" if code == "lake.t" else code, run.instance_id)

        def read_all(session: SparkSession, code: str = code) -> list[list[int]]:
            with control.module(f"m_{code}", spark=session) as reader:
                reader.window(table=code)
                windows = (False, True)
                return [ids(reader.read(session, code, columns=["id"], window=w)) for w in windows]

        with control.module(module, spark=native) as reader:
            assert ids(reader.read(native, code)) == [0]  # nothing would be refused
        found = omd.lake.catalog(control) if code == "lake.t" else catalog
        with found.load_table(tuple(code.split(".")[-2:])).update_schema() as change:
            change.add_column("tags", ListType(100, StringType(), False))
        with pytest.raises(lookup("OM222"), match="tags"):
            read_all(spark)
        assert read_all(native) == [[7, 8], [7]]
        with (
            pytest.raises(lookup("OM222"), match="tags"),
            control.module(module, spark=native) as run,
        ):
            run.write(native.range(1))


def test_a_table_of_format_version_3_is_read_through_the_native_catalogue_alone(
    control: omd.Control, spark: SparkSession, native: SparkSession, tmp_path: Path
) -> None:
    control.calls.omd_lake.register_namespace("lake", str(tmp_path / "lake"))
    with control.module(register(control, "lake.t"), spark=spark) as run:
        run.write(spark.range(1))
    file = control.calls.omd_lake.find_table("lake.t").metadata_location
    assert file is not None
    document = json.loads(Path(file).read_text()) | {"format-version": 3, "next-row-id": 1}
    file = file.replace("metadata/", "metadata/v3-")
    Path(file).write_text(json.dumps(document))
    register(control, "lake.v3")
    control.calls.omd_lake.register_table("lake.v3", file)
    hold(native, "omd.lake.v3", 1)
    for session in (native, spark):
        with control.module("m_lake.v3", spark=session) as run:
            if session is native:
                assert ids(run.read(session, "lake.v3")) == [7, 8]
            else:
                with pytest.raises(lookup("OM222"), match="format version 3"):
                    run.read(session, "lake.v3")
            with pytest.raises(lookup("OM222"), match="format version 3"):
                run.write(session.range(1))
