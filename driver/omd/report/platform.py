"""``omd platform graph`` draws what flows where over all rooms, and how it is."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING

import click

from omd._terminal.text import row_dict
from omd.cli.common import dsn_option, open_control
from omd.report.rows import FlowNodesRow, FlowRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from omd._terminal.graph import Node

    Key = tuple[str, str]  # kind and code
    Arrow = tuple[Key, Key]


_COLOURS = {
    "RUNNING": "running",
    "FAILED": "failed",
    "BACK_OFF": "failed",
    "PAUSED": "inactive",
    "READY": "ready",
    "WAITING": "waiting",
    "IDLE": "quiet",
}


@click.group()
def platform() -> None:
    """Show the platform as a whole: what is delivered, stored, transformed, decided, exported."""


@platform.command()
@dsn_option
@click.option("--of", "code", metavar="CODE", help="Only what leads to it, and what it leads to.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "mermaid", "svg", "json"]),
    default="text",
    show_default=True,
    help="Format of what is printed to stdout.",
)
def graph(dsn: str, code: str | None, format_: str) -> None:
    """Draw what flows where, each with its state and its last problem.

    \b
    Examples:
      omd platform graph --of mart.order_fact
      omd platform graph --format svg > platform.svg
    """
    with open_control(dsn) as control:
        arrows: list[Arrow] = [
            ((row.from_kind, row.from_code), (row.to_kind, row.to_code))
            for row in control.report(FlowRow)
        ]
        rows = {(row.kind, row.code): row for row in control.report(FlowNodesRow)}
    arrows = sorted({arrow for arrow in arrows if rows.keys() >= {*arrow}})
    if code is not None:
        chosen = [key for key in rows if key[1] == code]
        if not chosen:
            raise click.UsageError(f"Nothing in the platform is called {code!r}.")
        near = _reached(chosen, arrows) | _reached(chosen, [(b, a) for a, b in arrows])
        arrows = [arrow for arrow in arrows if near.issuperset(arrow)]
        rows = {key: row for key, row in rows.items() if key in near}
    rows = dict(sorted(rows.items()))
    if format_ == "json":
        names = ("from_kind", "from_code", "to_kind", "to_code")
        document = {
            "nodes": [row_dict(row) for row in rows.values()],
            "edges": [dict(zip(names, (*a, *b), strict=True)) for a, b in arrows],
        }
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    elif rows:
        from omd._terminal.graph import FORMATS

        edges = [(_name(a), _name(b)) for a, b in _without_circles(list(rows), arrows)]
        click.echo(FORMATS[format_]([_node(row) for row in rows.values()], edges))
    else:
        click.echo("(none)", err=True)


def _name(key: Key) -> str:
    kind, code = key
    return f"{kind.lower().replace('_', ' ')} {code}"


def _node(row: FlowNodesRow) -> Node:
    from omd._terminal.graph import Node

    colour = _COLOURS.get(row.state or "", "source")
    if row.state is None and row.last_problem is not None:
        colour = "missing"
    reason = None if row.reason == row.state else row.reason
    return Node(
        _name((row.kind, row.code)),
        colour,
        note=": ".join(
            filter(None, [" ".join(filter(None, [row.state, reason])), row.last_problem])
        ),
    )


def _reached(start: Iterable[Key], arrows: Sequence[Arrow]) -> set[Key]:
    """Return where the arrows lead to from there, with the start."""
    after = defaultdict(list)
    for a, b in arrows:
        after[a].append(b)
    reached = set(start)
    waiting = list(reached)
    while waiting:
        for key in after[waiting.pop()]:
            if key not in reached:
                reached.add(key)
                waiting.append(key)
    return reached


def _without_circles(keys: Sequence[Key], arrows: Sequence[Arrow]) -> list[Arrow]:
    """Return the arrows but those that would close a circle, which no picture can lay out."""
    after = defaultdict(list)
    for a, b in arrows:
        after[a].append(b)
    kept: list[Arrow] = []
    done: set[Key] = set()
    above: set[Key] = set()
    # A stack replaces recursion: a chain may be longer than Python's recursion limit.
    for root in keys:
        stack = [(root, iter(after[root]))] if root not in done else []
        above.update(key for key, _ in stack)
        while stack:
            key, rest = stack[-1]
            target = next(rest, None)
            if target is None:
                stack.pop()
                above.discard(key)
                done.add(key)
            elif target not in above:
                kept.append((key, target))
                if target not in done:
                    above.add(target)
                    stack.append((target, iter(after[target])))
    return sorted(kept)
