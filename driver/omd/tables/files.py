"""Access to the files of lake tables, local or in an object store."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from pyarrow.fs import FileSelector, FileSystem
from pyiceberg.io import FileIO, load_file_io
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.utils.config import Config

CATALOG = "omd"

_SCHEMES = {"s3a": "s3", "s3n": "s3", "abfs": "abfss", "wasb": "abfss", "wasbs": "abfss"}
_DELTA = {
    "s3.endpoint": "aws_endpoint_url",
    "s3.region": "aws_region",
    "s3.access-key-id": "aws_access_key_id",
    "s3.secret-access-key": "aws_secret_access_key",
    "s3.session-token": "aws_session_token",
    "adls.account-name": "azure_storage_account_name",
    "adls.account-key": "azure_storage_account_key",
    "adls.sas-token": "azure_storage_sas_token",
}


def file_io(location: str) -> FileIO:
    """Return the access to the files there, with the credentials of pyiceberg's configuration."""
    return load_file_io(properties(), location)


def properties() -> dict[str, str]:
    """Return the settings of the catalogue in pyiceberg's configuration."""
    settings = Config().get_catalog_config(CATALOG) or {}
    return {name: str(value) for name, value in settings.items()}


def storage_options() -> dict[str, str]:
    """Return the same settings under the names that delta-rs has for them."""
    settings = properties()
    options = {_DELTA.get(name, name): value for name, value in settings.items()}
    if settings.get("s3.endpoint", "").startswith("http://"):
        options["aws_allow_http"] = "true"
    return options


def remove_folder(folder: str, settings: Mapping[str, str] | None = None) -> None:
    """Remove a folder with all that is in it; it may be gone already."""
    system, path = filesystem(folder, settings)
    with suppress(FileNotFoundError):
        system.delete_dir(path)


def lies_within(location: str, paths: Iterable[str]) -> Iterator[bool]:
    """Return of each path whether it lies in a location, as it would be reached.

    Links of a local file system are followed, but for the last part of a path: what is deleted is
    the link. In an object store .. is a name like any other, which nobody means, so it is refused.
    """
    around = _place(location)
    folders: dict[str, bool] = {}
    for path in paths:
        folder, _, name = path.rstrip("/").rpartition("/")
        if folder not in folders:
            place = None if around is None else _place(folder)
            folders[folder] = (
                place is not None
                and around is not None
                and place[0] == around[0]
                and f"{place[1]}/".startswith(f"{around[1]}/")
            )
        yield folders[folder] and name.partition("?")[0].strip(".") != ""


def _place(location: str) -> tuple[str, str] | None:
    """Return the store of a folder and its path in there; None where that is not certain."""
    scheme, _, path = PyArrowFileIO.parse_location(location, properties())
    if not location.startswith("/") and set("?#") & set(location):
        return None  # a query, which would be cut off
    if scheme == "file":
        return ("file", os.path.realpath(path)) if path.startswith("/") else None
    if ".." in path.split("/"):
        return None
    return _SCHEMES.get(scheme, scheme), posixpath.normpath(path)


def delete_files(paths: Iterable[str]) -> None:
    """Delete files in their order; they may be gone already."""
    io = PyArrowFileIO(properties())
    for path in paths:
        system, inside = _reached(io, path)
        with suppress(FileNotFoundError):
            system.delete_file(inside)


def sizes_of(paths: Sequence[str]) -> dict[str, int]:
    """Return the bytes of those files of one table that are there."""
    if not paths:
        return {}
    io = PyArrowFileIO(properties())
    reached = [_reached(io, path) for path in paths]
    infos = reached[0][0].get_file_info([inside for _, inside in reached])
    return {path: info.size for path, info in zip(paths, infos, strict=True) if info.is_file}


def sizes_in(
    folder: str, settings: Mapping[str, str] | None = None, *, recursive: bool = False
) -> dict[str, int]:
    """Return the files in a folder, which need not exist, with their bytes."""
    system, path = filesystem(folder.rstrip("/"), settings)
    selector = FileSelector(path, allow_not_found=True, recursive=recursive)
    start = len(path.rstrip("/")) + 1
    return {
        f"{folder.rstrip('/')}/{info.path[start:]}": info.size
        for info in system.get_file_info(selector)
        if info.is_file
    }


def filesystem(location: str, settings: Mapping[str, str] | None = None) -> tuple[FileSystem, str]:
    """Return the file system of a location, and its path in there.

    Args:
        settings: the credentials; by default those of the catalogue in the database.
    """
    options = properties() if settings is None else dict(settings)
    return _reached(PyArrowFileIO(options), location)


def _reached(io: PyArrowFileIO, location: str) -> tuple[FileSystem, str]:
    scheme, netloc, path = io.parse_location(location, io.properties)
    return io.fs_by_scheme(scheme, netloc), path
