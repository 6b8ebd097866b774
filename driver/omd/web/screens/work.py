"""What runs, what could run, what waits for what and since when, and who performs it."""

from __future__ import annotations

from collections.abc import Sequence

from omd._terminal.markup import Html, moment, name
from omd.web import parts
from omd.web.section import Asked, Row, Screen, Section, Select

_WORK = """\
SELECT module_kind_code, code, engine_code, state, reason, waits_for, since, not_before, failures
FROM omd_report.work
WHERE (%(state)s IS NULL OR state = %(state)s)
ORDER BY module_kind_code, code
LIMIT %(limit)s"""


def screen(asked: Asked) -> Screen:
    """Return the screen."""
    state = asked.query.get("state") or None
    select = Select(_WORK, {"state": state, "limit": 200})
    return Screen("work", "Work", (Section("work", "What there is to do", (select,), _table),))


def _table(rows: Sequence[Row]) -> Html:
    return parts.table(
        "omd_report.work",
        rows,
        {
            "Kind": lambda row: row["module_kind_code"],
            "Module": lambda row: parts.link(
                parts.path("/module/{code}", code=row["code"]), row["code"]
            ),
            "State": lambda row: parts.badge(row["state"]),
            "Reason": lambda row: row["reason"],
            "Waits for": lambda row: name(row["waits_for"] or ""),
            "Since": lambda row: moment(row["since"]),
            "Not before": lambda row: moment(row["not_before"]),
            "Failures#": lambda row: row["failures"],
            "Performed by": lambda row: row["engine_code"],
        },
        key="code",
    )
