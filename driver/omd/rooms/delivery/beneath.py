"""Files of this machine, opened part by part, so that no part of their path is a link.

Who sends files may put a link in place of a folder at any moment, also between a look at it and the
opening of what is in it. So each part is opened in the folder that was opened before, by its
descriptor, and what is said about a file is said about the descriptor that is read.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A pipe, which would wait for who writes to it, is opened and then refused.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


def folder_at(path: str | Path) -> int:
    """Open a folder by its whole path and return its descriptor.

    One link may stand in the root of the machine, where only its administrator can have made it:
    /tmp is one on macOS.

    Raises:
        OSError: it can't be opened, or is behind a link.
    """
    root, *parts = Path(path).absolute().parts
    first = os.open(Path(root, *parts[:1]), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    return _descended(first, parts[1:])


def folder_in(folder: int, *parts: str, makes: bool = False) -> int:
    """Open a folder below another one.

    Args:
        folder: the descriptor of the other one, which stays open.
        parts: the names on the way.
        makes: whether what is missing is made.

    Raises:
        OSError: it can't be opened, or a part is a link.
    """
    return _descended(os.dup(folder), parts, makes=makes)


@contextmanager
def file_in(folder: int, path: str) -> Iterator[int]:
    """Lend the descriptor of a file below a folder.

    Raises:
        OSError: it can't be opened, is no file, or a part of its path is a link.
    """
    *parts, name = _parts(path)
    within = folder_in(folder, *parts)
    try:
        file = os.open(name, _FILE, dir_fd=within)
    finally:
        os.close(within)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, "it is no file")
        yield file
    finally:
        os.close(file)


def identity(status: os.stat_result) -> tuple[int, ...]:
    """Return what tells a file from each other one, and from itself after a change.

    Its inode is touched by whatever is done to it, with a time that nobody can set.
    """
    return (
        status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    )  # fmt: skip


def is_borrowed(file: os.stat_result, owner: int) -> bool:
    """Return whether a file has other names too, and belongs to somebody else than this account.

    On some systems anybody can give a name of his own to a file that he may not read.
    """
    return file.st_nlink > 1 and file.st_uid != owner


def _parts(path: str) -> list[str]:
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise OSError(errno.EINVAL, "it is no path below a folder")
    return parts


def _descended(folder: int, parts: Sequence[str], *, makes: bool = False) -> int:
    """Return the folder at the end of a way; the one where it begins is closed."""
    for part in parts:
        try:
            if makes:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=folder)
            try:
                below = os.open(part, _FOLDER, dir_fd=folder)
            except OSError:
                if is_link(part, folder):
                    raise OSError(errno.ELOOP, f"{part} is a symbolic link") from None
                raise
        finally:
            os.close(folder)
        folder = below
    return folder


def is_link(name: str, folder: int) -> bool:
    """Return whether an entry of a folder is a link."""
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False
