"""Facts as Python sees them: the routines as methods (docs/explanation/facts.md)."""

from __future__ import annotations

from omd._core.listener import Listener
from omd.rooms.facts.export import Export, Exports
from omd.rooms.facts.run import FactsDelivery

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
