"""The costs that the documents name are those that the work has, but that of a lake commit."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def costs(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The benchmark as a module."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("costs")


def test_the_bytes_of_two_thousand_are_those_of_the_page(costs: Any, dsn: str) -> None:
    page = costs.written(costs.PAGE.read_text(encoding="utf-8"))
    assert {work.name for work in costs.WORKS} | {costs.LAKE} == set(page)
    found = costs.measure_all(dsn)
    wrong = {
        name: (page[name], round(cost.size))
        for name, cost in found.items()
        if not 0.85 <= cost.size / page[name] <= 1.15
    }
    assert wrong == {}
    assert found["a run of a Module"].answers == 2
