"""An environment with what an extra names, and nothing else: made of what is installed here.

`make setup` has installed all extras. Here the packages of one of them, and those that they need,
are linked into a virtual environment of their own; so no registry is asked.
"""

from __future__ import annotations

import re
import site
import subprocess
import sys
from collections import defaultdict
from importlib.metadata import Distribution, distributions
from pathlib import Path

import tomllib
from packaging.requirements import Requirement

from support.environments import ROOT, Environment

OURS = "pgomd"
PROGRAM = """\
#!{python}
from omd.programs.cli.main import main
main()
"""


def environment(extra: str, folder: Path) -> Environment:
    """Return a virtual environment with OMD and the packages of an extra; '' is the core."""
    found = {_name(d.metadata["Name"]): d for d in distributions()}
    wanted: dict[str, set[str]] = defaultdict(set)
    _need(found, OURS, {extra} if extra else set(), wanted)
    owners: dict[str, set[str]] = defaultdict(set)
    for name, one in found.items():
        for file in one.files or ():
            owners[file.parts[0]].add(name)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    (packages,) = (folder / "venv/lib").glob("python*/site-packages")
    here = Path(next(p for p in site.getsitepackages() if p.endswith("site-packages")))
    for name in set(wanted) - {OURS}:
        for file in found[name].files or ():
            top = file.parts[0]
            if top in ("..", "__pycache__"):
                continue
            part = Path(top) if owners[top] <= set(wanted) else Path(*file.parts)
            target = packages / part
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(here / part)
    (packages / "omd.pth").write_text(f"{ROOT / 'driver'}\n")
    (packages / f"{OURS}.dist-info").symlink_to(_folder(found[OURS]))
    program = folder / "venv/bin/omd"
    program.write_text(PROGRAM.format(python=folder / "venv/bin/python"), encoding="utf-8")
    program.chmod(0o755)
    return Environment(folder / "venv", folder)


def _need(
    found: dict[str, Distribution], name: str, extras: set[str], wanted: dict[str, set[str]]
) -> None:
    """Note a package and what it needs, with its extras."""
    if name in wanted and extras <= wanted[name]:
        return
    wanted[name] |= extras
    for text in _ours(extras) if name == OURS else found[name].requires or ():
        requirement = Requirement(text)
        needed = _name(requirement.name)
        given = [{"extra": extra} for extra in wanted[name]] or [{"extra": ""}]
        marker = requirement.marker
        if marker is None or any(marker.evaluate(one) for one in given):
            _need(found, needed, set(requirement.extras), wanted)


def _ours(extras: set[str]) -> list[str]:
    """Return what pyproject.toml says; what is installed may be older."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = project["optional-dependencies"]
    return [*project["dependencies"], *(text for extra in extras for text in named[extra])]


def _name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _folder(distribution: Distribution) -> Path:
    return Path(str(distribution.locate_file(""))) / next(
        file.parts[0] for file in distribution.files or () if file.parts[0].endswith(".dist-info")
    )
