-- Tables of OMD itself are not counted with the rights of the caller.

CREATE OR REPLACE FUNCTION omd_provenance._effects_of_own(
    p_instance_array bigint[],
    p_is_counted boolean
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
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $effects_of_own$
DECLARE
    v_routine text;
BEGIN
    FOR v_routine IN SELECT h.routine FROM omd.room_hooks('RECALL_EFFECTS_OWN') AS h LOOP
        RETURN QUERY EXECUTE format('SELECT e.* FROM %s($1, $2) AS e', v_routine)
        USING p_instance_array, p_is_counted;
    END LOOP;
END
$effects_of_own$;

COMMENT ON FUNCTION omd_provenance._effects_of_own IS
'Returns what it would do to take back those of the runs p_instance_array whose rows are in tables '
'of OMD, as their rooms say. p_is_counted: count rows. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._effects_of_own TO omd_admin;
