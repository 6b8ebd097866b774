"""Pages of the documents, and what of them stands under one heading."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HEADING = re.compile(r"(?P<level>#{1,6}) (?P<title>.*)")


def anchor(title: str) -> str:
    """Return the anchor that a Git host makes of a heading."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def headings(text: str) -> Iterator[tuple[int, int, str]]:
    """Return the offset, the level and the title of each heading; a comment in a block is none."""
    offset, is_in_block = 0, False
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("```"):
            is_in_block = not is_in_block
        elif not is_in_block and (found := HEADING.match(line)):
            yield offset, len(found["level"]), found["title"].strip()
        offset += len(line)


def sections(text: str) -> Iterator[tuple[str, int, int]]:
    """Return each heading of the second level: its anchor, where it begins, and its end."""
    starts = [(anchor(title), offset) for offset, level, title in headings(text) if level == 2]
    ends = [offset for _, offset in starts[1:]] + [len(text)]
    for (name, start), end in zip(starts, ends, strict=False):
        yield name, start, end


def section(text: str, name: str) -> str:
    """Return what stands under one heading of the second level."""
    (found,) = [text[start:end] for known, start, end in sections(text) if known == name]
    return found
