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
    v_wrong text;
BEGIN
    SELECT r.* INTO v_run FROM omd_decision._run_plan(p_module_instance_id) AS r;
    p_counts := omd.require_argument('p_counts', p_counts);
    IF v_run.execution_status_code = 'S' THEN
        RETURN;
    END IF;
    IF jsonb_typeof(p_counts) <> 'object' THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_counts',
                'value', left(p_counts::text, 60),
                'expected', 'an object of counts'
            )
        );
    END IF;
    SELECT c.name INTO v_wrong
    FROM
        unnest(
            ARRAY[
                'waves', 'attempts', 'cycles', 'invocations', 'rows_input', 'rows_inserted',
                'rows_rejected'
            ]
        ) WITH ORDINALITY AS c (name, ordinal)
    WHERE p_counts ? c.name AND NOT omd.is_count(p_counts -> c.name)
    ORDER BY c.ordinal
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', v_wrong || ' of p_counts',
                'value', left((p_counts -> v_wrong)::text, 60),
                'expected', 'a whole number that is not negative and below 10^18'
            )
        );
    END IF;
    PERFORM omd_decision._require_rejects(
        'rejects of p_counts', p_counts -> 'rejects', v_run.definition
    );
    PERFORM omd_decision._judge(v_run.definition, p_counts -> 'rejects');
    PERFORM omd_decision._require_standing_block(p_module_instance_id);
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
'For the driver: '
'Ends the run p_module_instance_id of a stage with status S and records its counts. p_counts: '
'{"waves", "attempts", "cycles", "invocations", "rows_input", "rows_inserted", "rows_rejected", '
'"rejects"}, where rejects is a list as in judge_rejects; what is absent is 0, or none. A run '
'that has succeeded stays as it is. Errors: OM005: an argument is NULL; OM013: p_counts is no '
'such object; OM101: it has ended otherwise; OM102: it does not proceed; OM114: rows of its block '
'were taken back, so end it with fail_stage; OM181: it is no run of a stage; OM280, OM281, OM282: '
'rejects that the stage forbids. Locks: the source of its changes, beside readers; the instance '
'row. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_decision.commit_stage TO omd_runner;
