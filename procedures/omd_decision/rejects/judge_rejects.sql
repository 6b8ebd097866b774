-- Both engines fail by the same rules.

CREATE OR REPLACE PROCEDURE omd_decision.judge_rejects(
    p_module_instance_id bigint,
    p_counts jsonb
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $judge_rejects$
DECLARE
    v_run record;
BEGIN
    SELECT r.* INTO v_run FROM omd_decision._run_plan(p_module_instance_id) AS r;
    p_counts := omd.require_argument('p_counts', p_counts);
    PERFORM omd_decision._require_rejects('p_counts', p_counts, v_run.definition);
    PERFORM omd_decision._judge(v_run.definition, p_counts);
END
$judge_rejects$;

COMMENT ON PROCEDURE omd_decision.judge_rejects IS
'For the driver: '
'Raises an error when the stage of the run p_module_instance_id forbids what it rejects. p_counts:'
' a list of {"link", "code", "count"}; with "wave", "key", "sort_key" and "arrival" of the first '
'such record the error names it. Call it before anything is written. Errors: OM005: an argument is'
' NULL; OM013: p_counts is no such list; OM181: it is no run of a stage; OM280: LEFTOVER; OM281: '
'KEY_MISMATCH; OM282: more rejects than abort_after. Locks: none.';
GRANT EXECUTE ON PROCEDURE omd_decision.judge_rejects TO omd_runner;
