"""Provenance as Python sees it."""

from __future__ import annotations

from omd.control.connection import Door


class Provenance(Door):
    """The room provenance: ``control.provenance``."""
