"""Facts as Python sees them: the routines as methods (docs/explanation/facts.md)."""

from __future__ import annotations

from datetime import datetime

from omd._core.cost import measured
from omd._core.listener import Listener
from omd._core.pooling import needs_session
from omd.rooms.facts.calls import FactsCalls
from omd.rooms.facts.export import Exports
from omd.rooms.facts.rows import LoadAllAnswer, LoadAnswer, ResyncAnswer
from omd.rooms.facts.run import FactsDelivery


class Facts(Exports):
    """The room facts: ``control.facts`` (docs/explanation/facts.md).

    Examples:
        control.facts.deploy("flights")
        while control.facts.load("flights").execution_status_code == "S":
            print(control.facts.traveling_now("flights"))
        with control.facts.delivery("desk") as desk:
            desk.connection.execute("DELETE FROM gdal_flights.carriers WHERE carrier = 'XX'")
    """

    def as_of(self, at: datetime | None, *, is_local: bool | None = None) -> datetime | None:
        """Set the moment of the as-of views; see `FactsCalls.as_of`.

        Behind a pooler in transaction mode it holds for the transaction, inside of
        ``control.transaction()``.

        Raises:
            NeedsSession: there is such a pooler, and no transaction.
        """
        return super().as_of(at, is_local=self._is_local("as_of", is_local))

    def open_delivery(
        self,
        agreement_code: str,
        *,
        physical_delete_allowed: bool | None = None,
        is_local: bool | None = None,
    ) -> int:
        """Open a delivery under which the session writes; see `FactsCalls.open_delivery`.

        Behind a pooler in transaction mode the transaction writes under it, inside of
        ``control.transaction()``; the block `delivery` needs none.

        Raises:
            NeedsSession: there is such a pooler, and no transaction.
        """
        return super().open_delivery(
            agreement_code,
            physical_delete_allowed=physical_delete_allowed,
            is_local=self._is_local("open_delivery", is_local),
        )

    def _is_local(self, name: str, given: bool | None) -> bool | None:
        """Return whether what is set is for the transaction, and refuse it where nothing stays."""
        if not self._link.is_pooled:
            return given
        if not self._link.is_in_transaction:
            raise needs_session(f"{name} outside of control.transaction()")
        return True

    def load(self, interface_code: str) -> LoadAnswer:
        """Load the oldest item of a queue; see `FactsCalls.load`. SIGTERM and Ctrl-C cancel it."""
        with self.control.long_call() as link, measured(link) as performed:
            answer = FactsCalls(link).load(interface_code)
            performed("MODULE", answer.module_instance_id)
            return answer

    def load_all(self, *, interface_code: str | None = None) -> LoadAllAnswer:
        """Empty one queue or all; see `FactsCalls.load_all`. SIGTERM and Ctrl-C cancel it."""
        with self.control.long_call() as link:
            return FactsCalls(link).load_all(interface_code=interface_code)

    def resync(
        self, interface_code: str, *, entity_code: str | None = None, dry_run: bool | None = None
    ) -> ResyncAnswer:
        """Make facts what LVL has; see `FactsCalls.resync`. SIGTERM and Ctrl-C cancel it."""
        with self.control.long_call() as link:
            return FactsCalls(link).resync(interface_code, entity_code=entity_code, dry_run=dry_run)

    def delivery(
        self, agreement_code: str, *, physical_delete_allowed: bool | None = None
    ) -> FactsDelivery:
        """Return a delivery under which rows are written through current views, as a block.

        Its ``connection`` writes under it, each statement as a transaction of its own; for several
        in one, ``with block.connection.transaction():``. Other sessions of the
        login SET omd_facts.delivery_id.

        Args:
            agreement_code: an agreement of the layer GDAL.
            physical_delete_allowed: a session may delete physically.

        Raises:
            DeliveryOpen: the agreement has an open delivery (on entering).
        """
        return FactsDelivery(
            self.control, agreement_code, physical_delete_allowed=physical_delete_allowed
        )

    def listen(self) -> Listener:
        """Return a connection that is notified of each delivery that is queued."""
        return Listener(self.control.new_link(name="-listen"), "omd_delivery")
