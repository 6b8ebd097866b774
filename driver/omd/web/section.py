"""What a screen consists of: its sections, and the queries of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from psycopg import sql

from omd._terminal.markup import Html

if TYPE_CHECKING:
    from omd.web.person import Person

Row = dict[str, Any]

MOST_ROWS = 1_000_000  # of a CSV

_PARAMETER = re.compile(r"%%|%\((\w+)\)s")


class NotThere(Exception):  # noqa: N818 - it is an answer
    """What a screen shows is not in the database, which the message says."""


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

        def literal(found: re.Match[str]) -> str:
            name = found[1]
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


@dataclass(frozen=True)
class Section:
    """A part of a screen.

    Attributes:
        id: of the element.
        title: its heading.
        selects: its queries; the first one is its table, whose SQL is shown and whose CSV is
            offered.
        render: gets a list of rows per query, in their order, and returns the markup.
        is_data: whether it shows business rows, for which one needs omd_data_reader. It is read
            by the person's own connection and never shared.
        is_live: whether it changes while somebody looks.
    """

    id: str
    title: str
    selects: tuple[Select, ...]
    render: Callable[..., Html]
    is_data: bool = False
    is_live: bool = True


@dataclass(frozen=True)
class Screen:
    """What one URL shows.

    Attributes:
        name: the mark of the element main.
        title: its heading.
        sections: from top to bottom.
        form: its filters, a form of GET.
    """

    name: str
    title: str
    sections: tuple[Section, ...]
    form: Html | None = None


@dataclass(frozen=True)
class Asked:
    """What a request asks of a screen.

    Attributes:
        path: the variable parts of the path by their names.
        query: the parameters of the URL; of those that come twice, the last one.
        person: who asks.
        read: returns the rows of a query that a screen needs before it knows its sections.
    """

    path: Mapping[str, str]
    query: Mapping[str, str]
    person: Person
    read: Callable[[Select], list[Row]]
