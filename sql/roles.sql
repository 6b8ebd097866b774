-- The roles of OMD. None of them can log in: they are granted to the roles that do. Each
-- installation runs this file; it changes nothing when the roles exist. Run it in a transaction, as
-- its first statement keeps functions out that a stranger has put into public.

SET LOCAL search_path = pg_catalog, pg_temp;

-- Roles belong to the whole server, so the installer of another database may create them at the
-- same moment.
DO $do$
DECLARE
    v_role text;
    v_member text;
BEGIN
    FOREACH v_role IN ARRAY ARRAY[
        'omd_owner', 'omd_runner', 'omd_admin', 'omd_reader', 'omd_data_reader', 'omd_data_writer'
    ] LOOP
        BEGIN
            IF to_regrole(v_role) IS NULL THEN
                EXECUTE format('CREATE ROLE %I NOLOGIN', v_role);
            END IF;
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN
                NULL;
        END;
    END LOOP;
    -- A role that runs or administers may also read, and so may the server's monitoring role. Whoever
    -- runs deliveries reads business rows, and so does whoever edits them.
    FOR v_role, v_member IN
        VALUES
        ('omd_reader', 'omd_runner'),
        ('omd_reader', 'omd_admin'),
        ('omd_reader', 'pg_monitor'),
        ('omd_data_reader', 'omd_runner'),
        ('omd_data_reader', 'omd_data_writer')
    LOOP
        BEGIN
            IF NOT pg_has_role(v_member, v_role, 'MEMBER') THEN
                EXECUTE format('GRANT %I TO %I', v_role, v_member);
            END IF;
        EXCEPTION
            WHEN unique_violation OR insufficient_privilege THEN
                NULL;
        END;
    END LOOP;
    -- Lineage asks since when each writer has been at work, whatever its role is.
    BEGIN
        IF NOT pg_has_role('omd_owner', 'pg_read_all_stats', 'MEMBER') THEN
            EXECUTE 'GRANT pg_read_all_stats TO omd_owner';
        END IF;
    EXCEPTION
        WHEN insufficient_privilege THEN
            RAISE WARNING USING
                MESSAGE = 'omd_owner can''t see since when other roles write, so a topic of lineage '
                    'waits for every writer of its base table',
                HINT = 'As a superuser: GRANT pg_read_all_stats TO omd_owner;';
        WHEN unique_violation THEN
            NULL;
    END;
    -- An installer that is not a superuser must be able to act as the owner.
    IF NOT pg_has_role(current_user, 'omd_owner', 'MEMBER') THEN
        EXECUTE format('GRANT omd_owner TO %I', current_user);
    END IF;
    IF NOT has_database_privilege('omd_owner', current_database(), 'CREATE') THEN
        EXECUTE format('GRANT CREATE ON DATABASE %I TO omd_owner', current_database());
    END IF;
END
$do$;
