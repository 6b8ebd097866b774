"""Stage 1 on Spark: staging, casts, checks and counts, from plans that the database makes."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F  # noqa: N812

from omd.errors import lookup
from omd.spark.delivery.stage1 import has
from spark.delivery_plans import Desk, another_session, checked, stage, violated
from support.offenders import assert_none

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession


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
pytestmark = pytest.mark.spark

CASTS: dict[str, tuple[dict[str, str | None], str]] = {
    "boolean": (
        {"true": "true", "T": "true", " yes ": "true", "Y": "true", "1": "true", "FALSE": "false"}
        | {"f": "false", "No": "false", "n": "false", "0": "false"},
        "on off 2 tr ja 1.0 \ttrue",
    ),
    "smallint": (
        {"32767": "32767", "-32768": "-32768", " +7 ": "7", "007": "7", "-0": "0"},
        "32768 -32769 1.0 1. 1e2 + - \u0661 0x1 1_000 1\t 7\n \u00a07",
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
        (
            "2013-2-3 2013-02-30 2013 0000-12-31 10000-01-01 +2013-01-01 2013-02-03T00:00:00"
            " 20130203 -0001-01-01 2013-02-03Z"
        ),
    ),
    "timestamp": (
        {
            "2013-02-03 04:05:06": "2013-02-03 04:05:06",
            "2013-02-03T04:05:06.5": "2013-02-03 04:05:06.5",
            "2013-03-10 02:30:00.000001": "2013-03-10 02:30:00.000001",
            "0001-01-01 00:00:00": "0001-01-01 00:00:00",
            "9999-12-31 23:59:59.999999": "9999-12-31 23:59:59.999999",
        },
        (
            "2013-02-03 2013-02-03T04:05 2013-02-03T4:05:06 2013-02-03T24:00:00 2013-02-03T04:05:60"
            " 2013-02-03T04:05:06.1234567 2013-02-03T04:05:06Z 2013-02-30T00:00:00"
            " 0000-01-01T00:00:00 2013-02-03T04:05:06. 2013-02-03t04:05:06"
        ),
    ),
    "timestamptz": (
        {
            "2013-02-03 04:05:06": "2013-02-03 04:05:06",
            "2013-02-03T04:05:06.25+02:00": "2013-02-03 02:05:06.25",
            "2013-02-03 04:05:06Z": "2013-02-03 04:05:06",
            "2013-02-03 04:05:06-23:30": None,
        },
        (
            "2013-02-03T04:05:06+02 2013-02-03T04:05:06+0200 2013-02-03T04:05:06+02:60"
            " 2013-02-03T04:05:06UTC 0001-01-01T00:00:00+01:00 9999-12-31T23:59:59-01:00"
        ),
    ),
    "text(3)": ({"abc": "abc", " a ": " a ", "😀ÄÖ": "😀ÄÖ", "   ": "   "}, "abcd a\0"),
    "text": ({"a" * 1000: "a" * 1000, "\n": "\n"}, "\0 x\0y"),
}
FORMATS: list[tuple[str, str, dict[str, str], list[str]]] = [
    ("date", "dd.MM.yyyy", {"03.02.2013": "2013-02-03"}, ["3.2.2013", "30.02.2013", "2013-02-03"]),
    (
        "date",
        "d MMM yyyy",
        {"3 Feb 2013": "2013-02-03"},
        ["3 feb 2013", "03 Feb 2013", "31 Feb 13"],
    ),
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


def test_a_typed_column_is_cast_where_nothing_is_lost(desk: Desk, spark: SparkSession) -> None:
    noon = "timestamp'2013-02-03 12:00:00+00:00'"
    cases: list[tuple[str, str, str | None]] = [
        ("double(1.0)", "integer", "1"),
        ("double(1.5)", "integer", None),
        ("double('NaN')", "integer", None),
        ("9.223372036854775807e18d", "bigint", None),
        ("70000", "smallint", None),
        ("12.50", "smallint", None),
        ("12.00", "smallint", "12"),
        ("double(0.1)", "numeric(5,2)", "0.10"),
        ("double(0.125)", "numeric(5,2)", None),
        ("double('Infinity')", "double precision", None),
        ("float('NaN')", "text", None),
        ("9007199254740993", "double precision", None),
        ("1.005", "numeric(5,2)", None),
        ("1.500000", "numeric(5,2)", "1.50"),
        ("1", "boolean", "true"),
        ("2", "boolean", None),
        ("true", "text", "true"),
        ("12.50", "text", "12.50"),
        ("date'2013-02-03'", "timestamptz", "2013-02-03 00:00:00"),
        (noon, "date", None),
        (noon, "timestamp", "2013-02-03 12:00:00"),
        ("timestamp_ntz'2013-02-03 00:00:00'", "date", "2013-02-03"),
        ("timestamp_ntz'2013-02-03 01:00:00'", "timestamptz", "2013-02-03 01:00:00"),
        ("date'0000-12-31'", "date", None),
        ("null", "date", ""),
        ("cast(null as double)", "integer", ""),
        ("''", "integer", ""),
    ]
    attributes = [{"name": f"a{n}", "type": kind} for n, (_, kind, _) in enumerate(cases)]
    session = another_session(spark, session_timeZone="America/New_York", ansi_enabled="false")
    columns = ", ".join(f"{said} AS a{n}" for n, (said, _, _) in enumerate(cases))
    frame = session.sql(f"SELECT 'x' AS k, {columns}")
    found = checked(session, desk.plan(entity(*attributes)), {"e": frame})
    row = found.rows().select(*(F.col(a["name"]).cast("string") for a in attributes)).head()
    assert row is not None
    assert list(row) == [want or None for _, _, want in cases]
    assert violated(found) == {
        f"a{n}.datatype": 1 for n, (_, _, want) in enumerate(cases) if want is None
    }
    found.release()

    for said, kind in (("array(1)", "text"), ("date'2013-01-01'", "integer"), ("X'00'", "text")):
        plan = desk.plan(entity({"name": "a", "type": kind}))
        with pytest.raises(lookup("OM036"), match="the staged column a of e"):
            checked(session, plan, {"e": session.sql(f"SELECT 'x' AS k, {said} AS a")})


HOSTILE = 'Flight "Day".`x`'
FLIGHTS = entity(
    {"name": "day", "type": "date", "mandatory": True, "source": HOSTILE},
    {"name": "origin", "type": "text(3)", "values": ["EWR", "JFK"]},
    {"name": "delay", "type": "integer", "source": "De lay"},
    {"name": "amount", "type": "numeric(6,2)", "source": "AMOUNT"},
    {"name": "twice", "type": "integer", "computed": "`De lay` * 2"},
    {"name": "order", "type": "text", "source": "amount"},
    constraints=[
        {"name": "plausible", "type": "value", "attribute": "delay", "check": "delay < 1800"},
        {"name": "late", "type": "record", "check": "delay IS NULL OR amount > 0"},
        {"name": "today", "type": "record", "check": "day <= delivery_date()"},
    ],
)
SETTINGS = {
    "e.plausible": {"action": "EMPTY COLUMN"},
    "e.origin.enumeration": {"action": "NO ACTION"},
    "e.delay.datatype": {"action": "EMPTY COLUMN"},
    "e.late": {"action": "NO ACTION"},
}


def test_all_violations_of_a_row_count_and_a_column_is_emptied_before_the_record_is_checked(
    desk: Desk, spark: SparkSession, tmp_path: Path
) -> None:
    header = 'k,"Flight ""Day"".`x`",origin,De lay,AMOUNT,amount,acm_source_transaction_ind'
    rows = [
        "a,2020-03-01,EWR,5,1.50,x,",
        "b,2020-03-02,EWR,5,1.50,,",  # after the day of the delivery in UTC
        "c,,XXX,5000,0,,I",  # late looks at the emptied delay
        "d,2020-02-30,JFK,x,1,,",
        ",2020-01-01,JFK,1,1,,",
        "f,2020-01-01,JFK,1,0,,",
        "g,2020-01-01,JFK,1,1,,",
        "g,,JFK,1,1,,",  # skipped in any case, and still a duplicate
        "h,2020-01-01",
        "i,never,XXX,x,x,,D",
        "g,never,XXX,x,x,,D",
        ",,,,,,D",
    ]
    (tmp_path / "e.csv").write_text("\n".join([header, *rows]) + "\n")
    plan = desk.plan(FLIGHTS, settings=SETTINGS, loads={"e": {"load": "FULL", "rows": 10}})
    found = checked(spark, plan, tmp_path, keep=["delay"])
    counts = {"day.datatype": 1, "delay.datatype": 1, "day.mandatory": 2, "origin.enumeration": 1}
    counts |= {"plausible": 1, "late": 1, "today": 1}
    # A delete mark in a Full entity is row_format, and nothing else of the row is tested.
    assert violated(found) == counts | {"row_count": 2, "row_format": 4, "primary_key": 4}
    assert found.measures()["rows_delivered"] == 12
    assert found.measures()["rows_skipped"] == 10
    assert found.measures()["findings"] == {}
    good = found.narrow.where("NOT _skip").select("k", "delay").collect()
    assert {tuple(row) for row in good} == {("a", 5), ("f", 1)}
    kept = {row["k"]: row for row in found.rows().where("k IN ('a', 'c', 'd')").collect()}
    assert (kept["a"]["twice"], kept["a"]["order"], kept["a"]["amount"]) == (
        10,
        "x",
        Decimal("1.50"),
    )
    assert (kept["c"]["delay"], kept["c"]["twice"]) == (None, 10000)
    assert kept["d"]["_raw"][HOSTILE] == "2020-02-30"
    assert kept["d"]["_from"].endswith("/e.csv")
    hashes = {
        (row["k"], row["_hash_a"], row["_hash_b"])
        for frame in (found.rows(), found.narrow)
        for row in frame.where("k IN ('a', 'c', 'd')").collect()
    }
    assert len(hashes) == 3
    found.release()

    delta = desk.plan(FLIGHTS, settings=SETTINGS, loads={"e": "DELTA"})
    found = checked(spark, delta, {"e": tmp_path / "e.csv"})
    # Of a delete row only its key is tested.
    assert violated(found) == counts | {"row_format": 1, "primary_key": 5}
    good = found.narrow.where("NOT _skip").select("k", "_delete").collect()
    assert {tuple(row) for row in good} == {("a", False), ("f", False), ("i", True)}
    assert found.narrow.where("NOT _readable").count() == 3
    found.release()


def test_more_constraints_than_a_bigint_has_bits(desk: Desk, spark: SparkSession) -> None:
    names = [f"a{n}" for n in range(70)]
    attributes = [
        {"name": name, "type": "integer", "mandatory": True, "values": [1]} for name in names
    ]
    key = {"name": "k", "type": "integer"}
    settings = {"e.a69.enumeration": {"action": "NO ACTION"}}
    plan = desk.plan(
        {"name": "e", "key": ["k"], "attributes": [key, *attributes]}, settings=settings
    )
    ones = dict.fromkeys(names, "1")
    rows = [
        {"k": "1", **ones},
        {"k": "2", **ones, "a69": "2"},
        {"k": "3", **ones, "a68": "x", "a67": ""},
        {"k": "x", **ones},
    ]
    schema = ", ".join(f"{c} string" for c in ["k", *names])
    found = checked(spark, plan, {"e": spark.createDataFrame(rows, schema)})
    one = ["a69.enumeration", "a68.datatype", "a67.mandatory", "k.datatype", "primary_key"]
    assert violated(found) == dict.fromkeys(one, 1)
    assert {r[0] for r in found.narrow.where("NOT _skip").select("k").collect()} == {1, 2}
    found.release()


def pairs(found: Any) -> list[tuple[Any, ...]]:
    """Return key and value of the rows that can be read."""
    rows = found.rows().where("_readable").select("k", "v").collect()
    return sorted((tuple(row) for row in rows), key=repr)


@dataclass(frozen=True)
class File:
    """A file, and what is read of it; the keys of its rows are in no other file of its folder."""

    data: bytes
    pairs: list[tuple[str, str | None]]
    violated: dict[str, int] = field(default_factory=dict)  # rows, by constraint


# Files of a folder have the same header, and go the same way: by lines, or by records.
FOLDERS: list[tuple[dict[str, Any], dict[str, File]]] = [
    (
        {},
        {
            "another number of fields": File(
                b"k,v\n1,a\n2\n3,a,b\n4,\n", [("1", "a"), ("4", None)], {"row_format": 2}
            ),
            "bytes that are no UTF-8": File(
                b"k,v\n11,a\xff\n12,b\n", [("12", "b")], {"row_format": 1}
            ),
            "U+0000": File(
                b"k,v\n21,a\x00\n22,b\n", [("21", None), ("22", "b")], {"v.datatype": 1}
            ),
            "quotes that do not belong there": File(
                b'k,v\n31,"b"c\n32,b"c\n33,b"\n"34","""b"""\n35,"b"c"d\n',
                [("31", '"b"c'), ("32", 'b"c'), ("33", 'b"'), ("34", '"b"'), ("35", '"b"c"d')],
            ),
            "only a header": File(b"k,v\n", []),
        },
    ),
    (
        {},
        {
            "line ends in quotes, and a quote that is never closed": File(
                b'k,v\r\n1,"a\r\nb,\r\n""c"""\r\n2,x\r\n3,"open\r\n4,y\r\n',
                [("1", 'a\r\nb,\r\n"c"'), ("2", "x")],
                {"row_format": 1},
            ),
            "an open quote beside bytes that are no UTF-8": File(
                b'k,v\n11,"a\nb"\n12,a\xff\n13,\xed\xa0\x80\n', [("11", "a\nb")], {"row_format": 2}
            ),
        },
    ),
    (
        {},
        {
            "a byte order mark, CRLF, quotes, empty lines, another order, one more column": File(
                b'\xef\xbb\xbfv,"k",extra\r\n"x, ""y"" \xc3\xa9",1,\r\n\r\n  \r\n,2,z\r\n'
                b'"",3,z\r\n',
                [("1", 'x, "y" é'), ("2", None), ("3", None)],
            )
        },
    ),
    (
        {"code_page": "1252", "field_terminator": ";"},
        {"a code page and a semicolon": File("k;v\n1;€ä\n".encode("cp1252"), [("1", "€ä")])},
    ),
    (
        {"datafile_type": "widechar", "field_terminator": "\\t"},
        {
            "wide characters and a tabulator": File(
                '\ufeffk\tv\r\n1\tਊ"ä\r\n2\t\r\n'.encode("utf-16-le"), [("1", 'ਊ"ä'), ("2", None)]
            )
        },
    ),
    (
        {"field_terminator": "^~", "row_terminator": "0x1e", "quote": ""},
        {
            "other terminators and no quotes": File(
                b'k^~v\x1e1^~"a\nb\x1e2^~,\\', [("1", '"a\nb'), ("2", ",\\")]
            )
        },
    ),
    (
        {"field_terminator": "||"},
        {
            "a longer terminator, and a value that ends as it begins": File(
                b'k||v\n1||a|\n2||"b||c"\n3||a||b\n4\n5||""\n6||\n7||"open\n',
                [("1", "a|"), ("2", "b||c"), ("5", None), ("6", None)],
                {"row_format": 3},
            )
        },
    ),
    (
        {"quote": "'"},
        {"another quote": File(b"k,v\n1,'a,''b'\n2,\"\n", [("1", "a,'b"), ("2", '"')])},
    ),
    (
        {"first_row_is_header": False},
        {"no header": File(b"k,v\n1,a\n", [("1", "a"), ("k", "v")])},
    ),
    ({}, {"a missing column": File(b"k,V\n1,a\n", [("1", None)])}),
    ({}, {"nothing": File(b"", [])}),
]


