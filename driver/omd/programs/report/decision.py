"""Why something was decided as it was, in words: for a terminal, and as a page for people.

`omd_decision.explain` says what a run has kept; here it is only put into words.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from omd._core.error_codes import UnknownStage
from omd._core.errors import CallerError
from omd.programs.page.markup import (
    FINDING,
    Html,
    described,
    el,
    join,
    moment,
    name,
    number,
    page,
    section,
    table,
    verdict,
    zone,
)
from omd.programs.terminal.tables import show_pairs, show_table
from omd.programs.terminal.text import as_text, printable, row_dict
from omd.rooms.control.codes import Status
from omd.rooms.decision.rows import DecisionRunLogRow, DecisionStageListRow, ExplainRow

if TYPE_CHECKING:
    from omd.doors.decision import Decision


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a run has kept about a key."""

    run: DecisionRunLogRow
    key: Mapping[str, Any] | None  # the key; None for all that it has kept
    wave: str | None  # the wave; None for all
    primary: str  # the first link of the stage
    # For the parameter of an output, that of the link whose records it is in step with.
    beside: Mapping[str, str]
    calls: list[ExplainRow]  # the calls of the ruleset
    rejects: list[ExplainRow]  # the rejected records

    @property
    def document(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "run": row_dict(self.run),
            "key": self.key,
            "wave": self.wave,
            "calls": [row_dict(row) for row in self.calls],
            "rejects": [row_dict(row) for row in self.rejects],
        }


def run_of(room: Decision, stage: str, instance: int | None = None) -> DecisionRunLogRow:
    """Return a run of a stage; by default its newest one that has succeeded.

    Raises:
        CallerError: there is none.
    """
    rows = room._calls.report(
        DecisionRunLogRow,
        stage_code=stage,
        module_instance_id=instance,
        execution_status_code=Status.SUCCEEDED.value if instance is None else None,
        order_by=["module_instance_id"],
        descending=True,
        limit=1,
    )
    if rows:
        return rows[0]
    if instance is not None:
        raise CallerError(
            f"stage {stage} has no run {instance}, or it was rolled back",
            hint=f"Its runs: omd report decision_run_log --where stage_code={stage}",
        )
    stage_of(room, stage)
    raise CallerError(
        f"no run of stage {stage} has succeeded", hint=f"Run it: omd run stage:{stage}"
    )


def stage_of(room: Decision, stage: str) -> DecisionStageListRow:
    """Return a stage.

    Raises:
        UnknownStage: there is none of this name.
    """
    rows = room._calls.report(DecisionStageListRow, stage_code=stage)
    if not rows:
        raise UnknownStage(
            f'stage "{stage}" is not defined', hint="The stages: omd report decision_stage_list"
        )
    return rows[0]


def read_explanation(
    room: Decision,
    stage: str,
    key: Mapping[str, Any] | None,
    wave: str | None = None,
    instance: int | None = None,
) -> Explanation:
    """Return what a run of a stage has kept about a key; by default the last that decided it.

    Raises:
        CallerError: there is no such run, or the stage has other keys.
    """
    if instance is None and key is not None:
        instance = room._calls.last_run_of(stage, key, wave=wave)
    run = run_of(room, stage, instance)
    of = stage_of(room, stage)
    columns = [item["column"] for item in of.definition.get("keys") or ()]
    if key is not None and {*key} != {*columns} and run.stage_version == of.version:
        raise CallerError(
            f"a key of stage {stage} has these columns: {', '.join(columns) or 'none'}",
            hint="Give a value for each of them." if columns else "Leave the key out.",
        )
    rows = room._calls.explain(run.module_instance_id, key, wave=wave)
    return Explanation(
        run,
        key,
        wave,
        of.definition["links"][0]["name"],
        in_step(of.definition),
        [row for row in rows if row.link is None],
        [row for row in rows if row.link is not None],
    )


def in_step(stage: Mapping[str, Any]) -> dict[str, str]:
    """Return which output has a record for each record of which link, by their parameters."""
    links = {link["name"]: link.get("parameter") or link["name"] for link in stage["links"]}
    return {
        output.get("parameter") or output["name"]: links[output["propagate"]["link"]]
        for output in stage["outputs"]
        if (output.get("propagate") or {}).get("by") == "ORDER"
    }


# In words ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Summary:
    """An explanation in plain words; ``kind`` is the letter of its colour."""

    kind: str
    title: str
    why: list[str]


_MOST = 50  # calls, and records of each, that are shown


