"""Deliveries in a session of either kind.

Arguments: a master, or a server of Spark Connect; the dsn; a libpq service; a folder; some cases.
It prints a line of JSON for each case: its name, and what can be seen of its deliveries.
"""

from __future__ import annotations

import bz2
import gzip
import json
import sys
import traceback
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row
from pyspark.sql import SparkSession

import omd
from delivery.runs import SHOP
from omd.errors import StateError
from omd.spark.delivery import scale
from omd.spark.delivery.staging import csv as csv_reader
from spark.desk import Desk

SETTINGS = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.log.level": "OFF",
    "spark.sql.shuffle.partitions": "3",
    "spark.ui.enabled": "false",
}
PART: dict[str, Any] = {
    "name": "part",
    "key": ["nbr"],
    "attributes": [
        {"name": "nbr", "type": "integer"},
        {"name": "note", "type": "text"},
        {"name": "size", "type": "numeric(9,2)"},
        {"name": "made", "type": "date"},
    ],
}
# What is another one in each run.
UNLIKE = ("delivery_id", "instance", "_at", "datetime", "uri", "root")


class Cases:
    """The cases, and what they have in common.

    Args:
        folder: where they put their files.
    """

    def __init__(self, control: omd.Control, conn: Any, spark: SparkSession, folder: Path) -> None:
        self.control, self.conn, self.spark = control, conn, spark
        self.folder = folder

    def desk(self, name: str, entities: list[dict[str, Any]], **options: Any) -> Desk:
        """Return a desk with an interface and an agreement of this name."""
        desk = LoudDesk(self.conn, self.control, self.spark)
        desk.interface = name
        desk.call("deploy_model", model={"interface": name, "entities": entities})
        desk.call("register_tenant", tenant_code="t")
        desk.agree(name, options={"max_sample_size": 100, **options})
        return desk

    def files(self, **content: bytes | str) -> Path:
        """Return a new folder with files of this content; of a name __ is a point, and _i_ a /."""
        folder = self.folder / f"f{len(list(self.folder.iterdir()))}"
        folder.mkdir()
        for name, data in content.items():
            path = folder / name.replace("__", ".").replace("_i_", "/")
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data.encode() if isinstance(data, str) else data)
        return folder

    def seen(self, desk: Desk, *outcomes: Any) -> dict[str, Any]:
        """Return what can be seen of deliveries, but for what differs between any two runs."""
        tables = [
            e["entity_code"]
            for e in desk.rows(
                "SELECT DISTINCT entity_code FROM omd_delivery.entity AS e"
                " JOIN omd_delivery.interface AS i USING (interface_id)"
                " WHERE interface_code = %s ORDER BY 1",
                desk.interface,
            )
        ]
        ids = [outcome.facts["delivery_id"] for outcome in outcomes]
        return {
            "errors": [repr(outcome.error) for outcome in outcomes],
            "receipts": [like(outcome.facts["document"]) for outcome in outcomes],
            "samples": [
                ordered(
                    desk.rows(
                        "SELECT to_jsonb(s) AS s FROM omd_delivery.sample AS s"
                        " WHERE delivery_id = %s",
                        delivery_id,
                    )
                )
                for delivery_id in ids
            ],
            "deltas": {
                name: [
                    ordered(
                        desk.rows(
                            f"SELECT to_jsonb(d) AS d FROM {desk.delta(name)} AS d"
                            " WHERE delivery_id = %s",
                            delivery_id,
                        )
                    )
                    for delivery_id in ids
                ]
                for name in tables
            },
            "tables": {name: desk.current(name) for name in tables},
        }

    # The cases ------------------------------------------------------------------------------------

    def two_deliveries_are_accepted(self) -> dict[str, Any]:
        desk = self.desk("accepted", SHOP["entities"])
        customers = "".join(f"{n},c{n % 7}@x\n" for n in range(200))
        orders = "".join(f"{n},{n % 200},{n}.5\n" for n in range(1, 600))
        folder = self.files(
            customer__csv=f"nbr,email\n{customers}", orders__csv=f"nbr,customer,amount\n{orders}"
        )
        first = desk.deliver(1, "accepted", files=folder)
        customers = "".join(f"{n},c{n % 5}@x\n" for n in range(210))
        orders = orders.replace("7.5\n", "8.50\n").partition("\n590,")[0]
        folder = self.files(
            customer__csv=f"nbr,email\n{customers}",
            orders__csv=f"nbr,customer,amount\n{orders}",
        )
        return self.seen(desk, first, desk.deliver(2, "accepted", files=folder))

    def two_are_rejected(self) -> dict[str, Any]:
        desk = self.desk("rejected", SHOP["entities"])
        folder = self.files(
            customer__csv="nbr,email\n1,a\n1,b\nx,c\n,d\n2,\n3,e,f\n",
            orders__csv="nbr,customer,amount\n1,1,-1\n2,9,5\n3,2,7\n4,,1\n5,3,1.005\n",
        )
        first = desk.deliver(1, "rejected", files=folder)
        folder = self.files(
            customer__csv="nbr,email\n1,a\n2,\n",
            orders__csv="nbr,customer,amount\n1,1,1\n2,9,5\n3,2,7\n4,,1\n",
        )
        return self.seen(desk, first, desk.deliver(2, "rejected", files=folder))

    def records_go_over_several_lines(self) -> dict[str, Any]:
        """Files are read in blocks of few lines, and records begin in one and end in another."""
        desk = self.desk("quoted", [PART], lines=True)
        self.spark.conf.set("spark.sql.files.maxPartitionBytes", "200")
        self.spark.conf.set("spark.sql.files.openCostInBytes", "10")
        rows = "".join(
            f'{n},"a ""{n}""\nb\r\n\nc{"x" * (n % 50)}",{n}.25,2020-01-{n % 28 + 1:02}\n'
            for n in range(90)
        )
        others = "".join(f'{n},"d\n{n}",,\n' for n in range(90, 120))
        folder = self.files(
            part__csv_i_1__csv=f"nbr,note,size,made\n{rows}",
            part__csv_i_2__csv=f"nbr,note,size,made\n{others}",
        )
        try:
            return self.seen(desk, desk.deliver(1, "quoted", files=folder))
        finally:
            self.spark.conf.unset("spark.sql.files.maxPartitionBytes")
            self.spark.conf.unset("spark.sql.files.openCostInBytes")

    def packed_files_have_two_layouts(self) -> dict[str, Any]:
        desk = self.desk("layouts", [PART], lines=True)
        folder = self.files(
            part__csv_i_1__csv__gz=gzip.compress(
                b"nbr,note,size,made\n1,a,1,2020-01-01\n\n2,b,2,\n"
            ),
            part__csv_i_2__csv__gz=gzip.compress(
                b"made,size,note,nbr,more\n2020-01-01,1,c,3,x\n,,,4,y\n"
            ),
            part__csv_i_3__csv__bz2=bz2.compress(b"nbr,note,size,made\n5,e,,\n"),
            part__csv_i_4__csv="nbr,note,size,made\n6,f,,\n7,g,,\n",
            part__csv_i_5__csv="",
        )
        return self.seen(desk, desk.deliver(1, "layouts", files=folder))

    def code_pages_are_those_of_java(self) -> dict[str, Any]:
        desk = self.desk("pages", [PART], csv={"code_page": "1252"})
        wide = self.desk("wide", [PART], lines=True, csv={"datafile_type": "widechar"})
        text = 'nbr,note,größe,size,made\r\n1,"€\r\nä",x,1,\r\n2,ü,y,,\r\n'
        first = desk.deliver(1, "pages", files=self.files(part__csv=text.encode("cp1252")))
        second = wide.deliver(1, "wide", files=self.files(part__csv=text.encode("utf-16-le")))
        return {"pages": self.seen(desk, first), "wide": self.seen(wide, second)}

    def json_and_parquet_are_read(self) -> dict[str, Any]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        desk = self.desk("formats", [PART], lines=True)
        lines = '{"nbr": 1, "note": "a", "size": 1.10, "more": {"x": 2.0}}\n[]\n{"nbr": 2}\n'
        first = desk.deliver(1, "formats", files=self.files(part__json=lines))
        folder = self.files()
        table = {"nbr": pa.array([1, 2, 3]), "note": pa.array(["a", None, "c"])}
        table |= {"size": pa.nulls(3, pa.decimal128(9, 2)), "made": pa.nulls(3, pa.date32())}
        pq.write_table(pa.table(table), folder / "part.parquet")
        return self.seen(desk, first, desk.deliver(2, "formats", files=folder))

    def a_frame_and_a_table_of_staging_are_read(self) -> dict[str, Any]:
        desk = self.desk("staging", SHOP["entities"])
        frame = desk.texts(["nbr", "email"], [(n, "a@x") for n in range(50)])
        first = desk.deliver(1, "staging", entities={"customer": frame.repartition(4)})
        with desk.block(2, "staging", staging="postgres", loads={"customer": "DELTA"}) as block:
            desk.conn.execute("INSERT INTO stg_staging.customer (nbr, email) VALUES ('1', 'b')")
            second = block.run()
        return self.seen(desk, first, second)

    def much_is_read_by_arrow_in_many_tasks(self) -> dict[str, Any]:
        """Each delivery is taken for a large one: is rejected by stage 1, by stage 2, accepted."""
        desk = self.desk("much", SHOP["entities"], lines=True)
        small, scale._MOST_BYTES = scale._MOST_BYTES, 0
        few, csv_reader._FEW_BYTES = csv_reader._FEW_BYTES, 0
        rows, scale._MOST_ROWS = scale._MOST_ROWS, 0

        def deliver(day: int, customers: int, negative: int, changed: int) -> Any:
            lines = "".join(f"{n},c{n}\n" for n in range(customers))
            more = "".join(
                f"{n},{n % 1000},{'-' if n < negative else ''}{n + (n < changed)}.5\n"
                for n in range(1, 2000)
            )
            folder = self.files(
                customer__csv=f"nbr,email\n{lines}", orders__csv=f"nbr,customer,amount\n{more}"
            )
            return desk.deliver(day, "much", files=folder)

        try:
            return self.seen(
                desk,
                deliver(1, 1000, 9, 0),
                deliver(2, 990, 0, 0),
                deliver(3, 1000, 0, 0),
                deliver(4, 1010, 0, 9),
            )
        finally:
            scale._MOST_BYTES, csv_reader._FEW_BYTES, scale._MOST_ROWS = small, few, rows

    def the_session_is_as_before(self) -> dict[str, Any]:
        """Also after a failure; and while it works, it is refused to another delivery."""
        spark = self.spark
        desk = self.desk("session", SHOP["entities"])
        spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
        spark.conf.set("spark.sql.ansi.enabled", "true")
        spark.range(3).createOrReplaceTempView("customer")
        before = spark.conf.getAll
        folder = self.files(customer__csv="nbr,email\n1,a\n")
        told: dict[str, Any] = {}
        with desk.block(1, "session", files=folder) as block:
            try:
                with desk.block(2, "session", files=folder) as other:
                    told["second"] = other.run().facts["delivery_status"]
            except StateError as error:
                told["second"] = f"{error} {error.hint}"
                told["created"] = desk.one(
                    "SELECT count(*) FROM omd_delivery.delivery AS d"
                    " JOIN omd_delivery.agreement AS a USING (agreement_id)"
                    " WHERE agreement_code = 'session'"
                )
            told["first"] = block.run().facts["delivery_status"]
        told["after"] = changed(before, spark.conf.getAll)
        (folder / "customer.csv").write_text("nbr,email\n1,b\n")
        odd = spark.sql("SELECT 1 AS nbr, raise_error('odd') AS email")
        outcome = desk.deliver(3, "session", entities={"customer": odd})
        told["failed"] = [outcome.reason, "odd" in str(outcome.error)]
        told["after_failure"] = changed(before, spark.conf.getAll)
        told["view"] = spark.table("customer").count()
        again = self.control.delivery.deliver(
            delivery_id=outcome.facts["delivery_id"],
            entities={"customer": str(folder / "customer.csv")},
            spark=spark,
        )
        told["third"] = again.facts["delivery_status"]
        # What a program that was killed has left.
        spark.conf.set("spark.omd.delivery.before", json.dumps({"spark.sql.ansi.enabled": "true"}))
        spark.conf.set("spark.sql.ansi.enabled", "false")
        told["fourth"] = desk.deliver(5, "session", files=folder).facts["delivery_status"]
        told["after_death"] = changed(before, spark.conf.getAll)
        return told


