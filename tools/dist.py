"""Builds what is released, in dist/, and checks it: ``make dist`` calls it.

What is committed is built twice, in two new folders, with the time of the commit as
SOURCE_DATE_EPOCH: a byte that differs is a failure. From the sdist the same wheel is built. Then
twine and check-wheel-contents look at it, and SHA256SUMS and the list of components (CycloneDX:
what the core requires, as constraints.txt locks it) are written beside it.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MOST = 3_000_000  # bytes of the wheel

# What may be in neither: what a run of ours leaves behind.
_CACHES = re.compile(r"(^|/)(__pycache__|\.\w+_cache|\.omd|\.venv)/|\.py[co]$")
# What the wheel has of the checkout, by the folder in it.
WHEEL = {
    "driver/omd/": "omd/",
    "integrations/dbt/": "omd/_dbt/",
    "migrations/": "omd/_sql/migrations/",
    "sql/": "omd/_sql/sql/",
    "docs/reference/api.json": "omd/api.json",
    "docs/reference/former.tsv": "omd/former.tsv",
    "docs/tutorial/": "omd/_pages/docs/tutorial/",
    "docs/how-to/delivery/run-a-delivery-by-hand.md": (
        "omd/_pages/docs/how-to/delivery/run-a-delivery-by-hand.md"
    ),
}


class Failed(Exception):  # noqa: N818 - it is no error of the program
    """The build is not to be released, for this reason."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Build and check; print what is in dist/."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="the folder (dist)")
    out: Path = parser.parse_args(arguments).out
    try:
        wheel, sdist = build(out)
        _refuse([*wheel_problems(wheel, tracked()), *sdist_problems(sdist, tracked())])
        _run("twine", "check", "--strict", wheel, sdist)
        # W002: two files that are empty, or say the same, are two files here.
        # W004: a migration is a file of SQL and not a module.
        _run("check_wheel_contents", "--ignore", "W002,W004", wheel)
        name, version = wheel.name.split("-")[:2]
        bill = out / f"{name}-{version}.cdx.json"
        bill.write_text(json.dumps(components(version), indent=2, ensure_ascii=False) + "\n")
        _sums(out, [wheel, sdist, bill])
    except Failed as failed:
        print(f"make dist: {failed}", file=sys.stderr)
        return 1
    for file in sorted(out.iterdir()):
        print(f"{file.stat().st_size:>10,}  {file.name}")
    return 0


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise Failed("\n".join(problems))


# Build ------------------------------------------------------------------------------------------


def build(out: Path) -> tuple[Path, Path]:
    """Build what is committed twice, and the wheel from the sdist; leave one of each."""
    if _git("status", "--porcelain").strip():
        print("make dist: built is what is committed, not what is changed since.", file=sys.stderr)
    epoch = _git("log", "-1", "--format=%ct").strip()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        folders = [Path(first) / "one", Path(second) / "another/path"]
        for folder in folders:
            _archived(folder)
            _build(folder, folder / "dist", epoch, "--sdist", "--wheel")
        _compare(folders[0] / "dist", folders[1] / "dist")
        (sdist,) = (folders[0] / "dist").glob("*.tar.gz")
        unpacked = Path(second) / "unpacked"
        with tarfile.open(sdist) as archive:
            archive.extractall(unpacked, filter="data")
        (source,) = unpacked.iterdir()
        _build(source, unpacked / "dist", epoch, "--wheel")
        (wheel,) = (folders[0] / "dist").glob("*.whl")
        if wheel.read_bytes() != (unpacked / "dist" / wheel.name).read_bytes():
            raise Failed(f"the wheel that is built from the sdist differs: {wheel.name}")
        return Path(shutil.copy(wheel, out)), Path(shutil.copy(sdist, out))


def _archived(folder: Path) -> None:
    """Put what is committed into a folder."""
    folder.mkdir(parents=True)
    command = ["git", "archive", "HEAD"]
    with (
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as git,
        tarfile.open(fileobj=git.stdout, mode="r|") as archive,
    ):
        archive.extractall(folder, filter="data")
    if git.returncode:
        raise Failed("git archive has failed")


def _build(folder: Path, out: Path, epoch: str, *kinds: str) -> None:
    environment = {**os.environ, "SOURCE_DATE_EPOCH": epoch}
    command = [sys.executable, "-m", "build", "--no-isolation", *kinds, "--outdir", str(out), "."]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Failed(done.stdout + done.stderr)


