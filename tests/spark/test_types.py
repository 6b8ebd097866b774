"""The table of types: values are written and read back, extremes and NULLs too, or refused."""

from __future__ import annotations

import resource
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from psycopg.conninfo import make_conninfo
from pyspark.sql import functions as F  # noqa: N812

import omd
import omd.spark
from omd.errors import OmdError
from omd.spark.failure import TaskFailed
from omd.spark.source import OmdDataSource
from omd.spark.types import type_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "spark" / "read-a-table.md"

# For each type, the Spark type as which it is read, and values as PostgreSQL prints them.
SCALARS: dict[str, tuple[str, list[str]]] = {
    "boolean": ("boolean", ["true", "false"]),
    "smallint": ("smallint", ["-32768", "32767", "0"]),
    "integer": ("int", ["-2147483648", "2147483647"]),
    "bigint": ("bigint", ["-9223372036854775808", "9223372036854775807"]),
    "real": ("float", ["NaN", "Infinity", "-Infinity", "1.1754944e-38", "-3.4028235e+38", "-0"]),
    "double precision": (
        "double",
        ["NaN", "Infinity", "-Infinity", "5e-324", "-1.7976931348623157e+308", "0.1"],
    ),
    "numeric(38,0)": ("decimal(38,0)", ["9" * 38, "-" + "9" * 38, "0"]),
    "numeric(38,38)": ("decimal(38,38)", ["0." + "9" * 38, "-0." + "0" * 37 + "1"]),
    "numeric(12,2)": ("decimal(12,2)", ["-9999999999.99", "0.00", "0.10", "123456.78"]),
    "numeric(1)": ("decimal(1,0)", ["9", "-9"]),
    "numeric(38,10)": ("decimal(38,10)", ["9" * 28 + "." + "9" * 10, "-0.0000000001"]),
    "text": ("string", ["", " é€😀 ", "a\tb\n\\N", "NULL", "'\""]),
    "varchar(5)": ("string", ["12345", "😀😀😀😀😀", ""]),
    "char(4)": ("string", ["ab  ", "    ", "😀   "]),
    "date": (
        "date",
        ["1970-01-01", "0001-01-01", "1582-10-10", "9999-12-31", "0044-03-15 BC", "12013-07-01"],
    ),
    "timestamp": (
        "timestamp_ntz",
        [
            "2013-03-10 02:30:00",
            "1969-12-31 23:59:59.999999",
            "0001-01-01 00:00:00",
            "9999-12-31 23:59:59.999999",
            "4713-01-01 00:00:00 BC",
            "294246-12-31 23:59:59.999999",
        ],
    ),
    "timestamptz": (
        "timestamp",
        [
            "2013-11-03 05:30:00.000001+00",
            "1883-11-18 12:00:00+00",
            "0001-01-01 00:00:00+00",
            "9999-12-31 23:59:59.999999+00",
            "4713-01-01 00:00:00+00 BC",
        ],
    ),
    "bytea": ("binary", ["\\x", "\\x00", "\\xff00deadbeef"]),
    "uuid": (
        "string",
        [
            "00000000-0000-0000-0000-000000000000",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
            "6a9f9b1e-0001-4a4e-8f57-0123456789ab",
        ],
    ),
    "json": ("string", ['{"b" : 1,  "a":[null]}', "null", '"é"']),
    "jsonb": ("string", ['{"a": [null], "b": 1}', "null", "1.50", '"é"']),
}


def arrays() -> dict[str, tuple[str, list[Any]]]:
    """Return for each type an array of its values with a NULL, an empty one, and one of NULLs."""
    return {
        f"{type_}[]": (f"array<{read_as}>", [[*values, None], [], [None]])
        for type_, (read_as, values) in SCALARS.items()
    }


