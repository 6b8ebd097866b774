"""Modules of 1.0.0 that users may have imported, and what stands in their place."""

from __future__ import annotations

# Each former module, and what is public of that which it had.
PLACES = {
    "omd.cli": "the command omd",
    "omd.control": "omd: from omd import Batch, ModuleRun, Outcome",
    "omd.decision": "omd: from omd import Outcome",
    "omd.delivery": "control.delivery(...), which answers its block",
    "omd.embedded": "the command omd embedded",
    "omd.event": "control.event",
    "omd.facts": "control.facts, whose methods answer its blocks",
    "omd.install": "the command omd install",
    "omd.lineage": "omd: from omd import Outcome, StepResult, StepRun",
    "omd.provenance": "control.provenance",
    "omd.report": "control.report",
}


class Former:
    """The last finder of modules: it says where what was in a former module is now."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """Refuse a former module; of any other say that it is not here.

        Raises:
            ModuleNotFoundError: it is one; the message has its place.
        """
        if name in PLACES:
            raise ModuleNotFoundError(f"{name} has gone; use {PLACES[name]}", name=name)
