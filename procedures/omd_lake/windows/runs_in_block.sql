-- A block is about writes. What maintenance or a rollback rewrote keeps the stamp of the run that
-- wrote it first, and was in an earlier block.

CREATE OR REPLACE FUNCTION omd_lake.runs_in_block(
    p_table_code text,
    p_start_value timestamptz,
    p_start_id bigint,
    p_end_value timestamptz,
    p_end_id bigint
)
RETURNS bigint[]
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $runs_in_block$
DECLARE
    v_instances bigint[];
BEGIN
    SELECT array_agg(DISTINCT c.module_instance_id) INTO v_instances
    FROM omd_lake.table_commit AS c
    WHERE c.table_code = p_table_code
        AND (c.commit_datetime, c.sequence_number) > (
            coalesce(p_start_value, '-infinity'), coalesce(p_start_id, -9223372036854775808)
        )
        AND (c.commit_datetime, c.sequence_number) <= (p_end_value, p_end_id)
        AND c.operation IN ('APPEND', 'OVERWRITE', 'HISTORY')
        AND c.module_instance_id IS NOT NULL;
    RETURN ARRAY(
        SELECT i.id
        FROM unnest(v_instances) AS i (id)
        WHERE i.id <> ALL(omd.undone_instances(v_instances))
        ORDER BY i.id
    );
END
$runs_in_block$;

COMMENT ON FUNCTION omd_lake.runs_in_block IS
'For rooms: returns the runs that committed rows to p_table_code behind the position '
'p_start_value, p_start_id (NULL: from the beginning) and up to p_end_value, p_end_id, and are '
'not undone, by id. Locks: none.';
