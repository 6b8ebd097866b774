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
BEGIN
    SELECT v.definition INTO definition
    FROM omd_decision.stage_version AS v
    WHERE v.stage_id = v_stage.stage_id AND v.version = v_stage.version;
    IF definition ? 'window' THEN
        SELECT w.p_start_value INTO start_value FROM omd.load_window_start(v_stage.module_id) AS w;
        end_value := (
            omd_decision._window_end(definition, start_value, p_end_value)
        ).p_end_value;
    END IF;
    RETURN NEXT;
END
$preview$;

COMMENT ON FUNCTION omd_decision._preview IS
'Returns the document of the stage p_stage_code and the window that a run would read now, up to '
'p_end_value; NULL where it has none. Errors: OM005, OM080. Locks: none.';
REVOKE ALL ON FUNCTION omd_decision._preview FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_decision._preview TO omd_reader;
