"""Provenance as Python sees it: the routines as methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omd._core.calls import Repeat, Routine
from omd.control.connection import Door
from omd.provenance.calls import ProvenanceCalls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omd.provenance.rows import RedeliverAnswer

# What it answers is what it is given too.
_REDELIVER = Routine(
    "omd_provenance.redeliver",
    {"p_recall_id": "bigint", "p_delivery_id": "bigint", "p_files": "jsonb"},
    required=1,
    repeat=Repeat(),
)


class Provenance(Door, ProvenanceCalls):
    """The room provenance: ``control.provenance``."""

    def redeliver(
        self,
        recall_id: int,
        *,
        delivery_id: int | None = None,
        files: Sequence[dict[str, Any]] | None = None,
    ) -> RedeliverAnswer:
        """Create the next delivery that comes again, or find it; see `ProvenanceCalls.redeliver`.

        Args:
            recall_id: the recall.
            delivery_id: only this one; by default any.
            files: the files that are there now; by default nobody has looked.
        """
        from omd.provenance.rows import RedeliverAnswer

        seen = None if files is None else list(files)
        return self._answer(_REDELIVER, RedeliverAnswer, recall_id, delivery_id, seen)
