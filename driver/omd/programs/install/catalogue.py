"""What a database consists of, and the difference between two moments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.rows import tuple_row

from omd.programs.install.running import pinned

Key = tuple[str, str]  # kind and object


@dataclass(frozen=True, slots=True)
class Change:
    """A difference: CREATE, ALTER or DROP of an object, GRANT or REVOKE of a right."""

    change: str
    kind: str
    object: str
    detail: str


@dataclass(slots=True)
class Thing:
    """An object: its summary when it is new, and what can differ."""

    summary: str
    properties: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The objects of a database, and who may do what with them besides the owner.

    Attributes:
        things: by kind and object.
        rights: kind of the object, object and right.
    """

    things: Mapping[Key, Thing]
    rights: frozenset[tuple[str, str, str]]


_SCHEMAS = "n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'"
# kind, object, summary, then names and values of what can differ
_THINGS = (
    """
    SELECT 'schema', quote_ident(n.nspname), 'of ' || n.nspowner::regrole,
        jsonb_build_object(
            'owner', n.nspowner::regrole, 'comment', md5(obj_description(n.oid, 'pg_namespace')),
            'types', (
                SELECT jsonb_object_agg(t.typname, md5(concat(
                    format_type(t.typbasetype, t.typtypmod), t.typdefault, t.typnotnull, (
                        SELECT string_agg(
                            a.attname || format_type(a.atttypid, a.atttypmod), ' ' ORDER BY a.attnum
                        )
                        FROM pg_attribute AS a
                        WHERE a.attrelid = t.typrelid AND NOT a.attisdropped
                    )
                )))
                FROM pg_type AS t
                LEFT JOIN pg_class AS c ON c.oid = t.typrelid
                WHERE t.typnamespace = n.oid
                    AND (t.typtype IN ('d', 'e', 'r') OR c.relkind = 'c')
            )
        )
    FROM pg_namespace AS n
    WHERE {schemas}
    """,
    """
    SELECT
        CASE
            WHEN c.relkind IN ('v', 'm') THEN 'view'
            WHEN c.relkind = 'S' THEN 'sequence'
            ELSE 'table'
        END,
        format('%I.%I', n.nspname, c.relname),
        CASE
            WHEN c.relkind IN ('v', 'm') THEN 'of ' || c.relowner::regrole
            WHEN c.relkind = 'S' THEN (SELECT s.seqtypid::regtype::text FROM pg_sequence AS s
                WHERE s.seqrelid = c.oid)
            ELSE (SELECT count(*) FROM pg_attribute AS a WHERE a.attrelid = c.oid
                AND a.attnum > 0 AND NOT a.attisdropped) || ' columns'
        END,
        jsonb_build_object(
            'owner', c.relowner::regrole, 'comment', md5(obj_description(c.oid, 'pg_class')),
            'definition', CASE
                WHEN c.relkind IN ('v', 'm') THEN md5(pg_get_viewdef(c.oid))
                WHEN c.relkind = 'S' THEN (SELECT md5(s::text) FROM pg_sequence AS s
                    WHERE s.seqrelid = c.oid)
            END,
            'options', c.reloptions, 'persistence', c.relpersistence,
            'replica identity', c.relreplident,
            'row security', concat(c.relrowsecurity, c.relforcerowsecurity),
            'columns', CASE WHEN c.relkind <> 'S' THEN (
                SELECT jsonb_object_agg(a.attname, concat_ws(
                    ' ',
                    format_type(a.atttypid, a.atttypmod),
                    CASE WHEN a.attnotnull THEN 'NOT NULL' END,
                    nullif(a.attidentity, ''), nullif(a.attgenerated, ''),
                    pg_get_expr(d.adbin, d.adrelid), md5(col_description(c.oid, a.attnum))
                ))
                FROM pg_attribute AS a
                LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
                WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            ) END
        )
    FROM pg_class AS c
    INNER JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE {schemas} AND c.relkind IN ('r', 'p', 'f', 'v', 'm', 'S')
    """,
    """
    SELECT 'index', format('%I.%I', n.nspname, c.relname), pg_get_indexdef(c.oid),
        jsonb_build_object(
            'definition', pg_get_indexdef(c.oid), 'validity', i.indisvalid,
            'replica identity', i.indisreplident,
            'comment', md5(obj_description(c.oid, 'pg_class'))
        )
    FROM pg_index AS i
    INNER JOIN pg_class AS c ON c.oid = i.indexrelid
    INNER JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE {schemas}
    """,
    """
    SELECT 'constraint',
        format('%I.%I.%I', n.nspname, coalesce(r.relname, t.typname), c.conname),
        pg_get_constraintdef(c.oid),
        jsonb_build_object(
            'definition', pg_get_constraintdef(c.oid), 'validity', c.convalidated,
            'comment', md5(obj_description(c.oid, 'pg_constraint'))
        )
    FROM pg_constraint AS c
    INNER JOIN pg_namespace AS n ON n.oid = c.connamespace
    LEFT JOIN pg_class AS r ON r.oid = c.conrelid
    LEFT JOIN pg_type AS t ON t.oid = c.contypid
    WHERE {schemas} AND c.contype NOT IN ('n', 't')
    """,
    """
    SELECT 'trigger', format('%I.%I.%I', n.nspname, c.relname, t.tgname),
        'calls ' || t.tgfoid::regproc,
        jsonb_build_object(
            'definition', md5(pg_get_triggerdef(t.oid)), 'state', t.tgenabled,
            'comment', md5(obj_description(t.oid, 'pg_trigger'))
        )
    FROM pg_trigger AS t
    INNER JOIN pg_class AS c ON c.oid = t.tgrelid
    INNER JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE {schemas} AND NOT t.tgisinternal
    """,
    """
    SELECT 'routine', p.oid::regprocedure::text,
        CASE p.prokind
            WHEN 'p' THEN 'procedure' WHEN 'a' THEN 'aggregate' ELSE
                'function returning ' || pg_get_function_result(p.oid)
        END || CASE WHEN p.prosecdef THEN ', SECURITY DEFINER' ELSE '' END,
        jsonb_build_object(
            'owner', p.proowner::regrole, 'comment', md5(obj_description(p.oid, 'pg_proc')),
            'body', CASE
                WHEN p.prosqlbody IS NULL THEN md5(p.prosrc)
                ELSE md5(pg_get_function_sqlbody(p.oid))
            END,
            'parameters', pg_get_function_arguments(p.oid),
            'result', pg_get_function_result(p.oid),
            'attributes', concat_ws(' ', p.prolang, p.prokind, p.provolatile, p.proparallel,
                p.prosecdef, p.proisstrict, p.proleakproof, p.procost, p.prorows, p.proconfig)
        )
    FROM pg_proc AS p
    INNER JOIN pg_namespace AS n ON n.oid = p.pronamespace
    WHERE {schemas}
    """,
    """
    SELECT 'role', quote_ident(r.rolname),
        concat_ws(' ', CASE WHEN r.rolcanlogin THEN 'LOGIN' ELSE 'NOLOGIN' END,
            CASE WHEN r.rolsuper THEN 'SUPERUSER' END,
            CASE WHEN r.rolcreaterole THEN 'CREATEROLE' END,
            CASE WHEN r.rolcreatedb THEN 'CREATEDB' END,
            CASE WHEN r.rolreplication THEN 'REPLICATION' END,
            CASE WHEN r.rolbypassrls THEN 'BYPASSRLS' END),
        jsonb_build_object(
            'attributes', concat_ws(' ', r.rolcanlogin, r.rolsuper, r.rolcreaterole, r.rolcreatedb,
                r.rolreplication, r.rolbypassrls, r.rolinherit, r.rolconnlimit, r.rolvaliduntil),
            'settings', r.rolconfig
        )
    FROM pg_roles AS r
    """,
)
_RIGHTS = """
    SELECT x.kind, x.object, format(
        '%s to %s',
        string_agg(
            a.privilege_type || x.part || CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION'
                ELSE '' END,
            ', ' ORDER BY a.privilege_type, x.part
        ),
        CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END
    )
    FROM (
        SELECT 'database' AS kind, 'database ' || quote_ident(d.datname) AS object, '' AS part,
            coalesce(d.datacl, acldefault('d', d.datdba)) AS acl, d.datdba AS owner
        FROM pg_database AS d WHERE d.datname = current_database()
        UNION ALL
        SELECT 'schema', 'schema ' || quote_ident(n.nspname), '',
            coalesce(n.nspacl, acldefault('n', n.nspowner)), n.nspowner
        FROM pg_namespace AS n WHERE {schemas}
        UNION ALL
        SELECT
            CASE WHEN c.relkind IN ('v', 'm') THEN 'view' WHEN c.relkind = 'S' THEN 'sequence'
                ELSE 'table' END,
            format('%I.%I', n.nspname, c.relname), '', c.relacl, c.relowner
        FROM pg_class AS c INNER JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE {schemas} AND c.relkind IN ('r', 'p', 'f', 'v', 'm', 'S')
        UNION ALL
        SELECT CASE WHEN c.relkind IN ('v', 'm') THEN 'view' ELSE 'table' END,
            format('%I.%I', n.nspname, c.relname), format(' (%I)', a.attname), a.attacl,
            c.relowner
        FROM pg_attribute AS a
        INNER JOIN pg_class AS c ON c.oid = a.attrelid
        INNER JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE {schemas} AND a.attacl IS NOT NULL AND NOT a.attisdropped
        UNION ALL
        SELECT 'routine', p.oid::regprocedure::text, '',
            coalesce(p.proacl, acldefault('f', p.proowner)), p.proowner
        FROM pg_proc AS p INNER JOIN pg_namespace AS n ON n.oid = p.pronamespace
        WHERE {schemas}
        UNION ALL
        SELECT 'type', format('type %I.%I', n.nspname, t.typname), '', t.typacl, t.typowner
        FROM pg_type AS t INNER JOIN pg_namespace AS n ON n.oid = t.typnamespace
        WHERE {schemas} AND t.typacl IS NOT NULL
    ) AS x
    CROSS JOIN LATERAL aclexplode(x.acl) AS a
    WHERE a.grantee <> x.owner
    GROUP BY x.kind, x.object, a.grantee
"""
# Who creates a role gets a membership that differs from one that is granted, which is the second.
_MEMBERSHIPS = """
    SELECT 'membership', format('%I in %I', u.rolname, r.rolname),
        concat_ws(' ', CASE WHEN bool_or(m.admin_option) THEN 'WITH ADMIN OPTION' END)
    FROM pg_auth_members AS m
    INNER JOIN pg_roles AS r ON r.oid = m.roleid
    INNER JOIN pg_roles AS u ON u.oid = m.member
    GROUP BY u.rolname, r.rolname
"""


