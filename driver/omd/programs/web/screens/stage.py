"""``/stage/{code}``: the runs of a stage, what they rejected, its rulesets and their tests."""

from __future__ import annotations

from collections.abc import Sequence

from omd.programs.page.markup import (
    Html,
    badge,
    described,
    el,
    join,
    moment,
    number,
)
from omd.programs.web import cells, lists
from omd.programs.web.screens import decisions
from omd.programs.web.section import Asked, Row, Screen, Section, Select

_STATES = {"ACTIVE": "S", "DRAFT": "A", "INACTIVE": "C"}
_READINESS = {"DUE": "S", "BACK_OFF": "A", "FAILED": "F", "INACTIVE": "C"}

# The ruleset of the stage, as a condition on ruleset_code.
_ITS_RULESET = """\
ruleset_code = (
    SELECT s.ruleset_code FROM omd_report.decision_stage_list AS s WHERE s.stage_code = %(code)s
)"""


def screen(asked: Asked) -> Screen:
    """Return a stage."""
    code = asked.path["code"]
    lists.require(
        asked,
        "SELECT FROM omd_decision.stage WHERE stage_code = %(code)s",
        f"stage {code}",
    )
    return Screen(
        "stage",
        f"Stage {code}",
        (
            _stage(code),
            _runs(asked, code),
            _rulesets(asked, code),
            _tests(asked, code),
            _rejects(asked, code),
        ),
    )


def _stage(code: str) -> Section:
    selects = (
        Select(
            "SELECT * FROM omd_report.decision_stage_list WHERE stage_code = %(code)s"
            " LIMIT %(limit)s",
            {"code": code, "limit": 1},
        ),
        Select(
            "SELECT * FROM omd_report.stage_readiness WHERE stage_code = %(code)s LIMIT %(limit)s",
            {"code": code, "limit": 1},
        ),
    )
    return Section("stage", "What it is", selects, _described)


def _described(stages: Sequence[Row], readiness: Sequence[Row]) -> Html:
    if not stages:
        return lists.nothing("There is no stage of this name.")
    stage = stages[0]
    return described(
        {
            "Module": cells.module(stage["module_code"]),
            "Mode": stage["mode"].lower(),
            "Ruleset": cells.text(stage["ruleset_code"]),
            "State": join(lists.spaced([_ready(row) for row in readiness])) or None,
            "Version": stage["version"],
            "Defined": [moment(stage["defined_at"]), " by ", cells.text(stage["defined_by"])],
            "Problem": cells.words(stage["problem"]),
            "Document": cells.document(stage["definition"]),
        }
    )


def _ready(row: Row) -> Html:
    state = cells.state(_READINESS.get(row["reason"], "C"), row["reason"].replace("_", " ").lower())
    failures = f" after {row['failures']:,} failures" if row["failures"] else ""
    until = [", not before ", moment(row["not_before"])] if row["not_before"] else []
    return el("span", state, failures, *until)


# The runs of a stage are in an index with it; the newest of them are found there first.
_RUNS = """\
SELECT l.module_instance_id, l.stage_version, l.ruleset_code, l.ruleset_version, l.engine,
    l.begun_at, l.end_datetime, l.execution_status_code, l.waves, l.invocations, l.rows_input,
    l.rows_inserted, l.rows_rejected
FROM omd_decision.stage AS s
CROSS JOIN LATERAL (
    SELECT r.module_instance_id
    FROM omd_decision.run AS r
    WHERE r.stage_id BETWEEN s.stage_id AND s.stage_id
        AND r.recall_id IS NULL
        AND r.module_instance_id < coalesce(%(before)s::bigint, 9223372036854775807)
    ORDER BY r.stage_id DESC, r.module_instance_id DESC
    LIMIT %(limit)s
) AS n
INNER JOIN omd_report.decision_run_log AS l ON n.module_instance_id = l.module_instance_id
WHERE s.stage_code = %(code)s
ORDER BY l.module_instance_id DESC
LIMIT %(limit)s"""


