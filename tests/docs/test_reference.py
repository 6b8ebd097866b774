"""The generated reference, calls and rows agree with the catalog of the database."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
GENERATOR = ROOT / "tools" / "generate.py"


def check(dsn: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, GENERATOR, "--check", "--dsn", dsn],
        check=False,
        capture_output=True,
        text=True,
    )


def test_the_committed_files_are_up_to_date(dsn):
    done = check(dsn)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_check_sees_a_changed_comment(dsn, conn):
    conn.execute("COMMENT ON PROCEDURE omd.begin_batch IS 'Changed.'")
    done = check(dsn)
    assert done.returncode == 1
    assert "+Changed." in done.stdout  # the reference
    assert '+        """Changed."""' in done.stdout  # the calls


def test_every_link_leads_somewhere():
    documents = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    assert len(documents) > 5
    for document in documents:
        text = document.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)]+)\)|(?:src|href)=\"([^\"]+)\"", text):
            link = target[0] or target[1]
            if link.startswith(("http://", "https://")):
                continue
            path, _, anchor = link.partition("#")
            file = (document.parent / path).resolve() if path else document
            assert file.exists(), f"{document.name}: {link}"
            if anchor and file.suffix == ".md":
                assert anchor in anchors(file), f"{document.name}: {link}"


def anchors(file: Path) -> set[str]:
    """Return the anchors that GitHub makes of headings."""
    headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
