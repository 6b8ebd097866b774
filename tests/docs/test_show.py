"""The moving picture of README: small, still for who wants that, and made from a real run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "show.svg"
SVG = "{http://www.w3.org/2000/svg}"
ALLOWED = {"svg", "title", "desc", "style", "rect", "g", "text"}


def read(picture: Path) -> str:
    """Return a picture that holds to the rules."""
    text = picture.read_text(encoding="utf-8")
    assert len(text.encode()) < 100_000
    root = ElementTree.fromstring(text)
    names = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert names == ALLOWED, "no script, no picture in it, no HTML"
    for element in root.iter():
        for name in element.attrib:
            assert not re.match(r"on|(?:.*[}:])?href$|src$", name), name
    assert not re.search(r"url\(|@import|javascript:", text)
    assert set(re.findall(r"https?://[^\"\s]+", text)) == {SVG[1:-1]}
    return text


def test_it_loads_nothing_and_is_small() -> None:
    read(PICTURE)


def test_it_is_still_for_who_wants_no_motion() -> None:
    text = read(PICTURE)
    assert re.search(
        r"@media \(prefers-reduced-motion: reduce\) \{ g \{ animation: none !important \} \}", text
    )
    # Without motion each element is as its own class says: what goes in the film is not there.
    still = re.findall(r'<g class="m\d+">(.*?)</g>', text)
    gone = re.findall(r'<g class="m\d+ gone">(.*?)</g>', text)
    assert ".gone { opacity: 0 }" in text
    assert any("each once" in element for element in still)
    assert any("was killed" in element for element in gone)
    assert not any('class="bad" x=' in element for element in still)


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_readme_and_the_first_page_of_the_site_show_it(page: str) -> None:
    file = ROOT / page
    links = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", file.read_text(encoding="utf-8"))
    assert PICTURE in [(file.parent / link).resolve() for link in links]


@pytest.mark.kill
def test_it_is_made_from_a_real_run(dsn: str, tmp_path: Path) -> None:
    made = tmp_path / "show.svg"
    subprocess.run(
        [sys.executable, ROOT / "tools" / "show.py", "--dsn", dsn, "--to", made], check=True
    )
    text = read(made)
    (killed,) = re.findall(r"run 1 was killed: ([\d,]+) rows", text)
    assert 40_000 <= int(killed.replace(",", "")) < 100_000
    assert "run 1 was undone, run 2 begins" in text
    assert " 2 | 100000 | 100000" in text
    # The committed one has the same elements, whenever the load was killed.
    same = re.sub(r"<rect[^>]*/>|[\d,]{5,}", "", text)
    assert len(same) == pytest.approx(
        len(re.sub(r"<rect[^>]*/>|[\d,]{5,}", "", PICTURE.read_text("utf-8"))), rel=0.05
    )
