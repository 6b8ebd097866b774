"""After a rollback a satellite is as if the undone runs had never happened (rule R3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from support.flow import Flow

OPEN = "9999-12-31"
ANSWER = tuple[Any, ...]

# A loader stamps the row that it closes in the update column, or not at all, or it has no such
# column; the last kind also stamps the column when it inserts.
STAMPS = ["stamped", "not stamped", "no column", "stamped at insert"]


class Satellite:
    """A satellite with a two-part key, and a loader that inserts new versions and closes old."""

    def __init__(self, flow: Flow, stamps: str = "stamped", table_type: str = "SAT") -> None:
        self.flow = flow
        self.stamps = stamps
        flow.conn.execute(
            "CREATE TABLE dwh.sat (k1 integer NOT NULL, k2 text NOT NULL, v text,"
            " omd_effective_date date NOT NULL, omd_expiry_date date NOT NULL,"
            " omd_current_record_indicator char(1) NOT NULL,"
            " omd_insert_module_instance_id bigint NOT NULL"
            f"{'' if stamps == 'no column' else ', omd_update_module_instance_id bigint'},"
            " PRIMARY KEY (k1, k2, omd_effective_date))".encode()
        )
        flow.conn.execute(
            "CREATE UNIQUE INDEX ON dwh.sat (k1, k2) WHERE omd_current_record_indicator = 'Y'"
        )
        flow.conn.execute("CREATE INDEX ON dwh.sat (omd_insert_module_instance_id)")
        flow.call(
            "register_module",
            module_code="m",
            area_code="INT",
            table_code="dwh.sat",
            table_type_code=table_type,
            business_key_columns=["k1", "k2"],
        )

    def load(self, id: int, *rows: tuple[int, str, str]) -> None:
        """Close the open version of each key, then insert the new one: (k1, v, from)."""
        for k1, v, since in rows:
            stamp = {"stamped": f", omd_update_module_instance_id = {id}"}.get(self.stamps, "")
            if self.stamps == "stamped at insert":
                stamp = f", omd_update_module_instance_id = {id}"
            self.flow.conn.execute(
                "UPDATE dwh.sat SET omd_expiry_date = %s, omd_current_record_indicator = 'N'"
                f"{stamp} WHERE k1 = %s AND omd_current_record_indicator = 'Y'".encode(),
                [since, k1],
            )
            also, value = "", ""
            if self.stamps == "stamped at insert":
                also, value = ", omd_update_module_instance_id", f", {id}"
            self.flow.conn.execute(
                "INSERT INTO dwh.sat (k1, k2, v, omd_effective_date, omd_expiry_date,"
                f" omd_current_record_indicator, omd_insert_module_instance_id{also})"
                f" VALUES (%s, 'a', %s, %s, %s, 'Y', %s{value})".encode(),
                [k1, v, since, OPEN, id],
            )

    def close(self, id: int, k1: int, until: str) -> None:
        """End a key without a successor, because it was deleted in the source."""
        stamp = f", omd_update_module_instance_id = {id}" if self.stamps == "stamped" else ""
        self.flow.conn.execute(
            "UPDATE dwh.sat SET omd_expiry_date = %s, omd_current_record_indicator = 'N'"
            f"{stamp} WHERE k1 = %s AND omd_current_record_indicator = 'Y'".encode(),
            [until, k1],
        )

    def run(self, status: str, *rows: tuple[int, str, str]) -> int:
        begun = self.flow.begin_module()
        assert begun.pi == "P"
        self.load(begun.id, *rows)
        return self.flow.end_module(begun.id, status)

    def rows(self) -> list[ANSWER]:
        """Return everything except the update stamp."""
        found = self.flow.rows(
            "SELECT k1, v, omd_effective_date::text, omd_expiry_date::text,"
            " omd_current_record_indicator AS c, omd_insert_module_instance_id"
            " FROM dwh.sat ORDER BY k1, omd_effective_date"
        )
        return [tuple(row.values()) for row in found]

    def undo(self) -> list[int] | None:
        """Begin again, which rolls back, and remove all traces of that run."""
        begun = self.flow.begin_module()
        self.flow.end_module(begun.id, "S")
        return begun.array


@pytest.mark.parametrize("stamps", STAMPS)
@pytest.mark.parametrize("table_type", ["SAT", "LSAT"])
def test_rows_closed_by_a_failed_run_are_open_again(
    flow: Flow, stamps: str, table_type: str
) -> None:
    sat = Satellite(flow, stamps, table_type)
    sat.run("S", (1, "a", "2026-01-01"), (2, "a", "2026-01-01"), (3, "a", "2026-01-01"))
    sat.run("S", (1, "b", "2026-02-01"))
    before = sat.rows()
    failed = sat.run("F", (1, "c", "2026-03-01"), (2, "b", "2026-03-01"), (4, "a", "2026-03-01"))
    assert sat.rows() != before
    assert sat.undo() == [failed]
    assert sat.rows() == before


@pytest.mark.parametrize("stamps", STAMPS)
def test_several_failed_runs_in_a_row_are_undone_together(flow: Flow, stamps: str) -> None:
    sat = Satellite(flow, stamps)
    sat.run("S", (1, "a", "2026-01-01"), (2, "a", "2026-01-01"))
    before = sat.rows()
    # On Spark nothing is rolled back in between; then the target moves to PostgreSQL.
    flow.module("m", platform_code="SPARK", table_code="dwh.sat", table_type_code="SAT")
    ids = []
    for n, since in enumerate(("2026-02-01", "2026-03-01", "2026-04-01")):
        id = flow.begin_module().id
        sat.load(id, (1, f"x{n}", since), (5 + n, "new", since))
        ids.append(flow.end_module(id, "F"))
    flow.owner("UPDATE omd.module SET platform_code = 'POSTGRES'")
    assert sat.undo() == ids
    assert sat.rows() == before


def test_a_run_that_closed_but_did_not_insert_is_repaired(flow: Flow) -> None:
    sat = Satellite(flow)
    sat.run("S", (1, "a", "2026-01-01"), (2, "a", "2026-01-01"))
    before = sat.rows()
    id = flow.begin_module().id
    sat.close(id, 1, "2026-02-01")
    flow.end_module(id, "F")
    sat.undo()
    assert sat.rows() == before
    assert flow.one("SELECT count(omd_update_module_instance_id) FROM dwh.sat") == 0


def test_a_run_that_inserted_but_did_not_close_is_repaired(flow: Flow) -> None:
    sat = Satellite(flow)
    flow.conn.execute("DROP INDEX dwh.sat_k1_k2_idx")
    sat.run("S", (1, "a", "2026-01-01"))
    before = sat.rows()
    id = flow.begin_module().id
    flow.conn.execute("INSERT INTO dwh.sat VALUES (1,'a','b','2026-02-01',%s,'Y',%s)", [OPEN, id])
    flow.end_module(id, "F")
    sat.undo()
    assert sat.rows() == before


def test_a_late_record_taken_out_leaves_no_gap(flow: Flow) -> None:
    sat = Satellite(flow)
    sat.run("S", (1, "a", "2026-01-01"))
    sat.run("S", (1, "c", "2026-03-01"))
    before = sat.rows()
    id = flow.begin_module().id
    flow.conn.execute(
        "UPDATE dwh.sat SET omd_expiry_date = '2026-02-01', omd_update_module_instance_id = %s"
        " WHERE v = 'a'",
        [id],
    )
    flow.conn.execute(
        "INSERT INTO dwh.sat VALUES (1, 'a', 'b', '2026-02-01', '2026-03-01', 'N', %s)", [id]
    )
    flow.end_module(id, "F")
    sat.undo()
    assert sat.rows() == before


def test_an_older_run_taken_out_joins_its_neighbours(flow: Flow) -> None:
    sat = Satellite(flow)
    sat.run("S", (1, "a", "2026-01-01"))
    wrong = sat.run("S", (1, "b", "2026-02-01"))
    last = sat.run("S", (1, "c", "2026-03-01"))
    flow.set_next("R", module=wrong)
    assert sat.undo() == [wrong]
    assert [row[1:5] for row in sat.rows()] == [
        ("a", "2026-01-01", "2026-03-01", "N"),
        ("c", "2026-03-01", OPEN, "Y"),
    ]
    assert sat.rows()[-1][-1] == last


def test_a_key_that_another_run_ended_on_purpose_stays_ended(flow: Flow) -> None:
    sat = Satellite(flow)
    sat.run("S", (1, "a", "2026-01-01"), (2, "a", "2026-01-01"))
    ender = flow.begin_module().id
    sat.close(ender, 1, "2026-02-01")
    flow.end_module(ender, "S")
    before = sat.rows()
    sat.run("F", (1, "back again", "2026-03-01"))
    sat.undo()
    assert sat.rows() == before


def test_rows_that_carry_no_stamp_are_left_and_count_in_the_history(flow: Flow) -> None:
    sat = Satellite(flow)
    flow.conn.execute("ALTER TABLE dwh.sat ALTER omd_insert_module_instance_id DROP NOT NULL")
    flow.conn.execute("INSERT INTO dwh.sat VALUES (1,'a','old','2025-01-01',%s,'Y',NULL)", [OPEN])
    before = sat.rows()
    sat.run("F", (1, "b", "2026-02-01"))
    sat.undo()
    assert sat.rows() == before


def test_keys_that_the_run_did_not_touch_are_not_rewritten(flow: Flow) -> None:
    sat = Satellite(flow)
    sat.run("S", (1, "a", "2026-01-01"), (2, "a", "2026-01-01"), (3, "a", "2026-01-01"))
    query = "SELECT array_agg(ctid::text ORDER BY ctid) AS c FROM dwh.sat WHERE k1 > 1"
    places = flow.one(query)
    sat.run("F", (1, "b", "2026-02-01"))
    sat.undo()
    assert flow.one(query) == places


def test_a_boolean_indicator_and_another_open_date_are_kept_to(flow: Flow) -> None:
    flow.conn.execute(
        "CREATE TABLE dwh.sat (k integer, since timestamptz, until timestamptz, is_current boolean,"
        " by_run bigint)"
    )
    flow.call(
        "register_module",
        module_code="m",
        area_code="INT",
        table_code="dwh.sat",
        table_type_code="SAT",
        business_key_columns=["k"],
        effective_date_column="since",
        expiry_date_column="until",
        current_indicator_column="is_current",
        insert_instance_column="by_run",
        open_expiry_date="infinity",
    )
    good = flow.run_module()
    flow.conn.execute("INSERT INTO dwh.sat VALUES (1,'2026-01-01','infinity',true,%s)", [good])
    before = flow.rows("SELECT sat::text FROM dwh.sat")
    id = flow.begin_module().id
    flow.conn.execute("UPDATE dwh.sat SET until = '2026-02-01', is_current = false")
    flow.conn.execute("INSERT INTO dwh.sat VALUES (1,'2026-02-01','infinity',true,%s)", [id])
    flow.end_module(id, "F")
    flow.begin_module()
    assert flow.rows("SELECT sat::text FROM dwh.sat") == before


def test_a_partitioned_satellite_is_repaired(flow: Flow) -> None:
    flow.conn.execute(
        "CREATE TABLE dwh.sat (k integer, omd_effective_date date, omd_expiry_date date,"
        " omd_current_record_indicator text, omd_insert_module_instance_id bigint,"
        " omd_update_module_instance_id bigint) PARTITION BY LIST (omd_current_record_indicator)"
    )
    flow.conn.execute("CREATE TABLE dwh.sat_y PARTITION OF dwh.sat FOR VALUES IN ('Y')")
    flow.conn.execute("CREATE TABLE dwh.sat_n PARTITION OF dwh.sat FOR VALUES IN ('N')")
    flow.call(
        "register_module",
        module_code="m",
        area_code="INT",
        table_code="dwh.sat",
        table_type_code="SAT",
        business_key_columns=["k"],
    )
    good = flow.run_module()
    flow.conn.execute(
        "INSERT INTO dwh.sat SELECT k, '2026-01-01', '9999-12-31', 'Y', %s FROM"
        " generate_series(1, 3) AS k",
        [good],
    )
    query = "SELECT * FROM dwh.sat ORDER BY 1, 2"
    before = flow.rows(query)
    id = flow.begin_module().id
    flow.conn.execute(
        "UPDATE dwh.sat SET omd_expiry_date = '2026-02-01', omd_current_record_indicator = 'N',"
        " omd_update_module_instance_id = %s WHERE k < 3",
        [id],
    )
    flow.conn.execute(
        "INSERT INTO dwh.sat SELECT k, '2026-02-01', '9999-12-31', 'Y', %s FROM"
        " generate_series(1, 2) AS k",
        [id],
    )
    flow.end_module(id, "F")
    flow.begin_module()
    assert flow.rows(query) == before


@pytest.mark.parametrize("stamps", STAMPS)
def test_a_preview_counts_what_the_rollback_then_does(flow: Flow, stamps: str) -> None:
    sat = Satellite(flow, stamps)
    sat.run("S", (1, "a", "2026-01-01"), (2, "a", "2026-01-01"), (3, "a", "2026-01-01"))
    failed = sat.run("F", (1, "b", "2026-02-01"), (2, "b", "2026-02-01"), (7, "a", "2026-02-01"))
    (row,) = flow.rows("SELECT * FROM omd.preview_rollback(%s)", failed)
    assert row["row_count"] == 3 + 2
    before = sat.rows()
    sat.undo()
    after = sat.rows()
    assert len(set(before) - set(after)) == 5


def test_spark_repairs_the_history_before_it_deletes(flow: Flow) -> None:
    flow.module(
        "m",
        table_type_code="SAT",
        platform_code="SPARK",
        business_key_columns=["k1", "k`2"],
        table_code="lake.dwh.sat",
    )
    failed = flow.run_module("m", "F")
    first, second = flow.rows(
        "SELECT statement FROM omd.build_rollback_sql(%s) ORDER BY step", failed
    )
    assert first["statement"].startswith("MERGE INTO `lake`.`dwh`.`sat` AS t USING")
    assert "ON t.`k1` <=> c.`k1` AND t.`k``2` <=> c.`k``2` AND" in first["statement"]
    assert second["statement"].startswith("DELETE FROM `lake`.`dwh`.`sat` WHERE")
    assert "{" not in first["statement"] + second["statement"]


@pytest.mark.parametrize("platform", ["POSTGRES", "SPARK"])
def test_a_satellite_without_a_business_key_stops_the_run(flow: Flow, platform: str) -> None:
    flow.module("m", table_type_code="SAT", platform_code=platform)
    flow.conn.execute(
        "CREATE TABLE IF NOT EXISTS dwh.m (omd_insert_module_instance_id bigint);"
        " ALTER TABLE dwh.m ADD omd_effective_date date, ADD omd_expiry_date date,"
        " ADD omd_current_record_indicator text"
    )
    flow.run_module("m", "F")
    detail = flow.refused("OM205", "begin_module", module_code="m")
    assert (detail["argument"], detail["column_name"]) == ("p_business_key_columns", None)


@pytest.mark.parametrize(
    ("argument", "column"),
    [
        ("business_key_columns", "k1"),
        ("effective_date_column", "omd_effective_date"),
        ("expiry_date_column", "omd_expiry_date"),
        ("current_indicator_column", "omd_current_record_indicator"),
        ("insert_instance_column", "omd_insert_module_instance_id"),
    ],
)
def test_a_column_that_the_satellite_lacks_is_named(flow: Flow, argument: str, column: str) -> None:
    sat = Satellite(flow)
    failed = sat.run("F", (1, "a", "2026-01-01"))
    flow.conn.execute(f"ALTER TABLE dwh.sat RENAME {column} TO other".encode())
    detail = flow.refused("OM205", "begin_module", module_code="m")
    assert (detail["argument"], detail["column_name"]) == (f"p_{argument}", column)
    other: Any = ["other", "k2"] if argument == "business_key_columns" else "other"
    flow.call("register_module", module_code="m", **{argument: other})
    assert flow.begin_module().array == [failed]
