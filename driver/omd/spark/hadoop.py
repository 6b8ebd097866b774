"""Hadoop's file systems, through the JVM of a session."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException

from omd._core.error_codes import DeliveryArgumentInvalid
from omd._core.errors import CallerError
from omd.spark import folders
from omd.spark.sessions import is_connect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession


def absolute(spark: SparkSession, path: str | os.PathLike[str]) -> str:
    """Return a path as Hadoop takes it; a local one may be relative to this process."""
    if is_connect(spark):
        return folders.absolute(path)
    text = os.fspath(path)
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", text):
        return text
    conf = spark._jsc.hadoopConfiguration()
    is_local = str(conf.get("fs.defaultFS", "file:///")).startswith("file:")
    return f"file:{Path(text).absolute()}" if is_local else text


def opened(spark: SparkSession, root: str) -> tuple[Any, Any]:
    """Return a path and its file system."""
    from py4j.protocol import Py4JJavaError

    jvm: Any = spark._jvm
    try:
        path = jvm.org.apache.hadoop.fs.Path(root)
        return path, path.getFileSystem(spark._jsc.hadoopConfiguration())
    except (Py4JJavaError, PySparkException) as error:
        reason = str(getattr(error, "java_exception", error)).partition("\n")[0]
        raise DeliveryArgumentInvalid(
            f"{root} can't be read: {reason}",
            hint="Of a local path with a colon in its first name, write it from the root: /…",
        ) from error


def head(spark: SparkSession, path: str, most: int, charset: str) -> tuple[str, int]:
    """Return the beginning of a file as a text, and how many bytes that is; it is unpacked.

    Args:
        path: the file.
        most: how many bytes are read at most.
        charset: its code page, as Java calls it.
    """
    jvm: Any = spark._jvm
    hadoop = jvm.org.apache.hadoop
    conf = spark._jsc.hadoopConfiguration()
    where = hadoop.fs.Path(path)
    codec = hadoop.io.compress.CompressionCodecFactory(conf).getCodec(where)
    stream = where.getFileSystem(conf).open(where)
    try:
        unpacked = stream if codec is None else codec.createInputStream(stream)
        data = bytes(unpacked.readNBytes(most))
    finally:
        stream.close()
    return str(jvm.java.lang.String(data, charset)), len(data)


class Folder:
    """A folder of any file system that the session reaches; names are relative to it.

    Args:
        spark: the session; Spark Connect has no file systems.
        uri: the folder, which need not exist.
    """

    def __init__(self, spark: SparkSession, uri: str) -> None:
        if is_connect(spark):
            raise CallerError(
                "a session of Spark Connect does not reach the file systems",
                hint="Use a session of its own: omd.spark.session().",
            )
        self._fs: Any = spark._jvm.org.apache.hadoop.fs  # type: ignore[union-attr]
        self._root = self._fs.Path(absolute(spark, uri))
        self._system = self._root.getFileSystem(spark._jsc.hadoopConfiguration())

    def __str__(self) -> str:
        return str(self._root.toString())

    def _path(self, name: str) -> Any:
        return self._fs.Path(f"{self._root.toString()}/{name}")

    def exists(self, name: str) -> bool:
        """Return whether there is a file or folder of this name."""
        return bool(self._system.exists(self._path(name)))

    def status(self, name: str) -> Any:
        """Return what Hadoop says of a file or folder, a FileStatus of the JVM."""
        return self._system.getFileStatus(self._path(name))

    def statuses(self, name: str) -> list[Any]:
        """Return what Hadoop says of each entry of a folder."""
        return list(self._system.listStatus(self._path(name) if name else self._root))

    def move(self, name: str, to: str) -> bool:
        """Rename a file or folder; return whether it was done."""
        self._system.mkdirs(self._path(to).getParent())
        return bool(self._system.rename(self._path(name), self._path(to)))

    def read(self, name: str) -> str:
        """Return the content of a file."""
        path = self._path(name)
        content = bytearray(self._system.getFileStatus(path).getLen())
        stream = self._system.open(path)
        try:
            return bytes(stream.readNBytes(len(content))).decode()
        finally:
            stream.close()

    def blocks(self, name: str) -> Iterator[bytes]:
        """Yield the content of a file, a block at a time."""
        stream = self._system.open(self._path(name))
        try:
            while block := bytes(stream.readNBytes(1 << 20)):
                yield block
        finally:
            stream.close()
