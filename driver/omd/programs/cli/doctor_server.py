"""What the doctor asks about the server under OMD: what a crash, a failover or an upgrade leaves.

It asks the catalogue for what this database has, since a database may be older or newer than this
package. Each query names its schemas, and needs no more than omd_reader.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from omd._core import versions
from omd.programs.cli.findings import SHOWN, Finding, Verdict, more

if TYPE_CHECKING:
    import psycopg


def of_server(conn: psycopg.Connection[Any]) -> Iterator[Finding]:
    """Look at the server, whether or not it has OMD."""
    yield from _durability(conn)
    yield _pooler(conn)
    yield _standby(conn)


def of_installation(conn: psycopg.Connection[Any]) -> Iterator[Finding]:
    """Look at what OMD in this database depends on."""
    import psycopg

    from omd.programs.install import pinned

    for check in (_version, _server_known, _replica_identity, _upgrade, _compiled_plans):
        with suppress(psycopg.errors.InsufficientPrivilege), pinned(conn):  # without our roles
            yield from list(check(conn))


# The server -------------------------------------------------------------------------------------

_SETTINGS = {
    "fsync": "a crash of the machine may leave a damaged database",
    "full_page_writes": "a crash of the machine may leave half-written pages",
    "synchronous_commit": "a crash may lose what was committed in the last moments, and lake tables"
    " and other databases keep the rows",
}


def _durability(conn: psycopg.Connection[Any]) -> Iterator[Finding]:
    """Whether what is committed survives a crash."""
    rows = conn.execute(
        "SELECT s.name, s.setting, s.source FROM pg_catalog.pg_settings AS s"
        " WHERE s.name OPERATOR(pg_catalog.=) ANY (%s::pg_catalog.text[])"
        "   AND s.setting OPERATOR(pg_catalog.=) 'off' ORDER BY s.name",
        [list(_SETTINGS)],
    ).fetchall()
    for name, _, source in rows:
        mend = f"ALTER SYSTEM SET {name} = on; SELECT pg_catalog.pg_reload_conf();"
        if source in ("user", "database", "database user"):
            mend = f"It is set by ALTER ROLE or ALTER DATABASE: … RESET {name}; connect again."
        yield Finding("durability", Verdict.WARNING, f"{name} is off: {_SETTINGS[name]}", mend)
    if not rows:
        yield Finding("durability", Verdict.OK, f"{', '.join(_SETTINGS)} are on")


def _pooler(conn: psycopg.Connection[Any]) -> Finding:
    """Whether somebody else answers at the other end of the connection: its PID is another one."""
    [(pid,)] = conn.execute("SELECT pg_catalog.pg_backend_pid()").fetchall()
    if pid == conn.info.backend_pid:
        return Finding("pooler", Verdict.OK, "none, this is the server itself")
    mode = os.environ.get("OMD_POOLER", "auto").lower()
    if mode == "session":
        return Finding("pooler", Verdict.OK, "there is one, in session mode as OMD_POOLER says")
    return Finding(
        "pooler",
        Verdict.WARNING,
        f"there is one, and OMD_POOLER is {mode}: programs ask again and again instead of"
        " listening, and what needs a session of its own is refused",
        "Programs that run for long, and omd install: name the server itself in OMD_DSN. If the"
        " pooler gives each client a session: OMD_POOLER=session",
    )


def _standby(conn: psycopg.Connection[Any]) -> Finding:
    """Whether this server takes writes."""
    [(in_recovery, standbys)] = conn.execute(
        "SELECT pg_catalog.pg_is_in_recovery(),"
        "  (SELECT pg_catalog.count(*) FROM pg_catalog.pg_stat_replication)"
    ).fetchall()
    if not in_recovery:
        followers = f", {standbys} standby servers follow it" if standbys else ""
        return Finding("standby", Verdict.OK, f"none, this server takes writes{followers}")
    return Finding(
        "standby",
        Verdict.WARNING,
        "this is one: reports work here, and nothing can be started or changed",
        "Name the primary in OMD_DSN; libpq finds it among several hosts:"
        " host=a,b target_session_attrs=read-write",
    )


# The installation -------------------------------------------------------------------------------


_EXISTS = {
    "relation": "SELECT FROM pg_catalog.pg_class AS o INNER JOIN pg_catalog.pg_namespace AS n"
    " ON n.oid OPERATOR(pg_catalog.=) o.relnamespace"
    " WHERE n.nspname OPERATOR(pg_catalog.=) %s AND o.relname OPERATOR(pg_catalog.=) %s LIMIT 1",
    "routine": "SELECT FROM pg_catalog.pg_proc AS o INNER JOIN pg_catalog.pg_namespace AS n"
    " ON n.oid OPERATOR(pg_catalog.=) o.pronamespace"
    " WHERE n.nspname OPERATOR(pg_catalog.=) %s AND o.proname OPERATOR(pg_catalog.=) %s LIMIT 1",
}


def _exists(conn: psycopg.Connection[Any], kind: str, name: str) -> bool:
    """Return whether this database has a relation or a routine."""
    return conn.execute(_EXISTS[kind].encode(), name.split(".")).fetchone() is not None


def _version(conn: psycopg.Connection[Any]) -> Iterator[Finding]:
    """Whether this package and the database work together."""
    from omd._core.version import __version__
    from omd.programs import install

    theirs = install.installed_version(conn)
    if theirs is None:
        return
    text = f"the database has omd {theirs}, and this is omd {__version__}"
    if (refusal := versions.refusal(versions.mine(), theirs)) is not None:
        yield Finding("version", Verdict.BAD, text, (refusal.hint or "").removeprefix("Run: "))
    elif theirs == __version__:
        yield Finding("version", Verdict.OK, f"package and database have omd {__version__}")
    elif _is_behind(conn):
        yield Finding("version", Verdict.WARNING, text, "omd install --plan, then: omd install")
    else:
        yield Finding("version", Verdict.OK, text)


def _is_behind(conn: psycopg.Connection[Any]) -> bool:
    """Return whether an installation would change the database; it refuses a newer one."""
    from omd._core.error_codes import MigrationChanged
    from omd.programs import install

    try:
        return install.needs_install(conn)
    except MigrationChanged:
        raise
    except install.InstallError:
        return False


def _server_known(conn: psycopg.Connection[Any]) -> Iterator[Finding]:
    """Whether this is the server that the installation knows, and not a copy."""
    if not _exists(conn, "routine", "omd.server_is_known"):
        return
    [(is_known,)] = conn.execute("SELECT omd.server_is_known()").fetchall()
    if is_known:
        yield Finding(
            "server known",
            Verdict.OK,
            "this is the server that the database knows; a snapshot of a disk that was restored"
            " looks like a restart: CALL omd.skip_ids() then",
        )
        return
    mend = "CALL omd_event.continue_as('SAME'); or, if the other one goes on, ('NEW')"
    if _exists(conn, "routine", "omd.confirm_server"):
        mend = (
            "If this is the production server now: omd call confirm_server --as MOVED --reason '…';"
            " if it is a copy: omd call confirm_server --as COPY"
        )
    yield Finding(
        "server known",
        Verdict.BAD,
        "the database was copied, restored or moved, so it sends no events, and workers,"
        " schedulers and loaders do not start",
        mend,
    )


# Several Modules may load one table, and several publications have it.
_WITHOUT_IDENTITY = """
SELECT t.command, pg_catalog.min(t.publication_name), pg_catalog.count(*) OVER ()
  FROM omd.targets_without_identity() AS t
 GROUP BY t.command
 ORDER BY t.command
 LIMIT %s
