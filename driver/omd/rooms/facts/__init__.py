"""Facts: how accepted facts are stored, read as of one moment, exported (schema omd_facts)."""

from typing import TYPE_CHECKING

from omd._core.lazy import lazily

if TYPE_CHECKING:
    from omd.rooms.facts.export import Export as Export
    from omd.rooms.facts.run import FactsDelivery as FactsDelivery

__all__, __getattr__, __dir__ = lazily(
    __name__, {"omd.rooms.facts.export": ["Export"], "omd.rooms.facts.run": ["FactsDelivery"]}
)
