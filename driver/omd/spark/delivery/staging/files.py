"""The files of a delivery: found by literal names, never through a link, and the same to the end.

A tenant writes its folder, and this process may read more than the tenant. So a symbolic link in
it is refused before a byte is read. It could be put there later, and be gone again: so after each
reading the files must be those that were listed, and so must the folders that hold them, by their
numbers on the disk and the times at which these were last touched. What they are is said of what
was opened part by part, and not of a name. Executors on other machines open names of their own;
there it is the mount that must not follow links.
"""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from omd._core.error_codes import DeliveryArgumentInvalid, StagingChanged
from omd._core.errors import OmdError, one_line
from omd.rooms.delivery import beneath
from omd.rooms.delivery.folders import printable
from omd.spark.folders import local_path
from omd.spark.hadoop import opened
from omd.spark.sessions import is_connect

COMPRESSED = (".gz", ".bz2", ".deflate", ".lz4", ".snappy", ".zst")
_GLOB = re.compile(r"([\[\]{}?*\\])")
_PASSED_OVER = ("_", ".")  # by Spark: files that are being written, and marks of other programs
_BEING_COPIED = "._COPYING_"


class File(NamedTuple):
    """A file; ``identity`` tells it and its folders from others, where it is local."""

    path: str
    size: int
    changed: int
    identity: tuple[int, ...]


@dataclass(frozen=True)
class Files:
    """The files of an entity, as they were when they were listed."""

    spark: SparkSession
    root: str
    options: Mapping[str, Any]
    listed: tuple[File, ...]

    @classmethod
    def at(cls, spark: SparkSession, root: str, options: Mapping[str, Any]) -> Files:
        """Return the files of a path, which is a file or a folder.

        Args:
            root: the path.
            options: those of the agreement, of which ``allow_symbolic_links`` counts.
        """
        files = cls(spark, root, options, _list(spark, root, options))
        if is_connect(spark) and local_path(root) is not None:
            _require_same(spark, files.listed)
        return files

    @property
    def size(self) -> int | None:
        """How many bytes of text they have, if it is text; of packed files nobody knows."""
        if any(f.path.endswith(COMPRESSED) for f in self.listed):
            return None
        return sum(file.size for file in self.listed)

    def document(self) -> list[dict[str, Any]]:
        """Return them as omd_delivery.register_files takes them."""
        return [
            {
                "uri": printable(file.path),
                "bytes": file.size,
                "modified": file.changed,
                "root": printable(self.root),
            }
            for file in self.listed
        ]

    def unchanged(self) -> None:
        """Raise when the files are not those that were listed."""
        try:
            now = _list(self.spark, self.root, self.options)
        except DeliveryArgumentInvalid:
            now = ()
        # Where a file came or went, the others have another folder, and are what they were.
        paths = {file.path for file in self.listed} ^ {file.path for file in now}
        changed = sorted(paths or {file.path for file in set(self.listed) ^ set(now)})
        if changed:
            raise StagingChanged(
                f"{changed[0]} was changed while the delivery read it",
                hint="Run the delivery again when the files are complete.",
            )


def files_at(paths: Mapping[str, str], spark: SparkSession) -> list[dict[str, Any]]:
    """Return the files that are now at the path of each entity; none where it can't be listed.

    Nothing is read here; who reads them refuses links.
    """
    there: list[dict[str, Any]] = []
    for entity, root in paths.items():
        with suppress(DeliveryArgumentInvalid):
            files = Files.at(spark, root, {"allow_symbolic_links": True}).document()
            there += [{**file, "entity": entity} for file in files]
    return there


def literal(paths: Iterable[str]) -> list[str]:
    """Return paths as Spark takes them, which would read some characters as patterns.

    Its option that turns patterns off reads all paths again for each that has such a character.
    """
    return [_GLOB.sub(r"\\\1", path) for path in paths]


def names(spark: SparkSession, folder: str, options: Mapping[str, Any]) -> dict[str, str]:
    """Return the names in a folder, and their paths."""
    if is_connect(spark):
        where = local_path(folder)
        return _names_elsewhere(spark, folder) if where is None else _names_here(where, options)
    path, system = opened(spark, folder)
    if not system.exists(path) or not system.getFileStatus(path).isDirectory():
        raise DeliveryArgumentInvalid(f"there is no folder {folder}")
    if _is_local(system):
        _refuse_links(str(path.toUri().getPath()), options)
    return {s.getPath().getName(): s.getPath().toString() for s in system.listStatus(path)}


def _is_local(system: Any) -> bool:
    return str(system.getUri().getScheme()) == "file"


