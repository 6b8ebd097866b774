"""Access to the files of lake tables, local or in an object store."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from pyarrow.fs import FileSelector
from pyiceberg.io import load_file_io
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.utils.config import Config

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyarrow.fs import FileSystem
    from pyiceberg.io import FileIO

__all__ = ["CATALOG", "file_io", "filesystem", "properties", "remove_folder", "size_of"]

CATALOG = "omd"


def file_io(location: str) -> FileIO:
    """Return the access to the files there, with the credentials of pyiceberg's configuration."""
    return load_file_io(properties(), location)


def properties() -> dict[str, str]:
    """Return the settings of the catalogue in pyiceberg's configuration."""
    told = Config().get_catalog_config(CATALOG) or {}
    return {name: str(value) for name, value in told.items()}


def remove_folder(folder: str, settings: Mapping[str, str] | None = None) -> None:
    """Remove a folder with all that is in it; it may be gone already."""
    system, path = filesystem(folder, settings)
    with suppress(FileNotFoundError):
        system.delete_dir(path)


def size_of(folder: str, settings: Mapping[str, str] | None = None) -> tuple[int, int]:
    """Return how many files are in a folder, and how many bytes."""
    system, path = filesystem(folder, settings)
    selector = FileSelector(path, allow_not_found=True, recursive=True)
    files = [info for info in system.get_file_info(selector) if info.is_file]
    return len(files), sum(info.size for info in files)


def filesystem(location: str, settings: Mapping[str, str] | None = None) -> tuple[FileSystem, str]:
    """Return the file system of a location, and its path in there.

    Args:
        location: the location.
        settings: the credentials; by default those of the catalogue in the database.
    """
    io = PyArrowFileIO(dict(settings) if settings is not None else properties())
    scheme, netloc, path = io.parse_location(location, io.properties)
    return io.fs_by_scheme(scheme, netloc), path
