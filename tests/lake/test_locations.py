"""Where tables and folders lie, however it is spelled, and what is deleted."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pyarrow as pa
import pytest
from deltalake import DeltaTable

import omd
import omd.lake
from omd.rooms.control.rows import EventLogRow
from omd.rooms.lake.rows import LakeCommitsRow, LakeFoldersRow
from omd.tables.delta import Delta
from omd.tables.files import lies_within
from omd.tables.footers import data_files
from omd.tables.maintenance import maintain

from .programs import SCHEMA, lake_of, write, write_delta
from .test_crashes import control, kill_at, seen
from .test_maintenance import fill

if TYPE_CHECKING:
    from collections.abc import Callable

    from lake.conftest import Room

__all__ = ["control"]

SAME = (
    "/data/lake",
    "/data/lake/",
    "//data///lake",
    "/data/./x/../lake",
    "/data/lake/a/..",
    "file:/data/lake",
    "file:///data/lake",
    "FILE:///data//lake",
    "file://localhost/data/lake",
    "file:/data/%6Cake",
    "/%64ata/lake",
    "/data/x%2F..%2flake",
)
S3 = ("s3://bucket/lake", "s3a://bucket/lake", "S3N://BUCKET//lake/.", "s3://Bucket/l%61ke")
APART = (
    "/data/lakes",
    "/data/lak",
    "/data/Lake",
    "/data/lake2/x",
    "s3a://bucket/lakes",
    "gs://bucket/lake",
    "s3a://other/lake",
    "file://host/data/lake",
)


def test_two_namespaces_share_no_folder_however_it_is_spelled(room: Room) -> None:
    def register(namespace: str, location: str) -> None:
        room.call("register_namespace", namespace=namespace, location=location)

    register("lake", "/data/lake")
    register("bucket", "s3a://bucket/lake")
    for location in (*SAME, *S3):
        for shared in (location, f"{location.rstrip('/')}/within", f"{location}/../../"):
            detail = room.refused("OM013", "register_namespace", namespace="other", location=shared)
            assert detail["argument"] == "p_location"
    for location in ("s3://bucket/x?/lake", "s3://bucket/x#y", "file:data", "data", "file:///"):
        room.refused("OM013", "register_namespace", namespace="other", location=location)
    for number, location in enumerate(APART):
        register(f"other_{number}", location)
    # Another spelling of its own folder changes nothing, also when it has tables.
    room.call("register_table", table_code="lake.a", metadata_location="a.0")
    for location in SAME:
        if "%" not in location:  # engines differ on what that is
            register("lake", location)
    known = "SELECT omd_lake.table_location('lake.a')"
    assert room.one(known) == "/data/lake/a"


def folder(base: str, instance: int, write: int = 1) -> str:
    return f"{base}/data/omd/{instance}/{write}"


def test_a_folder_lies_in_its_table_or_its_namespace_and_in_no_other_table(room: Room) -> None:
    room.scene("a", "b")
    room.module("d", table_format_code="DELTA")
    room.call("register_namespace", namespace="s3", location="s3a://bucket/lake")
    far = {
        "table_code": "lake.far",
        "metadata_location": "/far/away/metadata/00001-x.metadata.json",
    }
    room.call("register_table", **far)
    instance = room.begin("a")

    def announce(base: str, table: str = "lake.a", write: int = 1) -> None:
        room.call(
            "announce_write",
            module_instance_id=instance,
            write_number=write,
            table_code=table,
            folder=folder(base, instance, write),
        )

    for base in (
        "/data/other",
        "/data/lakes/a",
        "/data/lake/a/../b",
        "/data/lake/b",
        "/data/lake/b/x",
        "/data/lake/d",
        "/data/lake/%62",
        "/data/lake/a/../../other",
        "/data/lake/a%2F..%2Fb",
        "/data/lake/a/%2e%2e/%2E%2E/other",
        "/data/lake%2Fa",
        "/data/lake",
        "/data",
        "",
        "data/lake/a",
        "file:data/lake/a",
        "file:///data/lake/a/data/omd?",
        "file://host/data/lake/a",
        "s3://data/lake/a",
        "/data/lake/a/data/omd/1/1",
        "/far/away",
        "/DATA/lake/a",
    ):
        detail = room.refused(
            "OM013",
            "announce_write",
            module_instance_id=instance,
            write_number=1,
            table_code="lake.a",
            folder=folder(base, instance),
        )
        assert detail["argument"] == "p_folder"
    assert room.rows("SELECT FROM omd_lake.write_folder") == []
    for number, (base, table) in enumerate(
        (
            ("file:/data//lake/./a", "lake.a"),
            ("/data/lake/nobody", "lake.a"),
            ("/far/away", "lake.far"),
            ("/data/lake/d", "lake.d"),
            ("s3://bucket/lake/t", "s3.t"),
            ("S3A://bucket/lake//t", "s3.t"),
            ("/elsewhere/t", "cat.sch.t"),
        ),
        2,
    ):
        announce(base, table, number)
    # Nobody else's write has this folder, whatever table and spelling it is announced with.
    announce("/data/lake/nobody", write=20)
    for base, table in (("file:/data/lake/nobody", "lake.b"), ("/data/lake/b", "cat.sch.t")):
        room.refused(
            "OM013",
            "announce_write",
            module_instance_id=instance,
            write_number=20,
            table_code=table,
            folder=folder(base, instance, 20),
        )


def test_a_run_does_not_move_a_table_and_an_append_removes_nothing(
    room: Room, another: Callable[..., Room]
) -> None:
    room.scene("a")
    far = "/far/away/metadata/00001-x.metadata.json"
    room.call("register_table", table_code="lake.far", metadata_location=far)
    instance = room.begin("a")

    def moved(to: str, run: int | None = instance, session: Room = room) -> None:
        with session.conn.transaction():
            (location,) = session.open(run, "lake.far")
            made = {
                "table": "lake.far",
                "format": "ICEBERG",
                "from": location,
                "to": to,
                "sequence_number": 1,
                "operation": "SCHEMA",
            }
            session.commit(run, made)

    for to in (
        "/data/lake/b/metadata/1.json",
        "/far/away/x/metadata/1.json",
        "/far/away/metadata/../../b/metadata/1.json",
        "/far/away/1.json",
    ):
        with pytest.raises(psycopg.Error, match="another folder"):
            moved(to)
    moved("file:///far/away/metadata/2.json")
    moved("/data/lake/far/metadata/3.json")  # where its namespace has it
    moved("/other/far/metadata/4.json", None, another(role="omd_admin"))
    assert room.one("SELECT omd_lake.table_location('lake.far')") == "/other/far"
    for name in ("removed_files", "removed_rows"):
        problem = room.refused_commit(
            "OM022",
            ["lake.a"],
            instance,
            {
                "table": "lake.a",
                "format": "ICEBERG",
                "from": "a.0",
                "to": "a.1",
                "sequence_number": 1,
                "operation": "APPEND",
                "counts": {name: 1},
            },
        )
        assert "an APPEND removes nothing" in problem


def test_what_is_deleted_lies_in_the_table_as_it_is_reached(tmp_path: Path) -> None:
    table, other = tmp_path / "t", tmp_path / "tx"
    for place in (table / "data", other):
        place.mkdir(parents=True)
    (table / "link").symlink_to(other)
    (tmp_path / "alias").symlink_to(table)

    def within(path: str, location: str = str(table)) -> bool:
        return list(lies_within(location, [path])) == [True]

    for path in (
        f"{table}/data/x",
        f"file://{table}/data/x",
        f"file:{table}//data/./x",
        f"{table}/data/../x",
        f"{tmp_path}/alias/data/x",
        f"{table}/link",  # the link itself
        f"{table}/a b%20c/x",
    ):
        assert within(path), path
        assert within(path, f"file://{table}/"), path
        assert within(path, str(tmp_path / "alias")), path
    for path in (
        f"{other}/x",
        f"{table}x/x",
        f"{table}/../tx/x",
        f"{table}/link/x",
        f"{table}/data/..",
        f"{table}/data/.",
        f"file://{table}/data?/x",
        f"file://localhost{table}/data/x",
        f"s3://{table}/data/x",
        "data/x",
    ):
        assert not within(path), path
    assert within("s3a://b/t/data/x", "s3://b/t")
    assert within("s3://b/t//data/x", "s3://b/t/")
    for path in ("s3://b/tx/x", "s3://b/t/../u/x", "s3://b/t/../t/x", "gs://b/t/x", "s3://c/t/x"):
        assert not within(path, "s3://b/t"), path


def test_maintenance_leaves_folders_that_are_none_of_the_table(
    control: omd.Control, dsn: str, conn: Any, tmp_path: Path
) -> None:
    fill(control, "append")
    killed = kill_at(dsn, "files")
    control.calls.omd.module_failure(killed)
    rows = control.report(LakeFoldersRow, table_code="lake.two", folder_state="ABANDONED")
    (row,) = rows
    assert row.folder is not None
    outside = tmp_path.parent / f"{tmp_path.name}_outside"
    number = row.write_number
    names = {
        "outside": folder(str(outside), killed, number),
        "dots": folder(f"{tmp_path}/two/../../{outside.name}", killed, number),
        "of another": folder(f"{tmp_path}/one", killed, number),
        "a link": folder(f"{tmp_path}/two/data/omd/../../link", killed, number),
    }
    (tmp_path / "two" / "link").symlink_to(outside)
    for told in names.values():
        place = Path(told).resolve()
        place.mkdir(parents=True, exist_ok=True)
        (place / "x.parquet").write_text("x")
        # An older version has taken it.
        conn.execute(
            "UPDATE omd_lake.write_folder SET folder = %s WHERE table_code = 'lake.two'", [told]
        )
        done = maintain(control, ["lake.two"])
        assert [(d.action, told in (d.problem or "")) for d in done] == [("PASSED_OVER", True)]
        assert (place / "x.parquet").exists()
    # The folder itself is a link.
    real = Path(row.folder)
    real.rename(outside / "moved")
    real.symlink_to(outside / "moved")
    conn.execute(
        "UPDATE omd_lake.write_folder SET folder = %s WHERE table_code = 'lake.two'", [row.folder]
    )
    (done,) = maintain(control, ["lake.two"])
    assert done.action == "PASSED_OVER"
    assert list((outside / "moved").iterdir())
    # So does the rollback of the run.
    with control.module("m_lake"):
        pass
    assert list((outside / "moved").iterdir())


def test_an_expiry_deletes_nothing_outside_of_the_table_whatever_its_metadata_says(
    control: omd.Control, tmp_path: Path
) -> None:
    fill(control, "append")
    (stranger,) = (tmp_path / "one").rglob("*.parquet")
    with control.module("m_lake") as run:
        write(run, "lake.two", [1])
        lake = lake_of(run)
        pending = lake.staged("lake.two")
        assert pending is not None
        # A run takes a file of another table for its own, and the next one removes it.
        metadata = lake.table("lake.two").metadata
        pending.added += data_files(pending.io, [str(stranger)], metadata.schema, metadata.spec)
    with control.module("m_lake") as run:
        write(run, "lake.two", [2], "overwrite")
    planned = maintain(control, ["lake.two"], keep=timedelta(0), dry_run=True)
    done = maintain(control, ["lake.two"], keep=timedelta(0))
    assert done == planned
    assert [row.action for row in done] == ["EXPIRE"]
    assert stranger.exists()
    assert seen(control, "lake.one") == [0]
    assert seen(control, "lake.two") == [2]


def test_an_expiry_of_delta_deletes_no_file_that_is_named_with_escapes(
    control: omd.Control, tmp_path: Path
) -> None:
    control.calls.omd.register_module(
        "m_lake",
        area_code="HSTG",
        table_code="lake.one",
        table_type_code="HSTG",
        platform_code="SPARK",
        table_format_code="DELTA",
    )
    for mode in ("append", "overwrite"):
        with control.module("m_lake") as run:
            write_delta(run, "lake.one", [1], mode)
    log = tmp_path / "one" / "_delta_log"
    strangers = [tmp_path / "x.parquet", log / "x.json", tmp_path / "one" / "up.parquet"]
    for stranger in strangers:
        stranger.write_text("x")
    (tmp_path / "one" / "up").symlink_to(tmp_path)
    version = DeltaTable(tmp_path / "one").version()
    names = ("%2e%2e/x.parquet", "%2E%2E%2Fx.parquet", "../x.parquet", "up/x.parquet",
             "%5Fdelta_log/x.json", "_delta_log/x.json", "data/../../x.parquet")  # fmt: skip
    removes = [
        {"remove": {"path": name, "dataChange": True, "deletionTimestamp": 1}} for name in names
    ]
    (log / f"{version + 1:020}.json").write_text("\n".join(map(json.dumps, removes)))
    with control.module("m_lake") as run:
        write_delta(run, "lake.one", [2], "overwrite")
    maintain(control, ["lake.one"], keep=timedelta(0))
    assert all(stranger.exists() for stranger in strangers)


# K4 -----------------------------------------------------------------------------------------------


def test_what_can_not_be_read_stops_the_maintenance_of_nothing_else(
    control: omd.Control, dsn: str, conn: Any, tmp_path: Path, omd_here: Callable[..., Any]
) -> None:
    for code in ("lake.broken", "lake.gone", "lake.one"):
        for mode in ("append", "overwrite"):
            with control.module("m_lake") as run:
                write(run, code, [1], mode)
    control.calls.omd.register_module(
        "m_delta",
        area_code="HSTG",
        table_code="lake.delta",
        table_type_code="HSTG",
        platform_code="SPARK",
        table_format_code="DELTA",
    )
    with control.module("m_delta") as run:
        write_delta(run, "lake.delta", [1])
    killed = kill_at(dsn, "files")
    control.calls.omd.module_failure(killed)
    for code in ("lake.broken", "lake.gone"):
        location = control.calls.omd_lake.find_table(
            code, table_format_code="ICEBERG"
        ).metadata_location
        assert location is not None
        path = Path(location)
        path.write_text("{") if code == "lake.broken" else path.unlink()
    (log,) = (tmp_path / "delta" / "_delta_log").glob("*1.json")
    log.write_text("no json")
    for row in (
        ("nowhere", "t", "/nowhere/t/metadata/1.json"),
        ("lake", "", "/x/metadata/1.json"),
        ("lake", "scheme", "what://x/metadata/1.json"),
    ):
        conn.execute("INSERT INTO omd_lake.iceberg_tables VALUES ('omd', %s, %s, %s)", row)
    conn.execute(
        "UPDATE omd_lake.write_folder SET folder = '/nowhere' WHERE table_code = 'lake.two'"
        " AND commit_id IS NULL"
    )
    bad = {"lake.broken", "lake.delta", "lake.gone", 'lake.""', "lake.scheme", "nowhere.t"}
    shown = omd_here("maintain", "--keep", "0 days", "--dry-run", dsn=dsn)
    assert shown.returncode == 1
    done = maintain(control, keep=timedelta(0))
    passed = [row.table_code for row in done if row.action == "PASSED_OVER"]
    assert sorted(passed) == sorted([*bad, "lake.two"])
    assert {(d.table_code, d.action) for d in done if d.problem is None} == {
        ("lake.one", "REMOVE_FOLDER"),
        ("lake.one", "EXPIRE"),
    }
    told = "\n".join(row.event_detail or "" for row in control.report(EventLogRow))
    shown = omd_here("maintain", "--keep", "0 days", dsn=dsn)
    assert shown.returncode == 1
    assert f"{len(passed)} passed over" in shown.stderr
    for code in passed:
        assert f"{code} is passed over: " in told
        assert f"{code} is passed over: " in shown.stderr
    alone = omd_here("maintain", "lake.one", "--keep", "0 days", dsn=dsn)
    assert alone.returncode == 0, alone.stderr


# K5 -----------------------------------------------------------------------------------------------


def test_a_metadata_file_that_is_registered_exists(control: omd.Control, tmp_path: Path) -> None:
    fill(control, "append")
    location = control.calls.omd_lake.find_table("lake.one").metadata_location
    assert location is not None
    (tmp_path / "no.json").write_text("[]")
    catalog = omd.lake.catalog(control)
    for missing in (f"{location}x", str(tmp_path / "no.json"), str(tmp_path), "what://x"):
        with pytest.raises(omd.errors.lookup("OM013"), match="no metadata file"):
            catalog.register_table("lake.copy", missing)
    assert control.calls.omd_lake.register_table("lake.copy", location) is True
    assert seen(control, "lake.copy") == [0]


def operations(control: omd.Control) -> list[tuple[str, int, int]]:
    rows = control.report(LakeCommitsRow, table_code="lake.one", order_by=["commit_id"])
    return [(row.operation, row.added_rows, row.removed_rows) for row in rows]


def test_commits_of_other_tools_are_recorded_as_what_they_are(control: omd.Control) -> None:
    fill(control, "append", "append")
    catalog = omd.lake.catalog(control)
    table = catalog.load_table("lake.one")
    first = table.snapshots()[0].snapshot_id
    row = pa.table({"id": pa.array([9], pa.int64())})
    table.append(row)
    table.overwrite(row)
    table.append(row)
    with table.transaction() as both:
        both.append(row)
        both.append(row)
    table.delete("id = 9")
    table.append(row)
    table.manage_snapshots().set_current_snapshot(first).commit()
    table.manage_snapshots().create_tag(first, "kept").commit()
    table.append(row)
    assert operations(control)[2:] == [
        ("APPEND", 1, 0),
        ("OVERWRITE", 1, 3),
        ("APPEND", 1, 0),
        ("APPEND", 2, 0),
        ("OVERWRITE", 0, 4),
        ("APPEND", 1, 0),
        ("UNDO", 0, 0),
        ("SCHEMA", 0, 0),
        ("APPEND", 1, 0),
    ]
    assert seen(control, "lake.one") == [0, 9]


def test_a_table_that_is_gone_is_not_made_anew_without_a_word(
    control: omd.Control, conn: Any
) -> None:
    fill(control, "append")
    location = control.calls.omd_lake.find_table("lake.one").metadata_location
    assert location is not None

    def refused() -> omd.errors.OmdError:
        with pytest.raises(omd.errors.lookup("OM122")) as caught, control.module("m_lake") as run:
            write(run, "lake.one", [9])
        assert caught.value.sqlstate == "OM122"
        return caught.value

    def files() -> int:
        return len(list(Path(location).parent.iterdir()))

    before = files()
    conn.execute("UPDATE omd_lake.iceberg_tables SET table_name = 'other'")
    assert refused().detail["renamed_to"] == "lake.other"
    conn.execute("DELETE FROM omd_lake.iceberg_tables")
    detail = refused().detail
    assert (detail["renamed_to"], detail["metadata_location"]) == (None, location)
    assert files() == before
    assert control.calls.omd_lake.register_table("lake.one", location)
    fill(control, "append")
    assert seen(control, "lake.one") == [0, 0]
    # When no run of it stands, nothing is lost.
    runs = {row.module_instance_id for row in control.report(LakeCommitsRow)}
    for instance in runs:
        assert instance is not None
        control.calls.omd.set_next_run_indicator("R", module_instance_id=instance)
    with control.module("m_lake"):
        pass
    conn.execute("DELETE FROM omd_lake.iceberg_tables")
    fill(control, "append")
    assert seen(control, "lake.one") == [0]


def test_a_rollback_does_not_pass_over_a_table_that_has_another_name_now(
    control: omd.Control, conn: Any
) -> None:
    fill(control, "append")

    def job(run: omd.Run) -> None:
        write(run, "lake.one", [1])
        lake_of(run).commit()
        raise KeyError

    assert isinstance(control.run("m_lake", job).error, KeyError)
    conn.execute("UPDATE omd_lake.iceberg_tables SET table_name = 'other'")
    with (
        pytest.raises(omd.errors.lookup("OM122"), match=r"now lake\.other"),
        control.module("m_lake"),
    ):
        pass
    conn.execute("UPDATE omd_lake.iceberg_tables SET table_name = 'one'")
    with control.module("m_lake"):
        pass
    assert seen(control, "lake.one") == [0]


def test_a_delta_table_that_is_gone_may_not_be_made_while_runs_of_it_stand(
    control: omd.Control, tmp_path: Path
) -> None:
    with control.module("m_lake") as run:
        lake_of(run).require_absent("lake.d")
        write_delta(run, "lake.d", [1])
    with control.module("m_lake") as run:
        with pytest.raises(omd.errors.lookup("OM122")):
            lake_of(run).require_absent("lake.d")
        Delta.create(str(tmp_path / "d2"), SCHEMA, ())
