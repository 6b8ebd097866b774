-- A run keeps to the versions that it has begun with, whatever is defined meanwhile.
-- omd.run_module begins a run without knowing the room, so such a run is pinned when it
-- executes.

CREATE OR REPLACE FUNCTION omd_decision._pin_run(
    p_module_instance_id bigint,
    p_engine text,
    p_end_value timestamptz,
    p_end_id bigint,
    p_effective_at timestamptz
)
RETURNS text
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $pin_run$
DECLARE
    v_effective_at CONSTANT timestamptz := coalesce(p_effective_at, now());
    v_state record;
    v_stage omd_decision.stage;
    v_definition jsonb;
    v_version omd_decision.ruleset_version;
    v_batch_size bigint;
    v_window record;
    v_start timestamptz;
    v_start_id bigint;
BEGIN
    SELECT i.module_id, i.execution_status_code INTO v_state
    FROM omd.instance_state(p_module_instance_id) AS i;
    SELECT s.* INTO v_stage FROM omd_decision.stage AS s WHERE s.module_id = v_state.module_id;
    IF NOT FOUND OR v_state.execution_status_code <> 'E' THEN
        PERFORM omd.raise_error(
            'OM181', jsonb_build_object('module_instance_id', p_module_instance_id)
        );
    END IF;
    IF EXISTS (
        SELECT FROM omd_decision.run AS r WHERE r.module_instance_id = p_module_instance_id
    ) THEN
        RETURN NULL;
    END IF;

    SELECT d.definition INTO v_definition
    FROM omd_decision.stage_version AS d
    WHERE d.stage_id = v_stage.stage_id AND d.version = v_stage.version;
    v_version := omd_decision._require_ruleset(v_stage.stage_id, v_effective_at, p_engine);
    v_batch_size := omd_decision._batch_size(v_definition);
    INSERT INTO omd_decision.run (
        module_instance_id, stage_id, stage_version, ruleset_id, ruleset_version, content_hash,
        engine, batch_size, effective_at
    )
    VALUES (
        p_module_instance_id, v_stage.stage_id, v_stage.version, v_version.ruleset_id,
        v_version.version, v_version.content_hash, p_engine, v_batch_size, v_effective_at
    );
    IF v_batch_size <> (v_definition ->> 'batch_size')::bigint THEN
        CALL omd.log_event(
            format(
                'the batch size is 1 instead of %s, since a link is no array',
                v_definition ->> 'batch_size'
            ),
            p_module_instance_id => p_module_instance_id,
            p_event_type_code => 6,
            p_event_return_code_details => 'BATCH SIZE'
        );
    END IF;
    IF omd_decision._take_return(p_module_instance_id, v_stage.module_id, v_definition) THEN
        RETURN NULL;
    END IF;
    v_window := omd_decision._next_window(
        v_stage.stage_id, v_definition, p_end_value, p_end_id
    );
    IF v_window.p_source_code IS NULL AND v_window.p_end_value IS NOT NULL THEN
        CALL omd.create_load_window(
            p_module_instance_id, v_window.p_end_value, NULL, v_start, v_start_id
        );
    ELSIF NOT v_window.p_is_empty AND v_window.p_end_id IS NOT NULL THEN
        PERFORM omd.record_load_window(
            p_module_instance_id, v_stage.module_id, v_window.p_start_value,
            v_window.p_start_id, v_window.p_end_value, v_window.p_end_id,
            v_window.p_source_code
        );
    END IF;
    IF v_window.p_detail IS NOT NULL THEN
        CALL omd.log_event(
            v_window.p_detail,
            p_module_instance_id => p_module_instance_id,
            p_event_type_code => 6,
            p_event_return_code_details => 'WINDOW'
        );
    END IF;
    RETURN CASE WHEN v_window.p_is_empty THEN v_window.p_detail END;
END
$pin_run$;

COMMENT ON FUNCTION omd_decision._pin_run IS
'Records what the run p_module_instance_id of a stage works with in p_engine: the present version '
'of the stage, the version of the ruleset that is effective at p_effective_at (NULL: now), and '
'the window up to p_end_value (NULL: now less the delay) or the change p_end_id, or up to where '
'all rows are visible. Returns why there is nothing to read; NULL: there may be something. A run '
'that has been pinned stays so. Errors: OM010, OM019: the end of the window does not fit the '
'windows before; OM013: there is no such change; OM181: it is no executing run of a stage; OM286, '
'OM287, OM288: the ruleset. Locks: the instance row.';
GRANT EXECUTE ON FUNCTION omd_decision._pin_run TO omd_runner;
