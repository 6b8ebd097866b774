"""One run of a Module: why it could start, what it read and wrote, who read it, and its events."""

from __future__ import annotations

from datetime import datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from omd.programs.page.markup import (
    Html,
    badge,
    described,
    el,
    message,
    moment,
    name,
    number,
)
from omd.programs.report import traced
from omd.programs.report.way import picture
from omd.programs.terminal.text import as_text, short
from omd.programs.web import linked, parts
from omd.programs.web.linked import to
from omd.programs.web.section import Asked, NotThere, Row, Screen, Section, Select

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_RUN = """\
SELECT *
FROM omd_report.trace
WHERE module_instance_id = %(run)s"""

_WRITES = """\
SELECT write_number, table_code, partition_count, row_count, first_datetime, last_datetime
FROM omd_report.write_log
WHERE module_instance_id = %(run)s
ORDER BY write_number
LIMIT %(limit)s"""

_INPUTS = """\
SELECT table_code, read_kind, source_instances, start_value, start_id, end_value, end_id
FROM omd_report.run_inputs
WHERE module_instance_id = %(run)s
ORDER BY table_code
LIMIT %(limit)s"""

_WAY = """\
SELECT direction, distance, module_instance_id, module_code, module_kind_code, table_code,
    because_of, is_exact, stands, delivery_id, delivery_status, files, text
FROM omd_provenance.trace(%(run)s)
LIMIT %(limit)s"""

WHY = {
    "P": "The answer was to proceed",
    "R": "The answer was to roll back first, and then to proceed",
    "C": "The answer was to skip",
    "A": "There is no answer yet, or it was to end",
}


def screen(asked: Asked) -> Screen:
    """Return the screen."""
    run = instance(asked.path["id"])
    trace = Select(_RUN, {"run": run})
    known = asked.read(trace)
    if not known:
        raise NotThere(f"There is no run {run} of a Module")
    its = {"run": run, "limit": 200}
    is_over = known[0]["end_datetime"] is not None
    sections = (
        Section("run", "The run", (trace,), _run),
        linked.actions(asked, "MODULE_INSTANCE", run),
        Section("wrote", "What it wrote", (Select(_WRITES, its), trace), _wrote),
        Section("read", "What it read", (Select(_INPUTS, its), trace), _read),
        Section(
            "way",
            "From where its rows come, and who has read them",
            (Select(_WAY, {"run": run, "limit": 500}),),
            _way,
            is_live=not is_over,
        ),
        Section("events", "Events", (trace,), _events),
        Section("context", "Context", (trace,), _context),
    )
    return Screen("run", f"Run {run} of {known[0]['module_code']}", sections)


def instance(text: str) -> int:
    """Return the id of a run in a path."""
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise NotThere("There is no such run")
    return int(text)


def _run(rows: Sequence[Row]) -> Html:
    if not rows:
        return el("p", "It is no longer there.", cls="none")
    [row] = rows
    context = row["execution_context"] or {}
    task = context.get("task_id")
    by = row["rolled_back_by_module_instance_id"]
    return described(
        {
            "status": [linked.status_of(row)],
            "Module": [to("MODULE", row["module_code"])],
            "target": [to("TABLE", row["table_code"]), f" on {row['platform_code']}"],
            "Batch": parents(row["parents"]),
            "could start": [
                WHY.get(row["processing_indicator"], ""),
                f": {row['reason_code']}" if row["reason_code"] else "",
            ],
            "begun by": [
                name(row["started_by"] or "?"),
                *([", ", to("TASK", task, f"task {task}")] if task else []),
            ],
            "started": moment(row["start_datetime"]),
            "ended": moment(row["end_datetime"]) if row["end_datetime"] else None,
            "took" if row["end_datetime"] else "runs for": [
                linked.took(row["start_datetime"], row["end_datetime"])
            ],
            "lease until": moment(row["lease_expires_at"])
            if row["lease_expires_at"] and not row["end_datetime"] else None,
            "undid": listed(row["undid_module_instance_ids"]) or None,
            "undone by": [to("MODULE_INSTANCE", by)] if by else None,
            "next run": {"R": "will undo it first", "C": "will be skipped"}.get(
                row["next_run_indicator"]
            ),
        }
    )  # fmt: skip


def parents(above: Sequence[Mapping[str, Any]]) -> list[object] | None:
    """Return the runs of Batches above a run, the nearest first."""
    pieces: list[object] = []
    for number_, parent in enumerate(above):
        of = f"{parent['batch_code']} {parent['batch_instance_id']}"
        pieces += [
            " under " if number_ else "",
            to("BATCH_INSTANCE", parent["batch_instance_id"], of),
            " ",
            badge(parent["execution_status_code"]),
        ]
    return pieces or None


