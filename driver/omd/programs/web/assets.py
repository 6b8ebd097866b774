"""The files that a browser needs beside the pages; their names hold the hash of their content."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from omd.programs.page import graph, markup
from omd.programs.web import charts

_KINDS = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
          ".svg": "image/svg+xml"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asset:
    """A file, which never changes under its path."""

    path: str
    kind: str
    content: bytes


@cache
def assets() -> dict[str, Asset]:
    """Return the files by their names, as they were when the page began."""
    files = {}
    for file in sorted(Path(__file__).with_name("assets").iterdir()):
        if file.suffix in _KINDS:
            content = file.read_bytes()
            if file.name == "page.css":
                shared = "".join((markup.STYLE, markup.FINDING, charts.STYLE, graph.STYLE))
                content = shared.encode() + content
            hashed = hashlib.sha256(content).hexdigest()[:16]
            path = f"/assets/{file.stem}.{hashed}{file.suffix}"
            files[file.name] = Asset(path, _KINDS[file.suffix], content)
    return files


@cache
def by_path() -> dict[str, Asset]:
    """Return the files by their paths."""
    return {asset.path: asset for asset in assets().values()}
