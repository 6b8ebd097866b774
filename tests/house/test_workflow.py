"""The workflow for who forks the repository holds no logic of its own: it calls make."""

from __future__ import annotations

import re
from pathlib import Path

from support.offenders import assert_none

ROOT = Path(__file__).parents[2]


def test_it_only_calls_targets_of_make() -> None:
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (targets,) = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    runs = re.findall(r"run: (.*)", workflow)
    assert len(runs) == 3
    assert_none(
        (run, "is no target of the Makefile")
        for run in runs
        if not re.fullmatch(rf"make ({'|'.join(targets.split())})( [A-Z]+=\w+)*", run)
    )
