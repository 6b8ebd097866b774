"""``/decisions/{run}?key=``: what a run of a stage has decided; with a key, how and why."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from omd.programs.page.markup import Html, badge, described, join, moment, number
from omd.programs.report import decision as explained
from omd.programs.web import cells, lists, parts
from omd.programs.web.section import Asked, Row, Screen, Section, Select
from omd.rooms.decision.rows import DecisionRunLogRow, ExplainRow

# A run that a recall took back is not in omd_report.decision_run_log, and has kept what it decided.
_RUN = """\
SELECT r.module_instance_id, s.stage_code, r.stage_id, r.stage_version, u.ruleset_code,
    r.ruleset_id, r.ruleset_version, r.content_hash, r.engine, r.batch_size, r.effective_at,
    r.begun_at, m.end_datetime, m.execution_status_code, r.waves, r.attempts, r.cycles,
    r.invocations, m.rows_input, m.rows_inserted, m.rows_rejected, r.supersedes
FROM omd_decision.run AS r
INNER JOIN omd_decision.stage AS s ON r.stage_id = s.stage_id
INNER JOIN omd_decision.ruleset AS u ON r.ruleset_id = u.ruleset_id
LEFT JOIN omd.module_instance AS m ON r.module_instance_id = m.module_instance_id
WHERE r.module_instance_id = %(run)s::bigint
LIMIT %(limit)s"""

_DEFINITION = """\
SELECT v.definition
FROM omd_decision.run AS r
INNER JOIN omd_decision.stage_version AS v
    ON r.stage_id = v.stage_id AND r.stage_version = v.version
WHERE r.module_instance_id = %(run)s::bigint
LIMIT %(limit)s"""


def screen(asked: Asked) -> Screen:
    """Return what a run has decided, or one decision of it."""
    run = asked.path["run"]
    lists.require(
        asked,
        "SELECT FROM omd_decision.run WHERE module_instance_id = %(run)s::bigint",
        f"run {run} of a stage",
    )
    is_one = bool(asked.query.get("key") or asked.query.get("cycle"))
    sections = (_decision(asked, run),) if is_one else (_calls(asked, run), _rejects(asked, run))
    return Screen(
        "decisions",
        f"Decisions of run {run}",
        (_run(run), *sections),
        form=lists.filters(
            lists.field(asked, "key", "key", '{"order_nbr": 5}'),
            lists.field(asked, "wave", "wave"),
        ),
    )


def _run(run: str) -> Section:
    select = Select(_RUN, {"run": run, "limit": 1})
    return Section("run", "The run", (select,), _described)


def _described(rows: Sequence[Row]) -> Html:
    if not rows:
        return lists.nothing("This is no run of a stage, or it was rolled back.")
    row = rows[0]
    return described(
        {
            "Run": cells.run(row["module_instance_id"]),
            "Status": badge(row["execution_status_code"]),
            "Stage": [cells.of("STAGE", row["stage_code"]), f", version {row['stage_version']}"],
            "Rules": [cells.text(row["ruleset_code"]), f", version {row['ruleset_version']}"],
            "On": row["engine"].capitalize(),
            "Began": moment(row["begun_at"]),
            "Ended": moment(row["end_datetime"]) or None,
            "Calls": number(row["invocations"]) or None,
            "Read": number(row["rows_input"]) or None,
            "Written": number(row["rows_inserted"]) or None,
            "Rejected": number(row["rows_rejected"]) or None,
        }
    )


# All that a run has kept ------------------------------------------------------------------------


def _calls(asked: Asked, run: str) -> Section:
    select = lists.select(
        asked,
        """\
SELECT wave, key, cycle_no, invocation_no, outputs, result
FROM omd_decision.cycle{where}
LIMIT %(limit)s""",
        lists.MOST,
        ["module_instance_id = %(run)s::bigint"],
        {"run": run},
        wave="wave",
    )

    def decision(row: Row) -> Html:
        if row["key"] is not None:
            one = {"key": as_key(row["key"]), "wave": row["wave"]}
        else:
            one = {"cycle": row["cycle_no"], "call": row["invocation_no"], "wave": row["wave"]}
        return parts.link(lists.here(asked, **one), "why")

    return lists.listing(
        "calls", "Its decisions", "omd_decision.cycle", select,
        {
            "wave": lambda r: cells.text(r["wave"]),
            "key": lambda r: cells.pairs(r["key"]),
            "cycle#": lambda r: r["cycle_no"],
            "call#": lambda r: r["invocation_no"],
            "came out": lambda r: cells.pairs(r["outputs"]),
            "answered": lambda r: cells.document(r["result"]),
            "why": decision,
        },
        is_data=True,
    )  # fmt: skip


def as_key(key: Any) -> str:
    """Return a key as a parameter of the URL."""
    return json.dumps(key, ensure_ascii=False, default=str)


def _rejects(asked: Asked, run: str) -> Section:
    select = lists.select(
        asked,
        """\
SELECT wave, link, arrival, code, text, key, cycle_no, cause_link, record
FROM omd_decision.reject{where}
LIMIT %(limit)s""",
        lists.MOST,
        ["module_instance_id = %(run)s::bigint"],
        {"run": run},
        wave="wave",
    )
    return lists.listing(
        "rejects", "Records that it rejected", "omd_decision.reject", select, REJECT,
        is_data=True,
    )  # fmt: skip


REJECT: dict[str, Callable[[Row], object]] = {
    "wave": lambda r: cells.text(r["wave"]),
    "link": lambda r: cells.text(r["link"]),
    "record#": lambda r: r["arrival"],
    "code": lambda r: r["code"],
    "because": lambda r: cells.words(r["text"]),
    "key": lambda r: cells.pairs(r["key"]),
    "what it says": lambda r: cells.document(r["record"]),
}  # the columns of a record that a run rejected


# One decision -----------------------------------------------------------------------------------


def _decision(asked: Asked, run: str) -> Section:
    key = asked.query.get("key") or None
    select = lists.select(
        asked,
        """\
SELECT *
FROM omd_decision.explain(%(run)s::bigint, %(key)s::jsonb, %(wave)s){where}
ORDER BY wave, key, cycle_no, invocation_no, link, arrival
LIMIT %(limit)s""",
        lists.MOST,
        [],
        {"run": run, "key": key, "wave": asked.query.get("wave") or None},
        cycle="cycle_no = %s::bigint",
        call="invocation_no = %s::bigint",
    )
    selects = (
        select,
        Select(_RUN, {"run": run, "limit": 1}),
        Select(_DEFINITION, {"run": run, "limit": 1}),
    )

    def render(rows: Sequence[Row], runs: Sequence[Row], definitions: Sequence[Row]) -> Html:
        if not runs:
            return lists.nothing("This is no run of a stage, or it was rolled back.")
        definition = definitions[0]["definition"]
        steps = [ExplainRow(**row) for row in rows]
        explanation = explained.Explanation(
            DecisionRunLogRow(**runs[0]),
            next((step.key for step in steps), None) if key else None,
            asked.query.get("wave") or None,
            definition["links"][0]["name"],
            explained.in_step(definition),
            [step for step in steps if step.link is None],
            [step for step in steps if step.link is not None],
        )
        return join(explained.as_sections(explanation))

    title = "How it was decided"
    return Section("decision", title, selects, render, is_data=True)
