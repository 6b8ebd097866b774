"""What a change of the house is judged by, counted: run it on two checkouts and compare.

It prints the hand-written lines of the driver, of its command line, of the driver proper (which
architecture.md lists) and of the procedures, the files over 600 lines and the routines over 25
variables, the circles of imports and the arrows back up, the test functions, and the uses of
retired words.

Run: ``python tools/count_house.py [FOLDER]``; FOLDER is a checkout, by default this one.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

HERE = Path(__file__).parents[1]
sys.path.insert(0, str(HERE / "tests"))

from support import imports  # noqa: E402 - the tests have the rules


def lines(paths: list[Path]) -> int:
    """Return how many lines files have that no generator writes."""
    texts = [path.read_text(encoding="utf-8") for path in paths]
    return sum(text.count("\n") for text in texts if not text.startswith("# Generated"))


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the sets of modules that reach each other (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    answer: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for target in graph[module]:
            if target not in index:
                visit(target)
            if target in stack:
                low[module] = min(low[module], low[target])
        if low[module] == index[module]:
            circle = [stack.pop()]
            while circle[-1] != module:
                circle.append(stack.pop())
            if len(circle) > 1:
                answer.append(circle)

    for module in graph:
        if module not in index:
            visit(module)
    return answer


def variables(routine: str) -> int:
    """Return how many variables a routine declares."""
    declared = re.search(r"\nDECLARE\n(.*?)\nBEGIN\n", routine, re.DOTALL)
    return len(re.findall(r"^    v_\w+ ", declared[1], re.MULTILINE)) if declared else 0


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=HERE)
    root = parser.parse_args().folder.resolve()
    # The rules of this checkout, held against the files of that one.
    imports.MODULES = imports.modules_of(root / "driver" / "omd")
    from house import test_direction, test_driver, test_words

    test_words.ROOT = root
    python = list(imports.MODULES.values())
    sql = sorted((root / "procedures").rglob("*.sql"))
    tests = [p.read_text(encoding="utf-8") for p in (root / "tests").rglob("test_*.py")]
    parts = {"cli", "terminal"}  # folders of the checkout, which may itself be named so
    command_line = [path for path in python if parts & set(path.relative_to(root).parts)]
    test_driver.PAGE = root / "docs" / "explanation" / "architecture.md"
    proper = [root / "driver" / "omd" / f"{file}.py" for file in test_driver.listed()]
    rings = circles({module: imports.arrows(module) for module in imports.MODULES})
    retired = test_words.retired_words().items()
    for what, count in {
        "hand-written lines of the driver": lines(python),
        "of these, of the command line, with terminal and documents": lines(command_line),
        "of these, of the driver proper": lines(proper),
        "lines of procedures": lines(sql),
        "files over 600 lines": sum(lines([p]) > 600 for p in [*python, *sql]),
        "routines over 25 variables": sum(variables(p.read_text()) > 25 for p in sql),
        "circles of imports": f"{len(rings)} (of {[len(ring) for ring in rings]} files)",
        "arrows back up": len(test_direction.back_up()),
        "test functions": sum(len(re.findall(r"^def test_", t, re.MULTILINE)) for t in tests),
        "retired words": sum(len(test_words.offenders(word, files)) for word, files in retired),
    }.items():
        print(f"{what}: {count}")


if __name__ == "__main__":
    main()