def by_file(found: Any, rows: DataFrame) -> dict[str, tuple[list[Any], dict[str, int]]]:
    """Return of each file the pairs that can be read, and how many rows violate a constraint."""
    codes = [c.code.partition(".")[2] for c in found.constraints]
    bits = F.array(*(has(n) for n in range(len(codes))))
    files: dict[str, tuple[list[Any], Counter[str]]] = {}
    for path, readable, bad, *pair in rows.select("_from", "_readable", bits, "k", "v").collect():
        pairs, violated = files.setdefault(Path(path).stem, ([], Counter()))
        pairs += [tuple(pair)] if readable else []
        violated.update(code for code, is_bad in zip(codes, bad, strict=True) if is_bad)
    return {name: (sorted(p, key=repr), dict(v)) for name, (p, v) in files.items()}


def test_a_file_is_read_without_loss(
    desk: Desk, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("omd.spark.delivery.stage1._SHARE", 1)
    monkeypatch.setattr("omd.spark.delivery.staging.csv._FEW_BYTES", 0)
    columns = {"a missing column": 1, "nothing": 2}
    unknown = {"a byte order mark, CRLF, quotes, empty lines, another order, one more column"}
    unknown.add("a missing column")
    wrong = []
    for number, (options, files) in enumerate(FOLDERS):
        folder = tmp_path / f"{number}.csv"
        folder.mkdir()
        for name, file in files.items():
            (folder / f"{name}.csv").write_bytes(file.data)
        plan = desk.plan(entity({"name": "v", "type": "text"}), csv=options)
        found = checked(spark, plan, {"e": folder})
        got = by_file(found, found.rows())
        # Each other row is found by its place, too.
        keys = [k for file in files.values() for k, _ in file.pairs][::2]
        places = found.narrow.where(F.col("k").isin(keys) & F.col("_readable")).select("_place")
        at = by_file(found, found.rows_at(places, len(keys))) if keys else {}
        for name, file in files.items():
            if (said := got.get(name, ([], {}))) != (file.pairs, file.violated):
                wrong.append((name, f"{said} is read, not {(file.pairs, file.violated)}"))
            few = [pair for pair in file.pairs if pair[0] in keys]
            if (said := at.get(name, ([], {}))[0]) != few:
                wrong.append((name, f"{said} is at the places of {few}"))
        counts = sum((Counter(file.violated) for file in files.values()), Counter())
        counts += Counter(columns=sum(columns.get(name, 0) for name in files))
        if violated(found) != counts:
            wrong.append((", ".join(files), f"{violated(found)} is counted, not {counts}"))
        findings = {"UNKNOWN_COLUMN": 1} if unknown & files.keys() else {}
        if found.measures()["findings"] != findings:
            wrong.append((", ".join(files), f"{found.measures()['findings']} is found"))
        found.release()
    assert_none(wrong)


def test_the_files_of_a_folder_are_one_entity_and_must_not_change_meanwhile(
    desk: Desk, spark: SparkSession, tmp_path: Path
) -> None:
    import gzip

    parts = tmp_path / "a [b] {c}*" / "e.txt"
    parts.mkdir(parents=True)
    (parts / "1.txt").write_text("k,v\n1,a\n")
    (parts / "2.txt.gz").write_bytes(gzip.compress(b"v,k\nb,2\nk,v\n"))
    (parts / "_SUCCESS").write_text("")
    plan = desk.plan(entity({"name": "v", "type": "text"}), csv={"file_extension": ".txt"})
    staged = stage(spark, plan, str(parts.parent))
    staged["e"].unchanged()
    found = checked(spark, plan, {"e": str(parts)})
    assert pairs(found) == [("1", "a"), ("2", "b"), ("v", "k")]
    found.release()
    (parts / "3.txt").write_text("k,v\n3,c\n")
    with pytest.raises(lookup("OM146"), match=r"3\.txt"):
        staged["e"].unchanged()
    with pytest.raises(lookup("OM036"), match="nothing was handed over for e"):
        stage(spark, plan, str(parts))
    with pytest.raises(lookup("OM036"), match="there is no folder"):
        stage(spark, plan, str(tmp_path / "nowhere"))
    with pytest.raises(lookup("OM036"), match="the delivery does not have it"):
        stage(spark, plan, {"e": str(parts), "f": str(parts)})


def test_few_of_many_rows_are_found_by_their_places(
    desk: Desk, spark: SparkSession, tmp_path: Path
) -> None:
    """There are many files, cut into many parts, and the session gets more tasks meanwhile."""
    spark = another_session(spark, files_openCostInBytes="1")
    plan = desk.plan(entity({"name": "v", "type": "text"}))
    wanted = {str(n): f"value {n}" for n in range(1, 2001)}
    for kind in ("csv", "json"):
        folder = tmp_path / f"e.{kind}"
        folder.mkdir()
        for file in range(5):
            lines = [(k, v) for k, v in wanted.items() if int(k) % 5 == file]
            told = (
                ["k,v", *(f'{k},"{v}"' for k, v in lines)]
                if kind == "csv"
                else [json.dumps({"k": k, "v": v}) for k, v in lines]
            )
            (folder / f"{file}.{kind}").write_text("\n".join(told) + "\n")
        found = checked(spark, plan, {"e": str(folder)})
        found.rows().sparkSession.conf.set("spark.sql.leafNodeDefaultParallelism", "7")
        places = [row[0] for row in found.narrow.select("_place").collect()]
        assert len(set(places)) == len(places) == 2000
        for number in (1, 200):
            some = found.narrow.where(f"cast(k AS int) <= {number}").select("_place")
            rows = found.rows_at(some, number).select("k", "v", "_from").collect()
            assert {row[0]: row[1] for row in rows} == {
                k: wanted[k] for k in map(str, range(1, number + 1))
            }
            assert len(rows) == number
            assert all(row[2].endswith(f"/{int(row[0]) % 5}.{kind}") for row in rows)
        assert found.rows_at(some, 201).count() == 2000
        found.release()


def test_json_lines_keep_exact_numbers_and_tell_what_is_no_object(
    desk: Desk, spark: SparkSession, tmp_path: Path
) -> None:
    lines = [
        '{"k": 1, "v": 12345678901234567890.12, "it\'s.`x`": {"a": [1, 2]}}',
        '{"v": "é", "k": "2"}',
        '{"k": 3, "v": null} ',
        '{"k": 4} x',
        '{"k": 5}{"k": 6}',
        '{"k": 7',
        "[8]",
        "null",
        '{"k": 9, "k": 10}',
        "",
        '{"k": "a\\u0000"}',
    ]
    (tmp_path / "e.json").write_text("\n".join(lines))
    found = checked(spark, desk.plan(entity({"name": "v", "type": "text"})), tmp_path)
    assert pairs(found) == [("1", "12345678901234567890.12"), ("2", "é"), ("3", None)]
    assert violated(found) == {"row_format": 6, "k.datatype": 1, "primary_key": 1}
    assert found.measures()["findings"] == {"UNKNOWN_COLUMN": 1}
    found.release()


def test_parquet_is_typed_and_a_derived_entity_follows_from_staged_rows(
    desk: Desk, spark: SparkSession, tmp_path: Path
) -> None:
    derived = {
        "name": "d",
        "key": ["v"],
        "attributes": [{"name": "v", "type": "text"}, {"name": "n", "type": "bigint"}],
        "derived": {
            "from": ["e"],
            "query": "SELECT v, count(*) AS n, max(`more`) AS more FROM e GROUP BY v",
        },
    }
    plan = desk.plan(entity({"name": "v", "type": "text"}), derived)
    frame = spark.sql("SELECT k, k % 2 AS v, date'2013-01-01' AS more FROM range(5) AS t (k)")
    frame.write.parquet(str(tmp_path / "e.parquet"))
    before = [t.name for t in spark.catalog.listTables()]
    staged = stage(spark, plan, tmp_path)
    assert [t.name for t in spark.catalog.listTables()] == before
    assert staged["e"].findings == {}
    found = checked(spark, plan, tmp_path, "d")
    rows = found.rows().select("v", "n").collect()
    assert sorted(map(tuple, rows)) == [("0", 3), ("1", 2)]
    assert found.measures()["findings"] == {"UNKNOWN_COLUMN": 1}
    found.release()


def test_what_spark_cannot_compile_is_told_before_a_row_is_read(
    desk: Desk, spark: SparkSession
) -> None:
    frame = spark.sql("SELECT raise_error('read') AS k, 1 AS v")
    wrong = entity({"name": "v", "type": "integer", "computed": "nosuch(v)"})
    with pytest.raises(lookup("OM030"), match=r"e\.v may not use the function nosuch"):
        checked(spark, desk.plan(wrong), {"e": frame})
    wrong = entity({"name": "v", "type": "date", "format": "YYYY-bb"})
    with pytest.raises(lookup("OM030"), match=r"e\.v"):
        checked(spark, desk.plan(wrong), {"e": frame.selectExpr("k", "string(v) AS v")})
    derived = {"from": ["e"], "query": "SELECT nosuch FROM e"}
    other = {"name": "d", "key": ["v"], "attributes": [{"name": "v", "type": "text"}]}
    plan = desk.plan(entity({"name": "v", "type": "text"}), {**other, "derived": derived})
    with pytest.raises(lookup("OM030"), match="the query of d"):
        stage(spark, plan, {"e": frame})
    # A staged column that is not there is a violation, not a mistake of the model.
    lacking = desk.plan(entity({"name": "v", "type": "integer", "computed": "nosuch + 1"}))
    found = checked(spark, lacking, {"e": spark.sql("SELECT 'x' AS k")})
    assert violated(found) == {"columns": 1}
    found.release()
