-- A writer or reader has the lock of a view before it meets any lock of OMD, so a deployment takes
-- the views first, and the interface last. While it waits for one view it may hold others, which
-- transactions at work need to end. So it asks for all of them for a moment that is shorter than
-- deadlock_timeout, lets all go, and begins with the one that it lacked: nobody waits in a circle
-- for long enough to be ended for it.

CREATE OR REPLACE PROCEDURE omd_facts.hold_views(
    p_interface_code text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hold_views$
DECLARE
    v_interface_id integer;
    v_names text[];
    v_name text;
    v_lacking text;
    v_former CONSTANT text := current_setting('lock_timeout');
    v_limit CONSTANT interval := v_former::interval;
    v_round CONSTANT interval := least(
        interval '300 milliseconds', current_setting('deadlock_timeout')::interval / 3
    );
    v_began CONSTANT timestamptz := clock_timestamp();
    v_deadline timestamptz;
BEGIN
    PERFORM omd.require_name('p_interface_code', p_interface_code);
    SELECT i.interface_id INTO v_interface_id
    FROM omd_facts.interface AS i
    WHERE i.interface_code = p_interface_code;
    LOOP
        BEGIN
            -- LOCK takes the tables of a view too, but those of changes are of all interfaces: an ALTER
            -- that alters nothing takes such a view alone.
            v_names := ARRAY(
                SELECT v.name FROM omd_facts._present_views(v_interface_id) AS v
                ORDER BY v.name IS DISTINCT FROM v_lacking, v.name
            );
            v_deadline := clock_timestamp() + v_round;
            FOREACH v_name IN ARRAY v_names LOOP
                v_lacking := v_name;
                PERFORM set_config(
                    'lock_timeout',
                    greatest(
                        1,
                        extract(EPOCH FROM v_deadline - clock_timestamp()) * 1000
                    )::integer::text,
                    TRUE
                );
                EXECUTE format(
                    CASE
                        WHEN v_name ~ '^"?changes_' THEN 'ALTER VIEW %s OWNER TO omd_owner'
                        ELSE 'LOCK TABLE %s IN ACCESS EXCLUSIVE MODE'
                    END,
                    v_name
                );
            END LOOP;
            PERFORM set_config('lock_timeout', v_former, TRUE);
            RETURN;
        EXCEPTION
            WHEN lock_not_available OR deadlock_detected OR undefined_table THEN
                NULL;
        END;
        IF v_limit > interval '0' AND clock_timestamp() > v_began + v_limit THEN
            PERFORM omd.raise_error(
                'OM160',
                jsonb_build_object(
                    'interface_code', p_interface_code,
                    'problem', format('readers or writers of %s are at work', v_lacking)
                )
            );
        END IF;
        -- All is released, so who still waits for this session waits for what it held before.
        IF EXISTS (
            SELECT
            FROM pg_locks AS l
            INNER JOIN pg_class AS c ON l.relation = c.oid
            INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
            WHERE n.nspname IN (
                'cfl_' || p_interface_code, 'gdal_' || p_interface_code,
                'asof_' || p_interface_code, 'history_' || p_interface_code,
                'changes_' || p_interface_code
            )
                AND l.database = (
                    SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()
                )
                AND l.granted
                AND pg_backend_pid() = ANY(pg_blocking_pids(l.pid))
        ) THEN
            PERFORM omd.raise_error(
                'OM160',
                jsonb_build_object(
                    'interface_code', p_interface_code,
                    'problem', format(
                        'a session that uses %s waits for this transaction', v_lacking
                    )
                )
            );
        END IF;
    END LOOP;
END
$hold_views$;

COMMENT ON PROCEDURE omd_facts.hold_views IS
'For the driver: '
'Waits for the readers and writers of the facts of the interface p_interface_code, and lets none '
'in until the transaction ends. deploy does it; call it before deploy_model, where both are one '
'transaction. An interface without facts has no views. lock_timeout is how long it waits. Errors: '
'OM005, OM013, OM160: it has waited too long, or somebody waits for this transaction. Locks: the '
'views and their tables, against all.';
GRANT EXECUTE ON PROCEDURE omd_facts.hold_views TO omd_admin;
