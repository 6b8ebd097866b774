"""Markup that screens share: links, tables, states, and what can be done with a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from urllib.parse import urlencode

from omd.programs.page.markup import Html, badge, el, name
from omd.programs.web import routes
from omd.programs.web.section import Row, Section

__all__ = ["badge", "link", "path", "sql_and_csv", "table", "under"]

_PREFIX: ContextVar[str] = ContextVar("omd_web_prefix", default="")
_SECTION: ContextVar[str] = ContextVar("omd_web_section", default="")


@contextmanager
def under(prefix: str) -> Iterator[None]:
    """Let links begin with the prefix of the page; whoever renders a section does it inside."""
    token = _PREFIX.set(prefix)
    try:
        yield
    finally:
        _PREFIX.reset(token)


@contextmanager
def inside(section: str) -> Iterator[None]:
    """Let the rows of tables have ids that no other section of the page has."""
    token = _SECTION.set(section)
    try:
        yield
    finally:
        _SECTION.reset(token)


def id_of(key: object) -> str:
    """Return the id of an element of a section: by it a new picture finds the old element."""
    return f"{_SECTION.get()}:{routes.quoted(key)}"


def path(pattern: str, /, query: Mapping[str, object] | None = None, **keys: object) -> str:
    """Return a path of the page: ``path("/module/{code}", code="a/b")``."""
    return _PREFIX.get() + routes.filled(pattern, keys, **(query or {}))


def link(href: str, text: object, **attributes: object) -> Html:
    """Return a link to a path that `path` made; a text is isolated, since it may be a code."""
    return el("a", text if isinstance(text, Html) else name(text), href=href, **attributes)


def deed(href: str, code: str, title: object, **attributes: object) -> Html:
    """Return a link to the dialog of an action, as programs and page.js find it."""
    return link(href, Html(el("span", title)), data_action=code, **{"cls": "action", **attributes})


# Tables ----------------------------------------------------------------------------------------


def table(
    view: str,
    rows: Sequence[Row],
    columns: Mapping[str, Callable[[Row], object]],
    *,
    key: str | Callable[[Row], object] | None = None,
) -> Html:
    """Return a table of rows.

    A column whose title ends in # holds numbers; before that, a ? leaves out the column when
    there is nothing in it.

    Args:
        view: from which the rows are.
        rows: as they were read.
        columns: title → what makes a cell of a row.
        key: a column or what makes the key of a row, by which programs find it.
    """
    if not rows:
        # A program finds the table of a view that has no rows, too.
        return el("table", el("tbody", el("tr", el("td", "None", cls="none"))), data_view=view)
    cells = {title: [cell(row) for row in rows] for title, cell in columns.items()}
    shown = {
        title: its
        for title, its in cells.items()
        if not title.rstrip("#").endswith("?") or any(each not in (None, "") for each in its)
    }
    titles = [(title.rstrip("#?"), "num" if title.endswith("#") else None) for title in shown]
    # A column without a title, such as of links to actions, has no heading either.
    head = (el("th", title, scope="col", cls=kind) if title else el("td") for title, kind in titles)

    def key_of(row: Row) -> object:
        return row[key] if isinstance(key, str) else key(row) if key else None

    body = (
        el(
            "tr",
            *(
                el("td", cell, cls=kind, data_t=title)
                for cell, (title, kind) in zip(line, titles, strict=True)
            ),
            data_key=key_of(row),
            id=None if key is None else id_of(key_of(row)),
        )
        for row, line in zip(rows, zip(*shown.values(), strict=True), strict=True)
    )
    inside = el("table", el("thead", el("tr", *head)), el("tbody", *body), data_view=view)
    return el("div", inside, cls="scroll", tabindex=0)


def sql_and_csv(section: Section, query: Mapping[str, str]) -> Html:
    """Return the SQL of a section's table and the link to all its rows."""
    first = section.selects[0]
    href = f"?{urlencode({**query, 'csv': section.id})}"
    return el(
        "div",
        el("details", el("summary", "SQL"), el("pre", first.shown, tabindex=0)),
        el("a", "CSV", href=href, download="", data_csv=section.id),
        cls="tools",
    )
