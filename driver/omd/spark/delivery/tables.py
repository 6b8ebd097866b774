"""The tables of a query of a model, as sqlglot tells them."""

from __future__ import annotations

import re
from collections.abc import Callable

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from omd.spark.delivery.words import QUOTED, STRING, NotPermittedError, NoTreeError, Word

_PLAIN = re.compile(r"[\w .:+-]*")


def require_tables(
    lexed: list[Word], cased: Callable[[str], str], entities: frozenset[str], *, is_query: bool
) -> None:
    """Require that each table is an entity, or the query of a WITH that is seen there.

    Args:
        lexed: the words of a query or an expression.
        cased: returns the name by which Spark looks a name up.
        entities: such names.
        is_query: which of the two it is.

    Raises:
        NotPermittedError: a table is something else.
        NoTreeError: sqlglot does not understand the words.
    """
    text = " ".join(map(_written, lexed))
    try:
        [tree] = sqlglot.parse(text if is_query else f"SELECT {text}", read="spark")
    except SqlglotError as error:
        raise NoTreeError(str(error).strip().partition("\n")[0]) from error
    except RecursionError as error:
        raise NoTreeError("too much stands in one another") from error
    if not isinstance(tree, (exp.Query, exp.Values)):
        raise NotPermittedError("what is no query")
    _Tables(cased).look(tree, entities)


def _written(word: Word) -> str:
    """Return a word without what sqlglot might read in another way than Spark."""
    if word.kind == STRING:
        inner = word.text[1:-1]
        return f"'{inner}'" if _PLAIN.fullmatch(inner) else "'s'"
    if word.kind == QUOTED:
        inner = word.text.replace("`", "``")
        return f"`{inner}`"
    return word.text


class _Tables:
    """A look at the tables of a tree.

    Args:
        cased: the name by which Spark looks a name up.
    """

    def __init__(self, cased: Callable[[str], str]) -> None:
        self._cased = cased

    def look(self, node: exp.Expr, known: frozenset[str]) -> None:
        """Require that each table is an entity, or the query of a WITH that is seen there."""
        left = [(node, known)]
        while left:
            node, known = left.pop()
            if isinstance(node, exp.Table):
                self._require(node, known)
            elif isinstance(node, (exp.Command, exp.DDL, exp.DML)):
                raise NotPermittedError("what is no query")
            first = next((v for v in node.args.values() if isinstance(v, exp.With)), None)
            if first is not None:
                for one in first.expressions:
                    defined = known | {self._cased(one.alias)}
                    left.append((one.this, defined if first.recursive else known))
                    known = defined
            left += [(child, known) for child in node.iter_expressions() if child is not first]

    def _require(self, table: exp.Table, known: frozenset[str]) -> None:
        if isinstance(table.this, (exp.Func, exp.Values)):
            return  # whether it may be called, the words say
        name = table.name
        if (
            not isinstance(table.this, exp.Identifier)
            or any(table.args.get(key) for key in ("db", "catalog", "version", "when", "sample"))
            or self._cased(name) not in known
        ):
            named = ".".join(part.name for part in table.parts) or table.sql("spark")
            raise NotPermittedError(f"{named}, which is no entity that it may read")
