"""Links from what a cell names to the screen of it, and what can be done with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING

from omd.programs.page.markup import Html, badge, el, name
from omd.programs.web import parts
from omd.programs.web.section import Row, Section, Select

if TYPE_CHECKING:
    from omd.programs.page.markup import Columns
    from omd.programs.web.section import Asked

# The screen of each kind of object; a test compares them with omd_web.object_kind.
PATHS = {
    "MODULE": "/module/{key}",
    "BATCH": "/batch/{key}",
    "MODULE_INSTANCE": "/run/module/{key}",
    "BATCH_INSTANCE": "/run/batch/{key}",
    "TASK": "/task/{key}",
    "SUSPENSION": "/queue?suspension={key}",
    "SCHEDULE": "/queue?schedule={key}",
    "TASK_TYPE": "/queue?type={key}",
    "TOPIC": "/graph?of={key}",
    "DELIVERY": "/delivery/{key}",
    "ARRIVAL": "/deliveries?arrival={key}",
    "INTERFACE": "/graph?of={key}",
    "EXPORT": "/delivery/{key}",
    "RULESET": "/graph?of={key}",
    "RECALL": "/recall/{key}",
}
# What is named beside them; it has a screen, and nobody acts on it.
_MORE = {
    "STAGE": "/stage/{key}",
    "AGREEMENT": "/deliveries?agreement={key}",
    "LAKE_TABLE": "/lake?table={key}",
    **dict.fromkeys(("TABLE", "VIEW"), "/graph?of={key}"),
}


def path_of(kind: str, key: object) -> str | None:
    """Return where an object is shown; None: nowhere."""
    if kind == "ENTITY" and key is not None:
        interface, _, entity = str(key).partition("/")
        return parts.path("/facts/{interface}/{entity}", interface=interface, entity=entity)
    pattern = PATHS.get(kind) or _MORE.get(kind)
    if pattern is None or key is None:
        return None
    path, _, query = pattern.partition("?")
    if query:
        return parts.path(path, {query.partition("=")[0]: key})
    return parts.path(path, key=key)


def to(kind: str, key: object, text: object = None) -> Html:
    """Return a link to an object, which has its key or another text."""
    href = path_of(kind, key)
    shown = key if text is None else text
    return name(shown) if href is None else parts.link(href, str(shown))


def of(columns: Columns) -> Mapping[str, Callable[[Row], object]]:
    """Return columns that read attributes as columns that read the rows of the page."""

    def reading(cell: Callable[[object], object]) -> Callable[[Row], object]:
        return lambda row: cell(SimpleNamespace(**row))

    return {title: reading(cell) for title, cell in columns.items()}


def running_since(value: datetime | None) -> Html:
    """Return since when something runs; the browser counts how long that is."""
    if value is None:
        return Html("")
    at = value.isoformat(timespec="seconds")
    return el("time", f"{value.astimezone():%H:%M:%S}", datetime=at, data_since=at)


def took(start: datetime | None, end: datetime | None) -> Html | str:
    """Return how long something ran; the browser counts what still runs."""
    if start is None:
        return ""
    if end is None:
        return running_since(start)
    seconds = max((end - start).total_seconds(), 0)
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
    return f"{hours // 24} d {hours % 24}:{minutes:02}"


def status_of(row: Row) -> Html:
    """Return the status of a run, with the reason why it was aborted or skipped."""
    shown = badge(row["execution_status_code"])
    reason = row.get("reason_code")
    return el("span", shown, " ", el("small", reason)) if reason else shown


# Actions ----------------------------------------------------------------------------------------

_ACTIONS = """\
SELECT o.action_code, o.title, o.is_offered, o.is_careful,
    omd_web._needed_roles(a.routine::regproc) AS needed_roles
FROM omd_web.actions(%(kind)s, %(key)s) AS o
INNER JOIN omd_web.action AS a USING (action_code)"""


def actions(asked: Asked, kind: str, key: object) -> Section:
    """Return the section of what can be done with an object by whoever asks.

    What is offered is read for all who look; what of it the person may do is known with the
    rights, so that a watch can be shared (L2).
    """
    may = asked.person.rights.actions

    def render(rows: list[Row]) -> Html:
        shown = [row for row in rows if row["is_offered"]]
        if not shown:
            return el("p", "There is nothing that you can do with it now.", cls="none")
        permitted = [act(kind, key, row) for row in shown if row["action_code"] in may]
        return el(
            "div",
            el("div", *permitted, cls="actions") if permitted else None,
            *(needs(row) for row in shown if row["action_code"] not in may),
        )

    select = Select(_ACTIONS, {"kind": kind, "key": str(key)})
    return Section("actions", "What you can do", (select,), render)


def act(kind: str, key: object, action: Mapping[str, object]) -> Html:
    """Return the link to the dialog of an action."""
    code = str(action["action_code"])
    return parts.deed(
        parts.path("/do/{action_code}/{key}", action_code=code, key=key),
        code,
        action["title"],
        data_kind=kind,
        cls="action careful" if action.get("is_careful") else "action",
    )


def needs(action: Mapping[str, object]) -> Html:
    """Return which role an action needs that whoever asks may not do."""
    text = f"{action['title']}: it needs the role {action['needed_roles']}"
    return el("p", text, cls="note", data_needs=action["action_code"])


# Forms ------------------------------------------------------------------------------------------


def form(path: str | None, *fields: Html) -> Html:
    """Return the filters of a screen; without a path, of the one that has the form."""
    return el(
        "form", *fields, el("button", "Show", type="submit"), cls="filters", method="get",
        action=path,
    )  # fmt: skip


def choice(title: str, field: str, options: Iterable[tuple[str, str]], chosen: str | None) -> Html:
    """Return a field of a form with one of a few values."""
    inside = (
        el("option", text, value=value, selected="" if value == (chosen or "") else None)
        for value, text in options
    )
    return el("label", el("span", title), el("select", *inside, name=field))


def entry(title: str, field: str, value: str | None, hint: str | None = None) -> Html:
    """Return a field of a form with a text."""
    given = el("input", name=field, value=value or "", placeholder=hint, autocomplete="off")
    return el("label", el("span", title), given)