"""


def _replica_identity(conn: psycopg.Connection[Any]) -> Iterator[Finding]:
    """Whether a publication would refuse what a rollback deletes."""
    if not _exists(conn, "routine", "omd.targets_without_identity"):
        return
    rows = conn.execute(_WITHOUT_IDENTITY.encode(), [SHOWN]).fetchall()
    for command, publication, count in rows:
        table = command.removeprefix("ALTER TABLE ").partition(" REPLICA IDENTITY")[0]
        yield Finding(
            "replica identity",
            Verdict.BAD,
            f"{table} is in the publication {publication} and has neither a primary key nor a"
            f" replica identity, so each UPDATE and DELETE of it fails, also that of a rollback"
            f"{more(count)}",
            f"{command}  (or a primary key)",
        )
    if not rows:
        text = "each published table of a Module can be updated and deleted from"
        yield Finding("replica identity", Verdict.OK, text)


_STEPS = """
SELECT u.version, u.step_code, u.phase, u.error
  FROM omd_report.upgrade AS u
 WHERE u.ended_at IS NULL
 ORDER BY u.started_at, u.step_code
 LIMIT 1
"""
_INVALID = """
SELECT pg_catalog.format('%%I.%%I', n.nspname, c.relname)
  FROM pg_catalog.pg_index AS i
 INNER JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) i.indexrelid
 INNER JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
 WHERE NOT i.indisvalid
   AND c.relowner OPERATOR(pg_catalog.=) pg_catalog.to_regrole('omd_owner')::pg_catalog.oid
   -- One that is being made is not valid yet.
   AND NOT EXISTS (SELECT FROM pg_catalog.pg_stat_progress_create_index AS b
                    WHERE b.index_relid OPERATOR(pg_catalog.=) i.indexrelid)
 ORDER BY 1
 LIMIT %s