def look(conn: psycopg.Connection[Any]) -> Catalogue:
    """Read the catalogue as this transaction sees it; names mean those of PostgreSQL."""
    things: dict[Key, Thing] = {}
    # The texts above do not name the schema of each operator: they are looked up by this path.
    with pinned(conn), conn.cursor(row_factory=tuple_row) as cur:
        # The texts are those above.
        for query in _THINGS:
            cur.execute(query.replace("{schemas}", _SCHEMAS).encode())
            for kind, name, summary, properties in cur:
                things[kind, name] = Thing(summary, properties)
        cur.execute(_MEMBERSHIPS.encode())
        rights = set(cur.fetchall())
        cur.execute(_RIGHTS.replace("{schemas}", _SCHEMAS).encode())
        rights |= set(cur.fetchall())
    return Catalogue(things, frozenset(rights))


def difference(before: Catalogue, after: Catalogue) -> list[Change]:
    """Return what differs: first objects, by kind and name, then memberships and privileges."""
    return [*_of_things(before.things, after.things), *_of_rights(before, after)]


def _of_things(before: Mapping[Key, Thing], after: Mapping[Key, Thing]) -> Iterator[Change]:
    order = {kind: at for at, (kind, _) in enumerate([*after, *before])}
    kinds = sorted({kind for kind, _ in [*after, *before]}, key=lambda kind: order[kind])
    for kind in kinds:
        for key in sorted(key for key in {*before, *after} if key[0] == kind):
            old, new = before.get(key), after.get(key)
            if old is None and new is not None:
                summary = ", ".join([new.summary, *_changed({}, new.properties, only=("types",))])
                yield Change("CREATE", *key, summary)
            elif new is None and old is not None:
                yield Change("DROP", *key, old.summary)
            elif old is not None and new is not None and old.properties != new.properties:
                yield Change("ALTER", *key, ", ".join(_changed(old.properties, new.properties)))


def _changed(
    old: Mapping[str, Any], new: Mapping[str, Any], only: tuple[str, ...] | None = None
) -> Iterator[str]:
    for name in only or new:
        was, now = old.get(name), new.get(name)
        if was == now:
            continue
        if name in ("columns", "types"):
            word = name[:-1]
            was, now = was or {}, now or {}
            for part in sorted({*was, *now}):
                if part not in was:
                    yield f"{word} {part} added"
                elif part not in now:
                    yield f"{word} {part} dropped"
                elif was[part] != now[part]:
                    yield f"{word} {part} changed"
        else:
            yield name


def _of_rights(before: Catalogue, after: Catalogue) -> Iterator[Change]:
    # What is dropped takes its privileges with it.
    gone = {key for key in before.things if key not in after.things}
    for kind, name, right in sorted(after.rights - before.rights):
        yield Change("GRANT", _kind(kind), name, right)
    for kind, name, right in sorted(before.rights - after.rights):
        if (kind, name.removeprefix("schema ")) not in gone:
            yield Change("REVOKE", _kind(kind), name, right)


def _kind(kind: str) -> str:
    return "membership" if kind == "membership" else "privilege"
