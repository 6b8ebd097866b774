-- What the runs kept stays, so they are marked before the trigger of the undo would delete it. Runs
-- without a window have read all there was, and one run does so again.

CREATE OR REPLACE FUNCTION omd_decision._give_back_runs(
    p_stage_id integer,
    p_instance_array bigint[],
    p_recall_instance_id bigint,
    p_recall_id bigint,
    p_reason text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $give_back_runs$
DECLARE
    v_run record;
    v_without bigint[] := '{}'::bigint[];
BEGIN
    FOR v_run IN
        SELECT
            i.id,
            num_nonnulls(w.end_value, w.end_id) > 0 AS has_window,
            ARRAY[i.id] || coalesce(r.supersedes, '{}') AS former
        FROM unnest(p_instance_array) AS i (id)
        CROSS JOIN LATERAL omd.instance_state(i.id) AS w
        LEFT JOIN omd_decision.run AS r ON i.id = r.module_instance_id
        ORDER BY i.id
    LOOP
        IF v_run.has_window THEN
            PERFORM omd.keep_window(v_run.id, p_recall_id, v_run.former);
        ELSE
            v_without := v_without || v_run.former;
        END IF;
    END LOOP;
    IF v_without <> '{}' THEN
        PERFORM omd.keep_window(
            (
                SELECT max(w.id) FROM unnest(v_without) AS w (id)
                WHERE w.id = ANY(p_instance_array)
            ),
            p_recall_id,
            v_without || omd.drop_windows(s.module_id)
        )
        FROM omd_decision.stage AS s
        WHERE s.stage_id = p_stage_id;
    END IF;
    UPDATE omd_decision.run AS r SET recall_id = p_recall_id
    WHERE r.module_instance_id = ANY(p_instance_array);
    PERFORM omd.mark_taken_back(p_instance_array, p_recall_instance_id);
    PERFORM omd.write_event(
        p_recall_instance_id, 0, 5, 'RECALL',
        format(
            'recall %s took back runs %s of stage %s: %s',
            p_recall_id, array_to_string(p_instance_array, ', '), s.stage_code, p_reason
        )
    )
    FROM omd_decision.stage AS s
    WHERE s.stage_id = p_stage_id;
END
$give_back_runs$;

COMMENT ON FUNCTION omd_decision._give_back_runs IS
'Writes down that the runs p_instance_array of the stage p_stage_id, whose rows have gone, are '
'undone by p_recall_instance_id, the run of the recall p_recall_id, because of p_reason, and that '
'their windows are to be taken again. Locks: the instances.';
GRANT EXECUTE ON FUNCTION omd_decision._give_back_runs TO omd_admin;
