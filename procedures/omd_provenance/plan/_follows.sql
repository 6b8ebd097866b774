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
BEGIN
    RETURN QUERY
    SELECT f.* FROM omd.recall_follows(p_instance_array, p_again_array) AS f
    UNION ALL
    SELECT f.* FROM omd_lineage.recall_follows(p_instance_array, p_again_array) AS f
    UNION ALL
    SELECT f.* FROM omd_decision.recall_follows(p_instance_array, p_again_array) AS f
    UNION ALL
    SELECT f.* FROM omd_facts.recall_follows(p_instance_array, p_again_array) AS f
    UNION ALL
    SELECT f.* FROM omd_delivery.recall_follows(p_instance_array, p_again_array) AS f;
END
$follows$;

COMMENT ON FUNCTION omd_provenance._follows IS
'Returns the runs that go with the runs p_instance_array by the rules of their rooms, and because '
'of which. p_again_array: those that come again. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._follows TO omd_admin;
