"""The driver is built in one direction, and its folders are the floors (architecture.md).

core ← rooms ← engines (tables, spark) ← doors ← programs, integrations. Every import counts: at the
top, in a function, for type checkers only, and by name.
"""

from __future__ import annotations

import ast
import graphlib
from collections import defaultdict

from omd._core.engines import POSTGRES, SPARK
from omd.doors.registry import ROOMS
from support.imports import MODULES, arrows, nodes_of

# Each floor after those that it may import; "": the package itself, a name alone: a file of it.
FLOORS = [
    "_core",
    "rooms",
    "errors",
    "tables",
    "spark",
    "doors",
    "",
    "lake",
    "integrations",
    "programs",
    "dispatch",
    "web",
]

# Floors that import one above them, and why.
BACK_UP = {
    ("integrations", "programs"): "OpenLineage is a sender; a contract is a document with lines",
}


def floor_of(module: str) -> str:
    """Return the folder, or the file, below the package."""
    return [*module.split("."), ""][1]


def room_of(module: str) -> str | None:
    """Return the room whose folder has a module."""
    parts = module.split(".")
    return parts[2] if parts[1:2] == ["rooms"] and len(parts) > 2 else None


def floors() -> set[tuple[str, str]]:
    """Return which floor imports which."""
    pairs = {
        (floor_of(module), floor_of(target)) for module in MODULES for target in arrows(module)
    }
    return {(one, other) for one, other in pairs if one != other}


def back_up() -> set[tuple[str, str]]:
    """Return the arrows that point back up."""
    return {pair for pair in floors() if FLOORS.index(pair[0]) < FLOORS.index(pair[1])}


def test_the_folders_are_the_floors() -> None:
    assert {floor_of(module) for module in MODULES} == set(FLOORS)


def test_no_floor_imports_one_above_it_without_a_reason() -> None:
    assert back_up() == BACK_UP.keys()
    assert len(floors()) <= 36


def test_a_room_imports_process_control_and_no_other() -> None:
    found = {
        (room, other)
        for module in MODULES
        for target in arrows(module)
        if (room := room_of(module)) and (other := room_of(target)) and room != other
    }
    # What the page asks is a schema of its own, and no room of the registry.
    assert found <= {(room, "control") for room in (*ROOMS, "web")}


def test_no_files_import_each_other_in_a_circle() -> None:
    graphlib.TopologicalSorter({module: arrows(module) for module in MODULES}).prepare()


def test_only_programs_and_doors_name_the_errors_of_all_rooms() -> None:
    found = {floor_of(module) for module in MODULES if "omd.errors" in arrows(module)}
    assert found <= {"", "doors", "programs", "integrations"}


def test_an_engine_is_named_in_one_place() -> None:
    places = defaultdict(set)
    for module in MODULES:
        for node in nodes_of(module):
            if isinstance(node, ast.Constant) and node.value in (POSTGRES, SPARK):
                places[node.value].add(module)
    assert places[SPARK] == {"omd._core.engines"}
    # That task handlers quote a name as PostgreSQL does is no choice of an engine.
    assert places[POSTGRES] == {"omd._core.engines", "omd.programs.worker.handlers"}
