"""The proof of the demo of facts: what was current after each load is what is read as of it later.

``proof.sql`` counts and adds up the rows of each view. It is executed on the current views after
each load, and at the end on the as-of views at the moment of that load.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

_SQL = Path(__file__).with_name("proof.sql")
Contents = dict[str, tuple[int, int]]
"""For each view the number of its rows, and the sum of their hashes."""


@dataclass(frozen=True)
class Moment:
    """What was current after a load."""

    at: datetime  # the transaction time of the load
    current: Contents  # what the current views had
    as_of: Contents | None = None  # what the as-of views have of that moment; None before the proof

    @property
    def holds(self) -> bool:
        """Whether both are the same."""
        return self.current == self.as_of


def contents(connection: psycopg.Connection[dict[str, Any]], schema: str) -> Contents:
    """Return what the views of a schema tell, in one statement."""
    with connection.transaction():
        connection.execute(
            sql.SQL("SET LOCAL search_path = {}, pg_catalog").format(sql.Identifier(schema))
        )
        rows = connection.execute(_SQL.read_bytes()).fetchall()
    return {row["table_name"]: (row["rows"], row["checksum"]) for row in rows}


def prove(
    connection: psycopg.Connection[dict[str, Any]], interface: str, moments: list[Moment]
) -> list[Moment]:
    """Ask the as-of views about every moment."""
    compared = []
    for moment in moments:
        connection.execute("SELECT omd_facts.as_of(%s)", [moment.at])
        later = contents(connection, f"asof_{interface}")
        compared.append(Moment(moment.at, moment.current, later))
    connection.execute("SELECT omd_facts.as_of(NULL)")
    return compared
