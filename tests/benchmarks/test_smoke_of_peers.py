"""Each comparison with peers ends without an error at its smallest size."""

from __future__ import annotations

import pytest

from support.benchmarks import cases, play


@pytest.mark.parametrize("name", list(cases(of_peers=True)))
def test_it_ends_without_an_error(name: str, server: str) -> None:
    play(name, server)
