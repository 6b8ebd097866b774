"""Which reader reads a file: the endings of names. A new format is a class more in `FORMATS`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pyspark.sql import SparkSession

from omd._core.error_codes import DeliveryArgumentInvalid
from omd.spark.delivery.staging.csv import CsvReader
from omd.spark.delivery.staging.files import COMPRESSED, Files, names
from omd.spark.delivery.staging.json import JsonReader
from omd.spark.delivery.staging.parquet import ParquetReader
from omd.spark.delivery.staging.reader import FileReader
from omd.spark.hadoop import absolute

# Of two with the same ending the first counts: an agreement may have CSV in files named .json.
FORMATS: tuple[type[FileReader], ...] = (CsvReader, JsonReader, ParquetReader)


def reader_of(files: Files) -> type[FileReader]:
    """Return what reads these files; a folder without an ending has files of one format.

    Raises:
        DeliveryArgumentInvalid: their names say no format, or several.
    """
    own = _format(files.root, files.options)
    if own is not None:
        return own
    formats = {f for file in files.listed if (f := _format(file.path, files.options))}
    if len(formats) != 1:
        raise DeliveryArgumentInvalid(
            f"what {files.root} holds can't be known from its name",
            hint="Name it .csv, .json or .parquet; or set the option csv.file_extension.",
        )
    return formats.pop()


def in_folder(
    spark: SparkSession, folder: str, entities: Iterable[str], options: Mapping[str, Any]
) -> dict[str, str]:
    """Return the paths of the entities of which a folder has a file, or a folder of files.

    Args:
        entities: the names of entities.
        options: those of the agreement.
    """
    paths = names(spark, folder, options)
    endings = [end + packed for end in _endings(options) for packed in ("", *COMPRESSED)]
    sources = {}
    for entity in entities:
        there = sorted({entity + ending for ending in endings} & set(paths))
        if len(there) > 1:
            raise DeliveryArgumentInvalid(
                f"{folder} has several sources of {entity}: {', '.join(there)}"
            )
        if there:
            sources[entity] = paths[there[0]]
    return sources


def names_in(spark: SparkSession, folder: str) -> list[str]:
    """Return what stands before the ending of each file or folder that can be staged."""
    paths = names(spark, absolute(spark, folder), {"allow_symbolic_links": True})  # none is opened
    return sorted({n.partition(".")[0] for n in paths if _format(n, {})} - {""})


def _endings(options: Mapping[str, Any]) -> dict[str, type[FileReader]]:
    readers: dict[str, type[FileReader]] = {}
    for reader in FORMATS:
        for ending in reader.endings(options):
            readers.setdefault(ending, reader)
    return readers


def _format(path: str, options: Mapping[str, Any]) -> type[FileReader] | None:
    name = path.rstrip("/").rpartition("/")[2].lower()
    for packed in COMPRESSED:
        name = name.removesuffix(packed)
    return next((r for ending, r in _endings(options).items() if name.endswith(ending)), None)
