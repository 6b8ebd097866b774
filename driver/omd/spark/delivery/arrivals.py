"""What is in a location of any file system that Spark reaches; see `omd.rooms.delivery.folders`."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError

from omd._core.errors import one_line
from omd.rooms.delivery.folders import printable, with_manifest
from omd.spark.hadoop import Folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession


class RemoteFolders:
    """The folders of a location that has the scheme of a file system.

    Args:
        spark: the session.
        location: the location.
        terms: what was agreed about arrivals, as claim_look returns it.
    """

    def __init__(self, spark: SparkSession, location: str, terms: Mapping[str, Any]) -> None:
        self._spark = spark
        self._location = location
        self._terms = terms

    def seen(self) -> list[dict[str, Any]]:
        """Return all that is there.

        Raises:
            OSError: the location can't be read.
        """
        try:
            root = Folder(self._spark, self._location)
            statuses = [*root.statuses("")]
        except Py4JJavaError as error:
            raise OSError(_reason(error)) from error
        return [self._entry(root, str(s.getPath().getName()), s) for s in statuses]

    def one(self, name: str) -> list[dict[str, Any]]:
        """Return a folder by its name, in a list; none where it is gone."""
        try:
            root = Folder(self._spark, self._location)
            return [self._entry(root, name, root.status(name))] if root.exists(name) else []
        except Py4JJavaError as error:
            raise OSError(_reason(error)) from error

    def move(self, name: str, to: str) -> bool:
        """Rename a folder within the location; return whether there was nothing of that name."""
        try:
            root = Folder(self._spark, self._location)
            if root.exists(to):
                return False
            if not root.move(name, to):
                raise OSError(f"{name} can't be renamed to {to}")
        except Py4JJavaError as error:
            raise OSError(_reason(error)) from error
        return True

    def exists(self, name: str) -> bool:
        """Return whether there is something of this name."""
        return Folder(self._spark, self._location).exists(name)

    def _entry(self, root: Folder, name: str, status: Any) -> dict[str, Any]:
        folder: dict[str, Any] = {"folder": printable(name)}
        if status.isSymlink():
            return {**folder, "kind": "LINK"}
        if not status.isDirectory():
            return {**folder, "kind": "FILE"}
        files: list[dict[str, Any]] = []
        folders = [""]
        try:
            while folders:
                within = folders.pop()
                for entry in root.statuses(f"{name}/{within}"):
                    path = within + str(entry.getPath().getName())
                    if entry.isSymlink():
                        return {**folder, "kind": "LINK"}
                    if entry.isDirectory():
                        folders.append(f"{path}/")
                        continue
                    modified = int(entry.getModificationTime())
                    size = int(entry.getLen())
                    files.append({"path": printable(path), "bytes": size, "modified": modified})
        except Py4JJavaError as error:
            return {**folder, "kind": "FOLDER", "problem": f"it can't be read: {_reason(error)}"}
        return with_manifest(
            {**folder, "kind": "FOLDER", "files": files},
            self._terms,
            read=lambda file: root.read(f"{name}/{file}").encode(),
            hashed=lambda file: _hash(root, f"{name}/{file}"),
        )


def _hash(root: Folder, name: str) -> str:
    digest = hashlib.sha256()
    for block in root.blocks(name):
        digest.update(block)
    return digest.hexdigest()


def _reason(error: Py4JJavaError) -> str:
    return one_line(error).partition(" at ")[0]
