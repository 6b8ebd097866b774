-- Counts, events and success are one transaction. Whoever lost the answer calls again: a run
-- that has its counts and has succeeded stays as it is.

CREATE OR REPLACE PROCEDURE omd_decision.commit_stage(
    p_module_instance_id bigint,
    p_counts jsonb
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $commit_stage$
DECLARE
    v_run record;
BEGIN
    SELECT r.* INTO v_run FROM omd_decision._run_plan(p_module_instance_id) AS r;
    IF p_counts IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_counts'));
    ELSIF v_run.execution_status_code = 'S' THEN
        RETURN;
    END IF;
    PERFORM omd_decision._judge(v_run.definition, p_counts -> 'rejects');
    CALL omd.module_success(
        p_module_instance_id,
        p_rows_input => (p_counts ->> 'rows_input')::bigint,
        p_rows_inserted => (p_counts ->> 'rows_inserted')::bigint,
        p_rows_rejected => (p_counts ->> 'rows_rejected')::bigint
    );
    PERFORM omd_decision._finish_run(p_module_instance_id, p_counts);
END
$commit_stage$;

COMMENT ON PROCEDURE omd_decision.commit_stage IS
'Ends the run p_module_instance_id of a stage with status S and records its counts. p_counts: '
'{"waves", "attempts", "cycles", "invocations", "rows_input", "rows_inserted", "rows_rejected", '
'"rejects"}, where rejects is a list as in judge_rejects; a count that is absent is 0. A run '
'that has succeeded stays as it is. Errors: OM005: an argument is NULL; OM007: a count is '
'negative; OM101: it has ended otherwise; OM102: it does not proceed; OM181: it is no run of a '
'stage; OM280, OM281, OM282: rejects that the stage forbids. Locks: the instance row. Call again '
'when the answer was lost.';
REVOKE ALL ON PROCEDURE omd_decision.commit_stage FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_decision.commit_stage TO omd_runner;
