"""Whom a routine or a view is for stands as the first words of its COMMENT, and it is kept."""

from __future__ import annotations

import ast
import csv
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from house.catalog import SCHEMAS
from support.offenders import assert_none

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

    from house.catalog import Catalog

    Connection = psycopg.Connection[dict[str, Any]]

ROOT = Path(__file__).parents[2]
KEPT = Path(__file__).with_name("routines.tsv")
API = json.loads((ROOT / "docs/reference/api.json").read_text(encoding="utf-8"))
DRIVER = ROOT / "driver" / "omd"
# Pages that a person has written.
PAGES = [
    ROOT / "README.md",
    ROOT / "SECURITY.md",
    *sorted(p for p in (ROOT / "docs").rglob("*.md") if p.parent.name != "reference"),
]
# What calls the database for a program that a user has started and that may be older than it.
FLOORS = ("_core", "rooms", "tables", "spark", "doors", "programs/worker", "programs/service")
WORDS = ("For programs: ", "For the driver: ", "For rooms: ")
LIKE_A_WORD = re.compile(r"\s*for\s+(?:(?:the|a|an)\s+)?\w+\s*[:;,.]", re.IGNORECASE)
NAME = re.compile(r"\b(omd(?:_[a-z]+)?\.[a-z]\w*|omd(?:_[a-z]+)?\._\w+)")
COMMENTS = f"""
    SELECT p.oid::regproc::text AS name, obj_description(p.oid, 'pg_proc') AS comment
    FROM pg_proc AS p WHERE p.pronamespace IN ({SCHEMAS})
    UNION ALL
    SELECT c.oid::regclass::text, obj_description(c.oid, 'pg_class')
    FROM pg_class AS c WHERE c.relnamespace IN ({SCHEMAS}) AND c.relkind IN ('v', 'm')
"""
VIEWS = f"""
    SELECT c.oid::regclass::text AS name, w.audience
    FROM pg_class AS c
    CROSS JOIN LATERAL omd.comment_parts(obj_description(c.oid, 'pg_class')) AS w
    WHERE c.relnamespace IN ({SCHEMAS}) AND c.relkind IN ('v', 'm')
"""


# The words --------------------------------------------------------------------------------------


def misspelled(comment: str) -> str | None:
    """Return what is wrong with the first words of a COMMENT, None where nothing is."""
    if LIKE_A_WORD.match(comment) and not comment.startswith(WORDS):
        return f"it begins with {comment[:20]!r}, and not with one of {', '.join(WORDS)}"
    rest = next((comment.removeprefix(w) for w in WORDS if comment.startswith(w)), comment)
    if not rest.strip() or rest.startswith(WORDS):
        return "it has no text after the word, or a second word"
    deprecated = re.match(r"Deprecated since [0-9.]+: use .*?\.(?: |$)", rest)
    if not deprecated and "Deprecated since" in rest:
        return "Deprecated since … comes directly after the word"
    rest = rest[deprecated.end() :] if deprecated else rest
    if re.search(r"(?<!^)\bOne row(?: or none)?: ", rest):
        return "One row: … comes first, after the word and Deprecated since …"
    return None


@pytest.mark.parametrize(
    "comment",
    [
        "Returns it.",
        "For programs: returns it.",
        "For the driver: One row: it.",
        "For rooms: Deprecated since 1.3: use omd.x. One row or none: it.",
        "For each topic it returns one row.",
    ],
)
def test_a_comment_may_begin_so(comment: str) -> None:
    assert misspelled(comment) is None


@pytest.mark.parametrize(
    "comment",
    [
        "For drivers: Returns it.",
        "For the Driver: Returns it.",
        "for rooms: Returns it.",
        "For room: Returns it.",
        "For programs:Returns it.",
        "For rooms: For the driver: Returns it.",
        "For rooms: ",
        "One row: it. For rooms: Deprecated since 1.3: use omd.x.",
        "Returns it. Deprecated since 1.3: use omd.x.",
        "For programs: Returns it. One row: it.",
        "One row: it. Deprecated since 1.3: use omd.x.",
    ],
)
def test_a_comment_may_not_begin_so(comment: str) -> None:
    assert misspelled(comment)


def test_the_first_words_are_one_of_three(installed: Connection) -> None:
    rows = installed.execute(COMMENTS).fetchall()
    assert len(rows) > 1500
    assert_none(
        (row["name"], problem) for row in rows if (problem := misspelled(row["comment"] or ""))
    )


def test_the_list_of_routines_says_what_the_words_say(
    installed: Connection, catalog: Catalog
) -> None:
    words = dict(zip(WORDS, ("PROGRAM", "DRIVER", "ROOMS"), strict=True))
    for row in installed.execute(COMMENTS).fetchall():
        if (routine := catalog.routines.get(row["name"])) is None:
            continue
        word = next((w for w in WORDS if row["comment"].startswith(w)), "")
        assert routine.comment == row["comment"].removeprefix(word)
        is_of_schema = routine.routine.startswith("_") or (
            routine.is_trigger and not routine.granted
        )
        expected = "SCHEMA" if is_of_schema else words.get(word, "PERSON")
        assert (routine.name, routine.audience) == (routine.name, expected)
        assert routine.is_public == (expected in ("PERSON", "PROGRAM"))
    assert catalog.routines["omd_lineage.note_rows"].audience == "PERSON"


