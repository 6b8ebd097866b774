"""The tier of each case, which follows from its cost: one of three marks.

quick     what ``make test`` runs: no Java, no browser, no tool of others, nothing whose cost is
          listed (support.costs).
landing   what ``.ci/run`` runs each time beside it: what costs at most 2 seconds, the data path,
          the browser, the tools, one demo and one tutorial, and what holds an upper bound on wall
          time (mark alone).
rotation  what is dearer, and holds that the parts fit: the other demos and tutorials, several
          servers, kills. ``.ci/run`` runs a third of it each time (support.rotation).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from support import costs

if TYPE_CHECKING:
    from support.costs import Costs

# Processor seconds.
LANDING = 2.0  # of a case
SHARED = 5.0  # of a fixture that cases share
LARGE_LANDING = 5.0  # of a case that needs a JVM, a browser or a tool
ELSEWHERE = {"spark", "browser", "tools"}
# These hold that the parts fit; of the demos and tutorials two are played at each landing.
FITTING = ("tests/benchmarks/", "tests/demo/", "tests/faults/", "tests/servers/")
PLAYED = ("tests/demo/test_demo.py", "README.md")
TIERS = ("quick", "landing", "rotation")


def tier(item: pytest.Item, known: Costs) -> str:
    """Return the mark of a case."""
    marks = {mark.name for mark in item.iter_markers()}
    if "alone" in marks:
        return "landing"
    if any(name in item.nodeid for name in PLAYED):
        return "landing" if marks & ELSEWHERE else "quick"
    if item.nodeid.startswith(FITTING):
        return "rotation"
    if marks.isdisjoint(ELSEWHERE):
        cost = known.of(item)
        if cost > LANDING or known.shared(item) > SHARED:
            return "rotation"
        return "landing" if cost else "quick"
    always = item.nodeid.startswith("tests/spark/") or "spark" not in marks
    return "landing" if always and known.of(item) <= LARGE_LANDING else "rotation"


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    known = costs.read()
    for item in items:
        item.add_marker(tier(item, known))
    config.stash[FOUND] = Counter(
        name for item in items for name in TIERS if item.get_closest_marker(name)
    )


FOUND = pytest.StashKey[Counter[str]]()


class LastLine:
    """Says at the very end what was run, what was left out, and how that is run."""

    def __init__(self) -> None:
        self.found: Counter[str] = Counter()
        self.ran: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.ran.add(report.nodeid)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.found = session.config.stash.get(FOUND, self.found)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        told = getattr(node, "workeroutput", {}).get("tiers")
        self.found = Counter(told) if told else self.found

    def pytest_unconfigure(self) -> None:
        left = self.found["landing"] + self.found["rotation"]
        print(
            f"make test: {len(self.ran):,} quick cases ran; {left:,} were left out (Spark, browser,"
            f" tools of others, above {costs.LISTED:g} processor seconds). All: make test-all ALL=1"
        )


def pytest_sessionfinish(session: pytest.Session) -> None:
    if (output := getattr(session.config, "workeroutput", None)) is not None:
        output["tiers"] = dict(session.config.stash.get(FOUND, {}))


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("markexpr") == "quick" and not hasattr(config, "workerinput"):
        config.pluginmanager.register(LastLine())
