"""Facts as Python sees them: the routines as methods (docs/explanation/facts.md)."""

from __future__ import annotations

from omd._core.cost import measured
from omd._core.listener import Listener
from omd.facts.calls import FactsCalls
from omd.facts.export import Export, Exports
from omd.facts.rows import LoadAllAnswer, LoadAnswer, ResyncAnswer
from omd.facts.run import FactsDelivery

__all__ = ["Export", "Facts"]


class Facts(Exports):
    """The room facts: ``control.facts`` (docs/explanation/facts.md).

    Examples:
        control.facts.deploy("flights")
        while control.facts.load("flights").outcome == "PERSISTED":
            print(control.facts.traveling_now("flights"))
        with control.facts.delivery("desk") as desk:
            desk.connection.execute("DELETE FROM gdal_flights.carriers WHERE carrier = 'XX'")
    """

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
