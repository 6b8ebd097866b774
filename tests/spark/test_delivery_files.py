"""Files as tenants may write them: each record is one row, or one bad row."""

from __future__ import annotations

import gzip
import json
import os
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from pyspark.sql import functions as F  # noqa: N812

from omd.errors import lookup
from omd.spark.delivery.stage1 import check
from spark.delivery_plans import Desk, checked, stage, violated
from support.lots import seeds

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    from omd.spark.delivery.plan import Plan

pytestmark = pytest.mark.spark
KEY = {"name": "k", "type": "text"}
TEXT = {"name": "v", "type": "text"}
OTHER = {"name": "w", "type": "text", "source": '5" pipe'}
E = {"name": "e", "key": ["k"], "attributes": [KEY, TEXT, OTHER]}
Rows = list[tuple[Any, ...]]


@pytest.fixture
def desk(dsn: str) -> Iterator[Desk]:
    desk = Desk(dsn)
    yield desk
    desk.conn.close()


def with_csv(plan: Plan, **csv: Any) -> Plan:
    return replace(plan, options={**plan.options, "csv": csv})


def told(spark: SparkSession, plan: Plan, given: Any) -> tuple[Rows, dict[str, int]]:
    """Return the readable rows, and how many violate each constraint."""
    found = checked(spark, plan, given)
    names = [a.name for a in plan.entities["e"].attributes]
    rows = [tuple(row) for row in found.values().where("_readable").select(names).collect()]
    assert sorted(rows, key=repr) == sorted(
        map(tuple, found.rows().where("_readable").select(names).collect()), key=repr
    )
    counts = violated(found)
    found.release()
    return sorted(rows, key=repr), counts


CSV: dict[str, tuple[dict[str, Any], dict[str, bytes], Rows, dict[str, int]]] = {
    "rows that are written as the header, in some of several files": (
        {},
        {
            "1.csv": b'k,v,"5"" pipe"\n1,a,\nk,v,"5"" pipe"\n2,b,',
            "2.csv": b'"k",v,5" pipe\n"k",v,5" pipe\nk,v,5" pipe\n',
            "3.csv": b'k,v,5" pipe\n',
            "4.csv": b"",
            "5.csv.gz": gzip.compress(b'\n  \nk,v,5" pipe\r\n3,c,\r\n'),
            "6.csv.gz": gzip.compress(b""),
            "7.csv": b'\xef\xbb\xbfk,v,5" pipe\n4,d,\n',
        },
        [("1", "a", None), ("2", "b", None), ("3", "c", None), ("4", "d", None)]
        + [("k", "v", '5" pipe')] * 3,
        {"primary_key": 3},
    ),
    "bare quotes beside a record of two lines, and an open quote in another file": (
        {},
        {
            "1.csv": b'k,v,5" pipe\n1,5" pipe,x\n2,"a\nb",y\n3,6" tube,z\n4,7" hose,"c\nd"\n',
            "2.csv": b'k,v,5" pipe\n5,8" rod,"open\n6,f,\n',
            "3.csv": b'k,v,5" pipe\n7,9" bar,\n8,g,h\n',
        },
        [
            ("1", '5" pipe', "x"),
            ("2", "a\nb", "y"),
            ("3", '6" tube', "z"),
            ("4", '7" hose', "c\nd"),
            ("7", '9" bar', None),
            ("8", "g", "h"),
        ],
        {"row_format": 1},
    ),
    "lines that end by CR, and one within quotes": (
        {},
        {"1.csv": b'k,v,5" pipe\r1,a,\r2,"b\rc",\r\n3,"d\r\ne",\n4,"f\n\rg",', "2.csv": b"k,v\r"},
        [("1", "a", None), ("2", "b\rc", None), ("3", "d\r\ne", None), ("4", "f\n\rg", None)],
        {"columns": 1},
    ),
    "wide characters and line ends within quotes": (
        {"datafile_type": "widechar"},
        {
            "1.csv": '\ufeffk,v,5" pipe\r\n1,"ä\r\n\U0001f600",\r\n'.encode("utf-16-le"),
            "2.csv": 'k,v,5" pipe\rk,v,5" pipe\r'.encode("utf-16-le"),
        },
        [("1", "ä\r\n\U0001f600", None), ("k", "v", '5" pipe')],
        {},
    ),
    "a header of two lines, and a name that is no UTF-8": (
        {},
        {"1.csv": b'k,"v\n2",v\n1,x,a\n', "2.csv": b"k,v,\xff\n2,b,\nk,v,\xff\n"},
        [("1", "a", None), ("2", "b", None)],
        {"columns": 1, "row_format": 1},
    ),
}


