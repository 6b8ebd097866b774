"""One HTML file that shows what the page shows now, without its links: `omd status --html`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timezone

import psycopg

from omd.programs.page.markup import STYLE, Html, badge, el, message, moment, name, page, zone
from omd.programs.web import frame, parts
from omd.programs.web.assets import assets
from omd.programs.web.reading import Reader
from omd.programs.web.screens import now
from omd.programs.web.section import Row, Section, Select

_PROBLEMS = """\
SELECT severity, subject, text, way_out, since
FROM (
    SELECT * FROM omd_report.problems
    UNION ALL
    SELECT * FROM omd_report.server_problems
) AS p
ORDER BY severity, problem_code, object_kind, object_key
LIMIT %(limit)s"""

# A link leads to a screen, which a file has not; one that leads to a part of it stays.
_TO_PART = re.compile(r' href="/(#[^"]*)"')
_ELSEWHERE = re.compile(r' href="[^#"][^"]*"')


def still(dsn: str, hours: str) -> str:
    """Return the page.

    Args:
        dsn: the database.
        hours: how far back runs and failures are shown, one of `now.SPANS`.
    """
    reader = Reader(dsn, is_own=True)
    try:
        reader.check()
        first = Section("problems", "Problems", (Select(_PROBLEMS, {"limit": 200}),), _problems)
        read: dict[int, list[Row]] = {}  # a query that two sections have is asked once
        shown = [_drawn(section, reader, read) for section in (first, *now.sections(hours))]
    finally:
        reader.close()
    at = datetime.now(timezone.utc)
    head = el("p", name(reader.database), ", ", moment(at), " ", zone())
    style = assets()["page.css"].content.decode().removeprefix(STYLE)
    title = f"OMD · {reader.database} · {at.astimezone():%Y-%m-%d %H:%M}"
    whole = page(title, el("h1", "Now"), head, *shown, style=style)
    return _ELSEWHERE.sub("", _TO_PART.sub(r' href="\1"', whole))


def _drawn(section: Section, reader: Reader, read: dict[int, list[Row]]) -> Html:
    """Return a section; one that can't be read says so, and the others are there."""
    tables: list[list[Row]] | psycopg.Error
    try:
        for select in section.selects:
            if id(select) not in read:
                read[id(select)] = reader.read(select)
        tables = [read[id(select)] for select in section.selects]
    except psycopg.Error as error:
        tables = error
    return el("section", el("h2", section.title), frame.inside(section, tables), id=section.id)


def _problems(rows: Sequence[Row]) -> Html:
    kinds = {"ERROR": "F", "WARNING": "A"}
    columns = {
        "": lambda row: badge(kinds.get(row["severity"], "C"), row["severity"].lower()),
        "what": lambda row: name(row["subject"]),
        "since": lambda row: moment(row["since"]),
        "problem": lambda row: message(row["text"]),
        "way out": lambda row: message(row["way_out"]),
    }
    return parts.table("omd_report.problems", rows, columns)
