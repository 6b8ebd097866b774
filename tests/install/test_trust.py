"""``omd demo trust`` on the server of somebody else: it holds, and the server is as before."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from install.test_administrators import dumped, make, place, server  # noqa: F401 - fixtures
from omd.errors import OmdError
from omd.programs import install
from omd.programs.demo.trust import loader, story
from omd.programs.demo.trust import place as places
from support.lots import IS_WHOLE, SEED
from support.programs import BIN
from support.wheel import run

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.server, pytest.mark.kill]

OMD = Path(sys.executable).with_name("omd")
WAYS = [
    ("administrator", signal.SIGINT),
    ("administrator", signal.SIGTERM),
    ("with_omd", signal.SIGINT),
]
MOMENTS = ["Getting ready", "The loader runs", "as Module Instance 2"]
# Three of them in a run that is not a whole one: each way and each moment, each day in other pairs.
INTERRUPTIONS = [
    (*way, at)
    for n, way in enumerate(WAYS)
    for m, at in enumerate(MOMENTS)
    if IS_WHOLE or (n + m + SEED) % 3 == 0
]


def everything(dsn: str) -> str:
    """Return a database with its rows and sequences, and the roles."""
    done = subprocess.run([BIN / "pg_dump", dsn], check=True, capture_output=True, text=True)
    noise = ("\\restrict", "\\unrestrict")
    rows = "\n".join(x for x in done.stdout.splitlines() if not x.startswith(noise))
    return rows + dumped(dsn)[1]


def databases(dsn: str) -> list[tuple[str]]:
    with psycopg.connect(dsn) as conn:
        # What a first GRANT makes explicit is what counted before.
        return conn.execute(
            "SELECT datname, coalesce(datacl, acldefault('d', datdba))::text FROM pg_database"
            " ORDER BY 1"
        ).fetchall()


@contextlib.contextmanager
def played(dsn: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [OMD, "demo", "trust", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "OMD_DSN": dsn},
    ) as process:
        yield process


@pytest.fixture
def administrator(place) -> str:  # noqa: F811
    """An administrator of a managed server, whose database has a table of his own."""
    dsn = make(place, "rds", with_admin=True)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CREATE SCHEMA shop; CREATE TABLE shop.orders AS SELECT 1 AS id")
    return dsn


@pytest.fixture
def with_omd(administrator) -> Iterator[str]:
    """The same, where people work with OMD already."""
    with psycopg.connect(administrator, autocommit=True) as conn:
        install.install(conn)
        conn.execute("GRANT omd_admin, omd_runner TO CURRENT_USER")
        conn.execute("CALL omd.register_batch('b_theirs')")
        conn.execute("CALL omd.register_module('m_theirs', 'INT', 'shop.orders', 'HUB')")
        conn.execute("CALL omd.add_module_to_batch('b_theirs', 'm_theirs')")
        conn.execute("CALL omd.begin_module('m_theirs')")
    yield administrator
    with psycopg.connect(administrator, autocommit=True) as conn:
        install.uninstall(conn)


@pytest.mark.alone
def test_an_administrator_plays_it_and_his_server_is_as_before(administrator, place):  # noqa: F811
    before = everything(place), databases(place)
    began = time.monotonic()
    with played(administrator) as process:
        told = process.communicate(timeout=120)[0]
    assert process.returncode == 0, told
    assert time.monotonic() - began < 60
    assert (everything(place), databases(place)) == before
    assert re.search(r"! kill -9 \d+, in transaction 6 of 10: 50,000 of 100,000 rows", told)
    assert re.search(r"1\s+F failed\s+0\n\s*2\s+S succeeded\s+100,?000\n", told)
    assert "Each row is there exactly once" in told
    assert re.search(r"the loader, life 1\s+\d+\.\d [kM]B", told)
    assert re.search(r"OMD, a run that loads nothing \([\d.]+ ms\)\s+\d\.\d kB\s+\d\.\d kB", told)


def test_what_others_do_with_omd_is_not_touched(with_omd, place):  # noqa: F811
    before = everything(place), databases(place)
    with played(with_omd) as process:
        told = process.communicate(timeout=120)[0]
    assert process.returncode == 0, told
    assert "OMD is there already" in told
    assert "Each row is there exactly once" in told
    assert (everything(place), databases(place)) == before


def test_it_needs_nothing_but_what_the_wheel_requires(wheel_environment, administrator, place):  # noqa: F811
    before = everything(place), databases(place)
    shown = run(
        wheel_environment / "bin/omd",
        "demo",
        "trust",
        "--yes",
        cwd=wheel_environment,
        OMD_DSN=administrator,
    )
    assert "Each row is there exactly once" in shown
    assert (everything(place), databases(place)) == before


def test_roles_that_nobody_uses_stay(administrator, place):  # noqa: F811
    """As omd uninstall --keep-roles leaves them: they are somebody's, with what they may do."""
    with psycopg.connect(administrator, autocommit=True) as conn:
        install.install(conn)
        install.uninstall(conn, keep_roles=True)
    try:
        before = everything(place), databases(place)
        with played(administrator) as process:
            shown = process.communicate(timeout=120)[0]
        assert process.returncode == 0, shown
        assert (everything(place), databases(place)) == before
    finally:
        with psycopg.connect(administrator, autocommit=True) as conn:
            install.install(conn)
            install.uninstall(conn)


