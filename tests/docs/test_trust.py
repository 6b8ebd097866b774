"""What a stranger reads before they trust OMD: each section is there, and no address is made up."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from omd.programs.demo.pages import headings, section, sections

ROOT = Path(__file__).parents[2]
DECISIONS = ROOT / "docs" / "decisions"
COMMAND = re.compile(r"^```(?:sql|console|sh)\n", re.MULTILINE)
ADDRESS = re.compile(r"https?://[^\s>)]+|[\w.+-]+@[\w.-]+\.\w+")


def home() -> str:
    """Return the one address of the project, from which all others are made."""
    found = re.search(
        r'^home = "([^"]+)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE
    )
    return found[1].rstrip("/") if found else "https://pgomd.invalid/omd"


@pytest.mark.parametrize(
    "name",
    [
        "rights",
        "what-it-changes",
        "how-to-remove-it",
        "costs",
        "locks",
        "failover",
        "who-can-do-what",
        "security",
        "support",
    ],
)
def test_each_question_of_an_administrator_has_a_command(name: str) -> None:
    text = (ROOT / "docs/trust.md").read_text(encoding="utf-8")
    assert COMMAND.search(section(text, name))


def test_the_comparison_says_when_not_to_take_omd() -> None:
    text = (ROOT / "docs/compare.md").read_text(encoding="utf-8")
    names = {name for name, _, _ in sections(text)}
    assert names >= {"dbt", "airflow", "dagster", "direct", "when-not-to-take-omd"}


@pytest.mark.parametrize("document", ["SECURITY.md", "SUPPORT.md"])
def test_each_address_is_made_from_that_of_the_project(document: str) -> None:
    found = ADDRESS.findall((ROOT / document).read_text(encoding="utf-8"))
    assert found
    assert [address for address in found if not address.startswith(home() + "/")] == []


def test_each_decision_has_its_context_and_its_costs() -> None:
    pages = sorted(DECISIONS.glob("[0-9]*.md"))
    assert len(pages) >= 15
    index = (DECISIONS / "index.md").read_text(encoding="utf-8")
    for number, page in enumerate(pages, 1):
        text = page.read_text(encoding="utf-8")
        titles = [title for _, _, title in headings(text)]
        assert titles[1:] == ["Context", "Decision", "Costs"], page
        assert page.name.startswith(f"{number:03d}-"), page
        assert titles[0].startswith(f"{number:03d}. "), page
        assert f"[{titles[0]}]({page.name})" in index, page
