"""The head of a file, which names its fields, before Spark reads the file."""

from __future__ import annotations

import bz2
import gzip
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812

from omd._core.error_codes import DeliveryArgumentInvalid
from omd.spark import hadoop
from omd.spark.delivery.staging.files import COMPRESSED, literal, reading
from omd.spark.folders import local_path
from omd.spark.sessions import is_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_UNPACKED = (".gz", ".bz2")
_AS_JAVA_READS = frozenset({"UTF-8", "UTF-16LE", "UTF-16BE", "US-ASCII", "ISO-8859-1"})


def head(
    spark: SparkSession, path: str, most: int, charset: str, options: Mapping[str, Any]
) -> tuple[str, int]:
    """Return the beginning of a file as a text, and how many bytes that is; it is unpacked.

    Args:
        path: the file.
        most: how many bytes are read at most.
        charset: its code page, as Java calls it.
        options: those of the agreement.
    """
    if not is_connect(spark):
        return hadoop.head(spark, path, most, charset)
    packed = next((ending for ending in COMPRESSED if path.endswith(ending)), None)
    where = local_path(path)
    if where is not None and (packed is None or packed in _UNPACKED):
        data = _read(where, packed, most, options)
    else:
        data = _read_by_spark(spark, path, most)
    if charset in _AS_JAVA_READS:
        return data.decode(charset, "replace"), len(data)
    row = spark.range(1).select(F.decode(F.lit(bytearray(data)), charset)).first()
    return "" if row is None else str(row[0]), len(data)


def _read(path: str, packed: str | None, most: int, options: Mapping[str, Any]) -> bytes:
    try:
        with reading(path, options) as descriptor, os.fdopen(os.dup(descriptor), "rb") as file:
            if packed is None:
                return file.read(most)
            if packed == ".gz":
                return gzip.GzipFile(fileobj=file).read(most)
            return bz2.BZ2File(file).read(most)
    except (OSError, EOFError) as error:
        raise DeliveryArgumentInvalid(f"{path} can't be read: {error}") from error


def _read_by_spark(spark: SparkSession, path: str, most: int) -> bytes:
    # A line that ends otherwise is not cut, so that its end is known.
    lines = spark.read.options(lineSep="\n").text(literal([path]))
    first = lines.where(F.input_file_block_start() == 0)
    pieces = first.select(F.substring(F.col("value").cast("binary"), 1, most)).limit(most)
    data = b""
    for number, row in enumerate(pieces.toLocalIterator()):
        data += (b"\n" if number else b"") + bytes(row[0])
        if len(data) >= most:
            break
    return data[:most]