def create(conn: Any, name: str, types: dict[str, tuple[str, list[Any]]]) -> list[str]:
    """Fill a table with a column per type with its values; returns the names of the columns."""
    columns = [f"c{number}" for number in range(len(types))]
    typed = ", ".join(f"{c} {type_}" for c, type_ in zip(columns, types, strict=True))
    conn.execute(f"CREATE TABLE {name} (row int, {typed})")
    for row in range(max(len(values) for _, values in types.values()) + 1):
        given = [values[row] if row < len(values) else None for _, values in types.values()]
        holes = ", ".join(f"%s::text{'[]' if '[]' in type_ else ''}::{type_}" for type_ in types)
        conn.execute(f"INSERT INTO {name} VALUES (%s, {holes})", [row, *given])
    return columns


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
@pytest.mark.parametrize("types", [SCALARS, arrays()], ids=["scalars", "arrays"])
def test_every_value_survives_the_way_to_spark_and_back(
    spark: SparkSession,
    conn: Any,
    control: omd.Control,
    target: Callable[..., str],
    types: dict[str, tuple[str, list[Any]]],
    zone: str,
) -> None:
    columns = create(conn, "source", types)
    typed = ", ".join(f"{c} {type_}" for c, type_ in zip(columns, types, strict=True))
    module = target(f"row int, {typed}")
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        with control.module(module) as run:
            df = run.read(spark, "source")
            read_as = dict(df.dtypes)
            assert {type_: read_as[c] for c, type_ in zip(columns, types, strict=True)} == {
                type_: told for type_, (told, _) in types.items()
            }
            run.write(df.repartition(2))  # this uses Spark's own rows, not only its Arrow batches
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    conn.execute("SET TimeZone = 'UTC'")
    listed = ", ".join(f"{c}::text" for c in columns)
    there = conn.execute(f"SELECT row, {listed} FROM t.target ORDER BY row").fetchall()
    source = conn.execute(f"SELECT row, {listed} FROM source ORDER BY row").fetchall()
    for column, type_ in zip(columns, types, strict=True):
        assert [r[column] for r in there] == [r[column] for r in source], type_


def test_an_instant_is_shown_in_the_zone_of_the_spark_session(
    spark: SparkSession, dsn: str
) -> None:
    there = make_conninfo(dsn, options="-c TimeZone=Asia/Tokyo")
    query = "SELECT timestamptz '2013-07-01 12:00+00' AS tz, timestamp '2013-07-01 12:00' AS ts"
    df = spark.read.format("omd").options(url=there, query=query).load()
    before = spark.conf.get("spark.sql.session.timeZone")
    try:
        for zone, shown in (("UTC", "12:00"), ("America/New_York", "08:00")):
            spark.conf.set("spark.sql.session.timeZone", zone)
            row = df.select(F.date_format("tz", "HH:mm"), F.date_format("ts", "HH:mm")).collect()
            assert row == [(shown, "12:00")]
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


def read(dsn: str, query: str) -> pa.Table:
    """Return the rows of a query, through the reader and without Spark.

    What a task raises is a text for the driver; here the error that it was made of is raised.
    """
    source = OmdDataSource({"url": dsn, "query": query})
    reader = source.reader(source.schema())
    (part,) = reader.partitions()
    try:
        return pa.Table.from_batches(reader.read(part))
    except TaskFailed as failed:
        raise (failed.__cause__ or failed) from None


@pytest.mark.parametrize("type_", ["date", "timestamp", "timestamptz"])
@pytest.mark.parametrize("value", ["infinity", "-infinity"])
def test_infinite_times_are_refused(dsn: str, type_: str, value: str) -> None:
    for expression in (f"'{value}'::{type_}", f"ARRAY[NULL, '{value}'::{type_}]"):
        with pytest.raises(OmdError, match=r'column "c" of the query does not fit .*infinity'):
            read(dsn, f"SELECT {expression} AS c")


