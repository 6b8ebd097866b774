"""Former names, and what stands in their place: docs/reference/former.tsv has them all, until 1.1.

A former module is refused by an ImportError, and so is a former name in ``from omd import X``;
``omd.X``, and a former member of a public class, by an AttributeError.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

# Each former module, and what is public of that which it had.
PLACES = {
    "omd.cli": "the command omd",
    "omd.codes": "omd: from omd import Status",
    "omd.control": "omd: from omd import Batch, Run, Outcome",
    "omd.decision": "control.decision",
    "omd.delivery": "control.delivery, whose methods answer its block",
    "omd.embedded": "the command omd embedded",
    "omd.event": "control.calls.omd_event",
    "omd.facts": "control.facts, whose methods answer its blocks",
    "omd.install": "the command omd install",
    "omd.lineage": "control.run",
    "omd.provenance": "control.provenance",
    "omd.report": "control.report",
}
NOTHING = "\u2013"  # a dash


@functools.cache
def names() -> Mapping[str, str]:
    """Return the former names, and what stands in the place of each."""
    shipped = Path(__file__).parents[1] / "former.tsv"
    file = shipped if shipped.exists() else Path(__file__).parents[3] / "docs/reference/former.tsv"
    lines = file.read_text(encoding="utf-8").splitlines()[1:]
    return dict(line.split("\t", 1) for line in lines)  # type: ignore[misc, unused-ignore]


def refusal(name: str) -> str | None:
    """Return what a user who names this is answered; None: it is no former name."""
    now = names().get(name)
    if now is None:
        return None
    return f"{name} has gone" + ("" if now == NOTHING else f"; use {now}")


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
        if name.startswith("omd.") and (answer := refusal(name)) is not None:
            raise ImportError(answer, name=name)


class Renamed:
    """A public class some of whose members have gone, or have another name.

    Attributes:
        _formerly: the names that the class has in the table.
    """

    __slots__ = ()
    _formerly: ClassVar[tuple[str, ...]] = ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if not name.startswith("_"):
                for former in type(self)._formerly:
                    if (answer := refusal(f"{former}.{name}")) is not None:
                        raise AttributeError(answer, name=name, obj=self)
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self
            )
