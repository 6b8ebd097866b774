"""The list of what is installed: sql/install.sql, the lists of the rooms, and their files."""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path

from omd._core.errors import MigrationChanged, OmdError

MANIFEST = "sql/install.sql"
ROLES = "sql/roles.sql"
UNINSTALL = "sql/uninstall.sql"
_PACKED = "procedures.zip"  # tools/wheel_hook.py makes it
_ROOMS = "sql/install/"  # it holds one list per room
_PREPARE = "sql/prepare/"  # each is applied in a transaction of its own before the others
_CLEANUP = "sql/cleanup/"  # it is applied in a transaction after the others

NEW_MIGRATION = "Restore the file as it was released and put the change into a new migration."


class InstallError(OmdError):
    """The installer can't continue; ``hint`` says what to do about it."""


class Kind(str, Enum):
    """The kind of a file of the manifest."""

    SETUP = "setup"
    MIGRATION = "migration"
    REPEATABLE = "repeatable"
    PREPARE = "prepare"
    CLEANUP = "cleanup"


@dataclass(frozen=True, slots=True)
class Entry:
    """One SQL file of the manifest; ``path`` is relative to the root."""

    path: str
    kind: Kind
    checksum: str
    text: str


def sql_root() -> Path:
    """Return the folder that holds ``migrations``, ``procedures`` and ``sql``."""
    package = Path(__file__).resolve().parents[1]
    for root in (package / "_sql", package.parents[1]):
        if (root / MANIFEST).is_file():
            return root
    raise InstallError(
        f"{MANIFEST} is missing from this installation of pgomd.",
        hint="Install the package again: pip install --force-reinstall pgomd",
    )


def product_version() -> str:
    """Return the version of this package."""
    from omd._version import __version__

    return __version__


_NOISE = re.compile(
    r"\s*(--.*)?$|BEGIN;|COMMIT;|\\set (ON_ERROR_STOP|version) |\\if |\\endif|\\echo "
)
_SET = re.compile(r"\\set (?P<name>checksum|migration) '(?P<value>[^']*)'\s*$")
_INCLUDE = re.compile(r"\\ir (?P<path>[\w./-]+)\s*(--.*)?$")


def read_manifest(root: Path | None = None) -> list[Entry]:
    """Read the manifest and every SQL file that it names.

    Raises:
        InstallError: the manifest has a line that this reader does not know, or names a missing
            file.
        MigrationChanged: a migration does not have the checksum that the manifest gives.
    """
    root = (root or sql_root()).resolve()
    return list(_read_list(root / MANIFEST, root, {}))


def _read_list(file: Path, root: Path, variables: dict[str, str]) -> Iterator[Entry]:
    """Yield the SQL files that a list names; each room has a list of its own."""
    here = file.relative_to(root).as_posix()
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if match := _SET.match(line):
            variables[match["name"]] = match["value"]
        elif match := _INCLUDE.match(line):
            if match["path"].endswith(".psql"):
                continue
            named = (file.parent / match["path"]).resolve()
            if root not in named.parents or _content(named, root) is None:
                raise InstallError(f"{here}, line {number}: there is no file {match['path']}.")
            path = named.relative_to(root).as_posix()
            if path.startswith(_ROOMS):
                yield from _read_list(named, root, variables)
            else:
                yield _entry(named, root, path, variables)
        elif not _NOISE.match(line):
            raise InstallError(f"{here}, line {number} is not understood: {line}")


def _content(file: Path, root: Path) -> bytes | None:
    """Return what a file holds; None if it is missing. A wheel has the routines in one archive."""
    if file.is_file():
        return file.read_bytes()
    return _packed(root).get(file.relative_to(root).as_posix())


@cache
def _packed(root: Path) -> dict[str, bytes]:
    if not (root / _PACKED).is_file():
        return {}
    with zipfile.ZipFile(root / _PACKED) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _entry(file: Path, root: Path, path: str, variables: dict[str, str]) -> Entry:
    content = _content(file, root) or b""
    checksum = hashlib.sha256(content).hexdigest()
    kind = Kind.REPEATABLE
    if path.startswith("sql/setup/") or path == ROLES:
        kind = Kind.SETUP
    elif path.startswith(_PREPARE):
        kind = Kind.PREPARE
    elif path.startswith(_CLEANUP):
        kind = Kind.CLEANUP
    elif path.startswith("migrations/"):
        kind = Kind.MIGRATION
        released = variables.pop("checksum", None)
        if variables.pop("migration", None) != file.stem or released is None:
            raise InstallError(f"{MANIFEST} does not announce {path} with its name and checksum.")
        if released != checksum:
            raise MigrationChanged(
                f"{path} was changed after its release: its checksum is {checksum}, "
                f"the manifest says {released}.",
                hint=NEW_MIGRATION,
            )
    return Entry(path, kind, checksum, content.decode("utf-8"))
