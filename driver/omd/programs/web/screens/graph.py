"""What flows where over all rooms, as a picture with states and as a list."""

from __future__ import annotations

from collections import defaultdict
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from omd.programs.page import graph
from omd.programs.page.graph import Node
from omd.programs.page.markup import (
    SIGNS,
    Html,
    el,
    failed_times,
    light,
    message,
    name,
    state,
)
from omd.programs.report.flow import Flow, Key, colour, flow, named
from omd.programs.web import linked, parts
from omd.programs.web.linked import to
from omd.programs.web.section import Asked, Row, Screen, Section, Select

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_NODES = """\
SELECT kind, code, module_code, state, reason, last_problem, failures
FROM omd_report.flow_nodes
ORDER BY kind, code
LIMIT %(limit)s"""

_ARROWS = """\
SELECT from_kind, from_code, to_kind, to_code
FROM omd_report.flow
LIMIT %(limit)s"""

MOST = 2000  # nodes; nobody finds his way in a picture of more


def screen(asked: Asked) -> Screen:
    """Return the screen."""
    code = asked.query.get("of") or None
    selects = (Select(_NODES, {"limit": MOST}), Select(_ARROWS, {"limit": 4 * MOST}))

    def chosen(nodes: Sequence[Row], arrows: Sequence[Row]) -> Flow | Html:
        all_ = flow(*(
            [SimpleNamespace(**row) for row in rows] for rows in (arrows, nodes)
        ))  # fmt: skip
        its = all_.of(code) if code else all_
        if its is None:
            return el("p", "Nothing in the platform is called ", name(code), ".", cls="none")
        return its if its.rows else el("p", "Nothing flows yet.", cls="none")

    def picture(nodes: Sequence[Row], arrows: Sequence[Row]) -> Html:
        its = chosen(nodes, arrows)
        if isinstance(its, Html):
            return its
        drawn = [_node(row, code) for row in its.rows.values()]
        return graph.picture(drawn, its.edges(), "What flows where", shrinks=True)

    def table(nodes: Sequence[Row], arrows: Sequence[Row]) -> Html:
        its = chosen(nodes, arrows)
        return its if isinstance(its, Html) else _table(its)

    form = linked.form(parts.path("/graph"), linked.entry("Of", "of", code, "a code or a table"))
    title = f"Graph of {code}" if code else "Graph"
    sections = (
        Section("picture", "What flows where", selects, picture),
        Section("list", "The same as a list", selects, table),
    )
    return Screen("graph", title, sections, form)


def _node(row: Any, here: str | None) -> Node:
    note = ""
    if row.state is not None:
        look, word = state(row.state)
        reason = row.reason if row.reason != row.state else None
        note = f"{SIGNS[look]} {word}" + (f": {_in_words(reason)}" if reason else "")
        if row.failures and look != "F":
            note += f", {SIGNS['F']} {failed_times(row.failures)}"
    elif row.last_problem is not None:
        note = f"{SIGNS['F']} {row.last_problem}"
    kind = f"{colour(row)} here" if row.code == here else colour(row)
    return Node(named((row.kind, row.code)), kind, note=note, href=_path(row))


def _in_words(code: str) -> str:
    return code.replace("_", " ").lower()


def _path(row: Any) -> str | None:
    if row.module_code is not None:
        return linked.path_of("MODULE", row.module_code)
    return linked.path_of("TABLE", row.code)


def _table(its: Flow) -> Html:
    before: dict[Key, list[Key]] = defaultdict(list)
    after: dict[Key, list[Key]] = defaultdict(list)
    for one, other in its.arrows:
        after[one].append(other)
        before[other].append(one)

    def listed(keys: Iterable[Key]) -> Html:
        return el("span", *(el("span", _of(key), cls="line") for key in keys))

    rows = [
        {"row": row, "before": before[key], "after": after[key]} for key, row in its.rows.items()
    ]
    columns = {
        "kind": lambda r: r["row"].kind.lower().replace("_", " "),
        "code": lambda r: _of((r["row"].kind, r["row"].code)),
        "Module": lambda r: to("MODULE", r["row"].module_code) if r["row"].module_code else None,
        "state": lambda r: light(r["row"].state, r["row"].failures),
        "reason?": lambda r: _in_words(r["row"].reason)
        if r["row"].reason and r["row"].reason != r["row"].state else None,
        "fed by": lambda r: listed(r["before"]),
        "feeds": lambda r: listed(r["after"]),
        "problem?": lambda r: message(r["row"].last_problem) if r["row"].last_problem else None,
    }  # fmt: skip
    return parts.table(
        "omd_report.flow_nodes", rows, columns,
        key=lambda r: f"{r['row'].kind}/{r['row'].code}",
    )  # fmt: skip


def _of(key: Key) -> Html:
    """Return a link to the graph of what has this code."""
    return parts.link(parts.path("/graph", {"of": key[1]}), key[1])
