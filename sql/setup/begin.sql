-- The schema omd and the list of installed files. Each installation runs this file; it changes
-- nothing when they exist. Somebody else may have created the roles, so it asks for what it needs.

SET LOCAL search_path = pg_catalog, pg_temp;

DO $do$
DECLARE
    v_database CONSTANT text := quote_ident(current_database());
    v_may_act CONSTANT text := CASE
        WHEN current_setting('server_version_num')::integer >= 160000 THEN 'SET' ELSE 'MEMBER'
    END;
    v_missing text;
    v_lacks text;
BEGIN
    SELECT string_agg(r.name, ', ') INTO v_missing
    FROM unnest(ARRAY[
        'omd_owner', 'omd_runner', 'omd_admin', 'omd_reader', 'omd_data_reader', 'omd_data_writer'
    ]) AS r (name)
    WHERE to_regrole(r.name) IS NULL;
    IF v_missing IS NOT NULL THEN
        v_lacks := 'the roles ' || v_missing;
    ELSIF NOT pg_has_role(current_user, 'omd_owner', v_may_act) THEN
        v_lacks := 'the membership in omd_owner';
    ELSIF NOT has_database_privilege('omd_owner', current_database(), 'CREATE') THEN
        v_lacks := 'CREATE on the database ' || v_database || ' for omd_owner';
    END IF;
    IF v_lacks IS NOT NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'OM906',
            MESSAGE = format('the installer %I lacks %s', current_user, v_lacks),
            DETAIL = jsonb_build_object('installer', current_user, 'lacks', v_lacks),
            HINT = format(
                'As a superuser, or with CREATEROLE: omd install --only roles --installer %I',
                current_user
            );
    END IF;
END
$do$;

-- Who owns the schema can put anything into it that the installation would take for its own.
DO $do$
DECLARE
    v_owner regrole;
BEGIN
    SELECT n.nspowner INTO v_owner FROM pg_namespace AS n
    WHERE n.nspname = 'omd' AND n.nspowner <> 'omd_owner'::regrole;
    IF FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = 'OM905',
            MESSAGE = format('the schema omd belongs to %s, not to omd_owner', v_owner),
            DETAIL = jsonb_build_object('owner', v_owner::text),
            HINT = 'See what is in it. If it is not OMD: ALTER SCHEMA omd RENAME TO …; then install'
                ' again.';
    END IF;
END
$do$;

-- Everything from here on belongs to omd_owner, whatever role installs.
SET LOCAL ROLE omd_owner;

CREATE SCHEMA IF NOT EXISTS omd AUTHORIZATION omd_owner;

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

-- It conflicts with no reader, and nobody else may write the table.
LOCK TABLE omd.installed_file IN SHARE ROW EXCLUSIVE MODE;

COMMENT ON SCHEMA omd IS
'Process control: it decides which Batches and Modules run, and rolls back what failed.';
COMMENT ON TABLE omd.installed_file IS 'The files of OMD that this database has applied.';
COMMENT ON COLUMN omd.installed_file.path IS 'The path of the file in the distribution.';
COMMENT ON COLUMN omd.installed_file.kind IS
'migration: the file is applied once. repeatable: the file is applied again when it changes.';
COMMENT ON COLUMN omd.installed_file.checksum IS 'The SHA-256 of the file, in hexadecimal.';
COMMENT ON COLUMN omd.installed_file.applied_at IS 'When the file was applied.';
COMMENT ON COLUMN omd.installed_file.applied_by IS 'The role that connected to apply it.';
COMMENT ON COLUMN omd.installed_file.product_version IS
'The version of OMD that was installed last; NULL before that was kept.';
