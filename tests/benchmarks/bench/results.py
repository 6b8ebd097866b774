"""The last results of the comparisons with peers, and what docs/compare.md shows of them.

Each comparison has one file in peers/results, which ``--save`` writes anew: a line for each figure
of each side, with the date, the revision of OMD, the size that was measured, and how busy the
machine was before.
"""

from __future__ import annotations

import csv
import os
import subprocess
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path

RESULTS = Path(__file__).parents[1] / "peers" / "results"
ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "compare.md"
MARKS = ("<!-- results: begin -->", "<!-- results: end -->")
FIELDS = ("date", "revision", "size", "load", "side", "version", "figure", "value")
# Of each comparison the figures that the page shows, and its words for them.
SHOWN = {
    "increments": {
        "lost": "rows lost, of a source whose writers commit late",
        "doubled": "rows copied twice",
        "step": "a step, in ms",
    },
    "queues": {
        "run": "tasks a second, one worker of ten slots",
        "p50": "from the call to the start of a task, in ms",
        "create_tasks": "tasks created a second, a thousand a call",
    },
}


SECTION = """\
## Measured

These figures were measured side by side on one server, in turns. The file of each says when, how
long, and how busy the machine was. `make bench ARGS="--size whole peers/queues peers/increments"`
measures them again, with the versions that `tests/benchmarks/peers/locks` names; with `--save` each
of the two scripts writes its file and this table.

| what was measured | OMD | beside it | results |
|---|--:|---|---|
"""


def save(
    name: str,
    size: str,
    versions: Mapping[str, str],
    figures: Mapping[str, Mapping[str, float]],
) -> None:
    """Write the results of a comparison, and what the page shows of them."""
    git = ["git", "-C", ROOT, "rev-parse", "--short", "HEAD"]
    revision = subprocess.run(git, capture_output=True, text=True).stdout.strip()
    now = datetime.now(timezone.utc)
    same = (str(now.date()), revision, size, f"{os.getloadavg()[2]:.1f}")
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / f"{name}.tsv").open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, delimiter="\t", lineterminator="\n")
        out.writerow(FIELDS)
        for side, values in figures.items():
            for figure, value in values.items():
                out.writerow((*same, side, versions[side], figure, f"{value:.4g}"))
    page = PAGE.read_text(encoding="utf-8")
    head, _, rest = page.partition(MARKS[0])
    _, _, tail = rest.partition(MARKS[1])
    PAGE.write_text(f"{head}{MARKS[0]}{section()}{MARKS[1]}{tail}", encoding="utf-8")


def read(name: str) -> list[dict[str, str]]:
    """Return the results of a comparison."""
    with (RESULTS / f"{name}.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def section() -> str:
    """Return what the page shows of the results; nothing while there are none."""
    lines = []
    for name, words in SHOWN.items():
        if not (RESULTS / f"{name}.tsv").exists():
            continue
        found = read(name)
        link = f"[{name}.tsv](../tests/benchmarks/peers/results/{name}.tsv)"
        for figure, said in words.items():
            of = {row["side"]: row for row in found if row["figure"] == figure}
            ours = spoken(of.pop("omd")["value"])
            others = ", ".join(f"{row['version']} {spoken(row['value'])}" for row in of.values())
            lines.append(f"| {said} | {ours} | {others} | {link} |")
    return "\n\n" + SECTION + "\n".join(lines) + "\n\n" if lines else ""


def spoken(value: str) -> str:
    """Return a number as a page writes it."""
    number = float(value)
    return f"{number:,.0f}" if number >= 100 or number == int(number) else f"{number:g}"
