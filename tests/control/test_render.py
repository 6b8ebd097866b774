"""What the tags of a template do: every text that OMD makes is made by `omd._render`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from support.flow import Flow

TEMPLATE = """
first {name}
{for items}
{number}: ({for parts ", "}{part} of {name}{end}){if is_last}.{else};{end}
{end}
{if empty}
never
{end}

{for empty}never{end}{if none}never{end}last{none}
"""


def rendered(flow: Flow, template: str, /, **data: Any) -> str:
    return str(flow.one("SELECT omd._render(%s, %s)", template, Jsonb(data)))


def test_a_template_shows_what_comes_out(flow: Flow) -> None:
    items = [
        {"number": 1, "parts": [{"part": "a"}, {"part": "b", "name": "inner"}], "is_last": False},
        {"number": 2, "parts": [], "is_last": True},
    ]
    assert rendered(flow, TEMPLATE, name="outer", items=items, empty=[], none=None) == (
        "first outer\n1: (a of outer, b of inner);\n2: ().\n\nlast"
    )


def test_what_is_put_in_is_not_read_again(flow: Flow) -> None:
    value = '{if x}{name}{end}\n\n {for y ", "}'
    assert rendered(flow, "<{name}{name}>", name=value) == f"<{value}{value}>"


def test_what_is_no_tag_stays(flow: Flow) -> None:
    """Users write templates of rollbacks, in which an array or a text may have braces."""
    for text in (
        "'{}'::bigint[]",
        "'{1,2}' {unknown} {",
        "{{name",
        "{a b}",
        '{name ", "}',
        "{end} {else}",
        "{if name} is never ended",
        "{if name}{else} is never ended",
        "{for",
    ):
        assert rendered(flow, text, name="n", b=1) == text
    assert rendered(flow, "{{name}}{if unknown}{unknown}{end}", name="n") == "{n}"


def test_a_template_that_is_unknown_or_empty_is_nothing(flow: Flow) -> None:
    assert rendered(flow, "") == ""
    assert flow.one("SELECT omd._render(NULL, '{}')") == ""
    assert flow.one("SELECT omd._render('a {b}', NULL)") == "a {b}"
