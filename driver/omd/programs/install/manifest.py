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

from omd._core import packages
from omd._core.error_codes import MigrationChanged
from omd._core.errors import InstallError as InstallError

MANIFEST = "sql/install.sql"
ROLES = "sql/roles.sql"
UNINSTALL = "sql/uninstall.sql"
_PACKED = "procedures.zip"  # tools/wheel_hook.py makes it
_ROOMS = "sql/install/"  # it holds one list per room
_CLEANUP = "sql/cleanup/"  # it is applied in a transaction after the others
_RIGHTS = "sql/rights/"  # it is applied when all others are, each time

NEW_MIGRATION = "Restore the file as it was released and put the change into a new migration."


class Kind(str, Enum):
    """The kind of a file of the manifest."""

    SETUP = "setup"
    MIGRATION = "migration"
    REPEATABLE = "repeatable"
    CLEANUP = "cleanup"
    OUTSIDE = "outside"  # no file: what the roles need outside the schemas
    FINISH = "finish"
    RIGHT = "right"  # no file: a right on an object of OMD


class Phase(str, Enum):
    """How a migration runs; its first line names it (``-- phase: expand``), else it is INSTALL."""

    BASELINE = "baseline"  # what a new database begins with
    EXPAND = "expand"  # before the installation; each lock is waited for a moment only
    BACKFILL = "backfill"  # before it: one statement, repeated, a transaction each
    CONCURRENT = "concurrent"  # before it: one statement outside a transaction
    INSTALL = "install"
    CONTRACT = "contract"  # after it


@dataclass(frozen=True, slots=True)
class Entry:
    """One SQL file of the manifest.

    Attributes:
        path: the name by which a database knows it: relative to the root, without the chapter in
            which a routine or a view lies; so a file that only moves is the same one.
        kind: when it is applied.
        checksum: its SHA-256.
        text: what is executed.
        phase: how a migration runs.
        room: the schema whose list names it; empty for the list itself.
        locks: the tables that an expansion locks first, as ``LOCK TABLE`` wants them.
    """

    path: str
    kind: Kind
    checksum: str
    text: str
    phase: Phase = Phase.INSTALL
    room: str = ""
    locks: str = ""

    @property
    def name(self) -> str:
        """The name of a migration."""
        return Path(self.path).stem


def sql_root() -> Path:
    """Return the folder that holds ``migrations``, ``procedures`` and ``sql``."""
    package = Path(__file__).resolve().parents[2]
    for root in (package / "_sql", package.parents[1]):
        if (root / MANIFEST).is_file():
            return root
    raise InstallError(
        f"{MANIFEST} is missing from this installation of pgomd.",
        hint=f"Install the package again: {packages.install(options='--force-reinstall')}",
    )


def product_version() -> str:
    """Return the version of this package."""
    from omd._core.version import __version__

    return __version__


_NOISE = re.compile(
    r"\s*(--.*)?$|BEGIN;|COMMIT;|\\set (ON_ERROR_STOP|version) |\\(if|else|endif|echo|quit)\b"
)
_SET = re.compile(r"\\set (?P<name>checksum|migration|phase|locks) '(?P<value>[^']*)'\s*$")
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
            path = known_as(named.relative_to(root).as_posix())
            if path.startswith(_ROOMS):
                yield from _read_list(named, root, variables)
            else:
                yield _entry(named, root, path, variables, file.stem if here != MANIFEST else "")
        elif not _NOISE.match(line):
            raise InstallError(f"{here}, line {number} is not understood: {line}")


_CHAPTER = re.compile(r"((?:procedures|sql/views)/\w+/)(?:\w+/)+(\w+\.sql)")


def known_as(path: str) -> str:
    """Return a path without the chapter: schema and name are those of the object."""
    return _CHAPTER.sub(r"\1\2", path)


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


_PHASE = re.compile(r"-- phase: (\w+)\s*$")


def _entry(file: Path, root: Path, path: str, variables: dict[str, str], room: str) -> Entry:
    content = _content(file, root) or b""
    text = content.decode("utf-8")
    checksum = hashlib.sha256(content).hexdigest()
    kind = Kind.REPEATABLE
    phase, locks = Phase.INSTALL, ""
    if path.startswith("sql/setup/") or path == ROLES:
        kind = Kind.SETUP
    elif path.startswith(_RIGHTS):
        kind = Kind.FINISH
    elif path.startswith(_CLEANUP):
        kind = Kind.CLEANUP
    elif path.startswith("migrations/"):
        kind = Kind.MIGRATION
        released = variables.pop("checksum", None)
        listed = variables.pop("phase", None)
        locks = variables.pop("locks", "")
        if variables.pop("migration", None) != file.stem or released is None:
            raise InstallError(f"{MANIFEST} does not announce {path} with its name and checksum.")
        if released != checksum:
            raise MigrationChanged(
                f"{path} was changed after its release: its checksum is {checksum}, "
                f"the manifest says {released}.",
                hint=NEW_MIGRATION,
            )
        phase = _phase_of(path, text, listed)
    return Entry(path, kind, checksum, text, phase, room, locks)


def _phase_of(path: str, text: str, listed: str | None) -> Phase:
    """Return the phase; psql learns it from the list, so that the two must agree."""
    first = _PHASE.match(text.partition("\n")[0])
    named = first[1] if first else listed or Phase.INSTALL.value
    if listed is not None and listed != named:
        raise InstallError(f"{path} is of the phase {named}, and its list says {listed}.")
    try:
        return Phase(named)
    except ValueError:
        raise InstallError(f"{path} names the phase {named}, which is none.") from None
