"""The private classes of errors in Python, written by ``tools/generate.py`` from the catalogue.

A room's errors are in ``sql/reference/<schema>/error_catalogue.sql``. The comment in a row of it
says when the error is raised, and behind "For example:" what may cause it. The first is the
docstring of the class, and both stand in the reference. What users name is written by hand in
``driver/omd/_core/errors.py``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from omd._core import errors as public
from omd.doors.registry import ROOMS, schema_of

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parents[1]
NAME = "driver/omd/_core/error_codes.py"

# A row begins so in the file: a parenthesis, when the error is raised, its code, its name.
ROW = re.compile(r"^\(\n((?: +-- .*\n)*) +'(OM\d{3})',\s+'(\w+)'", re.MULTILINE)
EXAMPLE = " For example: "
BASES = {
    "OM0": "CallerError",
    "OM1": "StateError",
    "OM2": "ConfigurationError",
    "OM9": "InstallError",
    "OM902": "OmdError",
}


class Error(NamedTuple):
    """An error of a room."""

    code: str
    name: str
    when: str
    example: str

    @property
    def base(self) -> str:
        """The class of which it is one."""
        return BASES.get(self.code) or BASES[self.code[:3]]


def files(header: str, catalogue: Mapping[str, str]) -> dict[str, str]:
    """Return the text of each file, by its path.

    Args:
        header: the first line of each.
        catalogue: the names of all errors, by code, as the database has them.
    """
    errors = listed()
    if unread := set(catalogue.values()) - {error.name for error in errors}:
        raise ValueError(f"no row of a file error_catalogue.sql is read for {sorted(unread)}")
    lines = [
        '"""The classes of errors of the catalogue; users find them by `omd.errors.lookup`."""',
        "# ruff: noqa: E501 - a line for each",
        "",
        "from omd._core.errors import (",
        *(f"    {name}," for name in sorted({*BASES.values(), "made"}, key=_place)),
        ")",
        "",
        "# fmt: off",
    ]
    for error in errors:
        if not hasattr(public, error.name):  # that one is written by hand
            said = map(json.dumps, (error.code, error.name, error.when.replace("``", "`")))
            lines.append(f"{error.name} = made({error.base}, {', '.join(said)})")
    return {NAME: header + "\n".join([*lines, ""])}


def listed() -> list[Error]:
    """Return the errors of all rooms, in the order of their codes."""
    found = []
    for room in ROOMS:
        file = ROOT / "sql" / "reference" / schema_of(room) / "error_catalogue.sql"
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        for comment, code, name in ROW.findall(text):
            lines = (line.strip().removeprefix("-- ") for line in comment.splitlines())
            when, _, example = " ".join(lines).partition(EXAMPLE)
            if not when:
                raise ValueError(f"{code} {name}: no comment says when it is raised")
            found.append(Error(code, name, when, example))
    return sorted(found)


def _place(name: str) -> tuple[bool, str]:
    return (name.islower(), name)
