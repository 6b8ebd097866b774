"""What a run of tests leaves for the records: ``--results FILE`` adds a line of JSON per file.

It has the file, the seconds that its cases took (of the processors, where costs are recorded), and
of each case that failed its name and the first line of the error. ``tools/record.py`` makes the
rows of ``rotation.tsv`` and ``flaky.tsv`` of it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from support.costs import file_of


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--results", type=Path, help="add seconds and failures of each file to a file")


class Results:
    """Gathers the reports of all workers."""

    def __init__(self, file: Path, config: pytest.Config) -> None:
        self.file = file
        self.config = config
        self.seconds: dict[str, float] = defaultdict(float)
        self.failed: dict[str, dict[str, str]] = defaultdict(dict)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file = file_of(report.nodeid)
        self.seconds[file] += seconds(report, self.config)
        if report.failed:
            line = first_line(report.longrepr)
            self.failed[file].setdefault(report.nodeid, line)
            # The summary is not there yet when a run is cut.
            if terminal := self.config.pluginmanager.get_plugin("terminalreporter"):
                terminal.write(f"\nfailed: {report.nodeid}: {line}\n", flush=True)

    def pytest_sessionfinish(self) -> None:
        with self.file.open("a", encoding="utf-8") as out:
            for file, seconds in sorted(self.seconds.items()):
                told = {"file": file, "seconds": round(seconds), "failed": self.failed[file]}
                out.write(json.dumps(told) + "\n")


def seconds(report: pytest.TestReport, config: pytest.Config) -> float:
    """Return what a step of a case took of the processors, if that is recorded, or by the clock."""
    if not config.getoption("--record-costs"):
        return report.duration
    told = dict(report.user_properties) if report.when == "call" else {}
    return float(told.get("cost", 0.0)) + sum(s for _, s in told.get("costs of fixtures", ()))


def first_line(error: Any) -> str:
    """Return the first line of what a failed case says."""
    crash = getattr(error, "reprcrash", None)
    text = crash.message if crash else str(error)
    return " ".join(text.strip().splitlines()[0].split())[:200] if text.strip() else ""


def pytest_configure(config: pytest.Config) -> None:
    file = config.getoption("--results")
    if file and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Results(file, config))
