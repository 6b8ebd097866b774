"""The commands of lineage: topics, their blocks, the scheduler, the graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from omd._core.engines import SPARK
from omd.programs.cli.common import PROGRAM, add_call, dsn_option, open_control
from omd.programs.report.metrics import listen_option, listening
from omd.programs.terminal.commands import ExitCode, Group
from omd.programs.terminal.options import (
    grace_option,
    instant,
    is_chosen,
    output_option,
    poll_option,
    workers_option,
)
from omd.programs.terminal.tables import render, show, titled
from omd.programs.terminal.text import short
from omd.rooms.control.codes import exit_code
from omd.rooms.lineage.calls import LineageCalls
from omd.rooms.lineage.codes import StepResult

if TYPE_CHECKING:
    from omd.doors.lineage import Lineage
    from omd.programs.terminal.graph import Node
    from omd.rooms.lineage.rows import LineageReadyRow, SourcesRow

_STATUS = titled(
    "topic, lag, reason, blocker, state, hostid AS holder, attempts AS tries",
    reason="reason",
)

_SOURCES = titled(
    "source, newest_pos AS newest, newest_id AS id, lag, max_age AS at most, probed_at AS probed,"
    " problem"
)

_master = click.option(
    "--master", metavar="URL", help="Spark's master for topics on Spark; local[*] by default."
)


@click.group(cls=Group)
def lineage() -> None:
    """Show and run topics: which table feeds which, which block is next, the scheduler."""


add_call(
    lineage,
    "register",
    LineageCalls.register_topic,
    about="Register TOPIC (schema.table[#tag][:shard]), or change it.\n\n"
    "What is not given keeps its value; an empty text empties a list.\n\n"
    "\b\nExamples:\n"
    "  omd lineage register stg.ticket\n"
    "  omd lineage register fact.ticket --depends-on stg.ticket --transform etl.ticket",
    done="Topic {topic} is registered with id {answer}.",
    negations={"advance_when_quiet": "stay-when-quiet"},
)
add_call(
    lineage,
    "remove",
    LineageCalls.remove_topic,
    about="Remove TOPIC; its Module and its table stay.",
    done="Topic {topic} is removed.",
)
add_call(
    lineage,
    "undo",
    LineageCalls.undo_failed,
    about="Undo what failed runs of TOPIC have left, without taking a step.",
    done="What failed runs of topic {topic} had left is undone.",
)
add_call(
    lineage,
    "release",
    LineageCalls.release,
    about="Release TOPIC from its holder, whose step can't commit any more.",
    done="Topic {topic} is free.",
)


# What is next -----------------------------------------------------------------------------------


@lineage.command()
@click.argument("topics", metavar="[GLOB]...", nargs=-1)
@dsn_option
@output_option
def status(topics: tuple[str, ...], dsn: str, output: str) -> int:
    """Show lag, blocker, state and holder of each topic, with the greatest lag first.

    Below stands in full what is wrong with a source or a topic, and the exit code is 1 when a
    source has a problem or a topic has FAILED.
    """
    from omd.rooms.lineage.rows import LineageLagRow, SourcesRow

    with _open(dsn) as room:
        rows = room._control.report(LineageLagRow)
        sources = room._control.report(SourcesRow)
    rows = [row for row in rows if is_chosen(row.topic, topics)]
    chosen = {row.topic for row in rows}
    show(rows, _STATUS, output)
    has_problem = _tell_problems(
        [s for s in sources if is_chosen(s.source, topics) or not chosen.isdisjoint(s.topics)]
    )
    for row in rows:
        # The table may have cut the state; what is not longer than this is never cut.
        if row.reason == "FAILED" or len(row.state) > 20:
            tries = f"{row.reason} after {row.attempts} attempts: " if row.attempts else ""
            click.echo(short(f"{row.topic}: {tries}{row.state}"), err=True)
    failed = any(row.reason == "FAILED" for row in rows)
    return ExitCode.FAILURE if failed or has_problem else ExitCode.OK


@lineage.command()
@click.argument("sources", metavar="[GLOB]...", nargs=-1)
@dsn_option
@output_option
def sources(sources: tuple[str, ...], dsn: str, output: str) -> int:
    """Show the newest row of each source, its last probe, and what is wrong with it.

    The exit code is 1 when a source has a problem.
    """
    from omd.rooms.lineage.rows import SourcesRow

    with _open(dsn) as room:
        rows = room._control.report(SourcesRow)
    rows = [row for row in rows if is_chosen(row.source, sources)]
    show(rows, _SOURCES, output)
    return ExitCode.FAILURE if _tell_problems(rows) else ExitCode.OK


def _tell_problems(sources: Iterable[SourcesRow]) -> bool:
    """Tell in full what is wrong with each source; returns whether anything is."""
    wrong = [row for row in sources if row.problem is not None]
    for row in wrong:
        click.echo(short(f"{row.source}: {row.problem}"), err=True)
    if old := sum(row.is_too_old for row in wrong):
        click.echo(f"{old} of these sources {'is' if old == 1 else 'are'} too old.", err=True)
    return bool(wrong)


@lineage.command()
@click.argument("topic")
@dsn_option
@output_option
def plan(topic: str, dsn: str, output: str) -> None:
    """Show the block that TOPIC would take now, without changing anything.

    A block has the rows after its start and up to its end. The exit code is 3 when there is none.
    """
    with _open(dsn) as room:
        block = room.plan(topic)
    rows = [] if block is None else [block]
    show(
        rows,
        titled(
            "is_planned AS planned, start_pos AS after, start_id AS after id, end_pos AS up to,"
            " end_id AS up to id, row_count AS rows, is_full AS full"
        ),
        output,
    )
    for row in rows:
        if row.blocker and row.upto and output == "table":
            click.echo(f"Held at {short(row.upto)} by {short(row.blocker)}.", err=True)
        if row.detail:
            click.echo(str(short(row.detail)), err=True)
    if block is None or block.end_pos is None:
        click.get_current_context().exit(ExitCode.SKIPPED)


@lineage.command()
@dsn_option
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "dot", "mermaid", "svg"]),
    default="text",
    show_default=True,
    help="Format of what is printed to stdout.",
)
@click.option("--topic", "topics", metavar="GLOB", multiple=True, help="Only these and neighbours.")
def graph(dsn: str, format_: str, topics: tuple[str, ...]) -> None:
    """Draw which topic feeds which, coloured by its state.

    \b
    Examples:
      omd lineage graph --format svg > lineage.svg
      omd lineage graph --format dot | dot -Tpdf > lineage.pdf
    """
    from omd.programs.terminal.graph import FORMATS

    with _open(dsn) as room:
        nodes, edges = _graph(room)
    if topics:
        near = {n for edge in edges for n in edge if any(is_chosen(e, topics) for e in edge)}
        near |= {name for name in nodes if is_chosen(name, topics)}
        nodes = {name: node for name, node in nodes.items() if name in near}
        edges = [edge for edge in edges if near.issuperset(edge)]
    if nodes:
        click.echo(FORMATS[format_](list(nodes.values()), edges))
    else:
        click.echo("(none)", err=True)


def _graph(room: Lineage) -> tuple[dict[str, Node], list[tuple[str, str]]]:
    from omd.programs.terminal.graph import Node
    from omd.rooms.lineage.rows import LineageGraphRow

    ready = {row.topic: row for row in room.ready_list()}
    nodes: dict[str, Node] = {}
    edges: dict[tuple[str, str], None] = {}
    for row in room._control.report(LineageGraphRow, order_by=["topic", "ordinal"]):
        nodes[row.topic] = _node(row.topic, ready.get(row.topic))
        if row.depends_on is not None:
            source = row.source_topic or row.depends_on
            nodes.setdefault(source, Node(source, "missing", note="no topic"))
            edges[source, row.topic] = None
    return dict(sorted(nodes.items())), list(edges)


_KINDS = {"HELD": "running", "FAILED": "failed", "INACTIVE": "inactive", "REPEAT": "quiet"}


def _node(topic: str, row: LineageReadyRow | None) -> Node:
    from omd.programs.terminal.graph import Node

    if row is None:
        return Node(topic, "source")
    kind = _KINDS.get(row.reason, "ready" if row.is_ready else "waiting")
    if kind == "waiting" and row.lag == timedelta(0):
        kind = "quiet"  # it has read all rows that there are
    return Node(topic, kind, row.lag, row.reason)


# Steps ------------------------------------------------------------------------------------------


@lineage.command()
@click.argument("topic")
@dsn_option
@output_option
@_master
@click.option("--one-line", is_flag=True, help="Print the outcome in one line, on stderr.")
def step(topic: str, dsn: str, output: str, master: str | None, one_line: bool) -> int:
    """Run one step of TOPIC, in PostgreSQL or on Spark, and print its outcome.

    The exit code is 0 for DONE, 1 for ERROR, 3 for NOJOBS and SKIPPED, 4 for MUTEX (another process
    holds the topic) and ABORTED.
    """
    from omd.rooms.lineage.step import in_words

    with _open(dsn, waits=True) as room:
        engines = room._control._engines
        outcome = room.step(topic, session=lambda: engines[SPARK].session(master))
    if one_line:
        click.echo(short(in_words(outcome)), err=True)
    else:
        row: dict[str, Any] = {
            "topic": outcome.code,
            "outcome": outcome.reason or str(StepResult.DONE),
            "module_instance_id": outcome.instance_id,
            "rows": outcome.facts.get("rows"),
            "detail": outcome.detail,
        }
        if output == "table":
            row = {name: short(value) for name, value in row.items()}
        render([row], list(row), output)
    return exit_code(outcome.status)


@lineage.command()
@dsn_option
@workers_option("steps")
@poll_option(10, "Seconds between two polls of the sources.")
@click.option("--once", is_flag=True, help="Run the topics that are ready now, and stop.")
@click.option("--until-quiet", is_flag=True, help="Stop when no topic is ready any more.")
@click.option("--topic", "topics", metavar="GLOB", multiple=True, help="Run only topics like this.")
@_master
@grace_option("steps")
@listen_option
def run(dsn: str, master: str | None, listen: tuple[str, int] | None, **settings: Any) -> int:
    """Run topics as they get ready, until SIGTERM or Ctrl-C.

    A step in PostgreSQL takes a connection; a step on Spark takes a process of its own. Several
    schedulers may run at once, also on several hosts: one of them takes a topic, the others find it
    held. One line on stderr gives the outcome of each step. With --once and --until-quiet the exit
    code is 1 when a step has failed.
    """
    from omd.programs.service.scheduler import Scheduler

    if settings["once"] and settings["until_quiet"]:
        raise click.UsageError("Give either --once or --until-quiet.")
    program = [*PROGRAM, "lineage", "step", "--one-line"]
    if master is not None:
        program += ["--master", master]
    scheduler = Scheduler(lambda: open_control(dsn), program, dsn, **settings)
    with listening(listen, dsn, lambda: scheduler.turns):
        return scheduler.run()


# Administration ---------------------------------------------------------------------------------


@lineage.command()
@click.argument("topic")
@click.argument("pos", metavar="INSTANT", callback=instant)
@click.argument("id", type=int, required=False)
@dsn_option
def offset(topic: str, pos: datetime, id: int | None, dsn: str) -> None:  # noqa: A002
    """Record that the source TOPIC is complete up to INSTANT, and up to the row ID at it.

    \b
    Example:
      omd lineage offset stg.ticket 2013-07-01T00:00:00+00:00 4711
    """
    with _open(dsn) as room:
        room.set_offset(topic, pos, id=id)
        click.echo(f"Topic {short(topic)} is complete up to {pos.isoformat()}.", err=True)


@lineage.command()
@click.argument("topic")
@click.option(
    "--from",
    "from_",
    metavar="INSTANT",
    callback=instant,
    required=True,
    help="Start of the range, exclusive unless --including-from is given.",
)
@click.option(
    "--to",
    metavar="INSTANT",
    callback=instant,
    required=True,
    help="End of the range, inclusive; a block is taken as a whole.",
)
@click.option("--cascade", is_flag=True, help="Let all topics downstream follow, in their order.")
@click.option(
    "--including-from",
    is_flag=True,
    help="Rows at the start of the range belong to it: from and including.",
)
@dsn_option
def restate(
    topic: str, from_: datetime, to: datetime, cascade: bool, including_from: bool, dsn: str
) -> int:
    """Take the blocks of TOPIC between two instants again, each instead of its former step.

    What is on Spark, or could not be done, is left to the next steps. The exit code is 0 when all
    of it is done, 1 after an error, 3 when something waits for steps or there is nothing to take.

    \b
    Example:
      omd lineage restate fact.ticket --from 2013-07-01 --to 2013-07-02 --cascade
    """
    with _open(dsn) as room:
        answer = room.restate(topic, from_, to, cascade=cascade, including_from=including_from)
    blocks = "1 block" if answer.blocks == 1 else f"{answer.blocks} blocks"
    line = f"{answer.outcome}: {blocks} with {answer.rows} rows were taken again"
    click.echo(short(f"{line}; {answer.detail}" if answer.detail else f"{line}."), err=True)
    return {"DONE": ExitCode.OK, "ERROR": ExitCode.FAILURE}.get(
        str(answer.outcome), ExitCode.SKIPPED
    )


@lineage.command()
@click.argument("instance", type=int)
@dsn_option
@output_option
def readers(instance: int, dsn: str, output: str) -> None:
    """Show which topics have read what a rollback of the step INSTANCE would undo."""
    with _open(dsn) as room:
        show(
            room.readers_of(instance),
            titled("topic, distance, steps, first_instance_id AS first, last_instance_id AS last"),
            output,
        )


add_call(
    lineage,
    "cancel-restate",
    LineageCalls.cancel_restate,
    about="Cancel what TOPIC was asked to take again and has not taken yet.",
    done="Topic {topic} takes nothing again.",
)


@contextmanager
def _open(dsn: str, *, waits: bool = False) -> Iterator[Lineage]:
    """Open the room for one command; a step waits for a database that restarts."""
    import omd

    control = omd.connect(dsn or None, application_name="omd-step") if waits else open_control(dsn)
    with control:
        yield control._lineage


commands: list[click.Command] = [lineage]
