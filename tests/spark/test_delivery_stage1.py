"""Stage 1 on Spark: staging, casts, checks and counts, from plans that the database makes."""

from __future__ import annotations

import json
import re
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from spark.delivery_plans import Desk, another_session, checked, violated
from pyspark.sql import functions as F  # noqa: N812

from omd.delivery.errors import DeliveryArgumentInvalid, InvalidModel
from omd.spark.delivery.stage1 import has
from omd.spark.delivery.staging import StagingChanged, stage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession


@pytest.fixture
def desk(dsn: str) -> Iterator[Desk]:
    desk = Desk(dsn)
    yield desk
    desk.conn.close()


def entity(*attributes: dict[str, Any], key: str = "k", **more: Any) -> dict[str, Any]:
    """Return an entity e with these attributes beside its key."""
    named = [{"name": key, "type": "text"}, *attributes]
    return {"name": "e", "key": [key], "attributes": named, **more}


BIG, TINY = "9" * 38, "0" * 60 + "1"
CASTS: dict[str, tuple[dict[str, str | None], str]] = {
    "boolean": (
        {"true": "true", "T": "true", " yes ": "true", "Y": "true", "1": "true", "FALSE": "false"}
        | {"f": "false", "No": "false", "n": "false", "0": "false"},
        "on off 2 tr ja 1.0 \ttrue",
    ),
    "smallint": (
        {"32767": "32767", "-32768": "-32768", " +7 ": "7", "007": "7", "-0": "0"},
        "32768 -32769 1.0 1. 1e2 + - ١ 0x1 1_000 1\t 7\n \u00a07",
    ),
    "integer": ({"2147483647": "2147483647", TINY: "1"}, "2147483648 1,5 NaN"),
    "bigint": (
        {"9223372036854775807": "9223372036854775807", "-9223372036854775808": "-" + str(2**63)},
        "9223372036854775808 12d",
    ),
    "numeric(5,2)": (
        {"999.99": "999.99", "-1": "-1.00", "+.5": "0.50", "1.": "1.00", "1.500000": "1.50"}
        | {" 0017.10 ": "17.10", "-0": "0.00", "1." + "0" * 50: "1.00"},
        "1000 1.005 999.999 1e2 . - 1.2.3 NaN Infinity 1,5 1.5\n",
    ),
    "numeric(38,0)": ({BIG: BIG, "5.0": "5", "7.": "7"}, f"{BIG}9 0.5 .5 1e3"),
    "numeric(3,3)": ({"0.125": "0.125", ".125000": "0.125"}, "1 0.1255"),
    "double precision": (
        {"1": "1.0", "-.5": "-0.5", "1e3": "1000.0", "2.E-1": "0.2", "1e-400": "0.0"},
        "NaN Infinity -Infinity 1e400 1d 2f 0x1p3 1e e5 . 1.5\n",
    ),
    "date": (
        {"2013-02-03": "2013-02-03", " 0001-01-01 ": "0001-01-01", "9999-12-31": "9999-12-31"},
        "2013-2-3 2013-02-30 2013 0000-12-31 10000-01-01 +2013-01-01 2013-02-03T00:00:00 20130203"
        " -0001-01-01 2013-02-03Z",
    ),
    "timestamp": (
        {"2013-02-03 04:05:06": "2013-02-03 04:05:06", "2013-02-03T04:05:06.5": "2013-02-03 "
         "04:05:06.5", "2013-03-10 02:30:00.000001": "2013-03-10 02:30:00.000001",
         "0001-01-01 00:00:00": "0001-01-01 00:00:00",
         "9999-12-31 23:59:59.999999": "9999-12-31 23:59:59.999999"},
        "2013-02-03 2013-02-03T04:05 2013-02-03T4:05:06 2013-02-03T24:00:00 2013-02-03T04:05:60"
        " 2013-02-03T04:05:06.1234567 2013-02-03T04:05:06Z 2013-02-30T00:00:00"
        " 0000-01-01T00:00:00 2013-02-03T04:05:06. 2013-02-03t04:05:06",
    ),
    "timestamptz": (
        {"2013-02-03 04:05:06": "2013-02-03 04:05:06", "2013-02-03T04:05:06.25+02:00":
         "2013-02-03 02:05:06.25", "2013-02-03 04:05:06Z": "2013-02-03 04:05:06",
         "2013-02-03 04:05:06-23:30": None},
        "2013-02-03T04:05:06+02 2013-02-03T04:05:06+0200 2013-02-03T04:05:06+02:60"
        " 2013-02-03T04:05:06UTC 0001-01-01T00:00:00+01:00 9999-12-31T23:59:59-01:00",
    ),
    "text(3)": ({"abc": "abc", " a ": " a ", "😀ÄÖ": "😀ÄÖ", "   ": "   "}, "abcd a\0"),
    "text": ({"a" * 1000: "a" * 1000, "\n": "\n"}, "\0 x\0y"),
}
FORMATS: list[tuple[str, str, dict[str, str], list[str]]] = [
    ("date", "dd.MM.yyyy", {"03.02.2013": "2013-02-03"}, ["3.2.2013", "30.02.2013", "2013-02-03"]),
    ("date", "d MMM yyyy", {"3 Feb 2013": "2013-02-03"}, ["3 feb 2013", "03 Feb 2013", "31 Feb 13"]),
    ("timestamp", "yyyyMMddHHmmss", {"20130203040506": "2013-02-03 04:05:06"}, ["2013020304050"]),
    (
        "timestamptz",
        "dd/MM/yyyy HH:mm XXX",
        {"03/02/2013 04:05 +02:00": "2013-02-03 02:05:00"},
        ["03/02/2013 04:05"],
    ),
]


