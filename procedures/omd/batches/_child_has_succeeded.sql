-- This is the partial restart of a parent, for its child Batches: a child that has succeeded in the
-- chain of failed instances of the parent does not run again. If rows of that run were rolled back
-- since, or will be, they must be loaded again, so the child runs.

CREATE OR REPLACE FUNCTION omd._child_has_succeeded(
    p_batch_id integer,
    p_parent_batch_id integer,
    p_parent_batch_instance_id bigint
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $child_has_succeeded$
DECLARE
    v_chain bigint[] := omd._failed_chains(p_parent_batch_id, ARRAY[p_parent_batch_instance_id]);
    v_succeeded bigint;
BEGIN
    SELECT max(bi.batch_instance_id) INTO v_succeeded
    FROM omd.batch_instance AS bi
    WHERE bi.parent_batch_instance_id = ANY(v_chain)
        AND bi.parent_batch_instance_id <> 0
        AND bi.batch_id = p_batch_id
        AND bi.execution_status_code = 'S';
    IF v_succeeded IS NULL OR EXISTS (
        SELECT FROM omd.batch_instance AS f
        WHERE f.batch_id = p_batch_id
            AND f.execution_status_code = 'F'
            AND f.batch_instance_id > v_succeeded
    ) THEN
        RETURN FALSE;
    END IF;

    RETURN NOT EXISTS (
        WITH RECURSIVE tree (batch_instance_id, next_run_indicator) AS (
            SELECT bi.batch_instance_id, bi.next_run_indicator
            FROM omd.batch_instance AS bi
            WHERE bi.batch_instance_id = v_succeeded
            UNION ALL
            SELECT child.batch_instance_id, child.next_run_indicator
            FROM tree AS t
            INNER JOIN omd.batch_instance AS child
                ON t.batch_instance_id = child.parent_batch_instance_id
            WHERE child.parent_batch_instance_id <> 0
        )

        SELECT FROM tree AS t
        LEFT JOIN omd.module_instance AS mi
            ON t.batch_instance_id = mi.batch_instance_id
            AND mi.batch_instance_id <> 0
            AND mi.execution_status_code = 'S'
        WHERE t.next_run_indicator = 'R'
            OR mi.next_run_indicator = 'R'
            OR mi.rolled_back_by_module_instance_id IS NOT NULL
    );
END
$child_has_succeeded$;

COMMENT ON FUNCTION omd._child_has_succeeded IS
'Returns whether the Batch p_batch_id has succeeded under a failed instance of p_parent_batch_id '
'since that one''s last success before p_parent_batch_instance_id, has not failed since, and '
'nothing of that run was rolled back or waits for its rollback. Locks: none.';
