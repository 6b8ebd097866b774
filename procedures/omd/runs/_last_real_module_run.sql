-- The two bounds say the same as = and lead to the index of the Module. With = the planner would
-- know that the module_id needs no sorting and walk the primary key backwards, past all newer
-- instances of other Modules.

CREATE OR REPLACE FUNCTION omd._last_real_module_run(
    p_module_id integer
)
RETURNS bigint
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT mi.module_instance_id
    FROM omd.module_instance AS mi
    WHERE
        mi.module_id >= p_module_id
        AND mi.module_id <= p_module_id
        AND mi.execution_status_code IN ('S', 'F')
    ORDER BY mi.module_id DESC, mi.module_instance_id DESC
    LIMIT 1;
END;

COMMENT ON FUNCTION omd._last_real_module_run IS
'Returns the newest instance of the Module p_module_id with status S or F; NULL when it has none. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd._last_real_module_run TO omd_reader;