def listed(instances: Sequence[int]) -> list[object]:
    """Return links to runs of Modules, of which the first are shown."""
    pieces: list[object] = []
    for run in instances[:20]:
        pieces += [", ", to("MODULE_INSTANCE", run)] if pieces else [to("MODULE_INSTANCE", run)]
    if len(instances) > 20:
        pieces.append(f" and {len(instances) - 20:,} more")
    return pieces


_COUNTS = ("input", "inserted", "updated", "deleted", "discarded", "rejected")


def _wrote(rows: Sequence[Row], trace: Sequence[Row]) -> Html:
    counts = {
        word: number(run[f"rows_{word}"])
        for run in trace
        for word in _COUNTS
        if run[f"rows_{word}"] or word in ("input", "inserted")
    }
    pace = [
        run["rows_inserted"] / seconds
        for run in trace
        if run["end_datetime"]
        and (seconds := (run["end_datetime"] - run["start_datetime"]).total_seconds()) > 0
    ]
    if pace and pace[0] >= 1:
        counts["rows a second"] = number(round(pace[0]))
    shown = described({f"{word}": text for word, text in counts.items()})
    if not rows:
        return el("div", shown, cls="counts")
    columns = {
        "write#": lambda row: row["write_number"],
        "table": lambda row: to("TABLE", row["table_code"]),
        "partitions#": lambda row: number(row["partition_count"]),
        "rows#": lambda row: number(row["row_count"]),
        "first": lambda row: moment(row["first_datetime"]),
        "last": lambda row: moment(row["last_datetime"]),
    }
    writes = parts.table("omd_report.write_log", rows, columns, key="write_number")
    return el("div", shown, writes, cls="counts")


def _read(rows: Sequence[Row], trace: Sequence[Row]) -> Html:
    window = [
        described(
            {
                "window": _window(run["window_start_value"], run["window_end_value"]),
                "ids": _window(run["window_start_id"], run["window_end_id"]),
                "withdrawn": "yes, since it was rolled back"
                if run["window_is_taken_back"] else None,
            }
        )
        for run in trace
        if run["window_is_taken_back"] is not None
    ]  # fmt: skip
    columns = {
        "table": lambda row: to("TABLE", row["table_code"]),
        "how": lambda row: row["read_kind"].lower(),
        "after?": lambda row: _bound(row["start_value"], row["start_id"]),
        "up to?": lambda row: _bound(row["end_value"], row["end_id"]),
        "of runs?": lambda row: (
            el("span", *listed(row["source_instances"])) if row["source_instances"] else None
        ),
    }
    return el("div", *window, parts.table("omd_report.run_inputs", rows, columns, key="table_code"))


def _window(start: object, end: object) -> list[object] | None:
    if end is None:
        return None
    after = "the beginning" if start is None else _shown(start)
    return ["after ", after, " up to ", _shown(end)]


def _bound(value: object, id_: object) -> Html:
    shown = [_shown(bound) for bound in (value, id_) if bound is not None]
    return el(
        "span", *(piece for n, each in enumerate(shown) for piece in ([", "] * (n > 0) + [each]))
    )


def _shown(bound: object) -> object:
    return moment(bound) if isinstance(bound, datetime) else str(short(bound))


def _way(rows: Sequence[Row]) -> Html:
    runs: list[Any] = [SimpleNamespace(**row) for row in rows]
    pieces = [picture(traced.stops(runs), "The way of its rows", path=linked.path_of)]
    for direction, title in traced.TITLES.items():
        its = [row for row in rows if row["direction"] == direction]
        if its:
            pieces += [
                el("h3", title),
                parts.table(
                    "omd_provenance.trace", its, linked.of(traced.columns(to)),
                    key="module_instance_id",
                ),
            ]  # fmt: skip
    return el("div", *pieces)


def _events(rows: Sequence[Row]) -> Html:
    return events([event for row in rows for event in row["events"] or []])


def events(rows: Sequence[Row]) -> Html:
    """Return the events of a run."""
    columns = {
        "at": lambda event: moment(datetime.fromisoformat(event["event_datetime"])),
        "what": lambda event: event["event_type_description"],
        "code": lambda event: el("span", event["event_return_code_details"], cls="code")
        if event["event_return_code_details"] else None,
        "detail": lambda event: message(event["event_detail"]) if event["event_detail"] else None,
    }  # fmt: skip
    return parts.table("omd_report.trace", rows, columns, key="event_id")


def _context(rows: Sequence[Row]) -> Html:
    return context([row["execution_context"] for row in rows])


def context(contexts: Sequence[Mapping[str, Any] | None]) -> Html:
    """Return where and by what a run was performed."""
    pairs = {key: as_text(value) for each in contexts for key, value in (each or {}).items()}
    return described(pairs) if pairs else el("p", "None", cls="none")
