"""What ``omd show`` prints of a run: why it failed, what it left, what is to be done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from omd.programs.cli.log import MODULE_RUN, newest
from omd.programs.terminal.tables import show as show_rows
from omd.programs.terminal.tables import show_document, show_pairs
from omd.programs.terminal.text import as_text, row_dict, short
from omd.rooms.report.rows import ProblemsRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from omd.doors.control import Control
    from omd.programs.cli.things import Thing
    from omd.rooms.control.rows import EventLogRow, TraceRow

_FAILURES = (1, 2, 6)
_COUNTS = ("input", "inserted", "updated", "deleted", "discarded", "rejected")


def show_run(control: Control, run: Thing, output: str) -> None:
    """Print a run of a Module or a Batch: when, where, its error, what it wrote, what to do.

    Raises:
        click.ClickException: it was purged while it was read.
    """
    is_batch, instance = run.kind == "batchrun", int(run.key)
    kind = "BATCH" if is_batch else "MODULE"
    view = "batch_execution_log" if is_batch else "trace"
    equal: dict[str, Any] = {f"{kind.lower()}_instance_id": instance}
    rows = control.report(view, **equal)
    if not rows:
        raise click.ClickException(f"{kind.title()} Instance {instance} is not there any more.")
    (row,) = rows
    code = row.batch_code if is_batch else row.module_code
    problems = [
        problem
        for of, key in ((kind, code), (f"{kind}_INSTANCE", str(instance)))
        for problem in control.report(ProblemsRow, object_kind=of, object_key=key)
    ]
    members: list[Any] = []
    if is_batch:
        members = newest(control, "module", 1000, batch_instance_id=instance)
        its = newest(control, "event", 100, batch_instance_id=instance, module_instance_id=0)
        parts = list(_batch(row, its, problems))
    else:
        parts = list(_module(control, row, problems))
    if output == "json":
        members_ = {"modules": members} if is_batch else {}
        show_document({**row_dict(row), **members_, "problems": problems})
        return
    show_pairs({name: text for name, text in parts if text}, 10)
    if members:
        click.secho("\nModules", bold=True)
        show_rows(members, MODULE_RUN, "table")


def _module(
    control: Control, row: TraceRow, problems: list[ProblemsRow]
) -> Iterator[tuple[str, str]]:
    from omd.rooms.control.rows import PendingRollbacksRow, WriteLogRow

    instance = row.module_instance_id
    of = f", in {row.batch_code}, Batch Instance {row.batch_instance_id}" if row.batch_code else ""
    yield "what", f"run {instance} of Module {row.module_code}{of}: {_status(row)}"
    yield "when", _when(row)
    yield "where", _where(row)
    yield (
        "error",
        _error(
            (e["event_type_code"], e["event_return_code_details"], e["event_detail"])
            for e in row.events
        ),
    )
    wrote = [f"{row.table_code} on {row.platform_code}"]
    wrote += [f"{getattr(row, f'rows_{n}'):,} {n}" for n in _COUNTS if getattr(row, f"rows_{n}")]
    for write in control.report(
        WriteLogRow, module_instance_id=instance, order_by=["write_number"]
    ):
        wrote.append(f"{write.row_count:,} rows into {write.table_code}")
    yield "wrote", ", ".join(wrote) if len(wrote) > 1 else f"{wrote[0]}; no row was counted"
    waits = any(
        instance in pending.module_instance_ids
        for pending in control.report(PendingRollbacksRow, module_code=row.module_code)
    )
    by = row.rolled_back_by_module_instance_id
    undone = f"by run {by}" if by not in (None, instance) else ""
    if waits:
        undone = "not yet: the next begin of its Module undoes what it left"
    if row.undid_module_instance_ids:
        runs = as_text(short(row.undid_module_instance_ids))
        undone = "; ".join(filter(None, [undone, f"it undid what was left by run {runs}"]))
    yield "undone", undone or "nothing"
    yield "to do", _to_do(row, problems, f"omd end run:{instance}")


def _batch(
    row: Any, its: Iterable[EventLogRow], problems: list[ProblemsRow]
) -> Iterator[tuple[str, str]]:
    yield "what", f"run {row.batch_instance_id} of Batch {row.batch_code}: {_status(row)}"
    yield "when", _when(row)
    yield "where", _where(row)
    yield (
        "error",
        _error((e.event_type_code, e.event_return_code_details, e.event_detail) for e in its),
    )
    yield "to do", _to_do(row, problems, f"omd end batchrun:{row.batch_instance_id}")


def _status(row: Any) -> str:
    reason = f" ({row.reason_code})" if row.reason_code else ""
    return f"{as_text(short(row.execution_status_code))}{reason}"


def _when(row: Any) -> str:
    if row.end_datetime is None:
        return f"since {short(row.start_datetime)}, for {as_text(row.duration)}"
    took = f", it took {as_text(row.duration)}"
    return f"{short(row.start_datetime)} to {short(row.end_datetime)}{took}"


def _where(row: Any) -> str:
    context: Mapping[str, Any] = row.execution_context or {}
    given = [f"{name} {as_text(value)}" for name, value in context.items() if value is not None]
    by = [f"begun by {row.started_by}"] if row.started_by else []
    return str(short(", ".join(by + given)))


def _error(its: Iterable[tuple[int, str | None, str | None]]) -> str:
    """Return the texts of the failures; a code stands before its text unless that has it."""
    texts = []
    for type_, code, detail in its:
        if type_ in _FAILURES:
            text = detail or ""
            texts.append(text if not code or code in text else f"{code}: {text}".strip())
    return "\n".join(texts)


def _to_do(row: Any, problems: list[ProblemsRow], end: str) -> str:
    if row.end_datetime is None:
        return f"It executes. Who must end it: {end}"
    if not problems:
        return "nothing"
    return "\n".join(dict.fromkeys(f"{p.subject}, {p.problem_code}: {p.way_out}" for p in problems))
