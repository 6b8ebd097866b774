"""What each case costs in processor seconds: the lists of the folders, and how they are recorded.

A case's cost is what its call and its own set-up take of the processors: pytest, its programs, the
server's processes. ``--record-costs`` measures it, by a control group of Linux that holds all that
a worker starts, so root is needed; it is done on the machine of CI only (``.ci/run --record``),
since seconds of two machines can't be compared. Each folder has its list, ``costs.tsv``: what costs
more than LISTED, with its last three records. What cases share (a fixture of a module or of the
session) stands there by itself, as ``file@fixture``.
"""

from __future__ import annotations

import contextlib
import os
import statistics
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

TESTS = Path(__file__).parents[1]
FILE = "costs.tsv"
HEADER = "case\tseconds\trecords\n"
LISTED = 0.3  # seconds: what costs less is not listed, and quick (support.tiers)
RECORDS = 3
# What each process of tests has anyway is nobody's cost.
GIVEN = {"new_home", "server", "postgresql_server", "postgresql_noproc", "new_database"}


class Costs(NamedTuple):
    """The seconds that are listed, by case (its node ID) and by shared fixture."""

    cases: dict[str, float]
    fixtures: dict[str, float]

    def of(self, item: pytest.Item) -> float:
        return self.cases.get(item.nodeid, 0.0)

    def shared(self, item: pytest.Item) -> float:
        """Return the seconds of the dearest fixture that the case shares with others."""
        file = file_of(item.nodeid)
        names = getattr(item, "fixturenames", ())
        keys = [key for name in names for key in (f"{file}@{name}", f"@{name}")]
        return max((self.fixtures.get(key, 0.0) for key in keys), default=0.0)


def file_of(case: str) -> str:
    """Return the file of a case, whose node ID is given."""
    return case.partition("::")[0]


def read(tests: Path = TESTS) -> Costs:
    """Return what the lists of all folders say."""
    costs = Costs({}, {})
    for file in sorted(tests.glob(f"*/{FILE}")):
        for name, records in _rows(file).items():
            seconds = statistics.median(records)
            if name.startswith("@"):
                costs.fixtures[name] = seconds
            else:
                kind = costs.fixtures if "@" in file_of(name) else costs.cases
                kind[f"tests/{file.parent.name}/{name}"] = seconds
    return costs


def _rows(file: Path) -> dict[str, list[float]]:
    if not file.exists():
        return {}
    lines = file.read_text(encoding="utf-8").splitlines()[1:]
    rows = (line.split("\t") for line in lines)
    return {name: [float(record) for record in records.split()] for name, _, records in rows}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--record-costs", action="store_true", help="add what each case costs to the lists"
    )


class Group:
    """A control group that holds this process and all that it starts."""

    def __init__(self) -> None:
        name = f"omd-tests-{os.getpid()}"
        for root, usage in (("/sys/fs/cgroup/cpuacct", "cpuacct.usage"), ("/sys/fs/cgroup", "")):
            folder = Path(root) / name
            if Path(root, "cgroup.procs").exists():
                folder.mkdir()
                self._root, self._folder = Path(root), folder
                self._usage = folder / (usage or "cpu.stat")
                (folder / "cgroup.procs").write_text(str(os.getpid()))
                return
        raise OSError("there is no control group of Linux")

    def seconds(self) -> float:
        """Return the processor seconds of all that was in the group."""
        text = self._usage.read_text()
        if text.startswith("usage_usec"):
            return int(text.split()[1]) / 1e6
        return int(text) / 1e9

    def leave(self) -> None:
        (self._root / "cgroup.procs").write_text(str(os.getpid()))
        with contextlib.suppress(OSError):  # a server of this process may be there yet
            self._folder.rmdir()


