"""The parser of pages: what stands under a heading, the blocks that can be run, their output.

    ```sql            goes to psql; all blocks of a page are one session, as for a reader
    ```console        has commands in the lines that begin with "$ ", and their output in the others
    ```python run     is run as a program of its own
    ```python x.py    is saved there as x.py; so are .yaml, .json and folder/x.csv
    ```text           is the output of the block directly before it; without it, the block must
                      not fail
    ```text demo      is a part of the output of the demo

In an output "…" stands for any text, and on a line of its own for any number of lines. Other blocks
are only shown. A page is played in a new database, and a section too that has one of
the first three comments directly under its heading (of the second level). A part is what is played
at once: the page up to the first such section, or such a section with those after it that have no
comment.

    <!-- examples: in a new database -->
    <!-- examples: after make-a-topic.md -->     that page is played before it, in this database;
                                                 of a page that has parts the first, or that of an
                                                 anchor: make-a-topic.md#anchor, or #anchor
    <!-- examples: without OMD -->               nothing is installed in the database
    <!-- examples: in one JVM -->                its programs share a JVM: most of the time of a
                                                 short one on Spark is that of a JVM that starts
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

_HERE = Path(__file__).resolve()
PACKED = _HERE.parents[2] / "_pages"
"""Where a wheel has the pages that the demos play."""
ROOT = PACKED if PACKED.is_dir() else _HERE.parents[4]
"""Where ``docs/`` is: in a checkout its root."""

HEADING = re.compile(r"(?P<level>#{1,6}) (?P<title>.*)")
PART = re.compile(r"## .*\n\s*<!-- examples: (?:in a new database|after \S+|without OMD) -->")
FENCE = re.compile(r"^```(?P<info>[^\n`]+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
FILES = (".py", ".yaml", ".json", ".csv")
SPARK = re.compile(
    r"\bomd\.spark\b|^\$ omd (?:deliver|apply(?!.* --no-spark)|export"
    r"|run .*--engine SPARK|(?:run|worker) .*--master)\b",
    re.MULTILINE,
)


def anchor(title: str) -> str:
    """Return the anchor that a Git host makes of a heading."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def headings(text: str) -> Iterator[tuple[int, int, str]]:
    """Return the offset, the level and the title of each heading; a comment in a block is none."""
    offset, is_in_block = 0, False
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("```"):
            is_in_block = not is_in_block
        elif not is_in_block and (heading := HEADING.match(line)):
            yield offset, len(heading["level"]), heading["title"].strip()
        offset += len(line)


def sections(text: str) -> Iterator[tuple[str, int, int]]:
    """Return each heading of the second level: its anchor, where it begins, and its end."""
    starts = [(anchor(title), offset) for offset, level, title in headings(text) if level == 2]
    ends = [offset for _, offset in starts[1:]] + [len(text)]
    for (name, start), end in zip(starts, ends, strict=False):
        yield name, start, end


def section(text: str, name: str) -> str:
    """Return what stands under one heading of the second level."""
    (part,) = [text[start:end] for known, start, end in sections(text) if known == name]
    return part


@cache
def parts(text: str) -> dict[str, tuple[int, int]]:
    """Return where each part begins and ends; the first has no name, the others their anchors."""
    begun = {"": 0} | {name: start for name, start, _ in sections(text) if PART.match(text, start)}
    ends = [*list(begun.values())[1:], len(text)]
    return {name: (start, end) for (name, start), end in zip(begun.items(), ends, strict=True)}


@dataclass(frozen=True)
class Command:
    """A command of a block, and the output that the page shows for it."""

    where: str  # the file and the line
    text: str  # what is typed
    expected: str

    def __str__(self) -> str:
        return f"{self.where}\n{self.text}"


