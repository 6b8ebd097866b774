"""``omd demo`` takes the name of a demo, and refuses what that demo does not take."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import omd.programs.demo
from omd.programs.cli import demo as cli
from omd.programs.demo.pages import Page

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Command = Callable[..., subprocess.CompletedProcess[str]]

TUTORIALS = [name for name, its in cli._DEMOS.items() if not its.is_program]


def test_each_demo_has_a_line_of_the_help_and_a_page_or_a_story(omd_here: Command) -> None:
    folder = Path(omd.programs.demo.__file__).parent
    stories = {path.parent.name for path in folder.glob("*/story.py")}
    assert stories == {*cli._DEMOS} - {*TUTORIALS}
    lines = omd_here("demo", "--help").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    for name, its in cli._DEMOS.items():
        assert f"    {name:<9} {its.minutes:>2} min  {its.about}" in lines
        assert bool(its.after) == (its.is_program and name != "trust")
        assert {*its.takes} <= {parameter.name for parameter in cli.demo.params}


@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_is_played_with_the_extras_that_its_page_needs(name: str) -> None:
    page, its = Page(f"docs/tutorial/{name}.md"), cli._DEMOS[name]
    assert any(block.is_run for block in page.blocks)
    on_spark = re.search(r"^import omd\.spark|^\$ omd (?:deliver|export)", page.text, re.MULTILINE)
    assert ("spark" in its.extras) == bool(on_spark)
    assert ("lake" in its.extras) == ("LAKE" in page.text)
    assert f"`omd demo {name}` plays" in " ".join(page.text.split())


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["flights"], "'control'"),
        (["facts", "--dsn", "dbname=production"], "The demo facts has no --dsn."),
        (["doors", "--quick"], "The demo doors has no --quick."),
        (["control", "--folder", "x"], "The demo control has no --folder."),
        (["control", "--keep"], "The demo control has no --keep."),
        (["web", "--yes"], "The demo web has no --yes."),
        (["lineage", "doors"], "unexpected extra argument"),
    ],
)
def test_what_a_demo_does_not_take_is_wrong_use(
    omd_here: Command, given: list[str], told: str
) -> None:
    done = omd_here("demo", *given)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


@pytest.mark.parametrize(
    ("name", "extra", "hint"),
    [
        ("facts", "embedded", "pip install '.[embedded]'"),
        ("delivery", "spark", "pip install '.[embedded,spark]'"),
        ("lake", "lake", "pip install '.[embedded,spark,lake]'"),
        ("control", "spark", "pip install '.[demo]'"),
    ],
)
def test_what_is_not_installed_is_told_before_anything_starts(
    omd_here: Command, monkeypatch: pytest.MonkeyPatch, name: str, extra: str, hint: str
) -> None:
    monkeypatch.setitem(cli._PACKAGES, extra, "nobody_has_it")
    done = omd_here("demo", name)
    assert (done.returncode, done.stdout) == (1, "")
    assert "nobody_has_it is not installed." in done.stderr
    assert hint in done.stderr


def test_a_page_on_spark_needs_java(
    omd_here: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    done = omd_here("demo", "delivery")
    assert (done.returncode, done.stdout) == (1, "")
    assert "Spark needs Java 17 or newer, and there is none." in done.stderr


def test_names_are_completed(omd_command: Command) -> None:
    done = omd_command(
        env={
            "_OMD_COMPLETE": "bash_complete",
            "COMP_WORDS": "omd demo d",
            "COMP_CWORD": "2",
        }
    )
    assert {line.partition(",")[2] for line in done.stdout.splitlines()} == {
        "dispatch", "delivery", "decision", "doors",
    }  # fmt: skip
