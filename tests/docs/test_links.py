"""Every link in a document of the repository leads somewhere, and to a heading that exists."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
import yaml

from omd.programs.demo.pages import anchor, headings

ROOT = Path(__file__).parents[2]
HOW_TO = ROOT / "docs" / "how-to"
BLOCK = re.compile(r"^( *)```.*?^\1```$|``.+?``|`[^`\n]+`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)]+)\)|(?:src|href)=\"([^\"]+)\"")
# The changelog keeps what it said: it may name a page that has moved since.
HISTORY = ROOT / "CHANGELOG.md"


def documents() -> list[Path]:
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def links(document: Path) -> list[str]:
    """Return the links of a document to files and headings, not those in an example."""
    text = BLOCK.sub("", document.read_text(encoding="utf-8"))
    found = [one or other for one, other in LINK.findall(text)]
    return [link for link in found if not link.startswith(("http://", "https://"))]


def anchors(file: Path) -> set[str]:
    """Return the anchors of a document; a Git host numbers those that are there twice."""
    found: Counter[str] = Counter()
    names = set()
    for _, _, title in headings(file.read_text(encoding="utf-8")):
        name = anchor(title)
        names.add(f"{name}-{found[name]}" if found[name] else name)
        found[name] += 1
    return names


def moved() -> dict[str, str]:
    former: dict[str, str] = yaml.safe_load((HOW_TO / "moved.yaml").read_text(encoding="utf-8"))
    return former


def complaint(document: Path, link: str) -> str | None:
    """Return what is wrong with a link."""
    path, _, name = link.partition("#")
    file = (document.parent / path).resolve() if path else document
    if document == HISTORY and file.is_relative_to(HOW_TO):
        file = HOW_TO / moved().get(str(file.relative_to(HOW_TO)), str(file)).partition("#")[0]
    if not file.exists():
        return f"{document.relative_to(ROOT)}: {link}"
    if name and file.suffix == ".md" and name not in anchors(file):
        return f"{document.relative_to(ROOT)}: {link}: no such heading"
    return None


def history(pattern: str) -> list[str]:
    """Return the how-to pages that any commit had."""
    told = ["--format=", "--name-only", "--diff-filter=A", "--no-renames"]
    done = subprocess.run(
        ["git", "log", *told, "--", pattern],
        cwd=ROOT, check=False, capture_output=True, text=True,
    )  # fmt: skip
    return [str(Path(name).relative_to("docs/how-to")) for name in done.stdout.split()]


def test_every_link_leads_somewhere() -> None:
    found = [(document, link) for document in documents() for link in links(document)]
    assert len(found) > 800
    assert {document.name for document, _ in found} >= {"README.md", "SECURITY.md", "trust.md"}
    assert [told for document, link in found if (told := complaint(document, link))] == []


@pytest.mark.parametrize("link", ["docs/nowhere", "docs/trust.md#nowhere", "#nowhere"])
def test_the_check_sees_a_dead_link(link: str) -> None:
    assert complaint(ROOT / "README.md", link)


def test_only_the_changelog_names_former_pages() -> None:
    link = f"docs/how-to/{next(iter(moved()))}"
    assert complaint(ROOT / "README.md", link)
    assert complaint(HISTORY, link) is None


def test_the_how_to_pages_are_few_and_each_is_a_question() -> None:
    pages = list(HOW_TO.rglob("*.md"))
    assert 20 < len(pages) <= 55
    for page in pages:
        found = list(headings(page.read_text(encoding="utf-8")))
        assert found[0][:2] == (0, 1), page
        assert found[0][2].endswith("?"), page
        assert [level for _, level, _ in found].count(1) == 1, page
        names = Counter(anchor(title) for _, _, title in found)
        assert max(names.values()) == 1, f"{page}: {names.most_common(1)}"


def test_every_former_page_leads_to_its_text() -> None:
    there_were = set(history("docs/how-to/*.md"))
    if not there_were:
        pytest.skip("this copy has no history")
    gone = {page for page in there_were if not (HOW_TO / page).exists()}
    assert gone - moved().keys() == set()
    for former, new in moved().items():
        assert not (HOW_TO / former).exists(), former
        path, _, name = new.partition("#")
        assert (HOW_TO / path).is_file(), new
        assert not name or name in anchors(HOW_TO / path), new
