"""The template of a writer: what its tags do, and that each of them names something."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

from facts.store import PERSON, PHONE, entity

if TYPE_CHECKING:
    from facts.store import Store

TEMPLATE = """
first {name}
{for items}
{number}: ({for parts ", "}{part} of {name}{end}){if is_last}.{else};{end}
{end}
{if empty}
never
{end}

{for empty}never{end}{if none}never{end}last {unknown}
"""


def rendered(store: Store, template: str, **data: Any) -> str:
    return str(store.one("SELECT omd._render(%s, %s)", template, Jsonb(data)))


def test_a_template_shows_what_comes_out(store: Store) -> None:
    items = [
        {"number": 1, "parts": [{"part": "a"}, {"part": "b", "name": "inner"}], "is_last": False},
        {"number": 2, "parts": [], "is_last": True},
    ]
    assert rendered(store, TEMPLATE, name="outer", items=items, empty=[], none=None) == (
        "first outer\n1: (a of outer, b of inner);\n2: ().\n\nlast"
    )


def test_what_is_put_in_is_not_read_again(store: Store) -> None:
    value = '{if x}{name}{end}\n\n {for y ", "}'
    assert rendered(store, "<{name}{name}>", name=value) == f"<{value}{value}>"


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
