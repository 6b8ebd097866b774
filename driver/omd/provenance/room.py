"""Provenance as Python sees it."""

from __future__ import annotations

from omd.control.connection import Door
from omd.provenance.calls import ProvenanceCalls


class Provenance(Door, ProvenanceCalls):
    """The room provenance: ``control.provenance``."""
