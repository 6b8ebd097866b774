"""Access to the files of lake tables, local or in an object store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyiceberg.io import load_file_io
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.utils.config import Config

if TYPE_CHECKING:
    from pyiceberg.io import FileIO

__all__ = ["CATALOG", "file_io", "remove_folder"]

CATALOG = "omd"


def file_io(location: str) -> FileIO:
    """Return the access to the files there, with the credentials of pyiceberg's configuration."""
    properties = Config().get_catalog_config(CATALOG) or {}
    return load_file_io({k: str(v) for k, v in properties.items()}, location)


def remove_folder(folder: str) -> None:
    """Remove a folder with all that is in it; it may be gone already."""
    io = file_io(folder)
    if not isinstance(io, PyArrowFileIO):
        io = PyArrowFileIO(io.properties)
    scheme, netloc, path = io.parse_location(folder, io.properties)
    try:
        io.fs_by_scheme(scheme, netloc).delete_dir(path)
    except FileNotFoundError:
        return
