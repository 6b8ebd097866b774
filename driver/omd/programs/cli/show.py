"""``omd show`` prints one thing in full, of whatever kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omd.programs.cli.common import dsn_option, open_control
from omd.programs.cli.log import BATCH_RUN, MODULE_RUN
from omd.programs.cli.recall import PLAN
from omd.programs.cli.things import find
from omd.programs.terminal.options import format_option, page_option
from omd.programs.terminal.tables import show as show_rows
from omd.programs.terminal.tables import show_document, show_pairs, titled
from omd.programs.terminal.text import row_dict

if TYPE_CHECKING:
    from omd.doors.control import Control
    from omd.programs.cli.things import Thing

_NEWEST = 10
_KEY = "KEY"  # among the columns of a thing: what names it


@dataclass(frozen=True, slots=True)
class _Section:
    """A table of a thing: rows of a view.

    Attributes:
        title: its name; in JSON with underscores.
        view: of omd_report.
        equal: the columns of the view that must equal a column of the thing, one of several
            columns (a tuple), or one of a list of values.
        columns: what is shown, as `titled` takes it, or by titles; empty: the one row, as pairs.
        order_by: a column.
        newest: only so many, those with the highest value in that column, the newest last.
    """

    title: str
    view: str
    equal: Mapping[str, str | list[str] | tuple[str, ...]]
    columns: str | Mapping[str, str] = ""
    order_by: str | None = None
    newest: int | None = None

    def rows(self, control: Control, values: Mapping[str, Any]) -> list[Any]:
        """Return its rows."""
        equal: dict[str, Any] = {}
        for name, of in self.equal.items():
            its = [values[key] for key in of] if isinstance(of, tuple) else of
            equal[name] = values[of] if isinstance(of, str) else its
        if None in equal.values():
            return []
        rows = control.report(
            self.view,
            order_by=[self.order_by] if self.order_by else [],
            descending=self.newest is not None,
            limit=self.newest,
            **equal,
        )
        if isinstance(self.columns, str) and self.columns:  # a source has a row that is empty
            names = titled(self.columns).values()
            rows = [row for row in rows if any(getattr(row, name) is not None for name in names)]
        return rows if self.newest is None else rows[::-1]


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of things.

    Attributes:
        sections: its tables.
        view: of omd_report, whose row it is.
        column: of that view, which names it.
        more: what else is known of it, by name, from a routine.
        long: columns that are no text for people; JSON has them.
    """

    sections: tuple[_Section, ...] = ()
    view: str | None = None
    column: str = ""
    more: Callable[[Control, Thing], Mapping[str, Any]] | None = None
    long: tuple[str, ...] = ()


def _problems(*kinds: str, keys: tuple[str, ...] = (_KEY,)) -> _Section:
    return _Section(
        "Problems",
        "problems",
        {"object_kind": list(kinds), "object_key": keys},
        "problem_code, severity, since, text, way_out",
        "problem_code",
    )


def _definition(control: Control, thing: Thing) -> dict[str, Any]:
    if not thing.module_code:  # a topic whose table others fill
        return {}
    return row_dict(control.calls.omd.module_definition(thing.module_code))


def _task(control: Control, thing: Thing) -> dict[str, Any]:
    values = {"task_id": thing.key} | row_dict(control.calls.omd_dispatch.explain_task(thing.key))
    # What it waits for stands last, unless its status says it.
    return values | {name: values.pop(name) for name in ("reason", "detail")}


def _table(control: Control, thing: Thing) -> Mapping[str, Any]:
    values: dict[str, Any] = {"table_code": thing.key}
    if control.report("lake_tables", table_code=thing.key) or any(
        row.platform_code == "ICEBERG"
        for row in control.report("module_list", table_code=thing.key)
    ):
        from omd.programs.report.lake_table import described

        values |= described(control, str(thing.key))
    return values


def _ruleset(_control: Control, thing: Thing) -> dict[str, Any]:
    return {"ruleset_code": thing.key}


