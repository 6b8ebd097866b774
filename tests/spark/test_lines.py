"""An agreement with lines: each row says which line of which file it is, as an editor counts."""

from __future__ import annotations

import csv
import functools
import gzip
import io
import json
from typing import TYPE_CHECKING, Any

import psycopg
import pyarrow as pa
import pyarrow.parquet
import pytest
from psycopg.types.json import Jsonb
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from delivery.runs import OPEN
from omd.spark.delivery.staging import csv as csv_reader
from omd.spark.delivery.staging.places import FILE, LINE
from spark.delivery_plans import Desk as Plans
from spark.delivery_plans import another_session, stage
from spark.delivery_plans import checked as check

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    from spark.desk import Desk

pytestmark = pytest.mark.spark
E = {
    "name": "e",
    "key": ["k"],
    "attributes": [{"name": "k", "type": "integer"}, {"name": "v", "type": "text"}],
}
Stands = dict[int, tuple[int, int]]  # file and line of each key


@pytest.fixture
def plans(dsn: str) -> Iterator[Plans]:
    plans = Plans(dsn)
    yield plans
    plans.conn.close()


@pytest.fixture
def splitting(spark: SparkSession) -> SparkSession:
    """A session that cuts files into pieces of some lines, and puts small files together."""
    return another_session(spark, files_maxPartitionBytes="400", files_openCostInBytes="10")


def found(spark: SparkSession, plans: Plans, given: Any, **options: Any) -> Stands:
    """Return where the rows of the entity stand, which is the same whoever reads them."""
    checked = check(spark, plans.plan(E, **{"lines": True, **options}), given)
    try:
        few = checked.narrow.where("_readable AND k % 50 = 7").select("_place")
        ways = {
            "values": checked.values(),
            "rows": checked.rows(),
            "rows_at": checked.rows_at(few, 1).where("k % 50 = 7"),
        }
        rows = [
            rows.where("_readable").select("k", "_place", F.lit(way).alias("way"))
            for way, rows in ways.items()
        ]
        # One union, so that the splits are looked at once.
        told = checked.stand(functools.reduce(DataFrame.unionAll, rows)).collect()
        stands: dict[str, Stands] = {way: {} for way in ways}
        for row in told:
            assert row["k"] not in stands[row["way"]], row
            stands[row["way"]][row["k"]] = (row[FILE], row[LINE])
        assert stands["rows"] == stands["values"]
        assert stands["rows_at"] == {k: v for k, v in stands["rows"].items() if k % 50 == 7}
        return stands["rows"]
    finally:
        checked.release()


def by_python(path: Path, text: str, number: int) -> Stands:
    """Return what Python's reader finds in a file; write it."""
    data = text.encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    reader = csv.reader(io.StringIO(text, newline=""))
    stands: Stands = {}
    before = 0
    for row in reader:
        first, before = before + 1, reader.line_num
        if row and row[0].strip().isdigit():
            stands[int(row[0])] = (number, first)
    return stands


