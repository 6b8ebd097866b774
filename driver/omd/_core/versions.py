"""Which versions of client and database work together.

The database is upgraded first: a client works with any newer minor version of its major version.
One that is a minor version newer runs jobs, and what its database lacks came with its own minor
version, since an older database is refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from omd._core import packages
from omd._core.version import __version__

if TYPE_CHECKING:
    import psycopg

    from omd._core.errors import OmdError

OTHER_DATABASE = (
    "Is it the right database? Then: omd install. Another one is named by --dsn or OMD_DSN:"
    " omd help dsn"
)

_PARTS = re.compile(r"(\d+)\.(\d+)")


def parts(version: str | None) -> tuple[int, int] | None:
    """Return major and minor version; None: it is none."""
    match = _PARTS.match(version or "")
    return None if match is None else (int(match[1]), int(match[2]))


def mine() -> str:
    """Return the version of this client."""
    return __version__


def refusal(client: str, database: str | None) -> OmdError | None:
    """Return why a client may not use a database; None: it may.

    Args:
        client: the version of the client.
        database: that of the database; None: it is not known.
    """
    ours, theirs = parts(client), parts(database)
    if ours is None or theirs is None or (ours[0] == theirs[0] and ours[1] <= theirs[1] + 1):
        return None
    # Not above: the commands read this file before they need psycopg.
    from omd._core.error_codes import NewerInstalled
    from omd._core.errors import NotInstalled

    both = f"this client is omd {client}, and the database has omd {database}"
    if ours > theirs:
        return NotInstalled(
            f"{both}: it may be one minor version older, not more", hint="Run: omd install"
        )
    return NewerInstalled(
        f"{both}: that is another major version",
        hint=f"Run: {packages.install_version(theirs[0])}",
    )


def place_of(info: psycopg.ConnectionInfo) -> str:
    """Return the database of a connection in words."""
    return f"the database {info.dbname} on {info.host or info.hostaddr or 'the local socket'}"


def lacking(
    name: str, client: str, database: str | None, why: str, place: str | None = None
) -> OmdError:
    """Return the error for something that the database lacks.

    Args:
        name: the routine or view.
        client: the version of the client.
        database: that of the database; None: it is not known.
        why: what the server said.
        place: the database in words.
    """
    from omd._core.errors import NotInstalled

    if database is None and place is not None:
        return NotInstalled(f"{place} has no OMD", hint=OTHER_DATABASE)
    ours, theirs = parts(client), parts(database)
    if ours is None or theirs is None or ours <= theirs:
        return NotInstalled(
            f"the database lacks this version of OMD: {why}", hint="Run: omd install"
        )
    return NotInstalled(
        f"the database has omd {database}, and lacks what {name} takes: omd {ours[0]}.{ours[1]}"
        f" has it: {why}",
        hint="Run: omd install",
        detail={"name": name, "installed": database, "since": f"{ours[0]}.{ours[1]}"},
    )