"""


def _upgrade(conn: psycopg.Connection[Any]) -> Iterator[Finding]:
    """Whether an upgrade was left in the middle."""
    is_done = True
    if _exists(conn, "relation", "omd_report.upgrade"):
        for version, step, phase, error in conn.execute(_STEPS.encode()).fetchall():
            is_done = False
            what = f"has failed: {error}" if error else "has begun"
            text = f"the upgrade to {version} is not at its end: {step} ({phase}) {what}"
            yield Finding("upgrade", Verdict.WARNING, text, "omd install")
    for (index,) in conn.execute(_INVALID.encode(), [SHOWN]).fetchall():
        is_done = False
        yield Finding(
            "upgrade",
            Verdict.WARNING,
            f"the index {index} is not valid: what made it was killed",
            f"omd install; if it stays: REINDEX INDEX CONCURRENTLY {index};",
        )
    if is_done:
        yield Finding("upgrade", Verdict.OK, "nothing was left in the middle")


def _compiled_plans(conn: psycopg.Connection[Any]) -> Iterator[Finding]:
    """Whether the server compiles the plans of the views over all rooms, which takes seconds."""
    view = "omd_report.work"
    if not _exists(conn, "relation", view):
        return
    [(compiles, bound, database)] = conn.execute(
        "SELECT pg_catalog.pg_jit_available(),"
        "  pg_catalog.current_setting('jit_above_cost')::pg_catalog.float8,"
        "  pg_catalog.quote_ident(pg_catalog.current_database())"
    ).fetchall()
    if not compiles or bound < 0:
        yield Finding("jit", Verdict.OK, "the server compiles no plans")
        return
    [(plan,)] = conn.execute("EXPLAIN (FORMAT JSON) SELECT * FROM omd_report.work").fetchall()
    if plan[0]["Plan"]["Total Cost"] <= bound:
        yield Finding("jit", Verdict.OK, f"the server compiles no plan of {view}")
        return
    yield Finding(
        "jit",
        Verdict.WARNING,
        f"the server compiles the plan of {view} for each look, which takes seconds",
        "For who reads the views of OMD: ALTER ROLE … SET jit = off; or for all:"
        f" ALTER DATABASE {database} SET jit = off;",
    )


# The embedded server ----------------------------------------------------------------------------

_HOSTS = """
SELECT pg_catalog.count(*)
  FROM pg_catalog.pg_hba_file_rules AS r
 WHERE r.type OPERATOR(pg_catalog.<>) 'local' AND r.auth_method OPERATOR(pg_catalog.=) 'trust'
"""


def of_embedded() -> Iterator[Finding]:
    """Look at the embedded server, if it runs: it trusts whoever reaches it."""
    import psycopg

    from omd.programs import embedded
    from omd.programs.cli.common import connect

    with suppress(embedded.EmbeddedError, psycopg.Error):  # it belongs to another user, or is busy
        status = embedded.status()
        if not status.running or status.dsn is None:
            return
        with connect(status.dsn) as conn:
            [(addresses, port, hba)] = conn.execute(
                "SELECT pg_catalog.current_setting('listen_addresses'),"
                "  pg_catalog.current_setting('port'), pg_catalog.current_setting('hba_file')"
            ).fetchall()
            [(trusting,)] = conn.execute(_HOSTS.encode()).fetchall()
        if not addresses.strip():
            yield Finding("embedded", Verdict.OK, "it listens on its Unix socket only")
        elif not trusting:
            text = f"it listens on {addresses}, port {port}, and asks for a password"
            yield Finding("embedded", Verdict.OK, text)
        else:
            yield Finding(
                "embedded",
                Verdict.BAD,
                f"it listens on {addresses}, port {port}, and trusts: whoever reaches the port is"
                " its superuser",
                "As its superuser: ALTER SYSTEM SET listen_addresses = ''; then: omd embedded stop,"
                f" omd embedded start. Or scram-sha-256 for trust in {hba}",
            )