_MODULE = {"module_code": "module_code"}
_RUNS = _Section(
    "Last runs", "module_execution_log", _MODULE, MODULE_RUN, "module_instance_id", _NEWEST
)
_OF_MODULE = (
    _Section("Work", "work", {"code": "module_code"}),
    _Section("Inputs", "module_inputs", _MODULE, "table_code AS table, read_kind", "table_code"),
    _Section(
        "Parameters", "parameter_list", _MODULE, "parameter_code, parameter_value AS value",
        "parameter_code",
    ),
)  # fmt: skip
_HOLDS = "sequence, module_code, child_batch_code AS batch, inactive_indicator AS inactive"
_DELIVERIES = (
    "delivery_id AS delivery, snapshot_datetime AS data of, delivery_status AS status, verdict,"
    " status_datetime AS since, is_dry_run AS trial"
)
_EVENTS = "event_datetime AS at, attempt AS run, event, to_status AS status, editor AS by, reason"
_DELIVERY = {"delivery_id": "delivery_id"}
_INTERFACE = {"interface_code": "interface_code"}
_RECALL = {"recall_id": "recall_id"}

_KINDS = {
    "module": _Kind(
        (
            *_OF_MODULE,
            _Section("Topic", "lineage_topics", _MODULE),
            _Section(
                "Stage", "decision_stage_list", _MODULE, "stage_code, version, ruleset_code, mode"
            ),
            _RUNS,
            _problems("MODULE"),
        ),
        "module_list",
        "module_code",
        _definition,
    ),
    "batch": _Kind(
        (
            _Section("Holds", "batch_module_list", {"batch_code": _KEY}, _HOLDS, "sequence"),
            _Section(
                "Parameters", "parameter_list", {"batch_code": _KEY},
                "parameter_code, parameter_value AS value", "parameter_code",
            ),
            _Section(
                "Last runs", "batch_execution_log", {"batch_code": _KEY}, BATCH_RUN,
                "batch_instance_id", _NEWEST,
            ),
            _problems("BATCH"),
        ),
        "batch_list",
        "batch_code",
    ),
    "topic": _Kind(
        (
            *_OF_MODULE,
            _Section("Lag", "lineage_lag", {"topic": _KEY}),
            _Section(
                "Reads", "lineage_graph", {"topic": _KEY}, "depends_on AS table, source_topic",
                "ordinal",
            ),
            _Section("Read by", "lineage_graph", {"depends_on": _KEY}, "topic", "topic"),
            _RUNS,
            _problems("MODULE", "SOURCE", keys=("module_code", _KEY)),
        ),
        "lineage_topics",
        "topic",
        _definition,
    ),
    "stage": _Kind(
        (
            *_OF_MODULE,
            _Section(
                "Last runs", "decision_run_log", {"stage_code": _KEY},
                "module_instance_id AS instance, execution_status_code AS status, stage_version,"
                " ruleset_version, engine, waves, cycles, rows_input, rows_inserted, rows_rejected,"
                " begun_at AS began, end_datetime AS ended",
                "module_instance_id", _NEWEST,
            ),
            _problems("MODULE", "STAGE", keys=("module_code", _KEY)),
        ),
        "decision_stage_list",
        "stage_code",
        _definition,
        ("definition",),
    ),
    "ruleset": _Kind(
        (
            _Section(
                "Versions", "decision_ruleset_list", {"ruleset_code": _KEY},
                "version, kind, state, effective_from AS from, effective_to AS to, tests, passed,"
                " defined_at AS defined, defined_by AS by",
                "version",
            ),
            _Section(
                "Tests", "decision_test_list",
                {"ruleset_code": _KEY}, "version, test_name AS test, passed, error, tested_at",
                "version",
            ),
            _problems("RULESET"),
        ),
        more=_ruleset,
    ),
    "table": _Kind(
        (
            _Section(
                "Written by", "module_list", {"table_code": _KEY},
                "module_code, module_kind_code AS kind, platform_code, engine_code,"
                " last_execution_status_code AS status, last_start_datetime AS started",
                "module_code",
            ),
            _Section(
                "Read by", "module_inputs", {"table_code": _KEY}, "module_code, read_kind",
                "module_code",
            ),
            _Section(
                "Last commits", "lake_commits", {"table_code": _KEY},
                "commit_id, commit_datetime AS committed, operation, module_code,"
                " module_instance_id AS instance, added_rows AS +rows, removed_rows AS -rows,"
                " total_rows AS rows",
                "commit_id", _NEWEST,
            ),
        ),
        more=_table,
    ),
    "agreement": _Kind(
        (
            _Section(
                "Locations", "arrival_locations", {"agreement_code": _KEY},
                "location, looked_datetime AS looked, next_look, is_inactive AS inactive, problem",
                "location",
            ),
            _Section(
                "Deliveries", "delivery_log", {"agreement_code": _KEY}, _DELIVERIES,
                "delivery_id", _NEWEST,
            ),
            _problems("LOCATION"),
        ),
        "delivery_agreements",
        "agreement_code",
    ),
    "interface": _Kind(
        (
            _Section("Facts", "facts_state", _INTERFACE),
            _Section(
                "Agreements", "delivery_agreements", _INTERFACE,
                "agreement_code, tenant_code, layer_code, effective_from AS from,"
                " effective_to AS to, entities, completeness, inactive_indicator AS inactive",
                "agreement_code",
            ),
            _Section(
                "Marks", "delivery_marks", _INTERFACE,
                "entity_code, snapshot_datetime AS data of, delivery_id", "entity_code",
            ),
            _Section(
                "Constraints", "delivery_constraints", _INTERFACE,
                "constraint_code, constraint_type AS type, stage, expression AS check",
                "constraint_code",
            ),
            _problems("INTERFACE"),
        ),
        "delivery_models",
        "interface_code",
    ),
    "delivery": _Kind(
        (
            _Section("State", "delivery_state", _DELIVERY),
            _Section("Queue", "delivery_queue", _DELIVERY),
            _Section(
                "Entities", "delivery_metrics", _DELIVERY,
                "entity_code, load_type AS load, rows_delivered AS delivered,"
                " rows_skipped AS skipped, rows_new AS new, rows_changed AS changed,"
                " rows_deleted AS deleted, rows_unchanged AS unchanged",
                "entity_code",
            ),
            _Section(
                "Findings", "delivery_findings", _DELIVERY,
                "entity_code, constraint_code, action, violations, threshold, level",
                "constraint_code",
            ),
            _Section("Events", "delivery_events", _DELIVERY, _EVENTS, "delivery_event_id"),
            _problems("DELIVERY"),
        ),
        "delivery_log",
        "delivery_id",
    ),
    "export": _Kind(
        (
            _Section("Events", "delivery_events", _DELIVERY, _EVENTS, "delivery_event_id"),
            _problems("EXPORT"),
        ),
        "facts_exports",
        "delivery_id",
    ),
    "task": _Kind((_problems("TASK"),), more=_task),
    "recall": _Kind(
        (
            _Section(
                "Plan", "recall_items", _RECALL,
                PLAN,
                "position",
            ),
            _Section(
                "Returns", "recall_returns", _RECALL,
                "position AS pos, code, return_status AS status, former_delivery_id AS former,"
                " snapshot_datetime AS data of, delivery_id AS delivery,"
                " module_instance_id AS run, problem",
                "position",
            ),
            _problems("RECALL"),
        ),
        "recalls",
        "recall_id",
    ),
}  # fmt: skip


