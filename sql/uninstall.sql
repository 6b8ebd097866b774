-- This script removes OMD from this database in one transaction: its schemas with everything in
-- them, and its roles, unless another database of the server uses them. The tables that your
-- Modules loaded are yours and stay. So do the schemas of delivered rows (lvl_, wrk_, stg_), which
-- belong to you then: DROP SCHEMA removes them when you want it. Who runs it is a superuser, or has
-- CREATEROLE and the ADMIN OPTION on the roles, as who installed OMD has.
-- PGOPTIONS='-c omd_install.keep_roles=yes' leaves the roles, their memberships and the right of
-- omd_owner to create schemas here, so that whoever may act as omd_owner can remove OMD and install
-- it again.

BEGIN;
SET LOCAL search_path = pg_catalog, pg_temp;

DO $do$
DECLARE
    v_roles CONSTANT text[] := ARRAY[
        'omd_data_writer', 'omd_data_reader', 'omd_reader', 'omd_runner', 'omd_admin', 'omd_guest',
        'omd_owner'
    ];
    -- What a role owns, or may do, is dropped only with its rights, for which a membership without
    -- inheritance is not enough; before PostgreSQL 16 that is not said for each membership.
    v_inherits CONSTANT text := CASE
        WHEN current_setting('server_version_num')::integer >= 160000
            THEN ' WITH INHERIT TRUE, SET TRUE'
        ELSE ''
    END;
    v_keeps_roles CONSTANT boolean
    := coalesce(current_setting('omd_install.keep_roles', TRUE), '') = 'yes';
    v_set_role CONSTANT text := current_setting('role');
    v_role text;
    v_grantor text;
    v_schema text;
    v_routine regprocedure;
    v_kept text[] := '{}';
    v_grantees text;
    v_detail text;
BEGIN
    IF to_regrole('omd_owner') IS NOT NULL
        AND NOT pg_has_role(current_user, 'omd_owner', 'USAGE')
    THEN
        EXECUTE format('GRANT omd_owner TO %I', current_user) || v_inherits;
    END IF;
    -- Installers hold this lock, and so does another removal; who waited finds nothing left.
    BEGIN
        LOCK TABLE omd.installed_file IN SHARE ROW EXCLUSIVE MODE;
    EXCEPTION
        WHEN undefined_table OR invalid_schema_name THEN
            NULL;
    END;
    FOR v_schema IN
        SELECT n.nspname
        FROM pg_namespace AS n
        WHERE n.nspowner = to_regrole('omd_owner') AND n.nspname ~ '^omd(_|$)'
    LOOP
        EXECUTE format('DROP SCHEMA IF EXISTS %I CASCADE', v_schema);
    END LOOP;
    -- What a role may do with rows that stay would keep the role.
    SELECT string_agg(quote_ident(r.rolname), ', ') INTO v_grantees
    FROM pg_roles AS r
    WHERE r.rolname = ANY(v_roles) AND r.rolname <> 'omd_owner';
    FOR v_schema IN
        SELECT n.nspname
        FROM pg_namespace AS n
        WHERE n.nspowner = to_regrole('omd_owner')
        ORDER BY n.nspname
    LOOP
        EXECUTE format(
            'REVOKE ALL ON SCHEMA %1$I FROM %2$s;'
            ' REVOKE ALL ON ALL TABLES IN SCHEMA %1$I FROM %2$s',
            v_schema, v_grantees
        );
        v_kept := v_kept || quote_ident(v_schema);
    END LOOP;
    -- Writers of views work with the rights of their owner, who may be a superuser from here on,
    -- and call what anybody may create again when it is gone.
    FOR v_routine IN
        SELECT p.oid
        FROM pg_proc AS p
        WHERE p.proowner IN (to_regrole('omd_owner'), to_regrole('omd_guest')) AND p.prosecdef
    LOOP
        EXECUTE format('DROP ROUTINE %s CASCADE', v_routine);
    END LOOP;
    IF to_regrole('omd_owner') IS NOT NULL THEN
        REASSIGN OWNED BY omd_owner TO CURRENT_USER;
    END IF;
    IF v_kept <> '{}' THEN
        RAISE WARNING USING
            MESSAGE = format(
                'these schemas hold delivered rows and stay; they belong to %s now: %s',
                current_user, array_to_string(v_kept, ', ')
            ),
            HINT = format('DROP SCHEMA %s CASCADE;', array_to_string(v_kept, ', '));
    END IF;
    IF v_keeps_roles THEN
        RETURN;
    END IF;
    -- What the roles may do with this database goes also where another one keeps the roles. Only
    -- the grantor can take it back.
    FOR v_role, v_grantor IN
        SELECT DISTINCT a.grantee::regrole, pg_get_userbyid(a.grantor)
        FROM pg_database AS d
        CROSS JOIN LATERAL aclexplode(d.datacl) AS a
        WHERE d.datname = current_database() AND a.grantee::regrole::text = ANY(v_roles)
    LOOP
        PERFORM set_config('role', v_grantor, TRUE);
        EXECUTE format('REVOKE ALL ON DATABASE %I FROM %s', current_database(), v_role);
        PERFORM set_config('role', v_set_role, TRUE);
    END LOOP;
    -- A role without a privilege in the other database would go alone, so they go together.
    BEGIN
        FOREACH v_role IN ARRAY v_roles LOOP
            IF to_regrole(v_role) IS NOT NULL THEN
                IF NOT pg_has_role(current_user, v_role, 'USAGE') THEN
                    EXECUTE format('GRANT %I TO %I', v_role, current_user) || v_inherits;
                END IF;
                EXECUTE format('DROP OWNED BY %I', v_role);
                EXECUTE format('DROP ROLE %I', v_role);
            END IF;
        END LOOP;
    EXCEPTION
        WHEN dependent_objects_still_exist THEN
            GET STACKED DIAGNOSTICS v_detail = PG_EXCEPTION_DETAIL;
            RAISE NOTICE USING
                MESSAGE = format('the roles stay, since %I is still used', v_role),
                DETAIL = v_detail;
    END;
EXCEPTION
    WHEN insufficient_privilege THEN
        RAISE EXCEPTION USING
            ERRCODE = 'OM906',
            MESSAGE = format(
                '%I lacks CREATEROLE or the ADMIN OPTION on %s: %s', current_user,
                coalesce(v_role, 'omd_owner'), sqlerrm
            ),
            DETAIL = jsonb_build_object(
                'installer', current_user,
                'lacks', 'ADMIN OPTION on ' || coalesce(v_role, 'omd_owner')
            ),
            HINT = format(
                'As a superuser: ALTER ROLE %1$I CREATEROLE; GRANT %2$s TO %1$I WITH ADMIN OPTION;',
                current_user, array_to_string(v_roles, ', ')
            );
END
$do$;

COMMIT;
