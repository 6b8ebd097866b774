"""What flows where over all rooms, as nodes and arrows of a picture."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from omd.programs.page.graph import Node
from omd.programs.page.markup import failed_times

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


@dataclass(frozen=True, slots=True)
class Flow:
    """What stands in the flow, by kind and code, and the arrows between."""

    rows: Mapping[Key, Any]
    arrows: Sequence[Arrow]

    def of(self, code: str) -> Flow | None:
        """Return only what leads to a code and what it leads to; None: it is not there."""
        chosen = [key for key in self.rows if key[1] == code]
        if not chosen:
            return None
        near = _reached(chosen, self.arrows) | _reached(chosen, [(b, a) for a, b in self.arrows])
        return Flow(
            {key: row for key, row in self.rows.items() if key in near},
            [arrow for arrow in self.arrows if near.issuperset(arrow)],
        )

    def drawn(self) -> tuple[list[Node], list[tuple[str, str]]]:
        """Return the nodes and edges of a picture."""
        return [node(row) for row in self.rows.values()], self.edges()

    def edges(self) -> list[tuple[str, str]]:
        """Return the arrows between names of nodes, without those that would close a circle."""
        kept = _without_circles(list(self.rows), self.arrows)
        return [(named(a), named(b)) for a, b in kept]


def flow(arrows: Iterable[Any], nodes: Iterable[Any]) -> Flow:
    """Return the flow of the rows of omd_report.flow and omd_report.flow_nodes."""
    rows = {(row.kind, row.code): row for row in nodes}
    pairs = {((row.from_kind, row.from_code), (row.to_kind, row.to_code)) for row in arrows}
    kept = sorted(pair for pair in pairs if rows.keys() >= {*pair})
    return Flow(dict(sorted(rows.items())), kept)


def named(key: Key) -> str:
    """Return the name of a node."""
    kind, code = key
    return f"{kind.lower().replace('_', ' ')} {code}"


def node(row: Any) -> Node:
    """Return a row of omd_report.flow_nodes as a node."""
    reason = None if row.reason == row.state else row.reason
    failed = failed_times(row.failures) if row.failures and row.state != "FAILED" else None
    light = " ".join(filter(None, [row.state, reason, failed]))
    first, _, _ = (row.last_problem or "").partition("\n")
    note = ": ".join(filter(None, [light, first]))
    return Node(named((row.kind, row.code)), colour(row), note=note)


def colour(row: Any) -> str:
    """Return the kind of the node that gives a row its colour."""
    if row.state is None and row.last_problem is not None:
        return "missing"
    return _COLOURS.get(row.state or "", "source")


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
