"""Persons are erased from Iceberg tables: from every file, manifest and snapshot that is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.table import StaticTable

import omd
import omd.lake
from facts.store import Store
from omd.programs.terminal.commands import ExitCode
from provenance.persons import search, set_up

from .test_iceberg import Lake, lake

if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import CompletedProcess

__all__ = ["lake"]

pytestmark = pytest.mark.spark

NAME = "Anna Karenina"


def put(lake: Lake, module: str, *rows: str, mode: str = "append") -> None:
    """Write rows (nbr, friend, name) into one file."""
    with lake.run(module) as run:
        values = ", ".join(rows)
        df = lake.spark.sql(f"SELECT * FROM VALUES {values} AS t (nbr, friend, name)")
        run.write(df.coalesce(1), mode=mode)


def seen(lake: Lake, table: str = "t") -> list[tuple[Any, ...]]:
    rows = [(r["nbr"], r["friend"], r["name"]) for r in lake.seen(table)]
    return sorted(rows, key=str)


def left_of(lake: Lake, table: str, text: str) -> list[str]:
    """Return the files of a table, and the bounds in its manifests, that have a text."""
    folder = lake.folder / table
    found = [
        str(path)
        for path in folder.rglob("*.parquet")
        if any(text in str(row) for row in pq.read_table(path).to_pylist())
    ]
    [row] = lake.conn.execute(
        "SELECT metadata_location FROM omd_lake.iceberg_tables WHERE table_name = %s", [table]
    ).fetchall()
    metadata = StaticTable.from_metadata(row["metadata_location"]).metadata
    assert len(metadata.snapshots) == 1
    io, named = PyArrowFileIO(), {metadata.snapshots[0].manifest_list.rpartition("/")[2]}
    for manifest in metadata.snapshots[0].manifests(io):
        named.add(manifest.manifest_path.rpartition("/")[2])
        for entry in manifest.fetch_manifest_entry(io, discard_deleted=False):
            bounds = [
                *(entry.data_file.lower_bounds or {}).values(),
                *(entry.data_file.upper_bounds or {}).values(),
            ]
            found += [entry.data_file.file_path for b in bounds if text[:8].encode() in b]
    assert {path.name for path in folder.rglob("*.avro")} == named
    return found


def erase(lake: Lake, *numbers: int) -> Any:
    return lake.control.provenance.erase(
        "shop", "person", [{"nbr": n} for n in numbers], "request 1", is_dry_run=False
    )


def items(lake: Lake) -> dict[str, tuple[Any, ...]]:
    rows = lake.conn.execute(
        "SELECT * FROM omd_report.erasure_items WHERE layer = 'LAKE' ORDER BY table_code"
    ).fetchall()
    return {
        r["table_code"]: (r["outcome"], r["key_count"], r["row_count"], r["text"]) for r in rows
    }


def registered(lake: Lake, table: str, columns: dict[str, str], action: str = "DELETE") -> None:
    lake.control.calls.omd_provenance.register_subject(
        f"lake.{table}", "shop", "person", columns, action=action
    )


def test_a_person_is_in_no_file_nor_snapshot_any_more(lake: Lake) -> None:
    set_up(Store(lake.conn))
    first, second = lake.module(), lake.module("u")
    put(lake, first, f"(7, 8, '{NAME}')", "(8, 7, 'Boris')")
    put(lake, first, "(9, 9, 'Vera')")
    put(lake, first, f"(7, 9, '{NAME}')")  # a file of her alone
    put(lake, second, f"('7', '1', '{NAME} was here')", "('9', '1', 'Vera')")
    put(lake, second, "('9', '7', 'Vera')", "('8', '8', 'Boris')", mode="overwrite")
    registered(lake, "t", {"nbr": "nbr"})
    registered(lake, "u", {"nbr": "nbr", "friend": "nbr"}, "NULL")
    before = {r["name"]: r["omd_insert_module_instance_id"] for r in lake.seen()}

    answer = erase(lake, 7, 70)
    assert items(lake) == {
        "lake.t": ("DELETED", 1, 2, None),
        "lake.u": ("NULLED", 1, 1, None),
    }
    assert {i["outcome"] for i in answer.items if i["layer"] == "LAKE"} == {"DELETED", "NULLED"}
    assert seen(lake) == [(8, 7, "Boris"), (9, 9, "Vera")]
    assert seen(lake, "u") == [("8", "8", "Boris"), ("9", None, "Vera")]
    after = {r["name"]: r["omd_insert_module_instance_id"] for r in lake.seen()}
    assert after == {name: run for name, run in before.items() if name != NAME}
    for table in "tu":
        assert left_of(lake, table, NAME) == []
    assert search(lake.conn, NAME) == []
    [row] = lake.conn.execute("SELECT erasure_status FROM omd_report.erasures").fetchall()
    assert row["erasure_status"] == "DONE"
    assert lake.conn.execute("SELECT FROM omd_provenance.pending_erasure").fetchall() == []

    # What a run wrote is taken back as before.
    recalls = lake.control.provenance
    [run] = {after["Vera"]}
    for module in (first, second):
        lake.control.calls.omd.declare_inputs(module, [])
    recalls.recall(recalls._calls.plan_recall(module_instance_id=run, reason="r").recall_id)
    assert seen(lake) == [(8, 7, "Boris")]


def test_what_is_pending_is_finished_later_and_once(
    lake: Lake, omd_command: Callable[..., CompletedProcess[str]], dsn: str
) -> None:
    set_up(Store(lake.conn))
    module = lake.module()
    put(lake, module, f"(7, 8, '{NAME}')", "(8, 7, 'Boris')")
    registered(lake, "t", {"nbr": "nbr"})
    provenance = lake.control.provenance
    assert provenance.erase("shop", "person", [{"nbr": 7}], "r").erasure_id is None
    with lake.control.transaction():
        number = erase(lake, 7).erasure_id
    assert items(lake) == {"lake.t": ("PENDING", None, None, "omd erase --finish rewrites it")}
    assert len(seen(lake)) == 2
    [status] = lake.conn.execute("SELECT erasure_status FROM omd_report.erasures").fetchall()
    assert status["erasure_status"] == "PENDING"

    lake.conn.execute('UPDATE omd_provenance.pending_erasure SET columns = \'{"none": "nbr"}\'')
    with pytest.raises(Exception, match="has no column none"):
        provenance._finish(number, spark=lake.spark)
    assert items(lake)["lake.t"][0] == "PENDING"
    lake.conn.execute('UPDATE omd_provenance.pending_erasure SET columns = \'{"nbr": "nbr"}\'')
    done = provenance._finish(number, spark=lake.spark)
    assert [i.outcome for i in done if i.layer == "LAKE"] == ["DELETED"]
    assert items(lake) == {"lake.t": ("DELETED", 1, 1, None)}
    assert seen(lake) == [(8, 7, "Boris")]
    assert left_of(lake, "t", NAME) == []

    again = omd_command("erase", "--finish", str(number), dsn=dsn)
    assert again.returncode == ExitCode.OK, again.stderr
    assert items(lake) == {"lake.t": ("DELETED", 1, 1, None)}
    unknown = omd_command("erase", "--finish", "4711", dsn=dsn)
    assert unknown.returncode != ExitCode.OK
    assert "there is no erasure 4711" in unknown.stderr


def test_what_a_tag_keeps_is_not_left_in_silence(lake: Lake) -> None:
    set_up(Store(lake.conn))
    put(lake, lake.module(), f"(7, 8, '{NAME}')", "(8, 7, 'Boris')")
    registered(lake, "t", {"nbr": "nbr"})
    with lake.control.transaction():
        number = erase(lake, 7).erasure_id
    table = omd.lake.catalog(lake.control).load_table("lake.t")
    snapshot = table.current_snapshot()
    assert snapshot is not None
    table.manage_snapshots().create_tag(snapshot.snapshot_id, "kept").commit()
    with pytest.raises(omd.errors.lookup("OM124"), match="did not expire") as caught:
        lake.control.provenance._finish(number, spark=lake.spark)
    assert "tags" in (caught.value.hint or "")
    assert items(lake)["lake.t"][0] == "PENDING"


def test_an_erasure_that_died_between_its_commits_is_finished_by_the_next_try(lake: Lake) -> None:
    set_up(Store(lake.conn))
    module = lake.module()
    put(lake, module, f"(7, 8, '{NAME}')", "(8, 7, 'Boris')")
    registered(lake, "t", {"nbr": "nbr"})
    lake.conn.execute(
        "CREATE FUNCTION public.stop() RETURNS trigger LANGUAGE plpgsql"
        " AS $$ BEGIN RAISE EXCEPTION 'stopped'; END $$;"
        "CREATE TRIGGER stop BEFORE INSERT ON omd_lake.table_commit FOR EACH ROW"
        " WHEN (NEW.operation = 'EXPIRE') EXECUTE FUNCTION public.stop()"
    )
    number = erase(lake, 7).erasure_id  # it is erased in the database, whatever the lake does
    assert items(lake)["lake.t"][0] == "PENDING"
    assert seen(lake) == [(8, 7, "Boris")]
    assert len(list((lake.folder / "t").rglob("*.parquet"))) == 2
    lake.conn.execute("DROP TRIGGER stop ON omd_lake.table_commit; DROP FUNCTION public.stop()")
    lake.control.provenance._finish(number, spark=lake.spark)
    assert items(lake)["lake.t"][0] == "DELETED"
    assert left_of(lake, "t", NAME) == []
    assert len(list((lake.folder / "t").rglob("*.parquet"))) == 1
