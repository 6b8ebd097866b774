"""The way of rows from their files to whoever has read them, as a picture in a page."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omd.programs.page import graph
from omd.programs.page.graph import Node
from omd.programs.page.markup import Html, el

if TYPE_CHECKING:
    from omd.programs.page.layout import Edge

MOST_RUNS = 40  # with more, nobody finds his way in a picture
_MOST_FILES = 5  # of a run
_END = 36  # letters of a file's name that are shown


@dataclass(frozen=True, slots=True)
class Stop:
    """A run on the way."""

    id: int  # the run
    code: str  # its Module
    leads_to: int | None  # the run that has read it; None: it is the last
    reads: int | None  # the run that it has read; None: it is the first
    colour: str  # the kind of the node
    note: str
    files: list[str]


def picture(
    stops: Iterable[Stop],
    title: str,
    end: str | None = None,
    path: Callable[[str, object], str | None] | None = None,
) -> Html:
    """Return the way as a picture that scrolls.

    Args:
        stops: the runs.
        title: what the picture is.
        end: what the runs have made.
        path: where a kind and a key lead to.
    """
    nodes: dict[str, Node] = {}
    edges: list[Edge] = []
    labels: dict[str, str] = {}  # of files
    shown = [*stops]
    names = {stop.id: f"{stop.code}, run {stop.id}" for stop in shown[:MOST_RUNS]}
    for stop in shown[:MOST_RUNS]:
        name = names[stop.id]
        href = path("MODULE_INSTANCE", stop.id) if path else None
        nodes[name] = Node(name, stop.colour, note=stop.note, href=href)
        if stop.leads_to in names:
            edges.append((name, names[stop.leads_to]))
        if stop.reads in names:
            edges.append((names[stop.reads], name))
        for file in stop.files[:_MOST_FILES]:
            if file not in labels:
                labels[file] = _label(file, labels.values())
            nodes[labels[file]] = Node(labels[file], "source", note="file")
            edges.append((labels[file], name))
        if len(stop.files) > _MOST_FILES:
            of = f"{len(stop.files) - _MOST_FILES:,} more files of run {stop.id}"
            nodes[of] = Node(of, "source")
            edges.append((of, name))
    if end is not None and shown:
        nodes[end] = Node(end, "running")
        edges.append((names[shown[0].id], end))
    parts = [graph.picture([*nodes.values()], edges, title, shrinks=True)]
    if len(shown) > MOST_RUNS:
        more = f"The picture has the {MOST_RUNS} nearest of {len(shown):,} runs."
        parts.append(el("p", more, cls="note"))
    return Html("".join(parts))


def _label(file: str, taken: Collection[str]) -> str:
    """Return the end of a file's name; what ends like another one gets a number."""
    end = label = f"…{file[-_END:]}" if len(file) > _END else file
    number = 1
    while label in taken:
        number += 1
        label = f"{end} ({number})"
    return label


STYLE = f"""{graph.STYLE}
main {{ max-width: 1200px; }}
td bdi {{ max-width: 90ch; }}
td:last-child bdi, .verdict bdi {{ overflow-wrap: anywhere; }}
"""
