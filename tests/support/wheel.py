"""The wheel, a clean environment with it as a user gets it, and the demo played from there."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

CHECKOUT = Path(__file__).resolve().parents[2]


def run(*command: str | Path, cwd: Path, **env: str) -> str:
    """Run a command outside of the checkout; return what it prints."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        command,
        check=False,
        cwd=cwd,
        env={**environment, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, CHECKOUT, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="session")
def wheel_environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel and what it requires."""
    folder = tmp_path_factory.mktemp("clean") / "venv"
    venv.create(folder, with_pip=True)
    run(folder / "bin/pip", "install", "-q", wheel, cwd=folder)
    return folder


@pytest.fixture(scope="session")
def demo_from_wheel(
    wheel_environment: Path, new_database: Callable[[], AbstractContextManager[str]]
) -> Iterator[tuple[str, str]]:
    """A database in which the demo was played from the wheel, and its output."""
    # Spark and the data come from this environment: they are large, and the test is not about them.
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    lent = wheel_environment / "lib" / version / "site-packages" / "lent.pth"
    lent.write_text(sysconfig.get_path("purelib"))
    with new_database() as dsn:
        omd = wheel_environment / "bin/omd"
        yield dsn, run(omd, "demo", "--quick", cwd=wheel_environment, OMD_DSN=dsn)
