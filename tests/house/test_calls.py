"""What a COMMENT says of how a routine is called from Python (tools/rooms.py)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from support.offenders import assert_none

if TYPE_CHECKING:
    from house.catalog import Catalog

LONG = "It may take long."
SESSION = "It sets its session."


def test_what_ends_transactions_itself_may_take_long(catalog: Catalog) -> None:
    found = [r for r in catalog if r.is_public and "OM018" in r.comment]
    assert len(found) > 8
    assert_none((r.name, f"its COMMENT lacks: {LONG}") for r in found if LONG not in r.comment)


def test_what_sets_its_session_says_so_and_never_has_a_connection_of_its_own(
    catalog: Catalog,
) -> None:
    setting = [r for r in catalog if "p_is_local" in r.definition and not r.routine.startswith("_")]
    assert len(setting) > 1
    assert {r.name for r in setting} == {r.name for r in catalog if SESSION in r.comment}
    # What is set for a session is gone with a connection of its own; a run restores what it sets.
    leaving = re.compile(r"set_config\([^;]*,\s*FALSE\s*\)|\bLISTEN\b", re.IGNORECASE)
    assert_none(
        (r.name, f"it sets its session, and its COMMENT says: {LONG}")
        for r in catalog
        if LONG in r.comment and (r in setting or (r.kind == "f" and leaving.search(r.text)))
    )
