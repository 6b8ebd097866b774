"""``/recall/{id}``: what a recall takes back by its plan, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence

from omd.programs.page.markup import Html, described, el, join, moment, number
from omd.programs.web import cells, linked, lists
from omd.programs.web.section import Asked, Row, Screen, Section, Select

_ACTIONS = {
    "BLOCKED": "F",
    "BY_HAND": "A",
    "UNKNOWN": "A",
    "PENDING": "A",
    "OUTSIDE": "C",
    "GIVE_UP": "C",
}
_RETURNS = {
    "BY_HAND": "A",
    "WAITING": "A",
    "DUE": "A",
    "RUNNING": "E",
    "DONE": "S",
    "DROPPED": "C",
}


def screen(asked: Asked) -> Screen:
    """Return a recall."""
    lists.require(
        asked,
        "SELECT FROM omd_report.recalls WHERE recall_id = %(id)s::bigint",
        f"recall {asked.path['id']}",
    )
    return Screen(
        "recall",
        f"Recall {asked.path['id']}",
        (
            _recall(asked),
            linked.actions(asked, "RECALL", asked.path["id"]),
            _items(asked),
            _returns(asked),
            _decisions(asked),
        ),
    )


def status(value: str) -> Html:
    """Return the status of a recall in words and colour."""
    return cells.state("S" if value == "EXECUTED" else "A", value.lower())


def _recall(asked: Asked) -> Section:
    select = Select(
        "SELECT * FROM omd_report.recalls WHERE recall_id = %(recall_id)s::bigint LIMIT %(limit)s",
        {"recall_id": asked.path["id"], "limit": 1},
    )
    return Section("recall", "What it is", (select,), _described)


def _described(rows: Sequence[Row]) -> Html:
    if not rows:
        return lists.nothing("There is no such recall.")
    row = rows[0]
    pairs: dict[str, object] = {
        "Of": cells.pairs(row["target"]),
        "Why": cells.words(row["reason"]),
        "Planned": [moment(row["planned_datetime"]), " by ", cells.text(row["planned_by"])],
        "Executed": row["executed_datetime"]
        and [moment(row["executed_datetime"]), " by ", cells.text(row["executed_by"])],
        "Run": cells.run(row["module_instance_id"]),
        "Corrected": "the target itself is to come again, by hand"
        if row["awaits_correction"]
        else None,
    }
    return join([el("p", status(row["recall_status"]), " ", _in_words(row)), described(pairs)])


def _in_words(row: Row) -> str:
    if row["recall_status"] == "EXECUTED":
        gone, returned = _count(row["rows_gone"]), _count(row["rows_returned"])
        return f"Rows that have gone: {gone}; that have come back: {returned}."
    return (
        f"By its plan of {row['items']:,} items, rows that go: {_count(row['rows_go'])}; that come "
        f"back: {_count(row['rows_back'])}; items in the way: {row['blocked']:,}."
    )


def _count(value: int | None) -> str:
    return "not known" if value is None else f"{value:,}"


def _items(asked: Asked) -> Section:
    select = Select(
        """\
SELECT position, action, module_instance_id, module_code, table_code, delivery_id, relation,
    because_of, is_exact, rows_go, rows_back, rows_gone, rows_returned, comes_again, problem
