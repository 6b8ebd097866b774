"""The template of a writer: each of its tags names something."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from facts.store import PERSON, PHONE, entity

if TYPE_CHECKING:
    from facts.store import Store


def names(data: Any) -> set[str]:
    """Return the names of an object, and of the items of its lists."""
    if isinstance(data, list):
        return set().union(*map(names, data))
    if isinstance(data, dict):
        return set(data).union(*map(names, data.values()))
    return set()


def test_each_tag_of_the_writer_names_what_there_is(store: Store) -> None:
    store.set_up(PERSON, PHONE, entity("event", ["at"], [("at", "timestamp")]))
    known = names(
        store.one("SELECT jsonb_agg(omd_facts._writer_data(entity_id)) FROM omd_facts.entity")
    )
    source = store.one("SELECT prosrc FROM pg_proc WHERE proname = '_writer_sql'")
    tags = re.findall(r"\{(?:for |if )?(\w+)[^}]*\}", source)
    assert len(tags) > 100
    assert set(tags) - {"else", "end"} <= known
    assert known <= set(tags)
