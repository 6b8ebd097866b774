"""The views of a room that people read."""

from __future__ import annotations

from omd.programs import install


def views_of(room: str) -> set[str]:
    """Return the names of the views of omd_report that begin with the name of the room."""
    folder = install.sql_root() / "sql" / "views" / f"omd_{room}"
    return {
        file.stem
        for file in folder.rglob(f"{room}_*.sql")
        if f"VIEW omd_report.{file.stem} " in (text := file.read_text(encoding="utf-8"))
        and "'For rooms:" not in text
    }
