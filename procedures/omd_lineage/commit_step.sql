-- Ends a step that a driver has run: offset, log and success are one commit.

CREATE OR REPLACE PROCEDURE omd_lineage.commit_step(
    p_module_instance_id bigint,
    p_plan_number bigint,
    p_rows_inserted bigint DEFAULT NULL,
    p_nulls jsonb DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $commit_step$
DECLARE
    v_rows_input bigint;
BEGIN
    IF p_module_instance_id IS NULL THEN
        PERFORM omd.raise_error(
            'OM005', jsonb_build_object('argument', 'p_module_instance_id')
        );
    END IF;
    -- What this very step has committed already is as good: the answer may have been lost.
    PERFORM FROM omd_lineage.log AS l WHERE l.module_instance_id = p_module_instance_id;
    IF FOUND THEN
        RETURN;
    END IF;
    SELECT o.rows INTO v_rows_input FROM omd_lineage.offsets AS o
    WHERE o.module_instance_id = p_module_instance_id;
    PERFORM omd_lineage._advance_offset(
        p_module_instance_id, p_plan_number, p_rows_inserted, p_nulls
    );
    CALL omd.module_success(
        p_module_instance_id, p_rows_input => v_rows_input, p_rows_inserted => p_rows_inserted
    );
END
$commit_step$;

COMMENT ON PROCEDURE omd_lineage.commit_step IS
'Ends the step p_module_instance_id that begin_step began, under its fence p_plan_number: moves '
'the offset, writes the log (p_rows_inserted rows; p_nulls, an object, column: number of NULLs) '
'and ends the Module Instance with S. A second call changes nothing. Errors: OM004, OM005, OM007, '
'OM101, OM102, OM108. Locks: the offset, the instance row.';
REVOKE ALL ON PROCEDURE omd_lineage.commit_step FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_lineage.commit_step TO omd_runner;
