"""A query as the database gets it and as the page shows it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from psycopg import sql

Row = dict[str, Any]

MOST_ROWS = 1_000_000  # of a CSV

_PARAMETER = re.compile(r"%%|%\((\w+)\)s")


@dataclass(frozen=True)
class Select:
    """One query of a section.

    Attributes:
        text: of the query, with %(name)s where a value stands. The value ``limit`` says how many
            rows there are at most; a CSV has another one.
        values: by their names.
        is_trial: whether it performs something and undoes it, for which its transaction may write.
    """

    text: str
    values: Mapping[str, Any] = field(default_factory=dict)
    is_trial: bool = False

    @property
    def sent(self) -> str:
        """The text with its values as literals, which is what the database gets."""

        def literal(match: re.Match[str]) -> str:
            name = match[1]
            return "%" if name is None else sql.Literal(self.values[name]).as_string(None)

        return _PARAMETER.sub(literal, self.text)

    @property
    def shown(self) -> str:
        """What the page shows as its SQL: the text that is sent, ready for psql."""
        return f"{self.sent};"

    @property
    def whole(self) -> Select:
        """The query of all rows, as far as a CSV has them."""
        return replace(self, values={**self.values, "limit": MOST_ROWS})
