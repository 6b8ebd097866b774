"""Checks that a version may be released, keeps what later tests need of it, and says what to do.

``make release VERSION=1.0.0`` calls it. It publishes nothing: the last steps are a person's. The
checks, in this order; the first one that fails ends it:

1. The tree is clean: what is checked is what is committed.
2. The version of sql/setup/release.psql is the one that was asked for.
3. CHANGELOG has its section with a date, and no fragment is left in changes/.
4. The contract: docs/reference/api.json is of this version, and breaks no released one.
5. The address of the project is known (``[tool.pgomd] home``).
6. ``.ci/run`` passes, on this commit.
7. ``make dist``.

OMD_RELEASE_CI, OMD_RELEASE_DIST and OMD_RELEASE_KEEP name other commands for the last ones, for
tests of this program.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

import contract
import metadata_hook

ROOT = Path(__file__).resolve().parents[1]
VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")

STEPS = """
{version} may be released. What is left is for a person:

1. Commit what was kept:
       git add tests/install/released docs/reference driver/omd/_core/since.py
       git commit -m 'What {version} has promised is kept'
2. Tag what was built, and push the tag:
       git tag -s v{version} {commit} -m 'pgomd {version}'
       git push origin v{version}
3. Publish dist/*.whl and dist/*.tar.gz from the job that is registered at the index as trusted
   publisher of pgomd, with attestations; no token is kept anywhere. Compare its files with
   dist/SHA256SUMS first.
4. Publish the site of this version:
       mike deploy --push --update-aliases {minor} latest
5. Attach dist/SHA256SUMS and dist/pgomd-{version}.cdx.json to the release on the Git host, with the
   section of CHANGELOG as its text.
"""


class Refused(Exception):  # noqa: N818 - it is no error of the program
    """The version may not be released, for this reason."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Check, keep, and print the steps."""
    version = (list(sys.argv[1:] if arguments is None else arguments) or [""])[0]
    checks = (_clean, _version, _changelog, _contract, _home, _ci, _dist, _keep)
    commit = ""
    for check in checks:
        try:
            check(version)
            commit = commit or _git("rev-parse", "HEAD").strip()
        except Refused as refused:
            print(f"make release: {refused}", file=sys.stderr)
            return 1
    minor = version.rpartition(".")[0]
    print(STEPS.format(version=version, commit=commit[:12], minor=minor))
    return 0


def _clean(_version: str) -> None:
    if changed := _git("status", "--porcelain").strip():
        raise Refused(f"the tree is not clean. Commit this first:\n{changed}")


def _version(version: str) -> None:
    if not VERSION.fullmatch(version):
        raise Refused("say which version: make release VERSION=1.0.0")
    text = (ROOT / "sql/setup/release.psql").read_text(encoding="utf-8")
    told = re.findall(r"(?m)^\\set version '(.*)'$", text)
    if told != [version]:
        raise Refused(f"sql/setup/release.psql says {', '.join(told)}, not {version}.")


def _changelog(version: str) -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    head = re.search(rf"(?m)^## {re.escape(version)}(.*)$", text)
    if head is None:
        raise Refused(f"CHANGELOG has no section of {version}: towncrier build --version {version}")
    if not re.fullmatch(r" \([0-9]{4}-[0-9]{2}-[0-9]{2}\)", head[1]):
        raise Refused(f"the section of {version} in CHANGELOG has no date: {head[0]}")
    left = sorted(file.name for file in (ROOT / "changes").glob("*.*.md"))
    if left:
        raise Refused(f"changes/ still has {', '.join(left)}: towncrier build --version {version}")


def _contract(version: str) -> None:
    present = json.loads(contract.API.read_text(encoding="utf-8"))
    if present["version"] != version:
        raise Refused(
            f"docs/reference/api.json is of {present['version']}, not {version}: make generate"
        )
    broken = [
        f"{one['version']}: {what}"
        for one in contract.released()
        for what in contract.breaks(one, present)
    ]
    if broken:
        raise Refused("the contract of a released version is broken:\n" + "\n".join(broken))


def _home(_version: str) -> None:
    home = metadata_hook.home(ROOT)
    host = urlsplit(home).hostname or ""
    if not host or host.split(".")[-1] in ("invalid", "example", "test", "localhost"):
        raise Refused(f"[tool.pgomd] home in pyproject.toml is {home}, where nobody finds it.")


def _ci(_version: str) -> None:
    _run("OMD_RELEASE_CI", "bash .ci/run", "it does not pass its checks (.ci/run)")
    _clean("")


def _dist(_version: str) -> None:
    _run("OMD_RELEASE_DIST", f"{sys.executable} tools/dist.py", "it can't be built (make dist)")


def _keep(version: str) -> None:
    _run(
        "OMD_RELEASE_KEEP",
        f".venv/bin/python tools/keep_release.py {version}",
        "what it installs could not be kept",
    )


def _run(name: str, command: str, problem: str) -> None:
    done = subprocess.run(shlex.split(os.environ.get(name, command)), cwd=ROOT, check=False)
    if done.returncode:
        raise Refused(f"{problem}.")


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refused(done.stderr.strip())
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
