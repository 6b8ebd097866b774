"""The embedded server: it starts once, keeps running, keeps its data, and admits nobody else."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import click
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from omd.programs import embedded
from omd.programs.cli.embedded import _chosen

FAST = {"fsync": "off"}


@pytest.fixture
def home(new_home):
    home = new_home()
    yield home
    embedded.stop(home)


def query(dsn, text):
    with psycopg.connect(dsn) as conn:
        return conn.execute(text).fetchone()[0]


def test_start_creates_a_server_with_the_database_omd_and_stop_keeps_its_data(home):
    assert embedded.status(home) == embedded.Status(home, False, None, None, None)
    first = embedded.start(home, settings=FAST)
    assert (first.running, first.version) == (True, 18)
    assert query(first.dsn, "SELECT current_database()") == "omd"
    assert query(embedded.dsn(home, "postgres"), "SELECT current_database()") == "postgres"
    with psycopg.connect(first.dsn) as conn:
        conn.execute("CREATE TABLE kept (i integer)")

    assert embedded.start(home) == first
    assert embedded.stop(home)
    assert not embedded.stop(home)
    with pytest.raises(embedded.EmbeddedError, match="No embedded server is running"):
        embedded.dsn(home)

    assert embedded.start(home).running
    assert query(embedded.dsn(home), "SELECT count(*) FROM kept") == 0


def test_it_is_durable_and_speaks_utf8(home):
    dsn = embedded.start(home).dsn
    assert query(dsn, "SHOW fsync") == "on"
    assert query(dsn, "SHOW synchronous_commit") == "on"
    assert query(dsn, "SHOW full_page_writes") == "on"
    assert query(dsn, "SHOW server_encoding") == "UTF8"
    assert query(dsn, "SELECT upper('é')") == "É"


@pytest.mark.parametrize("version", [16, 18])
def test_the_version_can_be_chosen_and_the_data_keep_theirs(home, version):
    other = {16: 18, 18: 16}[version]
    found = embedded.start(home, version=version, settings=FAST)
    assert query(found.dsn, "SHOW server_version").startswith(f"{version}.")
    embedded.stop(home)
    with pytest.raises(embedded.EmbeddedError, match=f"PostgreSQL {version}, not {other}"):
        embedded.start(home, version=other)
    assert embedded.start(home).version == version


def test_an_unknown_version_is_refused(home):
    with pytest.raises(embedded.EmbeddedError, match="no embedded PostgreSQL 9") as caught:
        embedded.start(home, version=9)
    assert "16, 18" in caught.value.hint
    assert caught.value.sqlstate == "OM243"


def test_it_listens_on_a_socket_for_its_user_only(home):
    dsn = embedded.start(home, settings=FAST).dsn
    assert query(dsn, "SHOW listen_addresses") == ""
    folder = Path(conninfo_to_dict(dsn)["host"])
    assert stat.S_IMODE((folder / ".s.PGSQL.5432").stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_long_path_to_the_data_works(home):
    home = home / ("long" * 25) / "home"
    dsn = embedded.start(home, settings=FAST).dsn
    try:
        assert query(dsn, "SELECT 1") == 1
    finally:
        embedded.stop(home)
        folder = Path(conninfo_to_dict(dsn)["host"])
        assert home not in folder.parents
        folder.rmdir()


def test_five_starters_at_once_start_one_server(home):
    program = "import sys; from pathlib import Path; from omd.programs import embedded;"
    program += "print(embedded.start(Path(sys.argv[1]), settings={'fsync': 'off'}).pid)"

    def run(_):
        command = [sys.executable, "-c", program, str(home)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    with ThreadPoolExecutor(5) as pool:
        pids = set(pool.map(run, range(5)))
    assert pids == {f"{embedded.status(home).pid}\n"}


@pytest.mark.kill
def test_it_survives_its_starter_and_the_interrupt_of_the_terminal(home):
    program = "import sys; from pathlib import Path; from omd.programs import embedded;"
    program += "embedded.start(Path(sys.argv[1]), settings={'fsync': 'off'});"
    program += "import os, signal; os.killpg(0, signal.SIGINT); signal.pause()"
    command = [sys.executable, "-c", program, str(home)]
    starter = subprocess.run(command, check=False, start_new_session=True, stderr=subprocess.PIPE)
    assert starter.returncode != 0
    assert query(embedded.dsn(home), "SELECT 1") == 1


@pytest.mark.kill
def test_it_recovers_after_it_was_killed(home):
    found = embedded.start(home)
    with psycopg.connect(found.dsn) as conn:
        conn.execute("CREATE TABLE kept AS SELECT 1 AS i")
    os.kill(found.pid, signal.SIGKILL)
    again = embedded.start(home)
    assert again.pid != found.pid
    assert query(again.dsn, "SELECT i FROM kept") == 1


def test_a_server_that_does_not_start_says_why(home):
    embedded.start(home, settings=FAST)
    embedded.stop(home)
    with (home / "postgres/postgresql.conf").open("a") as file:
        file.write("no_such_setting = 1\n")
    with pytest.raises(embedded.EmbeddedError, match="no_such_setting"):
        embedded.start(home)


def test_the_data_folder_comes_from_the_environment_then_the_working_directory(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    platform_folder = embedded.default_home()
    assert tmp_path not in platform_folder.parents
    (tmp_path / ".omd").mkdir()
    assert embedded.default_home() == tmp_path / ".omd"
    monkeypatch.setenv("OMD_HOME", str(tmp_path / "elsewhere"))
    assert embedded.default_home() == tmp_path / "elsewhere"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_another_users_folder_in_the_working_directory_is_not_used(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".omd").mkdir()
    os.chown(tmp_path / ".omd", 65534, 65534)
    assert embedded.default_home() != tmp_path / ".omd"


@pytest.mark.parametrize("answer", [None, "n", "y"])
def test_root_is_asked_before_a_folder_is_made_for_all(tmp_path, monkeypatch, answer):
    """Where nobody can be asked, the server is in the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OMD_HOME", raising=False)
    monkeypatch.setattr(embedded, "SYSTEM_HOME", tmp_path / "var")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(
        "sys.stdin", SimpleNamespace(isatty=lambda: answer is not None, readline=lambda: "")
    )
    asked = []
    monkeypatch.setattr(click, "confirm", lambda text, **_: asked.append(text) or answer == "y")
    assert _chosen() == tmp_path / ("var" if answer == "y" else ".omd")
    assert len(asked) == (answer is not None)
    assert not asked or str(tmp_path / "var") in asked[0]
    (tmp_path / "var").mkdir()
    assert _chosen() == tmp_path / "var"


