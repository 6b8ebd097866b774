"""What is in a location on this machine, as omd_delivery.report_arrivals takes it.

It lists and decides nothing. A sender writes there while it is listed, and this process may read
more than the sender: so nothing is followed that is a link, a file is read only if it is the one
that was listed, and each folder that can't be listed says why, while the others go on.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from omd.rooms.delivery import beneath

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_LARGEST_MANIFEST = 1 << 26  # bytes
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def local_path(location: str) -> str | None:
    """Return the path of a location on this machine; None for that of another file system."""
    if location.startswith("/"):
        return location
    if location.startswith("file:"):
        return re.sub("^file:(//[^/]*)?", "", location)
    return None


class LocalFolders:
    """The folders of a location on this machine.

    Args:
        root: the location.
        terms: what was agreed about arrivals, as claim_look returns it.
    """

    def __init__(self, root: str, terms: Mapping[str, Any]) -> None:
        self._root = Path(root)
        self._terms = terms

    def seen(self) -> list[dict[str, Any]]:
        """Return all that is there.

        Raises:
            OSError: the location can't be read, or is behind a link.
        """
        with self._opened() as root, os.scandir(root) as entries:
            seen = [self._entry(root, entry.name) for entry in entries]
        return [folder for folder in seen if folder is not None]

    def one(self, name: str) -> list[dict[str, Any]]:
        """Return a folder by its name, in a list; none where it is gone."""
        with self._opened() as root:
            folder = self._entry(root, name)
        return [] if folder is None else [folder]

    def move(self, name: str, to: str) -> bool:
        """Rename a folder within the location; return whether there was nothing of that name."""
        *way, target = to.split("/")
        with self._opened() as root:
            there = beneath.folder_in(root, *way, makes=True)
            try:
                if _exists(target, there):
                    return False
                os.rename(name, target, src_dir_fd=root, dst_dir_fd=there)
            finally:
                os.close(there)
        return True

    def exists(self, name: str) -> bool:
        """Return whether there is something of this name, which may be a link."""
        return os.path.lexists(self._root / name)

    @contextmanager
    def _opened(self) -> Iterator[int]:
        root = beneath.folder_at(self._root)
        try:
            yield root
        finally:
            os.close(root)

    def _entry(self, root: int, name: str) -> dict[str, Any] | None:
        folder: dict[str, Any] = {"folder": printable(name)}
        descriptor = None
        try:
            mode = os.stat(name, dir_fd=root, follow_symlinks=False).st_mode
            if stat.S_ISLNK(mode):
                return {**folder, "kind": "LINK"}
            if not stat.S_ISDIR(mode):
                return {**folder, "kind": "FILE"}
            if folder["folder"] != name:
                return {**folder, "kind": "FOLDER", "problem": "its name is no UTF-8"}
            descriptor = beneath.folder_in(root, name)
            listed = dict(_files(descriptor))
            files = [
                {
                    "path": printable(path),
                    "bytes": status.st_size,
                    "modified": _moment(status.st_mtime_ns),
                }
                for path, status in listed.items()
            ]
            return with_manifest(
                {**folder, "kind": "FOLDER", "files": files},
                self._terms,
                read=lambda file: _read(descriptor, file, listed[file]),
                hashed=lambda file: _hash(descriptor, file, listed[file]),
            )
        except FileNotFoundError as error:
            if not _exists(name, root):
                return None
            return {**folder, "kind": "FOLDER", "problem": f"it changes: {_reason(error)}"}
        except _LinkInside:
            return {**folder, "kind": "LINK"}
        except OSError as error:
            return {**folder, "kind": "FOLDER", "problem": f"it can't be read: {_reason(error)}"}
        finally:
            if descriptor is not None:
                os.close(descriptor)


def _exists(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _files(folder: int, within: str = "") -> Iterator[tuple[str, os.stat_result]]:
    """Yield the files below a folder, with what they were when they were listed."""
    owner = os.fstat(folder).st_uid
    with os.scandir(folder) as entries:
        for entry in entries:
            name = within + entry.name
            if entry.is_symlink():
                raise _LinkInside
            if entry.is_dir(follow_symlinks=False):
                below = beneath.folder_in(folder, entry.name)
                try:
                    yield from _files(below, f"{name}/")
                finally:
                    os.close(below)
                continue
            status = entry.stat(follow_symlinks=False)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(f"{printable(name)} is neither a file nor a folder")
            if beneath.is_borrowed(status, owner):
                raise OSError(f"{printable(name)} is a file of somebody else with another name")
            yield name, status


@contextmanager
def _same(folder: int, path: str, listed: os.stat_result) -> Iterator[BinaryIO]:
    """Lend a file, if it is the one that was listed."""
    with beneath.file_in(folder, path) as descriptor:
        if beneath.identity(os.fstat(descriptor)) != beneath.identity(listed):
            raise OSError(errno.ESTALE, "it changes")
        with os.fdopen(os.dup(descriptor), "rb") as file:
            yield file


def _read(folder: int, path: str, listed: os.stat_result) -> bytes:
    with _same(folder, path, listed) as file:
        return file.read(_LARGEST_MANIFEST)


def _hash(folder: int, path: str, listed: os.stat_result) -> str:
    digest = hashlib.sha256()
    with _same(folder, path, listed) as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def with_manifest(
    folder: dict[str, Any],
    terms: Mapping[str, Any],
    *,
    read: Callable[[str], bytes],
    hashed: Callable[[str], str],
) -> dict[str, Any]:
    """Return a folder with the content of its manifest, where one is agreed and there.

    The files are read and hashed once: where all are there, and the folder is not yet known.

    Args:
        folder: the folder, with its files.
        terms: what was agreed.
        read: returns the content of a file of the folder.
        hashed: returns the SHA-256 of one.
    """
    name = terms["ready"].get("manifest")
    files = {file["path"]: file for file in folder["files"]}
    if name not in files:
        return folder
    try:
        entries = json.loads(read(name))["files"]
        folder["manifest"] = {"files": [_listed(entry) for entry in entries]}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {**folder, "manifest": {}}
    wanted = {e["path"]: e for e in folder["manifest"]["files"]}
    there = {path: file["bytes"] for path, file in files.items() if path != name}
    is_known = folder["folder"] in terms.get("known", ())
    if is_known or there != {path: entry["bytes"] for path, entry in wanted.items()}:
        return folder
    try:
        for path, entry in wanted.items():
            if "sha256" in entry:
                files[path]["sha256"] = hashed(path)
    except OSError as error:
        folder["problem"] = f"{path} can't be read: {_reason(error)}"
    return folder


def _listed(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an entry of a manifest says, without what JSON of the database can't hold."""
    said = {"path": printable(str(entry["path"])), "bytes": int(entry["bytes"])}
    return said if "sha256" not in entry else {**said, "sha256": printable(str(entry["sha256"]))}


def printable(text: str) -> str:
    """Return a name as text that the database takes; what is no UTF-8 is written in escapes."""
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode("utf-8")


def _moment(nanoseconds: int) -> str:
    """Return a time of change with all its digits, which a time of Python does not have."""
    seconds, rest = divmod(nanoseconds, 10**9)
    try:
        return f"{_EPOCH + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%S}.{rest:09}Z"
    except OverflowError:
        return str(nanoseconds)


def _reason(error: OSError) -> str:
    return printable(error.strerror or str(error))


class _LinkInside(Exception):  # noqa: N818 - it is an answer
    """There is a link in a folder."""
