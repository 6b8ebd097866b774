"""The documents of things that are registered."""

from __future__ import annotations

import omd
from omd.programs.cli.documents import registered
from omd.programs.cli.things import Thing


def document(dsn: str, kind: str, key: str) -> str:
    """Return the document of a thing, as ``omd show THING --output yaml`` prints it."""
    with omd.connect(dsn) as control:
        return registered.written(control, Thing(kind, key), "yaml")


def contract(dsn: str, key: str) -> str:
    """Return the contract of an interface, as ``omd show INTERFACE --output odcs`` prints it."""
    with omd.connect(dsn) as control:
        return registered.written(control, Thing("interface", key), "odcs")
