"""The documents of things that are registered."""

from __future__ import annotations

from types import SimpleNamespace

import omd
from omd.programs.cli.documents import registered


def document(dsn: str, kind: str, key: str) -> str:
    """Return the document of a thing, as ``omd show THING --output yaml`` prints it."""
    with omd.connect(dsn) as control:
        return registered.document(control, SimpleNamespace(kind=kind, key=key))


def contract(dsn: str, key: str) -> str:
    """Return the contract of an interface, as ``omd show INTERFACE --output odcs`` prints it."""
    with omd.connect(dsn) as control:
        return registered.contract(control, SimpleNamespace(kind="interface", key=key))
