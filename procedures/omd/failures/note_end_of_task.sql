-- A run that has failed has counted itself, and so has a begin that was refused, under the claim of
-- its task. What is left are mistakes of the call, locks and cancels, which count for a worker
-- since it would meet them again at once, what never came to a begin, and looks that found nothing.

CREATE OR REPLACE FUNCTION omd.note_end_of_task(
    p_task_id bigint,
    p_claim_token bigint,
    p_module_code text,
    p_outcome text,
    p_detail text,
    p_code text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $note_end_of_task$
DECLARE
    v_run record;
    v_module_id integer;
BEGIN
    SELECT i.* INTO v_run FROM omd.instance_of_task(p_task_id, p_claim_token) AS i;
    IF v_run.execution_status_code = 'E' THEN
        -- Its worker says that nobody performs it.
        PERFORM omd.give_up_runs_of_task(
            p_task_id, p_claim_token, 'its task has ended: ' || coalesce(p_detail, 'it says no more')
        );
        RETURN;
    END IF;
    SELECT m.module_id INTO v_module_id FROM omd.module AS m WHERE m.module_code = p_module_code;
    IF NOT FOUND
        OR v_run.execution_status_code = 'F'
        OR EXISTS (
            SELECT FROM omd.module_state AS s
            WHERE s.module_id = v_module_id AND s.last_claim_token = p_claim_token
        )
    THEN
        RETURN;
    END IF;
    IF p_outcome = 'C' THEN
        IF v_run.execution_status_code IS NULL THEN
            PERFORM omd.note_look(v_module_id);
        END IF;
        RETURN;
    END IF;
    PERFORM omd.count_failure(v_module_id, NULL, p_detail, p_code);
    UPDATE omd.module_state AS s SET last_claim_token = p_claim_token
    WHERE s.module_id = v_module_id;
END
$note_end_of_task$;

COMMENT ON FUNCTION omd.note_end_of_task IS
'For rooms: Counts that the task p_task_id has ended with p_outcome under the claim p_claim_token, '
'for the Module p_module_code: F as a failure, C as a look that found nothing when it has begun no '
'run. What a run of it has counted is not counted again, and what it has begun and nobody ends is '
'declared dead. p_detail: the text of the error; p_code: its code. An unknown Module is passed '
'over. Locks: the instances, then the state of the Module.';
