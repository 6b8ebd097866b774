-- The part of the kind STAGE in omd.room_hook: the look of a begin, whatever the engine.

CREATE OR REPLACE FUNCTION omd_decision.next_stage(
    p_module_code text,
    OUT p_act text,
    OUT p_arguments jsonb,
    OUT p_status text,
    OUT p_detail text
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $next_stage$
DECLARE
    v_stage_code CONSTANT text := omd_decision._stage_of(p_module_code);
BEGIN
    p_arguments := jsonb_build_object('stage_code', v_stage_code);
    SELECT w.p_status, w.p_detail INTO p_status, p_detail FROM omd.why_no_run(p_module_code) AS w;
    IF p_status IS NULL THEN
        p_detail := (omd_decision._look(v_stage_code, NULL, NULL)).p_nothing;
        p_status := CASE WHEN p_detail IS NOT NULL THEN 'C' END;
    END IF;
    p_act := CASE WHEN p_status IS NULL THEN 'STAGE' ELSE 'NOTHING' END;
END
$next_stage$;

COMMENT ON FUNCTION omd_decision.next_stage IS
'For rooms: Says what omd.next_act answers for the Module p_module_code of a stage: p_act STAGE, '
'with stage_code in p_arguments, or NOTHING with p_status and p_detail. Errors: OM002, OM005, '
'OM010, OM013, OM080. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision.next_stage TO omd_reader;