def _list(spark: SparkSession, root: str, options: Mapping[str, Any]) -> tuple[File, ...]:
    if is_connect(spark):
        where = local_path(root)
        return _elsewhere(spark, root) if where is None else _here(where, options)
    path, system = opened(spark, root)
    if not system.exists(path):
        raise DeliveryArgumentInvalid(f"there is no file or folder {root}")
    is_local = _is_local(system)
    local = str(path.toUri().getPath())
    seen = _local(local, options) if is_local else None
    _require_seen(root, str(path.getName()), is_folder=system.getFileStatus(path).isDirectory())
    files: list[File] = []
    identities = _Identities(local, follows=bool(options.get("allow_symbolic_links")))
    entries = system.listFiles(path, True)
    start = len(system.getFileStatus(path).getPath().toString())
    while entries.hasNext():
        entry = entries.next()
        whole = entry.getPath()
        name = str(whole.toString())
        if not any(map(_is_passed_over, name[start:].split("/"))):
            where = str(whole.toUri().getPath())
            _require_name(name, where)
            _require_no_link(name, not is_local and bool(entry.isSymlink()), options)
            files.append(
                File(
                    name,
                    int(entry.getLen()),
                    int(entry.getModificationTime()),
                    identities.of(where) if is_local else (),
                )
            )
            if seen is not None:
                seen.discard(_composed(where))
    if seen:
        raise _unseen(min(seen))
    return tuple(sorted(files))


def _unseen(path: str) -> OmdError:
    return DeliveryArgumentInvalid(
        f"{path!a} is there, but Java does not see a file of this name",
        hint="Rename it, or run in a locale of UTF-8: LC_ALL=C.UTF-8.",
    )


def _require_seen(root: str, name: str, *, is_folder: bool) -> None:
    if name.startswith(_PASSED_OVER) and not is_folder:
        raise DeliveryArgumentInvalid(
            f"{root} can't be read: Spark passes over names that begin with _ or .",
            hint="Rename it.",
        )


# Over Spark Connect, whose file systems this program does not reach -------------------------------


