"""Each command that a document, a hint or a text of ours names is in the tree, with its options."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

from omd._core import former
from omd.programs.cli.main import cli
from support.offenders import assert_none

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
API = json.loads((ROOT / "docs/reference/api.json").read_text(encoding="utf-8"))
CONTEXT = click.Context(cli)
TREE = {name: cli.get_command(CONTEXT, name) for name in [*cli.list_commands(CONTEXT), "help"]}
FORMER = {name.split()[1] for name in former.names() if name.startswith("omd ")}

# Pages and files whose blocks are typed, and whose text is read. The changes say what was there.
PAGES = [
    *(p for p in ROOT.glob("*.md") if p.name != "CHANGELOG.md"),
    *(ROOT / "docs").rglob("*.md"),
    *(p for folder in ("deploy", "integrations", "share") for p in (ROOT / folder).rglob("*")),
]
SQL = [p for folder in ("procedures", "sql") for p in (ROOT / folder).rglob("*.sql")]
PYTHON = list((ROOT / "driver" / "omd").rglob("*.py"))
# What is in the code of a page: a block, or a piece between backticks, which may end a line later.
CODE = re.compile(r"^```.*?^```|`(?:[^`\n]|\n(?!\n))+`", re.MULTILINE | re.DOTALL)
TYPED = re.compile(
    r"(?:^|(?<=[\s`$('\"]))omd ((?:-[\w-]+ )*[a-z][a-z-]*)(?!\w)((?: +(?!\"?\$\()[^\s`|;<>#)]+)*)"
)
OWN = {"--dsn", "--output", "--help", "--debug", "--verbose"}


def wrong(verb: str, rest: str, *, strictly: bool) -> str | None:
    """Return what is wrong with a command, None where nothing is.

    Args:
        verb: the word after omd.
        rest: what follows it on its line.
        strictly: any word after omd is a command; otherwise only those of now and of before.
    """
    words = rest.split()
    second = words[0].strip(".,:'\"") if words else ""
    for name in (f"omd {verb} {second}", f"omd {verb}"):
        if (answer := former.refusal(name)) is not None:
            return answer
    if verb not in TREE:
        return "there is no such command" if strictly or verb in FORMER else None
    command = TREE[verb]
    if isinstance(command, click.Group) and second in command.list_commands(CONTEXT):
        command = command.get_command(CONTEXT, second)
    options = {o for p in command.params for o in (*p.opts, *p.secondary_opts)} | OWN
    is_view = verb != "report" or f"omd_report.{second}" in API["views"]
    if not is_view and re.fullmatch(r"[a-z_]+", second) and (strictly or "_" in second):
        return "there is no such view"
    if verb == "call" and re.fullmatch(r"[a-z_.]+", second):
        routine = second if "." in second else f"omd.{second}"
        if routine not in API["routines"]:
            return "there is no such routine" if strictly or "_" in second else None
        names = re.findall(r"\bp_(\w+)", json.dumps(API["routines"][routine]))
        options |= {f"--{n}{end}".replace("_", "-") for n in names for end in ("", "-null")}
    given = {w.partition("=")[0].strip(".,:'\"]") for w in words if w.startswith("--")}
    unknown = {name for name in given if len(name) > 2} - options
    return f"it has no {', '.join(sorted(unknown))}" if unknown else None


def typed(text: str, *, strictly: bool) -> Iterator[str]:
    """Yield what is wrong with each command of a text; what begins a line can only be one."""
    text = text.replace("\\\n", " ")
    for match in TYPED.finditer(text):
        is_first = text[: match.start()].endswith(("\n", "`", "\n$ ")) or match.start() == 0
        verb = match[1].split()[-1]
        if (why := wrong(verb, match[2], strictly=strictly and is_first)) is not None:
            yield f"{match[0].strip()!r}: {why}"


def of_page(page: Path) -> Iterator[str]:
    text = page.read_text(encoding="utf-8", errors="replace")
    if page.suffix != ".md":
        yield from typed(text, strictly=False)
        return
    for code in CODE.findall(text):
        is_block = code.startswith("```")
        text_of = code if is_block else code.replace("\n", " ")
        yield from typed(text_of, strictly=not code.startswith("```python"))
    yield from typed(CODE.sub("", text), strictly=False)


def of_sql(file: Path) -> Iterator[str]:
    text = file.read_text(encoding="utf-8")
    # A text may go on with the next literal.
    yield from typed(re.sub(r"'\s*(?:\|\|\s*)?'", "", text), strictly=False)


def of_python(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from typed(node.value, strictly=False)


@pytest.mark.parametrize("pages", [PAGES], ids=["pages"])
def test_each_command_of_a_document_is_there(pages: list[Path]) -> None:
    assert_none(
        (str(page.relative_to(ROOT)), found)
        for page in pages
        if page.is_file()
        for found in of_page(page)
    )


def test_each_command_of_a_hint_is_there() -> None:
    assert_none((str(f.relative_to(ROOT)), found) for f in SQL for found in of_sql(f))


def test_each_command_that_a_program_prints_is_there() -> None:
    assert_none((str(f.relative_to(ROOT)), found) for f in PYTHON for found in of_python(f))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("omd frobnicate", "no such command"),
        ("omd batch list", "use omd report batch_list"),
        ("omd call frobnicate_it", "no such routine"),
        ("omd call set_parameter --colour x", "no --colour"),
        ("omd report frobnicated_list", "no such view"),
        ("omd status --colour", "no --colour"),
        ("omd embedded start --colour", "no --colour"),
    ],
)
def test_the_check_sees_what_is_wrong(text: str, why: str) -> None:
    (said,) = typed(text, strictly=True)
    assert why in said


@pytest.mark.parametrize(
    "text",
    [
        "omd call set_parameter --parameter-code x --batch-code-null",
        "omd report module_list --where module_code=m --output json",
        "omd embedded start",
        "omd -v status",
    ],
)
def test_the_check_lets_through_what_is_right(text: str) -> None:
    assert not list(typed(text, strictly=True))


OF_BEFORE = {name: now for name, now in former.names().items() if name.startswith("omd ")}


def test_a_former_command_answers_with_the_one_of_now() -> None:
    assert len(OF_BEFORE) > 150
    for name, now in OF_BEFORE.items():
        done = CliRunner().invoke(cli, [*name.split()[1:], "--output", "json"])
        assert done.exit_code == 2, name
        assert f"{name} has gone" in done.output
        assert now == former.NOTHING or now in done.output


def test_what_a_former_command_became_is_there() -> None:
    assert_none(
        (name, found)
        for name, now in OF_BEFORE.items()
        if now != former.NOTHING
        for found in typed(now, strictly=True)
    )


def test_the_tree_is_as_large_as_it_was_chosen() -> None:
    below = [c for c in TREE.values() if isinstance(c, click.Group)]
    assert len(TREE) - 1 == 25, "help is an option of the group"
    assert sum(len(group.list_commands(CONTEXT)) for group in below) == 5 + 3
