"""`Cell` asks where a value comes from, and what it answers by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from support.flow import Flow

EXPLAIN = "SELECT * FROM omd_provenance.explain(%s, %s, %s, %s)"


class Cell:
    """The explanation of a cell."""

    def __init__(
        self, flow: Flow, table: str, key: dict[str, Any], column: str, at: Any = None
    ) -> None:
        self.rows = flow.rows(EXPLAIN, table, Jsonb(key), column, at)
        assert [row["position"] for row in self.rows] == [*range(1, len(self.rows) + 1)]

    @property
    def steps(self) -> list[str]:
        """The steps, each once, in their order."""
        return list(dict.fromkeys(row["step"] for row in self.rows))

    @property
    def value(self) -> Any:
        return self.rows[0]["value"]

    def of(self, step: str) -> list[dict[str, Any]]:
        return [row for row in self.rows if row["step"] == step]

    def text(self, step: str) -> str:
        return "\n".join(row["text"] for row in self.of(step))

    @property
    def history(self) -> list[tuple[Any, ...]]:
        """The first day of each interval, the value and the delivery."""
        return [(r["valid_from"].day, r["value"], r["delivery_id"]) for r in self.of("HISTORY")]
