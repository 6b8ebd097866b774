"""Access to the files of lake tables, local or in an object store."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from pyiceberg.io import load_file_io
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.utils.config import Config

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyarrow.fs import FileSystem
    from pyiceberg.io import FileIO

__all__ = ["CATALOG", "file_io", "filesystem", "properties", "remove_folder"]

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


def filesystem(location: str, settings: Mapping[str, str] | None = None) -> tuple[FileSystem, str]:
    """Return the file system of a location, and its path in there.

    Args:
        location: the location.
        settings: the credentials; by default those of the catalogue in the database.
    """
    io = PyArrowFileIO(properties() if settings is None else dict(settings))
    scheme, netloc, path = io.parse_location(location, io.properties)
    return io.fs_by_scheme(scheme, netloc), path
