"""Lists of rows, their filters, and the way to the rows before and after them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

import psycopg

from omd.programs.page.markup import Html, el, join
from omd.programs.web import linked, parts
from omd.programs.web.section import Asked, NotThere, Row, Section, Select

MOST = 200  # rows of a list; more are on the next page, or in the CSV


@dataclass(frozen=True)
class Paged:
    """That a list goes on: behind which row, in which parameter of the URL.

    Attributes:
        asked: what was asked for.
        parameter: of the URL, which holds the key of the last row.
        column: the key by which the list is ordered.
        word: for what comes next.
    """

    asked: Asked
    parameter: str
    column: str
    word: str = "Older"


@dataclass(frozen=True)
class Slice:
    """That a list whose filter no index serves looks through a slice of the newest keys.

    Attributes:
        paged: how the list goes on.
        last: the greatest key that is looked at; None: nobody knows.
        size: how many keys a slice has; a CSV looks through as many as it may have rows.
    """

    paged: Paged
    last: int | None
    size: int

    @property
    def conditions(self) -> list[str]:
        """The condition that keeps to the slice."""
        if self.last is None:
            return []
        return [f"{self.paged.column} > %(last)s::bigint - greatest(%(slice)s, %(limit)s)"]

    @property
    def values(self) -> dict[str, object]:
        """The values of `conditions`."""
        return {} if self.last is None else {"last": self.last, "slice": self.size}

    def rest(self, rows: Sequence[Row], limit: int) -> Html | None:
        """Return the way on: to the next page, or to the slice before this one."""
        if self.last is None or len(rows) >= limit:
            return pages(self.paged, rows, limit)
        if self.last == 0:
            return None  # there is nothing to look through
        first = max(self.last - max(self.size, limit) + 1, 1)
        words = f"Those from {first} to {self.last} were looked through. "
        if first == 1:
            return el("p", words, cls="note")
        href = here(self.paged.asked, until=None, **{self.paged.parameter: first})
        return el("p", words, parts.link(href, "Look further back"), cls="note")


def newest(asked: Asked, parameter: str, column: str, table: str) -> int | None:
    """Return the greatest key that is there: before the one in the URL, or of all; 0: none is.

    So the way back passes over keys that were never given: a change of the server leaves out a
    million of them.

    Args:
        asked: what was asked for.
        parameter: of the URL, which holds the key of the row after it.
        column: the key.
        table: whose key it is.
    """
    text = (
        f"SELECT coalesce(max({column}), 0) AS id FROM {table}"  # noqa: S608 - ours
        f" WHERE {column} < coalesce(%(before)s::bigint, 9223372036854775807)"
    )
    try:
        return int(
            asked.read(Select(text, {"before": asked.query.get(parameter) or None}))[0]["id"]
        )
    except psycopg.DataError:  # the section itself shows the error
        return None


def listing(
    id_: str,
    title: str,
    view: str,
    select: Select,
    columns: Mapping[str, Callable[[Row], object]],
    *,
    key: str | tuple[str, ...] | None = None,
    paged: Paged | Slice | None = None,
    note: Html | None = None,
    is_data: bool = False,
) -> Section:
    """Return a section with a table of what a query returns.

    Args:
        id_: of the section.
        title: its heading.
        view: from which the rows are.
        select: its value ``limit`` is how many rows the table has at most.
        columns: title → what makes a cell of a row.
        key: the column, or the columns, by which a row is known.
        paged: how the list goes on.
        note: what stands below the table.
        is_data: whether one needs omd_data_reader for it.
    """
    names = (key,) if isinstance(key, str) else key

    def render(rows: Sequence[Row]) -> Html:
        table = parts.table(view, rows, columns, key=key_of if names else None)
        return join(piece for piece in (table, _more(rows, select, paged), note) if piece)

    def key_of(row: Row) -> str:
        return "/".join(str(row[column]) for column in names or ())

    return Section(id_, title, (select,), render, is_data=is_data)


def _more(rows: Sequence[Row], select: Select, paged: Paged | Slice | None) -> Html | None:
    if isinstance(paged, Slice):
        return paged.rest(rows, select.values["limit"])
    if paged is not None:
        return pages(paged, rows, select.values["limit"])
    if len(rows) < select.values["limit"]:
        return None
    return el("p", f"The first {len(rows):,} are shown; the CSV has all of them.", cls="note")


def pages(paged: Paged, rows: Sequence[Row], limit: int) -> Html | None:
    """Return the links to the first page and to the next one, as far as there are any."""
    links = []
    if paged.asked.query.get(paged.parameter):
        links.append(parts.link(here(paged.asked, **{paged.parameter: None}), "First page"))
    if rows and len(rows) >= limit:
        last = {paged.parameter: rows[-1][paged.column]}
        links.append(parts.link(here(paged.asked, **last), paged.word, rel="next"))
    return el("p", *spaced(links), cls="pages") if links else None


def here(asked: Asked, **changes: object) -> str:
    """Return the address of this screen with other parameters; None leaves one out."""
    query = {k: v for k, v in {**asked.query, **changes}.items() if v is not None and k != "csv"}
    return f"?{urlencode(query)}"


def spaced(pieces: Sequence[Html | None]) -> list[Html]:
    """Return pieces with spaces between them; what is None is left out."""
    kept = [piece for piece in pieces if piece]
    return [Html(f" {piece}") if at else piece for at, piece in enumerate(kept)]


# Filters ----------------------------------------------------------------------------------------


def filters(*fields: Html) -> Html:
    """Return a form that shows this screen again, with what its fields say."""
    return linked.form(None, *fields)


def field(asked: Asked, parameter: str, label: str, hint: str | None = None) -> Html:
    """Return a field of a filter, with what was asked for in it."""
    return linked.entry(label, parameter, asked.query.get(parameter), hint)


def choice(
    asked: Asked, parameter: str, label: str, options: Sequence[str], *, any_: str = "any"
) -> Html:
    """Return a choice of a filter."""
    chosen = asked.query.get(parameter, "")
    known = [*options] if not chosen or chosen in options else [*options, chosen]
    pairs = [("", any_), *((option, option) for option in known)]
    return linked.choice(label, parameter, pairs, chosen)


def select(
    asked: Asked,
    text: str,
    limit: int = MOST,
    fixed: Sequence[str] = (),
    values: Mapping[str, object] | None = None,
    **columns: str,
) -> Select:
    """Return a query with a condition for each parameter of the URL that is given.

    Args:
        asked: what was asked for.
        text: the query, with {where} where its conditions stand.
        limit: how many rows it returns at most.
        fixed: conditions that hold whatever is asked for.
        values: those of these conditions, and of the query.
        columns: parameter → the condition that its value has to fulfil, where %s is the value; a
            column alone has to be equal.
    """
    given = {name: asked.query[name] for name in columns if asked.query.get(name)}
    conditions = [*fixed]
    for name in given:
        condition = columns[name] if "%s" in columns[name] else f"{columns[name]} = %s"
        conditions.append(condition.replace("%s", f"%({name})s"))
    where = "\nWHERE " + "\n    AND ".join(conditions) if conditions else ""
    return Select(text.replace("{where}", where), {**(values or {}), **given, "limit": limit})


def require(asked: Asked, text: str, what: str) -> None:
    """Look whether what a screen shows is there.

    Args:
        asked: what was asked for.
        text: a query that returns no row, or fails, where it is not, over parts of the path.
        what: it in words.

    Raises:
        NotThere: it is not.
    """
    try:
        rows = asked.read(Select(text, asked.path))
    except psycopg.DatabaseError as error:
        if isinstance(error, psycopg.OperationalError):
            raise
        raise NotThere(error.diag.message_primary or str(error)) from error
    if not rows:
        raise NotThere(f"There is no {what}")


def nothing(words: str) -> Html:
    """Return the sentence that says why there is nothing."""
    return el("p", words, cls="none")
