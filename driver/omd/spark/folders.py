"""Folders as this process reaches them: the client of Spark Connect has no JVM, but pyarrow."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
from pyarrow import fs

from omd._core.errors import CallerError

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
_OTHERS = {"s3a": "s3", "s3n": "s3"}  # what Spark calls otherwise than pyarrow does


def absolute(path: str | os.PathLike[str]) -> str:
    """Return a path as Spark takes it; one without a scheme is a local one of this process."""
    text = os.fspath(path)
    return text if _SCHEME.match(text) else f"file:{Path(text).absolute()}"


def local_path(path: str) -> str | None:
    """Return a path of `absolute` as this machine has it; None: it is not on this machine."""
    scheme, _, rest = path.partition(":")
    return os.path.normpath(f"/{rest.lstrip('/')}") if scheme.lower() == "file" else None


class Folder:
    """A folder of any file system that pyarrow reaches; names are relative to it.

    Args:
        uri: the folder, which need not exist.

    Raises:
        CallerError: pyarrow has no such file system, or does not reach it.
    """

    def __init__(self, uri: str) -> None:
        self._uri = absolute(uri).rstrip("/")
        scheme, _, rest = self._uri.partition(":")
        self._fs: Any = fs.LocalFileSystem()
        self._is_local = scheme.lower() == "file"
        if self._is_local:
            self._root = f"/{rest.lstrip('/')}"
            return
        asked = f"{_OTHERS.get(scheme.lower(), scheme)}:{quote(rest, safe='/:@')}"
        try:
            self._fs, self._root = fs.FileSystem.from_uri(asked)
        except (pa.ArrowInvalid, OSError, NotImplementedError) as error:
            raise CallerError(
                f"this program does not reach {self._uri}: {error}",
                hint="The files are moved by pyarrow, with the credentials of this process.",
            ) from error

    def __str__(self) -> str:
        return self._uri

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def exists(self, name: str) -> bool:
        """Return whether there is a file or folder of this name."""
        return bool(self._fs.get_file_info(self._path(name)).type != fs.FileType.NotFound)

    def names(self) -> list[str]:
        """Return the names in the folder itself."""
        wanted = fs.FileSelector(self._root, allow_not_found=True)
        return sorted(info.base_name for info in self._fs.get_file_info(wanted))

    def files(self, name: str) -> dict[str, int]:
        """Return the files below a folder and their bytes, but for hidden ones."""
        wanted = fs.FileSelector(self._path(name), allow_not_found=True, recursive=True)
        start = len(self._root) + 1
        return {
            info.path[start:]: info.size
            for info in sorted(self._fs.get_file_info(wanted), key=lambda info: info.path)
            if info.is_file and not info.base_name.startswith(("_", "."))
        }

    def remove(self, name: str) -> None:
        """Remove a folder with all that is in it, if it is there."""
        with suppress(FileNotFoundError):
            self._fs.delete_dir(self._path(name))

    def move_files(self, name: str, to: str) -> None:
        """Move the files of a folder, but for hidden ones, into another one."""
        for file in self.files(name):
            target = self._path(to + file[len(name) :])
            self._fs.create_dir(target.rpartition("/")[0])
            self._fs.move(self._path(file), target)

    def publish(self, name: str, to: str) -> bool:
        """Rename a file; return whether that was done, which it is not where the name is taken."""
        if self._is_local:
            try:
                os.link(self._path(name), self._path(to))
            except FileExistsError:
                return False
            except OSError:  # a file system without links
                pass
            else:
                return True
        if self.exists(to):
            return False
        self._fs.move(self._path(name), self._path(to))
        return True

    def write(self, name: str, content: str) -> None:
        """Write a file, in place of what is there."""
        self._fs.create_dir(self._path(name).rpartition("/")[0])
        with self._fs.open_output_stream(self._path(name)) as stream:
            stream.write(content.encode())

    def read(self, name: str) -> str:
        """Return the content of a file."""
        with self._fs.open_input_stream(self._path(name)) as stream:
            return bytes(stream.read()).decode()
