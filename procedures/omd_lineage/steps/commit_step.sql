-- Rows on Spark carry the instance id and count once the instance succeeds, so offset, log and
-- success are one commit. A driver that lost the answer calls again.

CREATE OR REPLACE PROCEDURE omd_lineage.commit_step(
    p_module_instance_id bigint,
    p_plan_number bigint,
    p_rows_inserted bigint DEFAULT NULL,
    p_nulls jsonb DEFAULT NULL,
    p_query_id text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $commit_step$
DECLARE
    v_rows_input bigint;
BEGIN
    IF p_module_instance_id IS NULL OR p_plan_number IS NULL THEN
        PERFORM omd.raise_error(
            'OM005',
            jsonb_build_object(
                'argument',
                CASE WHEN p_plan_number IS NULL THEN 'p_plan_number' ELSE 'p_module_instance_id' END
            )
        );
    ELSIF jsonb_typeof(p_nulls) <> 'object' THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_nulls', 'value', left(p_nulls::text, 100),
                'expected', 'an object of column and number of NULLs'
            )
        );
    END IF;
    -- The step may have committed already and the answer was lost, so a second call is accepted.
    PERFORM FROM omd_lineage.log AS l WHERE l.module_instance_id = p_module_instance_id;
    IF FOUND THEN
        RETURN;
    END IF;
    PERFORM omd_lineage._require_standing_block(p_module_instance_id);
    v_rows_input := omd_lineage._advance_offset(
        p_module_instance_id, p_plan_number, p_rows_inserted, p_nulls, p_query_id
    );
    CALL omd.module_success(
        p_module_instance_id, p_rows_input => v_rows_input, p_rows_inserted => p_rows_inserted
    );
END
$commit_step$;

COMMENT ON PROCEDURE omd_lineage.commit_step IS
'For the driver: '
'Ends the step p_module_instance_id that begin_step began, under its fence p_plan_number: moves '
'the offset, writes the log and ends the Module Instance with S. p_rows_inserted: number of rows '
'inserted, NULL counts as 0. p_nulls: JSON object of column and number of NULLs, NULL for none. '
'p_query_id: how the engine names the work in its own logs, NULL when it does not. A second call '
'changes nothing. Errors: OM004: there is no such instance of a topic; OM005: p_module_instance_id'
' or p_plan_number is NULL; OM007: p_rows_inserted is negative; OM013: p_nulls is not an object; '
'OM101: the instance has ended; OM102: it may not proceed; OM108: the step does not hold its topic'
' any more; OM114: rows of facts that it read are taken back. Locks: what it read of facts, beside '
'readers; the offset; the instance row. Call again when the answer was lost; OM101 with '
'execution_status_code S says that it is done.';
GRANT EXECUTE ON PROCEDURE omd_lineage.commit_step TO omd_runner;