def test_what_is_for_somebody_may_be_called_by_somebody(catalog: Catalog) -> None:
    assert_none((r.name, "nobody may call it") for r in catalog if r.is_called and not r.granted)


def test_a_step_of_a_schema_has_no_word(installed: Connection) -> None:
    assert_none(
        (row["name"], "its name says already that it is for its schema")
        for row in installed.execute(COMMENTS).fetchall()
        if "._" in row["name"] and row["comment"].startswith(WORDS)
    )


# What is kept -----------------------------------------------------------------------------------


def kept() -> dict[str, str]:
    """Return the audience of each routine that is chosen, of all but ROOMS and SCHEMA."""
    with KEPT.open(encoding="utf-8") as file:
        return {row["routine"]: row["audience"] for row in csv.DictReader(file, delimiter="\t")}


def test_a_routine_that_was_not_chosen_is_not_public(catalog: Catalog) -> None:
    """Silence means PERSON, so a forgotten word is found here."""
    chosen = kept()
    found = {r.name: r.audience for r in catalog if r.is_called}
    assert list(chosen) == sorted(chosen)
    assert_none(
        [
            (name, f"it is for {audience}, and {KEPT.name} says {chosen.get(name, 'nothing')}")
            for name, audience in sorted(found.items())
            if chosen.get(name) != audience
        ]
        + [(name, f"{KEPT.name} has it alone") for name in sorted(chosen.keys() - found.keys())]
    )


def test_the_contract_has_what_is_public_and_the_protocol_beside_it(
    installed: Connection, catalog: Catalog
) -> None:
    views = installed.execute(VIEWS).fetchall()
    assert set(API["routines"]) == {r.name for r in catalog if r.is_public}
    assert set(API["protocol"]) == {r.name for r in catalog if r.audience == "DRIVER"}
    public = {v["name"] for v in views if v["audience"] in ("PERSON", "PROGRAM")}
    assert set(API["views"]) == public
    assert_none((name, "it is not in omd_report") for name in public if "omd_report." not in name)


def test_the_contract_is_as_small_as_it_was_chosen() -> None:
    assert len(API["routines"]) <= 209
    assert len(API["protocol"]) <= 63
    assert len(API["views"]) <= 93


# What a client names ----------------------------------------------------------------------------


def statements(path: Path) -> Iterator[str]:
    """Yield the texts in a file of Python that are no docstrings; an f-string in its parts."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    told = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in told:
            if isinstance(node.value, bytes):
                yield node.value.decode()
            elif isinstance(node.value, str):
                yield node.value


def named(*floors: str) -> Iterator[tuple[str, str]]:
    """Yield each qualified name in the statements of some floors, and the file."""
    for floor in floors:
        for path in sorted((DRIVER / floor).rglob("*.py")):
            for text in statements(path):
                for name in NAME.findall(text):
                    yield name, path.relative_to(ROOT).as_posix()


def test_what_a_client_calls_is_public_or_of_the_protocol(catalog: Catalog) -> None:
    """The functions of a family of tasks, which the database names, are put together from parts."""
    found = {(n, path) for n, path in named(*FLOORS) if n in catalog.routines}
    assert len(found) > 200
    assert_none(
        (path, f"it calls {name}, which is for {catalog.routines[name].audience}")
        for name, path in sorted(found)
        if not catalog.routines[name].is_called
    )


def test_what_is_for_the_driver_is_called_by_it(catalog: Catalog) -> None:
    files = [p for p in DRIVER.rglob("*.py") if p.name not in ("calls.py", "rows.py")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    assert_none(
        (r.name, "nothing in the driver calls it")
        for r in catalog
        if r.audience == "DRIVER"
        and not re.search(rf"\b{re.escape(r.name)}\b|\.{r.routine}\b", text)
    )


# Pages ------------------------------------------------------------------------------------------


def test_each_public_routine_stands_on_a_page_that_a_person_has_written(catalog: Catalog) -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    on_pages = set(NAME.findall(text))
    assert_none(
        (r.name, "it stands on no page: write a line, or let it be for nobody outside")
        for r in catalog
        if r.is_public and r.name not in on_pages
    )


def test_a_page_reads_public_views(installed: Connection) -> None:
    views = {v["name"]: v["audience"] for v in installed.execute(VIEWS).fetchall()}
    assert_none(
        (page.relative_to(ROOT).as_posix(), f"it reads {name}, which is for {views[name]}")
        for page in PAGES
        for name in re.findall(r"\b(?:FROM|JOIN)\s+(omd\w*\.\w+)", page.read_text("utf-8"))
        if views.get(name, "PERSON") not in ("PERSON", "PROGRAM")
    )
