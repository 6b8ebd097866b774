"""Former modules and names of errors, and what stands in their place, until 1.1.

A former module is refused by an ImportError, and so is a former name in ``from omd import X``;
``omd.X`` by an AttributeError.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

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

# The errors that the catalogue does not have, and what could be imported from elsewhere.
_ERRORS = {
    "AnswerLost": "omd.errors.ConnectionFailed",
    "BatchAborted": "omd.errors.Aborted",
    "BatchSkipped": "omd.errors.Skipped",
    "DeliveryAborted": "omd.errors.Aborted",
    "DeliverySkipped": "omd.errors.Skipped",
    "DeliveryWaits": "omd.errors.Aborted",
    "ModuleAborted": "omd.errors.Aborted",
    "ModuleSkipped": "omd.errors.Skipped",
    "RightMissing": "psycopg.errors.InsufficientPrivilege",
    "ServerIsStandby": "psycopg.errors.ReadOnlySqlTransaction",
    "StepNotStarted": "omd.errors.NotStarted",
}
_OF_OMD = "BatchAborted BatchSkipped ModuleAborted ModuleSkipped"
_MOVED = "ConnectionFailed LeaseLost NotInstalled NotStarted OmdError"
_OF_SPARK = "SnapshotGone UnsupportedType"


@functools.cache
def names() -> Mapping[str, str]:
    """Return the former names, and what stands in the place of each."""
    from omd._core.lookups import MADE

    coded = {kind.__name__: f"omd.errors.lookup({code!r})" for code, kind in MADE.items()}
    listed = {"omd.errors." + name: now for name, now in {**coded, **_ERRORS}.items()}
    listed |= {"omd." + name: _ERRORS[name] for name in _OF_OMD.split()}
    listed |= {"omd." + name: "omd.errors." + name for name in _MOVED.split()}
    listed |= {"omd.spark." + name: coded[name] for name in _OF_SPARK.split()}
    return {**listed, "omd.Terminated": "SystemExit, whose code is 143"}


def refusal(name: str) -> str | None:
    """Return what a user is said who names this; None: it is no former name."""
    now = names().get(name)
    return None if now is None else f"{name} has gone; use {now}"


class Former:
    """The last finder of modules: it says where what was in a former module is now."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """Refuse a former module or name; of any other say that it is not here.

        Raises:
            ModuleNotFoundError: it is such a module; the message has its place.
            ImportError: it is a former name of a module, as in ``from omd import X``.
        """
        if name in PLACES:
            raise ModuleNotFoundError(f"{name} has gone; use {PLACES[name]}", name=name)
        if name.startswith("omd.") and (said := refusal(name)) is not None:
            raise ImportError(said, name=name)
