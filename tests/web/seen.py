"""What a page says to a program: its marks, as a browser would find them."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_VOID = {"meta", "link", "input", "br", "img", "hr"}


@dataclass(eq=False)
class Element:
    """An element with what is in it."""

    tag: str
    attributes: dict[str, str]
    inside: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(i if isinstance(i, str) else i.text for i in self.inside)

    def all(self, tag: str = "", **marks: str | bool) -> list[Element]:
        """Return the elements with a tag and attributes; True: it has the attribute."""
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in marks.items()}
        return [
            element
            for element in self.walk()
            if tag in ("", element.tag)
            and all(
                name in element.attributes if value is True
                else element.attributes.get(name) == value
                for name, value in wanted.items()
            )
        ]  # fmt: skip

    def one(self, tag: str = "", **marks: str | bool) -> Element:
        """Return the only such element."""
        [element] = self.all(tag, **marks)
        return element

    def walk(self) -> Iterator[Element]:
        for inside in self.inside:
            if isinstance(inside, Element):
                yield inside
                yield from inside.walk()

    def fields(self) -> dict[str, str]:
        """Return what a browser sends of a form without a button."""
        found = {}
        for element in self.walk():
            name = element.attributes.get("name")
            if name is None or "disabled" in element.attributes:
                continue
            if element.tag == "input" and element.attributes.get("type") != "submit":
                found[name] = element.attributes.get("value", "")
            elif element.tag == "textarea":
                found[name] = element.text.removeprefix("\n")
            elif element.tag == "select":
                chosen = element.all("option", selected=True) or element.all("option")
                found[name] = chosen[0].attributes["value"]
        return found


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("", {})
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self._open[-1].inside.append(element)
        if tag not in _VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self._open[-1].inside.append(data)


def read(html: str) -> Element:
    """Read a page; each element must be closed in order."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.root