def tell(explanation: Explanation) -> Summary:
    """Return what became of a key, and why."""
    rules = f"the rules “{explanation.run.ruleset_code}”, version {explanation.run.ruleset_version}"
    calls, rejects = explanation.calls, explanation.rejects
    why = [*_answers(explanation), *_reasons(explanation)]
    if not calls and not rejects:
        return Summary(
            "E",
            "Nothing is known about it",
            [
                "No record that this run has read has this key, or what the run had kept is gone.",
                "A stage with keep NONE keeps rejected records only.",
            ],
        )
    if not calls:
        return Summary("F", "It was not decided: its records were rejected", why)
    times = "once" if len(calls) == 1 else f"{len(calls):,} times"
    title = f"It was decided by {rules}, called {times}"
    if not rejects:
        return Summary("S", title, why)
    more = (
        "a record was rejected" if len(rejects) == 1 else f"{_records(len(rejects))} were rejected"
    )
    return Summary("A", f"{title}; {more}", why)


def _answers(explanation: Explanation) -> Iterator[str]:
    """Yield how many records came out, in sentences."""
    counts: Counter[str] = Counter()
    for call in explanation.calls:
        counts.update(call.outputs or {})
    for output, count in counts.items():
        yield f"{output}: {_records(count)} came out."


def _reasons(explanation: Explanation) -> Iterator[str]:
    """Yield why records were rejected, one sentence for each reason."""
    groups = Counter((row.link, row.cause_link) for row in explanation.rejects)
    for (link, cause), count in groups.items():
        were = "was" if count == 1 else "were"
        because = _because(explanation, link, cause)
        yield f"{link}: {_records(count)} {were} rejected, because {because}."


def _because(explanation: Explanation, link: str | None, cause: str | None) -> str:
    """Return why records of a link were rejected."""
    with_key = "with this key" if explanation.key is not None else "that goes with it"
    if cause is not None:
        return f"“{cause}” has no record {with_key}"
    if link == explanation.primary:
        return "no decision was left that could take them"
    return f"“{explanation.primary}” has no record {with_key}"


def _records(count: int) -> str:
    return "one record" if count == 1 else f"{count:,} records"


def _key(key: Mapping[str, Any] | None) -> str:
    return ", ".join(f"{column} {as_text(value)}" for column, value in (key or {}).items())


def _inputs(call: ExplainRow) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """Yield what the ruleset was called with; the arrival numbers where no record is kept."""
    if call.params is not None:
        for parameter, value in call.params.items():
            yield parameter, _without_key(call, _as_records(value))
    else:
        for parameter, value in (call.inputs or {}).items():
            ids = value if isinstance(value, list) else [value]
            yield parameter, [{"record": arrival} for arrival in ids]


def results(
    call: ExplainRow, explanation: Explanation
) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """Yield what the ruleset answered, by parameter: records, and what is known beside each.

    That is the record that it is in step with, and the row of a decision table that has made it.
    """
    rows = _rows_of_records(call)
    for parameter, value in (call.result or {}).items():
        records = _as_records(value)
        given = _as_records((call.params or {}).get(explanation.beside.get(parameter, "")))
        if len(given) == len(records):
            records = [{**one, **record} for one, record in zip(given, records, strict=True)]
        if parameter in rows:
            pairs = zip(records, rows[parameter], strict=True)
            records = [{**record, BY_THE_RULE: row} for record, row in pairs]
        yield parameter, _without_key(call, records)