def _here(root: str, options: Mapping[str, Any]) -> tuple[File, ...]:
    """Return the files of a path on this machine."""
    top = Path(root)
    if not top.exists():
        raise DeliveryArgumentInvalid(f"there is no file or folder {root}")
    follows = bool(options.get("allow_symbolic_links"))
    _refuse_links(root, options)
    is_folder = top.is_dir()
    _require_seen(root, top.name, is_folder=is_folder)
    identities = _Identities(root, follows=follows)
    files = []
    for path in _below(root, follows=follows) if is_folder else [root]:
        name = f"file:{path}"
        try:
            name.encode()
        except UnicodeEncodeError as error:
            raise _unseen(path) from error
        _require_name(name, path)
        identity = identities.of(path)
        status = Path(path).stat()
        files.append(File(name, status.st_size, status.st_mtime_ns // 1_000_000, identity))
    return tuple(sorted(files))


def _names_here(folder: str, options: Mapping[str, Any]) -> dict[str, str]:
    if not Path(folder).is_dir():
        raise DeliveryArgumentInvalid(f"there is no folder {folder}")
    _refuse_links(folder, options)
    return {path.name: f"file:{path}" for path in Path(folder).iterdir()}


def _elsewhere(spark: SparkSession, root: str) -> tuple[File, ...]:
    """Return the files of a path on another file system, as the server of the session sees them."""
    return tuple(sorted(File(*row, ()) for row in _seen_by_server(spark, [root])))


def _names_elsewhere(spark: SparkSession, folder: str) -> dict[str, str]:
    root = urlsplit(folder).path.rstrip("/") + "/"
    there = (urlsplit(path).path for path, _, _ in _seen_by_server(spark, [folder]))
    names = {path[len(root) :].partition("/")[0] for path in there if path.startswith(root)}
    return {name: f"{folder.rstrip('/')}/{name}" for name in names}


def _require_same(spark: SparkSession, files: Iterable[File]) -> None:
    """Refuse files that are others where Spark reads them: another machine has such paths, too."""
    wanted = {file[:3] for file in files if file.size}  # Spark passes empty ones over
    there = set(_seen_by_server(spark, [path for path, _, _ in wanted])) if wanted else set()
    for path, _, _ in sorted(wanted - there):
        raise DeliveryArgumentInvalid(
            f"{path} is another file, or none, for the server of Spark Connect",
            hint="Name a folder that this program and Spark's processes reach by one path.",
        )


def _seen_by_server(spark: SparkSession, paths: Iterable[str]) -> list[tuple[str, int, int]]:
    """Return path, size and time of the files of paths; none is opened."""
    reader = spark.read.format("binaryFile").option("recursiveFileLookup", "true")
    try:
        listed = reader.load(literal(paths))
        about = listed.select("path", "length", F.unix_millis("modificationTime"))
        return [(path, size, changed) for path, size, changed in about.collect()]
    except PySparkException as error:
        raise DeliveryArgumentInvalid(
            f"the server of Spark Connect can't read it: {one_line(error)}",
            hint="Name a folder that this program and Spark's processes reach by one path.",
        ) from error


def _is_passed_over(name: str) -> bool:
    return name.startswith(_PASSED_OVER) or name.endswith(_BEING_COPIED)


def _require_name(name: str, path: str) -> None:
    if ":" in path:
        raise DeliveryArgumentInvalid(
            f"{name} can't be read: Hadoop takes a colon in a name for that of a file system",
            hint="Rename it without the colon.",
        )


def _require_no_link(name: str, is_link: bool, options: Mapping[str, Any]) -> None:
    if is_link and not options.get("allow_symbolic_links"):
        raise DeliveryArgumentInvalid(
            f"{name} is a symbolic link",
            hint="Hand over the file itself, or set the option allow_symbolic_links of the"
            " agreement.",
        )


def _refuse_links(path: str, options: Mapping[str, Any]) -> None:
    """Refuse a path with a link in it, but for one that stands in the root of the machine.

    Nobody but its administrator can have made that one, and /tmp is one on macOS.
    """
    for part in [Path(path), *Path(path).parents][:-2]:
        _require_no_link(str(part), part.is_symlink(), options)


def _local(root: str, options: Mapping[str, Any]) -> set[str]:
    """Return the local files of a path that may be read; none where links are followed."""
    _refuse_links(root, options)
    if options.get("allow_symbolic_links"):
        return set()
    return set(map(_composed, _below(root, follows=False) if Path(root).is_dir() else [root]))


def _below(folder: str, *, follows: bool, within: tuple[str, ...] = ()) -> Iterator[str]:
    """Return the files below a folder.

    Args:
        follows: whether links are allowed.
        within: the folders that it is in.
    """
    real = os.path.realpath(folder)
    if real in within:
        raise DeliveryArgumentInvalid(f"{folder} is a link to a folder that it is in")
    with os.scandir(folder) as entries:
        for entry in entries:
            if _is_passed_over(entry.name):
                continue
            _require_no_link(entry.path, not follows and entry.is_symlink(), {})
            if entry.is_dir():
                yield from _below(entry.path, follows=follows, within=(*within, real))
            elif not entry.is_file():
                raise DeliveryArgumentInvalid(f"{entry.path} is neither a file nor a folder")
            else:
                yield entry.path


@contextmanager
def reading(path: str, options: Mapping[str, Any]) -> Iterator[int]:
    """Lend the descriptor of a file of this machine.

    Raises:
        OSError: it can't be opened, is no file, or is behind a link that is not allowed.
    """
    if options.get("allow_symbolic_links"):
        path = os.path.realpath(path)
    folder, name = os.path.split(path)
    within = beneath.folder_at(folder)
    try:
        with beneath.file_in(within, name) as file:
            yield file
    finally:
        os.close(within)


def _composed(path: str) -> str:
    """Return a path as Java names it on macOS, where letters and their accents may stand apart."""
    return unicodedata.normalize("NFC", path)


class _Identities:
    """What local files and their folders are, each folder looked at once.

    A folder that was renamed for a moment, with a link in its place, is not what it was; nor is one
    in which something came or went.

    Args:
        root: the folder that was handed over, or the file; its own folder counts then.
        follows: whether links are allowed.
    """

    def __init__(self, root: str, *, follows: bool) -> None:
        self._root = Path(root)
        self._follows = follows
        self._folders: dict[Path, tuple[int, ...]] = {}

    def of(self, path: str) -> tuple[int, ...]:
        """Return what a file is; nothing where it is gone, or no file."""
        file = Path(path)
        if self._follows:
            status = file.stat()
            return beneath.identity(status) if stat.S_ISREG(status.st_mode) else ()
        try:
            within = beneath.folder_at(file.parent)
            try:
                owner = os.fstat(within).st_uid
                with beneath.file_in(within, file.name) as opened:
                    status = os.fstat(opened)
            finally:
                os.close(within)
            its = beneath.identity(status) + self._within(file.parent)
        except OSError as error:
            raise DeliveryArgumentInvalid(f"{path} can't be read: {error.strerror}") from error
        if beneath.is_borrowed(status, owner):
            raise DeliveryArgumentInvalid(
                f"{path} is a file of somebody else with another name",
                hint="Hand over a copy of it.",
            )
        return its

    def _within(self, folder: Path) -> tuple[int, ...]:
        """Return what the folders are, from that which was handed over to this one."""
        if folder not in self._folders:
            opened = beneath.folder_at(folder)
            try:
                its = beneath.identity(os.fstat(opened))
            finally:
                os.close(opened)
            is_below = self._root in folder.parents
            self._folders[folder] = its + (self._within(folder.parent) if is_below else ())
        return self._folders[folder]
