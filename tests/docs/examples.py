"""The documents show what really happens: their examples are run, in order, and compared.

`omd.programs.demo.pages` says how a page is read, and `omd.programs.demo.player` runs it. A command
runs in a new folder, with the SQL of the checkout in it. OMD_DOCS_WRITE=1 writes the outputs of sql
and python into the documents, where they have no "…".
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from demo.reading import check_what_reads
from omd.programs.cli.demo import _DEMOS
from omd.programs.demo.pages import ROOT, Block, Command, Page, clean, is_shown, parts
from omd.programs.demo.player import Session, environment

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    from omd.spark.sessions import Jvm

WRITE = bool(os.environ.get("OMD_DOCS_WRITE"))
DEMO_TUTORIAL = "docs/tutorial/control.md"
PLAYED = {f"docs/tutorial/{name}.md" for name, its in _DEMOS.items() if not its.is_program}


def compare(shown: Block | Command, actual: str, expected: str) -> None:
    assert is_shown(actual, expected), (
        f"{shown}\nprints\n{actual}\nand the document says\n{expected}"
    )


def play(
    page: Page,
    dsn: str,
    folder: Path,
    omd: Callable[[dict[str, str]], Path],
    jvm: Jvm | None = None,
) -> int:
    """Run the blocks of a page; returns how many there were."""
    env = environment(dsn, folder, os.environ) | (jvm.env if jvm else {})
    env["PATH"] = f"{omd(env).parent}{os.pathsep}{env['PATH']}"
    session = Session(env, folder, jvm)
    try:
        return play_blocks(page, session)
    finally:
        session.close()


def play_blocks(page: Page, session: Session) -> int:
    written: list[tuple[tuple[int, int], str]] = []
    for name in ("sql", "migrations", "procedures"):
        with suppress(FileExistsError):
            (session.folder / name).symlink_to(ROOT / name)
    count = 0
    for block in page.blocks:
        if block.file:
            session.save(block)
        if not block.is_run:
            continue
        count += 1
        if block.kind == "console":
            for command in block.commands():
                code, actual = session.shell(command.text)
                # The output shown says whether a command is meant to fail.
                assert code == 0 or command.expected.replace("…", "").strip(), (
                    f"{command}\nexits with {code}\n{actual}"
                )
                if command.expected:
                    compare(command, actual, command.expected)
            continue
        if block.kind == "sql":
            actual = session.sql(block.text)
        else:
            code, actual = session.python(block.text)
            assert code == 0, f"{block}\nfails:\n{actual}"
        if block.output is None:
            complaint = re.search(r"^(?:ERROR|WARNING): ", actual, re.MULTILINE)
            assert not complaint, f"{block}\nfails:\n{actual}"
        elif WRITE and "…" not in block.output and block.span:
            told, known = (text.count("ERROR: ") for text in (actual, block.output))
            assert told <= known or not block.output, f"{block}\nnow fails:\n{actual}"
            written.append((block.span, "\n".join(clean(actual)) + "\n"))
        else:
            compare(block, actual, block.output)
    if written:
        text = page.file.read_text(encoding="utf-8")
        for (start, end), actual in reversed(written):
            text = text[:start] + actual + text[end:]
        page.file.write_text(text, encoding="utf-8")
    return count


def marks(page: Page) -> list[pytest.MarkDecorator]:
    return [pytest.mark.spark] if page.needs_spark else []


def database(page: Page) -> str:
    """Return the fixture of the database that it is played in."""
    return "empty_dsn" if page.needs_no_omd else "dsn"


@cache
def pages() -> tuple[Page, ...]:
    """Return every part with examples; tests/demo/test_demo.py plays the tutorial of the demo."""
    found = []
    for file in (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))):
        document = str(file.relative_to(ROOT))
        for part in parts(file.read_text(encoding="utf-8")):
            page = Page(document, part)
            if document != DEMO_TUTORIAL and any(block.is_run for block in page.blocks):
                found.append(page)
    return tuple(found)


def pages_of(file: Path) -> Iterator[Page]:
    """Return the pages that a file plays.

    test_examples_control.py plays those of a folder control, and test_examples.py those of each
    folder without a file of its own.
    """
    own = {f.stem.removeprefix("test_examples_") for f in file.parent.glob("test_examples_*.py")}
    folder = file.stem.removeprefix("test_examples_")
    for page in pages():
        name = Path(page.document).parent.name
        if name == folder if folder in own else name not in own:
            yield page


@pytest.mark.no_user_code("a page shows what is there when nobody has laid anything")
def test_a_page_shows_what_happens(
    page: Page,
    example_roles: None,
    forked_omd: Callable[[dict[str, str]], Path],
    omd_here: Callable[..., subprocess.CompletedProcess[str]],
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    dsn = request.getfixturevalue(database(page))
    jvm = request.getfixturevalue("jvm") if page.is_in_one_jvm else None
    for earlier in page.before:
        play(earlier, dsn, tmp_path, forked_omd, jvm)
    assert play(page, dsn, tmp_path, forked_omd, jvm) > 0
    if page.document in PLAYED:  # it has left something of its room
        with psycopg.connect(dsn, autocommit=True) as connection:
            check_what_reads(connection, dsn, omd_here, but="doctor")
