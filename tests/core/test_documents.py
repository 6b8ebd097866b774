"""Documents are bounded before anything walks over them, by their path and with OM030."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from omd._core.documents import MAX_BYTES, MAX_DEPTH, problem_of
from omd.errors import lookup
from omd.programs.cli.documents.lineage import read_topics
from omd.programs.terminal.yaml_file import read_document, read_json

if TYPE_CHECKING:
    from collections.abc import Callable


def chain(item: str, times: int) -> str:
    """Return a YAML document in which each anchor uses the one before so often."""
    lines = [f"a{n}: &a{n} {item.format(*[f'*a{n - 1}'] * times)}\n" for n in range(1, 60)]
    return "a0: &a0 [1]\n" + "".join(lines)


OUT_OF_BOUNDS = {
    "aliases": (chain("[{}, {}]", 2), "a18", "aliases written out"),
    "merged": (chain("{{<<: [{}, {}]}}", 2).replace("&a0 [1]", "&a0 {k: 1}"), ".<<", "aliases"),
    "a chain": (chain("[{}]", 1).replace("a59", "b") + "\n".join(
        f"c{n}: &c{n} [*{f'c{n - 1}' if n else 'a58'}]" for n in range(3000)), "c", "64 deep"),
    "flow": ("a: " + "{a: " * 3000 + "1" + "}" * 3000, "a.a.a", "64 deep"),
    "block": ("".join(" " * n + "a:\n" for n in range(3000)), "a.a.a", "64 deep"),
    "lists": ("a: " + "[" * 3000, "a[0][0]", "64 deep"),
    "null": ('facts: {a: {"b": ["c\\0"]}}', "facts.a.b[0]", "U+0000"),
    "a key": ('facts: {a: {"b\\0": 1}}', "facts.a", "U+0000"),
    "anchors": ("a:\n" + "".join(f"- &a{n} x\n" for n in range(10_001)), "a[10000]", "anchors"),
    "many aliases": ("a: &a x\nb:\n" + "- *a\n" * 10_000, "b[9999]", "anchors and aliases"),
    "merge keys": ("a:\n" + "- {<<: {x: 1}}\n" * 10_001, "a[10000]", "merge keys"),
    "an integer": (f"facts: {{a: [0, -{'9' * 1000}]}}", "facts.a[1]", "digits"),
    "a long one": (f"facts: {{a: [0, {'9' * 6000}]}}", "facts.a[1]", "digits"),
    "surrogate": ('facts: {a: "\\uD800"}', "facts.a", "surrogate"),
}  # fmt: skip


@pytest.mark.parametrize("read", [read_document, lambda path: read_topics([path])])
@pytest.mark.parametrize("case", OUT_OF_BOUNDS)
def test_yaml_is_bounded(tmp_path: Path, case: str, read: Callable[[Path], Any]) -> None:
    text, path, problem = OUT_OF_BOUNDS[case]
    file = tmp_path / "x.yaml"
    file.write_text(text)
    with pytest.raises(lookup("OM030")) as caught:
        read(file)
    error = caught.value
    assert error.sqlstate == "OM030"
    assert path in error.detail["path"]
    assert problem in error.detail["problem"]
    assert f"{file}:" in str(error)
    assert len(str(error)) < 500


def test_json_is_bounded(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    for text, path in (
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", ""),
        ('{"a": ' + "[" * 100 + "]" * 100 + "}", "a[0][0]"),
        ('{"a": ["\\ud83d\\ude00", {"b\\u0000": 1}]}', "a[1].b\\x00"),
        ('{"a": "\\ude00\\ud83d"}', "a"),
        ('"' + "x" * MAX_BYTES + '"', ""),
        (f'{{"a": [0, -{"9" * 6000}]}}', "a[1]"),
        (f'{{"a": [0, {"9" * 1001}]}}', "a[1]"),
    ):
        file.write_text(text)
        with pytest.raises(lookup("OM030")) as caught:
            read_json(file)
        assert caught.value.detail["path"].startswith(path)
    file.write_text('{"a": ["\\ud83d\\ude00"]}')
    assert read_json(file) == {"a": ["😀"]}


def test_what_is_within_bounds_is_read(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    text = "a: &a {k: [1, 2]}\nb: {<<: *a, c: *a}\nd: " + "[" * 62 + "]" * 62
    file.write_text(text)
    read = read_document(file)
    document, lines = read.value, read.lines
    assert document["b"] == {"k": [1, 2], "c": {"k": [1, 2]}}
    assert lines["b.c.k[1]"] == 1
    assert problem_of(document) is None
    file.write_text(text.replace("d: ", "d: [[") + "]]")
    assert problem_of(json.loads("[" * MAX_DEPTH + "]" * MAX_DEPTH)) is None
    with pytest.raises(lookup("OM030")):
        read_document(file)
    file.write_text(f"a: {'9' * 1000}\nb: 0x{'f' * 998}\nc: '{'9' * 6000}'")
    assert read_document(file).value["a"] == 10**1000 - 1
