"""``/find?q=``: what a text means; one exact hit leads straight there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import psycopg

from omd.programs.page.markup import Html
from omd.programs.web import cells, linked, lists, parts
from omd.programs.web.section import Asked, Row, Screen, Section, Select

_RANKS = {1: "this is it", 2: "begins with it", 3: "has it inside"}


def screen(asked: Asked) -> Screen:
    """Return what is found, or where the only exact hit is."""
    text = asked.query.get("q", "").strip()
    form = lists.filters(lists.field(asked, "q", "text"))
    if not text:
        words = "Search for an id, a code, or a part of one."
        nothing = Section("found", "Found", (), lambda: lists.nothing(words))
        return Screen("find", "Search", (nothing,), form=form)
    select = Select(
        """\
SELECT object_kind, key, title, detail, rank
FROM omd_web.find(%(text)s, %(limit)s)
ORDER BY rank, object_kind, key
LIMIT %(limit)s""",
        {"text": text, "limit": lists.MOST},
    )
    hits = Section("found", "Found", (select,), _table)
    return Screen("find", f"Search: {text}", (hits,), form=form, leads_to=_only(asked, select))


def _only(asked: Asked, select: Select) -> str | None:
    """Return the address of the only exact hit."""
    try:
        rows = asked.read(replace(select, values={**select.values, "limit": 3}))
    except psycopg.DatabaseError:  # the section itself shows the error
        return None
    exact = [row for row in rows if row["rank"] == 1]
    return linked.path_of(exact[0]["object_kind"], exact[0]["key"]) if len(exact) == 1 else None


def _table(rows: Sequence[Row]) -> Html:
    return parts.table(
        "omd_web.find",
        rows,
        {
            "kind": lambda r: r["object_kind"].replace("_", " ").lower(),
            "key": lambda r: linked.to(r["object_kind"], r["key"]),
            "what": lambda r: cells.text(r["title"]) if r["title"] != r["key"] else None,
            "more": lambda r: cells.words(r["detail"]),
            "how well": lambda r: _RANKS.get(r["rank"]),
        },
        key=lambda r: f"{r['object_kind']}/{r['key']}",
    )
