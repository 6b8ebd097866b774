"""What `make release` refuses, and in which order; what `make dist` builds.

Each test has a clone of this repository in which it may commit. `.ci/run`, the build and the dump
are replaced by other commands, except where the test is about them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import contract
import dist
import metadata_hook

ROOT = Path(__file__).parents[2]
VERSION = json.loads(contract.API.read_text())["version"]
HOME = "https://pgomd.invalid/omd"


class Clone:
    """A repository with the files of this one, committed as they are in the working tree."""

    def __init__(self, root: Path) -> None:
        self.root = root
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        for name in filter(None, listed.split("\0")):
            source, target = ROOT / name, root / name
            if name.startswith(("tests/", "docs/how-to", "procedures/")) or not source.is_file():
                continue  # nothing here reads them
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
        self.git("init", "-q")
        self.edit("pyproject.toml", HOME, "https://git.example.org/omd")
        self.commit()

    def git(self, *arguments: str) -> None:
        names = ("-c", "user.name=omd", "-c", "user.email=omd@example.org")
        subprocess.run(["git", *names, *arguments], cwd=self.root, check=True)

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", "what is checked", "--allow-empty")

    def edit(self, name: str, old: str, new: str) -> None:
        file = self.root / name
        assert old in file.read_text(), (name, old)
        file.write_text(file.read_text().replace(old, new))

    def write(self, name: str, text: str) -> None:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def release(self, version: str = VERSION, **commands: str) -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ,
            **{
                f"OMD_RELEASE_{name}": commands.get(name, "true") for name in ("CI", "DIST", "KEEP")
            },
        }
        return subprocess.run(
            [sys.executable, "tools/release.py", version],
            cwd=self.root, env=environment, check=False, capture_output=True, text=True,
        )  # fmt: skip


@pytest.fixture
def clone(tmp_path):
    return Clone(tmp_path / "clone")


def refused(done, text):
    assert done.returncode == 1
    assert done.stderr.startswith("make release: ")
    assert text in done.stderr
    assert done.stdout == ""


def test_what_passes_every_check_gets_the_steps_of_a_person(clone):
    done = clone.release(KEEP="touch kept")
    assert (done.returncode, done.stderr) == (0, "")
    assert (clone.root / "kept").exists()
    for told in ("git tag -s v", "trusted", "attestations", "mike deploy", "SHA256SUMS"):
        assert told in done.stdout
    assert subprocess.run(
        ["git", "tag"], cwd=clone.root, check=True, capture_output=True, text=True
    ).stdout == ""  # fmt: skip


def test_a_tree_that_is_not_clean_is_refused(clone):
    clone.write("new.txt", "")
    refused(clone.release(), "the tree is not clean. Commit this first:\n?? new.txt")
    clone.commit()
    clone.edit("README.md", "OMD", "OMDX")
    refused(clone.release(), "M README.md")


@pytest.mark.parametrize("version", ["", "1.0", "v1.0.0", "9.9.9"])
def test_another_version_is_refused(clone, version):
    refused(clone.release(version), "not 9.9.9" if version == "9.9.9" else "say which version")


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (f"## {VERSION} (2", "## 0.9.0 (2", f"no section of {VERSION}"),
        (f"## {VERSION} (2", f"## {VERSION} (not 2", "has no date"),
    ],
)
def test_a_changelog_without_a_dated_section_is_refused(clone, old, new, text):
    clone.edit("CHANGELOG.md", old, new)
    clone.commit()
    refused(clone.release(), text)


def test_a_fragment_that_is_left_is_refused(clone):
    clone.write("changes/40.added.md", "Something is new.\n")
    clone.commit()
    refused(clone.release(), "changes/ still has 40.added.md")


def test_a_contract_of_another_version_is_refused(clone):
    clone.edit("docs/reference/api.json", f'"version": "{VERSION}"', '"version": "0.9.0"')
    clone.commit()
    refused(clone.release(), "api.json is of 0.9.0")


def test_a_broken_contract_is_refused(clone):
    kept = json.loads((clone.root / "docs/reference/api.json").read_text())
    kept["errors"]["OM000"] = "NeverThere"
    clone.write("tests/install/released/1.0.0.api.json", json.dumps(kept))
    clone.commit()
    refused(clone.release(), "1.0.0: errors: OM000 is gone")


def test_an_address_that_nobody_finds_is_refused(clone):
    clone.edit("pyproject.toml", "https://git.example.org/omd", HOME)
    clone.commit()
    refused(clone.release(), f"[tool.pgomd] home in pyproject.toml is {HOME}")


def test_checks_that_fail_and_a_build_that_fails_are_refused(clone):
    refused(clone.release(CI="false"), "it does not pass its checks (.ci/run)")
    refused(clone.release(CI="touch left"), "the tree is not clean")
    (clone.root / "left").unlink()
    refused(clone.release(DIST="false"), "it can't be built (make dist)")
    refused(clone.release(KEEP="false"), "could not be kept")


def test_the_checks_are_made_in_their_order(clone):
    """The first one that fails is told, and the costly ones come last."""
    clone.write("changes/40.added.md", "Something is new.\n")
    clone.edit("docs/reference/api.json", f'"version": "{VERSION}"', '"version": "0.9.0"')
    clone.edit("pyproject.toml", "https://git.example.org/omd", HOME)
    ran = {"CI": "touch ran", "DIST": "touch ran"}
    refused(clone.release("9.9.9", **ran), "not clean")
    clone.commit()
    refused(clone.release("9.9.9", **ran), "not 9.9.9")
    refused(clone.release(**ran), "changes/ still has")
    (clone.root / "changes/40.added.md").unlink()
    clone.commit()
    refused(clone.release(**ran), "api.json is of 0.9.0")
    clone.edit("docs/reference/api.json", '"version": "0.9.0"', f'"version": "{VERSION}"')
    clone.commit()
    refused(clone.release(**ran), "home in pyproject.toml")
    assert not (clone.root / "ran").exists()


# Links ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a](docs/a.md)", "[a](H/blob/v1.0.0/docs/a.md)"),
        ("[a](a.md#b), [c](D).", "[a](H/blob/v1.0.0/a.md#b), [c](H/blob/v1.0.0/D)."),
        ("[a](#lake)", "[a](H/blob/v1.0.0/README.md#lake)"),
        ("![a picture](docs/a.svg)", "![a picture](H/raw/v1.0.0/docs/a.svg)"),
        ("[a](https://x.org/)", "[a](https://x.org/)"),
        ("<img src=\"docs/a.png\">", "<img src=\"H/raw/v1.0.0/docs/a.png\">"),
        ("```\nrows[0](x)\n```\n[a](b.md)", "```\nrows[0](x)\n```\n[a](H/blob/v1.0.0/b.md)"),
        ("[how\nit](a.md)", "[how\nit](H/blob/v1.0.0/a.md)"),
    ],
)  # fmt: skip
def test_links_become_absolute_and_code_stays(text, expected):
    assert metadata_hook.absolute(text, "H", "1.0.0") == expected


# Build ------------------------------------------------------------------------------------------


def test_what_is_built_is_checked(wheel):
    """With all files that are committed it is right; with one more, or less, it is not."""
    files = dist.tracked()
    assert list(dist.wheel_problems(wheel, files)) == []
    for name in ("procedures/omd/more.sql", "sql/views/omd/more.sql", "driver/omd/more.py"):
        assert len(list(dist.wheel_problems(wheel, [*files, name]))) == 1
        assert dist.wheel_problems(wheel, [f for f in files if not f.endswith("begin_module.sql")])
    fewer = [f for f in files if f != "procedures/omd/runs/begin_module.sql"]
    assert list(dist.wheel_problems(wheel, fewer)) == [
        "the wheel has procedures/omd/runs/begin_module.sql"
    ]


def test_builds_that_differ_are_seen(tmp_path):
    for folder, text in (("a", "1"), ("b", "2")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.tar.gz").write_text(text)
    dist._compare(tmp_path / "a", tmp_path / "a")
    with pytest.raises(dist.Failed, match=r"two builds of x\.tar\.gz differ"):
        dist._compare(tmp_path / "a", tmp_path / "b")


def test_make_dist_builds_the_same_twice(tmp_path):
    """It is called as a person calls it, in a clone, with an environment of its own."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)
    done = subprocess.run(["make", "dist"], cwd=clone, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    found = sorted(file.name for file in (clone / "dist").iterdir())
    assert found == [
        "SHA256SUMS", f"pgomd-{VERSION}-py3-none-any.whl", f"pgomd-{VERSION}.cdx.json",
        f"pgomd-{VERSION}.tar.gz",
    ]  # fmt: skip
    subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=clone / "dist", check=True)
    bill = json.loads((clone / f"dist/pgomd-{VERSION}.cdx.json").read_text())
    assert bill["bomFormat"] == "CycloneDX"
    assert {"click", "msgspec", "psycopg", "PyYAML"} <= {c["name"] for c in bill["components"]}
    assert [c["name"] for c in bill["components"] if not c.get("licenses")] == []
    assert str(tmp_path) not in json.dumps(bill)
