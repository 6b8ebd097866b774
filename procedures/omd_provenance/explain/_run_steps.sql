-- The way is looked for with the rights of the caller, and put into words with those of the owner.

CREATE OR REPLACE FUNCTION omd_provenance._run_steps(
    p_module_instance_id bigint
)
RETURNS TABLE (
    step text,
    module_instance_id bigint,
    delivery_id bigint,
    text text,
    detail jsonb
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $run_steps$
BEGIN
    RETURN QUERY
    SELECT s.*
    FROM omd_provenance._way_steps(
        p_module_instance_id,
        (
            SELECT jsonb_agg(to_jsonb(w))
            FROM (
                SELECT 'UP' AS direction, r.*
                FROM omd_provenance._walk(p_module_instance_id, TRUE, TRUE, 20, 50) AS r
                ORDER BY r.distance, r.module_instance_id
                LIMIT 50
            ) AS w
        )
    ) AS s;
END
$run_steps$;

COMMENT ON FUNCTION omd_provenance._run_steps IS
'Returns the steps RUN and SOURCE of omd_provenance.explain: the run p_module_instance_id, and the '
'50 nearest that it has read. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._run_steps TO omd_data_reader;
