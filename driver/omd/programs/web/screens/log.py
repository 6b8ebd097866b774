"""``/log``: the event log, newest first: who did what, when, and why.

It may have millions of rows, so it is paged by its key. A filter that no index serves looks through
a slice of it, and a link goes on with the slice before that.
"""

from __future__ import annotations

from collections.abc import Sequence

import psycopg

from omd.programs.page.markup import Html, el, join, moment
from omd.programs.web import cells, lists, parts
from omd.programs.web.section import Asked, Row, Screen, Section, Select

_ROWS = 100
_SLICE = 100_000  # events, or as many as a CSV may have rows

_ERRORS = (1, 2)
_TYPES = {
    "errors": "event_type_code IN (1, 2)",
    "of runs": "event_type_code = 3",
    "changes": "event_type_code = 4",
    "rollbacks": "event_type_code = 5",
    "information": "event_type_code = 6",
}
_SLICED = {
    "module": "module_code = %(module)s",
    "batch": "batch_code = %(batch)s",
    "text": (
        "position(lower(%(text)s) IN lower(concat_ws(' ', event_return_code_details,"
        " event_detail, reason))) > 0"
    ),
}
_INDEXED = {
    "run": "module_instance_id = %(run)s::bigint",
    "batch_run": "batch_instance_id = %(batch_run)s::bigint",
}


def screen(asked: Asked) -> Screen:
    """Return a page of the event log."""
    return Screen("log", "Event log", (_events(asked),), form=_form(asked))


def _form(asked: Asked) -> Html:
    return lists.filters(
        lists.choice(asked, "type", "type", list(_TYPES)),
        lists.field(asked, "module", "Module"),
        lists.field(asked, "batch", "Batch"),
        lists.field(asked, "run", "run of a Module"),
        lists.field(asked, "text", "text in it"),
        lists.field(asked, "until", "up to", "2026-12-31 14:00"),
    )


def _events(asked: Asked) -> Section:
    query = asked.query
    values: dict[str, object] = {
        name: query[name] for name in (*_SLICED, *_INDEXED) if query.get(name)
    }
    conditions = [text for name, text in {**_INDEXED, **_SLICED}.items() if name in values]
    if query.get("type") in _TYPES:
        conditions.append(_TYPES[query["type"]])
    is_indexed = any(name in values for name in _INDEXED)
    last = _last(asked)
    is_sliced = bool(conditions) and not is_indexed and last is not None
    if query.get("before"):
        conditions.insert(0, "event_id < %(before)s::bigint")
        values["before"] = query["before"]
    elif query.get("until"):
        known = "event_id <= %(last)s::bigint"
        conditions.insert(0, "event_datetime <= %(until)s::timestamptz" if last is None else known)
        values |= {"until": query["until"], "last": last}
    paged = lists.Paged(asked, "before", "event_id")
    slice_ = lists.Slice(paged, last if is_sliced else None, _SLICE)
    conditions = [*slice_.conditions, *conditions]
    values |= slice_.values
    select = lists.select(
        asked,
        """\
SELECT event_id, event_datetime, event_type_code, event_type_description, batch_code, module_code,
    batch_instance_id, module_instance_id, event_return_code_details, event_detail, reason
FROM omd_report.event_log{where}
ORDER BY event_id DESC
LIMIT %(limit)s""",
        _ROWS,
        conditions,
        values,
    )
    is_whole = query.get("texts") == "whole"

    def render(rows: Sequence[Row]) -> Html:
        table = parts.table("omd_report.event_log", rows, _COLUMNS, key="event_id")
        notes = [slice_.rest(rows, _ROWS), _texts(asked, rows, is_whole)]
        return join([table, *(note for note in notes if note)])

    return Section("events", "Events", (select,), render, is_data=is_whole)


_COLUMNS = {
    "event#": lambda r: r["event_id"],
    "when": lambda r: moment(r["event_datetime"]),
    "what": lambda r: _what(r),
    "of": lambda r: cells.module(r["module_code"]) or cells.of("BATCH", r["batch_code"]),
    "run#": lambda r: cells.run(r["module_instance_id"]) or cells.batch_run(r["batch_instance_id"]),
    "in words": lambda r: cells.words(r["event_detail"]),
    "why": lambda r: cells.words(r["reason"]),
}


def _what(row: Row) -> Html:
    code = row["event_return_code_details"]
    if row["event_type_code"] in _ERRORS:
        return cells.state("F", code or "error")
    return el("bdi", code or row["event_type_description"], cls="nowrap")


def _last(asked: Asked) -> int | None:
    """Return the newest event that is asked for; None: nobody knows.

    The key grows with the time, so the last event up to an instant is found by halving: each step
    is one look into the index of the key.
    """
    until = asked.query.get("until")
    if asked.query.get("before") or not until:
        return lists.newest(asked, "before", "event_id", "omd.event_log")
    try:
        return int(asked.read(Select(_HALVING, {"until": until}))[0]["id"])
    except psycopg.DataError:  # the section itself shows the error
        return None


_HALVING = """\
WITH RECURSIVE step (low, high) AS (
    SELECT coalesce(min(event_id), 1) - 1, coalesce(max(event_id), 0) FROM omd.event_log
    UNION ALL
    SELECT
        CASE WHEN p.is_before THEN s.middle ELSE s.low END,
        CASE WHEN p.is_before THEN s.high ELSE s.middle - 1 END
    FROM (SELECT low, high, (low + high + 1) / 2 AS middle FROM step WHERE low < high) AS s
    CROSS JOIN LATERAL (
        SELECT coalesce(
            (
                SELECT e.event_datetime <= %(until)s::timestamptz
                FROM omd.event_log AS e
                WHERE e.event_id <= s.middle
                ORDER BY e.event_id DESC
                LIMIT 1
            ),
            TRUE
        ) AS is_before
    ) AS p
)
SELECT low AS id FROM step WHERE low >= high"""


def _texts(asked: Asked, rows: Sequence[Row], is_whole: bool) -> Html | None:
    """Return the way to the texts of errors, which may hold values of rows, or back."""
    if is_whole:
        return el(
            "p",
            parts.link(lists.here(asked, texts=None), "Without the texts of errors"),
            cls="note",
        )
    if all(row["event_type_code"] not in _ERRORS for row in rows):
        return None
    link = parts.link(lists.here(asked, texts="whole"), "With the whole texts of errors")
    return el("p", link, " (for omd_data_reader, read by a connection of your own)", cls="note")
