"""Code of users on each table and view of users, which tells when it runs as the owner of OMD.

The template of the databases of tests has an event trigger: each table that is created outside of
OMD gets a policy and triggers, each view a condition, and omd_owner gets the rights on both, as
whoever waits for him would grant them. What is laid there is silent in the hands of a person. It
raises an error and writes a file beside the data, which no rollback takes away, when

- it runs as omd_owner, and nobody has taken that role: a routine of OMD has met code of a user; or
- it runs in a session of the page that has taken the role of a person, and can take any other.

The test that was running then fails, and says what ran and what has called it. `no_user_code`
marks a test, with the reason, whose tables stay as they were created.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MARK = "no_user_code"
# The schema is not one of ours, and no name of a test.
LAY = r"""
CREATE SCHEMA user_code;
GRANT USAGE ON SCHEMA user_code TO PUBLIC;

-- COPY writes in a transaction that is READ ONLY too, and the file stays when it is rolled back.
CREATE FUNCTION user_code.write(p_text text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog AS $$
BEGIN
    EXECUTE format(
        'COPY (SELECT %L) TO %L',
        translate(p_text, E'\n\\', ' /'),
        format(
            '%s/user_code.%s.%s.%s', current_setting('data_directory'), current_database(),
            pg_backend_pid(), extract(epoch FROM clock_timestamp())
        )
    );
END $$;

CREATE FUNCTION user_code.tell(p_what text) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog AS $$
DECLARE
    v_context text;
    v_text text;
BEGIN
    GET DIAGNOSTICS v_context = PG_CONTEXT;
    v_text := format(
        '%s runs as %s in a session of %s (role %s): %s', p_what, current_user, session_user,
        current_setting('role'),
        (
            SELECT string_agg(m[1], ' < ' ORDER BY n)
            FROM regexp_matches(v_context, 'function "?([^("]+)', 'g') WITH ORDINALITY AS g (m, n)
            WHERE m[1] !~ '^(user_code|watch)'
        )
    );
    PERFORM user_code.write(v_text);
    RAISE EXCEPTION 'code of a user: %', v_text USING ERRCODE = 'EVIL1';
END $$;

-- A routine of OMD does not change the role that the session has taken: a test that takes the role
-- omd_owner plays a person.
CREATE FUNCTION user_code.watch(p_what text) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog AS $$
BEGIN
    IF current_user = 'omd_owner'
        AND current_setting('role') <> 'omd_owner' AND session_user <> 'omd_owner'
        OR current_setting('application_name') = 'omd web'
        AND current_setting('role') NOT IN ('none', 'omd_reader')
    THEN
        PERFORM user_code.tell(p_what);
    END IF;
    RETURN TRUE;
END $$;

-- A policy is asked for each row, and never where there are none: so it is asked when the
-- statement is planned, which PostgreSQL does again for each role.
CREATE FUNCTION user_code.watch_plans(p_what text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog AS 'SELECT user_code.watch(p_what)';

CREATE FUNCTION user_code.fire() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog AS $$
BEGIN
    PERFORM user_code.watch(format('a trigger of %s.%s', TG_TABLE_SCHEMA, TG_TABLE_NAME));
    RETURN NULL;
END $$;

CREATE DOMAIN user_code.checked AS text CHECK (user_code.watch('a domain'));

CREATE FUNCTION user_code.lay() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog AS $$
DECLARE
    v_made record;
    v_text text;
    v_watch text;
BEGIN
    FOR v_made IN
        SELECT DISTINCT c.oid, c.oid::regclass AS name, c.relkind AS kind, n.oid AS schema,
            n.nspname
        FROM pg_event_trigger_ddl_commands() AS d
        INNER JOIN pg_class AS c ON d.classid = 'pg_class'::regclass AND d.objid = c.oid
        INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
        WHERE c.relkind IN ('r', 'p', 'v') AND c.relpersistence <> 't' AND NOT d.in_extension
            AND n.nspname !~ '^(pg_|omd$|omd_|user_code$|information_schema$)'
            AND c.relowner <> 'omd_owner'::regrole
            AND NOT EXISTS (
                SELECT FROM pg_policy AS p WHERE p.polrelid = c.oid AND p.polname = 'user_code'
            )
    LOOP
        IF NOT has_schema_privilege('omd_owner', v_made.schema, 'USAGE') THEN
            BEGIN
                EXECUTE format('GRANT USAGE ON SCHEMA %I TO omd_owner', v_made.nspname);
            EXCEPTION
                WHEN internal_error THEN NULL; -- another session does it in the same moment
            END;
        END IF;
        EXECUTE format('GRANT ALL ON %s TO omd_owner', v_made.name);
        v_watch := CASE v_made.kind
            WHEN 'v' THEN format('user_code.watch(%L)', format('a view, %s,', v_made.name))
            ELSE format('user_code.watch_plans(%L)', format('a policy of %s', v_made.name))
        END;
        IF v_made.kind <> 'v' THEN
            EXECUTE format(
                'ALTER TABLE %1$s ENABLE ROW LEVEL SECURITY;'
                'CREATE POLICY user_code ON %1$s USING (%2$s);'
                'CREATE TRIGGER user_code BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON %1$s'
                ' FOR EACH STATEMENT EXECUTE FUNCTION user_code.fire()',
                v_made.name, v_watch
            );
        ELSE
            v_text := rtrim(pg_get_viewdef(v_made.oid), ';');
            CONTINUE WHEN v_text ~ 'user_code\.watch';
            v_text := CASE
                WHEN pg_relation_is_updatable(v_made.oid, TRUE) = 0 THEN format(
                    'SELECT %s FROM (%s) AS q WHERE %s',
                    (
                        SELECT string_agg(format('q.%I', a.attname), ', ' ORDER BY a.attnum)
                        FROM pg_attribute AS a WHERE a.attrelid = v_made.oid AND a.attnum > 0
                    ),
                    v_text, v_watch
                )
                WHEN v_text ~ '\n  WHERE ' THEN v_text || ' AND ' || v_watch
                ELSE v_text || ' WHERE ' || v_watch
            END;
            EXECUTE format('CREATE OR REPLACE VIEW %s AS %s', v_made.name, v_text);
        END IF;
    END LOOP;
END $$;

CREATE EVENT TRIGGER user_code ON ddl_command_end
WHEN TAG IN ('CREATE TABLE', 'CREATE TABLE AS', 'SELECT INTO', 'CREATE VIEW')
EXECUTE FUNCTION user_code.lay();
"""
FOUND = r"""
SELECT f, pg_read_file(current_setting('data_directory') || '/' || f)
FROM pg_ls_dir(current_setting('data_directory')) AS f
WHERE f ~ ('^user_code\.' || %s) ORDER BY f
"""


def lay(conn: psycopg.Connection[Any]) -> None:
    """Lay code of users on what is created from now on, in a database with OMD."""
    conn.execute(LAY)


@contextlib.contextmanager
def spared(dsn: str, *roles: str) -> Iterator[None]:
    """Let policies spare the rows of these roles: a rollback refuses what they may hide.

    Where the tables of a test have none of ours, they spare nobody.
    """
    if not WATCH.is_on:
        yield
        return
    with psycopg.connect(dsn, autocommit=True) as conn:
        for role in roles:
            conn.execute(f"ALTER ROLE {role} BYPASSRLS".encode())
    yield
    with psycopg.connect(dsn, autocommit=True) as conn:
        for role in roles:
            conn.execute(f"ALTER ROLE {role} NOBYPASSRLS".encode())


class Watch:
    """What has run as the owner of OMD, in all databases of this process."""

    def __init__(self) -> None:
        self.conn: psycopg.Connection[Any] | None = None
        self.names = ""
        self.known: set[str] = set()
        self.reason: str | None = None  # why the tables of this test stay as they are

    def begin(self, server: str, names: str) -> None:
        self.conn = psycopg.connect(server, autocommit=True)
        self.names = names

    def end(self) -> None:
        if self.conn:
            self.conn.close()
        self.conn = None

    def told(self) -> list[str]:
        """Return what was told since the last call, each once."""
        if self.conn is None:
            return []
        found = dict(self.conn.execute(FOUND, [self.names]).fetchall())
        new = [found[file].strip() for file in sorted(found.keys() - self.known)]
        self.known |= found.keys()
        return list(dict.fromkeys(new))

    @property
    def is_on(self) -> bool:
        return self.reason is None

    def switch(self, conn: psycopg.Connection[Any]) -> None:
        """Let new tables of a database have code of users, or not, as this test wants."""
        state = "ENABLE" if self.is_on else "DISABLE"
        conn.execute(f"ALTER EVENT TRIGGER user_code {state}".encode())


WATCH = Watch()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    mark = item.get_closest_marker(MARK)
    WATCH.reason = None
    if mark:
        if not (mark.args and isinstance(mark.args[0], str)):
            pytest.fail(f"{MARK} needs its reason", pytrace=False)
        WATCH.reason = mark.args[0]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        if told := WATCH.told():
            item.add_report_section("call", "code of users", "\n".join(told))
        raise error
    if told := WATCH.told():
        pytest.fail("Code of users ran as the owner.\n" + "\n".join(told), pytrace=False)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    yield
    if told := WATCH.told():
        pytest.fail("Code of users ran as the owner.\n" + "\n".join(told), pytrace=False)


@pytest.fixture
def told() -> Callable[[], list[str]]:
    """A function that returns what code of users has told; the test does not fail by it then."""
    return WATCH.told
