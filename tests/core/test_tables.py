"""A table for people is as wide as their terminal, and nothing of it is ever cut."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

from omd.programs.terminal import tables
from support.terminal import shown

LONG = " ".join(f"word{n}" for n in range(60))
IDS = list(range(100, 140))
ROWS: list[dict[str, Any]] = [
    {"code": "m_orders", "ids": IDS, "problem": LONG, "n": 7},
    {"code": "m", "ids": [1], "problem": None, "n": 12345},
]


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    tables.show_table(ROWS, list(ROWS[0]))
    return capsys.readouterr().out


def in_terminal(columns: int) -> str:
    """Return what a terminal of so many columns shows."""
    program = (
        f"from omd.programs.terminal import tables; tables.show_table({ROWS!r}, {list(ROWS[0])!r})"
    )
    return shown([sys.executable, "-c", program], columns, os.environ)


def test_in_a_pipe_nothing_is_cut_or_wrapped(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys).splitlines()
    assert len(lines) == 4
    assert LONG in lines[2]
    assert ", ".join(map(str, IDS)) in lines[2]
    assert "…" not in "".join(lines)


@pytest.mark.parametrize("columns", [60, 80, 140, 250])
def test_in_a_terminal_texts_are_wrapped_to_its_width(columns: int) -> None:
    told = in_terminal(columns)
    lines = told.splitlines()
    assert max(map(len, lines)) <= columns
    assert max(map(len, lines)) > columns - 10
    words = told.split()
    assert [word for word in LONG.split() if word not in words] == []
    assert [n for n in IDS if f"{n}," not in words and str(n) not in words] == []
    assert "…" not in told


def test_the_last_text_is_wrapped_before_others() -> None:
    lines = in_terminal(250).splitlines()
    assert ", ".join(map(str, IDS)) in lines[2]
    assert len(lines) > 4


def test_what_fits_is_shown_in_lines_of_its_own() -> None:
    assert LONG in in_terminal(1000).splitlines()[2]
