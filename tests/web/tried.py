"""A screen of the tests' own, on a table of theirs, with all that a section may hold."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from omd.programs.page.markup import Html, el, moment
from omd.programs.web import linked, parts, routes
from omd.programs.web.section import Asked, Screen, Section, Select

if TYPE_CHECKING:
    Connection = psycopg.Connection[dict[str, Any]]


def screen(asked: Asked) -> Screen:
    select = Select(
        "SELECT n, word, at FROM public.tried ORDER BY n LIMIT %(limit)s", {"limit": 500}
    )
    note = Select("SELECT count(*) AS number FROM public.tried")
    return Screen(
        "tried",
        "Tried",
        (
            Section("rows", "Rows", (select,), _rows),
            Section("number", "Number", (note,), lambda rows: el("p", rows[0]["number"])),
            Section("still", "Still", (note,), lambda rows: el("p", "Still"), is_live=False),
        ),
    )


def _rows(rows: list[dict[str, Any]]) -> Html:
    columns: dict[str, Callable[[dict[str, Any]], object]] = {
        "Tick": lambda row: el(
            "input", type="checkbox", name="key", value=row["n"], aria_label=f"Row {row['n']}"
        ),
        "Word": lambda row: parts.link(parts.path("/tried", {"n": row["n"]}), row["word"]),
        "Text": lambda row: el("input", name="text", aria_label=f"Text {row['n']}"),
        "More": lambda row: el("details", el("summary", "More"), el("p", row["word"])),
        "At": lambda row: moment(row["at"]),
        "For": lambda row: linked.running_since(row["at"]),
        "Act": lambda row: el("a", "Do", href=parts.path("/tried"), data_action="TRY"),
    }
    return parts.table("public.tried", rows, columns, key="n")


@pytest.fixture
def tried(conn: Connection, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., float]]:
    """A function that writes a row of the screen /tried, and notifies; it returns when it was."""
    yield from show_tried(conn, monkeypatch)


def show_tried(conn: Connection, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., float]]:
    module = types.ModuleType("omd.programs.web.screens.tried")
    module.screen = screen  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "omd.programs.web.screens.tried", module)
    monkeypatch.setitem(routes.SCREENS, "/tried", "tried")
    conn.execute("DROP TABLE IF EXISTS public.tried")
    conn.execute("CREATE TABLE public.tried (n integer PRIMARY KEY, word text, at timestamptz)")
    conn.execute("GRANT SELECT ON public.tried TO omd_reader")

    def write(n: int, word: str | None = None, at: str = "2026-01-02 03:04:05+00") -> float:
        import time

        with conn.transaction():
            conn.execute(
                "INSERT INTO public.tried VALUES (%s, %s, %s)"
                " ON CONFLICT (n) DO UPDATE SET word = excluded.word, at = excluded.at",
                (n, word or f"word {n}", at),
            )
            conn.execute("SELECT pg_notify('omd_event', '')")
        return time.time()

    yield write
    conn.execute("DROP TABLE public.tried")
