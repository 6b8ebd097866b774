"""Code and pages use the words of docs/explanation/words.md, and none that was retired."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "words.md"
SQL = [p for f in ("procedures", "sql") for p in sorted((ROOT / f).rglob("*.sql"))]
GENERATED = ("calls.py", "rows.py")  # they say what the SQL says
PYTHON = [p for p in sorted((ROOT / "driver" / "omd").rglob("*.py")) if p.name not in GENERATED]
CODE = SQL + PYTHON
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
PLACES = {
    "code": CODE,
    "pages": PAGES,
    "dispatch": [p for p in CODE + PAGES if "dispatch" in p.as_posix()],
}
# What is retired, where it does not show from the word itself.
PATTERNS = {
    "member (of a group of backends)": r"members?",
    "slot (of a table)": r"slot (of|with) (a|the) (table|family|task)s?|_slot\b|\bv_slot",
}
# Titles of columns that a command prints.
SHOWN = {"driver/omd/lineage/cli.py": '"told": "reason",'}


def words() -> list[str]:
    """Return the words that are defined."""
    return re.findall(r"^\| \*\*(.+?)\*\* \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def retired() -> dict[str, list[Path]]:
    """Return the retired words with the files in which they are looked for."""
    table = PAGE.read_text(encoding="utf-8").partition("## Retired words")[2]
    rows = re.findall(r"^\| (.+?) \| .+ \| ([a-z, ]+) \|$", table, re.MULTILINE)
    return {
        word: [path for place in places.split(", ") for path in PLACES[place]]
        for word, places in rows
        if word != "retired"
    }


def kept() -> set[str]:
    """Return what is not renamed: users have tables, columns and parameters in their programs."""
    migrations = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "migrations").glob("*.sql"))
    routines = "".join(p.read_text(encoding="utf-8") for p in SQL)
    return set(re.findall(r"\w+_\w+", migrations)) | set(re.findall(r"\bp_\w+", routines))


def names(path: Path) -> list[tuple[int, str]]:
    """Return the names of a Python file, or those that SQL gives, with their lines."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        return [(t.start[0], t.string) for t in tokens if t.type == tokenize.NAME]
    lines = enumerate(re.sub(r"--.*", "", text).split("\n"), 1)
    given = re.compile(r"\bAS (?:MATERIALIZED )?(\w+)|\b(\w+)\.\w+|\b([vp]_\w+)")
    return [(n, name) for n, line in lines for m in given.findall(line) for name in m if name]


def offenders(word: str, files: list[Path]) -> list[str]:
    """Return the lines that have the word."""
    lines: list[str] = []
    keep = kept()
    for path in files:
        if path == PAGE:
            continue
        if word.endswith("(as a name)"):
            part = word.split()[0]
            lines += [
                f"{path.relative_to(ROOT)}:{number}: {name}"
                for number, name in names(path)
                if part in name.lower().split("_") and name not in keep
            ]
            continue
        pattern = PATTERNS.get(word, rf"{word}")
        expression = re.compile(rf"(?i)\b\w*?(?<![a-z]){pattern}(?:s?)(?![a-z])\w*")
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            lines += [
                f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
                for match in expression.findall(line)
                if line.strip() != SHOWN.get(path.relative_to(ROOT).as_posix())
                if not isinstance(match, str) or match not in keep or match == word
            ]
    return lines


def test_a_page_defines_each_word_once_and_not_too_many() -> None:
    defined = words()
    assert len(defined) == len(set(defined)) <= 60


def test_no_retired_word_is_used() -> None:
    used = {word: offenders(word, files) for word, files in retired().items()}
    assert used, "the page retires no word"
    listing = "\n".join(line for lines in used.values() for line in lines)
    counts = {word: len(lines) for word, lines in used.items()}
    assert not listing, f"{counts}, see {PAGE.relative_to(ROOT)}:\n{listing}"
