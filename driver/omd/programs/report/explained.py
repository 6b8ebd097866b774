"""Where the value of a cell comes from: for a terminal, and as a page for people.

`omd_provenance.explain` says it in words and as data; here it is only laid out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from omd.programs.page.markup import (
    FINDING,
    Html,
    To,
    el,
    moment,
    name,
    nowhere,
    page,
    section,
    table,
    verdict,
    zone,
)
from omd.programs.report.way import STYLE, Stop, picture
from omd.programs.terminal.text import as_text, printable, short

if TYPE_CHECKING:
    from omd.rooms.provenance.rows import ExplainRow

# What each step is for people, and under which heading it stands.
_TITLES = {
    "RUN": "written by",
    "SOURCE": "made from",
    "DECISION": "decided by",
    "RULE": "by the rule",
    "INPUT": "given",
    "DELIVERY": "came with",
    "FILE": "from",
    "VERDICT": "judged",
}
_PARTS = {
    "How it was made": ("RUN", "SOURCE", "DECISION", "RULE", "INPUT"),
    "How it came": ("DELIVERY", "FILE", "VERDICT"),
}


def print_steps(steps: Sequence[ExplainRow]) -> None:
    """Print an explanation to stdout."""
    first, second = steps[:2]
    click.secho(printable(first.text), bold=True)
    click.echo(printable(second.text))
    for title, kinds in _PARTS.items():
        rows = [step for step in steps if step.step in kinds]
        if rows:
            click.secho(f"\n{title}", bold=True)
        for step in rows:
            click.echo(printable(step.text))
    history = [step for step in steps if step.step == "HISTORY"]
    if history:
        click.secho("\nHistory", bold=True)
    for step in history:
        click.echo(printable(step.text))


def as_page(steps: Sequence[ExplainRow]) -> str:
    """Return an explanation as an HTML page (see `omd.programs.page.markup`)."""
    first = steps[0]
    column, of = first.detail["column"], first.detail["table_code"]
    return page(
        f"{column} in {of}: {short(first.text)}",
        el(
            "header",
            el("h1", name(column), " in ", name(of)),
            el("p", name(_key(first.detail["key"]))),
        ),
        *as_sections(steps),
        el("p", f"Times are local, in {zone()}; in sentences, of the session.", cls="note"),
        style=f"{FINDING}{STYLE}{_STYLE}",
    )


def as_sections(steps: Sequence[ExplainRow], to: To = nowhere) -> list[Html]:
    """Return an explanation as parts of a page; ``to`` leads to runs and deliveries."""
    first, second = steps[:2]
    run = next(step for step in steps if step.step == "RUN")
    stands = run.detail.get("stands", True)
    body = [
        verdict(
            "S" if stands else "A",
            name(first.text),
            el("p", name(second.text)),
            *([] if stands else [el("p", "The run that wrote it does not stand.")]),
        ),
    ]
    stops = [*_stops(steps)]
    if stops:
        end = f"{first.detail['column']} = {'empty' if first.value is None else first.value}"
        way = picture(stops, "From where the value comes", end)
        body.append(section("way", "The way that it came", way))
    for title, kinds in _PARTS.items():
        rows = [step for step in steps if step.step in kinds]
        if rows:
            columns: dict[str, Callable[[Any], object]] = {
                "what": lambda step: el("span", _what(step, to), cls="nowrap"),
                "in words": lambda step: name(step.text),
            }
            body.append(section(f"part-{kinds[0].lower()}", title, table(rows, columns)))
    history = [step for step in steps if step.step == "HISTORY"]
    if history:
        body.append(section("values", "Its history", _history(history, to)))
    return body


def _key(key: Mapping[str, Any]) -> str:
    return ", ".join(f"{column} {as_text(value)}" for column, value in key.items())


def _stops(steps: Sequence[ExplainRow]) -> Iterator[Stop]:
    """Yield the runs, the nearest first; files stand at the run that staged them."""
    files = defaultdict(list)
    for step in steps:
        if step.step == "FILE" and step.file is not None:
            line = "" if step.line is None else f", line {step.line}"
            files[step.delivery_id, step.detail["table_code"]].append(step.file + line)
    runs = [s for s in steps if s.step in ("RUN", "SOURCE") and "module_code" in s.detail]
    for step in runs:
        detail = step.detail
        is_first = step.step == "RUN"
        assert step.module_instance_id is not None  # noqa: S101 - the run is known
        yield Stop(
            step.module_instance_id,
            detail["module_code"],
            None if is_first else detail["because_of"] or runs[0].module_instance_id,
            None,
            _colour(stands=detail["stands"], is_exact=detail["is_exact"], is_first=is_first),
            _note(detail, step.delivery_id),
            files[step.delivery_id, detail["table_code"]],
        )


def _colour(*, stands: bool, is_exact: bool, is_first: bool) -> str:
    if not stands:
        return "failed"
    return "ready" if is_first else "quiet" if is_exact else "waiting"


def _note(detail: Mapping[str, Any], delivery: int | None) -> str:
    parts = [f"delivery {delivery}"] if delivery is not None else []
    parts += [] if detail["stands"] else ["does not stand"]
    parts += [] if detail["is_exact"] else ["may have been read"]
    return ", ".join(parts) or str(detail["table_code"])


def _what(step: ExplainRow, to: To) -> Html:
    title = _TITLES[step.step]
    if step.step == "DELIVERY" and step.delivery_id is not None:
        return to("DELIVERY", step.delivery_id, title)
    if step.module_instance_id is not None:
        return to("MODULE_INSTANCE", step.module_instance_id, title)
    return name(title)


def _history(steps: Sequence[ExplainRow], to: To) -> Html:
    columns: dict[str, Callable[[Any], object]] = {
        "from": lambda step: moment(step.valid_from),
        "until": lambda step: _until(step.valid_until),
        "value": lambda step: _value(step),
        "by": lambda step: (
            to("DELIVERY", step.delivery_id, f"delivery {step.delivery_id}")
            if step.delivery_id is not None
            else to("MODULE_INSTANCE", step.module_instance_id, f"run {step.module_instance_id}")
        ),
    }
    return table(steps, columns)


def _until(value: datetime | None) -> Html:
    return el("span", "now") if value is None or value.year == 9999 else moment(value)


def _value(step: ExplainRow) -> Html:
    if step.value is not None:
        return name(step.value)
    return el("span", "deleted" if step.detail["record_ind"] == "R" else "empty", cls="soft")


_STYLE = """
.soft { color: var(--soft); }
#values td:last-child { width: auto; white-space: nowrap; }
#values td:nth-child(3) { width: 100%; }
"""
