"""Regular lines of a delivery: Arrow reads of them what Spark reads of any line."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F  # noqa: N812

from omd.spark.delivery.stage1 import check
from spark.delivery_plans import Desk, stage
from spark.test_delivery_stage1 import CASTS, violated
from support.lots import IS_WHOLE, SEED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    from omd.spark.delivery.stage1 import Checked

pytestmark = pytest.mark.spark
LINES = 4_000
USUAL = {  # the first two of each are regular
    "boolean": ["true", "f", "  "],
    "smallint": ["0", "-1", "007", "9999", "29999", "-30000", "32767"],
    "integer": ["12", "-5", "999999999", "1999999999", "2099999999", "2147483647"],
    "bigint": ["1", "-999999999999999999", "8999999999999999999", "9223372036854775807"],
    "numeric(5,2)": ["1", "0.5", "-999.99", "12.30", "007.1", "-0.00"],
    "numeric(38,0)": ["1", "9" * 38, "-" + "1" * 37],
    "numeric(3,3)": ["0.125", "-0.5", "0"],
    "double precision": ["1", "-0", "0.1", "3.14159265358979", "123456789012345678901234.5"],
    "date": ["2013-02-03", "1999-12-31", "2012-02-29", "2013-02-29", "0999-01-01"],
    "timestamp": ["2013-02-03 04:05:06", "2013-02-03T23:59:59.000001", "1969-12-31 23:59:59.5"],
    "timestamptz": ["2013-02-03 04:05:06", "2013-02-03T04:05:06.25", "2013-02-03T04:05:06Z"],
    "text(3)": ["abc", "äöü", "", "a,b", "long text", "ﬁn"],
    "text": ["some text", "with, comma", "", "\ufffd", "\ufeffx", "tab\there", "  "],
}
TYPES = list(CASTS)
FORMS = [
    pytest.param(",", True, id="comma"),
    pytest.param("\t", True, id="tab"),
    pytest.param(";", False, id="semicolon"),
]


@pytest.fixture
def desk(dsn: str) -> Iterator[Desk]:
    desk = Desk(dsn)
    yield desk
    desk.conn.close()


def field(chance: random.Random, kind: str, separator: str, is_broken: bool) -> str:
    """Return a field: mostly usual, sometimes one that a cast must look at, or with a bad quote."""
    good, bad = CASTS[kind]
    odd = [*map(str, good), *bad.split(" ")]
    rare = chance.random()
    text = chance.choice(USUAL[kind][:2] if rare < 0.9 else USUAL[kind] if rare < 0.99 else odd)
    text = text.replace("\n", "").replace("\r", "")
    way = chance.random()
    if separator in text or way < 0.1:
        return '"' + text.replace('"', '""') + '"'
    if is_broken and way > 0.998:
        return chance.choice([f'{text}"', f'"{text}', f'"{text}" ', f'"a""{text}"', f" {text}"])
    return text


def lines(chance: random.Random, separator: str, are_broken: bool) -> Iterator[bytes]:
    yield separator.join(["k", *(f"a{n}" for n in range(len(TYPES)))]).encode()
    for n in range(LINES):
        key = str(chance.randrange(LINES * 5))
        fields = [key, *(field(chance, t, separator, are_broken) for t in TYPES)]
        if chance.random() < 0.01:
            fields = fields[: chance.randrange(1, len(fields))] * chance.choice([1, 2])
        line = separator.join(fields).encode()
        yield line + (b"\xff" if chance.random() < 0.005 else b"\xed\xa0\x80" if n == 7 else b"")


def told(found: Checked) -> tuple[dict[str, Any], list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return what is counted, the narrow rows, and all values, as the delta reads them."""
    names = [a.name for a in found.entity.attributes]
    narrow = found.narrow.orderBy("_place").collect()
    values = found.values().select(F.struct(*names, "_mask0", "_hash_a", "_hash_b").cast("string"))
    return found.measures(), [tuple(row) for row in narrow], sorted(map(tuple, values.collect()))


@pytest.mark.random
@pytest.mark.parametrize(
    ("separator", "are_broken"),
    FORMS if IS_WHOLE else [FORMS[SEED % 3]],
)
def test_a_line_means_the_same_whoever_reads_it(
    desk: Desk,
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    separator: str,
    are_broken: bool,
) -> None:
    monkeypatch.setattr("omd.spark.delivery.staging.csv._FEW_BYTES", 0)
    chance = random.Random(SEED)
    (tmp_path / "e.csv").write_bytes(b"\n".join(lines(chance, separator, are_broken)))
    attributes = [{"name": f"a{n}", "type": kind} for n, kind in enumerate(TYPES)]
    entity = {
        "name": "e",
        "key": ["k"],
        "attributes": [{"name": "k", "type": "integer"}, *attributes],
    }
    plan = desk.plan(entity, csv={"field_terminator": separator})
    staged = stage(spark, plan, tmp_path)["e"]
    is_read = F.col("_read_k").isNotNull()
    assert LINES / 4 < staged.values.where(is_read).count() < LINES * 0.95

    fast = check(plan.entities["e"], staged)
    slow = check(plan.entities["e"], replace(staged, values=staged.frame))
    got, wanted = told(fast), told(slow)
    fast.release()
    slow.release()
    assert got[0] == wanted[0]
    assert got[1:] == wanted[1:]


def test_lines_of_one_field_and_fields_that_lack_or_come_twice(
    desk: Desk, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("omd.spark.delivery.staging.csv._FEW_BYTES", 0)
    folder = tmp_path / "e.csv"
    folder.mkdir()
    (folder / "1.csv").write_text("k\n1\n +2\n\n  \nx\n")
    (folder / "2.csv").write_text("v,more,k,v\na,b,3,c\n,,4,\n")
    rows_of_3 = "1,5,D\n2,6,\n1.5,7,\n  ,8,\n"
    (folder / "3.csv").write_text('"V""x",k,acm_source_transaction_ind\n' + rows_of_3)
    v = {"name": "v", "type": "text", "source": "v"}
    odd = [{"name": n, "type": t, "source": 'V"x'} for n, t in (("i", "integer"), ("t", "text"))]
    key = {"name": "k", "type": "bigint"}
    plan = desk.plan(
        {"name": "e", "key": ["k"], "attributes": [key, v, *odd]}, loads={"e": "DELTA"}
    )
    found = check(plan.entities["e"], stage(spark, plan, tmp_path)["e"])
    rows = found.values().where("_readable").select("k", "v", "i", "t", "_delete").collect()
    assert {tuple(row) for row in rows} == {
        (1, None, None, None, False),
        (2, None, None, None, False),
        (3, "a", None, None, False),
        (4, None, None, None, False),
        (5, None, 1, "1", True),
        (6, None, 2, "2", False),
        (7, None, None, "1.5", False),  # a column of two attributes is cast as strictly
        (8, None, None, "  ", False),
    }
    assert found.measures()["rows_delivered"] == 10  # blanks are a row of one field
    assert violated(found)["i.datatype"] == 1  # blanks are no number, but nothing
    found.release()
