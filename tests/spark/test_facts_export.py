"""Exports of facts: files that any reader of Parquet reads, published at once, whoever dies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pyarrow.parquet as pq
import pytest

from facts.store import Store, entity
from omd.errors import Aborted, CallerError, LeaseLost, lookup
from omd.rooms.facts.calls import FactsCalls
from omd.rooms.facts.export import ExportRun
from omd.spark.facts import export as files

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import SparkSession

    import omd

pytestmark = pytest.mark.spark

SHELF = entity("shelf", ["nbr"], ["nbr", ("name", "text(20)")])
THING = entity(
    "thing",
    ["nbr"],
    ["nbr", ("name", "text(20)"), ("price", "numeric(12,2)"), ("seen", "timestamptz"), "shelf"],
    relationships=[{"name": "on", "parent": "shelf", "columns": ["shelf"]}],
)


class Killed(BaseException):
    """What kills a program, and nothing catches."""


@pytest.fixture
def store(conn: Any) -> Store:
    return Store(conn)


@pytest.fixture
def shop(store: Store) -> Store:
    store.set_up(SHELF, THING)
    store.agree("x", layer_code="EXPORT")
    store.put(1, shelf=[("N", 1, "a")])
    store.put(
        2,
        thing=[("N", n, f"ä{n}", f"{n}.50", "2020-01-01 12:00:00+00", 1) for n in range(5)]
        + [("N", 9, None, None, "9999-12-31 00:00:00+00", None)],
    )
    return store


def folder_of(target: Path, found: Mapping[str, Any]) -> Path:
    return target / "x" / f"delivery={found['delivery_id']}"


def rows_in(target: Path, found: Mapping[str, Any], name: str) -> list[tuple[Any, ...]]:
    """Read the files that the manifest names, without Spark; what else is there is refused."""
    folder = folder_of(target, found)
    manifest = json.loads((folder / "_manifest.json").read_text())
    assert manifest == found["manifest"]
    (told,) = [e for e in manifest["entities"] if e["entity_code"] == name]
    paths = {folder / file["path"]: file["bytes"] for file in told["files"]}
    there = {p: p.stat().st_size for p in folder.rglob("*") if p.suffix == ".parquet"}
    assert paths == {p: size for p, size in there.items() if p.parent == folder / name}
    tables = [pq.read_table(path) for path in paths]
    rows = [tuple(row.values()) for table in tables for row in table.to_pylist()]
    assert [c["name"] for c in told["schema"]] == tables[0].column_names
    assert len(rows) == told["rows"]
    return sorted(rows, key=repr)


def test_facts_are_exported_and_read_by_another_reader(
    shop: Store, control: omd.Control, spark: SparkSession, tmp_path: Path
) -> None:
    outcome = control.facts.export(
        "x", str(tmp_path), spark=spark, options={"partitions": 2, "compression": "zstd"}
    )
    assert (outcome.kind, outcome.code, outcome.status) == ("EXPORT", "x", "S")
    found = outcome.facts
    query = "SELECT nbr, name, price, seen, shelf FROM gdal_shop.thing"
    wanted = sorted((tuple(r.values()) for r in shop.rows(query)), key=repr)
    assert rows_in(tmp_path, found, "thing") == wanted
    # A moment as any reader takes it; the eight bytes of INT96 are one of Spark's own.
    for path in (folder_of(tmp_path, found) / "thing").glob("*.parquet"):
        kinds = {c.name: c.physical_type for c in pq.ParquetFile(path).schema}
        assert kinds["seen"] == "INT64"
    assert rows_in(tmp_path, found, "shelf") == [(1, "a")]
    assert found["rows"] == 7
    manifest = found["manifest"]
    head = {k: v for k, v in manifest.items() if k not in ("entities", "module_instance_id")}
    assert head == {
        "delivery_id": found["delivery_id"],
        "agreement_code": "x",
        "interface_code": "shop",
        "mode": "FULL",
        "as_of": "2020-01-02T00:00:00+00:00",
        "attempt": 1,
    }
    names = sorted(p.name for p in folder_of(tmp_path, found).iterdir() if p.suffix != ".crc")
    assert names == ["_manifest.json", "shelf", "thing"]
    assert shop.status(found["delivery_id"]) == "EXPORTED"
    assert control.facts._resume_export(found["delivery_id"], spark=spark) == outcome

    # The changes since then, as of a moment before the newest.
    shop.put(3, thing=[("A", 1, "new", None, None, None), ("R", 2, *[None] * 4)])
    shop.put(4, thing=[("N", 77, *[None] * 4)])
    changes = control.facts.export(
        "x",
        str(tmp_path),
        entities=["thing"],
        mode="CHANGES",
        as_of=datetime(2020, 1, 3, tzinfo=timezone.utc),
        spark=spark,
    )
    assert [(row[0], row[1], row[-1]) for row in rows_in(tmp_path, changes.facts, "thing")] == [
        (1, "new", "A"),
        (2, "ä2", "R"),
    ]
    assert changes.facts["manifest"]["entities"][0]["since"].startswith("2020-01-02")

    with pytest.raises(CallerError):
        control.facts.export("x", " ", spark=spark)


def test_what_a_dead_run_left_is_written_again_or_published_once(
    shop: Store,
    control: omd.Control,
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    delivery = control.calls.omd_facts.create_export("x", f"file:{tmp_path}")

    def die(*_: Any) -> None:
        raise Killed

    def dies(where: Any, name: str) -> None:
        """Let a run die at a point: it tells nobody, and its lease expires."""
        with monkeypatch.context() as patch:
            patch.setattr(where, name, die)
            patch.setattr(ExportRun, "_fail", lambda *_: None)
            with pytest.raises(Killed):
                control.facts._resume_export(delivery, spark=spark)
        waits = control.facts._resume_export(delivery, spark=spark)
        assert waits.status == "A"
        with pytest.raises(Aborted):
            waits.result()
        shop.owner(
            "UPDATE omd.module_instance SET lease_expires_at = clock_timestamp()"
            " WHERE execution_status_code = 'E'"
        )

    def of() -> list[str]:
        folder = tmp_path / "x" / f"delivery={delivery}"
        return sorted(p.name for p in folder.iterdir() if p.suffix != ".crc")

    dies(files, "_moved")  # all files are written, none is moved
    assert of() == ["_attempt=1"]
    shop.put(3, thing=[("A", 1, "later", None, None, None)])
    dies(files, "_publish")  # all are moved
    assert of() == ["_attempt=1", "_attempt=2", "shelf", "thing"]
    dies(FactsCalls, "finish_export")  # the manifest is published
    assert of() == ["_manifest.json", "shelf", "thing"]
    shop.put(4, thing=[("A", 2, "later", None, None, None)])
    found = control.facts._resume_export(delivery, spark=spark).facts
    assert (found["manifest"]["attempt"], found["rows"]) == (3, 7)
    names = {row[1] for row in rows_in(tmp_path, found, "thing")}
    assert names == {"ä0", "ä1", "ä2", "ä3", "ä4", None}
    assert shop.status(delivery) == "EXPORTED"

    # A run that is cancelled publishes nothing.
    cancelled = control.calls.omd_facts.create_export("x", f"file:{tmp_path}")
    written = files._written

    def cancel(*given: Any) -> Any:
        answer = written(*given)
        control.calls.omd_facts.cancel_export(cancelled, "not wanted")
        return answer

    with monkeypatch.context() as patch:
        patch.setattr(files, "_written", cancel)
        ended = control.facts._resume_export(cancelled, spark=spark)
    assert ended.status == "F"
    assert isinstance(ended.error, (lookup("OM101"), LeaseLost))
    with pytest.raises(lookup("OM155")):
        control.facts._resume_export(cancelled, spark=spark)
    folder = tmp_path / "x" / f"delivery={cancelled}"
    assert not (folder / "_manifest.json").exists()


def test_an_export_may_be_part_of_a_batch(
    shop: Store, control: omd.Control, spark: SparkSession, tmp_path: Path
) -> None:
    by_itself = {"export": {"target_uri": str(tmp_path), "entities": ["shelf"]}}
    shop.agree("x", layer_code="EXPORT", options=by_itself)
    shop.call("omd.register_batch", batch_code="night", frequency_code="Adhoc")
    shop.call("omd.add_module_to_batch", batch_code="night", module_code="export.x", sequence=1)
    done = control.run_batch("night", spark=spark, context={"dag": "nightly"})
    assert done.succeeded, done
    (run,) = shop.rows(
        "SELECT i.batch_instance_id, i.execution_context ->> 'platform' AS platform"
        " FROM omd_report.facts_exports AS x INNER JOIN omd.module_instance AS i"
        " USING (module_instance_id)"
    )
    assert run == {"batch_instance_id": done.instance_id, "platform": "spark"}


def test_the_command_exports_and_resumes(
    shop: Store, spark: SparkSession, omd_here: Callable[..., Any], dsn: str, tmp_path: Path
) -> None:
    del spark  # the command uses the session of this process
    done = omd_here("export", "x", str(tmp_path), "--entity", "shelf", "--output", "json", dsn=dsn)
    assert done.returncode == 0, done.stderr
    manifest = json.loads(done.stdout)
    assert [(e["entity_code"], e["rows"]) for e in manifest["entities"]] == [("shelf", 1)]
    again = omd_here("export", "--resume", str(manifest["delivery_id"]), dsn=dsn)
    assert again.returncode == 0, again.stderr
    assert "1 rows are exported" in again.stderr
    assert omd_here("export", "x", dsn=dsn).returncode == 2
    shown = omd_here("report", "facts_exports", "--output", "json", dsn=dsn)
    assert [row["delivery_status"] for row in json.loads(shown.stdout)] == ["EXPORTED"]


@pytest.mark.kill
def test_an_export_whose_program_is_killed_is_resumed(
    shop: Store,
    spark: SparkSession,
    omd_here: Callable[..., Any],
    dsn: str,
    tmp_path: Path,
) -> None:
    del spark  # the command uses the session of this process
    first = "SELECT min(delivery_id) FROM omd_report.facts_exports"
    waits = (
        "SELECT count(*) FROM pg_locks WHERE NOT granted"
        " AND relation = 'cfl_shop.s_thing_properties_now'::regclass"
    )
    with psycopg.connect(dsn) as blocker:
        blocker.execute("LOCK TABLE cfl_shop.s_thing_properties_now IN ACCESS EXCLUSIVE MODE")
        program = subprocess.Popen(
            [Path(sys.executable).with_name("omd"), "export", "x", str(tmp_path)],
            env={**os.environ, "OMD_DSN": dsn},
            stderr=subprocess.PIPE,
        )
        # The other entity is written, and this one can't be read.
        while not (shop.one(waits) and list(tmp_path.glob("x/*/_attempt=1/shelf/*.parquet"))):
            assert program.poll() is None, program.stderr and program.stderr.read()
        program.kill()
        program.wait()
    delivery = shop.one(first)
    assert shop.status(delivery) == "RECEIVED"
    again = ("export", "--resume", str(delivery), "--output", "json")
    assert omd_here(*again, dsn=dsn).returncode == 4  # its lease has not expired
    shop.owner("UPDATE omd.module_instance SET lease_expires_at = clock_timestamp()")
    shop.put(3, thing=[("A", 1, "later", None, None, None)])
    done = omd_here(*again, dsn=dsn)
    assert done.returncode == 0, done.stderr
    found = {"delivery_id": delivery, "manifest": json.loads(done.stdout)}
    assert found["manifest"]["attempt"] == 2
    assert sum(entity["rows"] for entity in found["manifest"]["entities"]) == 7
    assert {row[1] for row in rows_in(tmp_path, found, "thing")} == {
        *(f"ä{n}" for n in range(5)),
        None,
    }
    assert shop.status(delivery) == "EXPORTED"