@click.command()
@click.argument("thing")
@dsn_option
@format_option("table", "json", "yaml", "odcs", "mermaid")
@click.option(
    "--count", is_flag=True, help="Of a pending rollback: count the rows, with your rights."
)
@click.option("--receipt", is_flag=True, help="Of a delivery: its receipt.")
@page_option("--html", "With --receipt: write it to this file too, as a page for people.")
@click.option("--quarantine", is_flag=True, help="Of a delivery: samples of the rows put aside.")
def show(
    thing: str,
    dsn: str,
    output: str,
    count: bool,
    receipt: bool,
    page: Path | None,
    quarantine: bool,
) -> None:
    """Show one thing in full: what it is, what it did last, and what is wrong with it.

    THING is kind:key; the kind may be left out where one thing only has that name. The kinds are
    run, batchrun, module, batch, topic, stage, ruleset, table, interface, agreement, delivery,
    export, task and recall; omd help things says more.

    yaml is the document that omd apply takes, of what a file can register; odcs is the
    data contract of an interface, and mermaid the picture of its facts.

    \b
    Examples:
      omd show 4711                     a run
      omd show batch:b_night            a Batch
      omd show m_orders --count         a Module; what its rollback would touch
      omd show delivery:7 --receipt     why was it rejected?
      omd show shop --output yaml       the document of an interface
    """
    if (receipt or quarantine) and output not in ("table", "json"):
        raise click.UsageError(f"--output {output} is not of a delivery.")
    if page is not None and not receipt:
        raise click.UsageError(
            "--html is for --receipt; the page of all is: omd status --html FILE"
        )
    among = ("delivery",) if receipt or quarantine else (*_KINDS, "run", "batchrun")
    with open_control(dsn) as control:
        target = find(control, thing, among=among)
        if receipt or quarantine:
            from omd.programs.report import delivered

            if receipt:
                delivered.show_receipt_of(control, int(target.key), output, page)
            else:
                delivered.show_quarantine(control, int(target.key), output)
        elif output in ("yaml", "odcs", "mermaid"):
            from omd.programs.cli.documents.registered import written

            click.echo(written(control, target, output), nl=False)
        elif target.kind in ("run", "batchrun"):
            from omd.programs.report.run import show_run

            show_run(control, target, output)
        else:
            _show(control, target, output, count=count)


