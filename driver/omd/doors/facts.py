"""What Python does for facts: it exports files, and writes rows (docs/explanation/facts.md)."""

from __future__ import annotations

from omd._core.listener import Listener
from omd.doors.methods import FactsMethods
from omd.rooms.facts.export import Exports
from omd.rooms.facts.run import FactsDelivery


class Facts(Exports, FactsMethods):
    """Exports of facts, and rows that people write: ``control.facts`` (docs/explanation/facts.md).

    Examples:
        control.calls.omd_facts.deploy("flights")
        while control.calls.omd_facts.load("flights").execution_status_code == "S":
            print(control.calls.omd_facts.traveling_now("flights"))
        with control.facts.delivery("desk") as desk:
            desk.connection.execute("DELETE FROM gdal_flights.carriers WHERE carrier = 'XX'")
    """

    _formerly = ("omd.Facts",)

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
            StateError (OM152): the agreement has an open delivery (on entering).
        """
        return FactsDelivery(
            self._control, agreement_code, physical_delete_allowed=physical_delete_allowed
        )

    def _listen(self) -> Listener:
        """Return a connection that is notified of each delivery that is queued."""
        return Listener(self._control._new_link(name="-listen"), "omd_delivery")
