#!/usr/bin/env python3
"""Generate files from the catalog of a database that has OMD installed.

    python tools/generate.py            # write the files
    python tools/generate.py --check    # exit 1 when the committed files differ

It writes the calls and rows of each room in Python (``driver/omd/rooms/<room>/calls.py`` and
``rows.py``), the doors to the rooms (``driver/omd/doors/rooms.py``), the classes of errors
(``driver/omd/_core/error_codes.py``), the reference (``docs/reference``), and the files
for other tools that are made from the list of metrics (``share``), the rights of the release
(``sql/rights/release.sql``, tools/rights.py), and the contract (``docs/reference/api.json``,
tools/contract.py), and in the documents how OMD is installed (tools/spelling.py). The texts are the
COMMENTs of the database objects, and the error catalogue: to change a file, change the SQL. The
database is --dsn, or
OMD_DSN, or that of libpq's own settings; --embedded makes a new one. The files are the same for
every version of PostgreSQL.
"""

from __future__ import annotations

import argparse
import difflib
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    Row = dict[str, Any]

ROOT = Path(__file__).resolve().parents[1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files, or compare them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dsn", default=os.environ.get("OMD_DSN", ""), help="the database")
    parser.add_argument(
        "--embedded", action="store_true", help="use a new database on the embedded server"
    )
    parser.add_argument(
        "--check", action="store_true", help="compare the files, and change nothing"
    )
    options = parser.parse_args(arguments)
    sys.path.insert(0, str(ROOT / "driver"))  # import the rooms of this checkout
    import rooms

    dsn = _new_database() if options.embedded else options.dsn
    with psycopg.connect(dsn, row_factory=dict_row) as connection:
        # With an empty search path PostgreSQL writes every name with its schema.
        connection.execute("SET search_path = ''")
        found = {name: _formatted(text) for name, text in rooms.files(connection).items()}
        if not options.check:
            _write(found)  # the reference imports the errors
        import reference
        import rights

        found[rights.NAME] = rights.text(connection)
        found |= {
            f"docs/reference/{name}": text for name, text in reference.pages(connection).items()
        }
        found |= _shared(connection)
        found |= _contract(connection)
    import spelling

    found |= spelling.documents()
    if options.check:
        return _check(found)
    _write(found)
    return 0


def _shared(connection: psycopg.Connection[Row]) -> dict[str, str]:
    """Return the files for other tools, as `omd report --files` writes them."""
    from omd.programs.report.metric_files import FILES
    from omd.rooms.event.rows import MetricListRow

    rows = connection.execute("SELECT * FROM omd_report.metric_list").fetchall()
    metrics = sorted((MetricListRow(**row) for row in rows), key=lambda row: row.metric_name)
    return {f"share/{name}": make(metrics) for name, make in FILES.items()}


def _contract(connection: psycopg.Connection[Row]) -> dict[str, str]:
    """Return the contract of this version, and since when each routine is in it."""
    import contract
    import rooms

    present = contract.document(connection)
    since = contract.since_module(rooms.HEADER, present, contract.released())
    return {
        "docs/reference/api.json": contract.text(present),
        "driver/omd/_core/since.py": _formatted(since),
    }


def _new_database() -> str:
    # Not through the command omd: it reads the commands of all rooms, and those of a new room need
    # what is written here. A new database, because a migration in the making changes.
    from omd.programs import embedded, install

    embedded.start()
    server = embedded.dsn()
    dsn = make_conninfo(server, dbname="omd_generate")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS omd_generate WITH (FORCE)")
        connection.execute("CREATE DATABASE omd_generate")
    with psycopg.connect(dsn, autocommit=True) as connection:
        install.install(connection)
    return dsn


def _formatted(text: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--stdin-filename", "generated.py", "-"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return done.stdout


def _write(found: Mapping[str, str]) -> None:
    for name, text in found.items():
        file = ROOT / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def _check(found: Mapping[str, str]) -> int:
    differs = False
    for name, text in found.items():
        file = ROOT / name
        committed = file.read_text(encoding="utf-8") if file.exists() else ""
        for line in difflib.unified_diff(
            committed.splitlines(),
            text.splitlines(),
            f"committed/{name}",
            f"database/{name}",
            lineterm="",
        ):
            differs = True
            print(line)
    if differs:
        print("Run: python tools/generate.py", file=sys.stderr)
    return int(differs)


if __name__ == "__main__":
    sys.exit(main())
