"""One Module: what it is, what a begin would answer now, and how its runs went over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omd.programs.page.markup import (
    Html,
    badge,
    described,
    el,
    join,
    light,
    message,
    moment,
    name,
    verdict,
)
from omd.programs.terminal.text import as_text
from omd.programs.web import linked, parts, runs
from omd.programs.web.linked import to
from omd.programs.web.section import Asked, NotThere, Row, Screen, Section, Select

if TYPE_CHECKING:
    from collections.abc import Sequence

_MODULE = """\
SELECT module_code, module_description, module_kind_code, engine_code, job, area_code, table_code,
    table_type_code, platform_code, inactive_indicator, batch_codes, pending_rollback
FROM omd_report.module_list
WHERE module_code = %(code)s"""

_WORK = """\
SELECT state, reason, waits_for, since, not_before, failures, last_problem, module_instance_id,
    task_id
FROM omd_report.work
WHERE code = %(code)s"""

_INPUTS = """\
SELECT table_code, read_kind
FROM omd_report.module_inputs
WHERE module_code = %(code)s
ORDER BY table_code
LIMIT %(limit)s"""

_BEGIN = """\
SELECT processing_indicator, reason, rule, instance_array, details
FROM omd.explain_begin(p_module_code => %(code)s)"""

_PARAMETERS = """\
SELECT parameter_code, parameter_value, batch_code
FROM omd_report.parameter_list
WHERE module_code = %(code)s
ORDER BY parameter_code, batch_code
LIMIT %(limit)s"""

# What the answer of a begin is called, and how it looks.
ANSWERS = {
    "P": ("S", "A begin would proceed"),
    "R": ("A", "A begin would roll back first, and then proceed"),
    "C": ("C", "A begin would skip it"),
    "A": ("A", "A begin would be aborted"),
}


def screen(asked: Asked) -> Screen:
    """Return the screen."""
    code = asked.path["code"]
    module = Select(_MODULE, {"code": code})
    if not asked.read(module):
        raise NotThere(f"There is no Module {code}")
    its = {"code": code, "limit": 200}
    sections = (
        Section(
            "module", "What it is", (module, Select(_WORK, its), Select(_INPUTS, its)), _module
        ),
        linked.actions(asked, "MODULE", code),
        Section(
            "begin",
            "What a begin would answer",
            (Select(_BEGIN, {"code": code}, is_trial=True),),
            begin,
            is_live=False,
        ),
        *runs.of_module(code),
        Section("parameters", "Parameters", (Select(_PARAMETERS, its),), parameters),
    )
    return Screen("module", f"Module {code}", sections)


def _module(rows: Sequence[Row], work: Sequence[Row], inputs: Sequence[Row]) -> Html:
    if not rows:
        return el("p", "It is no longer there.", cls="none")
    [row] = rows
    what = {
        "state": [state(of) for of in work] or None,
        "what": name(row["module_description"]) if row["module_description"] else None,
        "kind": " by ".join(
            dict.fromkeys(
                code.lower() for code in (row["module_kind_code"], row["engine_code"]) if code
            )
        ),
        "job": el("code", row["job"]) if row["job"] else None,
        "area": ", ".join(filter(None, [row["area_code"], row["table_type_code"]])),
        "target": [to("TABLE", row["table_code"]), f" on {row['platform_code']}"],
        "reads": _listed(to("TABLE", i["table_code"]) for i in inputs) if inputs else None,
        "Batches": _listed(to("BATCH", batch) for batch in row["batch_codes"])
        if row["batch_codes"] else None,
        "active": badge("C", "inactive: each run is skipped")
        if row["inactive_indicator"] == "Y" else None,
        "to undo": _listed(to("MODULE_INSTANCE", run) for run in row["pending_rollback"][:20])
        if row["pending_rollback"] else None,
        "graph": parts.link(
                parts.path("/graph", {"of": _in_graph(row)}), "what feeds it, what it feeds"
            ),
    }  # fmt: skip
    return described(what)


def state(work: Row) -> Html:
    """Return the state of a Module or a Batch, and what is wrong."""
    pieces: list[object] = [light(work["state"], work["failures"])]
    if work["reason"] and work["reason"] != work["state"]:
        pieces.append(f" {work['reason'].lower().replace('_', ' ')}")
    if work.get("waits_for"):
        pieces += [" for ", name(work["waits_for"])]
    if work["since"]:
        pieces += [" since ", moment(work["since"])]
    if work.get("task_id"):
        pieces += [", ", to("TASK", work["task_id"], f"task {work['task_id']}")]
    problem = message(work["last_problem"]) if work["last_problem"] else None
    return el("div", *pieces, problem)


def _in_graph(row: Row) -> str:
    """Return under which code the graph has it."""
    code: str = row["module_code"]
    lead, _, rest = code.partition(".")
    own = {"FACTS": "facts", "DELIVERY": "delivery", "EXPORT": "export"}
    return rest if own.get(row["module_kind_code"]) == lead else code


def _listed(links: object) -> list[object]:
    pieces: list[object] = []
    for link in links:  # type: ignore[attr-defined]
        pieces += [", ", link] if pieces else [link]
    return pieces


def begin(rows: Sequence[Row]) -> Html:
    """Return what a begin would answer, and by which rule."""
    answers = []
    for row in rows:
        look, title = ANSWERS.get(row["processing_indicator"], ("F", "A begin would fail"))
        details: dict[str, object] = {
            key.replace("_", " "): as_text(value)
            for key, value in (row["details"] or {}).items()
            if value is not None
        }
        runs_of = row["instance_array"]
        if runs_of:
            details = {"runs": _listed(to("MODULE_INSTANCE", run) for run in runs_of)} | details
        answers.append(
            verdict(
                look, title, el("p", row["rule"]),
                described(details) if details else Html(""), id_="answer", level="h3",
            )
        )  # fmt: skip
    return join(answers)


def parameters(rows: Sequence[Row]) -> Html:
    """Return the parameters of a Module or a Batch."""
    columns = {
        "parameter": lambda row: name(row["parameter_code"]),
        "of": lambda row: to("BATCH", row["batch_code"]) if row["batch_code"] else None,
        "value": lambda row: message(as_text(row["parameter_value"])),
    }
    return parts.table("omd_report.parameter_list", rows, columns, key="parameter_code")
