"""One Batch: what it is, what it runs, what a begin would answer, and how its runs went."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omd.programs.page.markup import Html, badge, described, el, light, moment, name
from omd.programs.web import linked, parts, runs
from omd.programs.web.linked import to
from omd.programs.web.screens import module
from omd.programs.web.section import Asked, NotThere, Row, Screen, Section, Select

if TYPE_CHECKING:
    from collections.abc import Sequence

_BATCH = """\
SELECT batch_code, batch_description, frequency_code, inactive_indicator, continue_on_failure,
    module_count, last_batch_instance_id, last_execution_status_code, last_start_datetime
FROM omd_report.batch_list
WHERE batch_code = %(code)s"""

_WORK = """\
SELECT state, reason, since, failures, last_problem
FROM omd_report.batch_work
WHERE code = %(code)s"""

_PLACES = """\
SELECT p.sequence, p.module_code, p.child_batch_code, p.inactive_indicator,
    coalesce(w.state, b.state) AS state, coalesce(w.since, b.since) AS since,
    coalesce(w.failures, b.failures) AS failures
FROM omd_report.batch_module_list AS p
LEFT JOIN omd_report.work AS w ON p.module_code = w.code
LEFT JOIN omd_report.batch_work AS b ON p.child_batch_code = b.code
WHERE p.batch_code = %(code)s
ORDER BY p.sequence, p.module_code, p.child_batch_code
LIMIT %(limit)s"""

_BEGIN = """\
SELECT processing_indicator, reason, rule, instance_array, details
FROM omd.explain_begin(p_batch_code => %(code)s)"""

_PARAMETERS = """\
SELECT parameter_code, parameter_value, NULL AS batch_code
FROM omd_report.parameter_list
WHERE batch_code = %(code)s AND module_code IS NULL
ORDER BY parameter_code
LIMIT %(limit)s"""


def screen(asked: Asked) -> Screen:
    """Return the screen."""
    code = asked.path["code"]
    batch = Select(_BATCH, {"code": code})
    if not asked.read(batch):
        raise NotThere(f"There is no Batch {code}")
    its = {"code": code, "limit": 500}
    sections = (
        Section("batch", "What it is", (batch, Select(_WORK, its)), _batch),
        linked.actions(asked, "BATCH", code),
        Section(
            "begin",
            "What a begin would answer",
            (Select(_BEGIN, {"code": code}, is_trial=True),),
            module.begin,
            is_live=False,
        ),
        Section("modules", "What it runs, in order", (Select(_PLACES, its),), _places),
        *runs.of_batch(code),
        Section("parameters", "Parameters", (Select(_PARAMETERS, its),), module.parameters),
    )
    return Screen("batch", f"Batch {code}", sections)


def _batch(rows: Sequence[Row], work: Sequence[Row]) -> Html:
    if not rows:
        return el("p", "It is no longer there.", cls="none")
    [row] = rows
    last = row["last_batch_instance_id"]
    return described(
        {
            "state": [module.state(state) for state in work] or None,
            "what": name(row["batch_description"]) if row["batch_description"] else None,
            "how often": row["frequency_code"],
            "after a failure": "goes on with the next Module"
            if row["continue_on_failure"] else "stops",
            "Modules": str(row["module_count"]),
            "last run": [
                badge(row["last_execution_status_code"]), " ", to("BATCH_INSTANCE", last),
                " since ", moment(row["last_start_datetime"]),
            ] if last else "it never ran",
            "active": badge("C", "inactive: each run is skipped")
            if row["inactive_indicator"] == "Y" else None,
            "grid": parts.link(
                parts.path("/grid", {"like": row["batch_code"], "open": row["batch_code"]}),
                "its runs and Modules",
            ),
        }
    )  # fmt: skip


def _places(rows: Sequence[Row]) -> Html:
    columns = {
        "order#": lambda row: row["sequence"],
        "what": lambda row: "Batch" if row["module_code"] is None else "Module",
        "code": lambda row: to("BATCH", row["child_batch_code"])
        if row["module_code"] is None else to("MODULE", row["module_code"]),
        "place?": lambda row: badge("C", "inactive") if row["inactive_indicator"] == "Y" else None,
        "since?": lambda row: moment(row["since"]),
        "state": lambda row: light(row["state"], row["failures"]),
    }  # fmt: skip
    return parts.table(
        "omd_report.batch_module_list", rows, columns,
        key=lambda row: row["module_code"] or row["child_batch_code"],
    )  # fmt: skip