def _runs(asked: Asked, code: str) -> Section:
    before = asked.query.get("before") or None
    select = Select(_RUNS, {"code": code, "before": before, "limit": 100})
    return lists.listing(
        "runs", "Its runs", "omd_report.decision_run_log", select,
        {
            "run#": lambda r: cells.run(r["module_instance_id"]),
            "status": lambda r: badge(r["execution_status_code"]),
            "began": lambda r: moment(r["begun_at"]),
            "ended": lambda r: moment(r["end_datetime"]),
            "rules": lambda r: el(
                "span", cells.text(r["ruleset_code"]), f" {r['ruleset_version']}"
            ),
            "on": lambda r: r["engine"].capitalize(),
            "waves#": lambda r: number(r["waves"]),
            "calls#": lambda r: number(r["invocations"]),
            "read#": lambda r: number(r["rows_input"]),
            "written#": lambda r: number(r["rows_inserted"]),
            "rejected#": lambda r: number(r["rows_rejected"]),
            "decisions": lambda r: cells.decisions(r["module_instance_id"], "show"),
        },
        key="module_instance_id",
        paged=lists.Paged(asked, "before", "module_instance_id"),
    )  # fmt: skip


def _rejects(asked: Asked, code: str) -> Section:
    select = lists.select(
        asked,
        """\
SELECT module_instance_id, wave, link, arrival, code, text, key, cause_link, record
FROM omd_report.decision_reject_log{where}
ORDER BY link, arrival
LIMIT %(limit)s""",
        50,
        [
            "stage_code = %(code)s",
            # Of one run, by default the last: an index finds them.
            "module_instance_id = %(of_run)s::bigint" if asked.query.get("of_run") else _LAST,
        ],
        {"code": code, "of_run": asked.query.get("of_run")},
    )
    return lists.listing(
        "rejects", "Records that its last run rejected", "omd_report.decision_reject_log", select,
        {
            "run#": lambda r: cells.decisions(r["module_instance_id"]),
            **decisions.REJECT,
        },
        is_data=True,
    )  # fmt: skip


_LAST = """\
module_instance_id = (
    SELECT r.module_instance_id FROM omd_report.decision_last_rejects AS r
    WHERE r.stage_code = %(code)s
)"""


def _rulesets(asked: Asked, code: str) -> Section:
    select = lists.select(
        asked,
        """\
SELECT ruleset_code, version, kind, state, effective_from, effective_to, tests, passed,
    content_hash, defined_at, defined_by
FROM omd_report.decision_ruleset_list{where}
ORDER BY version DESC
LIMIT %(limit)s""",
        50,
        [_ITS_RULESET],
        {"code": code},
    )
    return lists.listing(
        "rulesets", "Versions of its ruleset", "omd_report.decision_ruleset_list", select,
        {
            "version#": lambda r: r["version"],
            "state": lambda r: cells.state(_STATES.get(r["state"], "C"), r["state"].lower()),
            "kind": lambda r: r["kind"],
            "from": lambda r: moment(r["effective_from"]),
            "until": lambda r: moment(r["effective_to"]),
            "tests": _tested,
            "defined": lambda r: moment(r["defined_at"]),
            "by": lambda r: cells.text(r["defined_by"]),
            "fingerprint": lambda r: el("code", r["content_hash"][:8], title=r["content_hash"]),
            "actions": lambda r: cells.actions(
                asked,
                ("ACTIVATE_RULESET", r["ruleset_code"], "Activate", {"p_version": r["version"]})
                if r["state"] != "ACTIVE"
                else (
                    "DEACTIVATE_RULESET", r["ruleset_code"], "Deactivate",
                    {"p_version": r["version"]},
                ),
            ),
        },
        key=("ruleset_code", "version"),
    )  # fmt: skip


def _tested(row: Row) -> Html | None:
    if not row["tests"]:
        return None
    colour = "S" if row["passed"] == row["tests"] else "F"
    return cells.state(colour, f"{row['passed']:,} of {row['tests']:,} passed")


def _tests(asked: Asked, code: str) -> Section:
    select = lists.select(
        asked,
        """\
SELECT ruleset_code, version, test_name, passed, input, expected, actual, error, tested_at
FROM omd_report.decision_test_list{where}
ORDER BY version DESC, test_name
LIMIT %(limit)s""",
        lists.MOST,
        [_ITS_RULESET],
        {"code": code},
    )
    return lists.listing(
        "tests", "Tests of its ruleset", "omd_report.decision_test_list", select,
        {
            "version#": lambda r: r["version"],
            "test": lambda r: cells.text(r["test_name"]),
            "result": lambda r: (
                cells.state("C", "not tested")
                if r["passed"] is None
                else cells.state("S", "passed")
                if r["passed"]
                else cells.state("F", "failed")
            ),
            "input": lambda r: cells.document(r["input"]),
            "expected": lambda r: cells.document(r["expected"]),
            "answered": lambda r: cells.document(r["actual"]),
            "error": lambda r: cells.words(r["error"]),
            "tested": lambda r: moment(r["tested_at"]),
        },
        key=("version", "test_name"),
    )  # fmt: skip
