-- The two bounds say the same as = and lead to the index of the Module, as in
-- _last_real_module_run.

CREATE OR REPLACE FUNCTION omd._oldest_of_last_runs(
    p_module_id integer
)
RETURNS bigint
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT min(l.module_instance_id)
    FROM (
        SELECT mi.module_instance_id
        FROM omd.module_instance AS mi
        WHERE
            mi.module_id >= p_module_id
            AND mi.module_id <= p_module_id
            AND mi.execution_status_code IN ('S', 'F')
        ORDER BY mi.module_id DESC, mi.module_instance_id DESC
        LIMIT 20
    ) AS l;
END;

COMMENT ON FUNCTION omd._oldest_of_last_runs IS
'Returns the oldest of the last 20 instances of the Module p_module_id with status S or F: among '
'these, runs that were declared dead are looked after. NULL when it has none. Locks: none.';
