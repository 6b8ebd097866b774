"""What facts, marts and the log of changes must be, in plain Python, after a person's acts.

The order of acts is that in which the person made them: facts are written by one at a time, and a
delivery that comes while facts were written through views waits until these are done.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from facts.oracle import Context

ENTITIES = ("customer", "orders")
Row = tuple[Any, ...]
Delta = dict[str, list[Row]]


@dataclasses.dataclass
class Act:
    """A delivery, or a transaction through views: at a moment, rows of each entity.

    A row is an indicator, the key, and the other attributes.
    """

    at: Any
    delta: Delta
    delivery: int | None = None


class Model:
    """The acts that stand, and what follows from them."""

    def __init__(self) -> None:
        self.acts: list[Act] = []

    def delivered(self) -> dict[str, dict[int, Row]]:
        """Return what the sender has delivered, by entity and key, without what came by views."""
        found: dict[str, dict[int, Row]] = {e: {} for e in ENTITIES}
        for act in self.acts:
            if act.delivery is not None:
                for entity, rows in act.delta.items():
                    for indicator, key, *values in rows:
                        found[entity].pop(key, None)
                        if indicator != "R":
                            found[entity][key] = tuple(values)
        return found

    def facts(self) -> dict[str, Context]:
        found = {e: Context() for e in ENTITIES}
        for act in self.acts:
            for entity, rows in act.delta.items():
                for indicator, key, *values in rows:
                    found[entity].apply(key, act.at, indicator, tuple(values))
        return found

    def now(self) -> dict[str, dict[int, Row]]:
        """Return what exists, by entity and key."""
        return {
            entity: {
                key: values
                for key in context.chains
                if (values := context.current(key)) is not None
            }
            for entity, context in self.facts().items()
        }

    def bills(self) -> set[Row]:
        """Return what the reload is to hold: a row per customer, with what was ordered."""
        now = self.now()
        found = set()
        for nbr, (name,) in now["customer"].items():
            amounts = [v[1] for v in now["orders"].values() if v[0] == nbr]
            found.add((nbr, name, len(amounts), sum(amounts)))
        return found
