-- Each room knows what stands on what in its own order.

CREATE OR REPLACE FUNCTION omd_provenance._follows(
    p_instance_array bigint[],
    p_again_array bigint[]
)
RETURNS TABLE (
    module_instance_id bigint,
    because_of bigint
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $follows$
DECLARE
    v_routine text;
BEGIN
    FOR v_routine IN SELECT h.routine FROM omd.room_hooks('RECALL_FOLLOWS') AS h LOOP
        RETURN QUERY EXECUTE format('SELECT f.* FROM %s($1, $2) AS f', v_routine)
        USING p_instance_array, p_again_array;
    END LOOP;
END
$follows$;

COMMENT ON FUNCTION omd_provenance._follows IS
'Returns the runs that go with the runs p_instance_array by the rules of their rooms, and because '
'of which. p_again_array: those that come again. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._follows TO omd_admin;
