"""The files of a Delta log: what each version says, and the removal of the oldest ones."""

from __future__ import annotations

import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from pyarrow.fs import FileSelector

from omd.tables.files import filesystem
from omd.tables.undo import INSTANCE, OPERATION, UNDONE

_THREADS = 8
_DIGITS = 20  # of the number with which the name of each file begins
_WRITES = ("APPEND", "OVERWRITE", "HISTORY")


@dataclass(slots=True)
class Version:
    """What one version of a table says."""

    number: int  # the version
    written_at: int = 0  # when, in milliseconds since 1970, by the clock of its writer
    info: dict[str, Any] = field(default_factory=dict)  # its commit info
    added: list[str] = field(default_factory=list)  # the paths of the files that came
    removed: list[str] = field(default_factory=list)  # the paths of those that went
    has_other_rows: bool = False  # the table does not hold the same rows as before

    @property
    def operation(self) -> str | None:
        """What OMD did; None: another engine has committed."""
        return self.info.get(OPERATION)

    @property
    def writer(self) -> int | None:
        """The run that wrote rows; None: it is a commit of maintenance or of another engine."""
        return int(self.info[INSTANCE]) if self.operation in _WRITES else None

    @property
    def deletes_files(self) -> bool:
        """Whether files that only older versions need are deleted with it, or may be."""
        kind = str(self.info.get("operation") or "")
        return self.operation == "EXPIRE" or kind.startswith("VACUUM")

    @property
    def changes(self) -> bool:
        """Whether the table is another one since; what OMD only marks leaves it as it is."""
        return self.operation is None or bool(self.added or self.removed)

    @property
    def undone(self) -> set[int]:
        """The runs that it took back."""
        return {int(number) for number in str(self.info.get(UNDONE) or "").split(",") if number}


class DeltaLog:
    """The log of a table, as it was when this object was made.

    Args:
        location: the folder of the table.
    """

    def __init__(self, location: str) -> None:
        self._system, self._path = filesystem(f"{location}/_delta_log")
        listed = self._system.get_file_info(FileSelector(self._path, allow_not_found=True))
        self._files = {info.base_name: info for info in listed if info.is_file}

    @property
    def numbers(self) -> list[int]:
        """The versions that have a file of their own."""
        return sorted(_number(name) for name in self._files if name[_DIGITS:] == ".json")

    def versions(self, numbers: Iterable[int]) -> list[Version]:
        """Return what some versions say.

        Raises:
            FileNotFoundError: one has no file any more.
        """
        with ThreadPoolExecutor(_THREADS) as pool:
            return list(pool.map(self._version, numbers))

    def _version(self, number: int) -> Version:
        name = f"{number:0{_DIGITS}}.json"
        with self._system.open_input_stream(f"{self._path}/{name}") as stream:
            lines = stream.read().splitlines()
        version = Version(number)
        for line in filter(None, lines):
            action = json.loads(line)
            if "commitInfo" in action:
                version.info = action["commitInfo"]
                version.written_at = int(version.info.get("timestamp") or 0)
            for kind, paths in (("add", version.added), ("remove", version.removed)):
                if kind in action:
                    paths.append(action[kind]["path"])
                    version.has_other_rows |= bool(action[kind].get("dataChange", True))
        if not version.written_at and name in self._files:
            version.written_at = self._files[name].mtime_ns // 1_000_000
        return version

    def remove_before(self, number: int) -> None:
        """Remove what the log says about older versions; a checkpoint holds what stays valid."""
        for name in sorted(self._files):
            if name[:_DIGITS].isdigit() and _number(name) < number:
                self._system.delete_file(f"{self._path}/{name}")


def _number(name: str) -> int:
    return int(name[:_DIGITS])
