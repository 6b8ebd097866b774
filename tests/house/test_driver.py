"""The driver proper: what calls the procedures around a job (architecture.md lists it by file)."""

from __future__ import annotations

import re
from pathlib import Path

from support.imports import MODULES, PACKAGE, arrows

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "architecture.md"
FIRST = {"omd.rooms.control.blocks", "omd.rooms.control.run"}
DOOR = {"omd.doors.control", "omd.doors.performing"}
GENERATED = {
    "omd._core.error_codes",
    *(f"omd.rooms.control.{name}" for name in ("calls", "rows")),
}
LINES = 6649  # of which 4,364 are code; former names go with 1.1


def reached(first: set[str]) -> set[str]:
    """Return the modules that these import, and so on."""
    found: set[str] = set()
    left = set(first)
    while left:
        module = left.pop()
        found.add(module)
        left |= arrows(module) - found
    return found


def listed() -> list[str]:
    """Return the files that the page lists."""
    text = PAGE.read_text(encoding="utf-8").partition("### The driver proper\n")[2]
    text = text.partition("\n## ")[0]
    return [
        f"{folder}/{name}"
        for folder, names in re.findall(r"(?m)^\| `([\w/]+)/` \| (.+?) \|", text)
        for name in re.findall(r"`(\w+)`", names)
    ]


def test_it_imports_no_room_but_control_and_no_engine() -> None:
    parts = {tuple(module.split(".")[1:3]) for module in reached(FIRST)}
    assert {part for part in parts if part[0] != "_core"} == {("rooms", "control")}


def test_the_page_lists_its_files() -> None:
    files = listed()
    assert len(files) == len(set(files))
    modules = {f"omd.{file.replace('/', '.')}" for file in files}
    assert modules == (reached(FIRST) | DOOR) - GENERATED


def test_its_lines_are_counted() -> None:
    files = (PACKAGE / f"{file}.py" for file in listed())
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
    assert 1000 < lines <= LINES
    assert set(MODULES) >= GENERATED