CASES = {
    case.__name__: case
    for case in (
        Cases.two_deliveries_are_accepted,
        Cases.two_are_rejected,
        Cases.records_go_over_several_lines,
        Cases.packed_files_have_two_layouts,
        Cases.code_pages_are_those_of_java,
        Cases.json_and_parquet_are_read,
        Cases.a_frame_and_a_table_of_staging_are_read,
        Cases.much_is_read_by_arrow_in_many_tasks,
        Cases.the_session_is_as_before,
    )
}


class LoudDesk(Desk):
    """A desk that shows why a delivery has failed."""

    def deliver(self, day: int, /, code: str = "a", **arguments: Any) -> Any:
        outcome = super().deliver(day, code, **arguments)
        if outcome.error is not None:
            traceback.print_exception(outcome.error)
        return outcome


def changed(before: dict[str, str], now: dict[str, str]) -> dict[str, Any]:
    names = {*before, *now} - {"spark.omd.registered", "spark.sql.python.filterPushdown.enabled"}
    return {n: [before.get(n), now.get(n)] for n in sorted(names) if before.get(n) != now.get(n)}


def like(document: Any) -> Any:
    """Return what two runs of a delivery have in common."""
    if isinstance(document, dict):
        return {
            name: like(value)
            for name, value in document.items()
            if not any(part in name for part in UNLIKE)
        }
    return [like(value) for value in document] if isinstance(document, list) else document


def ordered(rows: list[dict[str, Any]]) -> list[Any]:
    found = [like(document) for row in rows for document in row.values()]
    for document in found:
        if isinstance(document.get("staged_from"), str):
            document["staged_from"] = document["staged_from"].rpartition("/")[2]
    return sorted(found, key=lambda document: json.dumps(document, sort_keys=True))


def main(where: str, dsn: str, service: str, folder: str, *wanted: str) -> None:
    builder = SparkSession.builder
    if where.startswith("sc:"):
        spark = builder.remote(where).getOrCreate()
    else:
        builder = builder.master(where)
        for name, value in SETTINGS.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
    with (
        omd.connect(dsn, executor_dsn=service) as control,
        psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as conn,
    ):
        for name in wanted or CASES:
            place = Path(folder) / name
            place.mkdir()
            seen = CASES[name](Cases(control, conn, spark, place))
            print(json.dumps({name: seen}, default=str), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
