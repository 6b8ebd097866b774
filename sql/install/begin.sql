-- Begins an installation, inside the transaction of the caller: one installer at a time, the roles,
-- the schema omd and the list of installed files. Always runs; changes nothing when all of it
-- exists.

SET LOCAL client_min_messages = warning;

DO $do$
BEGIN
    PERFORM pg_advisory_xact_lock(7302500, 0);
    PERFORM set_config('plpgsql.extra_errors', 'all', TRUE);
END
$do$;

-- Roles belong to the whole server: another database's installer may create them at this very
-- moment.
DO $do$
DECLARE
    v_role text;
    v_member text;
BEGIN
    FOREACH v_role IN ARRAY ARRAY['omd_owner', 'omd_runner', 'omd_admin', 'omd_reader'] LOOP
        BEGIN
            IF to_regrole(v_role) IS NULL THEN
                EXECUTE format('CREATE ROLE %I NOLOGIN', v_role);
            END IF;
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN
                NULL;
        END;
    END LOOP;
    -- Whoever runs or administers may look; so may the server's monitoring role.
    FOREACH v_member IN ARRAY ARRAY['omd_runner', 'omd_admin', 'pg_monitor'] LOOP
        BEGIN
            IF NOT pg_has_role(v_member, 'omd_reader', 'MEMBER') THEN
                EXECUTE format('GRANT omd_reader TO %I', v_member);
            END IF;
        EXCEPTION
            WHEN unique_violation OR insufficient_privilege THEN
                NULL;
        END;
    END LOOP;
    -- An installer that is no superuser must be able to act as the owner.
    IF NOT pg_has_role(current_user, 'omd_owner', 'MEMBER') THEN
        EXECUTE format('GRANT omd_owner TO %I', current_user);
    END IF;
    IF NOT has_database_privilege('omd_owner', current_database(), 'CREATE') THEN
        EXECUTE format('GRANT CREATE ON DATABASE %I TO omd_owner', current_database());
    END IF;
END
$do$;

CREATE SCHEMA IF NOT EXISTS omd AUTHORIZATION omd_owner;

-- Everything from here on belongs to omd_owner, whoever installs.
SET LOCAL ROLE omd_owner;
SET LOCAL search_path = pg_catalog, pg_temp;

CREATE TABLE IF NOT EXISTS omd.installed_file (
    path text NOT NULL,
    kind text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    applied_by text NOT NULL DEFAULT session_user,
    product_version text,
    CONSTRAINT pk_installed_file PRIMARY KEY (path),
    CONSTRAINT ck_installed_file_kind CHECK (kind IN ('migration', 'repeatable'))
);

COMMENT ON SCHEMA omd IS 'Process control: who runs, may it run, what to undo.';
COMMENT ON TABLE omd.installed_file IS 'Files of OMD that this database has applied.';
COMMENT ON COLUMN omd.installed_file.path IS 'Path of the file in the distribution.';
COMMENT ON COLUMN omd.installed_file.kind IS
'migration: applied once. repeatable: applied again when it changes.';
COMMENT ON COLUMN omd.installed_file.checksum IS 'SHA-256 of the file, in hexadecimal.';
COMMENT ON COLUMN omd.installed_file.applied_at IS 'When the file was applied.';
COMMENT ON COLUMN omd.installed_file.applied_by IS 'The role that connected.';
COMMENT ON COLUMN omd.installed_file.product_version IS
'Version of OMD that applied it; NULL when psql did.';