@pytest.mark.parametrize(
    ("expression", "complaint"),
    [
        ("'NaN'::numeric", "does not fit into Spark"),
        ("1e20::numeric", "does not fit into Spark"),
        ("-1e30::numeric", "does not fit into Spark"),
        ("1e70::numeric", "does not fit into Spark"),
        ("ARRAY[1, 1e30]", "does not fit into Spark"),
        ("1 / 3::numeric", "does not fit into Spark"),
        ("'294276-12-31'::timestamp", "after the year 294246"),
        ("ARRAY[[1, 2], [3, 4]]", "array of several dimensions"),
        ("ARRAY[[1.5, NULL]]::numeric(5,1)[]", "array of several dimensions"),
        ("'{{a},{b}}'::text[]", "several dimensions"),
    ],
)
def test_a_value_that_spark_lacks_is_refused_and_its_column_named(
    dsn: str, expression: str, complaint: str
) -> None:
    with pytest.raises(OmdError, match=complaint) as error:
        read(dsn, f"SELECT {expression} AS c")
    assert 'column "c"' in str(error.value)
    assert error.value.hint


def test_an_array_may_start_anywhere(dsn: str) -> None:
    table = read(dsn, "SELECT '[2:3]={5,6}'::int[] AS a, '[0:1]={1.5,2}'::numeric(5,1)[] AS b")
    assert table.to_pylist() == [{"a": [5, 6], "b": [Decimal("1.5"), Decimal("2.0")]}]


@pytest.mark.parametrize(
    "expression",
    [
        "interval '1 day'",
        "time '10:00'",
        "int4range(1, 2)",
        "inet '127.0.0.1'",
        "1::money",
        "ROW(1, 2)",
        "point(1, 2)",
        "B'101'",
        "ARRAY[interval '1 day']",
        "'{a}'::mood[]",
        "1::numeric(39, 2)",
        "NULL::numeric(2, 3)",
    ],
)
def test_a_type_that_spark_lacks_is_refused_before_a_row_moves(
    conn: Any, dsn: str, expression: str
) -> None:
    conn.execute("CREATE TYPE mood AS ENUM ('a', 'b')")
    with pytest.raises(omd.errors.lookup("OM242"), match='column "c"') as error:
        OmdDataSource({"url": dsn, "query": f"SELECT {expression} AS c"}).schema()
    assert "cast" in error.value.hint


@pytest.mark.parametrize(
    ("expression", "type_"),
    [
        ("struct(id)", "struct<id:bigint>"),
        ("map(id, id)", "map<bigint,bigint>"),
        ("array(struct(id))", "array<struct<id:bigint>>"),
        ("array(array(id))", "array<array<bigint>>"),
        ("NULL", "void"),
        ("INTERVAL '1' DAY", "interval day"),
    ],
)
def test_a_nested_value_is_refused_before_a_row_moves(
    spark: SparkSession,
    conn: Any,
    control: omd.Control,
    target: Callable[..., str],
    expression: str,
    type_: str,
) -> None:
    module = target("id bigint, c bigint[]")
    with pytest.raises(OmdError) as error, control.module(module) as run:
        run.write(spark.range(10).selectExpr("id", f"{expression} AS c"))
    assert f'column "c" of t.target does not take {type_}' in str(error.value)
    assert conn.execute("SELECT count(*) n FROM t.target").fetchone() == {"n": 0}


@pytest.mark.parametrize(
    ("column", "expression"),
    [
        ("d date", "date_sub(DATE'0001-01-01', 2000000) AS d"),
        ("ts timestamp", "CAST(timestamp_micros(-9223372036854775808) AS timestamp_ntz) AS ts"),
        ("tz timestamptz", "timestamp_micros(-9223372036854775808) AS tz"),
        ("a date[]", "array(date_sub(DATE'0001-01-01', 2000000)) AS a"),
        ("d date", "date_add(DATE'2000-01-01', 2147472689) AS d"),
    ],
)
def test_a_time_that_postgresql_lacks_is_refused(
    spark: SparkSession,
    conn: Any,
    control: omd.Control,
    target: Callable[..., str],
    column: str,
    expression: str,
) -> None:
    module = target(column)
    complaint = f'column "{column.split()[0]}" of t.target'
    with pytest.raises(OmdError, match=complaint), control.module(module) as run:
        run.write(spark.range(1).selectExpr(expression))
    assert conn.execute("SELECT count(*) n FROM t.target").fetchone() == {"n": 0}