@pytest.mark.parametrize(("fixture", "number", "at"), INTERRUPTIONS)
def test_an_interruption_removes_what_was_made(request, place, fixture, number, at):  # noqa: F811
    dsn = request.getfixturevalue(fixture)
    before = everything(place), databases(place)
    with played(dsn) as process:
        for line in process.stdout:
            if at in line:
                process.send_signal(number)
                time.sleep(0.2)
                process.send_signal(number)  # somebody is impatient
                break
        told = process.communicate(timeout=120)[0]
    assert process.returncode != 0
    assert "Each row" not in told
    assert (everything(place), databases(place)) == before
    with psycopg.connect(place) as conn:
        left = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'omd demo%'"
        assert conn.execute(left).fetchone() == (0,)


def test_what_has_its_name_is_not_touched(administrator, place):  # noqa: F811
    with psycopg.connect(administrator, autocommit=True) as conn:
        conn.execute("CREATE SCHEMA trust_demo; CREATE TABLE trust_demo.orders (id integer)")
    before = everything(place)
    with played(administrator) as process:
        told = process.communicate(timeout=60)[0]
    assert process.returncode == 1
    assert "The schema trust_demo is there already" in told
    assert everything(place) == before


def test_a_database_of_its_name_is_not_touched(with_omd, place):  # noqa: F811
    with psycopg.connect(with_omd, autocommit=True) as conn:
        conn.execute("CREATE DATABASE trust_demo")
    before = everything(place), databases(place)
    with played(with_omd) as process:
        told = process.communicate(timeout=60)[0]
    with psycopg.connect(with_omd, autocommit=True) as conn:
        after = everything(place), databases(place)
        conn.execute("DROP DATABASE trust_demo")
    assert process.returncode == 1
    assert "The database trust_demo is there already" in told
    assert after == before


def test_who_may_make_no_place_gets_to_know_it(with_omd, place):  # noqa: F811
    with psycopg.connect(place, autocommit=True) as conn:
        conn.execute("ALTER ROLE administrator NOCREATEDB")
    with pytest.raises(OmdError, match="administrator may create no other"):
        places.look(with_omd)


def test_who_may_not_install_leaves_nothing(administrator, place):  # noqa: F811
    with psycopg.connect(place, autocommit=True) as conn:
        conn.execute("ALTER ROLE administrator NOCREATEROLE")
    before = everything(place), databases(place)
    with played(administrator) as process:
        told = process.communicate(timeout=60)[0]
    assert process.returncode == 1
    assert "CREATEROLE" in told
    assert (everything(place), databases(place)) == before


def test_it_asks_on_a_terminal_first(administrator, place):  # noqa: F811
    before = everything(place)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [OMD, "demo", "trust"],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "OMD_DSN": administrator},
    )
    os.write(ours, b"n\n")
    told = process.communicate(timeout=60)[0]
    os.close(ours)
    os.close(theirs)
    assert "Go on?" in told
    assert process.returncode == 1
    assert "Getting ready" not in told
    assert everything(place) == before


class Screen:
    """Keeps what is shown."""

    def __init__(self) -> None:
        self.told = ""

    def say(self, text: str) -> None:
        self.told += f"{text}\n"

    title = say

    def table(self, rows) -> None:
        self.told += f"{rows}\n"


def test_the_loader_may_be_killed_again(administrator, place):  # noqa: F811
    before = everything(place)
    screen = Screen()
    assert story.play(places.look(administrator), screen, rows=1000, kills=(1, 2))
    assert screen.told.count("kill -9") == 2
    assert "Module Instance 3" in screen.told
    assert everything(place) == before


def test_the_proof_can_fail_and_what_was_made_is_removed(
    administrator,
    place,  # noqa: F811
    monkeypatch,
):
    before = everything(place)
    monkeypatch.setattr(loader, "amount", lambda order_id: 0)
    screen = Screen()
    assert not story.play(places.look(administrator), screen, rows=1000)
    assert "The proof does not hold" in screen.told
    assert everything(place) == before


def test_what_could_not_be_removed_is_named(administrator, place, monkeypatch):  # noqa: F811
    """Somebody holds the table: the demo waits a while, and then says what is left."""
    monkeypatch.setattr(places, "_PATIENCE", 1.0)
    where, screen = places.look(administrator), Screen()
    with psycopg.connect(place) as conn:
        prove = story._Story.prove

        def held(self) -> bool:
            holds = prove(self)
            conn.execute("LOCK trust_demo.orders IN ROW EXCLUSIVE MODE")
            return holds

        monkeypatch.setattr(story._Story, "prove", held)
        with pytest.raises(OmdError, match="Not everything could be removed"):
            story.play(where, screen, rows=1000)
        conn.rollback()
    assert "whatever the demo has made" in screen.told
    with psycopg.connect(administrator, autocommit=True) as conn:
        conn.execute("DROP SCHEMA trust_demo CASCADE")
        install.uninstall(conn)
