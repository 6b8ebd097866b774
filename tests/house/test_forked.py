"""The program omd of the tests, which is forked, does what the real one does."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from support.programs import OMD, Forked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    Program = Callable[[Mapping[str, str]], Path]

TIMES = "PYTHONPROFILEIMPORTTIME"


def imported(told: str | bytes) -> set[str]:
    text = told if isinstance(told, str) else told.decode()
    return set(re.findall(r"^import time:.*\| +(\S+)$", text, re.MULTILINE)) - {"package"}


def test_its_server_has_imported_what_omd_imports() -> None:
    """And the packages that OMD requires, but no other module of OMD."""
    environment = {**os.environ, TIMES: "1"}

    def told(*command: str | Path) -> str:
        return subprocess.run(
            command, env=environment, check=True, capture_output=True, text=True
        ).stderr

    forked = Forked(environment, subprocess.PIPE)
    try:
        called = imported(told(forked.program, "--version"))
    finally:
        server = imported(forked.close() or b"")
    real = imported(told(OMD, "--version"))
    required = imported(told(sys.executable, "-c", "import msgspec, psycopg, yaml"))
    own = {"marshal", "_signal", "_socket", "select"}  # of the server, all in C
    assert "omd.programs.cli.main" in server
    assert server | called | own == real | required | own
    assert len(called) < 5


@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["no-such-command"],
        ["embedded", "status", "--output", "json"],
        ["embedded", "dsn"],
        ["status", "--dsn", "host=/nowhere"],
    ],
)
def test_it_has_arguments_environment_streams_folder_and_exit_code(
    forked_omd: Program, tmp_path: Path, arguments: list[str]
) -> None:
    environment = {**os.environ, "OMD_HOME": "here", "COLUMNS": "60"}
    (tmp_path / "here").mkdir()
    real, forked = (
        subprocess.run(
            [program, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )
        for program in (OMD, forked_omd(os.environ))
    )
    assert (forked.returncode, forked.stdout, forked.stderr) == (
        real.returncode,
        real.stdout,
        real.stderr,
    )


def test_what_python_reads_at_its_start_calls_the_real_one(forked_omd: Program) -> None:
    program = forked_omd(os.environ)
    done = subprocess.run(
        [program, "--version"], env={**os.environ, TIMES: "1"}, capture_output=True, text=True
    )
    assert "omd.programs.cli.main" in imported(done.stderr)


@pytest.mark.kill
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_signals_go_to_the_fork_and_it_dies_with_its_caller(
    forked_omd: Program, dsn: str, number: signal.Signals
) -> None:
    codes = []
    for program in (OMD, forked_omd(os.environ)):
        command = [program, "worker", "--dsn", dsn]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr
            process.stderr.readline()  # it works
            process.send_signal(number)
            process.stderr.read()  # of the fork too
            codes.append(process.wait())
    assert codes[0] == codes[1]
