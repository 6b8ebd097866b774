"""What a browser would find in a page: elements with attributes, and whether it is safe."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from web.conftest import Page

# What a name or a value may hold; the control character is shown as the sign for it.
TEXT = "<img src=x onerror=alert(1)>\"'&`%s %(x)s ../../é\u202e]0;\x07</svg>--><script>\\;"
SHOWN = TEXT.replace("\x07", "\ufffd")

VOID = {"meta", "link", "input", "br", "hr", "img"}
_LOADING = {"src", "href", "action", "formaction"}


@dataclass
class Element:
    """An element with what is inside."""

    tag: str
    attributes: dict[str, str | None]
    children: list[Element] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def all(self, tag: str | None = None, **attributes: str | None) -> list[Element]:
        """Return what is inside with this tag and these attributes; None: any value."""
        found = []
        for child in self.children:
            wanted = {k.rstrip("_").replace("_", "-"): v for k, v in attributes.items()}
            if (tag is None or child.tag == tag) and all(
                name in child.attributes and value in (None, child.attributes[name])
                for name, value in wanted.items()
            ):
                found.append(child)
            found += child.all(tag, **attributes)
        return found

    def one(self, tag: str | None = None, **attributes: str | None) -> Element:
        [element] = self.all(tag, **attributes)
        return element


class Looking(HTMLParser):
    """Reads a page; the tree is `root`."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.root = Element("", {})
        self._open = [self.root]
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs))
        assert len(element.attributes) == len(attrs), f"an attribute comes twice: {attrs}"
        self._open[-1].children.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        assert self._open[-1].tag == tag, f"{tag} ends within {self._open[-1].tag}"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.texts.append(data)


def looked_at(text: str) -> Element:
    """Return the tree of a page, after a check that nothing in it can harm (A8)."""
    root = Looking(text).root
    for element in root.all():
        names = element.attributes
        assert not [name for name in names if name.startswith("on") or name == "style"], names
        assert element.tag not in ("iframe", "object", "embed", "img", "base", "style"), text
        assert element.tag != "script" or re.match(r"/[^/]", element.attributes["src"] or "")
        for name in _LOADING & names.keys():
            assert re.match(r"[/?#](?!/)", names[name] or "#"), names
    ids = [element.attributes["id"] for element in root.all(id=None)]
    assert len(ids) == len({*ids}), sorted(i or "" for i in ids if ids.count(i) > 1)
    return root


def sql_of(text: str) -> list[str]:
    """Return the statements that a page shows."""
    pattern = r"<summary>SQL</summary><pre[^>]*>(.*?)</pre>"
    shown = re.findall(pattern, text, re.DOTALL)
    return [html.unescape(statement) for statement in shown]


def look(page: Page, path: str) -> Element:
    """Return a screen as a browser has it, with the marks of section 8."""
    answer = page.get(path)
    assert answer.status == 200, (path, answer.text)
    root = looked_at(answer.text)
    name = path.split("/")[1].split("?")[0]
    assert root.one("main").attributes["data-screen"] == name
    assert root.one("body").attributes["data-live"] == "off"
    return root


def rows(root: Element, view: str) -> list[Element]:
    """Return the rows of a table by its view."""
    return root.one("table", data_view=view).all("tr", data_key=None)


def states(root: Element) -> list[str | None]:
    return [alert.attributes["data-sqlstate"] for alert in root.all(role="alert")]
