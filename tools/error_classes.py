"""The classes of errors in Python, written by ``tools/generate.py`` from the catalogue.

A room's errors are in ``sql/reference/<schema>/error_catalogue.sql``. The comment in a row of it
says when the error is raised; it is the docstring of the class, and stands in the reference. What
only the driver raises is written by hand in ``own_errors.py`` of the room, and what the core itself
raises in ``driver/omd/_core/errors.py``.
"""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from omd.doors.registry import ROOMS, schema_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "driver" / "omd"
WIDTH = 100

# A row begins so in the file: a parenthesis, when the error is raised, its code, its name.
ROW = re.compile(r"^\(\n((?: +-- .*\n)*) +'(OM\d{3})',\s+'(\w+)'", re.MULTILINE)
BASES = {"OM0": "CallerError", "OM1": "StateError", "OM2": "ConfigurationError"}


class Error(NamedTuple):
    """An error of a room."""

    code: str
    name: str
    when: str


def files(header: str, catalogue: Mapping[str, str]) -> dict[str, str]:
    """Return the text of each file, by its path.

    Args:
        header: the first line of each.
        catalogue: the names of all errors, by code, as the database has them.
    """
    core = _classes("_core/errors.py")
    found: dict[str, str] = {}
    names = {"_core": core}
    coded: set[str] = set(core)
    for room in sorted(ROOMS):
        catalogued = _errors(room)
        errors = [error for error in catalogued if error.name not in core]
        of_core = [error.name for error in catalogued if error.name in core]
        own = _classes(f"rooms/{room}/own_errors.py")
        if errors or own:
            found[f"driver/omd/rooms/{room}/errors.py"] = header + _room(room, errors, of_core, own)
            names[f"rooms.{room}"] = sorted([*own, *(error.name for error in errors)])
            coded |= {error.name for error in errors}
    if unread := set(catalogue.values()) - coded:
        raise ValueError(f"no row of a file error_catalogue.sql is read for {sorted(unread)}")
    found["driver/omd/errors.py"] = header + _all(names)
    return found


def _errors(room: str) -> list[Error]:
    """Return the errors of a room, in the order of their codes."""
    file = ROOT / "sql" / "reference" / schema_of(room) / "error_catalogue.sql"
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    errors = []
    for comment, code, name in ROW.findall(text):
        when = " ".join(line.strip().removeprefix("-- ") for line in comment.splitlines())
        errors.append(Error(code, name, when))
    return sorted(errors)


def _classes(name: str) -> list[str]:
    """Return the classes that a file has, if it exists."""
    file = PACKAGE / name
    if not file.exists():
        return []
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return sorted(node.name for node in tree.body if isinstance(node, ast.ClassDef))


def _room(room: str, errors: Sequence[Error], of_core: Sequence[str], own: Sequence[str]) -> str:
    from_core = sorted({*of_core, *(BASES[error.code[:3]] for error in errors)})
    imports = [f"from omd._core.errors import ({', '.join(from_core)},)"] if from_core else []
    if own:
        imports.append(f"from omd.rooms.{room}.own_errors import ({', '.join(own)},)")
    lines = [
        f'"""The errors of the room {room}; sql/reference/{schema_of(room)} has their texts."""',
        "# ruff: noqa: N818 - the names say what happened; a suffix Error would add nothing",
        "",
        "from __future__ import annotations",
        "",
        *imports,
        "",
        f"__all__ = {sorted([*of_core, *own, *(error.name for error in errors)])!r}",
    ]
    for error in errors:
        if not error.when:
            raise ValueError(f"{error.code} {error.name}: no comment says when it is raised")
        base = BASES[error.code[:3]]
        lines += ["", "", f'class {error.name}({base}, code="{error.code}"):', _docstring(error)]
    return "\n".join([*lines, ""])


def _docstring(error: Error) -> str:
    text = textwrap.wrap(
        f'    """{error.when}', WIDTH, subsequent_indent="    ", break_on_hyphens=False
    )
    if len(text) == 1 and len(text[0]) + 3 <= WIDTH:
        return f'{text[0]}"""'
    return "\n".join([*text, '    """'])


def _all(names: Mapping[str, Sequence[str]]) -> str:
    """Every error of every room, under one name."""
    everything = sorted(name for found in names.values() for name in found)
    return "\n".join(
        [
            '"""The errors of all rooms."""',
            "",
            *(f"from omd.{home}.errors import ({', '.join(n)},)" for home, n in names.items()),
            "",
            f"__all__ = {everything!r}",
            "",
        ]
    )
