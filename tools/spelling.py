"""What the documents say of this very copy: how OMD is installed, and where the repository is.

The name is on the registry or not (``omd._core.packages``), and the address stands in
``pyproject.toml``; each document says it as these two do.
"""

from __future__ import annotations

import re
from pathlib import Path

from metadata_hook import home
from omd._core import packages

ROOT = Path(__file__).resolve().parents[1]

_PIP = re.compile(
    r"(?P<pip>pip\s+install(?:\s+-[\w-]+)*\s+)(?P<quote>'?)(?:pgomd|\.)(?:\[(?P<extra>[\w,]+)\])?"
    r"(?P=quote)(?=[\s`);&,]|$)"
)
_CLONE = re.compile(r"(?m)(?<=git clone )\S+(?= omd\b)")


def documents() -> dict[str, str]:
    """Return the documents that are written by hand, as this copy must have them."""
    files = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return {
        file.relative_to(ROOT).as_posix(): spelled(file.read_text(encoding="utf-8"), home(ROOT))
        for file in files
        if file.is_file() and "reference" not in file.relative_to(ROOT).parts
    }


def spelled(text: str, address: str, *, published: bool = packages.PUBLISHED) -> str:
    """Return a document whose commands install OMD from where it is."""

    def command(found: re.Match[str]) -> str:
        return found["pip"] + packages.requirement(found["extra"] or "", published=published)

    return _CLONE.sub(address, _PIP.sub(command, text))