def test_each_record_of_csv_is_one_row(
    desk: Desk, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("omd.spark.delivery.staging.csv._FEW_BYTES", 0)
    plan = desk.plan(E)
    for number, (case, (options, files, rows, counts)) in enumerate(CSV.items()):
        folder = tmp_path / f"{number}.csv"
        folder.mkdir()
        for name, data in files.items():
            (folder / name).write_bytes(data)
        assert told(spark, with_csv(plan, **options), {"e": folder}) == (rows, counts), case


LONG = "1234567890" * 4
JSON: list[tuple[str, str | None]] = [  # a line, and the text of its v; None: it is bad
    (f'{{"k": 1, "v": {LONG}}}', LONG),
    (f'{{"k": 2, "v": -{LONG}.{LONG}}}', f"-{LONG}.{LONG}"),
    ('{"k": 3, "v": 1E400}', "1E400"),
    ('{"k": 4, "v": -0}', "-0"),
    ('{"k": 5,"v":1.50e-07 }', "1.50e-07"),
    (f'{{"k": 6, "v": {{"b": [{LONG}, -0.10, "1.0"], "a": "2E2"}}}}', None),
    ('{"k": 7, "v": "1E400"}', "1E400"),
    ('{"k": 8, "v": "a\\"1\\\\"}', 'a"1\\'),
    ('{"k": 9, "v": "\\ud83d\\ude00\\\\ud800"}', "\U0001f600\\ud800"),
    ('{"k": 10, "v": true, "w": [1, {"x": 2.0}]}', "true"),
    ('{"k": 2}],[{"k": 3}', None),
    ('{"k": 1}, {"k": 2}', None),
    ('{"k": 1} {"k": 2}', None),
    ('{"k": 1}, "x"', None),
    ('{"k": 1} x', None),
    ('{"k": 1', None),
    ('[{"k": 1}]', None),
    ('{"k": 01}', None),
    ('{"k": 1.}', None),
    ('{"k": .5}', None),
    ('{"k": +1}', None),
    ('{"k": NaN}', None),
    ('{1: 2, "k": 1}', None),
    ('{"k": 1, "k": 2}', None),
    ('{"k": 1 2}', None),
    ('{"k": 1-2}', None),
    ('{"k": "\\ud800"}', None),
    ('{"k": "\\udc00\\ud800"}', None),
    ("1", None),
    ("null", None),
    ('"k"', None),
    ("\t", None),
]


def test_a_line_of_json_is_one_value_and_its_numbers_are_not_rounded(
    desk: Desk, spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "e.json").write_text("".join(f"{line}\n\n  \n" for line, _ in JSON))
    amount = {"name": "n", "type": "numeric(38,0)", "source": "v"}
    plan = desk.plan({"name": "e", "key": ["k"], "attributes": [KEY, TEXT, amount]})
    rows, counts = told(spark, plan, tmp_path)
    found = {row[0]: row[1] for row in rows}
    nested = json.loads(found.pop("6") or "", parse_int=str, parse_float=str)
    assert nested == {"b": [LONG, "-0.10", "1.0"], "a": "2E2"}
    assert found == {str(json.loads(line)["k"]): text for line, text in JSON if text is not None}
    assert {row[2] for row in rows} == {None, 0}
    bad = sum(text is None for _, text in JSON) - 1
    assert counts == {"row_format": bad, "n.datatype": len(found)}


NAMES = [
    "a[1]", "a1", "{b}", "{b,c}", "q?", "s*", "back\\slash", "back\\[x\\]", "new\nline", "tab\t",
    "100%41+", " sp ", "é\U0001f600", "#frag?", "x;y&z='\"$`", "^~!@(),=", "\x01\x7f", "[", "]",
    "\u2028", "p=1", "[^a]", "\\", "e\u0301",
]  # fmt: skip


def test_names_of_files_and_folders_are_literal(
    desk: Desk, spark: SparkSession, tmp_path: Path
) -> None:
    plan = desk.plan(E)
    top = tmp_path / "d [x] {y,z}*\\ ? %41\n"
    for kind in ("csv", "wide", "json", "parquet"):
        folder = top / f"e.{'csv' if kind == 'wide' else kind}"
        for name in [f"{name}/{name}" for name in NAMES]:
            file = folder / f"{name}.{folder.suffix[1:]}"
            file.parent.mkdir(parents=True, exist_ok=True)
            if kind == "parquet":
                pa.parquet.write_table(pa.table({"k": [name]}), file)
            elif kind == "json":
                file.write_text(json.dumps({"k": name}) + "\n")
            else:
                text = 'k\n"' + name.replace('"', '""') + '"\n'
                file.write_text(text, encoding="utf-16-le" if kind == "wide" else "utf-8")
        own = with_csv(plan, datafile_type="widechar") if kind == "wide" else plan
        given = {"csv": f"file:{top}", "json": {"e": f"file://{folder}"}}.get(kind, top)
        staged = stage(spark, own, given)["e"]
        staged.unchanged()
        frame = (staged.whole() if staged.whole else staged).frame
        rows = frame.where(~F.col("_head")).select("_raw.k", "_from").collect()
        assert sorted(row[0] for row in rows) == sorted(f"{n}/{n}" for n in NAMES), kind
        assert all(str(row[1]).endswith(f"/{row[0]}{folder.suffix}") for row in rows), kind
        for path in sorted(folder.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        folder.rmdir()


def test_a_name_that_cannot_be_read_is_refused_by_name(
    desk: Desk, spark: SparkSession, tmp_path: Path
) -> None:
    plan = desk.plan(E)
    for number, name in enumerate(
        ("a:b.csv", "c:d/1.csv", "_h.csv", "no \udcff.csv", "\udcff/1.csv")
    ):
        folder = tmp_path / str(number) / "e.csv"
        file = folder / name
        file.parent.mkdir(parents=True)
        file.write_bytes(b"k,v\n1,a\n")
        said = name.partition("/")[0].encode("ascii", "backslashreplace").decode()
        with pytest.raises(lookup("OM036")) as caught:
            stage(spark, plan, {"e": file if name.startswith("_") else folder})
        assert said in str(caught.value).replace("\\\\", "\\")
    with pytest.raises(lookup("OM036"), match=r"ab:c/e\.csv can't be read"):
        stage(spark, plan, {"e": "ab:c/e.csv"})


VALUES = ["a", "", "1", LONG, "k", "v", "1E400", 'x"y', '"', ",", "a\nb", "\r\n", "\r", "é", "  x"]


def written(rng: random.Random, value: str) -> str:
    needs = value[:1] == '"' or any(c in value for c in ",\r\n")
    return '"' + value.replace('"', '""') + '"' if needs or rng.random() < 0.2 else value


def random_file(rng: random.Random, kind: str, rows: Rows) -> bytes:
    """Return a file with these rows, in which some are written as its header is."""
    if kind == "json":
        lines = [
            "{"
            + ", ".join(
                f'"{name}": {text if text in ("1", LONG, "1E400") else json.dumps(text)}'
                for name, text in zip("kv", row, strict=True)
            )
            + "}"
            for row in rows
        ]
    else:
        lines = [",".join(written(rng, text or "") for text in row) for row in [("k", "v"), *rows]]
    end = rng.choice(["\n", "\r\n", "\r"])
    data = (end.join(lines) + rng.choice(["", end])).encode()
    return gzip.compress(data) if rng.random() < 0.3 else data


@pytest.mark.random
@pytest.mark.parametrize("seed", seeds(2))
def test_random_files_give_the_rows_that_were_written(
    desk: Desk, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    rng = random.Random(seed)
    monkeypatch.setattr("omd.spark.delivery.staging.csv._FEW_BYTES", seed % 4 // 2 * 2**25)
    kind = "csv" if seed % 2 == 0 else "json"
    folder = tmp_path / f"e.{kind}"
    folder.mkdir()
    sent: Rows = []
    for name in rng.sample(NAMES, 6):
        rows: Rows = [(rng.choice(VALUES), rng.choice(VALUES)) for _ in range(rng.randrange(40))]
        data = random_file(rng, kind, rows)
        packed = ".gz" if data[:2] == b"\x1f\x8b" else ""
        (folder / f"{name}.{kind}{packed}").write_bytes(data)
        sent += [(k, v or None) for k, v in rows if k]
    if not sent:
        return
    plan = desk.plan({"name": "e", "key": ["k"], "attributes": [KEY, TEXT]})
    rows, _ = told(spark, plan, tmp_path)
    assert rows == sorted(sent, key=repr)


def test_symbolic_links_are_refused_before_a_byte_is_read(
    desk: Desk, spark: SparkSession, tmp_path: Path
) -> None:
    secret = tmp_path / "other" / "e.csv"
    (secret / "deep").mkdir(parents=True)
    (secret / "deep" / "1.csv").write_text("k,v\nsecret,x\n")
    plan = desk.plan(E)
    drop = tmp_path / "drop"
    cases = {
        "file": ("e.csv", secret / "deep" / "1.csv"),
        "folder": ("e.csv", secret),
        "file below": ("e.csv/sub/1.csv", secret / "deep" / "1.csv"),
        "folder below": ("e.csv/sub", secret / "deep"),
        "nothing behind it": ("e.csv/1.csv", tmp_path / "nowhere"),
        "itself": ("e.csv/loop", drop / "itself" / "e.csv"),
    }
    for case, (name, target) in cases.items():
        link = drop / case / name
        link.parent.mkdir(parents=True)
        link.symlink_to(target)
        both: tuple[Any, ...] = (drop / case, {"e": drop / case / "e.csv"})
        for given in both:
            with pytest.raises(lookup("OM036"), match=f"{link} is a symbolic link"):
                stage(spark, plan, given)
    (drop / "month").symlink_to(secret.parent)
    for given in (drop / "month", f"file:{drop}/month", {"e": drop / "month" / "e.csv"}):
        with pytest.raises(lookup("OM036"), match="month is a symbolic link"):
            stage(spark, plan, given)
    allowed = replace(plan, options={**plan.options, "allow_symbolic_links": True})
    for given in (drop / "folder", drop / "month"):
        staged = stage(spark, allowed, given)["e"]
        staged.unchanged()
        assert staged.frame.where("NOT _head").select("_raw.k").collect() == [("secret",)]


def test_a_file_that_was_a_link_meanwhile_fails_the_attempt(
    desk: Desk, spark: SparkSession, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("k,v\n2,b\n")
    file, aside = tmp_path / "e.csv", tmp_path / "aside"
    file.write_text("k,v\n1,a\n")
    os.utime(file, (1, 1))
    staged = stage(spark, desk.plan(E), tmp_path)["e"]
    file.rename(aside)
    file.symlink_to(secret)
    with pytest.raises(lookup("OM146")):
        staged.unchanged()
    file.unlink()
    aside.rename(file)  # as it was, with its bytes and its time
    with pytest.raises(lookup("OM146")):
        staged.unchanged()


@pytest.mark.parametrize("swapped", ["", "deep", "deep/er"])
@pytest.mark.parametrize("deep", [False, True])
def test_a_folder_that_was_a_link_meanwhile_fails_the_attempt(
    desk: Desk, spark: SparkSession, tmp_path: Path, swapped: str, deep: bool
) -> None:
    """Its files are the same before and after; those that were read were of somebody else."""
    name = "drop/e.csv/deep/er/1.csv" if deep else "drop/e.csv"
    for root, row in ((tmp_path / "own", "1,a"), (tmp_path / "other", "2,b")):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text(f"k,v\n{row}\n")
    staged = stage(spark, desk.plan(E), tmp_path / "own" / "drop")["e"]
    staged.unchanged()
    at = f"drop/e.csv/{swapped}" if deep and swapped else "drop/e.csv" if deep else "drop"
    folder, aside = tmp_path / "own" / at, tmp_path / "aside"
    folder.rename(aside)
    folder.symlink_to(tmp_path / "other" / at)
    folder.unlink()
    aside.rename(folder)
    with pytest.raises(lookup("OM146")):
        staged.unchanged()


def test_files_with_one_header_each_are_read_once_by_lines(
    desk: Desk, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where all columns are texts, a header is a regular line."""
    monkeypatch.setattr("omd.spark.delivery.staging.csv._FEW_BYTES", 0)
    folder = tmp_path / "e.csv"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.csv").write_text(f"k,v\n{number},a\n")
    plan = desk.plan({"name": "e", "key": ["k"], "attributes": [KEY, TEXT]})
    staged = stage(spark, plan, tmp_path)["e"]
    found = check(plan.entities["e"], replace(staged, whole=lambda: pytest.fail("again")))
    assert found.measures()["rows_delivered"] == 3
    found.release()
