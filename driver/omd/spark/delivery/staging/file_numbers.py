"""The numbers of files, as `omd_delivery.register_files` counts them, by their names in Spark."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import unquote

LINE_BITS = 40  # of a joint number; the rest of 63 is for the file


@dataclass(frozen=True)
class FileNumbers:
    """The numbers of files, from 1."""

    by_name: dict[str, int]

    @classmethod
    def of(cls, paths: Iterable[str]) -> FileNumbers:
        """Return the numbers of files that were listed in this order."""
        return cls({_name(path): number for number, path in enumerate(paths, 1)})

    def number(self, uri: str) -> int:
        """Return the number of the file that Spark names so."""
        name = _name(unquote(uri))
        if name not in self.by_name:
            raise LookupError(f"{name} was not there when the files were listed")
        return self.by_name[name]


def joint(file: int, line: int) -> int:
    """Return the numbers of a file and of a line in it as one."""
    return file << LINE_BITS | line


def _name(path: str) -> str:
    """Return a path with one slash behind its scheme, where some write three."""
    return re.sub(r"\A(\w[\w+.-]*:)/+", r"\1/", path)
