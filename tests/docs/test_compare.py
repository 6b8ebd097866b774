"""The figures of docs/compare.md are those of the files of results that it names."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What keeps and shows the results."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("bench.results")


def shown(results: Any) -> str:
    page: str = results.PAGE.read_text(encoding="utf-8")
    return page.partition(results.MARKS[0])[2].partition(results.MARKS[1])[0]


def test_the_page_shows_the_files_of_results(results: Any) -> None:
    text = results.PAGE.read_text(encoding="utf-8")
    assert [text.count(mark) for mark in results.MARKS] == [1, 1]
    assert shown(results) == results.section()


def test_each_result_says_when_of_what_and_how_long(results: Any) -> None:
    for file in results.RESULTS.glob("*.tsv"):
        rows = results.read(file.stem)
        assert file.stem in results.SHOWN
        assert all(row[field] for row in rows for field in results.FIELDS), file
        assert {row["side"] for row in rows} > {"omd"}


def test_what_is_saved_is_what_the_page_shows(
    results: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(results, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(results, "PAGE", tmp_path / "compare.md")
    results.PAGE.write_text(f"before\n{''.join(results.MARKS)}\nafter\n", encoding="utf-8")
    assert results.section() == ""
    figures = {"lost": 0, "doubled": 0, "step": 12.5}
    sides = {"omd": figures, "dbt, plain": figures | {"lost": 1234, "step": 901.7}}
    versions = {"omd": "OMD 1.0.0", "dbt, plain": "dbt-core 1.9.11, plain,"}
    results.save("increments", "60 s a side", versions, sides)
    page = results.PAGE.read_text(encoding="utf-8")
    assert page.startswith("before\n<!--")
    assert page.endswith("-->\nafter\n")
    assert "| 0 | dbt-core 1.9.11, plain, 1,234 | [increments.tsv]" in page
    assert "| 12.5 | dbt-core 1.9.11, plain, 902 |" in page
    assert shown(results) == results.section()
    file = tmp_path / "results" / "increments.tsv"
    file.write_text(file.read_text(encoding="utf-8").replace("1234", "1235"), encoding="utf-8")
    assert shown(results) != results.section()
