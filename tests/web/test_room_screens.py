"""The screens of the rooms: queue, deliveries, facts, decisions, recalls, lake, log and search."""

from __future__ import annotations

import pytest

PATHS = (
    "/queue", "/task/1", "/deliveries", "/delivery/1", "/facts/nyc/flights", "/stage/s",
    "/decisions/1", "/recall/1", "/lake", "/log", "/find?q=x", "/find",
)  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_each_screen_of_an_empty_database(page, path):
    answer = page.get(path)
    print(answer.text)
    assert answer.status == 200
