"""Comments point to rules and files that exist, and to nothing outside the repository."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXPLANATION = ROOT / "docs" / "explanation"
RULE = re.compile(r"^#{2,4} (?P<rule>(?P<letter>[A-Z])(?P<number>\d+))\. ", re.MULTILINE)
# "rule P4", "rules P4 and P5", "rules P4, P5 and L6"
MENTION = re.compile(r"\brules? ([A-Z]\d+(?:(?:, | and )[A-Z]\d+)*)")
PAGE = re.compile(r"docs/explanation/([a-z-]+)\.md(?:, rules? ([A-Z])\d)?")
MARKDOWN = re.compile(r"[\w./-]+\.md\b")
SECTION = re.compile(r"\bsections? \d", re.IGNORECASE)
# A released migration is never edited.
FOLDERS = ("driver", "procedures", "sql", "tests", "docs", ".ci")
SUFFIXES = {".py", ".sql", ".psql", ".md", ".toml"}


def sources() -> list[Path]:
    files = [
        file
        for folder in FOLDERS
        for file in (ROOT / folder).rglob("*")
        if file.suffix in SUFFIXES and file != Path(__file__)
    ]
    return [*files, *ROOT.glob("*.md"), ROOT / "Makefile", ROOT / ".ci" / "run"]


def rules() -> dict[str, str]:
    """Return each rule with the page that states it."""
    found: dict[str, str] = {}
    for page in sorted(EXPLANATION.glob("*.md")):
        for match in RULE.finditer(page.read_text(encoding="utf-8")):
            assert match["rule"] not in found, f"{match['rule']} is stated twice"
            found[match["rule"]] = page.stem
    return found


def test_each_page_numbers_its_rules_without_a_gap() -> None:
    numbers: dict[tuple[str, str], list[int]] = {}
    for rule, page in rules().items():
        numbers.setdefault((page, rule[0]), []).append(int(rule[1:]))
    assert len(numbers) == len({letter for _, letter in numbers}), "a letter names one page"
    for (page, letter), found in numbers.items():
        assert found == list(range(1, len(found) + 1)), f"{page}: {letter}"


def test_each_rule_that_is_mentioned_is_stated() -> None:
    known = rules()
    mentions = 0
    for file in sources():
        text = file.read_text(encoding="utf-8")
        for match in MENTION.finditer(text):
            for rule in re.findall(r"[A-Z]\d+", match[1]):
                mentions += 1
                assert rule in known, f"{file.relative_to(ROOT)}: {match[0]}"
        for match in PAGE.finditer(text):
            if match[2]:
                pages = {page for rule, page in known.items() if rule[0] == match[2]}
                assert pages == {match[1]}, f"{file.relative_to(ROOT)}: {match[0]}"
    assert mentions > 30


def test_each_document_that_is_mentioned_is_in_the_repository() -> None:
    documents = {file.name for file in sources() if file.suffix == ".md"}
    for file in sources():
        if file.suffix == ".md":
            continue  # its links are checked in test_links.py
        if file.name == "test_release.py":
            continue  # it names documents of the repositories that it makes
        for name in MARKDOWN.findall(file.read_text(encoding="utf-8")):
            there = (ROOT / name).is_file() if "/" in name else name in documents
            assert there, f"{file.relative_to(ROOT)}: {name}"


@pytest.mark.parametrize("folder", ["driver", "procedures", "sql", "tests"])
def test_nothing_points_to_a_section_of_a_document(folder: str) -> None:
    for file in sources():
        if file.is_relative_to(ROOT / folder):
            found = SECTION.search(file.read_text(encoding="utf-8"))
            assert not found, f"{file.relative_to(ROOT)}: {found}"
