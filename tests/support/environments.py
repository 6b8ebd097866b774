"""The tools of others, each run by the Python of its own environment (`make environments`).

A test that uses one has the mark `tools`. Without its environment it fails.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OFFLINE = {
    "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
    "DAGSTER_DISABLE_TELEMETRY": "yes",
    "DBT_SEND_ANONYMOUS_USAGE_STATS": "False",
}


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not {"airflow_environment", "tools_environment"}.isdisjoint(
            getattr(item, "fixturenames", ())
        ):
            item.add_marker("tools")


@dataclass(frozen=True)
class Environment:
    """A virtual environment, and the settings that its programs get."""

    folder: Path
    home: Path  # of the programs: they keep settings and logs there

    def start(
        self,
        program: str,
        *arguments: str | Path,
        env: dict[str, str] | None = None,
        cwd: Path | None = None,
        stdin: int | None = None,
    ) -> subprocess.Popen[str]:
        """Start a program of the environment: `python`, `dbt`, `datacontract` …"""
        given = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        path = f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return subprocess.Popen(
            [self.folder / "bin" / program, *arguments],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=cwd or self.home,
            env={**given, **OFFLINE, "HOME": str(self.home), "PATH": path, **(env or {})},
        )

    def run(
        self,
        program: str,
        *arguments: str | Path,
        env: dict[str, str] | None = None,
        cwd: Path | None = None,
        input: str | None = None,
        check: bool = True,
        timeout: float = 120,
    ) -> subprocess.CompletedProcess[str]:
        """Run a program to its end. One that fails fails the test, which shows what it printed."""
        stdin = subprocess.DEVNULL if input is None else subprocess.PIPE
        with self.start(program, *arguments, env=env, cwd=cwd, stdin=stdin) as process:
            try:
                stdout, stderr = process.communicate(input, timeout=timeout)
            except subprocess.TimeoutExpired:
                process.terminate()
                stdout, stderr = process.communicate()
                pytest.fail(f"{program} did not end in {timeout} s:\n{stdout}\n{stderr}")
        if check and process.returncode:
            pytest.fail(f"{program} ended with {process.returncode}:\n{stdout}\n{stderr}")
        return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)


def _environment(name: str, home: Path) -> Environment:
    lock = ROOT / "tests" / "environments" / f"{name}.txt"
    installed = ROOT / ".environments" / name / ".installed"
    if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
        pytest.fail(f"{installed.parent} is not there, or older than {lock}: make environments")
    return Environment(installed.parent, home)


@pytest.fixture(scope="session")
def airflow_environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Airflow, with OMD as its provider."""
    return _environment("airflow", tmp_path_factory.mktemp("airflow"))


@pytest.fixture(scope="session")
def tools_environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Dagster, dbt, data contracts, and the judges of what OMD says to the outside."""
    return _environment("tools", tmp_path_factory.mktemp("tools"))
