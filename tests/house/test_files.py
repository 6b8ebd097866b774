"""A routine is in the file of its name, with its comment and its grants and nothing else."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import pytest

from house.catalog import FILES, FOLDER
from house.exceptions import NOT_GRANTED, OF_FAMILIES

if TYPE_CHECKING:
    from pathlib import Path

    from house.catalog import Catalog

STATEMENT = r"^(CREATE|COMMENT|REVOKE|GRANT|ALTER|DROP|DO|SELECT|INSERT|UPDATE|DELETE|SET)\b"


def name_of(file: Path) -> str:
    return f"{file.parent.name}.{file.stem}"


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_a_file_holds_the_routine_of_its_name(file: Path) -> None:
    name, text = name_of(file), file.read_text(encoding="utf-8")
    created = re.findall(r"^CREATE OR REPLACE (PROCEDURE|FUNCTION) ([\w.]+)", text, re.MULTILINE)
    assert [name for _, name in created] == [name]
    kind = created[0][0]
    assert text.startswith("-- ")
    rest = re.sub(
        r"\$(\w+)\$.*?\$\1\$|^BEGIN ATOMIC.*?^END;", "", text, flags=re.DOTALL | re.MULTILINE
    )
    rest = re.sub(r"--[^\n]*|'(?:[^']|'')*'", "", rest)
    statements = re.findall(STATEMENT, rest, re.MULTILINE)
    statements = [word for word in statements if word != "SET"]  # an attribute
    assert statements in (
        ["CREATE", "COMMENT", "REVOKE"],
        ["CREATE", "COMMENT", "REVOKE", "GRANT"],
    )
    assert len(re.findall(rf"^COMMENT ON {kind} {name} IS$", text, re.MULTILINE)) == 1
    assert f"\nREVOKE ALL ON {kind} {name} FROM PUBLIC;\n" in text
    if "GRANT" in statements:
        assert f"\nGRANT EXECUTE ON {kind} {name} TO " in text


def test_every_routine_has_its_file(catalog: Catalog) -> None:
    routines = [name for name in catalog.routines if not OF_FAMILIES.fullmatch(name)]
    assert sorted(routines) == sorted(name_of(file) for file in FILES)


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_the_grants_are_those_of_the_file(catalog: Catalog, file: Path) -> None:
    routine = catalog.routines[name_of(file)]
    found = re.search(r"^GRANT EXECUTE ON .* TO (.*);", file.read_text(), re.MULTILINE)
    assert sorted(routine.granted) == (sorted(found.group(1).split(", ")) if found else [])
    if routine.is_public and routine.name not in NOT_GRANTED:
        assert found, "nobody may call it: is it internal, or for rooms?"


def test_a_new_text_of_the_functions_of_families_reaches_the_families_that_exist() -> None:
    """An upgrade makes them again when it executes codes.sql, so that file changes with them."""
    codes = FOLDER.parent / "sql" / "reference" / "omd_dispatch" / "codes.sql"
    comment = codes.read_text(encoding="utf-8").partition("\n\n")[0]
    sources = re.findall(r"\b_\w+", comment)
    (state,) = re.findall(r"\b[0-9a-f]{12}\b", comment)
    text = b"".join((FOLDER / "omd_dispatch" / f"{name}.sql").read_bytes() for name in sources)
    assert len(sources) == 5
    assert state == hashlib.sha256(text).hexdigest()[:12]
