"""Who mistypes a command, or forgets an extra, is told what was meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.alone import environment


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("statsu", "Did you mean 'omd status'?"),
        ("embedded strat", "Did you mean 'omd embedded start'"),
        (
            "--dsn x status",
            "--dsn is an option of 'status' and stands after it: omd status --dsn x",
        ),
    ],
)
def test_a_mistyped_command_names_what_may_be_meant(
    omd_command: Any, typed: str, meant: str
) -> None:
    done = omd_command(*typed.split())
    assert done.returncode == 2
    assert meant in done.stderr


@pytest.mark.parametrize("typed", ["xyzzy", "--xyzzy status", "--dsn x"])
def test_what_is_like_nothing_is_refused_as_before(omd_command: Any, typed: str) -> None:
    done = omd_command(*typed.split())
    assert done.returncode == 2
    assert "No such" in done.stderr
    assert "Did you mean" not in done.stderr


def test_an_import_without_its_extra_says_what_to_install(tmp_path: Path) -> None:
    core = environment("", tmp_path)
    done = core.run("python", "-c", "import omd.spark", check=False)
    assert done.returncode == 1
    assert "pyspark is not installed. Hint: pip install '.[spark]'" in done.stderr
    assert core.run(
        "python", "-c", "import omd, omd.cli.main; omd.cli.main.main(['--help'])"
    ).stdout
