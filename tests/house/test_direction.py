"""The driver is built in one direction: core ← rooms ← engines ← doors ← programs.

Every import counts: at the top, in a function, for type checkers only, and by name.
"""

from __future__ import annotations

import ast
import graphlib
from collections import defaultdict

from omd._core.engines import POSTGRES, SPARK
from omd.doors.registry import ENGINES, ROOMS
from support.imports import MODULES, arrows, nodes_of

CORE = ["_version", "_core", "_terminal"]
ENGINE_PACKAGES = [path.split(".")[1] for path, _ in ENGINES.values()]
DOORS = ["", "_doors", "_rooms", "doors", "errors", "performing"]  # "": the package itself

# A room knows process control, and of the others only these.
KNOWS = {"facts": ["delivery"], "provenance": ["lake"]}

# The arrows that point back up, at most a dozen, each with its reason.
BACK_UP = {
    (
        "omd.doors.task",
        "omd.doors.control",
    ): "the type of Task.control, which a handler of users gets",
    (
        "omd.programs.worker.worker",
        "omd.doors.control",
    ): "users make a Worker, which opens its connections",
    (
        "omd.programs.worker.child",
        "omd.doors.control",
    ): "the process of a task begins here, and opens its own",
}


def part_of(module: str) -> str:
    """Return the package below omd; a room's commands are a program."""
    parts = [*module.split("."), ""]
    return "programs" if parts[-2] == "cli" and parts[1] in ROOMS else parts[1]


def below(part: str) -> set[str]:
    """Return the parts that a part may import."""
    if part in CORE:
        return set(CORE[: CORE.index(part)])
    if part in ROOMS:
        return {*CORE, "control", *KNOWS.get(part, [])}
    if part in ENGINE_PACKAGES:
        return {*CORE, *ROOMS, *ENGINE_PACKAGES}
    if part in DOORS:
        return {*CORE, *ROOMS, *ENGINE_PACKAGES, *DOORS}
    return {part_of(module) for module in MODULES}


def back_up() -> set[tuple[str, str]]:
    """Return the arrows that point back up."""
    return {
        (module, target)
        for module in MODULES
        for target in arrows(module)
        if part_of(target) not in {part_of(module), *below(part_of(module))}
    }


def test_no_import_points_back_up_but_those_with_a_reason() -> None:
    assert back_up() == BACK_UP.keys()
    assert len(BACK_UP) <= 12


def test_no_files_import_each_other_in_a_circle() -> None:
    graphlib.TopologicalSorter({module: arrows(module) for module in MODULES}).prepare()


def test_only_programs_and_doors_name_the_errors_of_all_rooms() -> None:
    found = {module for module in MODULES if "omd.errors" in arrows(module)}
    assert {part_of(module) for module in found} & {*CORE, *ROOMS, *ENGINE_PACKAGES} == set()


def test_an_engine_is_named_in_one_place() -> None:
    places = defaultdict(set)
    for module in MODULES:
        for node in nodes_of(module):
            if isinstance(node, ast.Constant) and node.value in (POSTGRES, SPARK):
                places[node.value].add(module)
    assert places[SPARK] == {"omd._core.engines"}
    # That task handlers quote a name as PostgreSQL does is no choice of an engine.
    assert places[POSTGRES] == {"omd._core.engines", "omd.programs.worker.handlers"}