def _compare(one: Path, other: Path) -> None:
    names = sorted(file.name for file in one.iterdir())
    if names != sorted(file.name for file in other.iterdir()):
        raise Failed("two builds have files of other names")
    for name in names:
        if (one / name).read_bytes() != (other / name).read_bytes():
            raise Failed(f"two builds of {name} differ: {', '.join(_differing(one, other, name))}")


def _differing(one: Path, other: Path, name: str) -> Iterator[str]:
    if name.endswith(".whl"):
        with zipfile.ZipFile(one / name) as a, zipfile.ZipFile(other / name) as b:
            for member in sorted({*a.namelist(), *b.namelist()}):
                both = member in a.namelist() and member in b.namelist()
                if not both or a.read(member) != b.read(member):
                    yield member
    else:
        yield "see both with diffoscope"


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(done.stderr.strip())
    return done.stdout


# Content ----------------------------------------------------------------------------------------


def tracked() -> list[str]:
    """Return the files that are committed."""
    return [name for name in _git("ls-tree", "-rz", "--name-only", "HEAD").split("\0") if name]


def wheel_problems(wheel: Path, files: Iterable[str]) -> Iterator[str]:
    """Yield what the wheel lacks or should not have."""
    size = wheel.stat().st_size
    if size >= MOST:
        yield f"the wheel has {size:,} bytes; it has to be under {MOST:,}"
    name, version = wheel.name.split("-")[:2]
    info = f"{name}-{version}.dist-info"
    expected = {
        to + file.removeprefix(folder)
        for file in files
        for folder, to in WHEEL.items()
        if file.startswith(folder) and (folder.startswith("docs/") or not file.endswith(".md"))
    }
    expected |= {
        f"{name}-{version}.data/data/share/omd/{file.removeprefix('share/')}"
        for file in files
        if file.startswith("share/")
    }
    expected |= {
        f"{info}/{file}"
        for file in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")
    }
    packed = "omd/_sql/procedures.zip"
    expected |= {"omd/py.typed", "omd/api.json", packed}
    routines = {file for file in files if file.startswith("procedures/")}
    with zipfile.ZipFile(wheel) as archive:
        found = set(archive.namelist())
        if packed in found:
            with zipfile.ZipFile(io.BytesIO(archive.read(packed))) as inner:
                had = set(inner.namelist())
            yield from (f"the wheel lacks {file}" for file in sorted(routines - had))
            yield from (f"the wheel has {file}" for file in sorted(had - routines))
    yield from (f"the wheel lacks {file}" for file in sorted(expected - found))
    yield from (f"the wheel has {file}" for file in sorted(found - expected))


def sdist_problems(sdist: Path, files: Iterable[str]) -> Iterator[str]:
    """Yield what the sdist lacks or should not have."""
    with tarfile.open(sdist) as archive:
        found = {name.partition("/")[2] for name in archive.getnames()}
    outside = (".ci/", ".github/", ".gitignore")
    yield from (
        f"the sdist lacks {file}"
        for file in files
        if file not in found and not file.startswith(outside)
    )
    allowed = {*files, "PKG-INFO", ".gitignore", "pyproject.toml"}
    yield from (
        f"the sdist has {file}"
        for file in sorted(found)
        if file not in allowed or _CACHES.search(file)
    )


# What is beside it ------------------------------------------------------------------------------


def components(version: str) -> dict[str, Any]:
    """Return the core and what it requires, as constraints.txt locks it, in CycloneDX."""
    with tempfile.TemporaryDirectory() as folder:
        environment = Path(folder) / "core"
        python = environment / "bin/python"
        for command in (
            ["venv", "-q", "--clear", "-p", sys.executable, environment],
            ["pip", "install", "-q", "-p", python, "-c", ROOT / "constraints.txt",
             "-r", ROOT / "pyproject.toml"],
        ):  # fmt: skip
            _run("uv", *command)
        bill = Path(folder) / "bill.json"
        _run(
            "cyclonedx_py", "environment", "--output-reproducible", "--of", "JSON",
            "--pyproject", ROOT / "pyproject.toml", "-o", bill, python,
        )  # fmt: skip
        found: dict[str, Any] = json.loads(bill.read_text(encoding="utf-8"))
    root = found["metadata"]["component"]
    root["version"] = version  # which stands in no file that the program reads
    root["purl"] = f"pkg:pypi/{root['name']}@{version}"
    return found


def _sums(out: Path, files: Iterable[Path]) -> None:
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (out / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def _run(module: str, *arguments: str | Path) -> None:
    command = [sys.executable, "-m", module, *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"{module} {arguments[0]}: {done.stdout}{done.stderr}")


if __name__ == "__main__":
    sys.exit(main())