@dataclass(frozen=True)
class Block:
    """A fenced block and the output that is shown for it."""

    document: str
    line: int
    title: str  # of the heading that it stands under
    kind: str
    text: str
    output: str | None
    span: tuple[int, int] | None

    @property
    def where(self) -> str:
        """The file and the line."""
        return f"{self.document}:{self.line}"

    def __str__(self) -> str:
        return f"{self.where}\n{self.text}"

    @property
    def file(self) -> str | None:
        """The name under which it is saved."""
        return self.kind.split()[1] if self.kind.endswith(FILES) else None

    @property
    def is_run(self) -> bool:
        """Whether something is run."""
        return self.kind in ("sql", "console", "python run")

    def commands(self) -> Iterator[Command]:
        """Yield the commands of a console; a line that ends with a backslash goes on."""
        line = self.line + 1
        first, *others = re.split(r"^\$ ", self.text, flags=re.MULTILINE)
        line += first.count("\n")
        for part in others:
            lines = part.splitlines(keepends=True)
            length = 1
            while lines[length - 1].rstrip("\n").endswith("\\"):
                length += 1
            where = f"{self.document}:{line}"
            yield Command(where, "".join(lines[:length]), "".join(lines[length:]))
            line += len(lines)


@dataclass(frozen=True)
class Page:
    """A part of a document, and what its comments say about the way to play it."""

    document: str  # below the root
    part: str = ""
    root: Path = ROOT

    def __str__(self) -> str:
        return f"{self.document}#{self.part}" if self.part else self.document

    @property
    def file(self) -> Path:
        """Where it stands."""
        return self.root / self.document

    @property
    def text(self) -> str:
        """What stands in it."""
        return self._whole[slice(*parts(self._whole)[self.part])]

    @cached_property
    def _whole(self) -> str:
        return self.file.read_text(encoding="utf-8")

    @cached_property
    def blocks(self) -> list[Block]:
        """The blocks, with the outputs that stand directly behind them."""
        text = self._whole
        titles = list(headings(text))
        fences = list(FENCE.finditer(text, *parts(text)[self.part]))
        blocks = []
        for match, after in zip(fences, [*fences[1:], None], strict=False):
            output = span = None
            if (
                after
                and after["info"] == "text"
                and not text[match.end() : after.start()].strip()
                and match["info"] in ("sql", "python run")
            ):
                output, span = after["text"], after.span("text")
            line = text.count("\n", 0, match.start()) + 1
            title = [title for offset, _, title in titles if offset < match.start()][-1:]
            blocks.append(
                Block(
                    self.document, line, "".join(title), match["info"], match["text"], output, span
                )
            )
        return blocks

    @property
    def before(self) -> list[Page]:
        """The pages that are played before it, in their order."""
        after = re.search(r"<!-- examples: after ([^\s#]*)#?(\S*) -->", self.text)
        if not after:
            return []
        named = (self.file.parent / after[1]).resolve() if after[1] else self.file
        page = Page(named.relative_to(self.root).as_posix(), after[2], self.root)
        return [*page.before, page]

    @property
    def needs_no_omd(self) -> bool:
        """Whether nothing is installed in the database before."""
        return "<!-- examples: without OMD -->" in [*self.before, self][0].text

    @property
    def is_in_one_jvm(self) -> bool:
        """Whether its programs share a JVM."""
        return "<!-- examples: in one JVM -->" in self.text

    @property
    def needs_spark(self) -> bool:
        """Whether a program of it, or of a page before it, is on Spark."""
        return any(
            SPARK.search(block.text)
            for page in (*self.before, self)
            for block in page.blocks
            if block.kind in ("python run", "console") or block.kind.endswith(".py")
        )


def is_shown(actual: str, expected: str) -> bool:
    """Return whether an output is the one that a page shows, in which "…" stands for any text."""
    return bool(re.fullmatch(pattern(expected), "\n".join(clean(actual)) + "\n"))


def pattern(output: str) -> str:
    """Return the regular expression of an output that a page shows."""
    lines = [r"(?:[^\n]*\n)*?" if line.strip() == "…" else _elided(line) for line in clean(output)]
    return "".join(lines)


def _elided(line: str) -> str:
    return (
        r"[^\n]*".join(r" +".join(map(re.escape, re.split(" +", part))) for part in line.split("…"))
        + r"\n"
    )


def clean(output: str) -> list[str]:
    """Return the lines of an output, without spaces that nobody sees."""
    return [line.rstrip() for line in output.strip("\n").split("\n")]
