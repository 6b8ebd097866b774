"""What every page of the page has: the head, the rail, and the marks for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psycopg

from omd._terminal.markup import Html, el, name, zone
from omd.web import parts
from omd.web.assets import assets
from omd.web.section import Row, Screen, Section

if TYPE_CHECKING:
    from omd.web.person import Person

# The rail: paths and their titles.
PLACES = {
    "/": "Now",
    "/todo": "To do",
    "/work": "Work",
    "/grid": "Grid",
    "/graph": "Graph",
    "/queue": "Queue",
    "/deliveries": "Deliveries",
    "/lake": "Lake",
    "/log": "Log",
}

# htmx adds no style element, evaluates nothing and stays on this host.
_CONFIG = '{"includeIndicatorCSS": false, "morphIgnore": ["open"]}'


@dataclass(frozen=True)
class Head:
    """What the head says beside the person.

    Attributes:
        database: its name.
        logout: the token of the form that logs out; None: there is none.
        is_read_only: whether the page offers no action.
    """

    database: str
    logout: str | None = None
    is_read_only: bool = False


def whole(title: str, body: Html) -> str:
    """Return a document."""
    head = [
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="htmx-config", content=_CONFIG),
        el("title", title),
        _link("stylesheet", "page.css"),
        *(
            _script(file)
            for file in ("htmx.js", "hx-sse.js", "page.js", "dialog.js")
            if file in assets()
        ),
    ]
    return f"<!doctype html>\n{el('html', el('head', *head), body, lang='en')}\n"


def page(
    screen: Screen,
    sections: Sequence[Html],
    person: Person,
    head: Head,
    *,
    live: str = "off",
    attributes: Mapping[str, object] | None = None,
) -> str:
    """Return the page of a screen.

    Args:
        screen: what is shown.
        sections: its sections, which `section` drew.
        person: who looks.
        head: what the head says.
        live: the mark data-live: on, paused or off.
        attributes: more attributes of the element main, such as the address of the stream.
    """
    main = el(
        "main",
        el("h1", screen.title),
        screen.form,
        *sections,
        id="main",
        tabindex=-1,
        data_screen=screen.name,
        **(attributes or {}),
    )
    body = el(
        "body",
        el("a", "Skip to content", href="#main", cls="skip"),
        _head(person, head),
        _rail(screen),
        main,
        data_user=person.user,
        data_live=live,
        data_prefix=parts.path("/"),
    )
    return whole(f"{screen.title} - OMD", body)


def small(title: str, *children: object, refresh: str | None = None) -> str:
    """Return a page without head and rail: a login, or what went wrong.

    Args:
        title: its heading.
        children: what is below it.
        refresh: the address that the browser asks for at once.
    """
    again = el("meta", http_equiv="refresh", content=f"0; url={refresh}") if refresh else None
    head = [
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        again,
        el("title", f"{title} - OMD"),
        _link("stylesheet", "page.css"),
    ]
    main = el("main", el("h1", title), *children, cls="small")
    html = el("html", el("head", *head), el("body", main), lang="en")
    return f"<!doctype html>\n{html}\n"


def section(
    section: Section, found: Sequence[list[Row]] | psycopg.Error, query: Mapping[str, str]
) -> Html:
    """Draw a section of what was read for it, or of the error with which reading has ended.

    Args:
        section: what is drawn.
        found: a list of rows per query.
        query: the parameters of the URL, for the link to the CSV.
    """
    if isinstance(found, psycopg.Error):
        inside = [unread(found), parts.sql_and_csv(section, query)]
    else:
        inside = [section.render(*found), parts.sql_and_csv(section, query)]
    return el("section", el("h2", section.title), *inside, id=section.id)


def unread(error: psycopg.Error) -> Html:
    """Return what a section says that could not be read."""
    if isinstance(error, psycopg.errors.QueryCanceled):
        text = "This took longer than 5 s and was ended. The SQL below reads it without that limit."
        return el("p", text, role="alert", data_sqlstate=error.sqlstate, cls="unread")
    return problem(error)


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
            el("button", "Log out", type="submit"),
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
        el("span", zone(), id="zone"),
        el("span", "not live", id="live", role="status"),
        leave,
    )


def _rail(screen: Screen) -> Html:
    links = (
        el(
            "li",
            el(
                "a",
                title,
                href=parts.path(path),
                aria_current="page" if path == f"/{screen.name}" else None,
            ),
        )
        for path, title in PLACES.items()
    )
    return el("nav", el("ul", *links), aria_label="Screens")


def _link(rel: str, file: str) -> Html:
    return el("link", rel=rel, href=_address(file))


def _script(file: str) -> Html:
    return el("script", src=_address(file), defer="")


def _address(file: str) -> str:
    return parts.path(assets()[file].path)
