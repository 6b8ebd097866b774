"""The programs of a user: omd, psql and pg_dump."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from omd.programs import embedded
from omd.programs.cli.main import main
from support import forked, orphans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


BIN = embedded.binaries()  # the newest clients work with every older server
OMD = Path(sys.executable).with_name("omd")


class Forked:
    """A program omd that costs a tenth of the real one to start (support.forked).

    Attributes:
        program: it.
    """

    def __init__(self, environment: Mapping[str, str], told: int = subprocess.DEVNULL) -> None:
        folder = Path(tempfile.mkdtemp(prefix="omd-forked-"))
        orphans.end_with_us(folder)
        self.program = folder / "omd"
        text, _, _ = Path(forked.__file__).read_text(encoding="utf-8").partition("\n# The server")
        text = f"#!{sys.executable} -IS\n{text}\ncall({str(folder)!r}, {str(OMD)!r})\n"
        self.program.write_text(text, encoding="utf-8")
        self.program.chmod(0o755)
        self._server = subprocess.Popen(
            [sys.executable, forked.__file__, folder, OMD],
            env=dict(environment),
            stdin=subprocess.PIPE,  # it ends when this is closed
            stdout=subprocess.DEVNULL,
            stderr=told,
            start_new_session=True,
        )
        while not (folder / "socket").exists():
            assert self._server.poll() is None, "omd can't be imported"
            time.sleep(0.01)

    def close(self) -> bytes | None:
        """End it, and return what the server has told."""
        _, told = self._server.communicate()
        shutil.rmtree(self.program.parent)
        return told


@pytest.fixture(scope="session")
def forked_omd() -> Iterator[Callable[[Mapping[str, str]], Path]]:
    """A function that returns a program omd whose start costs little, for such an environment."""
    with contextlib.ExitStack() as stack:
        known: dict[frozenset[tuple[str, str]], Path] = {}

        def program(environment: Mapping[str, str]) -> Path:
            key = frozenset(forked.at_start(environment).items())
            if key not in known:
                new = Forked(environment)
                stack.callback(new.close)
                known[key] = new.program
            return known[key]

        yield program


@pytest.fixture(scope="session")
def omd_command(
    forked_omd: Callable[[Mapping[str, str]], Path],
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """A function that runs the command ``omd`` in a process of its own, which is forked."""
    return _runner(forked_omd)


@pytest.fixture(scope="session")
def omd_program() -> Callable[..., subprocess.CompletedProcess[str]]:
    """The same, started as a user does."""
    return _runner(lambda _: OMD)


def _runner(
    program: Callable[[Mapping[str, str]], Path],
) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(
        *arguments: str,
        dsn: str | None = None,
        env: dict[str, str] | None = None,
        input: str | None = None,
        timeout: float = 300,
    ) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, **(env or {})}
        if dsn:
            environment["OMD_DSN"] = dsn
        return subprocess.run(
            [program(os.environ), *arguments],
            check=False,
            capture_output=True,
            text=True,
            env=environment,
            input=input,
            timeout=timeout,
        )

    return run


@pytest.fixture(scope="session")
def omd_here() -> Callable[..., subprocess.CompletedProcess[str]]:
    """The same in this process: it costs a tenth, and shows the same to a test of what is told."""

    def run(
        *arguments: str, dsn: str | None = None, input: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        environment = {"OMD_DSN": dsn} if dsn else None
        with CliRunner().isolation(input, environment) as (stdout, stderr, _):
            with pytest.raises(SystemExit) as end:
                main(arguments)
            sys.stdout.flush()
            told = [stream.getvalue().decode() for stream in (stdout, stderr)]
        return subprocess.CompletedProcess(arguments, end.value.code, *told)

    return run


@pytest.fixture(scope="session")
def psql() -> Callable[..., subprocess.CompletedProcess[str]]:
    """A function that runs a file with psql."""

    def run(dsn: str, file: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [BIN / "psql", "--no-psqlrc", "--quiet", "-f", file, dsn],
            check=False,
            capture_output=True,
            text=True,
        )

    return run


@pytest.fixture(scope="session")
def dump() -> Callable[..., str]:
    """A function that returns all contents of a database, with grants and reference rows."""

    def run(dsn: str, *options: str) -> str:
        done = subprocess.run(
            [
                BIN / "pg_dump",
                "--exclude-table-data=omd.installed_file",
                "--exclude-table-data=omd.installation",
                "--exclude-table-data=omd.upgrade_step",  # when its steps were made
                "--exclude-schema=user_code",  # what tests lay beside OMD (support.user_code)
                "--inserts",
                *options,
                dsn,
            ],
            check=True,
            capture_output=True,
            text=True,
        )
        told = re.sub(r"(?m)^\w+ EVENT TRIGGER user_code [^;]*;$", "", done.stdout)
        # Comments hold versions, \restrict has a new key each time, conflicts use sequence values.
        noise = ("--", "\\restrict", "\\unrestrict", "SELECT pg_catalog.setval(")
        lines = [
            line
            for line in told.splitlines()
            # Minor releases of 2026 count the versions of columns, which a dump of 18.4 shows.
            if line and not line.startswith(noise) and "SET (pg_attver=" not in line
        ]
        # Rows have no order, and a second upsert moves them.
        rows = sorted(line for line in lines if line.startswith("INSERT"))
        return "\n".join([line for line in lines if not line.startswith("INSERT")] + rows)

    return run
