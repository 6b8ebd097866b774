"""What waits for a person, each with the action that settles it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omd.programs.page.markup import Html, badge, el, message, moment, name
from omd.programs.web import linked, parts
from omd.programs.web.linked import to
from omd.programs.web.section import Asked, Row, Screen, Section, Select

if TYPE_CHECKING:
    from collections.abc import Sequence

_TODO = """\
SELECT object_kind, key, title, since, problem, action_code
FROM omd_report.todo
WHERE (%(kind)s IS NULL OR object_kind = %(kind)s)
ORDER BY since DESC NULLS LAST, object_kind, key
LIMIT %(limit)s"""

_SERVER = """\
SELECT severity, subject, text, way_out
FROM omd_report.server_problems
ORDER BY severity, subject, object_key
LIMIT %(limit)s"""

_ACTIONS = """\
SELECT action_code, object_kind, title, is_careful,
    omd_web._needed_roles(routine::regproc) AS needed_roles
FROM omd_web.action"""

_KINDS = """\
SELECT object_kind, title
FROM omd_web.object_kind
ORDER BY object_kind"""


def screen(asked: Asked) -> Screen:
    """Return the screen."""
    kind = asked.query.get("kind") or None
    may = asked.person.rights.actions
    selects = (
        Select(_TODO, {"kind": kind, "limit": 200}),
        Select(_ACTIONS),
        Select(_KINDS),
    )

    def render(rows: Sequence[Row], actions: Sequence[Row], kinds: Sequence[Row]) -> Html:
        if not rows:
            return el("p", "Nothing waits for a person.", cls="none", data_status="S")
        known = {row["action_code"]: row for row in actions}
        titles = {row["object_kind"]: row["title"] for row in kinds}

        def settle(row: Row) -> Html | None:
            code = row["action_code"]
            if code not in known:
                return None
            if code not in may:
                return linked.needs(known[code])
            return linked.act(row["object_kind"], row["key"], known[code])

        columns = {
            "what": lambda row: el(
                "span", titles.get(row["object_kind"], row["object_kind"]), cls="nowrap"
            ),
            "title": lambda row: to(row["object_kind"], row["key"], row["title"]),
            "since": lambda row: moment(row["since"]),
            "settled by?": settle,
            "problem": lambda row: message(row["problem"]),
        }
        return parts.table(
            "omd_report.todo", rows, columns, key=lambda row: f"{row['object_kind']}/{row['key']}"
        )

    def server(rows: Sequence[Row]) -> Html:
        columns = {
            "": lambda row: badge("F" if row["severity"] == "ERROR" else "A", row["severity"]),
            "what": lambda row: name(row["subject"]),
            "problem": lambda row: message(row["text"]),
            "way out": lambda row: message(row["way_out"]),
        }
        return parts.table("omd_report.server_problems", rows, columns)

    its = Select(_SERVER, {"limit": 200})
    kinds = [("", "all"), *((row["object_kind"], row["title"]) for row in asked.read(selects[2]))]
    form = linked.form(parts.path("/todo"), linked.choice("Kind", "kind", kinds, kind))
    sections = (
        Section("todo", "What waits for a person", selects, render),
        # It changes when somebody changes the server, and to ask it takes a moment.
        Section("server", "The server", (its,), server, is_live=False),
    )
    return Screen("todo", "To do", sections, form)
