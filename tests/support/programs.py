"""The programs of a user: omd, psql and pg_dump."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from omd import embedded
from omd.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Callable


BIN = embedded.binaries()  # the newest clients work with every older server


@pytest.fixture(scope="session")
def omd_command() -> Callable[..., subprocess.CompletedProcess[str]]:
    """A function that runs the command ``omd`` in a process of its own."""
    program = Path(sys.executable).with_name("omd")

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
            [program, *arguments],
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
def dump() -> Callable[[str], str]:
    """A function that returns all contents of a database, with grants and reference rows."""

    def run(dsn: str) -> str:
        done = subprocess.run(
            [
                BIN / "pg_dump",
                "--exclude-table-data=omd.installed_file",
                "--exclude-table-data=omd.installation",
                "--inserts",
                dsn,
            ],
            check=True,
            capture_output=True,
            text=True,
        )
        # Comments hold versions, \restrict has a new key each time, conflicts use sequence values.
        noise = ("--", "\\restrict", "\\unrestrict", "SELECT pg_catalog.setval(")
        lines = [
            line
            for line in done.stdout.splitlines()
            # Minor releases of 2026 count the versions of columns, which a dump of 18.4 shows.
            if line and not line.startswith(noise) and "SET (pg_attver=" not in line
        ]
        # Rows have no order, and a second upsert moves them.
        rows = sorted(line for line in lines if line.startswith("INSERT"))
        return "\n".join([line for line in lines if not line.startswith("INSERT")] + rows)

    return run
