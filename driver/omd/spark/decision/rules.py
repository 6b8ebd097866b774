"""The ruleset of a run, as a worker of Spark calls it (docs/explanation/decision.md, C2)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from omd.rooms.decision.rules import answers_of
from omd.spark.relation import catalogue

if TYPE_CHECKING:
    Answers = Callable[[Sequence[str]], list[tuple[str, str | None]]]


@dataclass
class Rules:
    """A ruleset that a task calls; it is prepared at the first call, on the executor."""

    kind: str  # FUNCTION, JDM or PYTHON
    content: str  # the function or the model, as a text of JSON
    with_trace: bool = False  # whether a decision model tells which rules were hit
    url: str = ""  # the database, for a FUNCTION
    snapshot: str | None = None  # the moment of which a FUNCTION reads
    _answers: Answers | None = field(default=None, init=False, repr=False)
    _stack: ExitStack | None = field(default=None, init=False, repr=False)

    def __call__(self, texts: Sequence[str]) -> list[tuple[str, str | None]]:
        """Make calls; return an answer and a trace each."""
        if self._answers is None:
            if self.kind == "FUNCTION":
                self._stack = ExitStack()
                self._answers = _function(
                    self._stack.enter_context(catalogue(self.url, self.snapshot)),
                    json.loads(self.content),
                )
            else:
                self._answers = _prepared(self.kind, self.content, self.with_trace)
        return self._answers(texts)

    def close(self) -> None:
        """Close the connection of a FUNCTION."""
        if self._stack is not None:
            self._stack.close()
        self._answers = self._stack = None


@lru_cache(maxsize=4)
def _prepared(kind: str, content: str, with_trace: bool) -> Answers:
    """Prepare a model once per process, since to compile it costs more than many calls."""
    return answers_of(kind, json.loads(content), with_trace=with_trace)


def _function(connection: psycopg.Connection[Any], name: str) -> Answers:
    # As in a run in the database.
    connection.execute("SET LOCAL timezone = 'UTC'")
    connection.execute("SET LOCAL datestyle = 'ISO'")
    connection.execute("SET LOCAL jit = off")
    row = connection.execute("SELECT omd.quote_table(%s, 'POSTGRES')", [name]).fetchone()
    assert row is not None  # noqa: S101 - a function returns a row
    connection.execute("SET LOCAL search_path = pg_catalog, pg_temp")
    query = sql.SQL(
        "SELECT coalesce({}(c.call)::pg_catalog.text, 'null')"
        " FROM pg_catalog.unnest(%s::pg_catalog.jsonb[]) WITH ORDINALITY AS c (call, number)"
        " ORDER BY c.number"
    ).format(sql.SQL(row[0]))

    def answers(texts: Sequence[str]) -> list[tuple[str, str | None]]:
        with connection.transaction():  # an error leaves the snapshot
            return [(answer, None) for (answer,) in connection.execute(query, [list(texts)])]

    return answers
