"""The environments of peers, of the versions that peers/locks names.

Run: ``python tests/benchmarks/bench/peers.py`` writes the lock files anew, with the
newest versions.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parents[1] / "peers"
LOCKS = HERE / "locks"
SIDES = HERE / "sides"
HOME = Path(__file__).parents[3] / ".environments"
UV = Path(sys.executable).with_name("uv")
NODE = ("package.json", "package-lock.json")


def is_installed(folder: Path, *locks: Path) -> bool:
    """Return whether a folder has what these lock files name; if not, make it empty."""
    stamp, wanted = folder / ".lock", hashlib.sha256(b"".join(f.read_bytes() for f in locks))
    if stamp.exists() and stamp.read_text() == wanted.hexdigest():
        return True
    shutil.rmtree(folder, ignore_errors=True)
    return False


def note(folder: Path, *locks: Path) -> None:
    """Note that a folder has what these lock files name."""
    wanted = hashlib.sha256(b"".join(f.read_bytes() for f in locks))
    (folder / ".lock").write_text(wanted.hexdigest())


def python_of(name: str) -> Path:
    """Return the Python that has the packages of a lock file; install them if it is not there."""
    folder, lock = HOME / f"peers-{name}", LOCKS / f"{name}.txt"
    python = folder / "bin" / "python"
    if not is_installed(folder, lock):
        print(f"Installing the packages of {lock.name} ...", flush=True)
        subprocess.run([UV, "venv", "-q", "-p", sys.executable, folder], check=True)
        sync = [UV, "pip", "sync", "-q", "--require-hashes", "-p", python, lock]
        subprocess.run(sync, check=True)
        note(folder, lock)
    return python


def node_modules() -> Path:
    """Return the folder with the packages of Node.js; install them if it is not there."""
    folder, locks = HOME / "peers-node", [LOCKS / name for name in NODE]
    if not is_installed(folder, *locks):
        print("Installing the packages of package-lock.json ...", flush=True)
        folder.mkdir(parents=True)
        for lock in locks:
            shutil.copy(lock, folder)
        npm = ["npm", "ci", "--silent", "--no-audit", "--no-fund"]
        subprocess.run(npm, cwd=folder, check=True)
        note(folder, *locks)
    return folder


def version_of(python: Path | str, package: str) -> str:
    """Return the version of a package, with its name."""
    code = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
    done = subprocess.run(
        [python, "-c", code, package], check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout.strip()


def main() -> None:
    """Write the lock files."""
    for file in sorted(LOCKS.glob("*.in")):
        compile_ = [UV, "pip", "compile", "-q", "--upgrade", "--universal", "--generate-hashes"]
        compile_ += ["--no-annotate", "--no-emit-index-url", "--python-version", "3.11"]
        compile_ += ["--custom-compile-command", "python tests/benchmarks/bench/peers.py"]
        subprocess.run([*compile_, "-o", file.with_suffix(".txt"), file], check=True)
    npm = ["npm", "update", "--save", "--package-lock-only", "--silent", "--no-audit", "--no-fund"]
    subprocess.run(npm, cwd=LOCKS, check=True)


if __name__ == "__main__":
    main()
