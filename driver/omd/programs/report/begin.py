"""What a begin would answer now, by which rule, and what the work of a Module waits for."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from omd.programs.terminal.commands import ExitCode
from omd.programs.terminal.tables import heading, show_pairs
from omd.programs.terminal.text import as_text, printable, row_dict, short
from omd.rooms.lineage.rows import LineageTopicsRow
from omd.rooms.report.rows import WorkRow

if TYPE_CHECKING:
    from omd.doors.control import Control
    from omd.programs.cli.things import Thing
    from omd.rooms.control.rows import ExplainBeginRow
    from omd.rooms.lineage.rows import PlanRow

_ANSWERS = {"P": ExitCode.OK, "R": ExitCode.OK, "C": ExitCode.SKIPPED, "A": ExitCode.ABORTED}
_WORDS = {
    "P": "would begin now",
    "R": "would begin now",
    "C": "would be skipped",
    "A": "would be refused",
    None: "would fail, or would wait for another session",
}
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT")


@dataclass(frozen=True, slots=True)
class Begin:
    """What a begin of a Module or a Batch would answer.

    Attributes:
        code: of the Module or the Batch.
        answer: of the begin.
        work: what the Module does and waits for; None: a Batch has none.
        block: what the topic that it performs would take; None: it performs none.
    """

    code: str
    answer: ExplainBeginRow
    work: WorkRow | None
    block: PlanRow | None

    @property
    def document(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        more = {name: row_dict(row) for name, row in self._more.items()}
        return {**row_dict(self.answer), **more}

    @property
    def exit_code(self) -> ExitCode:
        """Return what a command ends with that asks whether it would begin."""
        code = _ANSWERS.get(str(as_text(self.answer.processing_indicator)), ExitCode.FAILURE)
        is_empty = self.block is not None and self.block.end_pos is None
        return ExitCode.SKIPPED if is_empty and code == ExitCode.OK else code

    @property
    def _more(self) -> dict[str, Any]:
        return {
            name: row
            for name, row in (("work", self.work), ("block", self.block))
            if row is not None
        }

    def tell(self) -> None:
        """Print it for people: what, why, and which runs it is about."""
        answer = self.answer
        indicator = answer.processing_indicator
        why = ", ".join(filter(None, [short(indicator), answer.reason]))
        what = _WORDS[indicator]
        click.secho(printable(f"{self.code} {what}{f': {why}' if why else ''}."), bold=True)
        click.echo(printable(answer.rule))
        undone = as_text(answer.instance_array or [])
        details = {"started" if k == "start_datetime" else k: v for k, v in answer.details.items()}
        names = {heading(re.sub("_ids$", "_id", name)): value for name, value in details.items()}
        about = {
            "undone first": f"run {undone}" if undone else None,
            **{name: _in_words(value) for name, value in names.items() if value not in (None, 0)},
            **(_of_work(self.work) if self.work else {}),
            **(_of_block(self.block) if self.block else {}),
        }
        show_pairs(about, max([len(name) for name, text in about.items() if text], default=0) + 2)


def begin_of(control: Control, thing: Thing, batch_instance: int | None = None) -> Begin:
    """Return what a begin of a Module, or what performs one, or of a Batch would answer."""
    is_batch = thing.kind == "batch"
    code = str(thing.key) if is_batch else thing.module_code
    [answer] = control.calls.omd.explain_begin(
        module_code=None if is_batch else code,
        batch_code=code if is_batch else None,
        batch_instance_id=batch_instance,
    )
    if is_batch:
        return Begin(code, answer, None, None)
    topics = control.report(LineageTopicsRow, module_code=code)
    return Begin(
        code,
        answer,
        next(iter(control.report(WorkRow, code=code)), None),
        control.calls.omd_lineage.plan(topics[0].topic) if topics else None,
    )


def _of_work(work: WorkRow) -> dict[str, Any]:
    """Return what a Module waits for; nothing of one that is idle."""
    if work.state == "IDLE" and not work.failures:
        return {}
    return {
        "state": ", ".join(filter(None, [work.state, work.reason])),
        "waits for": work.waits_for,
        "since": short(work.since),
        "not before": short(work.not_before),
        "failures": work.failures or None,
        "last problem": work.last_problem,
        "task": work.task_id,
    }


def _of_block(block: PlanRow) -> dict[str, Any]:
    """Return which rows a step would take."""
    rows = None if block.row_count is None else f"{block.row_count:,}"
    held = f"at {short(block.upto)} by {short(block.blocker)}"
    return {
        "after": _position(block.start_pos, block.start_id),
        "up to": _position(block.end_pos, block.end_id),
        "rows": f"{rows}, the block is full" if rows and block.is_full else rows,
        "planned": "already" if block.is_planned else None,
        "held": held if block.upto and block.blocker else None,
        "block": block.detail,
    }


def _position(pos: datetime | None, id_: int | None) -> str | None:
    if pos is None:
        return None
    return str(short(pos)) if id_ is None else f"{short(pos)}, id {id_}"


def _in_words(value: Any) -> str:
    """Return a value of JSON as people read it."""
    if isinstance(value, dict):
        pairs = (f"{name.replace('_', ' ')} {_in_words(its)}" for name, its in value.items())
        return ", ".join(pairs)
    if isinstance(value, list):
        return ", ".join(map(_in_words, value))
    with contextlib.suppress(ValueError, TypeError):
        if _INSTANT.match(value):
            return str(short(datetime.fromisoformat(value)))
    return str(short(str(value)))
