"""A stranger's traps: he may create in public, and waits for a name that is not qualified."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import psycopg
from psycopg.conninfo import make_conninfo

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["assert_nothing_happened", "plant"]

# What anybody with CREATE on public can do. A trap that is sprung counts, also when the transaction
# is rolled back, takes the rights, and says its name.
PLANT = """
CREATE SEQUENCE public.sprung;
GRANT USAGE ON SEQUENCE public.sprung TO PUBLIC;
CREATE FUNCTION public.spring(p_name pg_catalog.text) RETURNS pg_catalog.void LANGUAGE plpgsql
SET search_path = pg_catalog AS $f$
BEGIN
    PERFORM nextval('public.sprung');
    BEGIN
        ALTER ROLE stranger SUPERUSER;
    EXCEPTION WHEN insufficient_privilege THEN
    END;
    RAISE EXCEPTION 'the trap % is sprung as %', p_name, current_user;
END $f$;

DO $do$
DECLARE
    v_trap CONSTANT text := ' LANGUAGE plpgsql AS $f$BEGIN PERFORM public.spring(%s); END$f$';
    v_words CONSTANT text[] := string_to_array(current_setting('traps.words'), ' ');
    v_given record;
    v_type text;
BEGIN
    -- Of each function: its twin, and those that fit texts, names and numbers of objects better.
    FOR v_given IN
        SELECT DISTINCT ON (p.proname, made.arguments)
            p.proname, made.arguments,
            CASE WHEN t.typtype = 'p' THEN 'text' ELSE format_type(t.oid, NULL) END AS returns
        FROM pg_proc AS p
        INNER JOIN pg_type AS t ON t.oid = p.prorettype
        CROSS JOIN (
            VALUES (NULL, NULL), ('text', 'text'), ('name', 'text'), ('text', 'oid'),
                ('regrole', 'regrole'), ('text', 'regclass'), ('regprocedure', 'text')
        ) AS kind (textual, other)
        CROSS JOIN LATERAL (
            SELECT string_agg(
                CASE
                    WHEN g.id = '"any"'::regtype THEN coalesce(kind.textual, 'text')
                    WHEN g.id = 'anyarray'::regtype THEN coalesce(kind.textual, 'text') || '[]'
                    WHEN g.id IN ('text'::regtype, 'name'::regtype, 'anyelement'::regtype)
                    THEN coalesce(kind.textual, format_type(g.id, NULL))
                    WHEN g.id IN ('oid'::regtype, 'cstring'::regtype)
                    THEN coalesce(kind.other, format_type(g.id, NULL))
                    ELSE format_type(g.id, NULL)
                END, ', ' ORDER BY g.n
            ) AS arguments
            FROM unnest(p.proargtypes) WITH ORDINALITY AS g (id, n)
        ) AS made
        WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname = ANY(v_words)
            AND coalesce(made.arguments, '') !~ 'internal|cstring|any|_trigger'
            AND p.prorettype <> 'internal'::regtype AND p.prokind IN ('f', 'a', 'w')
    LOOP
        EXECUTE format(
            'CREATE FUNCTION public.%I(%s) RETURNS %s' || v_trap,
            v_given.proname, v_given.arguments, v_given.returns, quote_literal(v_given.proname)
        );
    END LOOP;
    FOREACH v_type IN ARRAY ARRAY['text', 'name'] LOOP
        EXECUTE format(
            'CREATE FUNCTION public.format(%1$s, VARIADIC text[]) RETURNS text' || v_trap,
            v_type, quote_literal('format')
        );
    END LOOP;
    FOR v_given IN
        SELECT o.name, a.type AS l, b.type AS r, row_number() OVER () AS n
        FROM unnest(ARRAY['=', '<>', '<', '>', '<=', '>=', '||', '~', '!~', '~~', '-', '+'])
            AS o (name)
        CROSS JOIN unnest(ARRAY['text', 'name', 'oid', 'regrole', 'regclass', 'regnamespace',
            '"char"', 'integer', 'bigint', 'boolean', 'timestamptz', 'text[]']) AS a (type)
        CROSS JOIN LATERAL unnest(ARRAY[a.type, 'text', 'name', 'oid', 'regrole']) AS b (type)
        GROUP BY 1, 2, 3
    LOOP
        EXECUTE format(
            'CREATE FUNCTION public.op_%s(%s, %s) RETURNS %s' || v_trap,
            v_given.n, v_given.l, v_given.r,
            CASE WHEN v_given.name IN ('||', '-', '+') THEN 'text' ELSE 'boolean' END,
            quote_literal(v_given.name)
        );
        EXECUTE format(
            'CREATE OPERATOR public.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = public.op_%s)',
            v_given.name, v_given.l, v_given.r, v_given.n
        );
    END LOOP;
    CREATE FUNCTION public.checked(anyelement) RETURNS boolean LANGUAGE plpgsql
    AS 'BEGIN PERFORM public.spring(''a domain''); RETURN NULL; END';
    FOR v_given IN
        SELECT t.typname FROM pg_type AS t
        WHERE t.typnamespace = 'pg_catalog'::regnamespace AND t.typtype = 'b'
            AND t.typelem = 0 AND t.typname = ANY(v_words)
    LOOP
        EXECUTE format(
            'CREATE DOMAIN public.%1$I AS pg_catalog.%1$I CHECK (public.checked(value))',
            v_given.typname
        );
    END LOOP;
    CREATE TYPE public.bait AS (told pg_catalog.text);
    CREATE FUNCTION public.baited(pg_catalog.text) RETURNS public.bait LANGUAGE plpgsql
    AS 'BEGIN PERFORM public.spring(''a cast''); RETURN NULL; END';
    CREATE CAST (pg_catalog.text AS public.bait) WITH FUNCTION public.baited(pg_catalog.text)
    AS IMPLICIT;
    FOR v_given IN
        SELECT c.relname, string_agg(quote_ident(a.attname), ', ') AS columns
        FROM pg_class AS c
        INNER JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0
        WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind IN ('r', 'v')
            AND c.relname = ANY(v_words) AND a.atttypid <> 'anyarray'::regtype
        GROUP BY c.relname
    LOOP
        EXECUTE format(
            'CREATE VIEW public.%1$I AS SELECT %2$s FROM pg_catalog.%1$I, public.spring(%1$L)',
            v_given.relname, v_given.columns
        );
        EXECUTE format('GRANT SELECT ON public.%I TO PUBLIC', v_given.relname);
    END LOOP;