def test_domains_and_enums(
    spark: SparkSession, conn: Any, control: omd.Control, target: Callable[..., str]
) -> None:
    conn.execute("CREATE DOMAIN positive AS integer CHECK (VALUE > 0)")
    conn.execute("CREATE DOMAIN price AS numeric(5, 2)")
    conn.execute("CREATE TYPE mood AS ENUM ('sad', 'héhé')")
    module = target("id positive, p price, m mood")
    rows = "VALUES (1, 1.5, 'héhé'), (2, NULL, NULL)"
    conn.execute(f"CREATE TABLE source (id positive, p price, m mood); INSERT INTO source {rows}")
    with control.module(module) as run:
        df = run.read(spark, "source")
        assert dict(df.dtypes) == {"id": "int", "p": "decimal(5,2)", "m": "string"}
        run.write(df)
    there = conn.execute("SELECT id, p, m FROM t.target ORDER BY id").fetchall()
    assert there == conn.execute("SELECT * FROM source ORDER BY id").fetchall()
    with pytest.raises(OmdError, match="positive"), control.module(module) as run:
        run.write(spark.sql("SELECT -1 AS id"))


def test_an_empty_frame_of_every_type(
    spark: SparkSession, conn: Any, control: omd.Control, target: Callable[..., str]
) -> None:
    types = {**SCALARS, **arrays()}
    columns = create(conn, "source", types)
    module = target(
        "row int, " + ", ".join(f"{c} {type_}" for c, type_ in zip(columns, types, strict=True))
    )
    with control.module(module) as run:
        df = run.read(spark, query="SELECT * FROM source WHERE row < 0")
        assert df.count() == 0
        assert run.write(df) == 0


def test_a_frame_of_500_columns(
    spark: SparkSession, conn: Any, control: omd.Control, target: Callable[..., str]
) -> None:
    types = [list(SCALARS)[number % len(SCALARS)] for number in range(500)]
    typed = ", ".join(f"column_{n} {type_}" for n, type_ in enumerate(types))
    values = ", ".join(f"%s::text::{type_}" for type_ in types)
    conn.execute(f"CREATE TABLE wide ({typed})")
    conn.execute(f"INSERT INTO wide VALUES ({values})", [SCALARS[t][1][0] for t in types])
    module = target(typed)
    with control.module(module) as run:
        run.write(run.read(spark, "wide"))
    names = ", ".join(f"column_{n}::text" for n in range(500))
    there = conn.execute(f"SELECT {names} FROM t.target").fetchall()
    assert there == conn.execute(f"SELECT {names} FROM wide").fetchall()


def test_long_texts_pass_in_flat_memory(
    spark: SparkSession, conn: Any, control: omd.Control, target: Callable[..., str]
) -> None:
    # 100 MB in one partition, as 100 texts of 1 MB that compress to nothing on the way to disk.
    module = target("id bigint, doc text")
    conn.execute(
        "CREATE TABLE source AS SELECT i AS id, repeat(md5(i::text), 32768) AS doc"
        " FROM generate_series(1::bigint, 100) AS i"
    )
    with control.module(module) as run:
        df = run.read(spark, "source", numPartitions=1)
        assert df.rdd.getNumPartitions() == 1
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "10")
        try:
            run.write(df.mapInArrow(noting_memory, df.schema))
        finally:
            spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "100")
    same = "SELECT count(*), sum(length(doc)), md5(string_agg(md5(doc), '' ORDER BY id)) FROM {}"
    found = conn.execute(same.format("t.target")).fetchone()
    assert found == conn.execute(same.format("source")).fetchone()
    assert found["sum"] == 100 * 2**20


def noting_memory(batches: Any) -> Any:
    """Pass batches on, and fail when the worker grew by more than a few of them."""
    start = None
    for batch in batches:
        yield batch
        now = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = start or now
        assert now - start < 60 * 1024, f"the worker grew from {start} to {now} kB"


def test_the_documented_table_is_that_of_the_code() -> None:
    assert type_table() in PAGE.read_text(encoding="utf-8"), type_table()