def written(keys: range, end: str, *, goes_on: bool, header: str = "k,v") -> str:
    """Return a file of records, with blank lines between, and with `goes_on` some of several."""
    lines = [""] * (keys.start // 1000 % 3) + [header]
    for key in keys:
        lines += [""] * (key % 11 == 5)
        value = "x" * (key * key % 20)
        if goes_on and key % 5 == 2:
            value = f'"{value}{end}{end}a ""b"", c{end}"'
        elif key % 9 == 4:
            value = '"in, quotes"'
        lines.append(f"{key},{value}" if header == "k,v" else f"{key},y,{value}")
    return end.join(lines) + end * (len(keys) % 3)


@pytest.mark.parametrize("goes_on", [False, True], ids=["lines", "records"])
def test_each_row_of_csv_has_its_line(
    splitting: SparkSession,
    plans: Plans,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    goes_on: bool,
) -> None:
    monkeypatch.setattr(csv_reader, "_FEW_BYTES", 0)  # values are read by Arrow, rows by Spark
    names = sorted(
        ["a b+c%20ü.csv", "b[1]{x},?*.csv", "c#d&e.csv", "d.csv.gz", "e/f=1/g.csv", "h.csv"]
    )
    stands: Stands = {}
    for n, name in enumerate(names):
        number = len(stands)
        keys = range(1000 * n, 1000 * n + [40, 1, 60, 50, 41, 60][n])
        end = ["\n", "\r\n", "\r"][n % 3]
        header = "k,v" if n % 2 else "k,u,v"  # the files of another header are read apart
        text = written(keys, end, goes_on=goes_on, header=header)
        stands |= by_python(tmp_path / "e" / name, text, n + 1)
        assert len(stands) == number + len(keys)
    (tmp_path / "e" / "empty.csv").write_bytes(b"")
    given = {"e": str(tmp_path / "e")}
    files = sorted(p for p in (tmp_path / "e").rglob("*") if p.is_file())
    listed = stage(splitting, plans.plan(E, lines=True), given)["e"].files
    assert listed is not None
    order = {file.path.rpartition("/")[2]: n for n, file in enumerate(listed.listed, 1)}
    assert len(order) == len(files)
    expected = {
        k: (order[names[n - 1].rpartition("/")[2]], line) for k, (n, line) in stands.items()
    }
    assert found(splitting, plans, given) == expected


@pytest.mark.parametrize(
    ("options", "encoding"),
    [
        ({"code_page": "1200"}, "utf-16-le"),
        ({"code_page": "1252", "first_row_is_header": False}, "cp1252"),
        ({"row_terminator": "|~|"}, "utf-8"),
    ],
)
def test_lines_of_other_dialects(
    splitting: SparkSession,
    plans: Plans,
    tmp_path: Path,
    options: dict[str, Any],
    encoding: str,
) -> None:
    end = options.get("row_terminator", "\r\n")
    header = [] if options.get("first_row_is_header") is False else ["k,v"]
    rows = [*header, *(f"{n},é{'x' * (n % 9)}" for n in range(80)), ""]
    (tmp_path / "e.csv").write_bytes(end.join(rows).encode(encoding))
    assert found(splitting, plans, tmp_path, csv=options) == {
        n: (1, n + 1 + len(header)) for n in range(80)
    }


def test_lines_of_json_and_rows_of_parquet(
    splitting: SparkSession, plans: Plans, tmp_path: Path
) -> None:
    lines = [json.dumps({"k": n, "v": "x" * (n % 20)}) for n in range(70)]
    lines[10:10] = ["", "  "]
    folder = tmp_path / "json" / "e"
    folder.mkdir(parents=True)
    for n in (0, 1):
        shifted = [t.replace('"k": ', f'"k": {n + 1}0') for t in lines]
        (folder / f"{n}.json").write_text("\n".join(shifted))
    stands = found(splitting, plans, {"e": str(folder)})
    assert stands == {
        int(f"{n + 1}0{k}"): (n + 1, k + 1 + 2 * (k >= 10)) for n in (0, 1) for k in range(70)
    }
    folder = tmp_path / "parquet" / "e"
    folder.mkdir(parents=True)
    for n in (0, 1):
        keys = [n * 1000 + k for k in range(200)]
        table = pa.table({"k": pa.array(keys, pa.int32()), "v": [f"v {k} " * 9 for k in keys]})
        pyarrow.parquet.write_table(table, folder / f"{n}.parquet", row_group_size=40)
    stands = found(splitting, plans, {"e": str(folder)})
    assert stands == {n * 1000 + k: (n + 1, k + 1) for n in (0, 1) for k in range(200)}


# Whole deliveries ---------------------------------------------------------------------------------


def lines_of(desk: Desk) -> dict[int, tuple[str, str | None, int | None]]:
    """Return of each open row of customers its indicator, the name of its file, and its line."""
    rows = desk.rows(
        f"SELECT l.nbr, l.acm_record_ind, l.acm_source_line, f.uri FROM {desk.lvl('customer')} AS l"
        " INNER JOIN omd_delivery.delivery AS d ON d.snapshot_datetime = l.acm_start_dt"
        " LEFT JOIN omd_delivery.delivery_file AS f ON f.delivery_id = d.delivery_id"
        " AND f.file_no = l.acm_source_file"
        f" WHERE l.acm_end_dt = '{OPEN}'"
    )
    return {
        row["nbr"]: (
            row["acm_record_ind"],
            row["uri"] and row["uri"].rpartition("/")[2],
            row["acm_source_line"],
        )
        for row in rows
    }


def handed_over(desk: Desk, day: int, path: Path, load: str, code: str = "a") -> None:
    receipt = desk.deliver(day, code, entities={"customer": str(path)}, loads={"customer": load})
    assert receipt.facts["delivery_status"] == "ACCEPTED"


def test_a_row_keeps_the_line_that_made_it(desk: Desk, tmp_path: Path) -> None:
    desk.deploy(options={"lines": True})
    first, second = tmp_path / "1.csv", tmp_path / "2.csv"
    first.mkdir()
    (first / "a.csv").write_text("nbr,email\n1,a\n\n2,b\n")
    (first / "b.csv").write_text('nbr,email\n3,"c\nd"\n4,e\n')
    handed_over(desk, 1, first, "FULL")
    before = {
        1: ("N", "a.csv", 2),
        2: ("N", "a.csv", 4),
        3: ("N", "b.csv", 2),
        4: ("N", "b.csv", 4),
    }
    assert lines_of(desk) == before
    second.write_text("nbr,email,acm_source_transaction_ind\n1,a,\n2,new,\n3,,D\n5,f,\n")
    handed_over(desk, 2, second, "DELTA")
    assert lines_of(desk) == {
        1: ("N", "a.csv", 2),  # it is as it was, so no other line made it
        2: ("A", "2.csv", 3),
        3: ("R", "2.csv", 4),
        4: ("N", "b.csv", 4),
        5: ("N", "2.csv", 5),
    }
    (text,) = desk.one(
        "SELECT array_agg(text) FROM omd_provenance.explain('lvl_shop.customer', %s, 'email')"
        " WHERE step = 'FILE'",
        Jsonb({"nbr": 2}),
    )
    assert text.startswith("It is line 3 of ")
    assert text.endswith("/2.csv.")
    last = desk.one("SELECT max(delivery_id) FROM omd_delivery.delivery")
    desk.call("revert_delivery", delivery_id=last, reason="wrong")
    assert lines_of(desk) == before


def test_only_an_agreement_with_lines_keeps_them(desk: Desk, tmp_path: Path) -> None:
    desk.deploy()
    path = tmp_path / "customer.csv"
    path.write_text("nbr,email\n1,a\n")
    handed_over(desk, 1, path, "FULL")
    assert "acm_source_line" not in desk.rows(f"SELECT * FROM {desk.lvl('customer')}")[0]
    desk.agree("b", options={"lines": True})
    assert lines_of(desk) == {1: ("N", None, None)}
    path.write_text("nbr,email\n1,b\n")
    handed_over(desk, 2, path, "DELTA")
    assert lines_of(desk) == {1: ("A", None, None)}
    path.write_text("nbr,email\n1,c\n")
    handed_over(desk, 3, path, "DELTA", "b")
    assert lines_of(desk) == {1: ("A", "customer.csv", 2)}
    # What is handed over as rows has no lines, and what a delivery leaves out was in none.
    rows = desk.texts(["nbr", "email"], [(2, "d")])
    receipt = desk.deliver(4, "b", entities={"customer": rows})
    assert receipt.facts["delivery_status"] == "ACCEPTED", receipt
    assert lines_of(desk) == {1: ("R", None, None), 2: ("N", None, None)}


def test_the_columns_come_while_nothing_runs(desk: Desk) -> None:
    desk.deploy()
    desk.run(1, entities=["customer"])
    with pytest.raises(psycopg.Error, match="the run") as error:
        desk.agree("b", options={"lines": True})
    assert error.value.sqlstate == "OM136"
    with pytest.raises(psycopg.Error) as error:
        desk.agree("b", options={"lines": "yes"})
    assert error.value.sqlstate == "OM036"
