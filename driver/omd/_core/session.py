"""A connection and the statements that it has prepared; libpq's own calls send them.

psycopg's cursor does the same for all kinds of statements. In a program that has waited, it takes a
quarter of a millisecond for a call, and this takes about half of that: a new task would wait for
the difference, once where it is created and once where it is claimed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from secrets import token_hex
from typing import Any, TypeAlias

from psycopg import generators
from psycopg.abc import PQGen
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult

from omd._core.lookups import answered
from omd._core.transactional import Connection

_Statement: TypeAlias = tuple[bytes, tuple[int, ...]]
_COMPILES = (
    b"SELECT pg_catalog.pg_jit_available() AND pg_catalog.current_setting('jit')::pg_catalog.bool"
)
_MOST = 200  # so many statements are prepared at most, and so many that came once are remembered


class Session:
    """One connection, which one thread uses at a time."""

    def __init__(self, connection: Connection[Any]) -> None:
        self.connection = connection  # it is in autocommit
        self.prepares = True  # what comes often; what is prepared stays in the server's session
        self._compiles: bool | None = None
        self._pgconn = connection.pgconn
        self._adapter = Transformer.from_context(connection)
        # By text and types of parameters. Both forget what has not come for the longest time; those
        # that came once are apart, so that any number of them drives out nothing that comes often.
        self._names: dict[_Statement, bytes] = {}
        self._once: dict[_Statement, None] = {}
        # A pooler hands one server connection to several clients, so no two name one alike: else
        # one would execute the statement of the other.
        self._client = token_hex(8)
        self._numbers = count()

    def execute(
        self, query: bytes, arguments: Sequence[Any]
    ) -> tuple[tuple[bytes | None, ...], list[Any]]:
        """Execute a statement; return the names of its columns, and its rows as tuples.

        One with parameters, which are $1 and so on, is prepared when it comes the second time.

        Raises:
            psycopg.Error: as psycopg's cursor raises it.
        """
        if not arguments:
            return self._answer(partial(self._pgconn.send_query, query))
        adapter = self._adapter
        values = adapter.dump_sequence(arguments, [PyFormat.AUTO] * len(arguments))
        types, formats = adapter.types or (), adapter.formats
        name = self._prepared(query, types)
        if name is None:
            send = partial(self._pgconn.send_query_params, query, values, types, formats)
        else:
            send = partial(self._pgconn.send_query_prepared, name, values, formats)
        return self._answer(send)

    def script(self, statements: bytes) -> None:
        """Execute several statements, which have no parameters, in one round trip."""
        for result in self.connection.wait(
            self._sent(partial(self._pgconn.send_query, statements))
        ):
            if result.status not in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
                raise answered(result)

    @property
    def compiles(self) -> bool:
        """Whether the server compiles the plans of what it thinks expensive."""
        if self._compiles is None:
            [(self._compiles,)] = self.execute(_COMPILES, ())[1]
        return bool(self._compiles)

    def look(self, queries: bytes) -> tuple[int, str | None]:
        """Return the one value of each of two queries; the second one may fail, or lack.

        Both go in one message, so that they take one round trip.
        """
        queried, *others = self.connection.wait(
            self._sent(partial(self._pgconn.send_query, queries))
        )
        if queried.status != ExecStatus.TUPLES_OK:
            raise answered(queried)
        version = None
        if others and others[0].status == ExecStatus.TUPLES_OK:
            value = others[0].get_value(0, 0)
            version = None if value is None else value.decode()
        return int(queried.get_value(0, 0) or 0), version

    def _prepared(self, query: bytes, types: tuple[int, ...]) -> bytes | None:
        """Return the name of a statement; None: it is not prepared."""
        if not self.prepares:
            return None
        names, key = self._names, (query, types)
        name = names.pop(key, None)
        if name is None:
            if key not in self._once:
                if len(self._once) >= _MOST:
                    del self._once[next(iter(self._once))]
                self._once[key] = None
                return None
            if len(names) >= _MOST:
                former = names.pop(next(iter(names)))
                self._answer(partial(self._pgconn.send_query, b"DEALLOCATE " + former))
            name = f"omd_{self._client}_{next(self._numbers)}".encode()
            self._answer(partial(self._pgconn.send_prepare, name, query, types))
            del self._once[key]
        names[key] = name  # behind all others
        return name

    def _answer(self, send: Callable[[], None]) -> tuple[tuple[bytes | None, ...], list[Any]]:
        """Send something, and wait for the answer."""
        (result,) = self.connection.wait(self._sent(send))
        if result.status not in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
            raise answered(result)
        if not result.nfields:
            return (), []
        adapter = self._adapter
        adapter.set_pgresult(result)
        try:
            rows = adapter.load_rows(0, result.ntuples, tuple)
        finally:
            adapter.set_pgresult(None)
        return tuple(result.fname(n) for n in range(result.nfields)), rows

    def _sent(self, send: Callable[[], None]) -> PQGen[list[PGresult]]:
        """Send something while psycopg waits, which cancels what a signal interrupts."""
        send()
        results: list[PGresult] = yield from generators.execute(self._pgconn)
        return results