class Recorder:
    """Measures the cases of this process; its report takes the seconds to the controller."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self._collected: list[str] = []
        self._shared = 0.0  # seconds of fixtures that other cases use too
        self._inside = False

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Iterator[None]:
        if self._inside or fixturedef.scope == "function":
            return (yield)
        self._inside = True
        began = self.group.seconds()
        try:
            return (yield)
        finally:
            self._inside = False
            took = self.group.seconds() - began
            self._shared += took
            if fixturedef.argname not in GIVEN:
                case = request._pyfuncitem.nodeid
                file = "" if fixturedef.scope == "session" else file_of(case)
                request.config.stash[FIXTURES].append((f"{file}@{fixturedef.argname}", took))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        item.config.stash[FIXTURES] = []
        self._shared, began = 0.0, self.group.seconds()
        try:
            return (yield)
        finally:
            self._set_up = self.group.seconds() - began - self._shared

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        self._shared, began = 0.0, self.group.seconds()
        try:
            return (yield)
        finally:
            took = self._set_up + self.group.seconds() - began - self._shared
            item.user_properties.append(("cost", round(took, 2)))
            item.user_properties.append(
                ("costs of fixtures", [(n, round(s, 2)) for n, s in item.config.stash[FIXTURES]])
            )

    @pytest.hookimpl(tryfirst=True)  # before some are left out
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self._collected = [item.nodeid for item in items]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if (output := getattr(session.config, "workeroutput", None)) is not None:
            output["collected"] = self._collected

    def pytest_unconfigure(self) -> None:
        self.group.leave()


FIXTURES = pytest.StashKey[list[tuple[str, float]]]()


class Book:
    """Gets the seconds of all workers, and writes the lists at the end."""

    def __init__(self) -> None:
        self.measured: dict[str, float] = {}
        self.collected: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        told = dict(report.user_properties)
        if report.when == "call" and report.passed and "cost" in told:
            self.measured[report.nodeid] = float(told["cost"])
            folder = report.nodeid.split("/")[1]
            for name, seconds in told["costs of fixtures"]:
                key = name if not name.startswith("@") else f"tests/{folder}/{name}"
                self.measured[key] = float(seconds)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        self.collected.update(getattr(node, "workeroutput", {}).get("collected", ()))

    @pytest.hookimpl(tryfirst=True)  # before some are left out
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.collected.update(item.nodeid for item in items)

    def pytest_unconfigure(self) -> None:
        write(self.measured, self.collected)


def write(measured: dict[str, float], collected: Iterable[str], tests: Path = TESTS) -> None:
    """Add records to the lists, and take out what is cheap or gone."""
    cases = set(collected)
    files = {file_of(case) for case in cases}
    folders: dict[Path, dict[str, float]] = defaultdict(dict)
    for name, seconds in measured.items():
        _, folder, rest = name.split("/", 2)
        folders[tests / folder][rest] = seconds
    for folder, found in folders.items():
        rows = _rows(folder / FILE)
        for name, seconds in found.items():
            if name in rows or seconds > LISTED:
                rows[name] = [*rows.get(name, ()), seconds][-RECORDS:]
        prefix = f"tests/{folder.name}/"
        kept = {
            name: records
            for name, records in rows.items()
            if statistics.median(records) >= LISTED  # as it was rounded
            and ("::" not in name or prefix + name in cases or prefix + file_of(name) not in files)
        }
        if kept or (folder / FILE).exists():
            (folder / FILE).write_text(
                HEADER
                + "".join(
                    f"{name}\t{statistics.median(records):.1f}\t"
                    f"{' '.join(f'{record:.1f}' for record in records)}\n"
                    for name, records in sorted(kept.items())
                ),
                encoding="utf-8",
            )


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--record-costs"):
        return
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Book())
    if not config.getoption("numprocesses", None) or hasattr(config, "workerinput"):
        try:
            group = Group()
        except OSError as error:
            raise pytest.UsageError(
                f"Costs can be recorded by root of Linux only: {error}"
            ) from error
        config.pluginmanager.register(Recorder(group))
