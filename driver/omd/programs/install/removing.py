"""Remove OMD from a database."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

from omd.programs.install.manifest import UNINSTALL, sql_root
from omd.programs.install.running import execute, pinned, require_idle
from omd.programs.install.transactions import Statement, Transaction

_FOR_PSQL = re.compile(r"(?m)^(BEGIN|COMMIT);$")


def removal(root: Path | None = None, *, keep_roles: bool = False) -> Iterator[Transaction]:
    """Yield what `uninstall` executes."""
    content = ((root or sql_root()) / UNINSTALL).read_bytes()
    statements = [
        Statement(
            _FOR_PSQL.sub("", content.decode("utf-8")),
            UNINSTALL,
            hashlib.sha256(content).hexdigest(),
        )
    ]
    if keep_roles:
        statements.insert(0, Statement("SET LOCAL omd_install.keep_roles = 'yes'", UNINSTALL))
    yield Transaction("uninstall", statements)


def uninstall(
    conn: psycopg.Connection[Any], root: Path | None = None, *, keep_roles: bool = False
) -> None:
    """Remove OMD and what it recorded from this database, in one transaction.

    Business rows stay; a warning of the server names the schemas that hold delivered ones.

    Args:
        conn: the connection.
        root: the folder with the SQL; the default is that of this package.
        keep_roles: leave the roles, with what they are members of and what they may do here.
    """
    require_idle(conn)
    for transaction in removal(root, keep_roles=keep_roles):
        with pinned(conn):
            for statement in transaction.statements:
                execute(conn, statement.path, statement.text)
