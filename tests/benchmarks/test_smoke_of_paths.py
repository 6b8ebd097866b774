"""Each path of ``before.py`` can be taken."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

HERE = Path(__file__).parent


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
