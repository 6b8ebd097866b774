-- omd_lake.runs_in_block has the rule; the arguments of a caller are checked here.

CREATE OR REPLACE FUNCTION omd_lake.instances_in_window(
    p_table_code text,
    p_start_value timestamptz,
    p_start_id bigint,
    p_end_value timestamptz,
    p_end_id bigint
)
RETURNS TABLE (
    module_instance_id bigint
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $instances_in_window$
DECLARE
    v_table_code text := omd_lake._spell_table(p_table_code);
BEGIN
    p_end_value := omd.require_argument('p_end_value', p_end_value);
    p_end_id := omd.require_argument('p_end_id', p_end_id);
    RETURN QUERY
    SELECT r.id
    FROM unnest(
        omd_lake.runs_in_block(
            v_table_code, p_start_value, p_start_id, p_end_value, p_end_id
        )
    ) AS r (id);
END
$instances_in_window$;

COMMENT ON FUNCTION omd_lake.instances_in_window IS
'For the driver: '
'Returns the runs whose writes into the lake table p_table_code lie in the load window '
'(p_start_value and p_start_id, p_end_value and p_end_id] and are not undone. p_start_value, '
'p_start_id: where it starts; NULL: at the very beginning. The window reads the live rows that '
'these runs stamped, as of its end. Errors: OM005, OM009, OM013. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lake.instances_in_window TO omd_reader;
