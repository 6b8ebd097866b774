"""Each benchmark ends without an error at its smallest size, and none is forgotten."""

from __future__ import annotations

import pytest

from support.benchmarks import HERE, cases, play, run


@pytest.mark.parametrize("name", list(cases(of_peers=False)))
def test_it_ends_without_an_error(name: str, server: str) -> None:
    play(name, server)


def test_every_script_is_run() -> None:
    files = [*HERE.glob("[a-z]*.py"), *(HERE / "peers").glob("[a-z]*.py")]
    scripts = {file.relative_to(HERE).with_suffix("").as_posix() for file in files}
    assert {s for s in scripts if not s.startswith("test_")} - {"run"} == set(run.BENCHMARKS)
