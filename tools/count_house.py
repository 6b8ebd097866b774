"""What a change of the house is judged by, counted: run it on two checkouts and compare.

It prints the hand-written lines of the driver and of the procedures, the files over 600 lines and
the routines over 25 variables, the circles of imports and the arrows back up, the test functions,
and the uses of retired words.

Run: ``python tools/count_house.py [FOLDER]``; FOLDER is a checkout, by default this one.
"""

from __future__ import annotations

import argparse
import ast
import re
from pathlib import Path

HERE = Path(__file__).parents[1]
PARTS = ["core", "rooms", "engines", "doors", "programs"]
ROOMS = ["control", "lake", "lineage", "dispatch", "delivery", "facts", "decision"]
DOORS = ["", "_rooms", "_doors", "doors", "errors"]
RETIRED = r"(?<![A-Za-z])(told|twins?|let[ _]go|hand(?:s|ed)? out)(?![A-Za-z])"


def lines(paths: list[Path]) -> int:
    """Return how many lines files have that no generator writes."""
    texts = [path.read_text(encoding="utf-8") for path in paths]
    return sum(text.count("\n") for text in texts if not text.startswith("# Generated"))


def modules(driver: Path) -> dict[str, Path]:
    """Return the modules of a driver with their files."""
    files = {}
    for path in sorted(driver.rglob("*.py")):
        parts = path.relative_to(driver.parent).with_suffix("").parts
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return files


def imports(module: str, files: dict[str, Path]) -> set[str]:
    """Return the modules of ours that a module imports: at the top, in functions, for types."""
    wanted: set[str] = set()
    for node in ast.walk(ast.parse(files[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            wanted |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            below = {f"{node.module}.{alias.name}" for alias in node.names} & files.keys()
            wanted |= below or {node.module}
    return (wanted & files.keys()) - {module}


def part(module: str) -> int:
    """Return the place of a module's part in the one direction; a room's commands are a program."""
    first, last = [*module.split("."), ""][1], module.rsplit(".", 1)[-1]
    if first in ("_core", "_terminal", "_version"):
        return 0
    if first in ROOMS:
        return 4 if last == "cli" else 1
    return 2 if first in ("spark", "postgres") else 3 if first in DOORS else 4


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
    root = parser.parse_args().folder
    files = modules(root / "driver" / "omd")
    python = list(files.values())
    sql = sorted((root / "procedures").rglob("*.sql"))
    tests = [p.read_text(encoding="utf-8") for p in (root / "tests").rglob("test_*.py")]
    graph = {module: imports(module, files) for module in files}
    back = [(m, t) for m, targets in graph.items() for t in targets if part(t) > part(m)]
    long = [p for p in [*python, *sql] if lines([p]) > 600]
    texts = [p.read_text(encoding="utf-8") for p in [*python, *sql]]
    rings = circles(graph)
    for what, count in {
        "hand-written lines of the driver": lines(python),
        "lines of procedures": lines(sql),
        "files over 600 lines": len(long),
        "routines over 25 variables": sum(variables(p.read_text()) > 25 for p in sql),
        "circles of imports": f"{len(rings)} (of {[len(ring) for ring in rings]} files)",
        "arrows back up": len(back),
        "test functions": sum(len(re.findall(r"^def test_", t, re.MULTILINE)) for t in tests),
        "retired words": sum(len(re.findall(RETIRED, t)) for t in texts),
    }.items():
        print(f"{what}: {count}")


if __name__ == "__main__":
    main()
