"""A model document describes two rooms: what follows in the facts when delivery has deployed it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from omd import Control


class Followers:
    """The facts of an interface follow its model, where they are deployed, in one transaction.

    A load of a newer model would fail, and a model that the facts can't follow is refused whole.
    """

    def __init__(self, control: Control, interface: str) -> None:
        self._control = control
        self.interface = interface
        self.done = ""

    def before(self) -> None:
        """Wait for readers and writers, before the model is locked."""
        if self._are_deployed():
            self._control.calls.omd_facts.hold_views(self.interface)

    def after(self) -> None:
        """Deploy the facts."""
        if self._are_deployed():
            answer = self._control.calls.omd_facts.deploy(self.interface)
            self.done = (
                f"Facts of {self.interface}, version {answer.model_version}: "
                f"{answer.statements:,} statements executed."
            )

    def tell(self) -> None:
        """Print what was done, when it is committed."""
        if self.done:
            click.echo(self.done, err=True)

    def _are_deployed(self) -> bool:
        from omd.rooms.facts.rows import FactsStateRow

        return bool(self._control.report(FactsStateRow, interface_code=self.interface))
