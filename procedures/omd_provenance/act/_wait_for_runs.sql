-- Nothing is locked meanwhile, so everybody goes on, also who must end before these do.

CREATE OR REPLACE FUNCTION omd_provenance._wait_for_runs(
    p_module_array integer[],
    p_until timestamptz
)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $wait_for_runs$
DECLARE
    v_left jsonb;
BEGIN
    LOOP
        SELECT jsonb_agg(
            jsonb_build_object(
                'module_instance_id', w.module_instance_id,
                'module_code', w.module_code,
                'backend_pid', w.backend_pid,
                'is_in_database', w.is_in_database
            )
            ORDER BY w.module_instance_id
        )
        INTO v_left
        FROM omd.runs_at_work(p_module_array) AS w
        WHERE NOT w.is_dead;
        EXIT WHEN v_left IS NULL OR clock_timestamp() >= p_until;
        PERFORM pg_sleep(
            greatest(0, least(0.05, extract(EPOCH FROM p_until - clock_timestamp())))
        );
    END LOOP;
    RETURN jsonb_path_query_array(v_left, '$[*] ? (@.is_in_database == true)');
END
$wait_for_runs$;

COMMENT ON FUNCTION omd_provenance._wait_for_runs IS
'Waits until no run of the Modules p_module_array executes and lives, at most until p_until. '
'Returns those that the database still performs then, as a JSON array; NULL when nothing is at '
'work. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._wait_for_runs TO omd_admin;
