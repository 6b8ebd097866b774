"""Namespaces, tables, formats and moments of the lake (docs/explanation/lake.md)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import psycopg
import pytest

from lake.conftest import delta
from support.flow import checked

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from typing import Any

    from lake.conftest import Room


def test_a_namespace_has_a_folder_of_its_own_which_stays_while_it_has_tables(room: Room) -> None:
    def register(namespace: str, location: str) -> None:
        room.call("register_namespace", namespace=namespace, location=location)

    register("Lake", "s3a://bucket/lake/")
    register("lake", "s3a://bucket/lake")  # the same
    register('"My ""lake"""', "/data/my lake")
    for namespace, location in (
        ("a.b", "/x"),
        ("my lake", "/x"),
        ("x" * 256, "/x"),
        ("other", "x/y"),
        ("other", "/"),
        ("other", "/" + "x" * 1001),
        ("other", "s3a://bucket/lake"),
        ("other", "s3a://bucket"),
        ("other", "s3a://bucket/lake/flights"),
    ):
        room.refused("OM013", "register_namespace", namespace=namespace, location=location)
    register("other", "s3a://bucket/lakes")  # this only begins alike
    register("lake", "/data/lake")  # no table yet
    properties = (
        "SELECT property_key, property_value FROM omd_lake.iceberg_namespace_properties"
        " WHERE catalog_name = 'omd' AND namespace = 'lake' ORDER BY 1"
    )
    assert [tuple(row.values()) for row in room.rows(properties)] == [
        ("exists", "true"),
        ("location", "/data/lake"),
    ]
    # A Delta table has no row in the catalogue.
    room.module("d", table_format_code="DELTA")
    room.commit(room.begin("d"), delta("lake.d", 0))
    room.refused("OM013", "register_namespace", namespace="lake", location="/elsewhere")
    register("lake", "/data/lake")


def test_an_existing_table_stays_and_of_two_at_once_one_is_new(
    room: Room,
    another: Callable[..., Room],
    background: Callable[..., Future[Any]],
    until_settled: Callable[[Room, Future[Any]], None],
) -> None:
    table = {"table_code": "lake.a", "metadata_location": "a.0"}
    assert room.refused("OM220", "register_table", **table)["namespace"] == "lake"
    room.scene()
    other = another()
    with room.conn.transaction():
        assert room.call("register_table", **table) == {"is_new": True}
        waiting = background(
            other.call, "register_table", table_code="LAKE.A", metadata_location="x"
        )
        until_settled(other, waiting)
        assert not waiting.done()
    assert waiting.result(30) == {"is_new": False}
    assert room.one("SELECT metadata_location FROM omd_lake.iceberg_tables") == "a.0"
    for code in ("a.b.c", "lake." + "x" * 256):
        room.refused("OM013", "register_table", **{**table, "table_code": code})
    room.refused("OM013", "register_table", table_code="lake.b", metadata_location="x" * 1001)
    for code in ("a", "a.b.c.d", "lake.", 'lake."'):
        room.refused("OM009", "register_table", **{**table, "table_code": code})


HOSTILE = {
    'lake."a/b"': "a~2Fb",
    'lake.".."': "~2E~2E",
    'lake."~2E"': "~7E2E",
    'lake."x y"': "x~20y",
    'lake."\'; DROP SCHEMA omd CASCADE; --"': "~27~3B~20DROP~20SCHEMA~20omd~20CASCADE~3B~20--",
    'lake."{table}"': "~7Btable~7D",
    'lake."a.b"': "a.b",
    'lake."Größe"': "Gr~C3~B6~C3~9Fe",
    'lake."a""b"': "a~22b",
    'lake."back\\slash"': "back~5Cslash",
    'lake."=*"': "~3D~2A",
    "lake." + "x" * 200: "x" * 200,
}


def test_names_may_be_anything_and_their_folders_are_plain_and_their_own(room: Room) -> None:
    room.scene()
    places = set()
    for number, (code, folder) in enumerate(HOSTILE.items()):
        room.module(f"m{number}", table_code=code)
        room.call("register_table", table_code=code, metadata_location="x.0")
        (found,) = room.rows("SELECT * FROM omd_lake.find_table(%s)", code)
        assert found == {
            "table_code": code,
            "table_format_code": "ICEBERG",
            "location": f"/data/lake/{folder}",
            "metadata_location": "x.0",
        }
        places.add(found["location"])
        instance = room.begin(f"m{number}")
        room.append(instance, code)
        room.end_module(instance, "F")
        begun = room.call("omd.begin_module", module_code=f"m{number}")
        undo = room.one(
            "SELECT statement FROM omd.build_rollback_sql(%s)", begun["module_instance_id"]
        )
        assert undo.startswith("-- A step of the driver, no SQL: ")
        assert f"takes back Module Instances {instance}." in undo
        assert len(undo.splitlines()) == 1
        listed = "SELECT metadata_location FROM omd_report.lake_tables WHERE table_code = %s"
        assert room.one(listed, code) == "x.1"
    assert len(places) == len(HOSTILE)