def test_the_command_starts_stops_and_opens_psql(home, omd_program):
    env = {"OMD_HOME": str(home)}
    assert omd_program("embedded", "status", env=env).returncode == 6
    down = omd_program("embedded", "psql", env=env)
    assert (down.returncode, down.stdout) == (1, "")
    assert "Hint: omd embedded start" in down.stderr

    started = omd_program("embedded", "start", "--postgres", "16", env=env)
    assert started.returncode == 0, started.stderr
    assert f"is running in {home}, where its data lie" in started.stderr
    assert f"omd embedded stop && rm -r {home}" in started.stderr
    dsn = omd_program("embedded", "dsn", env=env).stdout.strip()
    assert dsn == started.stdout.strip() == embedded.dsn(home)
    status = omd_program("embedded", "status", "--output", "csv", env=env)
    assert status.returncode == 0
    assert status.stdout.splitlines()[1].startswith("True,16,")

    query = ("-At", "-c", "SELECT current_database()")
    assert omd_program("embedded", "psql", *query, env=env).stdout == "omd\n"
    script = omd_program("embedded", "psql", "-At", env=env, input="SELECT 6 * 7;\n")
    assert script.stdout == "42\n"
    assert omd_program("embedded", "psql", "-c", "SELECT oops", env=env).returncode == 1

    assert omd_program("embedded", "stop", env=env).returncode == 0
    assert not embedded.status(home).running


def test_other_commands_use_the_running_server_when_no_database_is_named(home, omd_program):
    env = {"OMD_HOME": str(home)}
    embedded.start(home, settings=FAST)
    installed = omd_program("install", env=env)
    assert installed.returncode == 0, installed.stderr
    assert query(embedded.dsn(home), "SELECT to_regclass('omd.installed_file')") is not None
    named = omd_program("install", env={**env, "PGHOST": "/nowhere"})
    assert named.returncode == 6


@pytest.mark.parametrize("is_there", [True, False])
def test_the_lock_file_does_not_follow_links(new_home, tmp_path, is_there):
    """Root would empty, or create, what somebody else's link names."""
    home, precious = new_home(), tmp_path / "precious"
    if is_there:
        precious.write_text("kept")
    (home / "lock").symlink_to(precious)
    with pytest.raises(embedded.EmbeddedError, match=r"lock file .*lock can't be used"):
        embedded.start(home)
    assert (precious.read_text() if precious.exists() else None) == ("kept" if is_there else None)
    (home / "lock").unlink()
    os.link(precious, home / "lock") if is_there else (home / "lock").touch()
    with embedded._locked(home):
        assert (home / "lock").read_text() == ("kept" if is_there else "")
