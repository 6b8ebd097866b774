"""What OMD runs as assets of Dagster, what it committed as their materialisations, and Pipes.

The database decides: an asset that Dagster materialises is a run that may be skipped or refused, as
for any caller. The sensor reports what others ran.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from omd import Control, connect
from omd._core.engines import POSTGRES
from omd._core.names import parts
from omd.rooms.control.codes import Status
from omd.rooms.control.rows import ModuleExecutionLogRow, ModuleInputsRow, ModuleListRow
from omd.rooms.decision.rows import DecisionStageListRow
from omd.rooms.delivery.rows import (
    DeliveryConstraintsRow,
    DeliveryFindingsRow,
    DeliveryLogRow,
)
from omd.rooms.facts.rows import FactsMapRow
from omd.rooms.lineage.rows import LineageTopicsRow

if TYPE_CHECKING:
    import dagster

    from omd.rooms.control.run import Run

SENSOR = "omd_events"
_MOST = 1000  # events of one round of the sensor
_WITHOUT_TABLES = ("PART", "DELIVERY", "EXPORT")


@dataclass(slots=True)
class _Work:
    """A Module with the tables that it makes, and those that it reads."""

    code: str
    kind: str
    description: str | None
    is_ours: bool  # the database performs it
    keys: dict[str, list[str]]  # of the asset of each table that it makes
    reads: list[str] = field(default_factory=list)
    deps: list[list[str]] = field(default_factory=list)  # the assets that it reads


@dataclass(frozen=True, slots=True)
class _Check:
    """A constraint of a model, as a check of the asset that keeps the rows of its entity."""

    interface: str
    entity: str
    constraint: str
    description: str
    table: str
    name: str


def omd_definitions(dsn: str | None = None) -> dagster.Definitions:
    """Return the assets, checks and the sensor of all that is registered now.

    An asset is a table: of a topic, a stage, facts, or a Module of SQL. Its key is schema and
    table. Where several Modules make a table each has an asset of its own: the first keeps that
    key, and those of the others end with the code of the Module. Those that the database performs
    are executed by Dagster; the others are external, and the sensor ``omd_events`` says when
    somebody else has made them. A constraint of a delivery is a check of the facts that keep its
    rows.

    Args:
        dsn: the database; without it as for `omd.connect`. Dagster asks it again when it loads the
            definitions anew.
    """
    import dagster as dg

    with connect(dsn) as control:
        works = _works(control)
        checks = _checks(control)
    made = {table for work in works for table in work.keys}
    assets: list[Any] = []
    for number, work in enumerate(works):
        specs = [
            dg.AssetSpec(
                key,
                deps=work.deps,
                description=work.description,
                group_name="omd",
                kinds={"postgres"},
                skippable=True,
                metadata={"omd/module_code": work.code, "omd/module_kind": work.kind},
            )
            for key in work.keys.values()
        ]
        assets += [_executable(dg, dsn, work, specs, number)] if work.is_ours else specs
    check_specs = [
        dg.AssetCheckSpec(check.name, asset=parts(check.table), description=check.description)
        for check in checks
        if check.table in made
    ]
    return dg.Definitions(
        assets=assets,
        asset_checks=[_checked(dg, dsn, checks, check_specs)] if check_specs else [],
        sensors=[_sensor(dg, dsn)],
    )


# What is registered -----------------------------------------------------------------------------


def _works(control: Control) -> list[_Work]:
    """Return what makes tables, each table with an asset for each Module that makes it."""
    reads: dict[str, list[str]] = {}
    for read in control.report(ModuleInputsRow, order_by=["module_code", "table_code"]):
        reads.setdefault(read.module_code, []).append(read.table_code)
    tables: dict[str, list[str]] = {}
    for stage in control.report(DecisionStageListRow):
        outputs = stage.definition.get("outputs") or []
        tables[stage.module_code] = [o["table"] for o in outputs if o.get("table")]
        links = stage.definition.get("links") or []
        reads.setdefault(stage.module_code, [link["source"] for link in links if "source" in link])
    for topic in control.report(LineageTopicsRow):
        if topic.module_code is not None:
            reads.setdefault(topic.module_code, list(topic.depends_on or []))
    for stored in control.report(FactsMapRow):
        kept = tables.setdefault(f"facts.{stored.interface_code}", [])
        kept += [t for t in (stored.anchor_table, stored.context_table) if t not in kept]
    works, met = [], set[str]()
    for module in control.report(ModuleListRow, order_by=["module_code"]):
        if module.module_kind_code in _WITHOUT_TABLES:
            continue
        of_module = tables.get(module.module_code, [module.table_code])
        keys = {
            table: [*parts(table), module.module_code] if table in met else parts(table)
            for table in of_module
            if len(parts(table)) == 2
        }
        met.update(keys)
        if keys:
            works.append(
                _Work(
                    module.module_code,
                    module.module_kind_code,
                    module.module_description,
                    module.engine_code == POSTGRES,
                    keys,
                    list(dict.fromkeys(reads.get(module.module_code, []))),
                )
            )
    _connect(works)
    return works


def _connect(works: list[_Work]) -> None:
    """Say of each Module which assets it reads: of a table those of all that make it.

    Dagster takes no circle. So who writes back into a table of which it has read, through others,
    is not among those by which the others read that table; the first Module of a table always is.
    """
    makers: dict[str, list[_Work]] = {}
    for work in works:
        for table in work.keys:
            makers.setdefault(table, []).append(work)
    above: dict[str, set[str]] = {work.code: set() for work in works}

    def leads_to(start: str, code: str) -> bool:
        seen, left = {start}, [start]
        while left:
            new = above[left.pop()] - seen
            seen |= new
            left += new
        return code in seen

    read_by = [(work, read) for work in works for read in work.reads if read not in work.keys]
    for work, read in read_by:
        if read not in makers:
            work.deps.append(parts(read))
        else:
            first = makers[read][0]
            work.deps.append(first.keys[read])
            above[work.code].add(first.code)
    for work, read in read_by:
        for other in makers.get(read, ())[1:]:
            if not leads_to(other.code, work.code):
                work.deps.append(other.keys[read])
                above[work.code].add(other.code)


def _checks(control: Control) -> list[_Check]:
    anchors = {
        (stored.interface_code, stored.entity_code): stored.anchor_table
        for stored in control.report(FactsMapRow)
    }
    checks, names = [], set[tuple[str, str]]()
    for row in control.report(
        DeliveryConstraintsRow, order_by=["interface_code", "entity_code", "constraint_code"]
    ):
        table = anchors.get((row.interface_code, row.entity_code))
        if table is None:
            continue
        name = plain = _plain(row.constraint_code)
        number = 1
        while (table, name) in names:
            number += 1
            name = f"{plain}_{number}"
        names.add((table, name))
        description = f"{row.constraint_type}: {row.expression or row.constraint_code}"
        checks.append(
            _Check(
                row.interface_code, row.entity_code, row.constraint_code, description, table, name
            )
        )
    return checks


def _plain(text: str) -> str:
    """Return a text as Dagster takes it for a name."""
    return re.sub(r"[^A-Za-z0-9_]", "_", text)


# What Dagster executes --------------------------------------------------------------------------


def _executable(dg: Any, dsn: str | None, work: _Work, specs: list[Any], number: int) -> Any:
    def run(context: Any) -> Iterator[Any]:
        yield from _run(dg, dsn, work, context)

    run.__annotations__ = {"context": dg.AssetExecutionContext}  # Dagster looks at it
    name = f"omd_{number}_{_plain(work.code)[:80]}"
    return dg.multi_asset(specs=specs, name=name, can_subset=False)(run)


def _run(dg: Any, dsn: str | None, work: _Work, context: Any) -> Iterator[Any]:
    from omd import OmdError

    origin = {
        "run_id": context.run_id,
        "job_name": context.job_name,
        "retry_number": context.retry_number,
    }
    with connect(dsn, application_name="omd-dagster") as control:
        try:
            done = control.calls.omd.run_module(work.code, execution_context={"dagster": origin})
        except OmdError as error:
            hopeless = (error.sqlstate or "").startswith(("OM0", "OM2"))
            raise dg.Failure(str(error), allow_retries=not hopeless) from error
        status = done.execution_status_code
        if status == Status.SKIPPED:
            context.log.info(f"{work.code} was skipped: {done.detail}")
            return
        if status != Status.SUCCEEDED:
            raise dg.Failure(
                f"{work.code} ended with {status}: {done.detail}",
                metadata={"omd/module_instance_id": done.module_instance_id or 0},
            )
        [ran] = control.report(ModuleExecutionLogRow, module_instance_id=done.module_instance_id)
    for key in work.keys.values():
        yield dg.MaterializeResult(dg.AssetKey(key), metadata=_metadata(ran))


def _metadata(ran: ModuleExecutionLogRow) -> dict[str, Any]:
    return {
        "dagster/row_count": ran.rows_inserted + ran.rows_updated,
        "omd/module_instance_id": ran.module_instance_id,
        "omd/batch_instance_id": ran.batch_instance_id,
        "omd/module_code": ran.module_code,
    }


def _checked(dg: Any, dsn: str | None, checks: list[_Check], specs: list[Any]) -> Any:
    """Return the checks; Dagster executes one by looking at the newest delivery."""
    by_key = {(tuple(parts(check.table)), check.name): check for check in checks}

    def constraints(context: Any) -> Iterator[Any]:
        chosen = [
            by_key[tuple(key.asset_key.path), key.name] for key in context.selected_asset_check_keys
        ]
        with connect(dsn, application_name="omd-dagster") as control:
            for interface in {check.interface for check in chosen}:
                newest = [
                    row
                    for row in control.report(
                        DeliveryLogRow,
                        interface_code=interface,
                        order_by=["delivery_id"],
                        descending=True,
                    )
                    if row.verdict is not None and not row.is_dry_run
                ][:1]
                of_interface = [check for check in chosen if check.interface == interface]
                for delivery in newest:
                    for check, more in _judged(control, delivery.delivery_id, of_interface):
                        yield dg.AssetCheckResult(
                            asset_key=dg.AssetKey(parts(check.table)),
                            check_name=check.name,
                            **_verdict(dg, more),
                        )

    constraints.__annotations__ = {"context": dg.AssetCheckExecutionContext}
    return dg.multi_asset_check(name="omd_constraints", specs=specs, can_subset=True)(constraints)


def _judged(
    control: Control, delivery_id: int, checks: Iterable[_Check]
) -> Iterator[tuple[_Check, dict[str, Any]]]:
    """Yield each constraint with how a delivery violates it."""
    findings = {
        (row.entity_code, row.constraint_code): row
        for row in control.report(DeliveryFindingsRow, delivery_id=delivery_id)
    }
    for check in checks:
        row = findings.get((check.entity, check.constraint))
        yield (
            check,
            {
                "delivery_id": delivery_id,
                "violations": row.violations if row else 0,
                "level": row.level if row else None,
            },
        )


def _verdict(dg: Any, findings: Mapping[str, Any]) -> dict[str, Any]:
    is_error = findings["level"] == "REJECT"
    return {
        "passed": findings["violations"] == 0,
        "severity": dg.AssetCheckSeverity.ERROR if is_error else dg.AssetCheckSeverity.WARN,
        "metadata": {
            "omd/delivery_id": findings["delivery_id"],
            "omd/violations": findings["violations"],
        },
    }


# What others ran --------------------------------------------------------------------------------


def _sensor(dg: Any, dsn: str | None) -> Any:
    def omd_events(context: Any) -> Any:
        with connect(dsn, application_name="omd-dagster") as control:
            _publish(control)
            after = int(context.cursor or 0)
            events = control.calls.omd_event.events_after(after, limit=_MOST)
            if not events:
                return dg.SkipReason("Nothing was committed since.")
            reported = list(_reported(dg, control, events))
        return dg.SensorResult(asset_events=reported, cursor=str(events[-1].event_number))

    omd_events.__annotations__ = {"context": dg.SensorEvaluationContext}
    return dg.sensor(
        name=SENSOR,
        minimum_interval_seconds=30,
        description="Reports what OMD committed: runs as materialisations, deliveries as checks.",
    )(omd_events)


def _publish(control: Control) -> None:
    """Give numbers to what was committed; who may only read takes what others published."""
    from psycopg.errors import InsufficientPrivilege

    try:
        control.calls.omd_event.publish()
    except InsufficientPrivilege:
        return


def _reported(dg: Any, control: Control, events: list[Any]) -> Iterator[Any]:
    keys = {work.code: list(work.keys.values()) for work in _works(control)}
    checks = _checks(control)
    ended = ("RUN_SUCCEEDED", "RUN_UNDONE")
    ids = [event.subject_id for event in events if event.event_type in ended]
    runs = {
        row.module_instance_id: row
        for row in (control.report(ModuleExecutionLogRow, module_instance_id=ids) if ids else [])
    }
    for event in events:
        ran = runs.get(event.subject_id) if event.event_type in ended else None
        if event.event_type == "RUN_SUCCEEDED" and ran is not None:
            # What Dagster executed it has reported itself.
            if "dagster" not in (ran.execution_context or {}):
                for key in keys.get(ran.module_code, ()):
                    yield dg.AssetMaterialization(key, metadata=_metadata(ran))
        elif event.event_type == "RUN_UNDONE" and ran is not None:
            for key in keys.get(ran.module_code, ()):
                yield dg.AssetObservation(
                    key,
                    description="What this run had written was taken back.",
                    metadata={
                        "omd/module_instance_id": ran.module_instance_id,
                        "omd/undone_by": ran.rolled_back_by_module_instance_id or 0,
                    },
                )
        elif event.event_type in ("DELIVERY_ACCEPTED", "DELIVERY_REFUSED"):
            for row in control.report(DeliveryLogRow, delivery_id=event.subject_id):
                of_interface = [c for c in checks if c.interface == row.interface_code]
                for check, findings in _judged(control, row.delivery_id, of_interface):
                    yield dg.AssetCheckEvaluation(
                        asset_key=dg.AssetKey(parts(check.table)),
                        check_name=check.name,
                        **_verdict(dg, findings),
                    )


# Pipes ------------------------------------------------------------------------------------------


@contextmanager
def omd_pipes(control: Control, module_code: str, **options: Any) -> Iterator[Run[Control]]:
    """Run a Module in a process of Dagster Pipes: it begins with the asset's run as its context.

    When the block has succeeded, the materialisation of the asset is reported with the rows and the
    id of the run. A Module that is skipped or must not run raises as `Control.module` does.

    Args:
        control: the connection.
        module_code: the Module.
        options: of `Control.module`.
    """
    from dagster_pipes import PipesContext, open_dagster_pipes

    if PipesContext.is_initialized():
        with _pipes_run(PipesContext.get(), control, module_code, options) as run:
            yield run
    else:
        with (
            open_dagster_pipes() as pipes,
            _pipes_run(pipes, control, module_code, options) as run,
        ):
            yield run


@contextmanager
def _pipes_run(
    pipes: Any, control: Control, module_code: str, options: dict[str, Any]
) -> Iterator[Run[Control]]:
    origin: dict[str, Any] = {
        "run_id": pipes.run_id,
        "job_name": pipes.job_name,
        "retry_number": pipes.retry_number,
    }
    if pipes.is_asset_step:
        origin["asset_keys"] = list(pipes.asset_keys)
    context = {**(options.pop("context", None) or {}), "dagster": origin}
    with control.module(module_code, context=context, **options) as run:
        yield run
        instance_id = run.instance_id
    if pipes.is_asset_step:
        [ran] = control.report(ModuleExecutionLogRow, module_instance_id=instance_id)
        for key in pipes.asset_keys:
            pipes.report_asset_materialization(metadata=_metadata(ran), asset_key=key)
