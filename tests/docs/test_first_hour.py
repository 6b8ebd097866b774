"""README is typed from a fresh clone; what names a package says it as this copy must."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

import metadata_hook
import spelling
from omd._core import packages

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCES = re.findall(r"(?ms)^```\n(.*?)^```$", README)


def test_readme_begins_with_a_clone_and_two_commands() -> None:
    made, by_hand = FENCES[:2]
    assert [line.partition("#")[0].rstrip() for line in made.splitlines()] == [
        f"git clone {metadata_hook.home(ROOT)} omd && cd omd",
        "make demo",
        "make test",
    ]
    assert by_hand.startswith("pip install '.[embedded]'")


def test_documents_and_hints_say_the_same_of_the_registry() -> None:
    assert packages.PUBLISHED is False
    for name, text in spelling.documents().items():
        assert (ROOT / name).read_text(encoding="utf-8") == text, f"{name}: make generate"
    named = re.compile(r"""pip install[^\n]*pgomd""")
    here = {ROOT / "driver/omd/_core/packages.py"}
    found = [
        f"{file.relative_to(ROOT)}: {line}"
        for folder in ("driver", "procedures", "sql")
        for file in (ROOT / folder).rglob("*")
        if file.suffix in (".py", ".sql") and file not in here
        for line in file.read_text(encoding="utf-8").splitlines()
        if named.search(line)
    ]
    assert found == []
    assert packages.install("lake") == "pip install '.[lake]' (in the clone of OMD)"
    assert packages.install("lake", published=True) == "pip install 'pgomd[lake]'"


def test_a_release_that_is_published_says_so_everywhere() -> None:
    text = (
        "git clone x omd && `pip\ninstall '.[a,b]'`, pip install --quiet . and pip install duckdb\n"
    )
    told = "git clone y omd && `pip\ninstall 'pgomd[a,b]'`, pip install --quiet pgomd and"
    told += " pip install duckdb\n"
    assert spelling.spelled(text, "y", published=True) == told
    assert spelling.spelled(told, "x", published=False) == text


@pytest.mark.spark
@pytest.mark.tools
def test_readme_is_typed_from_a_fresh_clone(tmp_path: Path) -> None:
    """All but `make test`, whose own run is the proof."""
    made, by_hand = FENCES[:2]
    address = metadata_hook.home(ROOT)
    home = tmp_path / "home"
    home.mkdir()
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("OMD_", "PG", "VIRTUAL"))},
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{ROOT.as_uri()}.insteadOf",
        "GIT_CONFIG_VALUE_0": address,
        "PYTHONDONTWRITEBYTECODE": "1",
    }

    def typed(text: str, folder: Path, **more: Any) -> str:
        done = subprocess.run(
            ["bash", "-ec", text], cwd=folder, env={**environment, **more}, check=False,
            capture_output=True, text=True, timeout=1500,
        )  # fmt: skip
        assert done.returncode == 0, f"{text}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout + done.stderr

    clone = tmp_path / "omd"
    try:
        typed(made.replace("make test", ": make test"), tmp_path)
        new = tmp_path / "venv"
        subprocess.run(["python3", "-m", "venv", new], check=True)
        path = f"{new / 'bin'}{os.pathsep}{environment['PATH']}"
        told = typed(
            by_hand
            + 'omd doctor --output csv; psql "$OMD_DSN" -Atc "SELECT omd.version()" || true',
            clone,
            PATH=path,
            OMD_HOME=str(tmp_path / "server"),
        )
        assert "Installed omd" in told
        typed("omd embedded stop", clone, PATH=path, OMD_HOME=str(tmp_path / "server"))
    finally:
        if (clone / ".venv").exists():
            typed("make clean", clone)
