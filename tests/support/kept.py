"""A server with OMD installed, kept in the user's cache: each process of tests starts a copy of it.

OMD_TEST_CACHE names another folder than omd-tests in the user's cache; empty, nothing is kept.

All copies have the same system identifier. Who compares servers makes them anew.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from psycopg.conninfo import make_conninfo

import omd.programs.install
from omd.programs import embedded
from support import orphans, user_code

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TEMPLATE = "omd_template"  # a database with OMD, which others are copied from
KEPT = 4  # servers; each takes about 110 MB
DRIVER = Path(embedded.__file__).parents[1]
# What an installation in a new server consists of, and what makes it.
PARTS = (
    *(omd.programs.install.sql_root() / name for name in ("migrations", "procedures", "sql")),
    *(DRIVER / name for name in ("_core", "__init__.py")),
    *(DRIVER / "programs" / name for name in ("install", "__init__.py", "embedded.py")),
    *(Path(__file__).with_name(name) for name in ("kept.py", "user_code.py")),
)


def folder() -> Path | None:
    """Return the folder of kept servers; None where nothing is kept.

    It is the user's own, and closed to others: whoever could write there would run as this user.
    """
    given = os.environ.get("OMD_TEST_CACHE")
    if given == "":
        return None
    try:
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        place = Path(given or Path(cache) / "omd-tests").absolute()
        place.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            place.mkdir(mode=0o700)
        state = place.lstat()
    except (OSError, RuntimeError):  # a home that is read-only, or missing
        return None
    is_own = state.st_uid == os.geteuid() and state.st_mode & 0o170077 == 0o040000
    return place if is_own else None


def start(home: Path, version: int, settings: Mapping[str, str]) -> None:
    """Start a server in a new home; it has the database TEMPLATE."""
    if place := folder():
        with _locked(place):
            kept = place / key(version, settings)
            if not kept.is_dir():
                _keep(kept, version, settings)
            os.utime(kept)
            _copy(kept / "postgres", home)
        if os.geteuid() == 0:  # the server runs as another user
            embedded._let_through(home / "postgres")
            embedded._let_through(embedded.binaries(version) / "postgres")
        embedded.start(home)
    else:
        _make(home, version, settings)


def key(version: int, settings: Mapping[str, str], parts: tuple[Path, ...] = PARTS) -> str:
    """Return what the contents of a server follow from, as SHA-256."""
    digest = hashlib.sha256()
    program = embedded.binaries(version) / "postgres"
    told = subprocess.run([program, "--version"], check=True, capture_output=True, text=True)
    zone = (os.environ.get("TZ"), Path("/etc/localtime").resolve())  # initdb writes it down
    digest.update(repr((told.stdout, psycopg.__version__, zone, sorted(settings.items()))).encode())
    for part in parts:
        for file in sorted(part.rglob("*")) if part.is_dir() else [part]:
            if file.is_file() and file.suffix != ".pyc":
                text = file.read_bytes()
                name = f"{part.name}/{file.relative_to(part)}"
                digest.update(f"{name} {len(text)}\n".encode() + text)
    return digest.hexdigest()


def _make(home: Path, version: int, settings: Mapping[str, str]) -> None:
    embedded.start(home, version=version, settings=settings)
    server = embedded.dsn(home, "postgres")
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(f"CREATE DATABASE {TEMPLATE} IS_TEMPLATE true")
    with psycopg.connect(make_conninfo(server, dbname=TEMPLATE), autocommit=True) as conn:
        omd.programs.install.install(conn)
        user_code.lay(conn)


def _keep(kept: Path, version: int, settings: Mapping[str, str]) -> None:
    """Make a server and keep its files; one that is not complete never has this name."""
    new = kept.with_name("new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(mode=0o700)
    with tempfile.TemporaryDirectory(prefix="omd-test-") as home:
        orphans.end_with_us(Path(home))
        try:
            _make(Path(home), version, settings)
        finally:
            embedded.stop(Path(home))
        (Path(home) / "postgres" / "server.log").unlink()
        _copy(Path(home) / "postgres", new)
    os.sync()  # what a machine that fails has not written must not be found
    new.rename(kept)
    every = [file for file in kept.parent.iterdir() if file.is_dir()]
    for old in sorted(every, key=lambda file: file.stat().st_mtime)[:-KEPT]:
        shutil.rmtree(old)


def _copy(source: Path, target: Path) -> None:
    subprocess.run(["cp", "-a", source, target], check=True)


@contextlib.contextmanager
def _locked(place: Path) -> Iterator[None]:
    """Let one process make, copy or remove at a time; the others wait."""
    with (place / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
