"""The examples of the documents are run; some folders have a file of their own beside this one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from docs.examples import (
    DEMO_TUTORIAL,
    blocks,
    pattern,
    play,
    test_a_page_shows_what_happens,
)

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["test_a_page_shows_what_happens"]


@pytest.mark.spark
@pytest.mark.slow
def test_the_tutorial(demo_from_wheel: tuple[str, str], tmp_path: Path) -> None:
    dsn, told = demo_from_wheel
    for block in [*blocks("README.md"), *blocks(DEMO_TUTORIAL)]:
        if block.kind == "text demo":
            assert re.search(pattern(block.text), told), f"{block}\nin\n{told}"
    assert play(DEMO_TUTORIAL, dsn, tmp_path) > 5
