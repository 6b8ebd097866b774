"""What a screen consists of: its sections, and the queries of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from omd.programs.page.markup import Html
from omd.programs.web.person import Person
from omd.programs.web.selects import MOST_ROWS, Row, Select

__all__ = ["MOST_ROWS", "Asked", "NotThere", "Row", "Screen", "Section", "Select"]


class NotThere(Exception):  # noqa: N818 - it is an answer
    """What a screen shows is not in the database, which the message says."""


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
        leads_to: the address of another screen, which is shown in place of this one.
    """

    name: str
    title: str
    sections: tuple[Section, ...]
    form: Html | None = None
    leads_to: str | None = None


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