@pytest.mark.parametrize(
    "settings",
    [
        {"ansi_enabled": "true", "session_timeZone": "America/New_York"},
        {
            "ansi_enabled": "false",
            "session_timeZone": "Asia/Tokyo",
            "legacy_timeParserPolicy": "LEGACY",
            "parser_escapedStringLiterals": "true",
            "caseSensitive": "false",
        },
    ],
    ids=["ansi-new-york", "legacy-tokyo"],
)
def test_a_staged_text_is_cast_as_the_model_says_in_any_session(
    desk: Desk, spark: SparkSession, settings: dict[str, str]
) -> None:
    attributes, cases = [], []
    for n, (kind, (good, bad)) in enumerate(CASTS.items()):
        attributes.append({"name": f"a{n}", "type": kind})
        cases.append({**good, **dict.fromkeys(bad.split(" ")), "": None})
    for n, (kind, pattern, good, wrong) in enumerate(FORMATS):
        attributes.append({"name": f"f{n}", "type": kind, "format": pattern})
        cases.append({**good, **dict.fromkeys(wrong), "": None})
    session = another_session(spark, **settings)
    before = dict(session.conf.getAll)
    length = max(map(len, cases))
    staged = [[*case, *[None] * (length - len(case))] for case in cases]
    rows = [(str(n), *values) for n, values in enumerate(zip(*staged, strict=True))]
    frame = session.createDataFrame(
        rows, ", ".join(["k string", *(f"{a['name']} string" for a in attributes)])
    )
    found = checked(session, desk.plan(entity(*attributes)), {"e": frame})

    assert dict(session.conf.getAll) == before
    codes = [c.code for c in found.constraints]
    shown = found.rows().select(
        "k",
        *(F.col(a["name"]).cast("string") for a in attributes),
        *(has(codes.index(f"e.{a['name']}.datatype")).alias("_" + a["name"]) for a in attributes),
    )
    answer = {row["k"]: row.asDict() for row in shown.collect()}
    for attribute, case in zip(attributes, cases, strict=True):
        name = attribute["name"]
        got = [answer[str(n)] for n in range(len(case))]
        assert {s: row[name] for s, row in zip(case, got, strict=True)} == case, attribute
        wrong = {s for s, row in zip(case, got, strict=True) if row["_" + name]}
        assert wrong == {s for s, want in case.items() if want is None and s != ""}, attribute
    found.release()
