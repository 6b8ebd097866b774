"""The tutorial of the DBA prints the same in a database in which it has run before."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/tutorial/dba.md"
BLOCK = re.compile(r"^```sql\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def printed(dsn: str, text: str) -> str:
    return subprocess.run(
        ["psql", "--no-psqlrc", "--quiet", dsn],
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    ).stdout


def test_the_tutorial_of_the_dba_prints_the_same_again(dsn: str) -> None:
    text = "\n".join(BLOCK.findall(PAGE.read_text(encoding="utf-8")))
    first = printed(dsn, text)
    assert "m_low_stock" in first
    assert printed(dsn, text) == first
    printed(dsn, text[: text.index("SET ROLE tutorial_watcher")])  # it is left half-way
    assert printed(dsn, text) == first
