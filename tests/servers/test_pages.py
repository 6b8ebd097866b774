"""The pages about servers show what happens: their commands are run on real ones.

Such a page has blocks ``console servers``. They are like ``console`` of the other pages (see
tests/docs/examples.py), but with connection strings and folders of servers as variables, and
what reads or writes the folder of a server runs as the user of that. A comment beginning with
``test:`` stands where a test does what a page leaves to the reader: it starts or stops a server.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from docs.examples import compare
from omd.programs import embedded
from omd.programs.demo.pages import ROOT, Block
from support.flow import Flow
from support.server import VERSION
from support.servers import _for_replication

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.servers import Server, Servers

pytestmark = pytest.mark.kill

PAGES = ROOT / "docs/how-to/operate"
PART = re.compile(
    r"^```console servers\n(?P<text>.*?)^```$|<!-- test: (?P<step>[^>]*?) -->",
    re.MULTILINE | re.DOTALL,
)


class Reader:
    """Somebody who follows a page."""

    def __init__(self, servers: Servers, folder: Path) -> None:
        self.servers, self.folder = servers, folder
        self.steps: dict[str, Callable[[], Any]] = {}
        self.names: dict[str, str] = {}

    def be_user_of(self, server: Server) -> None:
        """Run as the user of a server what PostgreSQL does not run as root."""
        owner = server.data.stat()
        os.chown(self.folder, owner.st_uid, owner.st_gid)
        if os.geteuid() != 0:
            return
        folder = self.folder / "bin"
        folder.mkdir()
        for name in ("initdb", "pg_basebackup", "pg_rewind", "pg_upgrade"):
            program = embedded.binaries(VERSION if name == "pg_rewind" else 18) / name
            if name == "pg_basebackup":
                program = embedded.binaries(server.version) / name
            file = folder / name
            file.write_text(
                "#!/bin/sh\n"
                f"exec setpriv --reuid {owner.st_uid} --regid {owner.st_gid} --clear-groups"
                f' {program} "$@"\n'
            )
            file.chmod(0o755)

    def knows(self, **names: str | Path) -> None:
        self.names.update({name: str(value) for name, value in names.items()})

    def follow(self, page: str) -> int:
        """Run the commands of a page; returns how many there were."""
        file = PAGES / page
        text = file.read_text(encoding="utf-8")
        count = 0
        steps = []
        for part in PART.finditer(text):
            if part["step"] is not None:
                self.steps[part["step"]]()
                steps.append(part["step"])
                continue
            line = text.count("\n", 0, part.start()) + 1
            for command in Block(page, line, "", "console", part["text"], None, None).commands():
                count += 1
                expected = command.expected
                code, told = self.run(command.text)
                assert code == 0 or expected.strip(), f"{command} exits with {code}\n{told}"
                if expected.strip() != "…":
                    compare(command, told or "\n", expected or "\n")
                else:
                    assert code == 0, f"{command} exits with {code}\n{told}"
        assert steps == list(self.steps)
        return count

    def run(self, command: str) -> tuple[int, str]:
        others = {name: value for name, value in os.environ.items() if name[:2] != "PG"}
        done = subprocess.run(
            ["bash", "-c", command],
            check=False,
            cwd=self.folder,
            env={
                **others,
                **self.names,
                "PATH": os.pathsep.join(
                    [
                        str(self.folder / "bin"),
                        str(embedded.binaries(18)),
                        str(Path(sys.executable).parent),
                        os.environ["PATH"],
                    ]
                ),
                "HOME": str(self.folder),
                "OMD_HOME": str(self.folder),
                "LC_ALL": "C.UTF-8",
                "PYTHONWARNINGS": "ignore",
                "PSQLRC": os.devnull,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        return done.returncode, done.stdout


@pytest.fixture
def reader(servers: Servers) -> Reader:
    """Somebody in a folder of his own, which the user of the servers owns."""
    folder = servers.folder / "reader"
    folder.mkdir()
    return Reader(servers, folder)


def set_up(server: Server, reader: Reader) -> Server:
    reader.be_user_of(server)
    with contextlib.closing(server.connect()) as conn:
        conn.execute("CREATE SCHEMA dwh")
        flow = Flow(conn)
        flow.module("m_orders", table_code="dwh.orders")
        flow.module("m_customers", table_code="dwh.customers")
        for table in ("orders", "customers"):
            conn.execute(
                f"CREATE TABLE dwh.{table}"
                " (nbr integer, omd_insert_module_instance_id bigint)".encode()
            )
        conn.execute("ALTER TABLE dwh.customers ADD PRIMARY KEY (nbr)")
        conn.execute("CREATE ROLE m_loader LOGIN IN ROLE omd_runner")
        flow.run_module("m_orders")
    return server


def test_survive_a_failover(servers: Servers, reader: Reader) -> None:
    primary = set_up(servers.with_omd(VERSION), reader)
    standby = servers.place_for(primary)
    recovered = servers.place_for(primary)
    reader.knows(
        PRIMARY=_for_replication(primary) + " dbname=omd",
        STANDBY_DATA=standby.data,
        PRIMARY_DATA=primary.data,
        BACKUP=recovered.data,
        ARCHIVE=standby.archive,
    )

    def start_the_standby() -> None:
        servers.forget_other(standby)
        standby.start()
        standby.follow(primary)
        reader.knows(STANDBY=_for_replication(standby) + " dbname=omd")

    def start_the_recovery() -> None:
        standby.archive_all()
        servers.forget_other(recovered)
        recovered.start()
        servers.await_primary(recovered)
        reader.knows(RECOVERED=recovered.dsn())

    reader.steps = {
        "start the standby": start_the_standby,
        "the primary dies": primary.die,
        "start the recovery": start_the_recovery,
    }
    assert reader.follow("survive-a-failover.md") > 10


def test_move_to_another_server(servers: Servers, reader: Reader) -> None:
    old = set_up(servers.with_omd(16), reader)
    new, other = servers.new(18), servers.new(18)
    following = servers.place_for(old, 18)
    sockets = servers.folder / "s"
    sockets.mkdir()
    owner = old.data.stat()
    os.chown(sockets, owner.st_uid, owner.st_gid)
    reader.knows(
        OLD=old.dsn(),
        OLD_CONNINFO=_for_replication(old) + " dbname=omd",
        NEW=new.dsn(),
        COPY=new.dsn("try"),
        OTHER=other.dsn(),
        OLD_DATA=old.data,
        NEXT_DATA=following.data,
        OLD_BIN=embedded.binaries(16),
        NEW_BIN=embedded.binaries(18),
        SOCKETS=sockets,
    )

    def start_the_upgraded() -> None:
        following.start()
        reader.knows(NEXT=following.dsn())

    reader.steps = {
        "the old server stops": old.stop,
        "start the upgraded server": start_the_upgraded,
    }
    assert reader.follow("move-to-another-server.md") > 15


def test_read_from_a_replica(servers: Servers, reader: Reader) -> None:
    primary = set_up(servers.with_omd(VERSION), reader)
    replica = servers.standby(primary)
    replica.follow(primary)
    reader.knows(PRIMARY=primary.dsn(), REPLICA=replica.dsn())
    assert reader.follow("read-from-a-replica.md") > 5


def test_the_database_is_down(servers: Servers, reader: Reader) -> None:
    server = set_up(servers.with_omd(VERSION), reader)
    reader.knows(SERVER=server.dsn())
    reader.steps = {"the server dies": server.die, "the server starts": server.start}
    assert reader.follow("when-the-database-is-down.md") > 8


def test_each_page_about_servers_is_followed() -> None:
    named = {file.name for file in PAGES.glob("*.md") if "```console servers" in file.read_text()}
    text = Path(__file__).read_text()
    assert {name for name in named if f'"{name}"' not in text} == set()
