"""A model document describes two rooms: what follows in the facts when delivery has deployed it."""

from __future__ import annotations

import click

from omd.cli.common import open_control

__all__ = ["deploy_facts"]


def deploy_facts(interface: str, dsn: str) -> None:
    """Deploy the facts of an interface that are deployed: a load of a newer model would fail."""
    from omd.facts.rows import FactsStateRow

    with open_control(dsn) as control:
        if control.facts.report(FactsStateRow, interface_code=interface):
            answer = control.facts.deploy(interface)
            click.echo(
                f"Facts of {interface}, version {answer.model_version}: "
                f"{answer.statements:,} statements executed.",
                err=True,
            )
