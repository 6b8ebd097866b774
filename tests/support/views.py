"""The views of a room that people read."""

from __future__ import annotations

import json
from pathlib import Path

API = Path(__file__).parents[2] / "docs/reference/api.json"


def views_of(room: str) -> set[str]:
    """Return the names of the public views of omd_report that begin with the name of the room."""
    views = json.loads(API.read_text(encoding="utf-8"))["views"]
    names = {name.removeprefix("omd_report.") for name in views}
    return {name for name in names if name.startswith(f"{room}_")}