def _show(control: Control, thing: Thing, output: str, *, count: bool) -> None:
    kind = _KINDS[thing.kind]
    values: dict[str, Any] = {}
    if kind.more is not None:
        values |= kind.more(control, thing)
    if kind.view is not None:
        for row in control.report(kind.view, **{kind.column: thing.key}):
            values |= row_dict(row)
    of: dict[str, Any] = {_KEY: str(thing.key), "module_code": thing.module_code, **values}
    sections = [(section, section.rows(control, of)) for section in kind.sections]
    pending = _pending(control, thing.module_code, count=count)
    if output == "json":
        tables = {_name(section.title): rows for section, rows in sections}
        more = {"pending_rollback_steps": pending} if thing.module_code else {}
        show_document({**values, **tables, **more})
        return
    show_pairs({name: value for name, value in values.items() if name not in kind.long})
    for section, rows in sections:
        if rows and not section.columns:
            click.secho(f"\n{section.title}", bold=True)
            known = {*of, *section.equal}
            show_pairs({n: v for n, v in row_dict(rows[0]).items() if n not in known})
        elif rows:
            click.secho(f"\n{section.title}", bold=True)
            columns = section.columns
            show_rows(rows, titled(columns) if isinstance(columns, str) else columns, output)
    if pending:
        click.secho("\nPending rollback", bold=True)
        names = [name for name in row_dict(pending[0]) if name != "platform_code"]
        show_rows(pending, titled(", ".join(names)), output)


def _name(title: str) -> str:
    return title.lower().replace(" ", "_")


def _pending(control: Control, module_code: str, *, count: bool) -> list[Any]:
    """Return the steps with which the next begin of a Module would undo what was left."""
    if not module_code:
        return []
    previous = control.calls.omd.previous_module_instance(module_code)
    if previous is None or not previous.instance_array:
        return []
    steps = control.calls.omd.preview_rollback if count else control.calls.omd.build_rollback_sql
    return list(steps(previous.instance_array[-1]))
