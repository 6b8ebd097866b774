"""The commands of dispatch: what waits and runs, tasks, suspensions, schedules, upkeep."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO, TypeVar
from zoneinfo import ZoneInfo

import click

from omd.programs.cli.common import (
    add_call,
    add_view,
    dsn_option,
    opener,
    report_error,
)
from omd.programs.cli.worker import worker
from omd.programs.terminal.commands import ExitCode, Sections
from omd.programs.terminal.options import (
    call_arguments,
    call_options,
    document_option,
    instant,
    json_value,
    limit_option,
    output_option,
)
from omd.programs.terminal.tables import render, show, show_document, show_pairs, titled
from omd.programs.terminal.text import row_dict, short
from omd.rooms.dispatch.calls import DispatchCalls

if TYPE_CHECKING:
    F = TypeVar("F", bound=Callable[..., Any] | click.Command)


@click.group(cls=Sections)
def dispatch() -> None:
    """Show and direct tasks: what is due, which worker has it, what is suspended.

    Criteria are given as NAME=VALUE, or all of them as a JSON object: CODE=b_flights is the same as
    '{"CODE": "b_flights"}'.

    \b
    Examples:
      omd dispatch create RUN BATCH CODE=b_flights     runs the Batch as soon as a worker is free
      omd dispatch queue                               shows what waits, runs and is dead
      omd dispatch suspend RUN CODE=b_flights --reason "the source is being repaired"
    """


_open = opener(lambda control: control.calls.omd_dispatch)


def _criteria(is_list: bool = False) -> click.Argument:
    """Return the argument of the criteria; of a list, a criterion may have several values."""

    def read(
        ctx: click.Context, parameter: click.Parameter, texts: tuple[str, ...]
    ) -> dict[str, Any] | None:
        if len(texts) == 1 and texts[0].lstrip().startswith("{"):
            criteria: dict[str, Any] = json_value(ctx, parameter, texts[0])
            return criteria
        criteria = {}
        for text in texts:
            name, equals, value = text.partition("=")
            if not (name and equals):
                raise click.BadParameter(f"{text} is not like NAME=VALUE")
            if is_list:
                criteria.setdefault(name, []).append(value)
            elif criteria.setdefault(name, value) != value:
                raise click.BadParameter(f"{name} is given twice")
        return criteria or None

    return click.Argument(
        ["criteria"], nargs=-1, required=False, metavar="[NAME=VALUE]...", callback=read
    )


def _with_criteria(command: click.Command) -> click.Command:
    command.params.append(_criteria())
    return command


# What waits and runs ----------------------------------------------------------------------------

_TASKS = titled(
    "task_id, task_type AS type, criteria, status, outcome, execution_time AS due, attempt, error"
)
_FILTERS = {"family_code": "family", "task_type": "type", "backend_type": "group"}


_add_view = partial(add_view, dispatch, room="dispatch", filters=_FILTERS)


def _problems(rows: list[Any]) -> ExitCode:
    """Tell the problems of schedules, or of sources, in full."""
    wrong = [row for row in rows if row.problem is not None]
    for row in wrong:
        name = getattr(row, "schedule_code", None) or f"{row.family_code} {row.task_type}"
        click.echo(short(f"{name}: {row.problem}"), err=True)
    return ExitCode.FAILURE if wrong else ExitCode.OK


dispatch.section("Workers")  # their command stands at the end of this file
dispatch.section("What waits and runs")
_add_view(
    "queue",
    "Show how many tasks are due, run and are dead, by family, type and lane.",
    "family_code, task_type AS type, lane, due, later, suspended, claimed, dead, oldest_due",
    ["family_code", "task_type", "lane"],
)
_add_view(
    "running",
    "Show the tasks that workers have.",
    "task_id, family_code, task_type AS type, criteria, attempt, claimed_by AS worker,"
    " claimed_at AS since, running_for AS for, cancel_requested AS to cancel",
    ["task_id"],
    newest="FIRST",
)
_add_view(
    "dead",
    "Show the tasks whose attempts are used up; omd dispatch revive tries them again.",
    "task_id, family_code, task_type AS type, criteria, attempt AS attempts,"
    " finished_at AS since, error",
    ["task_id"],
    newest="FIRST",
)
_add_view(
    "backends",
    "Show the workers.",
    "backend_type AS group, backend_id AS worker, is_alive AS alive, position, claimed,"
    " registration_time AS renewed, ttl",
    ["backend_type", "backend_id"],
)
_add_view(
    "suspensions",
    "Show the suspensions.",
    "suspension_id, family_code, task_types AS types, criteria, reason, suspended_at AS since,"
    " suspended_by AS by, resumed_at AS resumed",
    ["suspension_id"],
)
_add_view(
    "schedules",
    "Show the schedules.\n\nThe exit code is 1 when one has a problem, which stands below in full.",
    "schedule_code, family_code, task_type AS type, criteria, cron, every,"
    " inactive_indicator AS off, next_time AS next, created_count AS created,"
    " skipped_count AS skipped",
    ["schedule_code"],
    judged=_problems,
)
_add_view(
    "sources",
    "Show the views whose rows become tasks.\n\n"
    "The exit code is 1 when one has a problem, which stands below in full.",
    "family_code, task_type AS type, source, every, inactive_indicator AS off,"
    " last_fired_at AS last, took, created_count AS created",
    ["family_code", "task_type"],
    judged=_problems,
)


@dispatch.command("show")
@click.argument("task_id", metavar="TASK", type=int)
@dsn_option
@document_option
def show_task(task_id: int, dsn: str, output: str) -> None:
    """Show all that is known about TASK, and what it waits for."""
    with _open(dsn) as room:
        pairs = row_dict(room.explain_task(task_id))
    pairs = {"task_id": task_id} | pairs
    pairs |= {name: pairs.pop(name) for name in ("reason", "detail")}  # they stand last
    if output == "json":
        show_document(pairs)
        return
    if pairs["reason"] == pairs["status"]:  # what it says stands above
        del pairs["reason"], pairs["detail"]
    show_pairs(pairs)


@_with_criteria
@dispatch.command()
@click.argument("family")
@dsn_option
@output_option
@call_options(
    DispatchCalls.search_tasks,
    without=["limit"],
    names={"task_types": "type", "before_task_id": "before"},
)
@limit_option(1000)
def search(family: str, dsn: str, output: str, criteria: Any, limit: int, **given: Any) -> None:
    """Show the newest tasks of FAMILY with these criteria.

    The criteria must be those of an index that omd dispatch allow-search has made; others may be
    given too.

    \b
    Example:
      omd dispatch search RUN CODE=b_flights --status DEAD
    """
    values = call_arguments(given)
    values["statuses"] = [status.upper() for status in values["statuses"] or []] or None
    with _open(dsn) as room:
        rows = room.search_tasks(family, criteria or {}, limit=limit, **values)
    show(rows, _TASKS, output)
    if len(rows) == limit:
        click.echo(f"There may be more: --before {rows[-1].task_id} shows them.", err=True)


# Tasks ------------------------------------------------------------------------------------------

dispatch.section("Tasks")

_existing = click.option(
    "--existing",
    "on_duplicate",
    flag_value="EXISTING",
    help="Where a live task has the same key, take that one; else it is an error.",
)
_AT = {"execution_time": "at"}


@_with_criteria
@dispatch.command()
@click.argument("family")
@click.argument("type_", metavar="TYPE")
@dsn_option
@call_options(DispatchCalls.create_task, without=["criteria", "on_duplicate"], names=_AT)
@_existing
def create(family: str, type_: str, dsn: str, **given: Any) -> None:
    """Create a task, and print its id.

    \b
    Examples:
      omd dispatch create RUN BATCH CODE=b_flights --at 2026-07-01T02:00
      omd dispatch create CALL REFRESH --payload '{"day": "2026-07-01"}'
    """
    with _open(dsn) as room:
        answer = room.create_task(family, type_, **given)
    click.echo(answer.task_id)
    what = "is created" if answer.is_new else "has this key already"
    click.echo(f"Task {answer.task_id} {what}.", err=True)


@dispatch.command("create-many")
@click.argument("family")
@click.argument("type_", metavar="TYPE")
@click.argument("file", type=click.File(encoding="utf-8"))
@dsn_option
@_existing
def create_many(family: str, type_: str, file: TextIO, dsn: str, on_duplicate: str | None) -> None:
    """Create the tasks of FILE, all of them or none, and print their ids in its order.

    FILE is - for stdin. It holds a JSON array, or one object per line, each with criteria, payload,
    execution_time and priority as far as they are needed.

    \b
    Example:
      echo '{"criteria": {"CODE": "b_flights"}}' | omd dispatch create-many RUN BATCH -
    """
    tasks = _tasks(file.read())
    with _open(dsn) as room:
        answer = room.create_tasks(family, type_, tasks, on_duplicate=on_duplicate)
    click.echo("".join(f"{task}\n" for task in answer.task_ids), nl=False)
    click.echo(f"Tasks: {len(answer.task_ids):,}, of them new: {answer.created:,}.", err=True)


def _tasks(text: str) -> list[Any]:
    """Return the tasks of a JSON array, or of lines of JSON."""
    is_array = text.lstrip().startswith("[")
    tasks: list[Any] = []
    for number, part in enumerate([text] if is_array else text.splitlines(), 1):
        try:
            if part.strip():
                tasks.append(json.loads(part))
        except ValueError as error:
            where = "the file" if is_array else f"line {number}"
            raise click.UsageError(f"{where} is no JSON: {error}") from error
    return tasks[0] if is_array else tasks


def _add_each(
    name: str,
    call: Callable[..., Any],
    *,
    about: str,
    done: str,
    if_running: str = "",
    **names: str,
) -> None:
    """Add a command that makes a call for each of the tasks named.

    A task that is refused does not keep the others; the exit code is 1 then.

    Args:
        name: of the command.
        call: the method.
        about: its help.
        done: the line that is shown for a task.
        if_running: what is added with --running.
        names: see `call_options`.
    """

    @dispatch.command(name, help=about)
    @click.argument("tasks", metavar="TASK...", type=int, nargs=-1, required=True)
    @dsn_option
    @call_options(call, names=names)
    def command(tasks: tuple[int, ...], dsn: str, **given: Any) -> int:
        from omd._core.errors import CallerError, StateError

        code = ExitCode.OK
        with _open(dsn) as room:
            for task in tasks:
                try:
                    getattr(room, call.__name__)(task, **given)
                except (CallerError, StateError) as error:
                    code = report_error(error)
                else:
                    more = if_running if given.get("running") else ""
                    click.echo(f"{done.format(task=task)}{more}", err=True)
        return code


_add_each(
    "cancel",
    DispatchCalls.cancel_task,
    about="Cancel pending tasks, and with --running also those that run.",
    done="Task {task} is cancelled, or its worker was asked to end it.",
    if_running=" If it runs, its worker ends it first.",
)
_add_each(
    "reschedule",
    DispatchCalls.reschedule_task,
    about="Give pending tasks another time or priority.",
    done="Task {task} is rescheduled.",
    **_AT,
)
_add_each(
    "revive",
    DispatchCalls.revive_task,
    about="Make dead or cancelled tasks pending again, as if they had not been tried.\n\n"
    "\b\nExample:\n"
    "  omd dispatch dead --type BATCH --output json | jq .[].task_id |\n"
    "    xargs -r omd dispatch revive",
    done="Task {task} is pending.",
    **_AT,
)


# Suspensions ------------------------------------------------------------------------------------

dispatch.section("Suspensions")


@dispatch.command()
@click.argument("family")
@dsn_option
@call_options(DispatchCalls.suspend, without=["criteria"], names={"task_types": "type"})
def suspend(family: str, dsn: str, **given: Any) -> None:
    """Suspend tasks of FAMILY until resume, and print the id of the suspension.

    A task is held when it has one of the types and, of each criterion, one of the values; without
    any, the family pauses. What runs goes on.

    \b
    Examples:
      omd dispatch suspend RUN CODE=b_flights CODE=b_hotels --reason "the source is being repaired"
      omd dispatch suspend RUN --type TOPIC
    """
    with _open(dsn) as room:
        answer = room.suspend(family, **call_arguments(given))
    click.echo(answer.suspension_id)
    click.echo(
        f"Suspension {answer.suspension_id} holds; pending tasks marked: {answer.held:,}.", err=True
    )


suspend.params.append(_criteria(is_list=True))
add_call(
    dispatch,
    "resume",
    DispatchCalls.resume,
    about="End a suspension; a task that another one holds too stays suspended.",
    done="Suspension {suspension_id} has ended; tasks that are free now: {answer:,}.",
)


# Schedules --------------------------------------------------------------------------------------

dispatch.section("Schedules")
add_call(
    dispatch,
    "register-schedule",
    DispatchCalls.register_schedule,
    about="Register a schedule, which creates tasks, or change it.\n\n"
    "What is not given keeps its value. omd dispatch cron-next shows when a cron occurs.\n\n"
    "\b\nExample:\n"
    "  omd dispatch register-schedule nightly CODE=b_flights --family RUN --type BATCH \\\n"
    "    --cron '0 2 * * *' --time-zone Europe/Paris",
    done="Schedule {schedule_code} occurs next at {answer}.",
    without=["criteria"],
    names={"family_code": "family", "task_type": "type"},
    given=[_criteria()],
)
add_call(
    dispatch,
    "remove-schedule",
    DispatchCalls.remove_schedule,
    about="Remove a schedule; the tasks that it has created stay.",
    done="Schedule {schedule_code} is removed.",
)


@dispatch.command("cron-next")
@click.argument("cron")
@dsn_option
@output_option
@click.option("--time-zone", metavar="TEXT", help="In this time zone (UTC).")
@click.option("--after", callback=instant, metavar="INSTANT", help="After this instant, not now.")
@click.option(
    "--count", type=click.IntRange(1, 1000), default=5, show_default=True, help="How many."
)
def cron_next(
    cron: str, dsn: str, output: str, time_zone: str | None, after: datetime | None, count: int
) -> None:
    """Show when CRON occurs next.

    CRON is minute hour day month weekday, of *, numbers, names (JAN to DEC, SUN to SAT), lists,
    ranges and steps (*/5, 1-9/2), or @hourly, @daily, @weekly, @monthly, @yearly. If day or weekday
    begins with * both must match, else one of them. A local time that does not exist occurs at the
    end of the gap, and a repeated one the first time only.

    \b
    Example:
      omd dispatch cron-next '30 2 * * MON-FRI' --time-zone Europe/Paris
    """
    times = []
    with _open(dsn) as room:
        for _ in range(count):
            after = room.cron_next(cron, time_zone=time_zone, after=after)
            times.append(after)
    rows = [{"time": _in_zone(at, time_zone).isoformat(" "), "utc": at} for at in times]
    render(rows, ["time"] if output == "table" else ["time", "utc"], output)


def _in_zone(at: datetime, time_zone: str | None) -> datetime:
    try:
        return at.astimezone(ZoneInfo(time_zone or "UTC"))
    except (ValueError, OSError, KeyError):  # PostgreSQL knows more spellings of a zone
        return at.astimezone()


# Configuration ----------------------------------------------------------------------------------

dispatch.section("Families and types of tasks")
add_call(
    dispatch,
    "register-family",
    DispatchCalls.register_family,
    about="Register a family of tasks and its criteria (NAME=TYPE), or change it.\n\n"
    "A later call may add criteria. The types are text, bigint, numeric, boolean, date, timestamptz"
    " and uuid.\n\n"
    "\b\nExample:\n"
    "  omd dispatch register-family LOAD CODE=text DAY=date --key-criterion CODE",
    done="Family {family_code} is registered.",
    without=["criteria"],
    given=[_criteria()],
)
add_call(
    dispatch,
    "register-type",
    DispatchCalls.register_task_type,
    about="Register a type of tasks in a family, or change it.\n\n"
    "What is not given keeps its value.\n\n"
    "\b\nExample:\n"
    "  omd dispatch register-type CALL REFRESH --handler SQL --target app.refresh",
    done="Type {task_type} of family {family_code} is registered.",
)
add_call(
    dispatch,
    "set-custom",
    DispatchCalls.set_custom,
    about="Say whether a type must not have a criterion (D) or may lack it (O).\n\n"
    "With --remove it must be given again.",
    done="Criterion {criterion} of type {task_type} has mode {mode}.",
)
add_call(
    dispatch,
    "set-external-name",
    DispatchCalls.set_external_name,
    about="Give a criterion of a type a second name, which callers may use.",
    done="Criterion {criterion} of type {task_type} is also {external_name}.",
)
add_call(
    dispatch,
    "allow-search",
    DispatchCalls.allow_search,
    about="Allow searches by some criteria, and create the index for them.\n\n"
    "Writes to the family wait while the index is built.\n\n"
    "\b\nExample:\n"
    "  omd dispatch allow-search RUN code CODE",
    done="Index {index_name} of family {family_code} serves searches by {criteria}.",
)


# Sources of tasks -------------------------------------------------------------------------------

dispatch.section("Sources of tasks")
add_call(
    dispatch,
    "register-source",
    DispatchCalls.register_source,
    about="Register a view whose rows become tasks of TYPE in FAMILY, or change it.\n\n"
    "What is not given keeps its value, but --every.\n\n"
    "\b\nExample:\n"
    "  omd dispatch register-source RUN TOPIC --source omd_report.ready_topic_tasks \\\n"
    "    --listen omd_lineage",
    done="The source of {family_code} {task_type} is registered.",
)


# Upkeep -----------------------------------------------------------------------------------------

dispatch.section("Upkeep")


@dispatch.command()
@dsn_option
def maintain(dsn: str) -> None:
    """Do now what workers do each second: settle claims of dead workers, fire schedules."""
    reclaimed = fired = 0
    with _open(dsn) as room:
        while True:
            answer = room.maintain()
            reclaimed += answer.reclaimed
            fired += answer.fired
            if not answer.more:
                break
            time.sleep(0.1)  # what another session has locked can't be settled at once
    click.echo(f"Claims settled: {reclaimed:,}; tasks created: {fired:,}.", err=True)


@dispatch.command()
@click.argument("family")
@dsn_option
@click.option(
    "--partition", type=int, metavar="NUMBER", help="Only this partition, however new it is."
)
def purge(family: str, dsn: str, partition: int | None) -> int:
    """Purge the partitions of FAMILY that are past its retention; their tasks go.

    The exit code is 3 when a partition was left, since a live task is in it or it could not be
    locked.
    """
    with _open(dsn) as room:
        if partition is None:
            done = room.purge_family(family)
            line = f"Slots purged: {_listed(done.purged)}; left: {_listed(done.left)}."
            is_left = bool(done.left)
        else:
            one = room.purge_partition(family, partition)
            line = f"Slot {partition}: {one.outcome}; tasks moved: {one.moved:,}."
            is_left = one.outcome != "PURGED"
    click.echo(line, err=True)
    return ExitCode.SKIPPED if is_left else ExitCode.OK


def _listed(partitions: list[int]) -> str:
    return ", ".join(map(str, partitions)) or "none"


add_call(
    dispatch,
    "set-migration-status",
    DispatchCalls.set_migration_status,
    about="Take a family one step of its migration up or down.\n\n"
    "0: the old model alone; 1: the old one is master, the new one is kept in step; 2: and"
    " differences are reported; 3: the new one is master, the old one is kept in step; 4: the new"
    " one alone.",
    done="Family {family_code} has migration status {migration_status}.",
)


@dispatch.command()
@click.argument("family")
@dsn_option
@output_option
def compare(family: str, dsn: str, output: str) -> int:
    """Show in which live tasks of FAMILY the old and the new model differ.

    The exit code is 1 when there are any.
    """
    with _open(dsn) as room:
        rows = room.compare_models(family)
    show(rows, {"task": "task_id", "kind": "kind", "detail": "detail"}, output)
    return ExitCode.FAILURE if rows else ExitCode.OK


# Workers ----------------------------------------------------------------------------------------

dispatch.section("Workers")


dispatch.add_command(worker, "run")


commands: list[click.Command] = [dispatch]
