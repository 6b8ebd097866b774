"""Remove OMD from a database."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import psycopg

from omd.install.manifest import UNINSTALL, sql_root
from omd.install.running import execute, pinned, require_idle


def uninstall(conn: psycopg.Connection[Any], root: Path | None = None) -> None:
    """Remove OMD and what it recorded from this database, in one transaction.

    Business rows stay; a warning of the server names the schemas that hold delivered ones.
    """
    require_idle(conn)
    text = ((root or sql_root()) / UNINSTALL).read_text(encoding="utf-8")
    with pinned(conn):  # the file's own transaction is for psql
        execute(conn, UNINSTALL, re.sub(r"(?m)^(BEGIN|COMMIT);$", "", text))
