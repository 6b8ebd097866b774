"""A delivery under which rows are written through current views, as a block (rule F7)."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

import psycopg

from omd._core.errors import CallerError
from omd.rooms.facts.calls import FactsCalls

if TYPE_CHECKING:
    from omd._core.link import Link
    from omd.rooms.control.connection import Connection


class FactsDelivery:
    """An open delivery as a block; `Facts.delivery` makes one.

    Entering opens it, leaving closes it, also after an exception: what was committed stays. Behind
    a pooler in transaction mode, each transaction of its connection begins with the delivery.
    """

    def __init__(
        self, connection: Connection, agreement_code: str, *, physical_delete_allowed: bool | None
    ) -> None:
        self._control = connection
        self._delivery_id = 0
        self._agreement_code = agreement_code
        self._physical_delete_allowed = physical_delete_allowed
        self._link: Link | None = None
        self._connection: psycopg.Connection[Any] | None = None

    @property
    def connection(self) -> psycopg.Connection[Any]:
        """The connection that writes under the delivery; it is in autocommit."""
        if self._connection is None:
            raise CallerError("the block of the delivery was not entered", hint="Use it by `with`.")
        return self._connection

    def __enter__(self) -> FactsDelivery:
        link = self._control._new_link(name="-write")
        try:
            link.open()
            self._delivery_id = FactsCalls(link).open_delivery(
                self._agreement_code,
                physical_delete_allowed=self._physical_delete_allowed,
                is_local=True if link.is_pooled else None,
            )
            if link.is_pooled:
                link.set(**{"omd_facts.delivery_id": str(self._delivery_id)})
        except BaseException:
            link.close()
            raise
        self._link, self._connection = link, link._connection
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # What it has not committed would make the end of the delivery wait for ever.
        if self._link is not None:
            self._link.close()
        try:
            FactsCalls(self._control._link).close_delivery(self._delivery_id)
        except Exception as failure:
            if error is None:
                raise
            if hasattr(error, "add_note"):  # Python 3.11
                error.add_note(f"Delivery {self._delivery_id} could not be closed: {failure}")
