"""Several servers at once, of any version: standbys, backups, archives, and moves between them.

`Servers` is a place where they are made and removed; it is a context manager. Each server writes
its log for replication (also logical), and puts it into an archive beside its data, so it can be
copied, followed, rewound and upgraded.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import dict_row

import omd.programs.install
from omd.programs import embedded
from support import orphans

if TYPE_CHECKING:
    from collections.abc import Callable

    Connection = psycopg.Connection[dict[str, Any]]

DATABASE = embedded.DATABASE
SETTINGS = {
    "autovacuum": "off",
    "fsync": "off",  # the operating system survives
    "full_page_writes": "on",  # a base backup needs it
    "jit": "off",
    "max_connections": "100",
    "shared_buffers": "32MB",
    "min_wal_size": "32MB",
    "max_wal_size": "256MB",
    "wal_level": "logical",
    "max_wal_senders": "10",
    "max_replication_slots": "10",
    "wal_keep_size": "256MB",
    "wal_log_hints": "on",  # for pg_rewind; 18 has checksums, which do as well
    "wal_receiver_status_interval": "1s",
    "wal_retrieve_retry_interval": "200ms",
    "hot_standby_feedback": "on",  # long reports on a replica are not cancelled
    "archive_mode": "on",
}


class Server:
    """One server; its data are in ``home``."""

    def __init__(self, home: Path, version: int, archive: Path) -> None:
        self.home, self.version, self.archive = home, version, archive

    @property
    def data(self) -> Path:
        return self.home / "postgres"

    def dsn(self, database: str = DATABASE) -> str:
        return embedded.dsn(self.home, database)

    def connect(
        self, database: str = DATABASE, *, role: str | None = None, **arguments: Any
    ) -> Connection:
        options: dict[str, Any] = {"autocommit": True, "row_factory": dict_row, **arguments}
        if role:
            options["options"] = f"-c role={role}"
        return psycopg.connect(self.dsn(database), **options)

    def execute(self, query: str, *parameters: Any, database: str = DATABASE) -> list[Any]:
        """Execute a statement in a session of its own; returns its rows."""
        with contextlib.closing(self.connect(database)) as conn:
            cursor = conn.execute(query.encode(), parameters or None)
            return cursor.fetchall() if cursor.description else []

    def one(self, query: str, *parameters: Any) -> Any:
        ((value,),) = (row.values() for row in self.execute(query, *parameters))
        return value

    def environment(self, database: str = DATABASE) -> dict[str, str]:
        """Return the environment in which the programs of a user find this server."""
        part = conninfo_to_dict(self.dsn(database))
        others = {k: v for k, v in os.environ.items() if not k.startswith("PG")}
        return {
            **others,
            "PGHOST": str(part["host"]),
            "PGPORT": str(part["port"]),
            "PGUSER": str(part["user"]),
            "PGDATABASE": database,
            "PATH": f"{embedded.binaries(self.version)}{os.pathsep}{os.environ['PATH']}",
            "LC_ALL": "C",
        }

    # Start and stop

    def start(self) -> Server:
        embedded.start(self.home)
        return self

    def stop(self) -> None:
        embedded.stop(self.home)

    def die(self) -> None:
        """Do what `pg_ctl -m immediate stop` does: no session ends in an orderly way."""
        pid = embedded.status(self.home).pid
        if pid is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGQUIT)
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline:
                os.kill(pid, 0)
                time.sleep(0.01)

    def promote(self) -> None:
        """Make a primary of a standby."""
        self.execute("SELECT pg_promote(wait => true)", database="postgres")
        wait(lambda: not self.is_standby(), "the standby is a primary")

    def is_standby(self) -> bool:
        return bool(self.execute("SELECT pg_is_in_recovery() AS it", database="postgres")[0]["it"])

    # Programs of PostgreSQL

    def run(self, program: str, *arguments: str | Path, version: int | None = None) -> str:
        """Run a program of PostgreSQL as the user of the server; returns what it prints."""
        done = subprocess.run(
            [str(embedded.binaries(version or self.version) / program), *map(str, arguments)],
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd=self.home,
            env={**{k: v for k, v in os.environ.items() if k[:2] != "PG"}, "LC_ALL": "C"},
            **_user_of(self.home),
        )
        assert done.returncode == 0, f"{program} {arguments}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def configure(self, **settings: str) -> None:
        """Add settings, which are read at the next start."""
        with (self.data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())

    def position(self) -> str:
        """Return how far this server has written its log, or, as a standby, replayed it."""
        return str(
            self.execute(
                "SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()"
                " ELSE pg_current_wal_flush_lsn() END::text AS it",
                database="postgres",
            )[0]["it"]
        )

    def has_replayed(self, position: str) -> bool:
        query = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn AS it"
        return bool(self.execute(query, position, database="postgres")[0]["it"])

    def archive_all(self) -> None:
        """Wait until all that is written is in the archive."""
        self.execute("SELECT pg_logical_emit_message(true, '', 'now')", database="postgres")
        [row] = self.execute(
            "SELECT pg_walfile_name(pg_current_wal_insert_lsn()) AS name, pg_switch_wal()",
            database="postgres",
        )
        wait((self.archive / row["name"]).exists, f"{row['name']} is in the archive")

    def follow(self, primary: Server) -> None:
        """Wait until this standby has what its primary has now."""
        # Who writes nothing flushes its log after seconds only.
        primary.execute("SELECT pg_logical_emit_message(true, '', 'now')", database="postgres")
        position = primary.position()
        wait(lambda: self.has_replayed(position), "the standby has caught up")


class Servers:
    """A place for servers, which are stopped and removed at the end."""

    def __init__(self) -> None:
        folder = Path("/dev/shm")
        self.folder = Path(
            tempfile.mkdtemp(prefix="omd-servers-", dir=folder if folder.is_dir() else None)
        )
        self.folder.chmod(0o755)
        orphans.end_with_us(self.folder)
        self.all: list[Server] = []

    def __enter__(self) -> Servers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for server in reversed(self.all):
            self.remove(server)
        shutil.rmtree(self.folder, ignore_errors=True)

    def remove(self, server: Server) -> None:
        """Stop a server and remove its data."""
        server.die()
        if server.data.is_dir():
            shutil.rmtree(embedded._socket_folder(server.data), ignore_errors=True)
        shutil.rmtree(server.home, ignore_errors=True)

    def _place(self, version: int) -> Server:
        number = len(self.all) + 1
        # Such a long name makes the embedded server put its socket elsewhere: pg_rewind fetches
        # each file in the data folder, and a socket can't be read.
        home = self.folder / f"s{number}-{'-' * 80}"
        home.mkdir(mode=0o755)
        archive = home / "archive"
        archive.mkdir()
        server = Server(home, version, archive)
        self.all.append(server)
        return server

    def place_for(self, other: Server, version: int | None = None) -> Server:
        """A server without data, of the same version; its user is that of another one."""
        server = self._place(version or other.version)
        owner = other.data.stat()
        for path in (server.home, server.archive):
            os.chown(path, owner.st_uid, owner.st_gid)
        return server

    def forget_other(self, server: Server) -> None:
        """Let data that came from another server be those of this one."""
        _forget_other(server)
        server.configure(archive_command=_archiving(server.archive).strip("'"))

    def await_primary(self, server: Server) -> None:
        """Wait until the recovery of a server has ended."""
        wait(lambda: not server.is_standby(), "the recovery has ended")

    def new(self, version: int, **settings: str) -> Server:
        """A server of its own; its database `omd` is empty."""
        server = self._place(version)
        embedded.start(
            server.home,
            version=version,
            settings={**SETTINGS, "archive_command": _archiving(server.archive), **settings},
        )
        owner = server.data.stat()
        for path in (server.home, server.archive):
            os.chown(path, owner.st_uid, owner.st_gid)
        return server

    def with_omd(self, version: int, **settings: str) -> Server:
        """A server of its own with OMD in its database `omd`."""
        server = self.new(version, **settings)
        with psycopg.connect(server.dsn(), autocommit=True) as conn:
            omd.programs.install.install(conn)
        return server

    def backup(self, primary: Server) -> Server:
        """A base backup, which is not started."""
        server = self.place_for(primary)
        server.run(
            "pg_basebackup",
            *("--pgdata", server.data, "--dbname", _for_replication(primary)),
            *(
                "--checkpoint",
                "fast",
                "--wal-method",
                "stream",
                "--no-sync",
                "--write-recovery-conf",
            ),
        )
        (server.data / "standby.signal").unlink()
        self.forget_other(server)
        return server

    def standby(self, primary: Server, **settings: str) -> Server:
        """A hot standby that follows by streaming."""
        server = self.backup(primary)
        self._signal(server, "standby.signal")
        server.configure(**settings)
        return server.start()

    def recovered(self, backup: Server, archive: Path, **target: str) -> Server:
        """A backup that is recovered to a target, and then a primary.

        target: of the settings recovery_target_*, without that prefix: ``time``, ``lsn``, ``name``.
        """
        backup.configure(
            restore_command=f"cp {shlex.quote(str(archive))}/%f %p",
            recovery_target_action="promote",
            **{f"recovery_target_{name}": value for name, value in target.items()},
        )
        self._signal(backup, "recovery.signal")
        backup.start()
        self.await_primary(backup)
        # A backup of this server would stop there too.
        backup.configure(restore_command="", **{f"recovery_target_{name}": "" for name in target})
        return backup

    def rewound(self, former: Server, primary: Server) -> Server:
        """What was the primary before follows the one that was promoted in its place."""
        server = former
        server.run(
            "pg_rewind",
            *("--target-pgdata", server.data, "--source-server", primary.dsn("postgres")),
            *("--write-recovery-conf", "--no-sync"),
        )
        self.forget_other(server)  # its files came along, with its settings
        return server.start()

    def files_of(self, server: Server) -> Path:
        """Copy the files of a server that is stopped."""
        number = len(list(self.folder.glob("kept-*")))
        kept = self.folder / f"kept-{number}"
        _copy(server.data, kept)
        return kept

    def put_back(self, server: Server, kept: Path) -> None:
        """Put files back that were copied before."""
        shutil.rmtree(server.data)
        kept.rename(server.data)

    def upgraded(self, old: Server, version: int) -> Server:
        """The server of another version that pg_upgrade makes of one, which is stopped."""
        server = self.place_for(old, version)
        owner = old.data.stat()
        old.stop()
        # 18 is the first to have checksums by default, and both must agree.
        checksums = ["--no-data-checksums"] if version >= 18 else []
        sockets = self.folder / f"u{len(self.all)}"  # its path must be short
        sockets.mkdir(mode=0o700)
        os.chown(sockets, owner.st_uid, owner.st_gid)
        server.run(
            "initdb",
            *("-D", server.data, "-U", embedded.SUPERUSER, "-A", "trust", "-E", "UTF8"),
            *("--locale=C", "--no-sync", *checksums),
        )
        server.run(
            "pg_upgrade",
            *("-U", embedded.SUPERUSER, "-d", old.data, "-D", server.data),
            *("-b", embedded.binaries(old.version), "-B", embedded.binaries(version)),
            *("--socketdir", sockets, "--copy", *(["--no-sync"] if version >= 15 else [])),
        )
        settings = {
            **embedded._SETTINGS,
            **SETTINGS,
            "archive_command": _archiving(server.archive),
        }
        server.configure(**{name: value.strip("'") for name, value in settings.items()})
        return server.start()

    def restored(self, old: Server, version: int, dump: Path | None = None) -> Server:
        """A new server with a dump of the database of another one."""
        server = self.new(version)
        dump = dump or self.dump(old, version)
        for roles in dump.with_suffix(".roles").read_text(encoding="utf-8").split(";\n"):
            with contextlib.suppress(psycopg.errors.DuplicateObject), server.connect() as conn:
                if any(not line.startswith("--") for line in roles.split("\n") if line.strip()):
                    conn.execute(roles.encode())
        server.run("pg_restore", "--dbname", server.dsn(), "--exit-on-error", dump)
        return server

    def dump(self, server: Server, version: int | None = None, *options: str) -> Path:
        """A dump of the database, and beside it one of the roles."""
        file = server.archive / f"dump-{time.monotonic_ns()}.dump"
        arguments = ("--format=custom", "--file", file, "--dbname", server.dsn())
        server.run("pg_dump", *arguments, *options, version=version)
        roles = server.run("pg_dumpall", "--roles-only", "--dbname", server.dsn(), version=version)
        lines = [line for line in roles.splitlines() if not line.startswith("\\")]
        file.with_suffix(".roles").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return file

    @staticmethod
    def _signal(server: Server, name: str) -> None:
        file = server.data / name
        file.touch()
        owner = server.data.stat()
        os.chown(file, owner.st_uid, owner.st_gid)


def wait(until: Callable[[], bool], what: str, seconds: float = 60) -> None:
    """Wait until something is true, for a while."""
    deadline = time.monotonic() + seconds
    while True:
        with contextlib.suppress(psycopg.OperationalError, embedded.EmbeddedError):
            if until():
                return
        assert time.monotonic() < deadline, f"{what} within {seconds} s"
        time.sleep(0.05)


def _forget_other(server: Server) -> None:
    """Remove what belongs to the server that files came from."""
    for name in ("server.log", "postmaster.pid"):
        (server.data / name).unlink(missing_ok=True)
    owner = server.data.stat()
    for file in server.data.glob("*.signal"):
        os.chown(file, owner.st_uid, owner.st_gid)


def _copy(source: Path, target: Path) -> None:
    subprocess.run(["cp", "-a", str(source), str(target)], check=True)


def _archiving(archive: Path) -> str:
    folder = shlex.quote(str(archive))
    # A file is there at once and as a whole, for whoever restores at this moment.
    return f"'test -f {folder}/%f || (cp %p {folder}/%f.part && mv {folder}/%f.part {folder}/%f)'"


def _for_replication(server: Server) -> str:
    part = conninfo_to_dict(server.dsn("postgres"))
    del part["dbname"]
    return make_conninfo("", **{name: str(value) for name, value in part.items()})


def _user_of(path: Path) -> dict[str, Any]:
    if os.geteuid() != 0:
        return {}
    owner = path.stat()
    return {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []}
