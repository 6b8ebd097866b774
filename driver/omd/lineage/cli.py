"""The commands of lineage: topics, their blocks, the scheduler, the graph."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from omd.cli.common import (
    ExitCode,
    Group,
    add_call,
    dsn_option,
    instant,
    is_chosen,
    open_control,
    output_option,
    render,
    row_dict,
    short,
    show,
)
from omd.lineage.calls import LineageCalls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omd.lineage.graph import Node
    from omd.lineage.room import Lineage
    from omd.lineage.rows import ReadyListRow
    from omd.lineage.step import StepOutcome

_STATUS = {
    "topic": "topic",
    "lag": "lag",
    "told": "reason",
    "blocker": "blocker",
    "state": "state",
    "holder": "hostid",
    "tries": "attempts",
}

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
    room="lineage",
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
    room="lineage",
    about="Remove TOPIC; its Module and its table stay.",
    done="Topic {topic} is removed.",
)
add_call(
    lineage,
    "undo",
    LineageCalls.undo_failed,
    room="lineage",
    about="Undo what failed runs of TOPIC have left, without taking a step.",
    done="What failed runs of topic {topic} had left is undone.",
)
add_call(
    lineage,
    "retry",
    LineageCalls.retry,
    room="lineage",
    about="Try TOPIC again at once, however often it has failed.",
    done="Topic {topic} is tried again.",
)
add_call(
    lineage,
    "release",
    LineageCalls.release,
    room="lineage",
    about="Release TOPIC from its holder, whose step can't commit any more.",
    done="Topic {topic} is free.",
)


# What is next -----------------------------------------------------------------------------------


@lineage.command()
@click.argument("topics", metavar="[GLOB]...", nargs=-1)
@dsn_option
@output_option
def status(topics: tuple[str, ...], dsn: str, output: str) -> None:
    """Show lag, blocker, state and holder of each topic, with the greatest lag first."""
    from omd.lineage.rows import LineageLagRow

    with _open(dsn) as room:
        rows = room.control.report(LineageLagRow)
        show([row for row in rows if is_chosen(row.topic, topics)], _STATUS, output)


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
        {
            "planned": "is_planned",
            "after": "start_pos",
            "after id": "start_id",
            "up to": "end_pos",
            "up to id": "end_id",
            "rows": "row_count",
            "full": "is_full",
        },
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
    from omd.lineage.graph import FORMATS

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
    from omd.lineage.graph import Node
    from omd.lineage.rows import LineageGraphRow

    ready = {row.topic: row for row in room.ready_list()}
    nodes: dict[str, Node] = {}
    edges: dict[tuple[str, str], None] = {}
    for row in room.control.report(LineageGraphRow, order_by=["topic", "ordinal"]):
        nodes[row.topic] = _node(row.topic, ready.get(row.topic))
        if row.depends_on is not None:
            source = row.source_topic or row.depends_on
            nodes.setdefault(source, Node(source, "missing", note="no topic"))
            edges[source, row.topic] = None
    return dict(sorted(nodes.items())), list(edges)


_KINDS = {"HELD": "running", "FAILED": "failed", "INACTIVE": "inactive", "REPEAT": "quiet"}


def _node(topic: str, row: ReadyListRow | None) -> Node:
    from omd.lineage.graph import Node

    if row is None:
        return Node(topic, "source")
    kind = _KINDS.get(row.reason, "ready" if row.is_ready else "waiting")
    if kind == "waiting" and row.lag == timedelta(0):
        kind = "quiet"  # it has read all rows that there are
    return Node(topic, kind, row.lag, row.reason)


# Steps ------------------------------------------------------------------------------------------

_EXIT_CODES = {
    "DONE": ExitCode.OK,
    "ERROR": ExitCode.FAILURE,
    "FAILED": ExitCode.FAILURE,
    "NOJOBS": ExitCode.SKIPPED,
    "SKIPPED": ExitCode.SKIPPED,
    "MUTEX": ExitCode.ABORTED,
    "ABORTED": ExitCode.ABORTED,
}


@lineage.command()
@click.argument("topic")
@dsn_option
@output_option
@_master
@click.option("--one-line", is_flag=True, help="Print the outcome in one line, on stderr.")
def step(topic: str, dsn: str, output: str, master: str | None, one_line: bool) -> int:
    """Run one step of TOPIC, in PostgreSQL or on Spark, and print its outcome.

    The exit code is 0 for DONE, 1 for ERROR and FAILED (10 attempts have failed), 3 for NOJOBS and
    SKIPPED, 4 for MUTEX (another process holds the topic) and ABORTED.
    """
    with _open(dsn, waits=True) as room:
        outcome = room.step(topic, session=lambda: _session(master))
    if one_line:
        click.echo(_line(outcome), err=True)
    else:
        row = row_dict(outcome)
        del row["error"]
        if output == "table":
            row = {name: short(value) for name, value in row.items()}
        render([row], list(row), output)
    return _EXIT_CODES[outcome.outcome.value]


def _session(master: str | None) -> Any:
    from omd._core.engines import engine

    return engine("SPARK").session(master)


def _line(outcome: StepOutcome) -> str:
    told = f"{outcome.topic}: {outcome.outcome}"
    if outcome.rows is not None:
        told += f", {outcome.rows} row{'' if outcome.rows == 1 else 's'}"
    if outcome.module_instance_id:
        told += f" (instance {outcome.module_instance_id})"
    return str(short(f"{told}: {outcome.detail}" if outcome.detail else told))


@lineage.command()
@dsn_option
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="How many steps may run at once.",
)
@click.option(
    "--poll",
    type=click.FloatRange(min=0.1),
    default=10,
    show_default=True,
    help="Seconds between two polls of the sources.",
)
@click.option("--once", is_flag=True, help="Run the topics that are ready now, and stop.")
@click.option("--until-quiet", is_flag=True, help="Stop when no topic is ready any more.")
@click.option("--topic", "topics", metavar="GLOB", multiple=True, help="Run only topics like this.")
@_master
@click.option(
    "--grace",
    type=click.FloatRange(min=0),
    default=20,
    show_default=True,
    help="Seconds that running steps have to end after SIGTERM or Ctrl-C.",
)
def run(dsn: str, **told: Any) -> int:
    """Run topics as they get ready, each in a process of its own, until SIGTERM or Ctrl-C.

    Several schedulers may run at once, also on several hosts: one of them takes a topic, the others
    find it held. One line on stderr gives the outcome of each step. With --once and --until-quiet
    the exit code is 1 when a step has failed.
    """
    from omd.lineage.scheduler import Scheduler

    if told["once"] and told["until_quiet"]:
        raise click.UsageError("Give either --once or --until-quiet.")
    return Scheduler(dsn, **told).run()


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


@contextmanager
def _open(dsn: str, *, waits: bool = False) -> Iterator[Lineage]:
    """Open the room for one command; a step waits for a database that restarts."""
    import omd

    control = omd.connect(dsn or None, application_name="omd-step") if waits else open_control(dsn)
    with control:
        yield control.lineage


commands: list[click.Command] = [lineage]
