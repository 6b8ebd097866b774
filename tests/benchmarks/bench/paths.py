"""The paths of tests/benchmarks/paths, found by name.

A path is a module: its first line says what is measured, ``prepare(conn, size)`` makes what it
needs in a database where OMD has just been installed and returns a `Take`, ``CALLS`` says how many
calls are a round, ``ROUNDS`` how many rounds count, and ``NEEDS`` what a machine must have.
"""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.turns import Connection, Take

FOLDER = Path(__file__).parents[1] / "paths"
NAMES = sorted(file.stem for file in FOLDER.glob("[a-z]*.py"))


@dataclass(frozen=True)
class Route:
    """A path that is ready to be prepared."""

    name: str
    title: str
    prepare: Callable[..., Take]
    calls: int
    rounds: int
    needs: str | None

    def lacks(self) -> str | None:
        """Return what this machine lacks."""
        return None if self.needs is None or shutil.which(self.needs) else self.needs


def load(name: str) -> Route:
    """Return a path by its name."""
    module = importlib.import_module(f"paths.{name}")
    return Route(
        name,
        (module.__doc__ or "").strip().partition("\n")[0],
        module.prepare,
        getattr(module, "CALLS", 1),
        getattr(module, "ROUNDS", 20),
        getattr(module, "NEEDS", None),
    )


def prepare(name: str, conn: Connection, size: float = 1) -> Take:
    """Prepare a path in a database."""
    return load(name).prepare(conn, size)
