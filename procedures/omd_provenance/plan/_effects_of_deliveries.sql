-- Tables of deliveries and facts belong to OMD, so their rows are not counted with the rights of
-- the caller.

CREATE OR REPLACE FUNCTION omd_provenance._effects_of_deliveries(
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
AS $effects_of_deliveries$
BEGIN
    RETURN QUERY
    SELECT e.* FROM omd_facts.recall_effects(p_instance_array, p_is_counted) AS e
    UNION ALL
    SELECT e.* FROM omd_delivery.recall_effects(p_instance_array, p_is_counted) AS e;
END
$effects_of_deliveries$;

COMMENT ON FUNCTION omd_provenance._effects_of_deliveries IS
'Returns what it would do to take back those of the runs p_instance_array that are deliveries or '
'loads of the facts, as their rooms say. p_is_counted: count rows. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._effects_of_deliveries TO omd_admin;