def test_a_lake_format_is_for_spark_and_has_a_rollback_in_every_area(room: Room) -> None:
    for format in ("ICEBERG", "delta"):
        for area in ("STG", "HSTG", "INT", "PRES", "HELPER"):
            code = f"{format}_{area}"
            room.module(code, table_format_code=format, area_code=area, table_type_code="SAT")
            assert (
                room.rows("SELECT * FROM omd_report.readiness WHERE module_code = %s", code) == []
            )
    room.module("m", table_code="LAKE.Flights", table_format_code="iceberg")
    assert room.one("SELECT table_code FROM omd.module WHERE module_code = 'm'") == "lake.flights"
    detail = room.refused("OM013", "omd.register_module", module_code="m", platform_code="POSTGRES")
    assert (detail["argument"], detail["value"]) == ("p_platform_code", "POSTGRES")
    room.refused(
        "OM013",
        "omd.register_module",
        module_code="p",
        area_code="HSTG",
        table_code="a.b",
        table_format_code="DELTA",
    )
    # Rows of a run of another format would be looked for in the wrong way.
    room.module("n", table_format_code=None)
    room.end_module(room.begin("n"), "F")
    room.refused("OM111", "omd.register_module", module_code="n", table_format_code="ICEBERG")
    room.end_module(room.begin("m"), "F")
    room.refused("OM111", "omd.register_module", module_code="m", table_format_code="PARQUET")
    # A rollback of one's own begins with that of the format.
    room.call("omd.register_rollback", module_code="m")
    own = "SELECT statement_template FROM omd.rollback_template WHERE module_id IS NOT NULL"
    assert room.one(own).startswith("CALL omd.undo(")


def test_the_modules_that_load_a_table_tell_its_format(room: Room) -> None:
    def format(code: str, given: str | None = None) -> Any:
        return room.one("SELECT table_format_code FROM omd_lake.find_table(%s, %s)", code, given)

    assert format("stg.nobody") is None
    room.module("pg", platform_code="POSTGRES", table_format_code=None, table_code="dwh.pg")
    assert format("dwh.pg") is None
    room.module("a", table_code="lake.a")
    with pytest.raises(psycopg.Error) as caught:
        format("lake.a")
    checked(caught.value, "OM220")
    room.scene()
    assert format("Lake.A") == "ICEBERG"
    assert format("lake.a", "delta") == "DELTA"
    room.module("a2", table_code="lake.a", table_format_code="DELTA")
    with pytest.raises(psycopg.Error) as caught:
        format("lake.a")
    assert checked(caught.value, "OM221")["formats"] == "DELTA, ICEBERG"
    room.module("c", table_code="cat.sch.t")
    (other,) = room.rows("SELECT * FROM omd_lake.find_table('cat.sch.t')")
    assert (other["table_format_code"], other["location"]) == ("ICEBERG", None)


def test_as_of_a_moment_the_commit_of_then_is_found_and_tables_fit_together(room: Room) -> None:
    def then(table: str, moment: Any) -> int:
        return int(
            room.one("SELECT sequence_number FROM omd_lake.commit_as_of(%s, %s)", table, moment)
        )

    room.scene("a", "b")
    instance = room.begin("a")
    for write in (1, 2, 3):
        room.append(instance, "lake.a", *(["lake.b"] if write != 2 else []), write=write)
    log = "SELECT table_code, commit_datetime AS t FROM omd_lake.table_commit ORDER BY commit_id"
    first, _, second, third, _ = (row["t"] for row in room.rows(log))
    tick = timedelta(microseconds=1)
    moments = (first, second - tick, second, third - tick, third, "infinity")
    assert [then("lake.a", m) for m in moments] == [1, 1, 2, 2, 3, 3]
    assert [then("Lake.B", m) for m in moments] == [1, 1, 1, 1, 2, 2]
    for code, moment, sqlstate in (
        ("lake.a", first - tick, "OM021"),
        ("lake.x", first, "OM020"),
        ("x", first, "OM009"),
    ):
        with pytest.raises(psycopg.Error) as caught:
            then(code, moment)
        checked(caught.value, sqlstate)
    with pytest.raises(psycopg.Error) as caught:
        room.open(instance, "lake.a", "lake.x")
    assert checked(caught.value, "OM020")["table_code"] == "lake.x"
    # A view of another engine is no table.
    room.owner("UPDATE omd_lake.iceberg_tables SET iceberg_type = 'VIEW' WHERE table_name = 'b'")
    room.refused("OM020", "open_commit", module_instance_id=instance, tables=["lake.b"])


def test_maintenance_is_a_module_that_is_there_when_it_is_needed(
    room: Room, another: Callable[..., Room]
) -> None:
    room.scene("a")
    runner = another(role="omd_runner")
    assert room.one("SELECT count(*) FROM omd.module") == 1
    for _ in range(2):
        runner.call("register_maintenance")
    instance = runner.begin("omd_lake_maintain")
    runner.append(instance, "lake.a", operation="COMPACT")
    runner.end_module(instance, "F")
    begun = runner.call("omd.begin_module", module_code="omd_lake_maintain")
    assert begun["processing_indicator"] == "R"
    runner.call("omd.confirm_rollback", module_instance_id=begun["module_instance_id"])
    assert [row["table_code"] for row in room.rows("SELECT * FROM omd_report.lake_tables")] == [
        "lake.a"
    ]
