-- A run of these kinds is made again by one run of its Module.

CREATE OR REPLACE FUNCTION omd.recall_effects(
    p_instance_array bigint[],
    p_is_counted boolean DEFAULT TRUE,
    p_row_counts jsonb DEFAULT NULL
)
RETURNS TABLE (
    module_instance_id bigint,
    delivery_id bigint,
    table_code text,
    action text,
    rows_go bigint,
    rows_back bigint,
    comes_again text,
    problem text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $recall_effects$
DECLARE
    v_runs record := omd._recall_runs(p_instance_array);
BEGIN
    RETURN QUERY
    SELECT
        mi.module_instance_id,
        NULL::bigint,
        m.table_code,
        'GIVE_UP',
        NULL::bigint,
        NULL::bigint,
        'RUN',
        NULL
    FROM omd.module_instance AS mi
    INNER JOIN omd.module AS m USING (module_id)
    WHERE mi.module_instance_id = ANY(v_runs.p_executing);
    RETURN QUERY
    SELECT
        r.module_instance_id,
        NULL::bigint,
        r.table_code,
        r.action,
        r.rows_go,
        r.rows_back,
        'RUN',
        r.problem
    FROM omd.rows_of_runs(v_runs.p_standing, p_instance_array, p_is_counted) AS r;
END
$recall_effects$;

COMMENT ON FUNCTION omd.recall_effects IS
'For rooms: Returns what it would do to take back the runs p_instance_array, those of kind SQL and '
'JOB, and exports that execute: a row per run and table, with action UNDO, GIVE_UP, PENDING or '
'BLOCKED, the rows that go and come back, how it comes again and what is in the way. p_is_counted '
'FALSE: no rows are counted; p_row_counts: that of each room, and not used. It reads with the '
'rights of the caller. Locks: none. May be NULL: delivery_id, rows_go, rows_back, problem.';
GRANT EXECUTE ON FUNCTION omd.recall_effects TO omd_admin;
