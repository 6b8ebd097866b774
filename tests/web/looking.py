"""What the screens of the rooms have to hold: marks, SQL, and nothing that can harm (A8)."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from web.seen import Element, read

if TYPE_CHECKING:
    from web.conftest import Page

# What a name or a value may hold; the control character is shown as the sign for it.
TEXT = "<img src=x onerror=alert(1)>\"'&`%s %(x)s ../../é\u202e]0;\x07</svg>--><script>\\;"
SHOWN = TEXT.replace("\x07", "\ufffd")

_LOADING = {"src", "href", "action", "formaction"}
_FORBIDDEN = {"iframe", "object", "embed", "img", "base", "style"}


def looked_at(text: str) -> Element:
    """Return a page, after a check that nothing in it executes or comes from elsewhere."""
    root = read(text)
    for element in root.walk():
        names = element.attributes
        assert not [name for name in names if name.startswith("on") or name == "style"], names
        assert element.tag not in _FORBIDDEN, element.tag
        assert element.tag != "script" or re.match(r"/[^/]", names["src"])
        for name in _LOADING & names.keys():
            assert re.match(r"[/?#](?!/)", names[name]), names
    assert all(head.text for head in root.all("th")), "a column without a title"
    ids = [element.attributes["id"] for element in root.all(id=True)]
    assert len(ids) == len({*ids}), sorted(i for i in ids if ids.count(i) > 1)
    return root


def look(page: Page, path: str) -> Element:
    """Return a screen as a browser has it, with its marks for programs."""
    answer = page.get(path)
    assert answer.status == 200, (path, answer.text)
    root = looked_at(answer.text)
    name = path.split("/")[1].split("?")[0]
    assert root.one("main").attributes["data-screen"] == name
    assert root.one("body").attributes["data-live"] == "off"
    return root


def rows(root: Element, view: str) -> list[Element]:
    """Return the rows of a table by its view."""
    return root.one("table", data_view=view).all("tr", data_key=True)


def keys(root: Element, view: str) -> list[str]:
    """Return the keys of the rows of a table."""
    return [row.attributes["data-key"] for row in rows(root, view)]


def states(root: Element) -> list[str]:
    """Return the SQLSTATE of each error that a screen shows."""
    return [alert.attributes["data-sqlstate"] for alert in root.all(role="alert")]


def sql_of(text: str) -> list[str]:
    """Return the statements that a page shows."""
    shown = re.findall(r"<summary>SQL</summary><pre[^>]*>(.*?)</pre>", text, re.DOTALL)
    return [html.unescape(statement) for statement in shown]
