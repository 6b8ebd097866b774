"""``omd demo`` takes the name of a demo, and refuses what that demo does not take."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import omd.programs.demo
from omd.programs.cli.demo import _DEMOS, _NEXT, demo

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Command = Callable[..., subprocess.CompletedProcess[str]]


def test_each_demo_has_a_name_a_line_of_the_help_and_what_comes_next(omd_here: Command) -> None:
    folder = Path(omd.programs.demo.__file__).parent
    stories = {path.parent.name for path in folder.glob("*/story.py")}
    assert stories == {*_DEMOS}
    assert {*_NEXT} == stories - {"trust"}
    lines = omd_here("demo", "--help").stdout.splitlines()
    for name, its in _DEMOS.items():
        assert f"    {name:<9} {its.about}" in lines
    assert {option for its in _DEMOS.values() for option in its.takes} <= {
        parameter.name for parameter in demo.params
    }


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["flights"], "'control'"),
        (["doors", "--quick"], "The demo doors has no --quick."),
        (["control", "--folder", "x"], "The demo control has no --folder."),
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
