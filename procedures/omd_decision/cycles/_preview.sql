-- A reader reads no load window of process control, and may know where the next run would start.

CREATE OR REPLACE FUNCTION omd_decision._preview(
    p_stage_code text,
    p_end_value timestamptz
)
RETURNS TABLE (
    definition jsonb,
    start_value timestamptz,
    end_value timestamptz
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
ROWS 1
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $preview$
DECLARE
    v_stage omd_decision.stage := omd_decision._require_stage(p_stage_code);
    v_window record;
    v_way record;
BEGIN
    SELECT v.definition INTO definition
    FROM omd_decision.stage_version AS v
    WHERE v.stage_id = v_stage.stage_id AND v.version = v_stage.version;
    v_window := omd_decision._next_window(v_stage.stage_id, definition, p_end_value, NULL);
    start_value := v_window.p_start_value;
    end_value := v_window.p_end_value;
    -- The views have nothing outside of a block, and perhaps that of an earlier preview.
    IF v_window.p_end_id > 0 THEN
        v_way := omd.block_routine(
            v_window.p_source_code,
            CASE WHEN v_window.p_is_empty THEN v_window.p_end_value ELSE v_window.p_start_value END,
            CASE WHEN v_window.p_is_empty THEN v_window.p_end_id ELSE v_window.p_start_id END
        );
        EXECUTE format('SELECT %s($1, $2, $3)', v_way.p_routine)
        USING v_window.p_source_code, v_way.p_after_id, v_window.p_end_id;
    END IF;
    definition := omd_decision._as_read(definition);
    RETURN NEXT;
END
$preview$;

COMMENT ON FUNCTION omd_decision._preview IS
'Returns the document of the stage p_stage_code, with the views that a run reads, and the window '
'that it would read now, up to p_end_value; NULL where it has none. Views of changes show its '
'block until the transaction ends. Errors: OM005, OM080. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._preview TO omd_reader;
