"""The checks of a model mean the same in PostgreSQL and in Spark, over hostile rows."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from spark.delivery_plans import another_session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TYPES = {
    "delay": ("integer", "int"),
    "big": ("bigint", "bigint"),
    "small": ("smallint", "smallint"),
    "amount": ("numeric(12,2)", "decimal(12,2)"),
    "rate": ("double precision", "double"),
    "name": ("text", "string"),
    "day": ("date", "date"),
    "at": ("timestamp without time zone", "timestamp_ntz"),
    "seen": ("timestamp with time zone", "timestamp"),
    "ok": ("boolean", "boolean"),
}
ROWS: list[tuple[Any, ...]] = [
    (
        5,
        9223372036854775807,
        3,
        "12.50",
        0.1,
        "ab",
        "2013-01-01",
        "2013-01-01 10:00:00",
        "2013-01-01 10:00:00+00",
        True,
    ),
    (
        -2147483648,
        -9223372036854775808,
        -32768,
        "-0.01",
        -2.5,
        "",
        "0001-01-01",
        "1969-12-31 23:59:59.123456",
        "1900-01-01 00:00:00+00",
        False,
    ),
    (
        2147483647,
        1,
        32767,
        "9999999999.99",
        1e300,
        "a\\b'%_\n",
        "9999-12-31",
        "2013-01-01 00:00:00",
        "2013-01-01 00:00:00+00",
        None,
    ),
    (None, None, None, None, None, None, None, None, None, None),
    (
        0,
        0,
        0,
        "0",
        0.0,
        "ÄBCäbcİ  ",
        "2013-02-28",
        "2013-03-01 00:00:00",
        "2013-03-01 02:00:00+00",
        True,
    ),
    (
        1,
        2,
        2,
        "1.00",
        1.0,
        " X-12 ",
        "2012-02-29",
        "2012-02-29 00:00:00",
        "2012-02-29 12:00:00+00",
        False,
    ),
    (
        7,
        7,
        1,
        "7.00",
        7.0,
        "a%b",
        "2020-01-01",
        "2020-01-01 00:00:00.5",
        "2020-01-01 00:00:00.5+00",
        True,
    ),
    (
        8,
        8,
        1,
        "7.00",
        7.0,
        "😀ab\n",
        "2020-01-01",
        "2020-01-01 00:00:00.5",
        "2020-01-01 00:00:00.5+00",
        True,
    ),
]
FAILS = object()
CHECKS = [
    "delay BETWEEN -120 AND 1800",
    "delay * 1000 > big",
    "big * big > 5",
    "big + 1 > big",
    "-delay > 0",
    "abs(delay) >= 2147483648",
    "abs(small) * delay < 100",
    "delay - small <> 2",
    "delay IN (1, 5.0, NULL)",
    "delay NOT IN (1, 5)",
    "amount * (1 - amount) * (1 + amount) > 0",
    "amount = 12.5",
    "amount > rate",
    "rate * 2 < amount",
    "rate = 0.1",
    "name < 'b'",
    "name < 'Z'",
    "name >= 'Ä'",
    "name = 'a\\b''%_\n'",
    "name LIKE 'a\\%b'",
    "name LIKE 'a\\\\%'",
    "name LIKE '%\\_%'",
    "name LIKE '_ab%'",
    "name NOT LIKE 'a%'",
    "name LIKE '\\a%'",
    "length(name) > 3",
    "length(trim(name)) = 4",
    "length(name) = 4",
    "lower(name) = 'Äbcäbcİ  '",
    "upper(name) = 'ÄBCäBCİ  '",
    "trim(name) = 'X-12'",
    "substring(name, 0, 2) = 'a'",
    "substring(name, -1, 3) = 'a'",
    "substring(name, 1, 1) = 'a'",
    "substring(name, 2, 100) = 'b'",
    "substring(name, small, 1) = ''",
    "substring(name, -5, 2) = ''",
    "matches(name, '[A-Za-z]*')",
    "matches(name, '.*')",
    "matches(name, 'a.b')",
    "matches(name, ' [A-Z]-[0-9]{2} ')",
    "matches(name, 'a\\\\b''.*')",
    "matches(name, '.ab\n')",
    "matches(name, '.ab')",
    "matches(name, '(a|ab)')",
    "matches(name, '^a.*$|^$')",
    "matches(name, '[^a]*')",
    "name || '-' || name = 'ab-ab'",
    "name || NULL IS NULL",
    "day > DATE '2013-01-01'",
    "day = '2013-01-01'",
    "day + 1 > DATE '2013-02-28'",
    "day - 1 < DATE '2013-01-01'",
    "day - DATE '2013-01-01' > 0",
    "day + delay > day",
    "at > day",
    "at = day",
    "seen = day",
    "seen > at",
    "seen = at",
    "seen < TIMESTAMP '2013-01-01 00:00:00'",
    "at < TIMESTAMP '2013-01-01 00:00:00.000001'",
    "seen <= '2013-01-01 10:00:00+00:00'",
    "ok",
    "NOT ok",
    "ok = FALSE",
    "ok IS DISTINCT FROM TRUE",
    "ok IS NOT DISTINCT FROM NULL",
    "ok AND delay > 3 OR name IS NULL",
    "NOT (ok OR delay > 3)",
    "CASE WHEN delay > 3 THEN name ELSE 'x' END = 'x'",
    "CASE small WHEN 3 THEN TRUE WHEN 2 THEN FALSE END",
    "CASE WHEN ok THEN 1 WHEN NOT ok THEN 2.5 END > 2",
    "coalesce(delay, big, 3) = 3",
    "coalesce(name, '') = ''",
    "nullif(delay, 5) IS NULL",
    "nullif(name, '') IS NULL",
    "delay = '5'",
    "NULL",
    "TRUE",
    "delay > 1 AND NULL",
    "delay NOT BETWEEN small AND 7",
    "delay IS NOT NULL AND name <> ''",
]


@pytest.fixture
def conn(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("SET timezone = 'UTC'")
        yield conn


def expected(conn: psycopg.Connection[Any], check: str, words: str) -> list[Any]:
    """Return what PostgreSQL says of each row; FAILS where it has no such date."""
    # Integers are computed as numeric, so they do not overflow.
    wide = not re.search(r"day [+-]|substring", check)
    columns = ", ".join(
        "%s::{} AS {}".format(
            "numeric" if wide and kind in ("smallint", "integer", "bigint") else kind, name
        )
        for name, (kind, _) in TYPES.items()
    ).replace("::text", '::text COLLATE "C"')
    statement = f"SELECT {words.replace('%', '%%')} FROM (SELECT {columns}) AS t"
    said = []
    for row in ROWS:
        try:
            answer = conn.execute(statement.encode(), row).fetchone()
        except psycopg.errors.DatetimeFieldOverflow:
            answer = (FAILS,)
        assert answer is not None
        said.append(answer[0])
    return said


def test_a_check_is_true_for_the_same_rows_in_postgresql_and_in_any_session_of_spark(
    conn: psycopg.Connection[Any], spark: SparkSession
) -> None:
    types = json.dumps({name: kind for name, (kind, _) in TYPES.items()})
    checks = {}
    for check in CHECKS:
        row = conn.execute("SELECT omd_delivery._read_check(%s, %s)", (check, types)).fetchone()
        assert row is not None
        checks[check] = row[0]
    wanted = {check: expected(conn, check, words["sql"]) for check, words in checks.items()}
    staged = spark.createDataFrame(
        [(n, *(None if v is None else str(v) for v in row)) for n, row in enumerate(ROWS)],
        "n int, " + ", ".join(f"`{name}` string" for name in TYPES),
    )
    casts = [f"CAST(`{name}` AS {kind}) AS `{name}`" for name, (_, kind) in TYPES.items()]
    for zone, ansi, escapes in (
        ("America/New_York", "true", "false"),
        ("Asia/Tokyo", "false", "true"),
    ):
        session = another_session(
            spark, ansi_enabled=ansi, session_timeZone="UTC", parser_escapedStringLiterals=escapes
        )
        rows = session.createDataFrame(staged.collect(), staged.schema).selectExpr("n", *casts)
        rows = session.createDataFrame(rows.toArrow(), rows.schema)  # as typed in UTC
        session.conf.set("spark.sql.session.timeZone", zone)
        found = rows.selectExpr(
            "n", *(f"({words['spark']}) AS c{n}" for n, words in enumerate(checks.values()))
        )
        answer = sorted(found.collect(), key=lambda row: row["n"])
        for n, check in enumerate(checks):
            for row, want in zip(answer, wanted[check], strict=True):
                assert want is FAILS or row[f"c{n}"] is want, (zone, check, row["n"])
