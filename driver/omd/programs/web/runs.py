"""The runs of one Module or Batch over time: a chart and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omd.programs.page.markup import STATUS, Html, el, moment, name, number
from omd.programs.web import charts, linked, parts
from omd.programs.web.linked import to
from omd.programs.web.section import Row, Section, Select

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CHART = 60  # columns

# BETWEEN one and the same id, since for = the planner might walk the primary key past the runs of
# all others.
_MODULE_RUNS = """\
SELECT l.module_instance_id, l.module_code, l.batch_instance_id, l.batch_code,
    l.execution_status_code, l.reason_code, l.start_datetime, l.end_datetime, l.rows_input,
    l.rows_inserted, l.rows_updated, l.rows_deleted, l.rows_rejected,
    l.rolled_back_by_module_instance_id, l.started_by
FROM omd.module AS m
CROSS JOIN LATERAL (
    SELECT i.module_id, i.module_instance_id
    FROM omd.module_instance AS i
    WHERE i.module_id BETWEEN m.module_id AND m.module_id
    ORDER BY i.module_id DESC, i.module_instance_id DESC
    LIMIT %(limit)s
) AS n
INNER JOIN omd_report.module_execution_log AS l ON n.module_instance_id = l.module_instance_id
WHERE m.module_code = %(code)s
ORDER BY l.module_instance_id DESC"""

_BATCH_RUNS = """\
SELECT l.batch_instance_id, l.batch_code, l.parent_batch_instance_id, l.execution_status_code,
    l.reason_code, l.start_datetime, l.end_datetime, l.started_by
FROM omd.batch AS b
CROSS JOIN LATERAL (
    SELECT i.batch_id, i.batch_instance_id
    FROM omd.batch_instance AS i
    WHERE i.batch_id BETWEEN b.batch_id AND b.batch_id
    ORDER BY i.batch_id DESC, i.batch_instance_id DESC
    LIMIT %(limit)s
) AS n
INNER JOIN omd_report.batch_execution_log AS l ON n.batch_instance_id = l.batch_instance_id
WHERE b.batch_code = %(code)s
ORDER BY l.batch_instance_id DESC"""


def of_module(code: str) -> tuple[Section, Section]:
    """Return the sections of a Module's runs: over time, and one by one."""
    select = Select(_MODULE_RUNS, {"code": code, "limit": CHART})
    return (
        Section("time", "Duration and rows over time", (select,), _module_charts),
        Section("runs", "Its last runs", (select,), _module_table),
    )


def of_batch(code: str) -> tuple[Section, Section]:
    """Return the sections of a Batch's runs: over time, and one by one."""
    select = Select(_BATCH_RUNS, {"code": code, "limit": CHART})
    return (
        Section("time", "Duration over time", (select,), _batch_charts),
        Section("runs", "Its last runs", (select,), _batch_table),
    )


def _module_charts(rows: Sequence[Row]) -> Html:
    if not rows:
        return el("p", "It never ran.", cls="none")
    runs = list(reversed(rows))
    return el(
        "div",
        _duration(runs, "MODULE_INSTANCE"),
        _chart(
            runs, "MODULE_INSTANCE", "Rows inserted",
            [[("rows", row["rows_inserted"])] for row in runs],
            charts.compact(max(row["rows_inserted"] for row in runs)),
        ),
        cls="charts",
    )  # fmt: skip


def _batch_charts(rows: Sequence[Row]) -> Html:
    if not rows:
        return el("p", "It never ran.", cls="none")
    return el("div", _duration(list(reversed(rows)), "BATCH_INSTANCE"), cls="charts")


def _duration(runs: Sequence[Row], kind: str) -> Html:
    """Return the chart of durations; what still runs has no column yet."""
    longest = max((row for row in runs if row["end_datetime"]), key=_seconds, default=None)
    most = linked.took(longest["start_datetime"], longest["end_datetime"]) if longest else "0 s"
    stacks = [[(row["execution_status_code"], _seconds(row))] for row in runs]
    return _chart(runs, kind, "Duration", stacks, str(most))


def _seconds(row: Row) -> float:
    if row["end_datetime"] is None:
        return 0.0
    seconds: float = (row["end_datetime"] - row["start_datetime"]).total_seconds()
    return max(seconds, 0.0)


def _chart(
    runs: Sequence[Row],
    kind: str,
    caption: str,
    stacks: Sequence[charts.Stack],
    most: str,
) -> Html:
    instances = [row[f"{kind.lower()}_id"] for row in runs]
    titles = [
        f"Run {instance}: {STATUS[row['execution_status_code']]}"
        + (f", {linked.took(row['start_datetime'], row['end_datetime'])}" if row["end_datetime"]
           else "")
        + (f", {row['rows_inserted']:,} rows inserted" if "rows_inserted" in row else "")
        + f"\n{row['start_datetime'].astimezone():%Y-%m-%d %H:%M}"
        for row, instance in zip(runs, instances, strict=True)
    ]  # fmt: skip
    last = len(runs) - 1
    labels = [
        f"{row['start_datetime'].astimezone():%b %d}" if (last - n) % 10 == 5 else None
        for n, row in enumerate(runs)
    ]
    hrefs = [linked.path_of(kind, instance) for instance in instances]
    return charts.columns_chart(f"{caption}, at most {most}", stacks, titles, labels, hrefs)


def _module_table(rows: Sequence[Row]) -> Html:
    columns = {
        "run#": lambda row: to("MODULE_INSTANCE", row["module_instance_id"]),
        "status": linked.status_of,
        "started": lambda row: moment(row["start_datetime"]),
        "took#": lambda row: linked.took(row["start_datetime"], row["end_datetime"]),
        "in?": lambda row: to(
            "BATCH_INSTANCE", row["batch_instance_id"],
            f"{row['batch_code']} {row['batch_instance_id']}",
        ) if row["batch_instance_id"] else None,
        **{f"{word}?#": _count(f"rows_{word}")
           for word in ("input", "inserted", "updated", "deleted", "rejected")},
        "undone by?#": lambda row: to("MODULE_INSTANCE", row["rolled_back_by_module_instance_id"])
        if row["rolled_back_by_module_instance_id"] else None,
        "begun by": lambda row: name(row["started_by"] or ""),
    }  # fmt: skip
    return parts.table("omd_report.module_execution_log", rows, columns, key="module_instance_id")


def _batch_table(rows: Sequence[Row]) -> Html:
    columns = {
        "run#": lambda row: to("BATCH_INSTANCE", row["batch_instance_id"]),
        "status": linked.status_of,
        "started": lambda row: moment(row["start_datetime"]),
        "took#": lambda row: linked.took(row["start_datetime"], row["end_datetime"]),
        "in?#": lambda row: to("BATCH_INSTANCE", row["parent_batch_instance_id"])
        if row["parent_batch_instance_id"] else None,
        "begun by": lambda row: name(row["started_by"] or ""),
    }  # fmt: skip
    return parts.table("omd_report.batch_execution_log", rows, columns, key="batch_instance_id")


def _count(column: str) -> Callable[[Row], object]:
    return lambda row: number(row[column]) if row[column] else ""
