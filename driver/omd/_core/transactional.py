"""Connections whose session belongs to nobody: what would be set once is set in each transaction.

A pooler in transaction mode gives each transaction a server connection, and the next one to another
client. So a statement of its own is put into a transaction, after what is to hold for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import Row

from omd._core.pooling import needs_session

if TYPE_CHECKING:
    from typing_extensions import Self

_BEGINS = ("BEGIN", "START")
_STAYS = ("DISCARD", "LISTEN", "LOAD", "PREPARE", "RESET", "SET", "UNLISTEN")
_ENDS = ("ABORT", "COMMIT", "END", "ROLLBACK")


class Connection(psycopg.Connection[Row]):
    """A connection in autocommit.

    Attributes:
        first: statements that are executed at the beginning of each transaction; with none it is a
            connection like any other.
    """

    first = ""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.cursor_factory = Cursor

    @contextmanager
    def transaction(
        self, savepoint_name: str | None = None, force_rollback: bool = False
    ) -> Iterator[psycopg.Transaction]:
        """Begin a transaction, or a subtransaction in it."""
        is_first = self.is_between
        with super().transaction(savepoint_name, force_rollback) as transaction:
            if is_first:
                self.begin()
            yield transaction

    @property
    def is_between(self) -> bool:
        """Whether a transaction that begins now has something to begin with."""
        return bool(self.first) and self.info.transaction_status == TransactionStatus.IDLE

    def begin(self) -> None:
        """Execute what each transaction begins with, in the one that has begun."""
        psycopg.Cursor(self).execute(self.first.encode())


class Cursor(psycopg.Cursor[Row]):
    """A cursor that puts a statement of its own into a transaction, where there is need."""

    def execute(self, query: Any, *arguments: Any, **options: Any) -> Self:
        """Execute a query.

        Raises:
            NeedsSession: it is for the session, outside of a transaction.
        """
        word = _first_word(query)
        if word in _BEGINS and self._link.is_between:
            super().execute(query, *arguments, **options)
            self._link.begin()
            return self
        if word in _STAYS and self._link.is_between:
            raise needs_session(f"{word} outside of a transaction")
        with self._begun(word):
            return super().execute(query, *arguments, **options)

    def executemany(self, *arguments: Any, **options: Any) -> None:
        """Execute a query for each of several sets of values."""
        with self._begun():
            super().executemany(*arguments, **options)

    @contextmanager
    def copy(self, *arguments: Any, **options: Any) -> Iterator[psycopg.Copy]:
        """Begin a COPY."""
        with self._begun(), super().copy(*arguments, **options) as copy:
            yield copy

    @property
    def _link(self) -> Connection[Any]:
        connection = self.connection
        assert isinstance(connection, Connection)  # noqa: S101 - it is the only one that makes it
        return connection

    def _begun(self, word: str = "") -> AbstractContextManager[object]:
        if self._link.is_between and word not in _ENDS:
            return self._link.transaction()
        return nullcontext()


def _first_word(query: object) -> str:
    if isinstance(query, bytes):
        query = query[:40].decode(errors="replace")
    if not isinstance(query, str):
        return ""
    words = query[:40].split(maxsplit=1)
    return words[0].rstrip(";").upper() if words else ""
