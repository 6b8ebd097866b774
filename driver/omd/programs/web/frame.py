"""What every page of the page has: the head, the rail, and the marks for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import psycopg

from omd.programs.page.markup import Html, el, name, zone
from omd.programs.web import icons, parts
from omd.programs.web.assets import assets
from omd.programs.web.section import Row, Section

if TYPE_CHECKING:
    from omd.programs.web.person import Person

# The rail: paths, the letters that lead there after g, and titles.
PLACES = {
    "/": ("n", "Now"),
    "/todo": ("t", "To do"),
    "/work": ("w", "Work"),
    "/grid": ("b", "Grid"),
    "/graph": ("g", "Graph"),
    "/queue": ("q", "Queue"),
    "/deliveries": ("d", "Deliveries"),
    "/lake": ("a", "Lake"),
    "/log": ("l", "Log"),
}

# htmx adds no style element, evaluates nothing and stays on this host.
# What a morph ignores is the browser's: whether details are open, what is marked and reached. A
# hidden tab is page.js's matter.
_CONFIG = json.dumps(
    {
        "includeIndicatorCSS": False,
        "history": False,
        "morphIgnore": ["data-htmx-powered", "open", "data-changed", "tabindex"],
        "sse": {
            "reconnectDelay": 250,
            "reconnectMaxDelay": 2000,
            "connectTimeout": 10000,
            "pauseOnBackground": False,
        },
    }
)

# The cookie in which page.js keeps the scheme that somebody has chosen.
SCHEME = "omd_scheme"


@dataclass(frozen=True)
class Head:
    """What the head says beside the person.

    Attributes:
        database: its name.
        logout: the token of the form that logs out; None: there is none.
        is_read_only: whether the page offers no action.
        scheme: light or dark, where somebody has chosen it.
    """

    database: str
    logout: str | None = None
    is_read_only: bool = False
    scheme: str | None = None


def page(
    name: str,
    title: str,
    body: Sequence[Html],
    person: Person,
    head: Head,
    *,
    stream: Html | None = None,
) -> str:
    """Return a whole page.

    Args:
        name: of the screen, the mark data-screen.
        title: its heading.
        body: what is below the heading.
        person: who looks.
        head: what the head says.
        stream: the element that connects to the stream of changes.
    """
    main = el("main", el("h1", el("bdi", title)), *body, id="main", tabindex=-1, data_screen=name)
    files = ("htmx.js", "hx-sse.js", "page.js", "dialog.js")
    scripts = (_script(file) for file in files if file in assets())
    inside = el(
        "body",
        el("a", "Skip to content", href="#main", cls="skip"),
        _head(person, head),
        _rail(name),
        main,
        el("p", id="said", cls="hidden", role="status", aria_live="polite"),
        stream,
        data_user=person.user,
        data_live="off",
        data_now=datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
        data_prefix=parts.path("/"),
    )
    config = el("meta", name="htmx-config", content=_CONFIG)
    return _document(title, inside, config, *scripts, scheme=head.scheme)


def small(title: str, *children: object, refresh: str | None = None) -> str:
    """Return a page without head and rail: a login, or what went wrong.

    Args:
        title: its heading.
        children: what is below it.
        refresh: the address that the browser asks for at once.
    """
    again = el("meta", http_equiv="refresh", content=f"0; url={refresh}") if refresh else None
    main = el("main", el("h1", title), *children, cls="small")
    return _document(title, el("body", main), again)


def section(
    section: Section,
    tables: Sequence[list[Row]] | psycopg.Error,
    query: Mapping[str, str],
) -> Html:
    """Draw a section of what was read for it, or of the error with which reading has ended.

    Args:
        section: what is drawn.
        tables: a list of rows per query.
        query: the parameters of the URL, for the link to the CSV.
    """
    tools = parts.sql_and_csv(section, query) if section.selects else None
    title = el("div", el("h2", section.title), tools, cls="title")
    return el("section", title, inside(section, tables), id=section.id)


def inside(section: Section, tables: Sequence[list[Row]] | psycopg.Error) -> Html:
    """Draw what stands below the title of a section; see `section`."""
    if isinstance(tables, psycopg.Error):
        return unread(tables)
    with parts.inside(section.id):
        return section.render(*tables)


def unread(error: psycopg.Error) -> Html:
    """Return what a section says that could not be read."""
    if isinstance(error, psycopg.errors.QueryCanceled):
        text = "This took longer than 5 s and was ended. The SQL below reads it without that limit."
    else:
        return problem(error)
    return el("p", text, role="alert", data_sqlstate=error.sqlstate, cls="unread")


def problem(error: psycopg.Error) -> Html:
    """Return an error of the database: message, detail, hint and code."""
    hint = error.diag.message_hint or getattr(error, "hint", None)
    return el(
        "div",
        el("p", error.diag.message_primary or str(error), cls="message"),
        el("p", hint, cls="hint") if hint else None,
        el("p", "SQLSTATE ", el("code", error.sqlstate)) if error.sqlstate else None,
        role="alert",
        data_sqlstate=error.sqlstate or "",
    )


def _head(person: Person, head: Head) -> Html:
    search = el(
        "form",
        el("label", "Search", for_="q", cls="hidden"),
        el("input", id="q", name="q", type="search", placeholder="Search", autocomplete="off"),
        role="search",
        action=parts.path("/find"),
        method="get",
    )
    roles = ", ".join(role.removeprefix("omd_") for role in person.roles)
    leave = (
        el(
            "form",
            el("input", type="hidden", name="form", value=head.logout),
            # Without a type it sends too; the button of a dialog is the only one that says so.
            el("button", "Log out"),
            action=parts.path("/logout"),
            method="post",
        )
        if head.logout
        else None
    )
    return el(
        "header",
        el("a", "OMD", href=parts.path("/"), cls="mark"),
        el("span", name(head.database), cls="database"),
        search,
        el("span", name(person.user), el("small", roles), cls="person"),
        el("span", "reads only", cls="read-only") if head.is_read_only else None,
        el("span", zone(), cls="zone"),
        el("span", cls="live"),
        el("button", "Pause", type="button", cls="quiet pause", hidden=""),
        el("button", "Keys", type="button", cls="quiet keys", hidden=""),
        el("button", "Scheme", type="button", cls="quiet scheme", hidden=""),
        leave,
    )


def _rail(name: str) -> Html:
    links = (
        el(
            "li",
            el(
                "a",
                icons.icon(path),
                el("span", title),
                href=parts.path(path),
                aria_keyshortcuts=f"g {letter}",
                aria_current="page" if path == ("/" if name == "now" else f"/{name}") else None,
            ),
        )
        for path, (letter, title) in PLACES.items()
    )
    return el("nav", el("ul", *links), aria_label="Screens")


def _document(title: str, body: Html, *more: Html | None, scheme: str | None = None) -> str:
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("title", f"{title} - OMD"),
        el("link", rel="stylesheet", href=_address("page.css")),
        *more,
    )
    chosen = scheme if scheme in ("light", "dark") else None
    html = el("html", head, body, lang="en", data_scheme=chosen)
    return f"<!doctype html>\n{html}\n"


def _script(file: str) -> Html:
    return el("script", src=_address(file), defer="")


def _address(file: str) -> str:
    return parts.path(assets()[file].path)
