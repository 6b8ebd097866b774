"""The benchmarks as cases of tests: each is run at its smallest size."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parents[1] / "benchmarks"


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


def cases(*, of_peers: bool) -> Iterator[Any]:
    for name, benchmark in run.BENCHMARKS.items():
        if name in ELSEWHERE or name.startswith("peers/") != of_peers:
            continue
        marks = []
        if "java" in benchmark.needs or name == "before":
            marks.append(pytest.mark.spark)
        if name.startswith("peers/"):
            marks.append(pytest.mark.tools)
        yield pytest.param(name, marks=marks, id=name)


def play(name: str, server: str) -> None:
    """Run a benchmark at its smallest size."""
    if lacking := run.BENCHMARKS[name].lacks():
        pytest.skip(f"there is no {', '.join(lacking)}")
    command = run.command(name, "smallest", server)
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
