"""Each benchmark ends without an error at its smallest size, and none is forgotten."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

HERE = Path(__file__).parent


def loaded(name: str) -> Any:
    """Return a script as a module; its folder is not on the path of the tests."""
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


run = loaded("run")
# This one has a test that looks at its figures: tests/core/test_scale.py.
ELSEWHERE = {"scale"}


def cases() -> Iterator[Any]:
    for name, benchmark in run.BENCHMARKS.items():
        if name in ELSEWHERE:
            continue
        marks = []
        if "java" in benchmark.needs or name == "before":
            marks.append(pytest.mark.spark)
        if name.startswith("peers/"):
            marks.append(pytest.mark.tools)
        yield pytest.param(name, marks=marks, id=name)


@pytest.mark.parametrize("name", list(cases()))
def test_it_ends_without_an_error(name: str, server: str) -> None:
    if lacking := run.BENCHMARKS[name].lacks():
        pytest.skip(f"there is no {', '.join(lacking)}")
    command = run.command(name, "smallest", server)
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(file.stem, marks=pytest.mark.spark if "java" in file.read_text() else ())
        for file in sorted((HERE / "paths").glob("[a-z]*.py"))
    ],
)
def test_a_path_is_taken(
    path: str, new_database: Callable[[], AbstractContextManager[str]]
) -> None:
    with new_database() as dsn:
        done = subprocess.run(
            [sys.executable, "-m", "bench.side", path, "0.005", dsn],
            input="1\n2\n",
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, "PYTHONPATH": str(HERE)},
        )
    assert done.returncode == 0, done.stderr[-4000:]
    ready, *taken = done.stdout.splitlines()
    assert ready == "ready"
    assert len(taken) == 2
    assert all(float(seconds) > 0 for seconds in taken)


def test_every_script_is_run() -> None:
    scripts = {
        file.relative_to(HERE).with_suffix("").as_posix()
        for file in [*HERE.glob("[a-z]*.py"), *(HERE / "peers").glob("[a-z]*.py")]
    }
    assert scripts - {"run", "test_smoke"} == set(run.BENCHMARKS)
