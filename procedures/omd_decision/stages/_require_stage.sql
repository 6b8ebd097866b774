-- Every routine that takes a stage looks it up here.

CREATE OR REPLACE FUNCTION omd_decision._require_stage(
    p_stage_code text
)
RETURNS omd_decision.stage
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_stage$
DECLARE
    v_stage omd_decision.stage;
BEGIN
    p_stage_code := omd.require_argument('p_stage_code', p_stage_code);
    SELECT s.* INTO v_stage FROM omd_decision.stage AS s WHERE s.stage_code = p_stage_code;
    IF NOT FOUND THEN
        PERFORM omd.raise_error('OM080', jsonb_build_object('stage_code', p_stage_code));
    END IF;
    RETURN v_stage;
END
$require_stage$;

COMMENT ON FUNCTION omd_decision._require_stage IS
'Returns the stage p_stage_code. Errors: OM005: it is NULL; OM080: there is none. Locks: none.';
