-- The roles of OMD. None of them can log in: they are granted to the roles that do. Each
-- installation runs this file; it changes nothing when the roles exist. Run it in a transaction, as
-- its first statement keeps functions out that a stranger has put into public. The setting
-- omd_install.installer names a role that gets the right to act as omd_owner, and
-- omd_install.part = 'roles' says that this role installs the rest, not who runs this file; with
-- psql: PGOPTIONS='-c omd_install.part=roles -c omd_install.installer=NAME'.

SET LOCAL search_path = pg_catalog, pg_temp;

-- Roles belong to the whole server, so the installer of another database may create them at the
-- same moment.
DO $do$
DECLARE
    -- Since PostgreSQL 16 who creates a role is a member of it, and may nevertheless not act as it.
    v_may_act CONSTANT text := CASE
        WHEN current_setting('server_version_num')::integer >= 160000 THEN 'SET' ELSE 'MEMBER'
    END;
    v_named CONSTANT text := nullif(current_setting('omd_install.installer', TRUE), '');
    v_role text;
    v_member text;
    v_lacks text;
    v_hint text;
BEGIN
    FOREACH v_role IN ARRAY ARRAY[
        'omd_owner', 'omd_guest', 'omd_runner', 'omd_admin', 'omd_reader', 'omd_data_reader',
        'omd_data_writer'
    ] LOOP
        BEGIN
            IF to_regrole(v_role) IS NULL THEN
                EXECUTE format('CREATE ROLE %I NOLOGIN', v_role);
            END IF;
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN
                NULL;
            WHEN insufficient_privilege THEN
                v_lacks := 'CREATEROLE';
                v_hint := format('As a superuser: ALTER ROLE %I CREATEROLE;', current_user);
        END;
    END LOOP;
    -- A role that runs or administers may also read, and so may the server's monitoring role.
    -- Whoever runs deliveries reads business rows, and so does whoever edits them. Functions of
    -- users that OMD calls belong to omd_guest, which has no rights, so the owner must be able to
    -- give them to it.
    FOR v_role, v_member IN
        VALUES
        ('omd_reader', 'omd_runner'),
        ('omd_reader', 'omd_admin'),
        ('omd_reader', 'pg_monitor'),
        ('omd_data_reader', 'omd_runner'),
        ('omd_data_reader', 'omd_data_writer'),
        ('omd_guest', 'omd_owner')
    LOOP
        EXIT WHEN v_lacks IS NOT NULL;
        BEGIN
            IF NOT pg_has_role(v_member, v_role, 'MEMBER') THEN
                EXECUTE format('GRANT %I TO %I', v_role, v_member);
            END IF;
        EXCEPTION
            WHEN unique_violation OR insufficient_privilege THEN
                NULL;
        END;
    END LOOP;
    -- Lineage asks since when each writer has been at work, whatever its role is. On a managed
    -- server an administrator may be able to grant only the larger role.
    FOREACH v_role IN ARRAY ARRAY['pg_read_all_stats', 'pg_monitor'] LOOP
        EXIT WHEN v_lacks IS NOT NULL OR pg_has_role('omd_owner', 'pg_read_all_stats', 'MEMBER');
        BEGIN
            EXECUTE format('GRANT %I TO omd_owner', v_role);
        EXCEPTION
            WHEN insufficient_privilege OR unique_violation THEN
                NULL;
        END;
    END LOOP;
    IF v_lacks IS NULL AND NOT pg_has_role('omd_owner', 'pg_read_all_stats', 'MEMBER') THEN
        RAISE WARNING USING
            MESSAGE = 'omd_owner can''t see since when other roles work, so a topic of lineage waits '
                'for every writer of its base table, and a run in the database whose statement was '
                'broken off lives for a day while its connection is open',
            HINT = 'As a superuser: GRANT pg_read_all_stats TO omd_owner;';
    END IF;
    -- An installer that is not a superuser must be able to act as the owner.
    FOREACH v_member IN ARRAY CASE
        WHEN v_named IS NULL THEN ARRAY[current_user]
        WHEN current_setting('omd_install.part', TRUE) = 'roles' THEN ARRAY[v_named]
        ELSE ARRAY[current_user, v_named]
    END LOOP
        EXIT WHEN v_lacks IS NOT NULL;
        IF NOT pg_has_role(v_member, 'omd_owner', v_may_act) THEN
            BEGIN
                EXECUTE format('GRANT omd_owner TO %I', v_member);
            EXCEPTION
                WHEN unique_violation THEN
                    NULL;
                WHEN insufficient_privilege THEN
                    v_lacks := 'the ADMIN OPTION on omd_owner, or the membership in it';
                    v_hint := format(
                        'As a superuser, or as who created the role: GRANT omd_owner TO %I;', v_member
                    );
            END;
        END IF;
    END LOOP;
    IF v_lacks IS NULL
        AND NOT has_database_privilege('omd_owner', current_database(), 'CREATE')
    THEN
        BEGIN
            EXECUTE format('GRANT CREATE ON DATABASE %I TO omd_owner', current_database());
        EXCEPTION
            WHEN insufficient_privilege THEN
                NULL;
        END;
        -- Who may create schemas, but not grant that, gets a warning and no error.
        IF NOT has_database_privilege('omd_owner', current_database(), 'CREATE') THEN
            v_lacks := format(
                'CREATE on the database %I WITH GRANT OPTION, or its ownership', current_database()
            );
            v_hint := format(
                'As its owner: GRANT CREATE ON DATABASE %I TO omd_owner;', current_database()
            );
        END IF;
    END IF;
    IF v_lacks IS NOT NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'OM906',
            MESSAGE = format('the installer %I lacks %s', current_user, v_lacks),
            DETAIL = jsonb_build_object('installer', current_user, 'lacks', v_lacks),
            HINT = v_hint;
    END IF;
END
$do$;
