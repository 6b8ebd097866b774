"""Each package that we depend on has two bounds, and the locked version is within them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from support.offenders import assert_none

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
CONSTRAINTS = (ROOT / "constraints.txt").read_text()
LOCKED = {
    canonicalize_name(name): Version(version)
    for name, version in re.findall(r"(?m)^([\w.-]+)(?:\[.*\])?==([\w.]+)", CONSTRAINTS)
}


def requirements():
    extras = PROJECT["project"]["optional-dependencies"].values()
    for text in [
        *PROJECT["build-system"]["requires"],
        *PROJECT["project"]["dependencies"],
        *(text for extra in extras for text in extra),
    ]:
        requirement = Requirement(text)
        if requirement.name != "pgomd":
            yield requirement


def problems(requirement, locked):
    """Yield what is wrong with the bounds of a requirement, whose locked version is given."""
    bounds = {specifier.operator: Version(specifier.version) for specifier in requirement.specifier}
    if set(bounds) != {">=", "<"}:
        yield "it needs a lower bound (>=) and an upper one (<)"
    elif locked is None:
        yield "constraints.txt has it not"
    else:
        if not bounds[">="] <= locked < bounds["<"]:
            yield f"constraints.txt has {locked}"
        major, minor, *_ = *locked.release, 0, 0
        following = Version(f"{major + 1}") if major else Version(f"0.{minor + 1}")
        if bounds["<"] != following:
            yield f"the upper bound is not {following}"


def test_each_dependency_has_a_lower_and_an_upper_bound():
    assert_none(
        (str(requirement), problem)
        for requirement in requirements()
        for problem in problems(requirement, LOCKED.get(canonicalize_name(requirement.name)))
    )


@pytest.mark.parametrize(
    ("requirement", "locked", "wrong"),
    [
        ("a>=1.2,<2", "1.9", ""),
        ("a>=0.2,<0.10", "0.9.1", ""),
        ("a>=1.2,<3", "2.0", ""),
        ("a", "1.0", "needs a lower bound"),
        ("a>=1.2", "1.9", "needs a lower bound"),
        ("a<2", "1.9", "needs a lower bound"),
        ("a>=1.2,<3", "1.9", "is not 2"),
        ("a>=0.2,<1", "0.9", "is not 0.10"),
        ("a>=2,<3", "1.9", "has 1.9"),
        ("a>=2,<3", None, "has it not"),
    ],
)
def test_bounds_that_are_wrong_are_seen(requirement, locked, wrong):
    version = None if locked is None else Version(locked)
    found = list(problems(Requirement(requirement), version))
    assert any(wrong in problem for problem in found) if wrong else found == []


def test_the_core_has_four_dependencies():
    assert len(PROJECT["project"]["dependencies"]) == 4


def test_each_locked_package_has_hashes_and_no_address():
    blocks = re.split(r"(?m)^(?=[\w.-]+(?:\[.*\])?==)", CONSTRAINTS)[1:]
    assert len(blocks) > 100
    assert [block for block in blocks if "--hash=sha256:" not in block] == []
    assert re.findall(r"https?://\S+|--(?:extra-)?index-url|--find-links", CONSTRAINTS) == []


def test_all_tests_can_be_collected_where_make_test_runs():
    extras = PROJECT["project"]["optional-dependencies"]
    more, there = (
        {re.sub("-", "_", Requirement(text).name) for name in names for text in extras[name]}
        for names in (("flights", "demo", "docs", "dev"), ("test",))
    )
    assert_none(
        (file.relative_to(ROOT).as_posix(), package)
        for folder in ("driver", "tests")
        for file in sorted((ROOT / folder).rglob("*.py"))
        if "benchmarks" not in file.parts
        for package in re.findall(r"(?m)^(?:import|from) (\w+)", file.read_text(encoding="utf-8"))
        if package in more - there - {"pgomd", "pyspark"}
    )
