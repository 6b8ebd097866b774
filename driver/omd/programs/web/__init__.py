"""The page: everything in the rooms, alive, and what can be done with it (docs: web.md)."""

from omd.programs.web.application import app

__all__ = ["app"]
