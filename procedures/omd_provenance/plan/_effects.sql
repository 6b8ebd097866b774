-- Rooms count rows of users with the rights of the caller.

CREATE OR REPLACE FUNCTION omd_provenance._effects(
    p_instance_array bigint[],
    p_is_counted boolean,
    p_row_counts jsonb
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
AS $effects$
DECLARE
    v_routine regproc;
BEGIN
    FOR v_routine IN SELECT h.routine::regproc FROM omd.room_hooks('RECALL_EFFECTS') AS h LOOP
        RETURN QUERY EXECUTE format('SELECT e.* FROM %s($1, $2, $3) AS e', v_routine)
        USING p_instance_array, p_is_counted, p_row_counts;
    END LOOP;
    RETURN QUERY
    SELECT e.* FROM omd_provenance._effects_of_own(p_instance_array, p_is_counted) AS e;
END
$effects$;

COMMENT ON FUNCTION omd_provenance._effects IS
'Returns what it would do to take back the runs p_instance_array, as each room says of its own: a '
'row per run and table. p_is_counted: count rows; p_row_counts: those that are counted already, '
'{run: {oid of the table: rows}}. It reads with the rights of the caller. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._effects TO omd_admin;
