"""After each tutorial every command that only reads works; here: none is forgotten."""

from __future__ import annotations

from demo.reading import ELSEWHERE, READING, WRITING, commands


def test_each_command_reads_or_writes() -> None:
    there = set(commands())
    reading = {*(name.split()[0] for name in READING), *ELSEWHERE}
    assert reading <= there
    writing = {name for name in there if name in WRITING or name.split()[0] in WRITING}
    assert reading | writing == there
    assert reading & writing == set()
