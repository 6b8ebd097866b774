"""Markup that screens share: links, tables, states, and what can be done with a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from urllib.parse import urlencode

from omd._terminal.markup import Html, el, name
from omd.web import routes
from omd.web.section import Row, Section

_PREFIX: ContextVar[str] = ContextVar("omd_web_prefix", default="")


@contextmanager
def under(prefix: str) -> Iterator[None]:
    """Let links begin with the prefix of the page; whoever renders a section does it inside."""
    token = _PREFIX.set(prefix)
    try:
        yield
    finally:
        _PREFIX.reset(token)


def path(pattern: str, /, query: Mapping[str, object] | None = None, **keys: object) -> str:
    """Return a path of the page: ``path("/module/{code}", code="a/b")``."""
    return _PREFIX.get() + routes.filled(pattern, keys, **(query or {}))


def link(href: str, text: object, **attributes: object) -> Html:
    """Return a link to a path that `path` made; a text is isolated, since it may be a code."""
    return el("a", text if isinstance(text, Html) else name(text), href=href, **attributes)


# States ----------------------------------------------------------------------------------------


_LOOKS = {
    "good": "\N{CHECK MARK}",
    "busy": "\N{CIRCLE WITH LEFT HALF BLACK}",
    "bad": "\N{MULTIPLICATION X}",
    "wait": "!",
    "none": "\N{EN DASH}",
}

_STATES: dict[str, tuple[str, str]] = {
    "S": ("good", "succeeded"),
    "E": ("busy", "executing"),
    "F": ("bad", "failed"),
    "A": ("wait", "aborted"),
    "C": ("none", "skipped"),
    "SUCCEEDED": ("good", "succeeded"),
    "DONE": ("good", "done"),
    "COMPLETED": ("good", "completed"),
    "READY": ("good", "ready"),
    "RUNNING": ("busy", "running"),
    "EXECUTING": ("busy", "executing"),
    "CLAIMED": ("busy", "claimed"),
    "FAILED": ("bad", "failed"),
    "DEAD": ("bad", "dead"),
    "REJECTED": ("bad", "rejected"),
    "BACK_OFF": ("wait", "backs off"),
    "PAUSED": ("wait", "paused"),
    "WAITING": ("wait", "waits"),
    "PENDING": ("wait", "pending"),
    "SUSPENDED": ("wait", "suspended"),
    "ABORTED": ("wait", "aborted"),
    "CANCELLED": ("none", "cancelled"),
    "SKIPPED": ("none", "skipped"),
    "IDLE": ("none", "idle"),
}


def badge(status: str | None) -> Html:
    """Return a state as colour, sign and word; one that is not known is its own word."""
    if status is None:
        return Html("")
    look, word = _STATES.get(status, ("none", status.replace("_", " ").lower()))
    sign = el("span", _LOOKS[look], cls="sign", aria_hidden="true")
    return el("span", sign, el("span", word, cls="word"), cls=f"state {look}", data_status=status)


# Tables ----------------------------------------------------------------------------------------


def table(
    view: str,
    rows: Sequence[Row],
    columns: Mapping[str, Callable[[Row], object]],
    *,
    key: str | Callable[[Row], object] | None = None,
) -> Html:
    """Return a table of rows; a column whose title ends in # holds numbers.

    Args:
        view: from which the rows are.
        rows: as they were read.
        columns: title → what makes a cell of a row.
        key: a column or what makes the key of a row, by which programs find it.
    """
    if not rows:
        # A program finds the table of a view that has no rows, too.
        return el("table", el("tbody", el("tr", el("td", "None.", cls="none"))), data_view=view)
    kinds = {title: "num" if title.endswith("#") else None for title in columns}
    head = (el("th", title.rstrip("#"), scope="col", cls=kinds[title]) for title in columns)

    def key_of(row: Row) -> object:
        return row[key] if isinstance(key, str) else key(row) if key else None

    body = (
        el(
            "tr",
            *(
                el("td", cell(row), cls=kinds[title], data_t=title.rstrip("#"))
                for title, cell in columns.items()
            ),
            data_key=key_of(row),
        )
        for row in rows
    )
    inside = el("table", el("thead", el("tr", *head)), el("tbody", *body), data_view=view)
    return el("div", inside, cls="scroll", tabindex=0)


def sql_and_csv(section: Section, query: Mapping[str, str]) -> Html:
    """Return the SQL of a section's table and the link to all its rows, for its foot."""
    first = section.selects[0]
    href = f"?{urlencode({**query, 'csv': section.id})}"
    return el(
        "footer",
        el("details", el("summary", "SQL"), el("pre", first.shown, tabindex=0)),
        el("a", "CSV", href=href, download="", data_csv=section.id),
    )


def action_links(kind: str, key: object, actions: Sequence[Mapping[str, Any]]) -> Html:
    """Return the offered actions of an object, as rows of ``omd_web.actions``.

    What the person may not do is shown with the reason, and leads to the dialog that says it too.
    """
    links = [
        link(
            path("/do/{action_code}/{key}", action_code=action["action_code"], key=key),
            action["title"],
            data_action=action["action_code"],
            data_kind=kind,
            title=action.get("why_not"),
            cls="action" if action["is_permitted"] else "action refused",
        )
        for action in actions
        if action["is_offered"]
    ]
    return el("span", *links, cls="actions") if links else Html("")