FROM omd_report.recall_items
WHERE recall_id = %(recall_id)s::bigint AND position > %(after)s::bigint
ORDER BY position
LIMIT %(limit)s""",
        {
            "recall_id": asked.path["id"],
            "after": asked.query.get("after") or 0,
            "limit": lists.MOST,
        },
    )
    return lists.listing(
        "items", "Its plan", "omd_report.recall_items", select,
        {
            "no.#": lambda r: r["position"],
            "what happens": lambda r: cells.state(
                _ACTIONS.get(r["action"], "E"), r["action"].replace("_", " ").lower()
            ),
            "run#": lambda r: cells.run(r["module_instance_id"]),
            "Module": lambda r: cells.module(r["module_code"]),
            "table": lambda r: cells.text(r["table_code"]),
            "delivery#": lambda r: cells.delivery(r["delivery_id"]),
            "because": _because,
            "go#": lambda r: number(r["rows_go"]),
            "back#": lambda r: number(r["rows_back"]),
            "gone#": lambda r: number(r["rows_gone"]),
            "returned#": lambda r: number(r["rows_returned"]),
            "comes again": lambda r: cells.text(r["comes_again"]),
            "problem": lambda r: cells.words(r["problem"]),
        },
        key="position",
        paged=lists.Paged(asked, "after", "position", "Next"),
    )  # fmt: skip


_RELATIONS = {"TARGET": "it is the target", "READS": "has read", "FOLLOWS": "stands on"}


def _because(row: Row) -> Html:
    words = _RELATIONS.get(row["relation"], str(row["relation"]))
    if row["relation"] == "READS" and not row["is_exact"]:
        words = "may have read"
    of = cells.run(row["because_of"])
    return el("span", words, " " if of else "", of, cls="nowrap")


def _returns(asked: Asked) -> Section:
    select = Select(
        """\
SELECT recall_id, position, module_kind_code, code, former_delivery_id, snapshot_datetime,
    return_status, module_instance_id, delivery_id, problem
FROM omd_report.recall_returns
WHERE recall_id = %(recall_id)s::bigint
ORDER BY position
LIMIT %(limit)s""",
        {"recall_id": asked.path["id"], "limit": lists.MOST},
    )
    return lists.listing(
        "returns", "What must come again from outside", "omd_report.recall_returns", select,
        {
            "no.#": lambda r: r["position"],
            "status": lambda r: cells.state(
                _RETURNS.get(r["return_status"], "C"), r["return_status"].replace("_", " ").lower()
            ),
            "kind": lambda r: r["module_kind_code"].lower(),
            "what": lambda r: (
                cells.text(r["code"])
                if r["module_kind_code"] == "DELIVERY"
                else cells.module(r["code"])
            ),
            "was delivery#": lambda r: cells.delivery(r["former_delivery_id"]),
            "data of": lambda r: moment(r["snapshot_datetime"]),
            "comes as": _coming,
            "problem": lambda r: cells.words(r["problem"]),
            "actions": lambda r: (
                None
                if r["return_status"] in ("DONE", "DROPPED", "RUNNING")
                else cells.action(
                    asked, "DROP_RETURN", r["recall_id"], "Drop", {"p_position": r["position"]}
                )
            ),
        },
        key="position",
    )  # fmt: skip


def _coming(row: Row) -> Html | None:
    if row["delivery_id"]:
        return el("span", "delivery ", cells.delivery(row["delivery_id"]))
    if row["module_instance_id"]:
        return el("span", "run ", cells.run(row["module_instance_id"]))
    return None


def _decisions(asked: Asked) -> Section:
    select = Select(
        """\
SELECT stage_code, wave, key, old_instance_id, new_instance_id, old_outputs, new_outputs,
    old_result, new_result
FROM omd_report.superseded_decisions
WHERE recall_id = %(recall_id)s::bigint AND is_changed
ORDER BY stage_code, old_instance_id, wave, key
LIMIT %(limit)s""",
        {"recall_id": asked.path["id"], "limit": 100},
    )
    return lists.listing(
        "decisions", "What was decided otherwise", "omd_report.superseded_decisions", select,
        {
            "stage": lambda r: cells.of("STAGE", r["stage_code"]),
            "wave": lambda r: cells.text(r["wave"]),
            "key": lambda r: cells.pairs(r["key"]),
            "was decided by#": lambda r: cells.decisions(r["old_instance_id"]),
            "was": lambda r: cells.document(r["old_result"] or r["old_outputs"]),
            "again by#": lambda r: cells.decisions(r["new_instance_id"]),
            "is": lambda r: cells.document(r["new_result"] or r["new_outputs"]),
        },
        is_data=True,
    )  # fmt: skip
