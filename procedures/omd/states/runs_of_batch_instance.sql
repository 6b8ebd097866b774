-- What a Batch called in child Batches is of it too.

CREATE OR REPLACE FUNCTION omd.runs_of_batch_instance(
    p_batch_instance_id bigint
)
RETURNS bigint[]
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $runs_of_batch_instance$
BEGIN
    PERFORM omd._require_batch_instance(p_batch_instance_id);
    RETURN ARRAY(
        WITH RECURSIVE called AS (
            SELECT p_batch_instance_id AS batch_instance_id
            UNION
            SELECT bi.batch_instance_id
            FROM called AS c
            INNER JOIN omd.batch_instance AS bi
                ON c.batch_instance_id = bi.parent_batch_instance_id
        )

        SELECT mi.module_instance_id
        FROM called AS c
        INNER JOIN omd.module_instance AS mi USING (batch_instance_id)
        WHERE mi.module_id IS NOT NULL
        ORDER BY mi.module_instance_id
    );
END
$runs_of_batch_instance$;

COMMENT ON FUNCTION omd.runs_of_batch_instance IS
'For rooms: Returns the Module Instances that the Batch Instance p_batch_instance_id has called, '
'also through child Batches, in the order of their ids. Errors: OM003. Locks: none.';