END $do$;
"""


def plant(dsn: str, files: Iterable[Path], path: str = "public,pg_catalog") -> str:
    """Create the stranger and a trap for each name in the files; return how to connect to them.

    Args:
        dsn: the database, as a superuser.
        files: programs and scripts.
        path: the search_path of the sessions; usually public comes last, and a trap has to fit
            better than what PostgreSQL has.
    """
    words = {word for file in files for word in re.findall(r"\b[a-z_0-9]+\b", file.read_text())}
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(
            "DO $$ BEGIN CREATE ROLE stranger; EXCEPTION WHEN duplicate_object THEN END $$"
        )
        conn.execute("GRANT CREATE ON SCHEMA public TO stranger")
        conn.execute("SET ROLE stranger")
        conn.execute("SET search_path = pg_catalog")
        conn.execute("SELECT set_config('traps.words', %s, false)", [" ".join(sorted(words))])
        conn.execute(PLANT)
    return make_conninfo(dsn, options=f"-c search_path={path}")


def assert_nothing_happened(dsn: str) -> None:
    """See that no trap was sprung, and take them all away."""
    with psycopg.connect(dsn) as conn:
        sprung = conn.execute("SELECT is_called FROM public.sprung").fetchone()
        powerful = conn.execute("SELECT rolsuper FROM pg_roles WHERE rolname = 'stranger'")
        assert (sprung, powerful.fetchone()) == ((False,), (False,))
        conn.execute("DROP OWNED BY stranger CASCADE")
        conn.execute("DROP ROLE stranger")
