"""The site of the documents: every link leads somewhere, and it needs no network."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import playwright
import pytest
import yaml

ROOT = Path(__file__).parents[2]
# A browser loads these by itself; a link is loaded only when somebody clicks it.
LOADED = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed)\b[^>]*\bsrc=[\"']?((?:https?:)?//[^\"' >]+)"
    r"|<link\b(?![^>]*\brel=[\"']?canonical)[^>]*\bhref=[\"']?((?:https?:)?//[^\"' >]+)"
)
STYLED = re.compile(r"(?:url\([\"']?|@import\s+[\"'])((?:https?:)?//[^\"')]+)")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built with strict checks: a dead link is a failure."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", folder],
        check=False,
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return folder


def test_it_loads_nothing_from_the_network(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 60
    for page in pages:
        found = LOADED.findall(page.read_text(encoding="utf-8"))
        assert not found, f"{page.relative_to(site)}: {found}"
    for style in site.rglob("*.css"):
        found = STYLED.findall(style.read_text(encoding="utf-8"))
        assert not found, f"{style.relative_to(site)}: {found}"


def test_every_block_is_shown_as_one(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert "<p>```" not in text, page.relative_to(site)


def test_it_shows_the_commands_and_the_python_interface(site: Path) -> None:
    commands = (site / "api" / "commands.html").read_text(encoding="utf-8")
    assert "--batch-instance" in commands
    assert "Sentinel" not in commands  # how click says that an option has no default
    python = (site / "api" / "python.html").read_text(encoding="utf-8")
    assert 'id="omd.Control' in python
    assert "instance_array" in python


def found(site: Path, words: list[str]) -> dict[str, list[str]]:
    """Return the pages that the search of the site finds for each of several words, best first."""
    node = Path(playwright.__file__).parent / "driver" / "node"
    (worker,) = (site / "assets" / "javascripts" / "workers").glob("search.*.min.js")
    program = [node, Path(__file__).with_name("search_site.js")]
    done = subprocess.run(
        [*program, worker, site / "search" / "search_index.json"],
        check=True,
        input=json.dumps(words),
        capture_output=True,
        text=True,
    )
    answers: dict[str, list[str]] = json.loads(done.stdout)
    return answers


def test_the_search_finds_the_right_page_first(site: Path) -> None:
    wanted = {
        word: page.replace(".md", ".html")
        for page, words in yaml.safe_load((ROOT / "docs/search.yaml").read_text("utf-8")).items()
        for word in words
    }
    assert wanted.keys() > {
        *("permissions", "idempotent", "schedule", "upgrade", "The database is down"),
        *("only a part of a Batch", "again for last week", "backfill"),
    }
    answers = found(site, list(wanted))
    assert {word: pages[:1] for word, pages in answers.items()} == {
        word: [page] for word, page in wanted.items()
    }


def test_the_menu_has_every_how_to_page(site: Path) -> None:
    index = (site / "how-to" / "index.html").read_text(encoding="utf-8")
    for page in (ROOT / "docs" / "how-to").rglob("*.md"):
        name = page.relative_to(ROOT / "docs" / "how-to").with_suffix(".html").as_posix()
        assert name == "index.html" or f'href="{name}"' in index, name


def test_each_former_page_leads_to_the_one_that_has_its_text(site: Path) -> None:
    former = yaml.safe_load((ROOT / "docs/how-to/moved.yaml").read_text(encoding="utf-8"))
    assert len(former) > 90
    for path in former:
        page = site / "how-to" / path.replace(".md", ".html")
        text = page.read_text(encoding="utf-8")
        (target,) = re.findall(r'http-equiv="refresh" content="0; url=([^"]+)"', text)
        name, _, anchor = target.partition("#")
        there = (page.parent / name).read_text(encoding="utf-8")
        assert not anchor or f'id="{anchor}"' in there, f"{path}: {target}"
