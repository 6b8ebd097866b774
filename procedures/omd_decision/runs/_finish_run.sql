-- Both engines end a run with the same counts and events.

CREATE OR REPLACE FUNCTION omd_decision._finish_run(
    p_module_instance_id bigint,
    p_counts jsonb
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $finish_run$
DECLARE
    v_reject record;
BEGIN
    UPDATE omd_decision.run AS r SET
        waves = coalesce((p_counts ->> 'waves')::bigint, 0),
        attempts = coalesce((p_counts ->> 'attempts')::bigint, 0),
        cycles = coalesce((p_counts ->> 'cycles')::bigint, 0),
        invocations = coalesce((p_counts ->> 'invocations')::bigint, 0)
    WHERE r.module_instance_id = p_module_instance_id
        AND r.invocations IS NULL
        AND EXISTS (
            SELECT FROM omd.instance_state(r.module_instance_id) AS i
            WHERE i.execution_status_code IN ('E', 'S')
        );
    IF NOT FOUND THEN
        PERFORM omd.raise_error(
            'OM181', jsonb_build_object('module_instance_id', p_module_instance_id)
        );
    END IF;
    PERFORM omd.end_window(p_module_instance_id);
    FOR v_reject IN
        SELECT c.item ->> 'link' AS link, c.item ->> 'code' AS code, c.item ->> 'count' AS rejected
        FROM omd.json_items(p_counts -> 'rejects') AS c
        WHERE (c.item ->> 'count')::bigint > 0
        ORDER BY c.ordinal
    LOOP
        CALL omd.log_event(
            format('rejected records of link "%s": %s', v_reject.link, v_reject.rejected),
            p_module_instance_id => p_module_instance_id,
            p_event_type_code => 6,
            p_event_return_code_details => v_reject.code
        );
    END LOOP;
END
$finish_run$;

COMMENT ON FUNCTION omd_decision._finish_run IS
'Records the counts of the run p_module_instance_id: waves, attempts, cycles, invocations, and '
'one event for each of rejects, a list of {"link", "code", "count"}. Errors: OM181: it has its '
'counts, or has failed. Locks: the row of the run.';
GRANT EXECUTE ON FUNCTION omd_decision._finish_run TO omd_runner;
