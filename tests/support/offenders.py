"""What a rule of the house finds is listed whole: pytest cuts a comparison after a few lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable


def assert_none(offenders: Iterable[tuple[str, str]]) -> None:
    """Fail with one line for each offender: where it is, and what is wrong with it."""
    lines = [f"{where}: {what}" for where, what in offenders]
    if lines:
        pytest.fail(f"{len(lines)} found\n" + "\n".join(lines), pytrace=False)
