"""A routine is in the file of its name, with its comment and its grants and nothing else."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from house.catalog import FILES, FOLDER, name_of
from house.exceptions import OF_FAMILIES
from support.offenders import assert_none

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from house.catalog import Catalog

STATEMENT = r"^(CREATE|COMMENT|REVOKE|GRANT|ALTER|DROP|DO|SELECT|INSERT|UPDATE|DELETE|SET)\b"


def strays(file: Path) -> Iterator[str]:
    """Yield what is not in the file, and what does not belong there."""
    name, text = name_of(file), file.read_text(encoding="utf-8")
    created = re.findall(r"^CREATE OR REPLACE (PROCEDURE|FUNCTION) ([\w.]+)", text, re.MULTILINE)
    if [found for _, found in created] != [name]:
        yield f"it creates {created}"
    if not text.startswith("-- "):
        yield "it does not begin with a comment"
    rest = re.sub(
        r"\$(\w+)\$.*?\$\1\$|^BEGIN ATOMIC.*?^END;", "", text, flags=re.DOTALL | re.MULTILINE
    )
    rest = re.sub(r"--[^\n]*|'(?:[^']|'')*'", "", rest)
    statements = re.findall(STATEMENT, rest, re.MULTILINE)
    statements = [word for word in statements if word != "SET"]  # an attribute
    if statements not in (
        ["CREATE", "COMMENT"],
        ["CREATE", "COMMENT", "GRANT"],
    ):
        yield f"its statements are {statements}"
    for kind, _ in created[:1]:
        if len(re.findall(rf"^COMMENT ON {kind} {name} IS$", text, re.MULTILINE)) != 1:
            yield "it has not one COMMENT on the routine"
        if "GRANT" in statements and f"\nGRANT EXECUTE ON {kind} {name} TO " not in text:
            yield "its GRANT is of something else"


def test_a_file_holds_the_routine_of_its_name() -> None:
    assert len(FILES) > 800
    assert_none((name_of(file), problem) for file in FILES for problem in strays(file))


def test_every_routine_has_its_file(catalog: Catalog) -> None:
    routines = {name for name in catalog.routines if not OF_FAMILIES.fullmatch(name)}
    files = {name_of(file) for file in FILES}
    assert_none([(name, "it has no file") for name in sorted(routines - files)])
    assert_none([(name, "it is not installed") for name in sorted(files - routines)])


def misgranted(catalog: Catalog) -> Iterator[tuple[str, str]]:
    for file, routine in catalog.of_files():
        found = re.search(r"^GRANT EXECUTE ON .* TO (.*);", file.read_text(), re.MULTILINE)
        granted = sorted(found.group(1).split(", ")) if found else []
        if sorted(routine.granted) != granted:
            yield routine.name, f"its file grants it to {granted}, not to {sorted(routine.granted)}"
        if not found and routine.is_called:
            yield routine.name, "nobody may call it: is it internal, or for rooms?"


def test_the_grants_are_those_of_the_file(catalog: Catalog) -> None:
    assert_none(misgranted(catalog))


def test_a_new_text_of_the_functions_of_families_reaches_the_families_that_exist() -> None:
    """An upgrade makes them again when it executes codes.sql, so that file changes with them."""
    codes = FOLDER.parent / "sql" / "reference" / "omd_dispatch" / "codes.sql"
    comment = codes.read_text(encoding="utf-8").partition("\n\n")[0]
    (state,) = re.findall(r"\b[0-9a-f]{12}\b", comment)
    files = sorted((FOLDER / "omd_dispatch" / "generated").glob("*.sql"))
    text = b"".join(file.read_bytes() for file in files)
    assert len(files) == 16
    assert state == hashlib.sha256(text).hexdigest()[:12]


def test_a_chapter_is_a_folder_of_at_most_forty_files() -> None:
    views = FOLDER.parent / "sql" / "views"
    folders = {file.parent for file in [*FILES, *views.rglob("*.sql")]}
    assert_none(
        (folder, f"it has {count} files")
        for folder in sorted(folders)
        if (count := len(list(folder.glob("*.sql")))) > 40
    )
    for file in FILES:
        assert len(file.relative_to(FOLDER).parts) <= 3, f"{file} lies in a chapter of a chapter"