def _without_key(call: ExplainRow, records: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Leave out what the title has said: the columns of the key, where all records have it."""
    said = {
        column
        for column, value in (call.key or {}).items()
        if all(column in record and record[column] == value for record in records)
    }
    left: list[Mapping[str, Any]] = [
        {column: value for column, value in record.items() if column not in said}
        for record in records
    ]
    return left if all(left) else records


def _as_records(value: Any) -> list[Mapping[str, Any]]:
    items = value if isinstance(value, list) else [] if value is None else [value]
    return [item if isinstance(item, dict) else {"value": item} for item in items]


# What a decision model tells: its nodes in order, and of a table the rows that applied.

BY_THE_RULE = "by the rule"
_INPUT = re.compile(r"\[[^\[\]]*\]$")  # zen-engine adds the id of the column


def _hits(call: ExplainRow) -> Iterator[tuple[Mapping[str, Any], list[Mapping[str, Any]]]]:
    """Yield each node of a decision model with what it tells about the rules that applied."""
    nodes = [node for node in (call.trace or {}).values() if isinstance(node, dict)]
    for node in sorted(nodes, key=lambda n: n.get("order") or 0):
        data = node.get("traceData")
        hits = data if isinstance(data, list) else [data]
        yield node, [hit for hit in hits if isinstance(hit, dict) and "rule" in hit]


def _rows_of_records(call: ExplainRow) -> dict[str, list[str]]:
    """Return the rows of a table that has decided record by record, by the parameter it made."""
    rows = {}
    for node, hits in _hits(call):
        output = node.get("output")
        for parameter, made in output.items() if isinstance(output, dict) and hits else ():
            is_answer = isinstance(made, list) and made == (call.result or {}).get(parameter)
            if is_answer and len(made) == len(hits):
                rows[parameter] = [_row(hit) for hit in hits]
    return rows


def rules_hit(call: ExplainRow) -> Iterator[tuple[str, str]]:
    """Yield table and rule of each rule of a decision model that applied, and how often it did."""
    for node, hits in _hits(call):
        hits.sort(key=lambda hit: hit.get("index") or 0)
        rules = Counter(_rule(hit, alone=len(hits) == 1) for hit in hits)
        for rule, times in rules.items():
            yield str(node.get("name")), rule + (f" ({times} times)" if times > 1 else "")


def _row(hit: Mapping[str, Any]) -> str:
    return f"row {hit['index'] + 1}" if isinstance(hit.get("index"), int) else ""


def _rule(hit: Mapping[str, Any], *, alone: bool) -> str:
    """Return a rule, with what was compared when it is alone: else it differs from hit to hit."""
    rule, values = hit["rule"], hit.get("reference_map") or {}
    conditions = []
    for column, condition in sorted(rule.items()):
        field = _INPUT.sub("", column)
        if not column.startswith("_") and condition not in ("", "-", None):
            value = json.dumps(values.get(field), ensure_ascii=False)
            is_shown = alone and field in values and value != condition
            was = f" (it was {value})" if is_shown else ""
            conditions.append(f"{field.removeprefix('$nodes.')} {condition}{was}")
    parts = [_row(hit), ", ".join(conditions) or "in all other cases", rule.get("_description")]
    return ": ".join(str(part) for part in parts if part)


# In a terminal ----------------------------------------------------------------------------------


def print_explanation(explanation: Explanation) -> None:
    """Print an explanation to stdout."""
    summary, run = tell(explanation), explanation.run
    colour = {"S": "green", "F": "red", "A": "yellow"}.get(summary.kind)
    click.secho(f"{summary.title}.", bold=True, fg=colour)
    for line in summary.why:
        click.echo(printable(line))
    click.echo()
    show_pairs(
        {
            "key": _key(explanation.key) or None,
            "wave": explanation.wave,
            "stage": f"{run.stage_code} (version {run.stage_version})",
            "ruleset": f"{run.ruleset_code} (version {run.ruleset_version})",
            "run": f"{run.module_instance_id} ({run.engine})",
            "decided": run.begun_at,
        }
    )
    for call in explanation.calls[:_MOST]:
        _print_heading(_call(call, explanation))
        for parameter, records in _inputs(call):
            _print(f"in: {parameter}", records)
        for node, rule in rules_hit(call):
            click.echo(printable(f"rule: {node}: {rule}"))
        for parameter, records in results(call, explanation):
            _print(f"out: {parameter}", records)
    if explanation.rejects:
        _print_heading("Rejected")
        show_table(
            [
                {title: cell(row) for title, cell in _reject_columns(explanation).items()}
                for row in explanation.rejects[:_MOST]
            ],
            list(_reject_columns(explanation)),
        )
    for line in _left(explanation):
        click.echo(line)


def _print_heading(title: str) -> None:
    click.secho(f"\n{printable(title)}", bold=True)


def _print(title: str, records: Sequence[Mapping[str, Any]]) -> None:
    click.echo(printable(title) + (": none" if not records else ""))
    if records:
        columns = _columns(records)
        show_table(
            [{column: record.get(column) for column in columns} for record in records[:_MOST]],
            columns,
        )
        if len(records) > _MOST:
            click.echo(f"… and {len(records) - _MOST:,} more")


def _columns(records: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(column for record in records for column in record))


def _call(call: ExplainRow, explanation: Explanation) -> str:
    of = [] if explanation.key is not None or not call.key else [_key(call.key)]
    of += [f"wave {call.wave}"] if call.wave is not None and explanation.wave is None else []
    of += [f"cycle {call.cycle_no}, call {call.invocation_no}"]
    return "Decision: " + ", ".join(of)


def _reject_columns(explanation: Explanation) -> dict[str, Callable[[ExplainRow], Any]]:
    return {
        "link": lambda row: row.link,
        "record": lambda row: row.arrival,
        "code": lambda row: row.code,
        "because": lambda row: _because(explanation, row.link, row.cause_link),
        "what it says": lambda row: row.params,
    }


def _left(explanation: Explanation) -> Iterator[str]:
    if len(explanation.calls) > _MOST:
        yield f"There are {len(explanation.calls) - _MOST:,} more decisions."
    if len(explanation.rejects) > _MOST:
        yield f"There are {len(explanation.rejects) - _MOST:,} more rejected records."
    if any(call.params is None for call in explanation.calls):
        yield (
            "The run has kept which records took part, and not what they said: "
            "the stage has no keep TRACE."
        )


# As a page --------------------------------------------------------------------------------------


def as_page(explanation: Explanation) -> str:
    """Return an explanation as an HTML page (see `omd.programs.page.markup`)."""
    run = explanation.run
    title = _key(explanation.key) or f"Run {run.module_instance_id}"
    pairs: dict[str, object] = {
        "Decided": moment(run.begun_at),
        "Rules": [name(run.ruleset_code), f", version {run.ruleset_version}"],
        "Stage": [name(run.stage_code), f", version {run.stage_version}"],
        "Wave": explanation.wave,
        "Run": f"{run.module_instance_id} ({run.engine})",
        "Fingerprint": el("span", run.content_hash[:16], title=run.content_hash),
    }
    note = (
        *(f"{line} " for line in _left(explanation)),
        f"Times are local, in {zone()}. ",
        "The fingerprint tells whether the rules are the same as those of another run.",
    )
    return page(
        f"{title}: {tell(explanation).title}",
        el(
            "header",
            el("h1", name(title)),
            el("p", "How it was decided, by ", name(run.stage_code)),
        ),
        *as_sections(explanation),
        section("run", "The run", described(pairs)),
        el("p", *note, cls="note"),
        style=_STYLE,
    )


def as_sections(explanation: Explanation) -> list[Html]:
    """Return an explanation as parts of a page."""
    summary = tell(explanation)
    body = [
        verdict(summary.kind, summary.title, *(el("p", line) for line in summary.why)),
        *(
            _call_section(call, explanation, at)
            for at, call in enumerate(explanation.calls[:_MOST], 1)
        ),
    ]
    if explanation.rejects:
        columns: dict[str, Callable[[Any], object]] = {
            "from": lambda row: name(row.link),
            "record#": lambda row: number(row.arrival),
            "why": lambda row: el(
                "span",
                _because(explanation, row.link, row.cause_link),
                el("small", row.code),
            ),
            "what it says": lambda row: _pairs(row.params),
        }
        body.append(
            section(
                "rejects", "Records that were rejected", table(explanation.rejects[:_MOST], columns)
            )
        )
    return body


def _call_section(call: ExplainRow, explanation: Explanation, at: int) -> Html:
    parts = [el("h3", "What the rules were given"), *_tables(_inputs(call))]
    hits = [*rules_hit(call)]
    if hits:
        parts.append(el("h3", "Which rules applied"))
        parts.append(
            el("ul", *(el("li", el("b", node), ": ", rule) for node, rule in hits), cls="rules")
        )
    if call.result is not None:
        parts += [el("h3", "What they decided"), *_tables(results(call, explanation))]
        if not call.result:
            parts.append(el("p", "Nothing.", cls="none"))
    elif call.outputs:
        counts = ", ".join(f"{output}: {_records(n)}" for output, n in call.outputs.items())
        parts += [el("h3", "What they decided"), el("p", counts)]
    return section(f"call-{at}", _call(call, explanation), *parts)


def _tables(parameters: Iterator[tuple[str, list[Mapping[str, Any]]]]) -> Iterator[Html]:
    for parameter, records in parameters:
        yield el("h4", name(parameter))
        columns: dict[str, Callable[[Any], object]] = {
            column + ("#" if _is_numeric(records, column) else ""): _cell(column)
            for column in _columns(records)
        }
        yield table(records[:_MOST], columns)
        if len(records) > _MOST:
            yield el("p", f"And {len(records) - _MOST:,} more.", cls="none")


def _cell(column: str) -> Callable[[Any], object]:
    return lambda record: as_text(record.get(column))


def _is_numeric(records: Sequence[Mapping[str, Any]], column: str) -> bool:
    values = [record.get(column) for record in records]
    return all(v is None or (isinstance(v, (int, float)) and v is not True and v is not False)
               for v in values)  # fmt: skip


def _pairs(record: Mapping[str, Any] | None) -> Html:
    return join(
        el("span", el("span", column, cls="soft"), f" {as_text(value)}", cls="line")
        for column, value in (record or {}).items()
        if value is not None
    )


_STYLE = f"""{FINDING}
h3 {{ font-size: 13px; margin: 16px 0 4px; }} h2 + h3 {{ margin-top: 0; }}
h4 {{ font-size: 12px; font-weight: 500; color: var(--soft); margin: 8px 0 2px; }}
.rules {{ margin: 4px 0; padding-left: 20px; }}
.soft {{ color: var(--soft); }}
#rejects .line {{ display: inline-block; margin-right: 12px; }}
@media screen and (min-width: 701px) {{ #rejects td:nth-child(3) {{ min-width: 26ch; }} }}
section[id^=call] table {{ width: auto; }}
section[id^=call] :is(th, td):last-child {{ width: auto; }}
"""
