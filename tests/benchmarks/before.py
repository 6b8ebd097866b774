"""The paths of tests/benchmarks/paths on this revision, beside an earlier one.

Each side has processes of its own with the driver and the procedures of its revision, and for each
path a new database on one server. The two are taken in turns; the figure is the median of the
ratios of all rounds, this revision to the earlier one. What seems slower than 1.05 is taken three
times as long. At the end it says what is slower; that is no error, since one launch differs from
the next by some hundredths: start it again with ``--only``.

Run: ``python tests/benchmarks/before.py [REVISION] [--short] [--only begin …] [--dsn …]``. The
revision is by default the last release, and before the first one the commit before the last
landing. ``--short`` takes a tenth of the rows, five rounds, and leaves out what needs Java.
Without a DSN it starts a server of its own that waits for no disk, and removes it.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bench import paths
from bench.server import a_server, copy_database

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LIMIT = 1.05
WARM = 2


class BrokenSideError(Exception):
    """A side can't take the path."""


def git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True)
    return done.stdout.strip()


def last_release() -> str:
    """Return the newest tag of a release that comes before this commit; if none, its parent."""
    return git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*") or git(
        "rev-parse", "--verify", "--short", "HEAD^"
    )


@contextmanager
def checkout(revision: str) -> Iterator[Path]:
    """Yield a folder with the files of a revision."""
    with tempfile.TemporaryDirectory(prefix="omd-before-") as folder:
        command = ["git", "-C", str(ROOT), "archive", revision]
        archive = subprocess.run(command, check=True, stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        # The installation asks for its version under the name that its distribution had then.
        text = Path(folder, "pyproject.toml").read_text(encoding="utf-8")
        project = re.search(r'^name = "(.+)"', text, re.MULTILINE)
        assert project is not None
        metadata = Path(folder, f"driver/{project[1]}-0.dist-info/METADATA")
        metadata.parent.mkdir()
        metadata.write_text(f"Metadata-Version: 2.1\nName: {project[1]}\nVersion: 0\n")
        yield Path(folder)


class Side:
    """A revision, and the path that it has prepared."""

    def __init__(self, root: Path, server: str, name: str) -> None:
        self._server, self._name = server, name
        folders = os.pathsep.join([str(root / "driver"), str(HERE)])
        self._environment = {**os.environ, "PYTHONPATH": folders}
        install = "import sys; from bench.server import new_database; new_database(*sys.argv[1:])"
        command = [sys.executable, "-c", install, server, f"{name}_new"]
        subprocess.run(command, env=self._environment, check=True)

    @contextmanager
    def prepared(self, path: str, size: float) -> Iterator[None]:
        """Start a process for a path; it prepares meanwhile."""
        dsn = copy_database(self._server, self._name, f"{self._name}_new")
        command = [sys.executable, "-m", "bench.side", path, str(size), dsn]
        with tempfile.TemporaryFile("w+") as self._told:
            self._process = subprocess.Popen(
                command,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._told,
                text=True,
            )
            try:
                yield
            finally:
                with suppress(BrokenPipeError):
                    self._process.communicate()

    def answer(self) -> str:
        """Wait for the answer of the process."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        if not line:
            self._process.wait()
            self._told.seek(0)
            last = [text for text in self._told.read().splitlines() if text.strip()][-1:]
            raise BrokenSideError(f"{self._name}: {' '.join(last)}")
        return line

    def take(self, calls: int) -> float:
        """Take the path so many times; return the seconds."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # the answer tells why
            print(calls, file=self._process.stdin, flush=True)
        return float(self.answer())


def measure(sides: list[Side], path: paths.Route, rounds: int, size: float) -> float:
    """Take a path on both sides, print the figures and return the ratio."""
    now, earlier = sides
    with now.prepared(path.name, size), earlier.prepared(path.name, size):
        for side in sides:
            side.answer()
        taken: dict[Side, list[float]] = {now: [], earlier: []}
        ratio, wanted = 0.0, rounds
        for n in range(WARM + 3 * rounds):
            for side in sides if n % 2 else reversed(sides):
                taken[side].append(side.take(path.calls) / path.calls)
            if n + 1 < WARM + wanted:
                continue
            ratios = [a / b for a, b in zip(taken[now][WARM:], taken[earlier][WARM:], strict=True)]
            ratio = statistics.median(ratios)
            if ratio <= LIMIT:
                break
            wanted = 3 * rounds
    low, _, high = statistics.quantiles(ratios, n=4, method="inclusive")
    after, before = (1e3 * statistics.median(taken[side][WARM:]) for side in sides)
    print(
        f"{path.name:16} {after:9.2f} ms, before {before:9.2f} ms, ratio {ratio:.2f}"
        f" ({low:.2f} to {high:.2f})  {path.title}",
        flush=True,
    )
    return ratio


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("revision", nargs="?", default=last_release())
    parser.add_argument("--dsn", help="a server, as a superuser; the default is one of its own")
    parser.add_argument("--only", nargs="+", choices=paths.NAMES, default=paths.NAMES)
    parser.add_argument("--short", action="store_true", help="some minutes")
    parser.add_argument("--size", type=float, default=1, help="the part of the rows of each path")
    parser.add_argument("--rounds", type=int, help="the rounds of each path")
    given = parser.parse_args()
    if not given.revision:
        print("There is no earlier revision here, so nothing was compared.")
        return
    if given.short:
        given.size, given.rounds = min(given.size, 0.1), given.rounds or 5
    slower, left_out = {}, {}
    with checkout(given.revision) as root, a_server(given.dsn, is_durable=False) as server:
        sides = [Side(ROOT, server, "now"), Side(root, server, "earlier")]
        for path in map(paths.load, given.only):
            if lacking := path.lacks() or (given.short and path.needs):
                left_out[path.name] = f"it needs {lacking}"
                continue
            try:
                ratio = measure(sides, path, given.rounds or path.rounds, given.size)
            except BrokenSideError as error:
                left_out[path.name] = str(error)
                continue
            if ratio > LIMIT:
                slower[path.name] = f"{ratio:.2f}"
    for name, why in left_out.items():
        print(f"left out: {name}, {why}")
    told = ", ".join(f"{name} {ratio}" for name, ratio in slower.items()) or "nothing"
    print(f"slower than {LIMIT} of {given.revision}: {told}")


if __name__ == "__main__":
    main()
