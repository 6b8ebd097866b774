"""The files of an export: written into a folder of the attempt, moved, and published at once.

Whoever reads takes what the manifest names. It appears by one rename, when everything else is
there, and is never changed. Each attempt writes into a folder of its own; what is not published may
be removed by the next one.
"""

from __future__ import annotations

import hashlib
import json
from functools import reduce
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession

from omd._core.errors import StateError
from omd.spark.folders import Folder
from omd.spark.micros import micros
from omd.spark.sessions import active, register, session
from omd.spark.side_by_side import side_by_side

if TYPE_CHECKING:
    from omd.rooms.facts.export import ExportRun

MANIFEST = "_manifest.json"


def export(run: ExportRun) -> dict[str, Any]:
    """Write and publish what a run exports; return the manifest.

    Args:
        run: the open run.
    """
    if run._reads.spark is None:
        run._reads.spark = session()
    run.attach(run._reads.spark)
    spark = register(run._reads.spark, run.dsn)
    with active(spark):
        folder = Folder(run.folder)
        if not folder.exists(MANIFEST):
            _publish(run, folder, _moved(run, folder, _written(run, spark)))
        for name in folder.names():
            if name.startswith("_attempt="):
                folder.remove(name)
        manifest: dict[str, Any] = json.loads(folder.read(MANIFEST))
        return manifest


def _written(run: ExportRun, spark: SparkSession) -> list[dict[str, Any]]:
    """Write the entities, a few at the same time; return what the manifest says of each."""
    at_once = int(run.options["max_concurrent_entities"])
    return side_by_side(run._reads, spark, at_once, run.plan, lambda part: _write(run, spark, part))


def _write(run: ExportRun, spark: SparkSession, part: dict[str, Any]) -> dict[str, Any]:
    frames = [run.read(spark, query=query) for query in part["parts"]]
    rows = reduce(DataFrame.unionAll, frames)
    folder = str(Folder(part["folder"]))
    with micros(spark):
        rows.write.mode("overwrite").options(
            **{
                "compression": run.options["compression"],
                "mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
            }
        ).parquet(folder)
    schema = [{"name": f.name, "type": f.dataType.simpleString()} for f in rows.schema]
    text = json.dumps(schema, sort_keys=True).encode()
    return {
        "entity_code": part["entity_code"],
        # What is there counts, not what tasks have reported, some of which are tried twice.
        "rows": spark.read.schema(rows.schema).parquet(folder).count(),
        "since": part["since"],
        "schema": schema,
        "schema_hash": hashlib.sha256(text).hexdigest(),
    }


def _moved(run: ExportRun, folder: Folder, entities: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Move the files of all entities out of the folder of the attempt."""
    attempt = f"_attempt={run.attempt}"
    for entity in entities:
        name = entity["entity_code"]
        files = folder.files(f"{attempt}/{name}")
        if not files:  # Spark writes one for no rows, too
            raise StateError(
                f"{folder} has none of the files that Spark has written for {name}",
                hint="Name a folder that this program and Spark's processes reach by one path.",
            )
        # A run that is not the newest any more must not touch what another one may have published.
        run.fence()
        folder.remove(name)
        folder.move_files(f"{attempt}/{name}", name)
        entity["files"] = [
            {"path": path.removeprefix(f"{attempt}/"), "bytes": size}
            for path, size in files.items()
        ]
        if folder.files(name) != {file["path"]: file["bytes"] for file in entity["files"]}:
            raise StateError(
                f"the files of {name} in {folder} are not those that were written",
                hint="Another program works in this folder. Resume the export when it has ended.",
            )
    return entities


def _publish(run: ExportRun, folder: Folder, entities: list[dict[str, Any]]) -> None:
    manifest = {**run.head, "entities": entities}
    there = f"_attempt={run.attempt}/{MANIFEST}"
    folder.write(there, json.dumps(manifest, indent=2) + "\n")
    run.fence()
    if not folder.publish(there, MANIFEST):
        raise StateError(f"the manifest of {folder} could not be published")
